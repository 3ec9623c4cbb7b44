"""Live queries: iterators over the results of a query as commits change it."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    List,
    Optional,
    Tuple,
    TypeVar,
    Union,
)

from satchel import _callbacks
from satchel._handles import Dependent, Handle
from satchel._html import Rows
from satchel._library import json_answer, last_error, library
from satchel.errors import Closed, SatchelError

if TYPE_CHECKING:
    import asyncio

    from satchel._abi import Bytes
    from satchel.store import Store

__all__ = ["LiveResult", "Watch"]

_Row = TypeVar("_Row")
_Result = TypeVar("_Result")


class LiveResult(Rows[_Row]):
    """A result of a live query: a list of records or hits, and what changed since the one before, as ids.

    Of the first result, all records are ``inserted``. ``removed`` are those that match no more, ``moved``
    those that changed their place among the others, ``changed`` those with another document, other metadata,
    or another part of a hit.
    """

    __slots__ = ("changed", "inserted", "moved", "removed")

    def __init__(
        self,
        records: Iterable[_Row],
        inserted: List[str],
        removed: List[str],
        moved: List[str],
        changed: List[str],
    ) -> None:
        super().__init__(records)
        self.inserted = inserted
        self.removed = removed
        self.moved = moved
        self.changed = changed


class _Slot:
    """The newest notification that was not taken yet; filled by a thread of the library."""

    def __init__(self) -> None:
        self._filled = threading.Condition()
        # An error, or nothing: a result is read when it is taken.
        self._result: Optional[Union[bytes, SatchelError]] = None
        self._waiting: List[Tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self.ended = False

    def fill(self, status: int, result: bytes) -> None:
        with self._filled:
            # The error of this thread, which is not that of the reader.
            self._result = last_error(status) if status else result
            self._wake()

    def restore(self) -> None:
        """Lets the next one take the result again that could not be read."""
        with self._filled:
            if self._result is None:
                self._result = b""
                self._wake()

    def end(self) -> None:
        with self._filled:
            self.ended = True
            self._wake()

    def _wake(self) -> None:
        self._filled.notify_all()
        waiting, self._waiting = self._waiting, []
        for loop, future in waiting:
            # A loop that was closed meanwhile waits for nothing.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_complete, future)

    def take(self, timeout: Optional[float]) -> Optional[Union[bytes, SatchelError]]:
        with self._filled:
            self._filled.wait_for(lambda: self._result is not None or self.ended, timeout)
            return self._taken()

    async def filled(self) -> None:
        """Waits until there is a result, or the end."""
        # Imported here, because it takes as long as all of this package; its users have it already.
        import asyncio

        loop = asyncio.get_running_loop()
        while True:
            with self._filled:
                if self._result is not None or self.ended:
                    return
                future: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, future))
            try:
                await future
            finally:
                with self._filled, contextlib.suppress(ValueError):
                    self._waiting.remove((loop, future))

    def _taken(self) -> Optional[Union[bytes, SatchelError]]:
        result, self._result = self._result, None
        return None if self.ended else result


def _complete(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Watch(Dependent, Generic[_Result]):
    """The results of a live query, made by ``records.watch()``: an iterator, also for ``async for``.

    The first result is the present one; each further one is waited for, and is read when it is taken: the
    store keeps ids and digests of a result, no documents. A slow reader gets the newest result only. One
    thread or task iterates at a time. Iteration ends when the query or the store is closed, and raises a
    :class:`satchel.SatchelError` when the query cannot be run; it may go on afterwards. It goes on with a
    collection that is dropped and declared again; after a migration to a newer version than that of the
    collection's object it raises :class:`satchel.NewerStore`.
    """

    __slots__ = ("_convert", "_slot")

    def __init__(
        self, store: Store, pointer: int, query: Bytes, convert: Callable[[Dict[str, Any]], _Result]
    ) -> None:
        # Makes a result of its JSON.
        self._convert = convert
        self._slot = _Slot()
        context = _callbacks.register(self._slot.fill, store._owner)
        handle = Handle.made_by(
            "live query",
            library.satchel_records_watch,
            pointer,
            query,
            _callbacks.on_result,
            context,
            _callbacks.on_release,
        )
        super().__init__(handle, store._owner, library.satchel_observer_free)
        store._adopt(self)

    def next(self, timeout: Optional[float] = None) -> Optional[_Result]:
        """Waits for the next result.

        :param timeout: seconds to wait; None for any time
        :returns: None when there was none in that time, and when the query was closed
        :raises InvalidArgument: in a batch: the results are those of commits
        :raises SatchelError: when the query cannot be run
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            taken = self._slot.take(None if end is None else max(0, end - time.monotonic()))
            if taken is None:
                return None
            found = self._result(taken)
            if found is not None:
                return found

    def close(self) -> None:
        """Ends the live query; idempotent, and allowed while another thread waits for a result."""
        slot: Optional[_Slot] = getattr(self, "_slot", None)
        if slot is not None:
            slot.end()
        super().close()

    def _result(self, taken: Union[bytes, SatchelError]) -> Optional[_Result]:
        """The result; None when it is the same as the one before."""
        if isinstance(taken, SatchelError):
            raise taken
        try:
            found = json_answer(library.satchel_records_watch_result, self._handle.pointer)
            return None if found is None else self._convert(found)
        except BaseException as error:
            if isinstance(error, Closed) and self._slot.ended:
                return None
            self._slot.restore()
            raise

    def __iter__(self) -> Watch[_Result]:
        return self

    def __next__(self) -> _Result:
        found = self.next()
        if found is None:
            raise StopIteration
        return found

    def __aiter__(self) -> Watch[_Result]:
        return self

    async def __anext__(self) -> _Result:
        while True:
            await self._slot.filled()
            taken = self._slot.take(0)
            found = None if taken is None else self._result(taken)
            if found is not None:
                return found
            if self._slot.ended:
                raise StopAsyncIteration
