"""Writes that the store's file cannot take are spooled to the outbox file, and drained exactly once."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest

import satchel
from satchel.records import Index

HOLDING = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process with a write transaction that does not end."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    try:
        yield
    finally:
        holder.communicate()


def outbox_of(path: Path) -> Path:
    return path.with_name(path.name + ".outbox")


def close(store: satchel.Store) -> None:
    """Closes a store whose file cannot be written; closing may report that."""
    with contextlib.suppress(satchel.Busy):
        store.close()


def keys(heard: List[satchel.Change]) -> List[str]:
    return [key for each in heard for key in each.keys if key.startswith("@")]


@pytest.fixture
def impatient(path: Path) -> Iterator[satchel.Store]:
    with satchel.open(path, busy_timeout=0.05) as store:
        yield store


def test_writes_are_spooled_while_the_store_is_locked_and_then_drained(
    impatient: satchel.Store, path: Path
) -> None:
    courses = impatient.records("courses", indexes=["n"])
    courses.put("a", {"n": 1})
    heard: List[satchel.Change] = []
    with impatient.observe(heard.append):
        with locked(path):
            assert courses.put("b", {"n": 2}) == 0
            assert courses.put("a", b'{"n": 3.50}') == 0
            assert courses.put_many({"c": {"n": 4}, "d": {"n": 5}}) == 0
            assert courses.put("d", {"n": 6}) == 0
            assert outbox_of(path).stat().st_size > 0
            assert "@spooled" in keys(heard)
            assert courses.get("a") == {"n": 1}
        assert courses.put("e", {"n": 7}) == 1
        assert "@drained" in keys(heard)
    assert [(each.id, each["n"]) for each in courses.list()] == [
        ("a", 3.5),
        ("b", 2),
        ("c", 4),
        ("d", 6),
        ("e", 7),
    ]
    assert courses.text("a") == b'{"n": 3.50}'
    record = courses.record("d")
    assert record is not None
    assert record.revision == 2
    assert courses.ids(where={"n": {"gte": 5}}) == ["d", "e"]
    assert not outbox_of(path).exists()
    assert impatient.check() == []


def test_deletions_are_spooled(impatient: satchel.Store, path: Path) -> None:
    courses = impatient.records("courses")
    courses.put_many({"a": {}, "b": {}})
    with locked(path):
        courses.delete("a")
        assert courses.put("c", {}) == 0
        courses.delete("c")
    assert impatient.state.flush() is True
    assert courses.ids() == ["b"]
    assert not outbox_of(path).exists()


def test_updates_and_deletions_of_many_are_spooled(impatient: satchel.Store, path: Path) -> None:
    courses = impatient.records("courses")
    courses.put_many({"a": {"n": 1, "m": 1}, "b": {}, "c": {}})
    with locked(path):
        assert courses.update("a", {"n": 2, "m": None}) == 0
        assert courses.delete_many(["b", "c", "none"]) == 0
        # Its report needs the store.
        with pytest.raises(satchel.Busy):
            courses.put_many({"d": {}}, skip_rejected=True)
    assert impatient.state.flush() is True
    assert courses.get("a") == {"n": 2}
    assert courses.ids() == ["a"]
    assert impatient.check() == []


def test_state_is_spooled(impatient: satchel.Store, path: Path) -> None:
    state = impatient.state
    state.set("theme", "dark")
    assert state.flush() is True
    with locked(path):
        state.set("theme", "light")
        state.scores("s").add("k", 0.25)
        state.list("l").push("first")
        assert state.flush() is False
        assert state.get("theme") == "light"
        state.scores("s").add("k", 0.25)
        state.list("l").push("second")
        assert state.flush() is False
        assert state.list("l").values() == ["second", "first"]
    assert state.flush() is True
    assert state.flush() is True
    assert not outbox_of(path).exists()
    with satchel.open(path, read_only=True) as other:
        assert other.state.get("theme") == "light"
        assert other.state.scores("s").value("k") == 0.5
        assert other.state.list("l").values() == ["second", "first"]


def test_opening_drains_the_outbox(path: Path) -> None:
    with satchel.open(path, busy_timeout=0.05) as store:
        courses = store.records("courses")
        with locked(path):
            for each in range(10):
                assert courses.put(f"c{each}", {"n": each}) == 0
            store.state.set("last", 9)
            assert store.state.flush() is False
            close(store)
    assert outbox_of(path).exists()
    for _ in range(3):
        with satchel.open(path) as store:
            assert [each["n"] for each in store.records("courses").list()] == list(range(10))
            assert store.state.get("last") == 9
            assert {each.revision for each in store.records("courses").list()} == {1}
            assert store.check() == []
        assert not outbox_of(path).exists()


def test_rejected_entries_are_reported_and_kept(path: Path) -> None:
    with satchel.open(path, busy_timeout=0.05) as store:
        rooms = store.records("rooms", indexes=[Index("code", unique=True)])
        with locked(path):
            assert rooms.put("a", {"code": 1}) == 0
            assert rooms.put("b", {"code": 1}) == 0
            assert rooms.put("c", {"code": 2}) == 0
        heard: List[satchel.Change] = []
        with store.observe(heard.append):
            store.state.flush()
        assert "@rejected" in keys(heard)
        assert rooms.ids() == ["a", "c"]
        findings = store.check()
        assert len(findings) == 1
        assert "rooms/b" in findings[0].message


def test_invalid_documents_are_refused_instead_of_spooled(impatient: satchel.Store, path: Path) -> None:
    courses = impatient.records("courses", schema={"required": ["title"]})
    with locked(path):
        with pytest.raises(satchel.ConstraintViolation):
            courses.put("a", {})
        with pytest.raises(satchel.InvalidArgument):
            courses.put("a", b"no json")
    assert not outbox_of(path).exists()


def test_a_batch_is_not_spooled(impatient: satchel.Store, path: Path) -> None:
    courses = impatient.records("courses")
    with locked(path):
        with pytest.raises(satchel.Busy), impatient.batch():
            pytest.fail("the block must not begin")
        assert not outbox_of(path).exists()
    assert courses.count() == 0


# A limit of the file size, as on a full disk; small other files can still be written.
FULL = """
import os, resource, sys, satchel
path, limit, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = satchel.open(path)
courses = store.records("courses")
state = store.state
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
for number in range(2000):
    revision = courses.put(f"c{number}", {"n": number, "text": "x" * size})
    assert revision in (0, 1), revision
    if number % 10 == 9:
        state.scores("s", 0, 1e9).add("k", 1)
        state.flush()
    print(number, revision, flush=True)
