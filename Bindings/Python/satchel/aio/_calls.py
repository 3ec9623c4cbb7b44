"""The calls of an asynchronous store: their threads, their order, and how they are cancelled."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import itertools
import re
import weakref
from collections import deque
from typing import Any, AsyncIterator, Callable, Deque, Iterator, List, Optional, TypeVar

from satchel import _batches, _interrupts, _long_work
from satchel._context import Link, carried, event_loop
from satchel.errors import Busy, Closed

__all__ = ["Calls", "ClosingTwin", "Twin", "twin_of"]

_Result = TypeVar("_Result")
_Value = TypeVar("_Value")
_Callback = TypeVar("_Callback")
_Kind = TypeVar("_Kind", bound=type)
_Closing = TypeVar("_Closing", bound="ClosingTwin")

#: The number of threads for reads, and for long work. The library has four connections for reads.
_THREADS = 4
#: The number of items that an asynchronous iterator reads at once.
_PORTION = 100
#: The sentences about callbacks in the docstrings of blocking methods, and those of their twins.
_PLACES = (
    (r", on this thread;", ", on the event loop, which it may not block;"),
    (
        r": for this store's own\s+changes\s+on\s+the\s+thread.*?``sys.unraisablehook``",
        ", on the event loop. Its exceptions go to the exception handler of the loop",
    ),
)


class Turn:
    """A lock for writes: calls acquire it one at a time, in the order of their requests."""

    def __init__(self, busy_timeout: float) -> None:
        # As the library does: 0 means a millisecond.
        self._busy_timeout = max(0.001, busy_timeout)
        self._is_taken = False
        self._waiting: Deque[asyncio.Future[None]] = deque()
        #: The batch that has it.
        self.batch: Optional[Link] = None

    async def acquire(self) -> None:
        """Waits for the turn.

        :raises Busy: when one batch has it for longer than ``busy_timeout``
        """
        if not self._is_taken:
            self._is_taken = True
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        try:
            while not mine.done():
                batch = self.batch
                await asyncio.wait({mine}, timeout=self._busy_timeout)
                if batch is not None and batch is self.batch and not mine.done():
                    limit = f"{self._busy_timeout * 1000:.0f} ms"
                    raise Busy(f"a batch that the call is not part of has been open for more than {limit}")
        except BaseException:
            if mine.done():
                self.release()
            else:
                self._waiting.remove(mine)
            raise

    def release(self) -> None:
        """Hands the turn to the next call that waits for it."""
        self.batch = None
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._is_taken = False


class _TaskBatch(_batches.Batch):
    """A batch with the turn of the calls in it."""

    __slots__ = ("turn",)

    turn: Turn


class Calls:
    """The threads of a store, owned by the event loop that opened it.

    Reads run concurrently. Writes run on one thread, in the order in which they were awaited, and so do
    all calls of a batch; a batch keeps the turn to write until it ends.
    """

    def __init__(self, busy_timeout: float) -> None:
        self.loop = asyncio.get_running_loop()
        self._busy_timeout = busy_timeout
        self._turn = Turn(busy_timeout)
        self._readers = _threads(_THREADS, "satchel-read")
        self._writer = _threads(1, "satchel-write")
        self._workers = _threads(_THREADS, "satchel-work")
        #: The store, by which its batches are found among those of a context.
        self.pointer = 0
        #: Called when the store was closed.
        self.ending: weakref.WeakSet[Any] = weakref.WeakSet()

    # Calls, by their kind.

    async def read(self, call: Callable[[], _Result]) -> _Result:
        """Makes a call that reads; cancelling it stops the query."""
        interrupt = _interrupts.Interrupt()

        def read() -> _Result:
            with interrupt:
                return call()

        batch = self._batch()
        if batch is None:
            return await self._run(self._readers, read, interrupt.cancel)
        await batch.turn.acquire()
        try:
            return await self._run(self._writer, read, interrupt.cancel)
        finally:
            batch.turn.release()

    async def write(self, call: Callable[[], _Result]) -> _Result:
        """Makes a call that writes. Once it has begun it is completed, also when it is cancelled."""
        batch = self._batch()
        turn = self._turn if batch is None else batch.turn
        await turn.acquire()
        try:
            return await self._run(self._writer, call)
        finally:
            turn.release()

    async def work(self, call: Callable[[], _Result]) -> _Result:
        """Makes a call that may take long, such as a synchronization; cancelling it cancels the work."""
        begun: List[_long_work.LongWork] = []

        def work() -> _Result:
            _long_work.began.set(begun.append)
            return call()

        def cancel() -> None:
            for each in begun:
                each.cancel()

        return await self._run(self._workers, work, cancel)

    async def end(self, call: Callable[[], _Result]) -> _Result:
        """Makes a call that ends something, and that is made in any case."""
        return await self._run(self._workers, call, must_begin=True)

    async def _run(
        self,
        threads: concurrent.futures.ThreadPoolExecutor,
        call: Callable[[], _Result],
        stop: Optional[Callable[[], None]] = None,
        must_begin: bool = False,
    ) -> _Result:
        """Makes a call on a thread, and waits until it has ended.

        :param stop: makes it end early; without it, an error of a call that was cancelled is raised
        :param must_begin: whether to make it also when it is cancelled before it has begun
        """
        context = contextvars.copy_context()
        context.run(event_loop.set, self.loop)
        try:
            made = threads.submit(context.run, call)
        except RuntimeError:
            raise Closed("the store is closed") from None
        ended = asyncio.wrap_future(made)
        cancelled: Optional[asyncio.CancelledError] = None
        while not ended.done():
            try:
                await asyncio.wait({ended})
            except asyncio.CancelledError as error:
                cancelled = error
                if not must_begin and made.cancel():
                    raise
                if stop is not None:
                    stop()
        if cancelled is None:
            return ended.result()
        # Its error is not lost, unless that is the consequence of stopping it.
        failure = ended.exception()
        if failure is not None and stop is None:
            raise failure
        raise cancelled

    # Batches.

    def _batch(self) -> Optional[_TaskBatch]:
        batch = _batches.carried_batch(self.pointer)
        return batch if isinstance(batch, _TaskBatch) else None

    @contextlib.asynccontextmanager
    async def batch(self) -> AsyncIterator[None]:
        """A batch, bound to the task; see :meth:`Store.batch`."""
        outer = self._batch()
        turn = self._turn if outer is None else outer.turn
        await turn.acquire()
        try:
            batch = await self._begin()
            turn.batch = batch
            before = carried.set(batch)
            try:
                yield
            except BaseException:
                await self._run(self._writer, batch.roll_back, must_begin=True)
                raise
            else:
                await self._run(self._writer, batch.commit, must_begin=True)
            finally:
                # A generator may be continued in another context than it was begun in.
                with contextlib.suppress(ValueError):
                    carried.reset(before)
        finally:
            turn.release()

    async def _begin(self) -> _TaskBatch:
        begun: List[_TaskBatch] = []

        def begin() -> None:
            outer = carried.get()
            if outer is not None:
                _batches.enter()
            batch = _TaskBatch(self.pointer, outer)
            batch.turn = Turn(self._busy_timeout)
            begun.append(batch)

        try:
            await self._run(self._writer, begin)
        except BaseException:
            for batch in begun:
                await self._run(self._writer, batch.roll_back, must_begin=True)
            raise
        return begun[0]

    # Iterators and callbacks.

    async def each(self, begin: Callable[[], Iterator[_Value]]) -> AsyncIterator[_Value]:
        """The items of an iterator that reads, a portion of them at a time."""
        items: List[Iterator[_Value]] = []

        def portion() -> List[_Value]:
            if not items:
                items.append(begin())
            return list(itertools.islice(items[0], _PORTION))

        while True:
            values = await self.read(portion)
            for value in values:
                yield value
            if len(values) < _PORTION:
                return

    def later(self, callback: _Callback) -> _Callback:
        """A callback that is called on the loop, without blocking the calling thread."""
        if not callable(callback):
            return callback

        def call(value: Any) -> None:
            # A loop that was closed is notified of nothing.
            with contextlib.suppress(RuntimeError):
                self.loop.call_soon_threadsafe(callback, value)

        made: Any = call
        return made  # type: ignore[no-any-return]

    def on_loop(self, progress: Optional[Callable[[_Value], object]]) -> Optional[Callable[[_Value], object]]:
        """A progress callback that is called on the loop, while the work waits for its result."""
        if not callable(progress):
            return progress

        def call(value: _Value) -> object:
            answer: concurrent.futures.Future[object] = concurrent.futures.Future()

            def run() -> None:
                try:
                    answer.set_result(progress(value))
                except BaseException as error:
                    answer.set_exception(error)

            self.loop.call_soon_threadsafe(run)
            return answer.result()

        return call

    def shut_down(self) -> None:
        """Ends the threads, after their calls, and what waits for the store."""
        for each in list(self.ending):
            each.wake()
        for threads in (self._readers, self._writer, self._workers):
            threads.shutdown(wait=False)


def _threads(count: int, name: str) -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(count, name, _serve_loop)


def _serve_loop() -> None:
    _batches.thread.serves_loop = True


class Twin:
    """An object whose methods are those of a blocking one, to be awaited."""

    __slots__ = ("__weakref__", "_blocking", "_calls")

    _blocking: Any

    def __init__(self, calls: Calls, blocking: Any) -> None:
        self._calls = calls
        self._blocking = blocking

    def __repr__(self) -> str:
        return repr(self._blocking).replace("<satchel.", "<satchel.aio.", 1)


class ClosingTwin(Twin):
    """A twin that has a handle, closed by :meth:`close`, by ``async with``, or with the store."""

    __slots__ = ()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        is_closed: bool = self._blocking.closed
        return is_closed

    async def close(self) -> None:
        """Closes it; a second time is fine."""
        if not self.closed:
            await self._calls.end(self._blocking.close)

    async def __aenter__(self: _Closing) -> _Closing:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


def twin_of(blocking: type) -> Callable[[_Kind], _Kind]:
    """Gives the methods of a twin the docstrings of the blocking ones, but for where callbacks run."""

    def describe(kind: _Kind) -> _Kind:
        for name, method in vars(kind).items():
            described = getattr(blocking, name, None)
            if not name.startswith("_") and not isinstance(method, property) and described is not None:
                text = described.__doc__ or ""
                for pattern, place in _PLACES:
                    text = re.sub(pattern, place, text, flags=re.DOTALL)
                method.__doc__ = text
        return kind

    return describe
