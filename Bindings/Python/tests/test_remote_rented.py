"""Stores that people rent: a whole trip of photos with each quirk, or a refusal that says why."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Callable, Iterator, List

import pytest
from albums import assert_holds, md5, row
from rented import RentedStore, rented_now

import satchel

Renting = Callable[..., RentedStore]
ROWS = {md5(each): row(each) for each in range(40)}


@pytest.fixture
def renting() -> Iterator[Renting]:
    """Starts stores with quirks."""
    begun: List[RentedStore] = []

    def begin(*quirks: str) -> RentedStore:
        begun.append(RentedStore(*quirks))
        return begun[-1]

    yield begin
    for store in begun:
        store.close()


def trip(remote: satchel.remote.S3, folder: Path, allow_unsafe_remote: bool = False) -> None:
    """Two devices synchronize, one backs up a photo, the other restores it, and changes a row."""
    pictures = folder / "pictures"
    pictures.mkdir()
    (pictures / "view.jpg").write_bytes(b"the bytes of a view" * 5000)
    with satchel.open(folder / "phone") as phone, satchel.open(folder / "tablet") as tablet:
        first, second = phone.photos(pictures), tablet.photos(folder / "other")
        first.scan()
        first.upsert(ROWS.values())
        assert first.sync(remote, "ada", allow_unsafe_remote=allow_unsafe_remote).ok
        name = hashlib.md5((pictures / "view.jpg").read_bytes()).hexdigest()
        first.star(name)
        report = first.backup.run(remote, "ada")
        assert (report.uploaded, report.failed) == (1, [])
        assert second.sync(remote, "ada", allow_unsafe_remote=allow_unsafe_remote).ok
        second.backup.restore(name, folder / "restored.jpg", remote, "ada")
        assert (folder / "restored.jpg").read_bytes() == (pictures / "view.jpg").read_bytes()
        second.upsert([row(1, filename="tablet")])
        assert second.sync(remote, "ada", allow_unsafe_remote=allow_unsafe_remote).ok
        first.sync(remote, "ada", allow_unsafe_remote=allow_unsafe_remote)
        first.delete([name])
        assert_holds(first, {**ROWS, md5(1): row(1, filename="tablet")})


@pytest.mark.parametrize(
    "quirk", ["none", "object_lock", "no_ranges", "no_parts", "no_metadata", "weak_tags", "below_path"]
)
def test_a_whole_trip(renting: Renting, tmp_path: Path, quirk: str) -> None:
    store = renting(quirk)
    with store.remote() as remote:
        trip(remote, tmp_path)


@pytest.mark.parametrize("hours", [-5, 30])
def test_a_clock_of_this_device_that_is_wrong(renting: Renting, tmp_path: Path, hours: int) -> None:
    store = renting()
    store.ahead = hours * 3600
    with store.remote() as remote:
        trip(remote, tmp_path)


@pytest.mark.parametrize("quirk", ["no_conditions", "ignores_conditions"])
def test_a_store_without_conditions_is_used_where_that_is_allowed(
    renting: Renting, tmp_path: Path, quirk: str
) -> None:
    store = renting(quirk)
    with store.remote() as remote:
        with satchel.open(":memory:") as memory:
            photos = memory.photos("/x")
            photos.upsert([row(1)])
            with pytest.raises(satchel.InvalidArgument, match="no conditional writes"):
                photos.sync(remote, "ada")
        assert not any(key.startswith("catalogs/") for key in store.objects)
        trip(remote, tmp_path, allow_unsafe_remote=True)


def test_a_key_without_the_right_to_delete(renting: Renting, tmp_path: Path) -> None:
    store = renting("no_delete")
    with store.remote() as remote:
        trip(remote, tmp_path)
        with satchel.open(":memory:") as memory:
            photos = memory.photos("/x")
            photos.sync(remote, "ada")
            (name,) = [key.rpartition("/")[2] for key in store.objects if key.startswith("photos/")]
            with pytest.raises(satchel.Unauthorized, match="AccessDenied"):
                photos.backup.delete(name, remote, "ada")


def test_a_key_without_the_right_to_list(renting: Renting, tmp_path: Path) -> None:
    store = renting("no_list")
    with store.remote() as remote, satchel.open(":memory:") as memory:
        photos = memory.photos("/x")
        photos.upsert([row(1)])
        with pytest.raises(satchel.Unauthorized, match="s3:ListBucket"):
            photos.sync(remote, "ada")


def test_the_storage_class_is_that_of_files_only(renting: Renting, tmp_path: Path) -> None:
    store = renting()
    with store.remote(storage_class="STANDARD_IA", encryption="aws:kms", encryption_key="key-1") as remote:
        trip(remote, tmp_path)
    classes = {
        key.partition("/")[0]: sent.get("x-amz-storage-class")
        for (method, path), sent in zip(store.requests, store.headers)
        if method == "PUT" and (key := path.partition("/rented/")[2])
    }
    assert classes == {"photos": "STANDARD_IA", "catalogs": None, "photo-index": None}
    written = [sent for (method, _), sent in zip(store.requests, store.headers) if method == "PUT"]
    assert {sent.get("x-amz-server-side-encryption") for sent in written} == {"aws:kms"}
    assert {sent.get("x-amz-server-side-encryption-aws-kms-key-id") for sent in written} == {"key-1"}


def test_the_probe_measures_what_a_store_can_do(renting: Renting) -> None:
    with renting().remote() as remote:
        found = remote.probe()
    assert found
    assert (found.list, found.delete, found.metadata, found.ranges, found.parts) == (True,) * 5
    assert found.checksum_required is False
    assert found.clock_offset is not None
    assert abs(found.clock_offset) < 60_000


@pytest.mark.parametrize(
    ("quirk", "name", "value"),
    [
        ("no_conditions", "supported", False),
        ("ignores_conditions", "supported", False),
        ("no_list", "list", False),
        ("no_delete", "delete", False),
        ("no_metadata", "metadata", False),
        ("no_ranges", "ranges", False),
        ("no_parts", "parts", False),
        ("object_lock", "checksum_required", True),
    ],
)
def test_the_probe_finds_what_a_store_lacks(renting: Renting, quirk: str, name: str, value: bool) -> None:
    store = renting(quirk)
    with store.remote() as remote:
        found = remote.probe("catalogs/")
    assert getattr(found, name) is value
    others = {"supported", "list", "delete", "metadata", "ranges", "parts"} - {name}
    assert all(getattr(found, other) for other in others)
    assert (found.reason is None) is found.supported
    assert (store.objects == {}) is (quirk != "no_delete")
    assert store.uploads == {}


def test_the_probe_measures_the_clock(renting: Renting) -> None:
    store = renting()
    store.ahead = 5 * 3600
    with store.remote() as remote:
        offset = remote.probe().clock_offset
    assert offset is not None
    assert abs(offset - 5 * 3600 * 1000) < 60_000


def test_the_probe_of_a_directory(tmp_path: Path) -> None:
    with satchel.remote.Directory(tmp_path / "there") as remote:
        found = remote.probe()
    assert found
    assert found.list
    assert found.delete
    assert (found.ranges, found.parts, found.checksum_required, found.clock_offset) == (None,) * 4


def test_uploads_that_were_left_over_are_named_and_aborted(renting: Renting, tmp_path: Path) -> None:
    store = renting()
    (old, new) = ("0" * 32, "1" * 32)
    store.uploads["old"] = (f"photos/ada/{old}", "2020-01-01T00:00:00.000Z", {1: b"part"}, {})
    store.uploads["new"] = (f"photos/ada/{new}", rented_now(), {}, {})
    store.uploads["other"] = (f"photos/adam/{old}", "2020-01-01T00:00:00.000Z", {}, {})
    with store.remote() as remote, satchel.open(":memory:") as memory:
        photos = memory.photos("/x")
        report = photos.backup.refresh(remote, "ada")
        assert (report.uploads, report.aborted) == ([old], 0)
        assert photos.backup.orphans(remote, "ada") == [old]
        assert photos.backup.orphans(remote, "ada", abort_uploads=True) == [old]
        assert photos.backup.orphans(remote, "ada") == []
    assert set(store.uploads) == {"new", "other"}


def test_a_store_that_does_not_list_uploads_is_listed_all_the_same(renting: Renting) -> None:
    store = renting("no_upload_list")
    with store.remote() as remote, satchel.open(":memory:") as memory:
        assert memory.photos("/x").backup.orphans(remote, "ada", abort_uploads=True) == []


def test_requests_go_through_a_proxy(
    renting: Renting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server takes requests for another one as a proxy does.
    store = renting()
    address = store.address
    with store.remote(endpoint="http://store.invalid", proxy=address) as remote:
        trip(remote, tmp_path)
    assert all(path.startswith("http://store.invalid/rented") for _, path in store.requests)
    before = len(store.requests)
    for variable, value, reached in (
        ("http_proxy", address, True),
        ("no_proxy", "example.org, .invalid", False),
    ):
        monkeypatch.setenv(variable, value)
        with store.remote(endpoint="http://store.invalid") as remote:
            if reached:
                assert remote.list("catalogs/")
            else:
                with pytest.raises(satchel.Unavailable):
                    remote.list("catalogs/")
    assert len(store.requests) == before + 1
