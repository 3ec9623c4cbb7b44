"""Live queries: what an iterator over them yields, and when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, List

import pytest
from helpers import eventually

import satchel
from satchel import _callbacks

# A machine under load may take this long; nothing waits for it in vain.
LONG = 60.0
WRITER = """
import sys, satchel
with satchel.open(sys.argv[1]) as store:
    store.records("notes").put("other", {"n": 2})
"""


def ids(records: Any) -> List[str]:
    return [record.id for record in records]


def test_the_first_result_is_the_present_one_and_commits_follow(store: satchel.Store) -> None:
    notes = store.records("notes")
    notes.put("a", {"n": 1})
    with notes.watch(where={"n": {"gte": 1}}, order_by="-n", limit=2) as results:
        assert ids(next(results)) == ["a"]
        notes.put("b", {"n": 2})
        assert ids(next(results)) == ["b", "a"]
        notes.put("c", {"n": 3})
        assert ids(next(results)) == ["c", "b"]
        notes.delete("c")
        assert ids(next(results)) == ["b", "a"]


def test_another_process_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "notes.satchel"
    with satchel.open(path) as store, store.records("notes").watch() as results:
        assert next(results) == []
        subprocess.run([sys.executable, "-c", WRITER, str(path)], check=True)
        assert ids(next(results)) == ["other"]


def test_a_result_that_is_the_same_is_not_given_again(store: satchel.Store) -> None:
    notes = store.records("notes")
    with notes.watch(where={"n": 1}) as results, notes.watch() as every:
        assert next(results) == next(every) == []
        notes.put("b", {"n": 2})
        # One thread runs all queries: when this one has a result, the other one has run, or will.
        assert ids(next(every)) == ["b"]
        notes.put("a", {"n": 1})
        assert ids(next(results)) == ["a"]
        assert results.next(timeout=0) is None


def test_a_slow_reader_gets_the_newest_result(store: satchel.Store) -> None:
    notes = store.records("notes")
    with notes.watch() as results:
        assert next(results) == []
        for number in range(20):
            notes.put(str(number), {"n": number})
        found = next(results)
        while len(found) < 20:
            found = next(results)
        assert ids(found) == [str(number) for number in range(20)]
        assert results.next(timeout=0) is None


def test_documents_are_those_of_the_collection(store: satchel.Store) -> None:
    @dataclass
    class Note:
        n: int

    notes = store.records("notes", of=Note)
    notes.put("a", Note(1))
    with notes.watch() as results:
        assert next(results)[0].document == Note(1)
        notes.put("b", b'{"m": 2}')
        with pytest.raises(satchel.InvalidArgument, match="notes/b"):
            next(results)
        notes.put("b", Note(2))
        assert [record.document for record in next(results)] == [Note(1), Note(2)]


def test_an_error_is_raised_and_the_query_goes_on(store: satchel.Store) -> None:
    notes = store.records("notes")
    with notes.watch() as results:
        next(results)
        store.drop_collection("notes")
        with pytest.raises(satchel.NotFound, match="notes"):
            next(results)
        assert not results.closed


def test_a_result_says_what_changed(store: satchel.Store) -> None:
    notes = store.records("notes")
    notes.put_many({each: {"n": number} for number, each in enumerate("abcd")})

    with notes.watch(order_by="n") as results:
        first = next(results)
        assert (first.inserted, first.removed, first.moved, first.changed) == (list("abcd"), [], [], [])
        with store.batch():
            notes.delete("a")
            notes.put("d", {"n": 0.5})
            notes.put("e", {"n": 9})
            notes.put("c", {"n": 2, "new": True})
        found = next(results)
        assert ids(found) == list("dbce")
        changes = (found.inserted, found.removed, found.moved, found.changed)
        assert changes == (["e"], ["a"], ["d"], ["d", "c"])


DECLARE = """
import sys, satchel
with satchel.open(sys.argv[1]) as store:
    if sys.argv[2] == "migrate":
        store.records("notes", version=2, migrations=[[{"rename": {"from": "n", "to": "m"}}]])
    else:
        store.drop_collection("notes")
        store.records("notes").put("new", {})
"""


@pytest.mark.parametrize("change", ["migrate", "declare"])
def test_a_declaration_of_another_process_is_never_silent(tmp_path: Path, change: str) -> None:
    path = tmp_path / "notes.satchel"
    with satchel.open(path) as store, store.records("notes") as notes:
        notes.put("old", {"n": 1})
        with notes.watch() as results:
            assert ids(next(results)) == ["old"]
            subprocess.run([sys.executable, "-c", DECLARE, str(path), change], check=True)
            if change == "migrate":
                with pytest.raises(satchel.NewerStore, match="open it again"):
                    next(results)
                with store.records("notes", version=2) as again, again.watch() as renewed:
                    assert next(renewed)[0].document == {"m": 1}
                return
            found = None
            while found is None:
                # Between the commits of the other process there is none.
                with contextlib.suppress(satchel.NotFound):
                    found = next(results)
            assert ids(found or next(results)) == ["new"]


def resident() -> int:
    """The memory that no file backs, in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_live_queries_keep_no_documents(tmp_path: Path) -> None:
    with satchel.open(tmp_path / "notes.satchel", durability="relaxed") as store:
        notes = store.records("notes")
        notes.put_many((f"k{each:05}", {"n": each, "t": "x" * 1000}) for each in range(10_000))
        one = notes.watch()
        assert len(next(one)) == 10_000
        gc.collect()
        before = resident()
        watches = [notes.watch(where={"n": {"gte": -each}}) for each in range(20)]
        for each in watches:
            assert len(each.next(LONG) or []) == 10_000
        gc.collect()
        # Twenty copies of ten megabytes would be two hundred.
        assert resident() - before < 40_000_000


