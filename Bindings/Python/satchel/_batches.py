"""Batches: which of them a context carries, and which of them each thread has entered.

A batch is bound to the context that began it, see :mod:`satchel._context`. Before each call the thread
enters the batches of its context and leaves all others; it also gets the interrupt of its context.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from ctypes import byref, c_int64
from typing import Any, Callable, Dict, Iterator, Optional

from satchel import _interrupts
from satchel._context import Link
from satchel._context import carried as _carried
from satchel._library import check, library
from satchel.errors import Closed, InvalidArgument, SatchelError

__all__ = ["Batch", "begun", "carried", "carried_batch", "enter", "is_in_batch", "thread"]


class Batch(Link):
    """A batch that was begun; it stays in the contexts that were copied from it.

    :param outer: what was carried before, such as a batch of this store or of another one
    """

    __slots__ = ("is_open", "is_undone", "number", "pointer", "thread")

    def __init__(self, pointer: int, outer: Optional[Link]) -> None:
        check(library.satchel_store_begin(pointer))
        number = c_int64()
        check(library.satchel_store_batch(pointer, byref(number)))
        super().__init__(outer)
        self.pointer = pointer
        self.number = number.value
        self.thread = threading.get_ident()
        self.is_open = True
        self.is_undone = False
        thread.entered[pointer] = self

    def commit(self) -> None:
        """Commits it, on any thread."""
        self.end(library.satchel_store_commit)

    def roll_back(self) -> None:
        """Rolls it back, on any thread."""
        # A closed store has nothing to roll back; the original exception matters.
        self.is_undone = True
        with contextlib.suppress(SatchelError):
            self.end(library.satchel_store_rollback)

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
        # By store, the batch that this thread has entered in the library, and the interrupt that it has.
        self.entered: Dict[int, Link] = {}
        # Whether it makes the calls of an event loop.
        self.serves_loop = False


#: The key of the interrupt among the stores.
_INTERRUPT = 0

carried = _carried.get
thread = _Thread()


def enter() -> None:
    """Makes this thread part of the batches that its context carries. A call of the library has to follow.

    :raises InvalidArgument: when the batch that the call belongs to was rolled back
    """
    wanted: Dict[int, Batch] = {}
    interrupting: Optional[_interrupts.Interrupting] = None
    link = carried()
    while link is not None:
        if not isinstance(link, Batch):
            if interrupting is None and isinstance(link, _interrupts.Interrupting):
                interrupting = link
        elif link.is_open:
            wanted.setdefault(link.pointer, link)
        elif link.is_undone and link.thread != threading.get_ident() and not _in_event_loop():
            raise InvalidArgument("the batch that this call is part of was rolled back")
        link = link.outer
    _interrupt_by(interrupting)
    for pointer in [each for each in thread.entered if each not in wanted and each != _INTERRUPT]:
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


def _interrupt_by(interrupting: Optional[_interrupts.Interrupting]) -> None:
    if thread.entered.get(_INTERRUPT) is interrupting:
        return
    _interrupts.attach(interrupting)
    if interrupting is None:
        del thread.entered[_INTERRUPT]
    else:
        thread.entered[_INTERRUPT] = interrupting


def _in_event_loop() -> bool:
    """Whether this thread works for tasks, which may outlive the batch that they were created in."""
    if thread.serves_loop:
        return True
    asyncio: Any = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def _enter(batch: Batch) -> None:
    if thread.entered.get(batch.pointer) is not batch:
        check(library.satchel_store_enter(batch.pointer, batch.number))
        thread.entered[batch.pointer] = batch


def _leave(pointer: int) -> None:
    if thread.entered.pop(pointer, None) is not None:
        library.satchel_store_leave(pointer)


def is_in_batch(pointer: int) -> bool:
    """Whether this context carries an open batch of the store."""
    return carried_batch(pointer) is not None


def carried_batch(pointer: int) -> Optional[Batch]:
    """The innermost open batch of the store that this context carries."""
    link = carried()
    while link is not None:
        if isinstance(link, Batch) and link.is_open and link.pointer == pointer:
            return link
        link = link.outer
    return None


@contextlib.contextmanager
def begun(pointer: int) -> Iterator[None]:
    """A batch of the store; see :meth:`satchel.Store.batch`."""
    batch = Batch(pointer, carried())
    before = _carried.set(batch)
    try:
        yield
    except BaseException:
        batch.roll_back()
        raise
    else:
        batch.commit()
    finally:
        # A generator may be continued in another context than it was begun in.
        with contextlib.suppress(ValueError):
            _carried.reset(before)
