"""Handles that outlive their store, threads that share a collection, and processes that are killed."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import pickle
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from albums import together
from helpers import eventually

import satchel
from satchel import Records
from satchel.remote import Remote

Collection = Records[Dict[str, Any]]

CALLS: Dict[str, Callable[[Collection, Remote], Any]] = {
    "put": lambda records, remote_copy: records.put("b", {}),
    "put_many": lambda records, remote_copy: records.put_many({"b": {}}),
    "get": lambda records, remote_copy: records.get("a"),
    "text": lambda records, remote_copy: records.text("a"),
    "record": lambda records, remote_copy: records.record("a"),
    "contains": lambda records, remote_copy: "a" in records,
    "delete": lambda records, remote_copy: records.delete("a"),
    "list": lambda records, remote_copy: records.list(),
    "ids": lambda records, remote_copy: records.ids(),
    "count": lambda records, remote_copy: records.count(),
    "mirror": lambda records, remote_copy: records.mirror("x.json"),
    "verify_mirror": lambda records, remote_copy: records.verify_mirror(),
    "rebuild": lambda records, remote_copy: records.rebuild("mirror"),
    "clear": lambda records, remote_copy: records.clear(),
    "conflicts": lambda records, remote_copy: records.conflicts(),
    "resolve": lambda records, remote_copy: records.resolve(1, "local"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("closes", ["collection", "store"])
def test_what_is_closed_says_so(store: satchel.Store, remote_copy: Remote, call: str, closes: str) -> None:
    records = store.records("courses")
    records.put("a", {})
    assert "closed" not in repr(records)
    (records if closes == "collection" else store).close()
    assert records.closed
    assert "courses" in repr(records)
    assert "closed" in repr(records)
    with pytest.raises(satchel.Closed):
        CALLS[call](records, remote_copy)
    records.close()
    store.close()


STORE_CALLS: Dict[str, Callable[[satchel.Store], Any]] = {
    "records": lambda store: store.records("courses"),
    "collections": lambda store: store.collections(),
    "drop_collection": lambda store: store.drop_collection("courses"),
    "detach": lambda store: store.detach(),
    "sync": lambda store: store.sync(satchel.remote.Directory("/tmp"), "ada"),
    "backup": lambda store: store.backup("x.backup"),
    "backup_rotate": lambda store: store.backup_rotate(".", 1),
    "configure": lambda store: store.state.configure(max_pending=5),
    "set": lambda store: store.state.set("a", 1),
    "get": lambda store: store.state.get("a"),
    "contains": lambda store: "a" in store.state,
    "remove": lambda store: store.state.remove("a"),
    "keys": lambda store: store.state.keys(),
    "flush": lambda store: store.state.flush(),
    "set_key": lambda store: store.state.set_key(bytes(32)),
    "rotate_key": lambda store: store.state.rotate_key(bytes(32)),
    "push": lambda store: store.state.list("a").push(1),
    "items": lambda store: store.state.list("a").items(),
    "list remove": lambda store: store.state.list("a").remove(1),
    "clear": lambda store: store.state.list("a").clear(),
    "add": lambda store: store.state.members("a").add(1),
    "remove member": lambda store: store.state.members("a").remove(1),
    "members": lambda store: store.state.members("a").values(),
    "score": lambda store: store.state.scores("a").add("b", 1),
    "scores": lambda store: store.state.scores("a").all(),
}


@pytest.mark.parametrize("call", STORE_CALLS)
def test_a_closed_store_says_so(store: satchel.Store, call: str) -> None:
    store.close()
    with pytest.raises(satchel.Closed):
        STORE_CALLS[call](store)


def test_handles_are_of_the_same_records(store: satchel.Store) -> None:
    one = store.records("courses")
    with store.records("courses", indexes=["n"]) as other:
        other.put("a", {"n": 1})
        assert one.get("a") == {"n": 1}
    assert other.closed
    assert one.ids(where={"n": 1}) == ["a"]
    one.put("b", {"n": 1})
    assert store.records("courses", indexes=["n"]).ids(where={"n": 1}) == ["a", "b"]


def test_a_handle_cannot_be_copied(store: satchel.Store) -> None:
    records = store.records("courses")
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            attempt(records)


def test_a_store_in_memory_has_records_and_state() -> None:
    with satchel.open(":memory:") as one, satchel.open(":memory:") as other:
        one.records("courses").put("a", {"n": 1})
        one.state.set("theme", "dark")
        assert one.state.flush() is True
        assert one.records("courses").get("a") == {"n": 1}
        assert other.collections() == []
        assert other.state.keys() == []


def test_a_child_that_was_forked_has_to_open_again(store: satchel.Store) -> None:
    records = store.records("courses")
    child = os.fork()
    if child == 0:
        calls = (lambda: records.put("a", {}), lambda: store.state.get("a"), store.collections)
        for call in calls:
            try:
                call()
            except satchel.Closed:
                continue
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    records.put("a", {})


def test_threads_share_a_collection(store: satchel.Store) -> None:
    courses = store.records("courses", indexes=["n", {"path": "code", "unique": True}])
    taken: List[str] = []

    def work(number: int) -> None:
        for each in range(60):
            courses.put(f"{number}-{each}", {"n": each})
            with contextlib.suppress(satchel.ConstraintViolation):
                courses.put(f"code-{number}-{each}", {"code": each})
                taken.append(f"code-{number}-{each}")
            assert courses.count({"n": each}) >= 1
            if each % 7 == 0:
                assert courses.delete(f"{number}-{each}")

    together(*(functools.partial(work, number) for number in range(4)))
    assert sorted(courses.ids(where={"code": {"exists": True}})) == sorted(taken)
    assert len(taken) == 60
    assert courses.count({"n": {"exists": True}}) == 4 * len([each for each in range(60) if each % 7])


def test_a_store_that_closes_under_threads_fails_their_calls_and_nothing_else(path: Path) -> None:
    store = satchel.open(path, durability="relaxed")
    courses = store.records("courses")
    acknowledged: Dict[int, int] = {}
    scores: Dict[int, int] = {}

    def work(number: int) -> None:
        with contextlib.suppress(satchel.Closed):
            for each in range(1_000_000):
                courses.put(f"{number}-{each}", {"n": each})
                acknowledged[number] = each
                store.state.scores("s", 0, 1e9).add(str(number), 1)
                scores[number] = each + 1

    def close() -> None:
        assert eventually(lambda: len(scores) == 4, 60)
        store.close()

    together(close, *(functools.partial(work, number) for number in range(4)))
    with satchel.open(path) as store:
        courses = store.records("courses")
        for number, last in acknowledged.items():
            for each in range(last + 1):
                assert f"{number}-{each}" in courses
            assert store.state.scores("s", 0, 1e9).value(str(number)) >= scores[number]
        assert store.check() == []


PUTTING = """
import sys, satchel
store = satchel.open(sys.argv[1])
courses = store.records("courses", indexes=["n"])
first = int(sys.argv[2])
for number in range(first, first + 1_000_000):
    if number % 5 == 4:
        with store.batch():
            courses.put(f"c{number}", {"n": number})
            courses.put(f"also-{number}", {"n": number})
    else:
        courses.put(f"c{number}", {"n": number})
    print(number, flush=True)
