"""Attaching a mirror never loses what the file has and the store lacks, nor the other way round."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Callable, List

import pytest
from mirrors import DOCUMENTS, Documents, edit, mirrored, of_file, of_mirror, of_store

import satchel
from satchel.records import MirrorReport


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "courses.json"


def wait_for(condition: Callable[[], bool]) -> None:
    """Waits for what a thread of the library does."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("mode", ["store_first", "file_first"])
def test_a_new_store_does_not_empty_the_file_of_the_one_that_was_lost(
    path: Path, file: Path, mode: str
) -> None:
    mirrored(path, file)
    path.unlink()
    before = file.read_bytes()
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.put("new", {"n": 9})
        with pytest.raises(satchel.InvalidArgument) as refused:
            courses.mirror(file, mode=mode)
        for part in ("5 only in the file (c0, c1, c2, …)", "1 only in the store (new)", 'prefer="file"'):
            assert part in str(refused.value)
        assert file.read_bytes() == before
        assert of_store(courses) == {"new": {"n": 9}}
        # It is not attached either.
        courses.put("newer", {"n": 10})
        assert file.read_bytes() == before
        with pytest.raises(satchel.InvalidArgument):
            courses.verify_mirror()
        assert courses.mirror(file, prefer="file", mode=mode).imported == 5
        everything = {**DOCUMENTS, "new": {"n": 9}, "newer": {"n": 10}}
        assert of_store(courses) == of_file(file) == everything
        assert courses.verify_mirror() == []


@pytest.mark.parametrize("mode", ["store_first", "file_first"])
def test_a_store_without_records_imports_the_file_of_the_one_that_was_lost(
    path: Path, file: Path, mode: str
) -> None:
    mirrored(path, file)
    path.unlink()
    with satchel.open(path) as store:
        courses = store.records("courses")
        assert courses.mirror(file, mode=mode) == MirrorReport(imported=5, quarantined=None)
        assert of_store(courses) == of_file(file) == DOCUMENTS


def test_the_way_back_after_damage_gives_everything_back(path: Path, file: Path) -> None:
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.put_many(DOCUMENTS)
        courses.mirror(file, format="checksummed")
        for number in range(5):
            courses.put(f"c{number}", {"n": number, "again": True})
        courses.delete("c4")
        expected, facts = of_store(courses), courses.record("c1")
    data = bytearray(path.read_bytes())
    data[: len(data) // 2] = b"\xff" * (len(data) // 2)
    path.write_bytes(data)
    with satchel.open(path, quarantine=True) as store:
        courses = store.records("courses")
        assert courses.count() == 0
        with pytest.raises(satchel.InvalidArgument, match='format="checksummed"'):
            courses.mirror(file)
        report = courses.mirror(file, format="checksummed")
        assert report == MirrorReport(imported=4, quarantined=None)
        assert of_store(courses) == expected
        assert courses.record("c1") == facts
        courses.put("c9", {})
        assert courses.verify_mirror() == []
        assert b'"c9"' in file.read_bytes()
        assert store.check() == []


@pytest.mark.parametrize("mode", ["store_first", "file_first"])
@pytest.mark.parametrize("kind", ["changed", "added", "deleted"])
def test_hand_edits_between_two_launches_are_not_lost(path: Path, file: Path, kind: str, mode: str) -> None:
    mirrored(path, file)

    def change(documents: Documents) -> None:
        if kind == "changed":
            documents["c1"] = {"n": "by hand"}
        elif kind == "added":
            documents["by hand"] = {}
        else:
            del documents["c1"]

    edit(file, change)
    edited = file.read_bytes()
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.put("c0", {"n": 0})
        # Content that is the same on one side, and more on the other, needs no decision.
        refused = kind == "changed" or (kind == "deleted" and mode == "file_first")
        if refused:
            with pytest.raises(satchel.InvalidArgument):
                courses.mirror(file, mode=mode)
            assert file.read_bytes() == edited
            assert courses.get("c1") == {"n": 1}
        courses.mirror(file, prefer="file", mode=mode)
        if kind == "changed":
            assert courses.get("c1") == {"n": "by hand"}
        elif kind == "added":
            assert courses.get("by hand") == {}
        assert of_file(file) == of_store(courses)
        assert courses.verify_mirror() == []


def test_the_store_is_preferred_and_the_file_kept_next_to_it(path: Path, file: Path) -> None:
    mirrored(path, file)
    edit(file, lambda documents: documents.update(c1={"n": "by hand"}, more={}))
    edited = file.read_bytes()
    with satchel.open(path) as store:
        courses = store.records("courses")
        report = courses.mirror(file, prefer="store")
        assert report.imported == 0
        assert report.quarantined is not None
        assert Path(report.quarantined).name.startswith("courses.json.quarantine-")
        assert Path(report.quarantined).read_bytes() == edited
        assert of_file(file) == of_store(courses) == DOCUMENTS
        # Once: now they are the same.
        assert courses.mirror(file, prefer="store").quarantined is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b'{"n":1}', b'"n"'),
        lambda data: b'{"c1": "Algebra"}',
        lambda data: b"[" * 1000000,
    ],
    ids=["empty", "cut", "changed", "another program", "deep"],
)
def test_a_file_that_cannot_be_understood_is_never_overwritten_unasked(
    path: Path, file: Path, spoil: Callable[[bytes], bytes]
) -> None:
    mirrored(path, file)
    spoilt = spoil(file.read_bytes())
    file.write_bytes(spoilt)
    with satchel.open(path) as store:
        courses = store.records("courses")
        for prefer in (None, "file"):
            with pytest.raises(satchel.InvalidArgument, match=r"line \d"):
                courses.mirror(file, prefer=prefer)
            assert file.read_bytes() == spoilt
        report = courses.mirror(file, prefer="store")
        assert report.quarantined is not None
        assert Path(report.quarantined).read_bytes() == spoilt
        assert of_file(file) == DOCUMENTS


