"""Opens an asynchronous store, and adds the methods that the blocking one does not have."""

from __future__ import annotations

import contextlib
from typing import (
    Any,
    AsyncContextManager,
    Callable,
    ContextManager,
    Generator,
    Generic,
    List,
    Optional,
    TypeVar,
)

from satchel import _encoding
from satchel.aio._calls import Calls, ClosingTwin
from satchel.aio._streams import Changes
from satchel.errors import SatchelError
from satchel.store import Store as BlockingStore

__all__ = ["Opening", "StoreTwin"]

_Store = TypeVar("_Store", bound="StoreTwin")


class StoreTwin(ClosingTwin):
    """The part of :class:`satchel.aio.Store` that is not generated."""

    __slots__ = ("_read_only",)

    def __init__(self, calls: Calls, blocking: BlockingStore) -> None:
        super().__init__(calls, blocking)
        self._read_only = blocking.read_only
        calls.pointer = blocking._handle.pointer

    @property
    def read_only(self) -> bool:
        """Whether it was opened read-only."""
        return self._read_only

    def batch(self) -> AsyncContextManager[None]:
        """Makes a block one transaction: ``async with store.batch():``.

        Its writes become visible and durable at its end, all or none; an exception in it, also a
        cancellation, rolls everything back. Bound to the task: its calls, and those of tasks that are
        created in the block, are part of it, one at a time; wait for all of them in the block. Calls
        after its end are ordinary ones.

        No other call is part of it: writes of other tasks wait for its end, and raise Busy when that
        takes longer than ``busy_timeout``. Reads see what is committed. Batches nest; an inner one
        excludes the outer one's calls in the same way.

        :raises ConstraintViolation, InvalidArgument, Busy, ReadOnly, IOFailure: as for the blocking one
        """
        return self._calls.batch()

    def timeout(self, seconds: Optional[float]) -> ContextManager[None]:
        """Limits how long each read of a block may take: ``with store.timeout(0.5):``.

        :param seconds: for each read; None for no limit. See :meth:`satchel.Store.timeout`
        """
        limited: ContextManager[None] = self._blocking.timeout(seconds)
        return limited

    def changes(self) -> Changes:
        """The changes of the store from now on: ``async for change in store.changes():``.

        :returns: an iterator, which ends when the store is closed
        """
        return Changes(self._calls, self._blocking.observe)

    async def close(self) -> None:
        """Closes the store with all that it made; a second time is fine.

        Waits for calls in progress. Everything acknowledged before is in the file.

        :raises InvalidArgument: in a batch of the store
        :raises Busy: when a batch of another task was open: that is rolled back, and the store is closed
        :raises SatchelError: when the last write failed; the store is closed in any case
        """
        if self.closed:
            return
        try:
            await self._calls.end(self._blocking.close)
        finally:
            if self.closed:
                self._calls.shut_down()


class Opening(Generic[_Store]):
    """A store that is being opened: ``await`` it, or use it in ``async with``."""

    __slots__ = ("_busy_timeout", "_make", "_open", "_store")

    def __init__(
        self,
        make: Callable[[Calls, BlockingStore], _Store],
        open: Callable[[], BlockingStore],
        busy_timeout: float,
    ) -> None:
        self._make = make
        self._open = open
        self._busy_timeout = busy_timeout
        self._store: Optional[_Store] = None

    async def _opened(self) -> _Store:
        calls = Calls(_encoding.timeout(self._busy_timeout, "busy_timeout", 0, 2**32 - 1) / 1000)
        opened: List[BlockingStore] = []
        try:
            await calls.end(lambda: opened.append(self._open()))
            return self._make(calls, opened[0])
        except BaseException:
            # Cancelled, when it is open.
            for each in opened:
                with contextlib.suppress(SatchelError):
                    await calls.end(each.close)
            calls.shut_down()
            raise

    def __await__(self) -> Generator[Any, None, _Store]:
        return self._opened().__await__()

    async def __aenter__(self) -> _Store:
        self._store = await self._opened()
        return self._store

    async def __aexit__(self, *error: object) -> None:
        if self._store is not None:
            await self._store.close()
