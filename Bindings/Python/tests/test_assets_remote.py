"""Assets of stores that synchronize: uploaded before the records that refer to them, fetched when needed."""

from __future__ import annotations

from pathlib import Path

import pytest

import satchel
from satchel.remote import Directory

USER = "ada"
PICTURE = b"a picture " * 20_000
KEY = b"k" * 32


@pytest.fixture
def cloud(tmp_path: Path) -> Directory:
    return Directory(tmp_path / "cloud")


def _notes(path: Path) -> satchel.Store:
    store = satchel.open(path)
    store.records("notes", synced=True)
    return store


@pytest.mark.parametrize("key", [None, KEY])
def test_a_picture_is_fetched_when_it_is_needed(tmp_path: Path, cloud: Directory, key: bytes | None) -> None:
    with _notes(tmp_path / "phone.satchel") as phone, _notes(tmp_path / "tablet.satchel") as tablet:
        picture = phone.assets.put(PICTURE, type="image/jpeg")
        phone.records("notes").put("a", {"title": "Porto", "picture": picture})
        assert phone.sync(cloud, USER, key=key).assets.uploaded == 1
        report = tablet.sync(cloud, USER, key=key)
        assert (report.records.downloaded, report.assets.downloaded) == (1, 0)
        reference = tablet.records("notes").get("a")["picture"]
        assert tablet.assets.get(reference).state == "remote"
        part = tablet.assets.read(reference, 199_990, 100, remote=cloud)
        assert part == PICTURE[199_990:]
        assert tablet.assets.get(reference).state == "remote"
        with pytest.raises(satchel.NotFound):
            tablet.assets.read(reference)
        seen = []
        found = tablet.assets.fetch([reference], remote=cloud, progress=seen.append)
        assert (found.fetched, found.fetched_bytes, found.failed) == (1, len(PICTURE), [])
        assert len(seen) == 1
        assert tablet.assets.get(reference).bytes() == PICTURE
        assert tablet.assets.fetch([reference], remote=cloud).present == 1
        # A new title uploads no picture again.
        tablet.records("notes").update("a", {"title": "Lisboa"})
        assert tablet.sync(cloud, USER, key=key).assets.uploaded == 0


def test_all_or_as_many_as_are_asked_for(tmp_path: Path, cloud: Directory) -> None:
    with _notes(tmp_path / "phone.satchel") as phone, _notes(tmp_path / "tablet.satchel") as tablet:
        for number in range(4):
            picture = phone.assets.put(PICTURE + bytes([number]))
            phone.records("notes").put(f"{number}", {"picture": picture})
        phone.sync(cloud, USER)
        assert tablet.sync(cloud, USER, assets=250_000).assets.downloaded == 1
        assert tablet.sync(cloud, USER, assets="all").assets.downloaded == 3
        assert {each.state for each in tablet.assets.list()} == {"here"}


def test_on_a_metered_line_records_wait_for_their_pictures(tmp_path: Path, cloud: Directory) -> None:
    with _notes(tmp_path / "phone.satchel") as phone:
        phone.sync(cloud, USER)
        phone.records("notes").put("a", {"picture": phone.assets.put(PICTURE)})
        phone.records("notes").put("b", {"title": "without"})
        held = phone.sync(cloud, USER, asset_uploads=False)
        assert (held.records.uploaded, held.assets.uploaded) == (1, 0)
        assert phone.sync(cloud, USER).assets.uploaded == 1


def test_an_object_that_is_lost_is_uploaded_again_by_a_device_that_has_it(
    tmp_path: Path, cloud: Directory
) -> None:
    with _notes(tmp_path / "phone.satchel") as phone, _notes(tmp_path / "tablet.satchel") as tablet:
        picture = phone.assets.put(PICTURE)
        phone.records("notes").put("a", {"picture": picture})
        phone.sync(cloud, USER)
        tablet.sync(cloud, USER)
        for path in (tmp_path / "cloud" / "assets").rglob("*"):
            if path.is_file():
                path.unlink()
        assert len(tablet.assets.fetch([picture], remote=cloud).failed) == 1
        # The tablet says that it could not read the object; the phone uploads it again.
        tablet.sync(cloud, USER)
        report = phone.sync(cloud, USER)
        assert (report.assets.uploaded, report.assets.repaired, report.assets.dropped) == (1, 1, 0)
        tablet.sync(cloud, USER)
        assert tablet.assets.fetch([picture], remote=cloud).fetched == 1


