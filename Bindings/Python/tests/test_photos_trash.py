"""The trash of photos, the ways to restore its rows, and the safety of a library."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Dict, List

import pytest
from helpers import FIXTURES, Clock

import satchel
from satchel import PhotoCatalogue
from satchel.photos import FileCount
from satchel.remote import Remote

DAY = 86_400_000
PICTURE = (FIXTURES / "photos/baseline.jpg").read_bytes()


def row(number: int, name: str = "a.jpg") -> Dict[str, object]:
    return {"md5": f"{number:032x}", "filename": name, "size": 1, "photodate": 1, "modified": 1}


def trashed(photos: PhotoCatalogue) -> List[str]:
    return [each.photo.filename for each in photos.trash()]


class Library:
    """A folder with pictures, scanned into a catalogue."""

    def __init__(self, store: satchel.Store, folder: Path, names: List[str]) -> None:
        self.folder = folder
        self.photos = store.photos(folder)
        for name in names:
            self.add(name)
        self.photos.scan()

    def add(self, name: str, more: str = "") -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PICTURE + (name + more).encode())

    def md5(self, name: str) -> str:
        return next(each.md5 for each in self.photos.iterate(filename=name))


@pytest.fixture
def library(store: satchel.Store, tmp_path: Path) -> Library:
    return Library(store, tmp_path / "library", [f"{each}.jpg" for each in range(6)])


def test_a_deleted_row_is_restored_as_it_was(photos: PhotoCatalogue, clock: Clock) -> None:
    photos.upsert([{**row(each, f'{each} "x",y.jpg'), "width": None, "height": 7} for each in range(2000)])
    photos.set_local(f"{3:032x}", camera_model="X100V")
    photos.star(f"{3:032x}")
    before = list(photos.iterate())
    shards = [photos.export_shard(each) for each in range(16)]
    assert photos.delete([each.md5 for each in before]) == 2000
    assert (photos.count(), len(photos.trash())) == (0, 2000)
    assert [each.photo.md5 for each in photos.trash()] == [each.md5 for each in before]
    assert {each.removed for each in photos.trash()} == {clock()}
    assert photos.restore_rows(before[3]) == 1
    assert photos.get(before[3]) == before[3]
    assert len(photos.trash()) == 1999
    assert photos.restore_rows([before[3], before[4], "f" * 32]) == 1
    assert photos.restore_rows() == 1998
    assert photos.trash() == []
    assert list(photos.iterate()) == before
    assert [photos.export_shard(each) for each in range(16)] == shards
    assert photos.restore_rows() == photos.empty_trash() == 0


def test_the_trash_keeps_rows_for_thirty_days(photos: PhotoCatalogue, clock: Clock) -> None:
    photos.upsert([row(1, "first.jpg"), row(2, "second.jpg"), row(3, "third.jpg")])
    photos.delete(f"{1:032x}")
    clock.advance(29 * DAY)
    photos.delete(f"{2:032x}")
    assert trashed(photos) == ["first.jpg", "second.jpg"]
    clock.advance(2 * DAY)
    photos.delete(f"{3:032x}")
    assert trashed(photos) == ["first.jpg", "second.jpg", "third.jpg"]
    clock.advance(DAY + 1)
    photos.upsert(row(5))
    assert trashed(photos) == ["second.jpg", "third.jpg"]
    # A clock that was set back keeps what seems to be of the future.
    clock.advance(-100 * DAY)
    photos.upsert(row(4))
    assert trashed(photos) == ["second.jpg", "third.jpg"]
    assert photos.empty_trash() == 2
    assert photos.trash() == []


def test_a_clock_that_is_ahead_does_not_empty_the_trash(photos: PhotoCatalogue, clock: Clock) -> None:
    photos.upsert(row(1))
    photos.delete(f"{1:032x}")
    for number, days in enumerate((40, 0.5, -40.5, 400, -399, 2, 20), start=2):
        clock.advance(int(days * DAY))
        photos.upsert(row(number, "b.jpg"))
        assert trashed(photos) == ["a.jpg"], days
    clock.advance(10 * DAY)
    photos.upsert(row(20))
    clock.advance(DAY + 1)
    photos.upsert(row(21))
    assert trashed(photos) == []


def test_the_last_state_of_a_row_is_kept(photos: PhotoCatalogue) -> None:
    for name in ("first.jpg", "second.jpg"):
        photos.upsert(row(1, name))
        photos.delete(f"{1:032x}")
    assert trashed(photos) == ["second.jpg"]
    photos.upsert(row(1, "third.jpg"))
    assert photos.trash() == []
    assert photos.restore_rows() == 0


def test_what_scans_and_imports_remove(library: Library, tmp_path: Path) -> None:
    photos = library.photos
    (library.folder / "0.jpg").unlink()
    library.add("1.jpg", "edited")
    photos.scan(delete_missing=True)
    assert sorted(trashed(photos)) == ["0.jpg", "1.jpg"]
    library.add("0.jpg")
    photos.scan()
    assert trashed(photos) == ["1.jpg"]
    shard = int(library.md5("2.jpg")[0], 16)
    names = [each.filename for each in photos.iterate(shard=shard)]
    photos.import_shard(shard, b"")
    assert sorted(trashed(photos)) == sorted(["1.jpg", *names])
    assert photos.restore_rows() == 1 + len(names)


def test_a_photo_that_was_deleted_here_is_hidden_until_its_row_is_restored(library: Library) -> None:
    photos = library.photos
    md5 = library.md5("0.jpg")
    photos.delete(md5)
    assert photos.scan().hidden == photos.safety().hidden == 1
    assert photos.restore_rows(md5) == 1
    assert photos.safety().hidden == 0
    photos.delete(md5)
    photos.empty_trash()
    # Its row is gone for good; the file is not, and adds it again.
    assert photos.restore_rows(md5) == 0
    assert photos.scan().added + photos.scan().returned == 1 or photos.count() == 6
    assert photos.get(md5) is not None


def test_a_removal_of_another_device_is_reverted_on_both(
    devices: List[PhotoCatalogue], object_store: Remote
) -> None:
    one, other = devices
    one.upsert([row(each, f"{each}.jpg") for each in range(20)])
    for device in devices:
        device.sync(object_store, "ada")
    other.star(f"{5:032x}")
    one.delete([f"{each:032x}" for each in range(4, 8)])
    one.sync(object_store, "ada")
    assert other.sync(object_store, "ada").removed == 4
    assert trashed(one) == trashed(other) == ["4.jpg", "5.jpg", "6.jpg", "7.jpg"]
    assert other.restore_rows([f"{each:032x}" for each in (5, 6)]) == 2
    for device in (other, one):
        device.sync(object_store, "ada")
        assert device.count() == 18
        assert trashed(device) == ["4.jpg", "7.jpg"]
    photo = other.get(f"{5:032x}")
    assert photo is not None
    assert photo.starred


def test_the_trash_is_part_of_a_store(library: Library, store: satchel.Store, tmp_path: Path) -> None:
    photos = library.photos
    photos.delete(library.md5("0.jpg"))
    store.backup(tmp_path / "copy.satchel")
    with satchel.open(tmp_path / "copy.satchel") as copy:
        assert trashed(copy.photos(library.folder)) == ["0.jpg"]
    photos.sync(satchel.remote.Directory(tmp_path / "remote"), "ada")
    photos.detach()
    assert trashed(photos) == ["0.jpg"]
    photos.move(tmp_path / "elsewhere")
    assert trashed(photos) == ["0.jpg"]
    store.sign_out(unsent="discard")
    assert photos.trash() == []


def test_safety_tells_where_the_files_are(library: Library, tmp_path: Path) -> None:
    photos = library.photos
    remote = satchel.remote.Directory(tmp_path / "remote")
    assert photos.safety().present == FileCount(6, 0)
    assert not photos.safety().safe
    photos.backup.run(remote, "ada", all=True)
    assert (photos.safety().present, photos.safety().safe) == (FileCount(6, 6), True)
    photos.upsert(row(1))
    library.add("6.jpg")
    photos.scan()
    (library.folder / "0.jpg").unlink()
    (library.folder / "6.jpg").unlink()
    photos.scan()
    safety = photos.safety()
    assert (safety.present, safety.missing, safety.elsewhere) == (
        FileCount(5, 5), FileCount(2, 1), FileCount(1, 0),
    )  # fmt: skip
    assert (safety.safe, safety.damaged, safety.trash) == (False, 0, 0)
    # One file is gone from the remote, another one is damaged there.
    objects = tmp_path / "remote/photos/ada"
    (objects / library.md5("1.jpg")).unlink()
    whole = (objects / library.md5("2.jpg")).read_bytes()
    (objects / library.md5("2.jpg")).write_bytes(whole[:-1] + b"!")
    photos.backup.verify(remote, "ada", read=True)
    safety = photos.safety()
    assert (safety.damaged, safety.present) == (2, FileCount(5, 3))
    photos.backup.run(remote, "ada")
    photos.backup.verify(remote, "ada", read=True)
    safety = photos.safety()
    assert (safety.damaged, safety.present) == (0, FileCount(5, 5))
    shutil.rmtree(library.folder)


def test_an_empty_catalogue(photos: PhotoCatalogue) -> None:
    safety = photos.safety()
    assert (safety.safe, safety.present, safety.trash) == (True, FileCount(0, 0), 0)
    assert photos.trash() == []
    assert photos.restore_rows() == photos.empty_trash() == 0
    assert photos.counts("month") == {}
