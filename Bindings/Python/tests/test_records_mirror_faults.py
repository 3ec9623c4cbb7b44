"""A mirror's file that cannot be written: the old one stays whole, and no record is lost."""

from __future__ import annotations

import json
import os
import resource
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Callable, Iterator, List, Optional

import pytest

import satchel


def work(path: Path, mirror: Path) -> List[str]:
    """Puts a record into a store with a mirror, and returns the result or the error of each step."""
    told = []

    def tell(call: Callable[[], object]) -> None:
        try:
            told.append(str(call()))
        except satchel.SatchelError as error:
            told.append(str(error.code))

    store = satchel.open(path)
    notes = store.records("notes")
    tell(lambda: notes.mirror(mirror, format="checksummed").imported)
    tell(lambda: notes.put("new", {"n": 1}))
    tell(store.flush)
    tell(store.close)
    return told


def child(folder: Path, limit: Optional[int] = None, is_other_user: bool = False) -> List[str]:
    """``work`` in a process of its own.

    :param limit: files cannot grow beyond it
    :param is_other_user: the process has no privileges: permissions do not concern root
    """
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            if is_other_user and os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            told = work(folder / "store.satchel", folder / "mirrors" / "notes.json")
            os.write(writing, " ".join(told).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        told = pipe.read().split()
    os.waitpid(process, 0)
    return told


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users reach."""
    folder = Path(tempfile.mkdtemp(prefix="satchel-mirror-"))
    folder.chmod(0o777)
    yield folder
    for each in folder.rglob("*"):
        if each.is_dir():
            each.chmod(0o755)
    shutil.rmtree(folder)


def filled(folder: Path, count: int) -> bytes:
    """Makes a store and its mirror, and returns the mirror's bytes."""
    (folder / "mirrors").mkdir()
    with satchel.open(folder / "store.satchel") as store:
        notes = store.records("notes")
        notes.put_many({f"n{number}": {} for number in range(count)})
        notes.mirror(folder / "mirrors" / "notes.json", format="checksummed")
    return (folder / "mirrors" / "notes.json").read_bytes()


def expect_caught_up(folder: Path, count: int) -> None:
    """Once the file can be written, it has what the store has."""
    mirror = folder / "mirrors" / "notes.json"
    with satchel.open(folder / "store.satchel") as store:
        notes = store.records("notes")
        assert notes.get("new") == {"n": 1}
        assert len(notes) == count + 1
        notes.mirror(mirror, format="checksummed")
        assert notes.verify_mirror() == []
    assert len(json.loads(mirror.read_text())["records"]) == count + 1
    assert [each.name for each in mirror.parent.iterdir()] == ["notes.json"]


def test_a_file_that_cannot_grow(folder: Path) -> None:
    count = 20_000
    before = filled(folder, count)
    # The store must be able to grow, and the mirror not.
    largest = max(each.stat().st_size for each in folder.iterdir())
    limit = len(before) - 1
    assert largest + (1 << 17) < limit, f"{largest} {limit}"
    attached, revision, flushed, _ = child(folder, limit)
    # The file that the store wrote last is not written again.
    assert (attached, revision) == ("0", "1")
    assert flushed in ("EFULL", "EIO")
    assert (folder / "mirrors" / "notes.json").read_bytes() == before
    expect_caught_up(folder, count)


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    count = 10
    before = filled(folder, count)
    for each in folder.iterdir():
        each.chmod(0o666 if each.is_file() else 0o555)
    attached, revision, flushed, _ = child(folder, is_other_user=True)
    assert (attached, revision) == ("EREADONLY", "1")
    assert flushed == "True"
    assert (folder / "mirrors" / "notes.json").read_bytes() == before
    (folder / "mirrors").chmod(0o755)
    expect_caught_up(folder, count)


def test_a_file_that_is_read_only_is_replaced_and_stays_so(folder: Path) -> None:
    filled(folder, 10)
    mirror = folder / "mirrors" / "notes.json"
    mirror.chmod(0o444)
    assert child(folder) == ["0", "1", "True", "None"]
    assert stat.S_IMODE(mirror.stat().st_mode) == 0o444
    expect_caught_up(folder, 10)
