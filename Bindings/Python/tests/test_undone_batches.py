"""Pages that a handle has rolled back, or could not write, do not return over the commits of others.

SQLite writes pages of a large transaction to the write-ahead log before its commit. After a rollback the
next writer puts its own pages in the same place. A layer that kept written pages in memory, and wrote them
out when its connection next used the log, destroyed commits that had been acknowledged.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Callable, Iterator

import pytest

import satchel

UNDONE = "y" * 3000
COMMITTED = "z" * 3000

#: Another process, which commits a batch and ends.
COMMITTER = """
import sys
import satchel
from test_undone_batches import commit
with satchel.open(sys.argv[1]) as store:
    commit(store, int(sys.argv[2]))
"""


class Undo(Exception):
    pass


@pytest.fixture
def first(path: Path) -> Iterator[satchel.Store]:
    """A handle that has read and not yet written."""
    with satchel.open(path) as store:
        store.records("notes").put("first", {"value": 1})
    store = satchel.open(path)
    store.records("notes").get("first")
    yield store
    store.close()


def undo(store: satchel.Store, count: int) -> None:
    notes = store.records("notes")
    with suppress(Undo), store.batch():
        for number in range(count):
            notes.put(f"lost-{number}", {"value": number, "text": UNDONE})
        raise Undo


def commit(store: satchel.Store, count: int) -> None:
    notes = store.records("notes")
    with store.batch():
        for number in range(count):
            notes.put(f"note-{number}", document(number))


def document(number: int) -> dict[str, object]:
    return {"value": number, "text": COMMITTED}


def assert_whole(path: Path, count: int) -> None:
    """A new handle finds a sound store, and all that was acknowledged."""
    with satchel.open(path) as store:
        assert store.check() == []
        notes = store.records("notes")
        lost = [number for number in range(count) if notes.get(f"note-{number}") != document(number)]
        assert lost == []


def assert_survives_a_kill(path: Path, count: int) -> None:
    """The files as they are now, without what processes hold in memory, are a whole store."""
    killed = path.parent / "killed"
    killed.mkdir()
    for suffix in ["", "-wal"]:
        shutil.copy(f"{path}{suffix}", killed / f"{path.name}{suffix}")
    assert_whole(killed / path.name, count)


def use(store: satchel.Store) -> None:
    notes = store.records("notes")
    assert notes.get("note-0") == document(0)
    notes.put("later", {"value": 1})


@pytest.mark.parametrize("then", [use, satchel.Store.close], ids=["goes on", "closes"])
@pytest.mark.parametrize("other", ["handle", "process"])
def test_a_batch_that_was_rolled_back_does_not_return(
    path: Path, first: satchel.Store, other: str, then: Callable[[satchel.Store], None]
) -> None:
    undo(first, 4000)
    if other == "handle":
        with satchel.open(path) as second:
            commit(second, 3000)
            then(first)
            if not first.closed:
                assert_survives_a_kill(path, 3000)
            assert_whole(path, 3000)
    else:
        command = [sys.executable, "-c", COMMITTER, str(path), "3000"]
        # The paths of this process may be relative to its own directory.
        paths = [str(Path(__file__).resolve().parent), str(Path(satchel.__file__).resolve().parents[1])]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
        then(first)
        if not first.closed:
            assert_survives_a_kill(path, 3000)
        assert_whole(path, 3000)
    first.close()
    assert_whole(path, 3000)


@contextmanager
def files_limited(size: int) -> Iterator[None]:
    """No file of this process grows beyond ``size`` bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_put_that_a_full_disk_refused_does_not_return(path: Path, first: satchel.Store) -> None:
    notes = first.records("notes")
    with satchel.open(path) as second:
        others = second.records("notes")
        notes.put("one", {"value": 1})
        limit = Path(f"{path}-wal").stat().st_size + 8000
        with files_limited(limit), pytest.raises(satchel.SatchelError):
            # More than the outbox file can take, too.
            notes.put("large", {"text": "l" * (limit + 100_000)})
        for number in range(40):
            others.put(f"note-{number}", document(number))
        use(first)
        assert_survives_a_kill(path, 40)
        assert_whole(path, 40)
    first.close()
    assert_whole(path, 40)
