"""What a batch is bound to: the task in asyncio, the thread elsewhere."""

# The blocks that raise are batches, whose end is what raises.
# ruff: noqa: PT012

from __future__ import annotations

import asyncio
import contextvars
import random
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Coroutine, Dict, Iterator, List, Set

import pytest

import satchel
from satchel import Records

OSLO = {"locality": "Oslo", "country_code": "NO"}
Collection = Records[Dict[str, Any]]


class Stop(Exception):
    pass


@pytest.fixture
def store(path: Path) -> Iterator[satchel.Store]:
    """A store whose calls wait for as long as a test may take."""
    with satchel.open(path, durability="relaxed", busy_timeout=600) as store:
        yield store
        if not store.closed:
            assert store.check() == []


@pytest.fixture
def notes(store: satchel.Store) -> Collection:
    return store.records("notes", indexes=["n"])


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(main(), 120))


async def to_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """As asyncio.to_thread, which Python 3.8 has not."""
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, lambda: context.run(function, *arguments))


def test_another_task_is_no_part_of_it(store: satchel.Store, notes: Collection) -> None:
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


def test_what_it_hands_to_threads_is_a_part_of_it(store: satchel.Store, notes: Collection) -> None:
    async def main() -> None:
        for kept in (True, False):
            try:
                with store.batch():
                    assert await to_thread(notes.put, "a", {"n": 1}) > 0
                    assert notes.get("a") == {"n": 1}
                    await asyncio.gather(
                        *(to_thread(notes.put, f"{each}", {"n": each}) for each in range(20))
                    )
                    assert await to_thread(notes.count) == 21
                    if not kept:
                        raise Stop
            except Stop:
                pass
            assert notes.count() == (21 if kept else 0)
            assert await to_thread(notes.count) == (21 if kept else 0)
            for each in notes.ids():
                await to_thread(notes.delete, each)

    run(main)


def test_copied_contexts_are_a_part_of_it(store: satchel.Store, notes: Collection) -> None:
    with store.batch():
        thread = threading.Thread(target=contextvars.copy_context().run, args=(notes.put, "a", {"n": 1}))
        thread.start()
        thread.join(60)
        assert notes.ids() == ["a"]
    assert notes.ids() == ["a"]


def test_a_batch_that_is_cancelled_is_undone(store: satchel.Store, notes: Collection) -> None:
    async def main() -> None:
        begun = asyncio.Event()

        async def batch() -> None:
            with store.batch():
                notes.put("a", {"n": 1})
                begun.set()
                await asyncio.sleep(3600)

        task = asyncio.ensure_future(batch())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        notes.put("b", {"n": 2})

    run(main)
    assert notes.ids() == ["b"]


def test_what_is_left_over_of_an_undone_batch_is_not_stored(store: satchel.Store, notes: Collection) -> None:
    async def main() -> None:
        ended = threading.Event()
        left: List[Any] = []

        def late() -> None:
            ended.wait(60)
            try:
                left.append(notes.put("late", {"n": 1}))
            except satchel.SatchelError as error:
                left.append(type(error))

        with pytest.raises(Stop), store.batch():
            work = asyncio.ensure_future(to_thread(late))
            await asyncio.sleep(0)
            raise Stop
        ended.set()
        await work
        assert left == [satchel.InvalidArgument]
        # A thread of the pool is as any other afterwards.
        assert await to_thread(notes.put, "after", {"n": 2}) > 0

    run(main)
    assert notes.ids() == ["after"]


def test_a_task_that_outlives_it_goes_on(store: satchel.Store, notes: Collection) -> None:
    async def main() -> None:
        for kept in (True, False):
            ended = asyncio.Event()

            async def outlives(number: int, ended: asyncio.Event = ended) -> None:
                await ended.wait()
                notes.put(f"{number}", {"n": number})
                with store.batch():
                    notes.put(f"{number}b", {"n": number})

            try:
                with store.batch():
                    task = asyncio.ensure_future(outlives(int(kept)))
                    if not kept:
                        raise Stop
            except Stop:
                pass
            ended.set()
            await task

    run(main)
    assert sorted(notes.ids()) == ["0", "0b", "1", "1b"]


def test_tasks_created_in_it_are_a_part_of_it(store: satchel.Store, notes: Collection) -> None:
    async def main() -> None:
        async def put(number: int) -> None:
            await asyncio.sleep(0)
            notes.put(f"{number}", {"n": number})

        for kept in (False, True):
            try:
                with store.batch():
                    if sys.version_info >= (3, 11):
                        async with asyncio.TaskGroup() as group:
                            for each in range(5):
                                group.create_task(put(each))
                    else:
                        await asyncio.gather(*(put(each) for each in range(5)))
                    if not kept:
                        raise Stop
            except Stop:
                pass
            assert notes.count() == (5 if kept else 0)

    run(main)


def test_a_batch_inside_of_it_is_of_one_task(store: satchel.Store, notes: Collection) -> None:
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
            # Neither the sibling nor the task around it writes into what may be undone.
            with pytest.raises(satchel.Busy):
                notes.put("outer", {"n": 2})
            with pytest.raises(satchel.Busy):
                notes.count()
            seen.set()
            await task
            notes.put("outer", {"n": 2})
        assert notes.ids() == ["outer"]

    run(main)


def test_a_batch_that_ends_before_one_inside_of_it_is_undone(store: satchel.Store, notes: Collection) -> None:
    async def main() -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def inner() -> None:
            with pytest.raises(satchel.InvalidArgument), store.batch():
                notes.put("inner", {"n": 1})
                begun.set()
                await ended.wait()
                with pytest.raises(satchel.InvalidArgument, match="not open"):
                    notes.put("more", {"n": 2})

        with pytest.raises(satchel.InvalidArgument, match="inside"), store.batch():
            task = asyncio.ensure_future(inner())
            await begun.wait()
        ended.set()
        await task
        notes.put("after", {"n": 3})
        assert notes.ids() == ["after"]

    run(main)


def test_batches_of_two_stores(tmp_path: Path, store: satchel.Store, notes: Collection) -> None:
    with satchel.open(tmp_path / "other.satchel") as other:
        others = other.records("notes")
        with store.batch():
            with pytest.raises(Stop), other.batch():
                others.put("a", {})
                notes.put("a", {"n": 1})
                raise Stop
            others.put("b", {})
        assert (others.ids(), notes.ids()) == (["b"], ["a"])
        with other.batch():
            store.close()
            others.put("c", {})
        assert others.ids() == ["b", "c"]


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
        # What is in memory has one connection, which shows what is not committed.
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
def test_against_a_model(store: satchel.Store, notes: Collection, seed: int) -> None:
    """Every acknowledged put is there, unless its own batch was undone; what was undone is nowhere."""
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