@pytest.mark.parametrize("query", [{"where": {"a": {"gt": []}}}, {"order_by": 7}, {"limit": -1}])
def test_an_invalid_query_is_refused(store: satchel.Store, query: Any) -> None:
    before = _callbacks.registered_count()
    with pytest.raises(satchel.InvalidArgument):
        store.records("notes").watch(**query)
    assert _callbacks.registered_count() == before


def test_iteration_ends_with_the_query_and_with_the_store(tmp_path: Path) -> None:
    store = satchel.open(tmp_path / "notes.satchel")
    first, second = store.records("notes").watch(), store.records("notes").watch()
    taken: List[int] = []
    started = threading.Barrier(2)

    def iterate() -> None:
        next(second)
        started.wait(LONG)
        taken.append(len(list(second)))

    thread = threading.Thread(target=iterate)
    thread.start()
    next(first)
    first.close()
    assert list(first) == []
    assert first.closed
    assert first.next(timeout=0) is None
    started.wait(LONG)
    store.close()
    thread.join(LONG)
    assert taken == [0]
    assert second.closed


def test_asyncio(store: satchel.Store) -> None:
    notes = store.records("notes")

    async def main() -> List[List[str]]:
        seen: List[List[str]] = []
        with notes.watch() as results:
            async for records in results:
                seen.append(ids(records))
                if len(seen) == 3:
                    break
                await asyncio.to_thread(notes.put, str(len(seen)), {"n": len(seen)})
            waiting = asyncio.ensure_future(results.__anext__())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            waiting = asyncio.ensure_future(results.__anext__())
            await asyncio.sleep(0)
            results.close()
            with pytest.raises(StopAsyncIteration):
                await waiting
        return seen

    assert asyncio.run(asyncio.wait_for(main(), LONG)) == [[], ["1"], ["1", "2"]]


def test_a_query_that_no_one_holds_ends(store: satchel.Store) -> None:
    before = _callbacks.registered_count()
    results = store.records("notes").watch()
    next(results)
    assert _callbacks.registered_count() == before + 1
    del results
    gc.collect()
    assert eventually(lambda: _callbacks.registered_count() == before)


def test_in_memory() -> None:
    with satchel.open(":memory:") as store, store.records("notes").watch() as results:
        notes = store.records("notes")
        assert next(results) == []
        with store.batch():
            notes.put("a", {})
            notes.put("b", {})
        assert ids(next(results)) == ["a", "b"]


def test_counts_and_sums_are_followed(store):
    sales = store.records("sales")
    sales.put("a", {"kind": "tea", "total": 2})
    with sales.watch_counts("kind") as counts, sales.watch_aggregate("sum", "total") as sums:
        assert counts.next() == {"tea": 1}
        assert sums.next() == 2
        with store.batch():
            sales.put("b", {"kind": "cake", "total": 5})
            sales.put("c", {"kind": "tea", "total": 1})
        assert counts.next() == {"cake": 1, "tea": 2}
        assert sums.next() == 8
        sales.put("c", {"kind": "tea", "total": 3})
        assert sums.next() == 10
        assert counts.next(timeout=0) is None
    with (
        sales.watch_counts() as count,
        sales.watch_aggregate("max", "total", {"kind": "tea"}, "kind") as best,
    ):
        assert (count.next(), best.next()) == (3, {"tea": 3})


def test_searches_are_followed(store):
    cafes = store.records("cafes", search=["name"], positions=["at"])
    cafes.put("a", {"name": "Odeon", "at": {"lat": 47.5, "lon": 8.5}})
    with cafes.watch_search("ode") as found, cafes.watch_near(47.5, 8.5, 100) as nearby:
        [hit] = found.next()
        assert (hit.record.id, hit.highlights) == ("a", [(0, 5)])
        [place] = nearby.next()
        assert (place.record["name"], place.distance) == ("Odeon", 0)
        cafes.put("b", {"name": "Odessa", "at": {"lat": 47.5, "lon": 8.5005}})
        assert found.next().inserted == ["b"]
        assert [round(each.distance) for each in nearby.next()] == [0, 38]
        cafes.put("a", {"name": "Odeon bar", "at": {"lat": 47.5, "lon": 8.5}})
        assert found.next().changed == ["a"]


@pytest.mark.parametrize(
    "start",
    [
        lambda notes: notes.watch_search("a"),
        lambda notes: notes.watch_near(0, 0, 1),
        lambda notes: notes.watch_aggregate("mean", "n"),
        lambda notes: notes.watch_counts("tags[*]"),
    ],
)
def test_what_cannot_be_followed_is_refused_at_once(store, start):
    with pytest.raises(satchel.InvalidArgument):
        start(store.records("notes"))
