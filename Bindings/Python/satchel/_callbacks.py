"""Callbacks from the library into Python.

The library receives a function of this package with a number as context; the Python callable is registered
under that number until the library releases it. So the library never calls a collected object, and no
callable is kept for longer.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import operator
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from satchel._abi import (
    Bytes,
    ChangeCallback,
    Clock,
    ContinuousSyncCallback,
    RecordsWatchCallback,
    Release,
    SessionCallback,
)
from satchel._library import value_of

__all__ = [
    "bytes_of",
    "describe",
    "elsewhere",
    "entered",
    "is_running",
    "json_of",
    "lookup",
    "never",
    "new_owner",
    "no_event",
    "no_status",
    "on_change",
    "on_clock",
    "on_event",
    "on_release",
    "on_result",
    "on_status",
    "register",
    "registered_count",
    "release",
    "report",
]

_registered: Dict[int, Tuple[Callable[..., Any], int]] = {}
_numbers = itertools.count(1)
_owners = itertools.count(1)
_running = threading.local()


def never() -> bool:
    """False: a call that nothing cancels."""
    return False


def new_owner() -> int:
    """A number that identifies a store among the callbacks."""
    return next(_owners)


def register(function: Callable[..., Any], owner: int) -> int:
    """Keeps a callable until the library releases it; returns the context to pass to the library."""
    context = next(_numbers)
    _registered[context] = (function, owner)
    return context


def registered_count() -> int:
    """The number of callables that the library may still call."""
    return len(_registered)


def is_running(owner: object) -> bool:
    """Whether this thread is inside a callback of a store, or of other work."""
    return owner in getattr(_running, "owners", ())


def elsewhere(function: Callable[[int], Any], pointer: int) -> None:
    """Frees a handle on another thread: inside its own callback, freeing would wait forever."""
    threading.Thread(target=function, args=(pointer,), name="satchel-free").start()


@contextlib.contextmanager
def entered(*owners: object) -> Iterator[None]:
    """Marks this thread as being inside a callback of stores, or of other work."""
    running: List[object] = _running.__dict__.setdefault("owners", [])
    before = len(running)
    running.extend(owners)
    try:
        yield
    finally:
        del running[before:]


def lookup(context: Optional[int]) -> Tuple[Optional[Callable[..., Any]], int]:
    """The callable of a context, and the number of its store; None when it was released."""
    return _registered.get(context or 0, (None, 0))


def bytes_of(message: Any) -> bytes:
    """A copy of the bytes of a ``satchel_bytes``."""
    # Bytes.data would stop at the first NUL: read the address, and as many bytes as there are.
    address = ctypes.c_void_p.from_buffer(message).value
    return ctypes.string_at(address, message.size) if address else b""


def json_of(message: Any) -> Any:
    """The JSON value of a ``satchel_bytes``; None when it is empty."""
    return value_of(bytes_of(message) or b"null")


def describe(error: BaseException, set_message: Callable[[int, Bytes], object], answer: int) -> None:
    """Passes the message of a callable's exception to the library.

    :param set_message: the library's function for messages of ``answer``
    """
    # A failure to describe the error must not replace it.
    with contextlib.suppress(Exception):
        text = f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:1000]
        set_message(answer, Bytes(text, len(text)))


def _deliver(context: Optional[int], message: Any) -> None:
    # An exception that leaves this function is handed to sys.unraisablehook by ctypes.
    function, owner = lookup(context)
    if function is None:
        return
    with entered(owner):
        function(json_of(message))


def _deliver_result(context: Optional[int], status: int, result: Any) -> None:
    function, owner = lookup(context)
    if function is None:
        return
    with entered(owner):
        function(status, bytes_of(result))


def release(context: Optional[int]) -> None:
    """Removes a callable of :func:`register`."""
    _registered.pop(context or 0, None)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _read_clock(context: Optional[int]) -> int:
    function, owner = lookup(context)
    if function is None:
        return _now()
    try:
        with entered(owner):
            moment = operator.index(function())
        if not -(2**63) <= moment < 2**63:
            raise OverflowError(f"the clock gave {moment}, which is outside of 64 bits")
        return moment
    except BaseException as error:
        report(error)
        return _now()


def _raise(error: BaseException) -> None:
    raise error


# ctypes hands what is raised in a callback to sys.unraisablehook, with arguments that only C can make.
report = ctypes.CFUNCTYPE(None, ctypes.py_object)(_raise)

on_change = ChangeCallback(_deliver)
on_event = SessionCallback(_deliver)
no_event = SessionCallback()
on_status = ContinuousSyncCallback(_deliver)
no_status = ContinuousSyncCallback()
on_clock = Clock(_read_clock)
on_release = Release(release)
on_result = RecordsWatchCallback(_deliver_result)
