"""Stopping long reads: from another thread or task, by Ctrl-C, and by a time limit.

Python runs the handlers of signals on the main thread, and only between its own instructions: a long call
of the library would delay Ctrl-C until it returns. So the main thread has an interrupt of the library
whose check is CPython's own function that says whether SIGINT arrived. Reads call it every 50 ms, and
short ones never do.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from typing import Any, Iterator, Optional, Set, Tuple

from satchel import _library
from satchel._abi import InterruptCheck, InterruptOptions
from satchel._context import Link, carried
from satchel._library import check, library

__all__ = ["Interrupt", "Interrupting", "attach", "carrying", "forget_signals", "watch_signals"]

#: The time limit of the store; no time limit.
OF_STORE, NEVER = 0, -1


def _signal_check() -> Tuple[Any, Any]:
    """The check for SIGINT, and what runs the handlers; without effect where Python has neither.

    ``PyOS_InterruptOccurred`` returns whether SIGINT was received, and resets that. It is called through
    ctypes without a function in Python, which would run the handlers: they could use the store, in the middle
    of its read.
    """
    python = getattr(ctypes, "pythonapi", None)
    if python is None:
        return InterruptCheck(), None
    occurred = python.PyOS_InterruptOccurred
    occurred.argtypes, occurred.restype = (ctypes.c_void_p,), ctypes.c_int
    return InterruptCheck(occurred), python


_check, _python = _signal_check()


class Interrupting(Link):
    """The interrupt of the library that a block carries, with a time limit in milliseconds."""

    __slots__ = ("__weakref__", "interrupts", "pointer", "timeout")

    def __init__(self, interrupt: Optional[Interrupt], timeout: Optional[int], outer: Optional[Link]) -> None:
        super().__init__(outer)
        around = innermost(outer)
        self.timeout: int = timeout if timeout is not None else around.timeout if around else OF_STORE
        #: All that can cancel the reads of the block: its interrupt, and those of the blocks around it.
        self.interrupts: Tuple[Interrupt, ...] = around.interrupts if around else ()
        if interrupt is not None:
            self.interrupts += (interrupt,)
        self.pointer = _made(self.timeout)
        for each in self.interrupts:
            each._add(self)

    def __del__(self) -> None:
        # One whose constructor failed has no pointer.
        if hasattr(self, "pointer"):
            library.satchel_interrupt_free(self.pointer)

    @property
    def is_cancelled(self) -> bool:
        """Whether one of its interrupts was cancelled."""
        return any(each.cancelled for each in self.interrupts)


class Interrupt:
    """Stops the reads of a block, from another thread or task.

    >>> interrupt = satchel.Interrupt()
    >>> with interrupt:
    ...     found = courses.list({"title": {"contains": "algebra"}})

    ``interrupt.cancel()`` makes that query raise :class:`satchel.Cancelled`, and so each later read of
    the block. Lists, counts and searches of all subjects, ``store.statistics()`` and ``store.check()``
    can be stopped; a write that has begun is completed. Several threads and tasks may use one interrupt,
    each in a block of its own.
    """

    __slots__ = ("__weakref__", "_blocks", "_cancelled", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: Set[Interrupting] = set()
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled

    def cancel(self) -> None:
        """Stops the reads of its blocks, for good: those in progress, and later ones. Safe on any thread."""
        with self._lock:
            self._cancelled = True
            for each in self._blocks:
                library.satchel_interrupt_cancel(each.pointer)

    def _add(self, block: Interrupting) -> None:
        with self._lock:
            self._blocks.add(block)
            if self._cancelled:
                library.satchel_interrupt_cancel(block.pointer)

    def __enter__(self) -> Interrupt:
        carried.set(Interrupting(self, None, carried.get()))
        return self

    def __exit__(self, *error: object) -> None:
        link = carried.get()
        while link is not None and not (isinstance(link, Interrupting) and self in link.interrupts):
            link = link.outer
        if isinstance(link, Interrupting):
            carried.set(link.outer)
            _end(link)


@contextlib.contextmanager
def carrying(interrupt: Optional[Interrupt] = None, timeout: Optional[int] = None) -> Iterator[Interrupting]:
    """A block whose reads an interrupt can stop, and that have a time limit.

    :param timeout: in milliseconds, :data:`OF_STORE`, :data:`NEVER`, or None for that of the block around it
    """
    link = Interrupting(interrupt, timeout, carried.get())
    before = carried.set(link)
    try:
        yield link
    finally:
        # A generator may be continued in another context than it was begun in.
        with contextlib.suppress(ValueError):
            carried.reset(before)
        _end(link)


def _end(link: Interrupting) -> None:
    for each in link.interrupts:
        with each._lock:
            each._blocks.discard(link)


def innermost(link: Optional[Link]) -> Optional[Interrupting]:
    """The innermost interrupt of a context."""
    while link is not None and not isinstance(link, Interrupting):
        link = link.outer
    return link


def _made(timeout: int) -> int:
    out = ctypes.c_void_p()
    options = InterruptOptions(timeout_ms=timeout, check=_check)
    check(library.satchel_interrupt_new(ctypes.byref(options), ctypes.byref(out)))
    return out.value or 0


def attach(interrupting: Optional[Interrupting]) -> None:
    """Attaches an interrupt to this thread; None attaches that of signals, on the main thread, or none."""
    if interrupting is not None:
        check(library.satchel_interrupt_attach(interrupting.pointer))
    else:
        watched = _signals.pointer if threading.current_thread() is threading.main_thread() else None
        check(library.satchel_interrupt_attach(watched))


class _Signals:
    """The interrupt of the main thread; 0 before it has one."""

    pointer = 0


_signals = _Signals()


def watch_signals() -> None:
    """Lets Ctrl-C stop the reads of the main thread, once; on other threads it does nothing."""
    if not _signals.pointer and _python is not None:
        if threading.current_thread() is not threading.main_thread():
            return
        _signals.pointer = _made(OF_STORE)
        check(library.satchel_interrupt_attach(_signals.pointer))


def forget_signals() -> None:
    """Makes this process, a forked one, or one that ends, watch for signals again when a handle is made."""
    _signals.pointer = 0
    library.satchel_interrupt_attach(None)


def _must_repeat() -> bool:
    """Whether a read that was cancelled has to be repeated: when a handler of SIGINT returned, see PEP 475.

    :raises KeyboardInterrupt: and whatever else the handler raises
    """
    if not _signals.pointer or threading.current_thread() is not threading.main_thread():
        return False
    around = innermost(carried.get())
    if around is not None and around.is_cancelled:
        return False
    # The check has reset the signal.
    _python.PyErr_SetInterrupt()
    _python.PyErr_CheckSignals()
    return True


_library.must_repeat = _must_repeat

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_signals)
