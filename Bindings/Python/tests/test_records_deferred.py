"""Puts that are written later."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List

import pytest

import satchel


def committed(path: Path) -> List[str]:
    """The ids that another handle of the store sees."""
    with satchel.open(path, read_only=True) as store:
        return store.records("notes").ids()


@pytest.fixture
def notes(store: satchel.Store) -> satchel.Records[Dict[str, Any]]:
    return store.records("notes")


def test_they_are_written_with_the_tenth(path: Path, notes: satchel.Records[Dict[str, Any]]) -> None:
    for number in range(9):
        assert notes.put(f"n{number % 3}", {"n": number}, deferred=True) == 0
    assert committed(path) == []
    notes.put("n9", {"n": 9}, deferred=True)
    assert committed(path) == ["n0", "n1", "n2", "n9"]
    assert notes.get("n2") == {"n": 8}


def test_they_are_written_by_flush_and_seen_by_the_same_store(
    store: satchel.Store, path: Path, notes: satchel.Records[Dict[str, Any]]
) -> None:
    notes.put("a", {"n": 1}, deferred=True)
    store.state.set("theme", "dark")
    assert committed(path) == []
    assert store.flush()
    assert committed(path) == ["a"]
    notes.put("a", {"n": 2}, deferred=True)
    notes.put("a", {"n": 3})
    assert notes.get("a") == {"n": 3}
    notes.put("b", {"n": 4}, deferred=True)
    assert notes.get("b") == {"n": 4}
    assert committed(path) == ["a", "b"]


def test_a_batch_begins_after_them_and_has_its_own(
    store: satchel.Store, notes: satchel.Records[Dict[str, Any]]
) -> None:
    notes.put("a", {"n": 1}, deferred=True)

    def fail() -> None:
        with store.batch():
            assert notes.get("a") == {"n": 1}
            notes.put("a", {"n": 2}, deferred=True)
            assert notes.get("a") == {"n": 2}
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert notes.get("a") == {"n": 1}


def test_closing_writes_them(path: Path) -> None:
    with satchel.open(path) as store:
        store.records("notes").put("a", {}, deferred=True)
    assert committed(path) == ["a"]


def test_what_is_invalid_is_refused_at_once(store: satchel.Store) -> None:
    notes = store.records("notes", schema={"properties": {"n": {"type": "integer"}}})
    with pytest.raises(satchel.ConstraintViolation, match="notes/a: /n"):
        notes.put("a", {"n": "x"}, deferred=True)
    for id, document in (("", {}), ("a", 5), ("a", {"n": float("nan")})):
        with pytest.raises(satchel.InvalidArgument):
            notes.put(id, document, deferred=True)
    with pytest.raises(satchel.InvalidArgument, match="if_revision"):
        notes.put("a", {}, if_revision=0, deferred=True)
    assert notes.count() == 0


def test_one_that_cannot_be_written_later_is_kept_and_reported(path: Path) -> None:
    with satchel.open(path) as store:
        users = store.records("users", indexes=[satchel.records.Index("mail", unique=True)])
        heard: List[str] = []
        store.observe(lambda change: heard.extend(change.keys))
        users.put("u1", {"mail": "a"}, deferred=True)
        users.put("u2", {"mail": "a"}, deferred=True)
        users.put("u3", {"mail": "b"}, deferred=True)
        store.flush()
        assert users.ids() == ["u1", "u3"]
        assert "@rejected" in heard
        [finding] = store.check()
        assert finding.code == "rejected_change"
        assert "u2" in finding.message


def test_a_dataclass_keeps_the_members_that_it_does_not_have(store: satchel.Store) -> None:
    @dataclass
    class Note:
        n: int

    store.records("notes").put("a", {"n": 1, "future": True})
    notes = store.records("notes", of=Note)
    note = notes.get("a")
    assert note == Note(1)
    notes.put("a", Note(2), deferred=True)
    assert store.records("notes").get("a") == {"n": 2, "future": True}


KILLED = """
store = satchel.open(sys.argv[1])
notes = store.records("notes")
for number in range(int(sys.argv[2])):
    notes.put(f"n{number}", {"n": number}, deferred=True)
    if number == int(sys.argv[3]):
        store.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("count", "flushed", "least"), [(5, 3, 4), (25, -1, 20), (14, 11, 12), (3, -1, 0)])
def test_what_was_flushed_survives_a_kill(path: Path, count: int, flushed: int, least: int) -> None:
    with satchel.open(path) as store:
        store.records("notes")
    command = [sys.executable, "-c", "import os, signal, sys\nimport satchel\n" + KILLED]
    ended = subprocess.run([*command, str(path), str(count), str(flushed)], timeout=120)
    assert ended.returncode == -signal.SIGKILL
    with satchel.open(path) as store:
        ids = store.records("notes").ids()
        assert ids == [f"n{number}" for number in range(len(ids))]
        assert least <= len(ids) <= count
        assert store.check() == []
    assert os.path.exists(path)
