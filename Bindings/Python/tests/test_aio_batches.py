"""Batches of the asynchronous store: what belongs to them, and what waits."""

# The blocks that raise are batches, whose end is what raises.
# ruff: noqa: PT012

from __future__ import annotations

import asyncio
import contextvars
from pathlib import Path
from typing import Any, List

import pytest
from test_aio import run

import satchel
import satchel.aio

Notes = satchel.aio.Records[Any]


class Stop(Exception):
    """Ends a batch."""


async def elsewhere(call: Any) -> Any:
    """Awaits a call in a task that does not carry the batch of this one."""
    context = contextvars.Context()
    return await context.run(asyncio.ensure_future, call())


def test_all_or_nothing(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes: Notes = await store.records("notes")
        async with store.batch():
            await notes.put("a", {"n": 1})
            assert await notes.get("a") == {"n": 1}
            assert await elsewhere(notes.count) == 0
            await asyncio.gather(*(notes.put(str(each), {}) for each in range(20)))
        assert await notes.count() == 21
        with pytest.raises(Stop):
            async with store.batch():
                await notes.clear()
                assert await notes.count() == 0
                raise Stop
        assert await notes.count() == 21

    run(main, path)


def test_nested_batches(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes: Notes = await store.records("notes")
        async with store.batch():
            await notes.put("a", {})
            with pytest.raises(Stop):
                async with store.batch():
                    await notes.put("b", {})
                    raise Stop
            async with store.batch():
                await notes.put("c", {})
        assert await notes.ids() == ["a", "c"]

    run(main, path)


def test_a_nested_batch_of_another_task_excludes_calls_of_the_outer_one(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes: Notes = await store.records("notes")
        begun, may_end = asyncio.Event(), asyncio.Event()

        async def inner() -> None:
            async with store.batch():
                await notes.put("inner", {})
                begun.set()
                await may_end.wait()

        async with store.batch():
            task = asyncio.ensure_future(inner())
            await begun.wait()
            waiting = asyncio.ensure_future(notes.put("outer", {}))
            assert await elsewhere(notes.count) == 0
            assert not waiting.done()
            may_end.set()
            await asyncio.gather(task, waiting)
        assert await notes.ids() == ["inner", "outer"]

    run(main, path)


def test_writes_of_other_tasks_wait_for_the_end(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes: Notes = await store.records("notes")
        order: List[str] = []

        async def write() -> None:
            await notes.put("other", {})
            order.append("written")

        async with store.batch():
            other = asyncio.ensure_future(elsewhere(write))
            await notes.put("a", {})
            assert await elsewhere(notes.count) == 0
            order.append("ended")
        await other
        assert order == ["ended", "written"]
        assert await notes.ids() == ["a", "other"]

    run(main, path)


def test_a_batch_that_waits_for_a_write_outside_gets_an_error(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes: Notes = await store.records("notes")
        with pytest.raises(satchel.Busy, match="a batch that the call is not part of"):
            async with store.batch():
                await notes.put("a", {})
                await elsewhere(lambda: notes.put("other", {}))
        assert await notes.ids() == []
        # The turn is free again.
        assert await notes.put("other", {}) == 1

    run(main, path, busy_timeout=0.05)


def test_many_batches_of_many_tasks(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes: Notes = await store.records("notes")
        await notes.put("count", {"n": 0})

        async def add() -> None:
            async with store.batch():
                found = await notes.get("count")
                assert found is not None
                await notes.put("count", {"n": found["n"] + 1})

        await asyncio.gather(*(add() for _ in range(30)))
        assert await notes.get("count") == {"n": 30}

    run(main, path)


def test_calls_after_the_end_are_ordinary_ones(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes: Notes = await store.records("notes")
        ended = asyncio.Event()

        async def late() -> int:
            await ended.wait()
            assert await notes.count() == 0
            return await notes.put("late", {})

        with pytest.raises(Stop):
            async with store.batch():
                await notes.put("a", {})
                left = asyncio.ensure_future(late())
                raise Stop
        ended.set()
        assert await left == 1
        assert await notes.ids() == ["late"]

    run(main, path)


def test_cancelling_a_batch_rolls_it_back(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes: Notes = await store.records("notes")
        written = asyncio.Event()

        async def batch() -> None:
            async with store.batch():
                await notes.put("a", {})
                written.set()
                await asyncio.Event().wait()

        task = asyncio.ensure_future(batch())
        await written.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await notes.ids() == []
        assert await notes.put("a", {}) == 1

    run(main, path)


def test_closing_in_a_batch_is_refused(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        async with store.batch():
            with pytest.raises(satchel.InvalidArgument, match="batch"):
                await store.close()
        assert await store.check() == []

    run(main, path)
