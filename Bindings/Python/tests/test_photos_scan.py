"""Directories of pictures: found, read, seen again, gone; progress, and ways to end a scan."""

from __future__ import annotations

import hashlib
import shutil
import threading
from pathlib import Path
from typing import Iterator, List

import pytest
from helpers import FIXTURES, interrupted

import satchel
from satchel import PhotoCatalogue
from satchel.photos import ScanProgress

PICTURES = ("baseline.jpg", "cmyk.jpg", "progressive.jpg", "small.png")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    (folder / "2024").mkdir(parents=True)
    for name in PICTURES:
        shutil.copy(FIXTURES / "photos" / name, folder / "2024" / name)
    (folder / "notes.txt").write_text("no picture")
    return folder


@pytest.fixture
def pictures(store: satchel.Store, folder: Path) -> Iterator[PhotoCatalogue]:
    with store.photos(folder) as photos:
        yield photos


def md5_of(path: Path) -> str:
    return hashlib.md5(path.read_bytes()).hexdigest()


def many(folder: Path, count: int = 400) -> None:
    """So many different pictures: what follows the end of a JPEG changes nothing but its MD5."""
    data = (folder / "2024/baseline.jpg").read_bytes()
    for each in range(count):
        (folder / f"copy-{each}.jpg").write_bytes(data + each.to_bytes(4, "big"))


def test_pictures_are_found(pictures: PhotoCatalogue, folder: Path) -> None:
    report = pictures.scan()
    assert (report.added, report.changed, report.unchanged, report.cancelled) == (4, 0, 0, False)
    assert report.bytes_read >= sum((folder / "2024" / name).stat().st_size for name in PICTURES)
    for name in PICTURES:
        file = folder / "2024" / name
        photo = pictures.get(md5_of(file))
        assert photo is not None
        assert (photo.filename, photo.size) == (name, file.stat().st_size)
        assert photo.modified == int(file.stat().st_mtime)
        assert photo.width is None or photo.width > 0
        assert photo.local_only
    again = pictures.scan()
    assert (again.added, again.unchanged, again.bytes_read) == (0, 4, 0)
    assert pictures.scan(force_rehash=True, parallel=4).bytes_read >= report.bytes_read
    assert len(pictures.changes()) == 4


def test_files_that_change_go_and_repeat(pictures: PhotoCatalogue, folder: Path) -> None:
    pictures.scan()
    gone, edited = folder / "2024/cmyk.jpg", folder / "2024/baseline.jpg"
    old = md5_of(gone)
    gone.unlink()
    edited.write_bytes(edited.read_bytes() + b"edited")
    shutil.copy(folder / "2024/small.png", folder / "twice.png")
    (folder / "link.jpg").symlink_to(folder / "2024/small.png")
    report = pictures.scan()
    assert report.changed + report.added == 1
    assert report.duplicates_count == 1
    assert [each.md5 for each in report.duplicates] == [md5_of(folder / "twice.png")]
    assert report.missing_count >= 1
    assert "2024/cmyk.jpg" in report.missing
    assert report.removed == 0
    assert [each.path for each in report.skipped] == ["link.jpg"]
    assert report.skipped[0].reason
    assert pictures.get(old) is not None
    removed = pictures.scan(delete_missing=True)
    assert removed.removed >= 1
    assert pictures.get(old) is None
    assert pictures.get(md5_of(edited)) is not None


def test_what_lies_beside_photos_is_counted_and_what_is_named_left_out(
    pictures: PhotoCatalogue, folder: Path
) -> None:
    (folder / "2024/baseline.mov").write_bytes(b"film")
    (folder / "2024/baseline.jpg.xmp").write_bytes(b"<x/>")
    (folder / "notes.pdf").write_bytes(b"notes")
    (folder / "@eaDir").mkdir()
    shutil.copy(folder / "2024/small.png", folder / "@eaDir/thumb.png")
    report = pictures.scan(exclude=["cmyk.*", "# a comment"])
    assert (report.added, report.films, report.sidecars, report.excluded) == (3, 1, 1, 2)
    assert report.others["pdf"] == 1
    [still] = pictures.query(filename="baseline.jpg")
    files = pictures.files(still)
    assert [(each.kind, each.path, each.present) for each in files] == [
        ("photo", "2024/baseline.jpg", True),
        ("film", "2024/baseline.mov", True),
        ("sidecar", "2024/baseline.jpg.xmp", True),
    ]
    assert files[0].modified == still.modified
    assert files[1].size == 4
    assert pictures.files("0" * 32) == []
    with pytest.raises(satchel.InvalidArgument, match="exclude"):
        pictures.scan(exclude="*.jpg")