def test_what_is_no_file_is_refused_and_stays(path: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with satchel.open(path) as store:
        courses = store.records("courses")
        for place in (pipe, tmp_path):
            for prefer in (None, "file", "store"):
                with pytest.raises(satchel.InvalidArgument):
                    courses.mirror(place, prefer=prefer)
        assert pipe.is_fifo()
        assert tmp_path.is_dir()


def test_edits_while_the_store_is_open_are_left_alone_and_reported(path: Path, file: Path) -> None:
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.put_many(DOCUMENTS)
        courses.mirror(file)
        heard: List[str] = []
        store.observe(lambda change: heard.extend(change.keys))
        edit(file, lambda documents: documents.update(c1={"n": "by hand"}))
        edited = file.read_bytes()
        courses.put("c5", {"n": 5})
        wait_for(lambda: "@mirror_edited" in heard)
        assert file.read_bytes() == edited
        courses.put("c6", {"n": 6})
        with pytest.raises(satchel.InvalidArgument, match="c1 at /n"):
            store.flush()
        assert file.read_bytes() == edited
        assert courses.count() == 7
        courses.mirror(file, prefer="file")
        assert courses.get("c1") == {"n": "by hand"}
        assert of_file(file) == of_store(courses)
        courses.put("c7", {"n": 7})
        assert "c7" in of_mirror(courses, file)
        # The store's again, and a file that is gone is written again.
        edit(file, lambda documents: documents.clear())
        courses.rebuild("mirror")
        assert of_file(file) == of_store(courses)
        file.unlink()
        courses.put("c8", {"n": 8})
        assert of_mirror(courses, file) == of_store(courses)


def test_with_the_file_first_a_write_over_an_edit_fails(path: Path, file: Path) -> None:
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.put_many(DOCUMENTS)
        courses.mirror(file, mode="file_first")
        courses.put("c5", {"n": 5})
        edit(file, lambda documents: documents.update(c1={"n": "by hand"}))
        edited = file.read_bytes()
        with pytest.raises(satchel.InvalidArgument, match="c1 at /n"):
            courses.put("c6", {"n": 6})
        assert file.read_bytes() == edited
        assert courses.count() == 6
        assert courses.rebuild("store") == 1
        assert courses.get("c1") == {"n": "by hand"}
        courses.put("c6", {"n": 6})
        assert of_file(file) == of_store(courses)


def test_an_older_backup_does_not_undo_what_the_file_has(path: Path, file: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.satchel"
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.put("c0", {"n": 0})
        courses.mirror(file)
        store.backup(backup)
        courses.put_many(DOCUMENTS)
        courses.put("c0", {"n": "later"})
    satchel.restore(backup, path)
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.put("other", {})
        with pytest.raises(satchel.InvalidArgument, match="4 only in the file"):
            courses.mirror(file)
        courses.mirror(file, prefer="file")
        assert of_store(courses) == {**DOCUMENTS, "c0": {"n": "later"}, "other": {}}


def test_a_mirror_is_not_attached_in_a_batch(path: Path, file: Path) -> None:
    with satchel.open(path) as store:
        courses = store.records("courses")
        with store.batch(), pytest.raises(satchel.InvalidArgument, match="batch"):
            courses.mirror(file)
        assert not file.exists()


def test_a_store_that_is_only_read_keeps_a_mirror_too(path: Path, file: Path) -> None:
    with satchel.open(path) as store:
        store.records("courses").put_many(DOCUMENTS)
    with satchel.open(path, read_only=True) as store:
        courses = store.records("courses")
        courses.mirror(file)
        assert of_file(file) == DOCUMENTS
        edit(file, lambda documents: documents.update(more={}))
        for prefer in (None, "file"):
            with pytest.raises(satchel.ReadOnly):
                courses.mirror(file, prefer=prefer)
        edit(file, lambda documents: documents.update(c1={}))
        with pytest.raises(satchel.InvalidArgument):
            courses.mirror(file)
