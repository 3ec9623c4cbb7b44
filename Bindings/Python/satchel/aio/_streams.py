"""Asynchronous iterators that continue until they are closed: changes of a store, and live queries."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Any, Callable, Deque, Dict, Generic, Hashable, List, Optional, TypeVar

from satchel.aio._calls import Calls, ClosingTwin
from satchel.observer import Change
from satchel.observer import Observer as BlockingObserver
from satchel.records import Watch as BlockingWatch

__all__ = ["Changes", "Observer", "Watch"]

# The number of changes that are kept for a reader that takes none.
_MAX_CHANGES = 1000

_Result = TypeVar("_Result")
_Stream = TypeVar("_Stream", bound="_Opened")
_Reading = asyncio.Future[Optional[_Result]]


class Observer(ClosingTwin):
    """A subscription to a store's changes, made by ``store.observe``; ended by :meth:`close`."""

    __slots__ = ()


class _Opened:
    """A stream that is opened by ``async with``, or when its first value is requested."""

    __slots__ = ("__weakref__", "_calls", "_inner", "_is_closed", "_opening")

    def __init__(self, calls: Calls, opening: Callable[[], Any]) -> None:
        self._calls = calls
        self._opening = opening
        self._inner: Any = None
        self._is_closed = False

    @property
    def closed(self) -> bool:
        """Whether it was closed, itself or with its store."""
        return self._is_closed or (self._inner is not None and bool(self._inner.closed))

    async def _open(self) -> Any:
        def begin() -> None:
            # Kept on the thread that makes it: the task that waits for it may be cancelled.
            self._inner = self._opening()

        if self._inner is None and not self._is_closed:
            await self._calls.read(begin)
        return self._inner

    async def close(self) -> None:
        """Ends it; a second time is fine."""
        self._is_closed = True
        if self._inner is not None:
            await self._calls.end(self._inner.close)

    async def __aenter__(self: _Stream) -> _Stream:
        await self._open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


def _joined(changes: Iterable[Change]) -> List[Change]:
    """One change that concerns all for each changed subject, and each event once."""
    joined: Dict[Hashable, Change] = {}
    for change in changes:
        key: Hashable = (change.subject, *change.keys, change.place) if change.event else change.subject
        known = joined.pop(key, change)
        joined[key] = Change(
            change.subject,
            change.keys if change.event else ["*"],
            0,
            change.place if change.event else None,
            known.own and change.own,
            max(known.revision, change.revision),
        )
    return list(joined.values())


class Changes(_Opened):
    """The changes of a store, made by ``store.changes()``: an asynchronous iterator that ends with the store.

    >>> async with store.changes() as changes:
    ...     async for change in changes:
    ...         print(change.records)

    It begins with ``async with``, or with the first value that is asked for. Changes that are not taken
    are kept, in their order: of a reader that falls 1,000 changes behind, they are replaced by one change
    for each subject, whose ``concerns_all`` is true, and each event once.
    """

    __slots__ = ("_changes", "_is_waking", "_lock", "_waiting")

    def __init__(
        self, calls: Calls, observe: Callable[[Callable[[Change], object]], BlockingObserver]
    ) -> None:
        # The observer does not keep it alive: an unreferenced one is closed when it is collected.
        receive = weakref.WeakMethod(self._receive)

        def notify(change: Change) -> None:
            method = receive()
            if method is not None:
                method(change)

        super().__init__(calls, lambda: observe(notify))
        self._lock = threading.Lock()
        self._changes: Deque[Change] = deque()
        self._is_waking = False
        self._waiting: List[asyncio.Future[None]] = []
        calls.ending.add(self)

    def _receive(self, change: Change) -> None:
        # On a thread of the library. Many changes wake the loop once: what it has to do is bounded too.
        with self._lock:
            if len(self._changes) >= _MAX_CHANGES:
                self._changes = deque(_joined(self._changes))
            self._changes.append(change)
            if self._is_waking:
                return
            self._is_waking = True
        # A loop that was closed is notified of nothing.
        with contextlib.suppress(RuntimeError):
            self._calls.loop.call_soon_threadsafe(self.wake)

    def wake(self) -> None:
        """Lets what waits for a change look again; on the loop."""
        with self._lock:
            self._is_waking = False
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    async def close(self) -> None:
        """Ends it; a second time is fine. What waits for a change gets none."""
        await super().close()
        self.wake()

    def __del__(self) -> None:
        if self._inner is not None:
            self._inner.close()

    def __aiter__(self) -> Changes:
        return self

    async def __anext__(self) -> Change:
        await self._open()
        while True:
            with self._lock:
                if self._changes:
                    return self._changes.popleft()
            if self.closed:
                raise StopAsyncIteration
            more: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(more)
            await more


class Watch(_Opened, Generic[_Result]):
    """A live query, made by ``records.watch()``: an asynchronous iterator of lists of records.

    >>> async with courses.watch(order_by="title", limit=20) as results:
    ...     async for records in results:
    ...         show(records)

    It begins with ``async with``, or with the first result that is asked for. A result whose ``next`` was
    cancelled is returned by the following one.
    """

    __slots__ = ("_reading",)

    def __init__(self, calls: Calls, opening: Callable[[], Any]) -> None:
        super().__init__(calls, opening)
        # Reads a large result, which takes time.
        self._reading: Optional[_Reading[_Result]] = None

    async def next(self, timeout: Optional[float] = None) -> Optional[_Result]:
        """Waits for the next result.

        :param timeout: seconds to wait; None for any time
        :returns: None when there was none in that time, and when the query was closed
        :raises SatchelError: when the query cannot be run
        """
        watch: Optional[BlockingWatch[_Result]] = await self._open()
        if watch is None:
            return None
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            if self._reading is None or watch.closed:
                left = None if end is None else max(0, end - time.monotonic())
                try:
                    await asyncio.wait_for(watch._slot.filled(), left)
                except asyncio.TimeoutError:
                    return None
                taken = watch._slot.take(0)
                if taken is None:
                    if watch._slot.ended:
                        return None
                    continue
                self._reading = asyncio.ensure_future(self._calls.read(partial(watch._result, taken)))
            found = await self._read(self._reading)
            if found is not None:
                return found

    async def _read(self, reading: _Reading[_Result]) -> Optional[_Result]:
        try:
            found = await asyncio.shield(reading)
        except asyncio.CancelledError:
            # Its result is kept for the following call.
            if reading.cancelled():
                self._reading = None
            raise
        except BaseException:
            self._reading = None
            raise
        self._reading = None
        return found

    def __aiter__(self) -> Watch[_Result]:
        return self

    async def __anext__(self) -> _Result:
        found = await self.next()
        if found is None:
            raise StopAsyncIteration
        return found
