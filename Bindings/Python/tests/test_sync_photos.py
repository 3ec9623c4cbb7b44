"""Photo catalogues in the synchronization of a whole store: which one it includes, and by which policy."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Tuple

import pytest
from albums import md5, row, rows_of
from hosts import DictStore
from record_devices import Device

import satchel
from satchel import InvalidArgument, PhotoCatalogue, ReadOnly
from satchel.remote import Remote

Albums = Tuple[PhotoCatalogue, PhotoCatalogue]


def test_photos_are_synchronized_with_the_rest(
    pair: List[Device], object_store: Remote, tmp_path: Path
) -> None:
    phone, tablet = pair
    albums = [device.store.photos(tmp_path / "holiday") for device in pair]
    albums[0].upsert([row(0)])
    for album in albums:
        album.sync(object_store, "ada")
    albums[0].upsert([row(each) for each in range(40)])
    phone.put("a", n=1)
    heard: List[str] = []
    report = phone.sync(object_store, progress=lambda progress: heard.append(progress.phase))
    assert report.photos is not None
    assert report.photos.uploaded
    assert not report.unchanged
    assert report.requests > report.photos.requests
    assert {"upload", "shards", "manifest"} <= set(heard)
    tablet.sync(object_store)
    assert rows_of(albums[1].iterate()) == {md5(each): row(each) for each in range(40)}
    assert tablet.records.get("a") == {"n": 1}
    # An album of another user is not included, nor one that was detached.
    albums[0].detach()
    report = phone.sync(object_store)
    assert (report.photos, report.unsent_photos) == (None, [str(tmp_path / "holiday")])
    albums[0].sync(object_store, "eve", first="upload")
    report = phone.sync(object_store)
    assert (report.photos, report.unsent_photos) == (None, [])
    albums[0].upsert([row(40)])
    assert phone.sync(object_store).unsent_photos == [str(tmp_path / "holiday")]


def test_an_empty_catalogue_is_bound_by_its_first_synchronization(
    pair: List[Device], object_store: Remote, tmp_path: Path
) -> None:
    # Its first synchronization found nothing on both sides, and left the catalogue unbound.
    phone, _ = pair
    photos, others = (device.store.photos(tmp_path / "holiday") for device in pair)
    for dry_run in (True, False):
        assert photos.status().user is None
        assert photos.sync(object_store, "ada", dry_run=dry_run).unchanged
    status = photos.status()
    assert (status.user, status.remote_uuid, status.last_sync) == ("ada", None, None)
    with pytest.raises(satchel.ForeignFile, match='"ada"'):
        photos.sync(object_store, "eve")
    photos.upsert([row(each, each) for each in range(16)])
    report = phone.sync(object_store)
    assert report.photos is not None
    assert report.photos.uploaded == list(range(16))
    assert photos.status().last_sync is not None
    others.sync(object_store, "ada")
    assert rows_of(others.iterate()) == {md5(each, each): row(each, each) for each in range(16)}


def test_records_and_photos_share_one_probe(pair: List[Device], tmp_path: Path) -> None:
    host = DictStore()
    phone, _ = pair
    photos = phone.store.photos(tmp_path / "holiday")
    # The first synchronization binds the catalogue, and writes nothing that needs conditions.
    assert photos.sync(host.remote(), "ada").unchanged
    host.calls.clear()
    photos.upsert([row(1)])
    phone.put("a", n=1)
    report = phone.sync(host.remote())
    assert report.photos is not None
    assert report.photos.uploaded
    assert report.records.uploaded == 1
    # Without it, probing would be counted twice.
    assert len({key for _, key in host.calls if "condition-probe" in key}) == 1
    assert report.requests == len(host.calls)
    host.calls.clear()
    photos.upsert([row(2)])
    phone.put("a", n=2)
    for each in (phone.sync(host.remote()), photos.sync(host.remote(), "ada")):
        assert each.ok
    assert not [key for _, key in host.calls if "condition-probe" in key]


def test_detaching_an_empty_catalogue_unbinds_it(
    pair: List[Device], object_store: Remote, tmp_path: Path
) -> None:
    phone, _ = pair
    photos = phone.store.photos(tmp_path / "holiday")
    photos.sync(object_store, "ada")
    photos.detach()
    photos.upsert([row(1)])
    assert phone.sync(object_store).photos is None
    assert photos.sync(object_store, "eve", first="upload").uploaded


def _apart(pair: List[Device], object_store: Remote, tmp_path: Path, **declared: str) -> Albums:
    """The albums of two devices that both changed one photo of a shard; the second changed one more."""
    one, two = (device.store.photos(tmp_path / "holiday", **declared) for device in pair)
    one.upsert([row(1, 4), row(2, 4)])
    for album in (one, two):
        album.sync(object_store, "ada")
    one.upsert([row(1, 4, filename="dusk.jpg")])
    two.upsert([row(1, 4, filename="night.jpg"), row(2, 4, filename="dawn.jpg")])
    one.sync(object_store, "ada")
    return one, two


def _names(photos: PhotoCatalogue) -> Dict[str, str]:
    return {photo.md5: photo.filename for photo in photos.iterate()}


@pytest.mark.parametrize("policy", [None, "remote_wins", "merge"])
def test_both_synchronizations_follow_the_declared_policy(
    pair: List[Device], object_store: Remote, tmp_path: Path, policy: str
) -> None:
    declared = {} if policy is None else {"on_conflict": policy}
    _, two = _apart(pair, object_store, tmp_path, **declared)
    assert two.status().on_conflict == (policy or "remote_wins")
    report = pair[1].sync(object_store)
    assert report.photos is not None
    assert report.photos.conflicts == [4]
    assert report.photos.uploaded == [4]
    merges = policy == "merge"
    assert report.photos.conflict_rows == (0 if merges else 1)
    assert _names(two) == {
        row(1, 4)["md5"]: "night.jpg" if merges else "dusk.jpg",
        row(2, 4)["md5"]: "dawn.jpg",
    }


@pytest.mark.parametrize(("declared", "named"), [("merge", "remote_wins"), ("remote_wins", "merge")])
def test_a_policy_that_is_named_applies_to_one_synchronization(
    pair: List[Device], object_store: Remote, tmp_path: Path, declared: str, named: str
) -> None:
    _, two = _apart(pair, object_store, tmp_path, on_conflict=declared)
    report = two.sync(object_store, "ada", on_conflict=named)
    assert report.conflict_rows == (1 if named == "remote_wins" else 0)
    assert two.status().on_conflict == declared


def test_a_declared_policy_stays_until_another_is_declared(tmp_path: Path) -> None:
    def declared(**options: str) -> str:
        with satchel.open(tmp_path / "a.satchel") as store:
            return store.photos("/photos", **options).status().on_conflict

    assert declared() == "remote_wins"
    assert declared(on_conflict="merge") == "merge"
    assert declared() == "merge"
    with satchel.open(tmp_path / "a.satchel") as store:
        for wrong in ("local_wins", "newest_wins", "ask", "", 1):
            with pytest.raises(InvalidArgument, match="on_conflict"):
                store.photos("/photos", on_conflict=wrong)  # type: ignore[arg-type]
    with satchel.open(tmp_path / "a.satchel", read_only=True) as store:
        assert store.photos("/photos", on_conflict="merge").status().on_conflict == "merge"
        with pytest.raises(ReadOnly):
            store.photos("/photos", on_conflict="remote_wins")
    assert declared() == "merge"
    assert declared(on_conflict="remote_wins") == "remote_wins"
    assert declared() == "remote_wins"