def test_an_empty_directory_deletes_nothing(pictures: PhotoCatalogue, folder: Path) -> None:
    pictures.scan()
    shutil.rmtree(folder / "2024")
    for each in folder.iterdir():
        each.unlink()
    with pytest.raises(satchel.Unavailable, match="is its disk mounted"):
        pictures.scan(delete_missing=True)
    assert pictures.count() == 4
    assert pictures.scan(delete_missing=True, allow_mass_deletion=True).removed == 4


def test_a_deleted_row_stays_deleted_until_its_file_is_edited(pictures: PhotoCatalogue, folder: Path) -> None:
    pictures.scan()
    file = folder / "2024/baseline.jpg"
    pictures.delete(md5_of(file))
    assert (pictures.scan().hidden, pictures.count()) == (1, 3)
    file.write_bytes(file.read_bytes() + b"edited")
    assert (pictures.scan().hidden, pictures.count()) == (0, 4)


def test_a_catalogue_moves_with_its_folder(store: satchel.Store, folder: Path) -> None:
    pictures = store.photos(folder)
    pictures.scan()
    starred = md5_of(folder / "2024/baseline.jpg")
    pictures.star(starred)
    other = folder.with_name("renamed")
    folder.rename(other)
    pictures.move(other)
    assert pictures.directory == str(other)
    assert store.photos(other).scan().unchanged == 4
    assert store.photos(other).count(starred=True) == 1
    with pytest.raises(satchel.NotFound):
        store.photos(folder).move(folder.with_name("elsewhere"))


def test_the_time_zone_is_that_of_the_caller(pictures: PhotoCatalogue) -> None:
    for zone in ("-01:00", "Z", "Europe/Berlin"):
        pictures.scan(time_zone=zone)
    assert pictures.count() == 4


def test_a_directory_that_is_not_there(photos: PhotoCatalogue) -> None:
    with pytest.raises(satchel.NotFound):
        photos.scan()


def test_progress_is_reported_on_the_thread_that_scans(pictures: PhotoCatalogue, folder: Path) -> None:
    many(folder)
    heard: List[ScanProgress] = []
    threads = set()

    def hear(progress: ScanProgress) -> None:
        heard.append(progress)
        threads.add(threading.get_ident())

    assert pictures.scan(progress=hear).added == 404
    assert heard
    assert threads == {threading.get_ident()}
    assert {each.phase for each in heard} <= {"walking", "reading"}
    assert heard[-1].files_total == heard[-1].files_done == heard[-1].files_found == 404
    read = [each.files_done for each in heard if each.phase == "reading"]
    assert read == sorted(read)


def test_false_ends_a_scan_which_goes_on_later(pictures: PhotoCatalogue, folder: Path) -> None:
    many(folder)
    report = pictures.scan(progress=lambda progress: False)
    assert report.cancelled
    before = pictures.count()
    assert before < 404
    assert not pictures.scan(progress=lambda progress: None).cancelled
    assert pictures.count() == 404


def test_what_progress_raises_ends_a_scan_and_is_raised(pictures: PhotoCatalogue, folder: Path) -> None:
    many(folder)

    class Enough(Exception):
        pass

    enough = Enough()

    def fail(progress: ScanProgress) -> None:
        raise enough

    with pytest.raises(Enough) as raised:
        pictures.scan(progress=fail)
    assert raised.value is enough
    failures: List[BaseException] = []

    def aside() -> None:
        try:
            pictures.scan(progress=fail)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=aside)
    thread.start()
    thread.join(60)
    assert failures == [enough]
    assert pictures.scan().unchanged + pictures.count() > 0
    assert pictures.count() == 404


def test_an_interrupt_ends_a_scan(pictures: PhotoCatalogue, folder: Path) -> None:
    many(folder)
    interrupted(lambda slow: pictures.scan(progress=slow))
    assert pictures.scan().cancelled is False
    assert pictures.count() == 404


def test_a_catalogue_may_be_used_while_it_scans(pictures: PhotoCatalogue, folder: Path) -> None:
    many(folder)
    counts: List[int] = []

    def hear(progress: ScanProgress) -> None:
        counts.append(pictures.count())
        assert pictures.status().photos >= counts[-1]

    pictures.scan(progress=hear)
    assert counts == sorted(counts)
