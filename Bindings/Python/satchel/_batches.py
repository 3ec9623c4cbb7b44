"""Batches: which of them a context carries, and which of them each thread has entered.

A batch is bound to the context that began it (``contextvars``): to the task in asyncio, else to the thread.
The library only knows threads, so before each call the thread enters the batches of its context and leaves
all others.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from contextvars import ContextVar
from ctypes import byref, c_int64
from typing import Any, Callable, Dict, Iterator, Optional

from satchel._library import check, library
from satchel.errors import Closed, InvalidArgument, SatchelError

__all__ = ["begun", "carried", "enter", "is_in_batch", "thread"]


class _Batch:
    """A batch that :func:`begun` began; it stays in the contexts that were copied from it."""

    __slots__ = ("is_open", "is_undone", "number", "outer", "pointer", "thread")

    def __init__(self, pointer: int, outer: Optional[_Batch]) -> None:
        number = c_int64()
        check(library.satchel_store_batch(pointer, byref(number)))
        self.pointer = pointer
        self.number = number.value
        # The batch that was carried before, of this store or of another one.
        self.outer = outer
        self.thread = threading.get_ident()
        self.is_open = True
        self.is_undone = False

    def end(self, function: Callable[[int], int]) -> None:
        """Ends it, on any thread."""
        self.is_open = False
        try:
            _enter(self)
            check(function(self.pointer))
        except BaseException:
            self.is_undone = True
            raise
        finally:
            _leave(self.pointer)


class _Thread(threading.local):
    def __init__(self) -> None:
        # By store, the batch that this thread has entered in the library.
        self.entered: Dict[int, _Batch] = {}


_carried: ContextVar[Optional[_Batch]] = ContextVar("satchel_batch", default=None)
carried = _carried.get
thread = _Thread()


def enter() -> None:
    """Makes this thread part of the batches that its context carries. A call of the library has to follow.

    :raises InvalidArgument: when the batch that the call belongs to was rolled back
    """
    wanted: Dict[int, _Batch] = {}
    batch = carried()
    while batch is not None:
        if batch.is_open:
            wanted.setdefault(batch.pointer, batch)
        elif batch.is_undone and batch.thread != threading.get_ident() and not _in_event_loop():
            raise InvalidArgument("the batch that this call is part of was rolled back")
        batch = batch.outer
    for pointer in [each for each in thread.entered if each not in wanted]:
        _leave(pointer)
    for batch in wanted.values():
        try:
            _enter(batch)
        except Closed:
            # Calls on that store raise it.
            continue
        except InvalidArgument:
            if batch.is_open:
                raise
            # Another thread ended it concurrently.
            return enter()
    return None


def _in_event_loop() -> bool:
    """Whether this thread runs tasks, which may outlive the batch that they were created in."""
    asyncio: Any = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def _enter(batch: _Batch) -> None:
    if thread.entered.get(batch.pointer) is not batch:
        check(library.satchel_store_enter(batch.pointer, batch.number))
        thread.entered[batch.pointer] = batch


def _leave(pointer: int) -> None:
    if thread.entered.pop(pointer, None) is not None:
        library.satchel_store_leave(pointer)


def is_in_batch(pointer: int) -> bool:
    """Whether this context carries an open batch of the store."""
    batch = carried()
    while batch is not None:
        if batch.is_open and batch.pointer == pointer:
            return True
        batch = batch.outer
    return False


@contextlib.contextmanager
def begun(pointer: int) -> Iterator[None]:
    """A batch of the store; see :meth:`satchel.Store.batch`."""
    check(library.satchel_store_begin(pointer))
    batch = _Batch(pointer, carried())
    thread.entered[pointer] = batch
    before = _carried.set(batch)
    try:
        yield
    except BaseException:
        # A closed store has nothing to roll back; the original exception matters.
        batch.is_undone = True
        with contextlib.suppress(SatchelError):
            batch.end(library.satchel_store_rollback)
        raise
    else:
        batch.end(library.satchel_store_commit)
    finally:
        # A generator may be continued in another context than it was begun in.
        with contextlib.suppress(ValueError):
            _carried.reset(before)