"""


@pytest.fixture
def grown(path: Path) -> Path:
    """A store whose file is far larger than the limit."""
    with satchel.open(path) as store:
        store.records("courses").put_many({f"old{each}": {"text": "x" * 1000} for each in range(300)})
    return path


def numbers(store: satchel.Store) -> List[int]:
    return [each["n"] for each in store.records("courses").list(where={"n": {"exists": True}})]


def test_a_full_disk_loses_no_acknowledged_write(grown: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(grown), "20000", "10"], capture_output=True, text=True, check=False
    )
    said = [line.split() for line in ended.stdout.splitlines()]
    assert "0" in {revision for _, revision in said}
    # In the end the outbox file is full, too; the error names both files.
    assert "satchel.errors." in ended.stderr
    assert "outbox" in ended.stderr
    assert 10 < len(said) < 2000
    with satchel.open(grown) as store:
        found = numbers(store)
        assert found[: len(said)] == list(range(len(said)))
        # Neither the failed write nor a later one was stored.
        assert len(found) == len(said)
        assert store.records("courses").count() == 300 + len(said)
        assert store.state.scores("s", 0, 1e9).value("k") in (len(said) // 10, len(said) // 10 + 1)
        assert store.check() == []
    assert not grown.with_name(grown.name + ".outbox").exists()


def test_a_document_larger_than_both_limits_changes_nothing(grown: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(grown), "20000", "1000000"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout == ""
    assert "satchel.errors." in ended.stderr
    with satchel.open(grown) as store:
        assert store.records("courses").count() == 300
        assert store.check() == []


def test_spooled_writes_survive_a_kill(grown: Path) -> None:
    random.seed(3)
    process = subprocess.Popen(
        [sys.executable, "-c", FULL, str(grown), "60000", "10"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = [process.stdout.readline().split() for _ in range(40 + random.randrange(40))]
    process.send_signal(signal.SIGKILL)
    said += [line.split() for line in process.stdout if line.endswith("\n")]
    process.wait()
    process.stdout.close()
    assert "0" in {revision for _, revision in said}
    for _ in range(2):
        with satchel.open(grown) as store:
            found = numbers(store)
            assert found == list(range(len(found)))
            assert len(said) <= len(found) <= len(said) + 1
            assert store.state.scores("s", 0, 1e9).value("k") in (len(found) // 10, len(found) // 10 + 1)
            assert store.check() == []


def test_entries_of_a_damaged_outbox_are_applied_whole_or_not_at_all(path: Path, tmp_path: Path) -> None:
    with satchel.open(path, busy_timeout=0.05) as store:
        courses = store.records("courses")
        with locked(path):
            for each in range(6):
                courses.put(f"c{each}", {"n": each, "text": "x" * 50})
            data = outbox_of(path).read_bytes()
            close(store)
    whole = path.read_bytes()
    random.seed(13)
    cases: List[bytes] = [data[:length] for length in random.sample(range(len(data)), 25)]
    for _ in range(25):
        spoilt = bytearray(data)
        spoilt[random.randrange(len(data))] ^= 1 << random.randrange(8)
        cases.append(bytes(spoilt))
    cases += [b"", b"\0" * 100, data + b"more", data + data, b"x" * len(data)]
    expected: Dict[str, Any] = {f"c{each}": {"n": each, "text": "x" * 50} for each in range(6)}
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        copy = folder / path.name
        copy.write_bytes(whole)
        outbox_of(copy).write_bytes(case)
        with satchel.open(copy) as store:
            found = {each.id: each.document for each in store.records("courses").list()}
            assert found == {id: document for id, document in expected.items() if id in found}
            # A truncated file loses only the entries at its end.
            if number < 25:
                assert list(found) == list(expected)[: len(found)]
            is_cut = number < 25 or not any(case)
            if len(found) < 6 and case and not is_cut:
                # Unreadable entries are kept in a file. A partly written entry was never acknowledged.
                assert store.check() != [] or list(folder.glob(f"{path.name}.outbox*"))
        with satchel.open(copy) as store:
            assert {each.id: each.document for each in store.records("courses").list()} == found