"""


def test_what_put_acknowledged_survives_a_kill(path: Path) -> None:
    random.seed(7)
    first = 0
    for _ in range(5):
        acknowledged = killed_after(PUTTING, random.randrange(1, 60), path, first)
        with satchel.open(path) as store:
            assert store.check() == []
            courses = store.records("courses", indexes=["n"])
            found = {each.id: each.document for each in courses.list()}
            for number in acknowledged:
                assert found[f"c{number}"] == {"n": number}
            for number in range(first, first + len(found)):
                # A batch is there as a whole, or not at all.
                if number % 5 == 4:
                    assert (f"c{number}" in found) == (f"also-{number}" in found)
            last = max(each["n"] for each in found.values())
            # One more than was acknowledged may have arrived; and each only once.
            assert last <= acknowledged[-1] + 1
            assert courses.ids(where={"n": last})[0] == f"c{last}"
            assert len(found) == courses.count() == last + 1 + len(range(4, last + 1, 5))
            first = last + 1


CHANGING = """
import sys, satchel
store = satchel.open(sys.argv[1])
store.state.configure(save_delay=1000, max_pending=7, max_delay=1000)
first = int(sys.argv[2])
for number in range(first, first + 1_000_000):
    store.state.scores("s", 0, 1e9).add("k", 1)
    store.state.list("l").push(number)
    store.state.members("m").add(number)
    store.state.set("last", number)
    if number % 3 == 0:
        assert store.state.flush()
        print(number, flush=True)
"""


def test_what_was_flushed_is_there_exactly_once_after_a_kill(path: Path) -> None:
    random.seed(11)
    first = 0
    for _ in range(5):
        acknowledged = killed_after(CHANGING, random.randrange(1, 25), path, first)
        with satchel.open(path) as store:
            assert store.check() == []
            pushed = store.state.list("l").values()
            count = len(pushed)
            assert pushed == list(range(count - 1, -1, -1))
            assert count > acknowledged[-1]
            # Each change is saved separately, in order: of the last round only the first ones may be there.
            score = store.state.scores("s", 0, 1e9).value("k")
            assert count <= score <= count + 1
            assert len(store.state.members("m")) in (count - 1, count)
            assert store.state.get("last") in (count - 2, count - 1)
            # The changes after the last flush are completed, for the next round.
            store.state.scores("s", 0, 1e9).add("k", count - score)
            store.state.members("m").add(count - 1)
            store.state.set("last", count - 1)
            first = count


def killed_after(script: str, lines: int, path: Path, first: int) -> List[int]:
    """Runs a script until it has said so many lines, and kills it; what it said."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path), str(first)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    # The lines that it wrote in the meantime were acknowledged, too; a line that was cut off was not.
    said += [line for line in process.stdout if line.endswith("\n")]
    process.wait()
    process.stdout.close()
    return [int(line) for line in said]


def test_processes_share_a_collection(path: Path) -> None:
    script = (
        "import sys, satchel\n"
        "with satchel.open(sys.argv[1], busy_timeout=60) as store:\n"
        "    courses = store.records('courses', indexes=['n'])\n"
        "    for each in range(50):\n"
        "        with store.batch():\n"
        "            found = courses.get('sum') or {'n': 0}\n"
        "            courses.put('sum', {'n': found['n'] + 1})\n"
        "        courses.put(f'{sys.argv[2]}-{each}', {'n': each})\n"
        "        store.state.scores('s', 0, 1e9).add('k', 1)\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", script, str(path), str(each)])
        for each in range(3)
    ]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    with satchel.open(path) as store:
        courses = store.records("courses", indexes=["n"])
        assert courses.get("sum") == {"n": 150}
        assert courses.count() == 151
        assert [courses.count({"n": each}) for each in (0, 49)] == [3, 3]
        assert store.state.scores("s", 0, 1e9).all() == {"k": 150.0}
        assert store.check() == []
