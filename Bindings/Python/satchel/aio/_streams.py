"""Asynchronous iterators that continue until they are closed: changes of a store, and live queries."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from typing import Any, Callable, Deque, Generic, List, Optional, TypeVar

from satchel.aio._calls import Calls, ClosingTwin
from satchel.observer import Change
from satchel.observer import Observer as BlockingObserver
from satchel.records import Record
from satchel.records import Watch as BlockingWatch

__all__ = ["Changes", "Observer", "Watch"]

_Document = TypeVar("_Document")
_Stream = TypeVar("_Stream", bound="_Opened")


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


class Changes(_Opened):
    """The changes of a store, made by ``store.changes()``: an asynchronous iterator that ends with the store.

    >>> async with store.changes() as changes:
    ...     async for change in changes:
    ...         print(change.records)

    It begins with ``async with``, or with the first value that is asked for. Changes that are not taken
    are kept, in their order.
    """

    __slots__ = ("_changes", "_waiting")

    def __init__(
        self, calls: Calls, observe: Callable[[Callable[[Change], object]], BlockingObserver]
    ) -> None:
        # The observer does not keep it alive: an unreferenced one is closed when it is collected.
        receive = weakref.WeakMethod(self._receive)

        def notify(change: Change) -> None:
            method = receive()
            if method is not None:
                method(change)

        super().__init__(calls, lambda: observe(calls.later(notify)))
        self._changes: Deque[Change] = deque()
        self._waiting: List[asyncio.Future[None]] = []
        calls.ending.add(self)

    def _receive(self, change: Change) -> None:
        self._changes.append(change)
        self.wake()

    def wake(self) -> None:
        """Lets what waits for a change look again; on the loop."""
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
        while not self._changes:
            if self.closed:
                raise StopAsyncIteration
            more: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(more)
            await more
        return self._changes.popleft()


class Watch(_Opened, Generic[_Document]):
    """A live query, made by ``records.watch()``: an asynchronous iterator of lists of records.

    >>> async with courses.watch(order_by="title", limit=20) as results:
    ...     async for records in results:
    ...         show(records)

    It begins with ``async with``, or with the first result that is asked for.
    """

    __slots__ = ()

    async def next(self, timeout: Optional[float] = None) -> Optional[List[Record[_Document]]]:
        """Waits for the next result.

        :param timeout: seconds to wait; None for any time
        :returns: None when there was none in that time, and when the query was closed
        :raises SatchelError: when the query cannot be run
        """
        watch: Optional[BlockingWatch[_Document]] = await self._open()
        if watch is None:
            return None
        try:
            taken = await asyncio.wait_for(watch._slot.take_async(), timeout)
        except asyncio.TimeoutError:
            return None
        # A large result takes time to decode.
        return None if taken is None else await self._calls.read(lambda: watch._result(taken))

    def __aiter__(self) -> Watch[_Document]:
        return self

    async def __anext__(self) -> List[Record[_Document]]:
        found = await self.next()
        if found is None:
            raise StopAsyncIteration
        return found
