"""Calls that belong to a batch: of its task in asyncio, of its thread elsewhere, and of their copies."""

# The blocks that raise are batches, whose end is what raises.
# ruff: noqa: PT012

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from pathlib import Path
from typing import Any, Iterator, List

import pytest
from batches import Notes, Stop, run, to_thread, waiting_store

import satchel


@pytest.fixture
def store(path: Path) -> Iterator[satchel.Store]:
    with waiting_store(path) as store:
        yield store


@pytest.fixture
def notes(store: satchel.Store) -> Notes:
    return store.records("notes", indexes=["n"])


def test_what_it_hands_to_threads_is_a_part_of_it(store: satchel.Store, notes: Notes) -> None:
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


def test_copied_contexts_are_a_part_of_it(store: satchel.Store, notes: Notes) -> None:
    with store.batch():
        thread = threading.Thread(target=contextvars.copy_context().run, args=(notes.put, "a", {"n": 1}))
        thread.start()
        thread.join(60)
        assert notes.ids() == ["a"]
    assert notes.ids() == ["a"]


def test_a_batch_that_is_cancelled_is_rolled_back(store: satchel.Store, notes: Notes) -> None:
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


def test_what_is_left_over_of_a_cancelled_batch_is_not_stored(store: satchel.Store, notes: Notes) -> None:
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


def test_a_task_that_outlives_it_goes_on(store: satchel.Store, notes: Notes) -> None:
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


def test_tasks_created_in_it_are_a_part_of_it(store: satchel.Store, notes: Notes) -> None:
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


def test_a_batch_that_ends_before_one_inside_of_it_is_rolled_back(store: satchel.Store, notes: Notes) -> None:
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


def test_batches_of_two_stores(tmp_path: Path, store: satchel.Store, notes: Notes) -> None:
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