def test_a_loss_that_is_accepted_is_missing_until_a_device_has_the_bytes(
    tmp_path: Path, cloud: Directory
) -> None:
    with _notes(tmp_path / "phone.satchel") as phone, _notes(tmp_path / "tablet.satchel") as tablet:
        picture = phone.assets.put(PICTURE)
        phone.records("notes").put("a", {"picture": picture})
        for path in (tmp_path / "phone.satchel.assets").rglob("*"):
            if path.is_file() and len(path.name) == 64:
                path.unlink()
        assert [each.id for each in phone.sync(cloud, USER).failed] == ["a"]
        assert phone.sync(cloud, USER, accept_loss=True).records.uploaded == 1
        tablet.sync(cloud, USER)
        reference = tablet.records("notes").get("a")["picture"]
        assert tablet.assets.get(reference).state == "missing"
        tablet.assets.put(PICTURE)
        assert tablet.sync(cloud, USER).assets.repaired == 1
        phone.sync(cloud, USER)
        assert phone.assets.get(picture).state == "remote"
        assert phone.records("notes").put("b", {"picture": picture})
        assert phone.sync(cloud, USER, purge=True).assets.dropped == 0
        for name in "ab":
            phone.records("notes").delete(name)
        phone.sync(cloud, USER)
        assert phone.sync(cloud, USER, purge=True).assets.dropped == 1


def test_detaching_says_what_is_only_in_the_remote_or_fetches_it(tmp_path: Path, cloud: Directory) -> None:
    with _notes(tmp_path / "phone.satchel") as phone, _notes(tmp_path / "tablet.satchel") as tablet:
        for number in range(2):
            phone.records("notes").put(f"{number}", {"picture": phone.assets.put(PICTURE + bytes([number]))})
        phone.sync(cloud, USER)
        tablet.sync(cloud, USER)
        size = 2 * (len(PICTURE) + 1)
        left = tablet.detach()
        assert left == satchel.sync.StoreDetachReport(remote_assets=2, remote_bytes=size, fetched=0)
        tablet.sync(cloud, USER)
        with pytest.raises(satchel.ForeignFile):
            tablet.detach(fetch_assets=Directory(tmp_path / "other"))
        with tablet.batch(), pytest.raises(satchel.InvalidArgument):
            tablet.detach(fetch_assets=cloud)
        assert tablet.sync_status().remote is not None
        found = tablet.detach(fetch_assets=cloud)
        assert found == satchel.sync.StoreDetachReport(remote_assets=0, remote_bytes=0, fetched=2)
        assert {each.state for each in tablet.assets.list()} == {"here"}
        assert tablet.sync_status().remote is None


def test_a_store_without_content_has_nothing_in_its_remote(tmp_path: Path, cloud: Directory) -> None:
    with _notes(tmp_path / "phone.satchel") as phone:
        phone.sync(cloud, USER)
        absent = {"_asset": {"sha256": "a" * 64}}
        assert phone.assets.fetch([], remote=cloud).failed == []
        assert "not in the remote" in phone.assets.fetch([absent], remote=cloud).failed[0].message


def test_what_cannot_be_fetched(tmp_path: Path, cloud: Directory) -> None:
    with _notes(tmp_path / "phone.satchel") as phone:
        absent = {"_asset": {"sha256": "a" * 64}}
        with pytest.raises(satchel.InvalidArgument, match="never synchronized"):
            phone.assets.fetch([absent], remote=cloud)
        with pytest.raises(satchel.InvalidArgument, match="either a function, a remote or a source"):
            phone.assets.fetch([absent])
        with pytest.raises(satchel.InvalidArgument, match="lazy"):
            phone.sync(cloud, USER, assets="some")
        phone.records("notes").put("a", {"title": "without"})
        phone.sync(cloud, USER)
        with pytest.raises(satchel.ForeignFile):
            phone.assets.fetch([absent], remote=Directory(tmp_path / "other"))
        assert "not in the remote" in phone.assets.fetch([absent], remote=cloud).failed[0].message
        with pytest.raises(satchel.NotFound):
            phone.assets.read(absent, remote=cloud)
        with phone.batch(), pytest.raises(satchel.InvalidArgument):
            phone.assets.fetch([absent], remote=cloud)
