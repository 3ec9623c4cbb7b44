"""A batch excludes the calls of other tasks and threads, which wait or are refused."""

# The blocks that raise are batches, whose end is what raises.
# ruff: noqa: PT012

from __future__ import annotations

import asyncio
import random
import threading
from pathlib import Path
from typing import Any, Callable, Iterator, List, Set

import pytest
from batches import OSLO, Notes, Stop, run, to_thread, waiting_store

import satchel


@pytest.fixture
def store(path: Path) -> Iterator[satchel.Store]:
    with waiting_store(path) as store:
        yield store


@pytest.fixture
def notes(store: satchel.Store) -> Notes:
    return store.records("notes", indexes=["n"])


def test_another_task_is_no_part_of_it(store: satchel.Store, notes: Notes) -> None:
    notes.put("old", {"n": 0})

    async def main() -> None:
        begun, seen = asyncio.Event(), asyncio.Event()

        async def batch() -> None:
            with store.batch():
                notes.put("inside", {"n": 1})
                begun.set()
                await seen.wait()
                assert sorted(notes.ids()) == ["inside", "old"]
                raise Stop

        task = asyncio.ensure_future(batch())
        await begun.wait()
        writes: List[Callable[[], object]] = [
            lambda: notes.put("beside", {"n": 2}),
            lambda: notes.put_many({"beside": {"n": 2}}),
            lambda: notes.delete("old"),
            lambda: store.state.flush(),
            lambda: store.catalogue.persist(OSLO, {"section": "s", "content": {}}),
            lambda: store.records("more"),
            lambda: store.batch().__enter__(),
        ]
        for write in writes:
            with pytest.raises(satchel.Busy):
                write()
        # Reads see what is committed.
        assert notes.ids() == ["old"]
        assert notes.count() == 1
        assert notes.get("inside") is None
        assert notes.ids(where={"n": 1}) == []
        seen.set()
        with pytest.raises(Stop):
            await task
        assert notes.put("after", {"n": 3}) > 0

    run(main)
    assert sorted(notes.ids()) == ["after", "old"]


def test_a_batch_inside_of_it_is_of_one_task(store: satchel.Store, notes: Notes) -> None:
    async def main() -> None:
        begun, seen = asyncio.Event(), asyncio.Event()

        async def inner() -> None:
            with pytest.raises(Stop), store.batch():
                notes.put("inner", {"n": 1})
                begun.set()
                await seen.wait()
                raise Stop

        with store.batch():
            task = asyncio.ensure_future(inner())
            await begun.wait()
            # Neither the sibling nor the task around it writes into a batch that may be rolled back.
            with pytest.raises(satchel.Busy):
                notes.put("outer", {"n": 2})
            with pytest.raises(satchel.Busy):
                notes.count()
            seen.set()
            await task
            notes.put("outer", {"n": 2})
        assert notes.ids() == ["outer"]

    run(main)


@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_other_threads_wait_as_long_as_they_may(tmp_path: Path, place: str) -> None:
    file = ":memory:" if place == ":memory:" else str(tmp_path / "store")
    with satchel.open(file, busy_timeout=0.1) as store:
        notes = store.records("notes")
        notes.put("old", {})
        found: List[Any] = []

        def work() -> None:
            for call in (lambda: notes.put("beside", {}), notes.ids, lambda: store.catalogue.load(OSLO, "s")):
                try:
                    found.append(call())
                except satchel.SatchelError as error:
                    found.append(type(error))

        with store.batch():
            notes.put("inside", {})
            thread = threading.Thread(target=work)
            thread.start()
            thread.join(60)
            assert not thread.is_alive()
        busy = satchel.Busy
        # A store in memory has one connection, which shows uncommitted changes.
        assert found == ([busy, busy, busy] if place == ":memory:" else [busy, ["old"], None])
        assert sorted(notes.ids()) == ["inside", "old"]


def test_closing_beside_a_batch_undoes_it_and_says_so(path: Path) -> None:
    store = satchel.open(path, busy_timeout=600)
    notes = store.records("notes")

    async def main() -> None:
        begun, closed = asyncio.Event(), asyncio.Event()

        async def batch() -> None:
            with pytest.raises(satchel.Closed), store.batch():
                notes.put("a", {})
                begun.set()
                await closed.wait()
                notes.put("b", {})

        task = asyncio.ensure_future(batch())
        await begun.wait()
        store.state.set("kept", True)
        with pytest.raises(satchel.Busy):
            store.close()
        assert store.closed
        closed.set()
        await task

    run(main)
    with satchel.open(path) as store:
        assert store.records("notes").count() == 0
        assert store.state.get("kept") is True
        assert store.check() == []


@pytest.mark.parametrize("seed", range(6))
def test_against_a_model(store: satchel.Store, notes: Notes, seed: int) -> None:
    """Every acknowledged put is there, unless its batch was rolled back; nothing of such a batch is there."""
    kept: Set[str] = set()
    names = iter(range(10**9))
    lock = threading.Lock()

    def put(acknowledged: Set[str]) -> None:
        with lock:
            name = f"{next(names)}"
        assert notes.put(name, {"n": 1}) > 0
        with lock:
            acknowledged.add(name)

    async def batch(choice: random.Random, acknowledged: Set[str], depth: int) -> None:
        mine: Set[str] = set()
        try:
            with store.batch():
                for _ in range(choice.randrange(6)):
                    step = choice.randrange(5)
                    if step == 0:
                        put(mine)
                    elif step == 1:
                        await to_thread(put, mine)
                    elif step == 2:
                        await asyncio.gather(*(to_thread(put, mine) for _ in range(3)))
                    elif step == 3 and depth < 3:
                        await batch(choice, mine, depth + 1)
                    else:
                        await asyncio.sleep(0)
                if choice.random() < 0.4:
                    raise Stop
        except Stop:
            return
        with lock:
            acknowledged |= mine

    async def task(choice: random.Random) -> None:
        for _ in range(15):
            try:
                if choice.random() < 0.5:
                    await batch(choice, kept, 0)
                else:
                    put(kept)
            except satchel.Busy:
                pass
            await asyncio.sleep(0)

    def thread(choice: random.Random) -> None:
        for _ in range(15):
            put(kept)
            mine: Set[str] = set()
            try:
                with store.batch():
                    put(mine)
                    put(mine)
                    if choice.random() < 0.5:
                        raise Stop
            except Stop:
                continue
            with lock:
                kept.update(mine)

    async def main() -> None:
        await asyncio.gather(*(task(random.Random(seed * 10 + each)) for each in range(4)))

    threads = [threading.Thread(target=thread, args=(random.Random(-seed - each),)) for each in (1, 2)]
    for each in threads:
        each.start()
    run(main)
    for each in threads:
        each.join(60)
    assert set(notes.ids()) == kept
