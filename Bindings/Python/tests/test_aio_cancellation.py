"""Calls whose awaiting task is cancelled."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, List

import pytest
from test_aio import LONG, run
from test_interrupts import NOTHING, filled

import satchel
import satchel.aio

__all__ = ["filled"]


class Spy:
    """A blocking object whose calls are observed: that one begins, and what it raises."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.begun = threading.Event()
        self.errors: List[BaseException] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self.begun.set()
            try:
                return method(*arguments, **named)
            except BaseException as error:
                self.errors.append(error)
                raise

        return call if callable(method) else method


def spied(twin: Any) -> Spy:
    """Puts a spy between a twin and its blocking object."""
    twin._blocking = Spy(twin._blocking)
    spy: Spy = twin._blocking
    return spy


async def begun(spy: Spy) -> None:
    while not spy.begun.is_set():
        await asyncio.sleep(0.001)


def test_a_query_is_stopped(filled: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        spy = spied(notes)
        while not spy.errors:
            spy.begun.clear()
            task = asyncio.ensure_future(notes.list(NOTHING))
            await begun(spy)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert [type(each) for each in spy.errors] == [satchel.Cancelled]
        # The next one is not affected.
        assert await notes.count(NOTHING) == 0

    run(main, filled)


def test_a_time_limit(filled: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        with store.timeout(0.001), pytest.raises(satchel.TimedOut):
            await notes.list(NOTHING)
        assert await notes.list(NOTHING) == []
        interrupt = satchel.Interrupt()
        interrupt.cancel()
        with interrupt, pytest.raises(satchel.Cancelled):
            await notes.count(NOTHING)
        await store.close()
        async with satchel.aio.open(filled, query_timeout=0.001) as limited:
            with pytest.raises(satchel.TimedOut):
                await limited.check()

    run(main, filled)


def test_a_write_that_has_begun_is_completed(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        spy = spied(notes)
        with satchel.open(path) as other:
            batch = other.batch()
            batch.__enter__()
            # It waits for the batch of the other handle.
            task = asyncio.ensure_future(notes.put("a", {"n": 1}))
            await begun(spy)
            # This one waits for its turn, and is never made.
            queued = asyncio.ensure_future(notes.put("b", {"n": 1}))
            await asyncio.sleep(0)
            task.cancel()
            queued.cancel()
            with pytest.raises(asyncio.CancelledError):
                await queued
            assert not task.done()
            batch.__exit__(None, None, None)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await notes.ids() == ["a"]

    run(main, path, busy_timeout=LONG)


def test_a_write_that_fails_reports_its_error(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        spy = spied(notes)
        with satchel.open(path) as other:
            batch = other.batch()
            batch.__enter__()
            task = asyncio.ensure_future(notes.put("a", {}, if_revision=7))
            await begun(spy)
            task.cancel()
            batch.__exit__(None, None, None)
        with pytest.raises(satchel.Conflict):
            await task

    run(main, path, busy_timeout=LONG)


def test_long_work_is_cancelled(filled: Path, tmp_path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        tasks: List[asyncio.Future[Any]] = []
        calls: List[Any] = []

        def progress(so_far: Any) -> None:
            calls.append(so_far)
            tasks[0].cancel()

        tasks.append(asyncio.ensure_future(store.backup(tmp_path / "copy", progress)))
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert calls[-1].pages_done < calls[-1].pages_total
        assert not (tmp_path / "copy").exists()

    run(main, filled)


def test_work_without_a_progress_callback_is_cancelled(path: Path) -> None:
    answered = threading.Event()
    asked = threading.Event()

    def get(key: str, if_none_match: Any) -> Any:
        asked.set()
        answered.wait(LONG)
        raise satchel.remote.NotFound

    async def main(store: satchel.aio.Store) -> None:
        await (await store.records("notes")).put("a", {})
        remote = satchel.remote.Callbacks(get, refuse, refuse, refuse, refuse, identity="test://remote")
        task = asyncio.ensure_future(store.sync(remote, "ada"))
        while not asked.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.sleep(0)
        answered.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        remote.close()

    def refuse(*arguments: Any) -> Any:
        raise AssertionError("nothing follows a cancellation")

    run(main, path)


def test_opening_that_is_cancelled_closes_the_store(path: Path) -> None:
    async def main() -> None:
        async def opened() -> satchel.aio.Store:
            return await satchel.aio.open(path)

        task = asyncio.ensure_future(opened())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    if path.exists():
        # Not open any more: it can be replaced.
        with satchel.open(path) as store:
            store.backup(path.with_suffix(".copy"))
        satchel.restore(path.with_suffix(".copy"), path)
