"""Live queries: iterators over the results of a query as commits change it."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, Callable, Generic, List, Optional, Tuple, TypeVar, Union

from satchel import _callbacks
from satchel._handles import Dependent, Handle
from satchel._html import Rows
from satchel._library import last_error, library, value_of
from satchel.errors import SatchelError
from satchel.records._values import Record, record_of

if TYPE_CHECKING:
    import asyncio

    from satchel._abi import Bytes
    from satchel.store import Store

__all__ = ["Watch"]

_Document = TypeVar("_Document")


class _Slot:
    """The newest result that was not taken yet; filled by a thread of the library."""

    def __init__(self) -> None:
        self._filled = threading.Condition()
        self._result: Optional[Union[bytes, SatchelError]] = None
        self._waiting: List[Tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self.ended = False

    def fill(self, status: int, result: bytes) -> None:
        with self._filled:
            # The error of this thread, which is not that of the reader.
            self._result = last_error(status) if status else result
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

    async def take_async(self) -> Optional[Union[bytes, SatchelError]]:
        # Imported here, because it takes as long as all of this package; its users have it already.
        import asyncio

        loop = asyncio.get_running_loop()
        while True:
            with self._filled:
                if self._result is not None or self.ended:
                    return self._taken()
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


class Watch(Dependent, Generic[_Document]):
    """The results of a live query, made by :meth:`Records.watch`: an iterator, also for ``async for``.

    The first result is the present one; each further one is waited for. A slow reader gets the newest result
    only. One thread or task iterates at a time. Iteration ends when the query or the store is closed, and
    raises a :class:`satchel.SatchelError` when the query cannot be run; it may go on afterwards.
    """

    __slots__ = ("_read", "_slot")

    def __init__(
        self, store: Store, pointer: int, query: Bytes, read: Callable[[Any, str], _Document]
    ) -> None:
        self._read = read
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

    def next(self, timeout: Optional[float] = None) -> Optional[List[Record[_Document]]]:
        """Waits for the next result.

        :param timeout: seconds to wait; None for any time
        :returns: None when there was none in that time, and when the query was closed
        :raises SatchelError: when the query cannot be run
        """
        taken = self._slot.take(timeout)
        return None if taken is None else self._result(taken)

    def close(self) -> None:
        """Ends the live query; idempotent, and allowed while another thread waits for a result."""
        slot: Optional[_Slot] = getattr(self, "_slot", None)
        if slot is not None:
            slot.end()
        super().close()

    def _result(self, taken: Union[bytes, SatchelError]) -> List[Record[_Document]]:
        if isinstance(taken, SatchelError):
            raise taken
        return Rows([record_of(each, self._read) for each in value_of(taken)])

    def __iter__(self) -> Watch[_Document]:
        return self

    def __next__(self) -> List[Record[_Document]]:
        taken = self._slot.take(None)
        if taken is None:
            raise StopIteration
        return self._result(taken)

    def __aiter__(self) -> Watch[_Document]:
        return self

    async def __anext__(self) -> List[Record[_Document]]:
        taken = await self._slot.take_async()
        if taken is None:
            raise StopAsyncIteration
        return self._result(taken)
