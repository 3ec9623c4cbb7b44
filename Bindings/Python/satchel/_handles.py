"""Handles of the library: each is freed once, and a store is closed with all that it made.

Stores that are open when the process exits are closed; in a forked child they are abandoned, because their
handles belong to the parent.
"""

from __future__ import annotations

import atexit
import os
import warnings
import weakref
from ctypes import byref, c_bool, c_void_p
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NoReturn, Optional, Set, TypeVar

from satchel import _batches, _callbacks, _encoding, _interrupts
from satchel._library import check, library
from satchel.errors import Busy, Closed, InternalError, InvalidArgument

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Type

    from satchel.store import Store

__all__ = ["Closing", "Dependent", "Handle", "OfDirectory", "Owner"]

_Closing = TypeVar("_Closing", bound="Closing")

_carried_batch = _batches.carried
_thread = _batches.thread


class Handle:
    """A handle of the library; its owner frees it exactly once, from any thread."""

    __slots__ = ("_cell", "kind")

    def __init__(self, pointer: int, kind: str) -> None:
        # A list of one, because list.pop() is atomic: of two threads that close, only one frees.
        self._cell: List[int] = [pointer]
        self.kind = kind

    @classmethod
    def made_by(cls, kind: str, function: Callable[..., int], *arguments: Any) -> Handle:
        """Calls a function whose last parameter is a new handle."""
        _interrupts.watch_signals()
        out = c_void_p()
        check(function(*arguments, byref(out)))
        if out.value is None:
            raise InternalError(f"the library made no {kind}")
        return cls(out.value, kind)

    @property
    def pointer(self) -> int:
        """The number to pass to the library, for one call on this thread.

        :raises Closed: when it was released
        """
        if _carried_batch() is not None or _thread.entered:
            _batches.enter()
        try:
            return self._cell[0]
        except IndexError:
            raise Closed(f"the {self.kind} is closed") from None

    @property
    def closed(self) -> bool:
        """Whether it was released."""
        return not self._cell

    def restore(self, pointer: int) -> None:
        """Restores a released handle that could not be freed."""
        self._cell.append(pointer)

    def release(self) -> Optional[int]:
        """Releases the handle, for the caller to free; None from the second call on."""
        try:
            return self._cell.pop()
        except IndexError:
            return None


class Closing:
    """An object with a handle, closed by :meth:`close` or at the end of a ``with`` block."""

    __slots__ = ("__weakref__", "_handle")

    _handle: Handle

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle.closed

    def close(self) -> None:
        """Closes it; a second time is fine."""
        raise NotImplementedError

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be pickled or copied: it has a handle of this process")

    def __enter__(self: _Closing) -> _Closing:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


class Dependent(Closing):
    """An object that a store makes, and that is closed with it: an observer, a session, a library.

    :param owner: identifies its store among the callbacks
    :param free: the library function that frees the handle
    """

    __slots__ = ("_free", "_owner")

    def __init__(self, handle: Handle, owner: int, free: Callable[[int], Any]) -> None:
        self._handle = handle
        self._owner = owner
        self._free = free

    def close(self) -> None:
        """Closes it; closing again does nothing. Waits for its calls on other threads.

        Called from a callback of its store, for which it would wait, it closes on another thread.
        """
        self._let_go(self._handle)

    def _let_go(self, handle: Handle) -> None:
        pointer = handle.release()
        if pointer is None:
            return
        if _callbacks.is_running(self._owner):
            _callbacks.elsewhere(self._free, pointer)
        else:
            self._free(pointer)

    def __del__(self) -> None:
        # An object whose constructor failed has no handle.
        if hasattr(self, "_handle"):
            self.close()


class OfDirectory(Dependent):
    """An object that a store makes for one directory: a library of stories, a catalogue of photos.

    :param kind: its name in messages
    :param make: the library function that makes the handle, from the store and the directory's path
    :param free: the library function that frees the handle
    :param more: further arguments of ``make``
    """

    __slots__ = ("_directory", "_store")

    def __init__(
        self,
        kind: str,
        store: Store,
        directory: _encoding.FilePath,
        make: Callable[..., int],
        free: Callable[[int], Any],
        *more: Any,
    ) -> None:
        self._directory, folder = _encoding.file_path(directory, "directory")
        self._store = store
        handle = Handle.made_by(kind, make, store._pointer, _encoding.lend(folder), *more)
        super().__init__(handle, store._owner, free)
        store._adopt(self)

    @property
    def directory(self) -> str:
        """The directory, as passed to the store."""
        return self._directory

    @property
    def _pointer(self) -> int:
        return self._handle.pointer

    def __repr__(self) -> str:
        return f"<satchel.{type(self).__name__} {self._directory!r}{', closed' if self.closed else ''}>"


class Owner(Closing):
    """A store as the owner of what it made; :class:`satchel.Store` adds the methods."""

    _path: str
    #: Identifies the store among the callbacks.
    _owner: int

    def __init__(self) -> None:
        self._owner = _callbacks.new_owner()
        # Observers are kept alive, also those without another reference.
        self._observers: Set[Dependent] = set()
        self._dependents: Dict[int, weakref.ref[Dependent]] = {}

    def _begin(self, handle: Handle) -> None:
        self._handle = handle
        _open_stores[self._owner] = weakref.ref(self)

    def close(self) -> None:
        """Closes the store with its observers, sessions, libraries, catalogues and collections; idempotent.

        Waits for running calls of other threads. Everything acknowledged before is in the file.

        :raises InvalidArgument: inside a batch of the store
        :raises Busy: in a callback of this store, and in any clock: it stays open then; also when a batch of
            another task or thread was open: that is rolled back, and the store is closed
        :raises SatchelError: when the last write failed; the store is closed in any case
        """
        if _callbacks.is_running(self._owner) and not self.closed:
            raise Busy("a store cannot be closed from one of its own callbacks")
        if not self.closed:
            self._refuse_in_batch("a store cannot be closed in one of its own batches")
            _batches.enter()
        pointer = self._handle.release()
        if pointer is None:
            return
        _open_stores.pop(self._owner, None)
        try:
            check(library.satchel_store_close(pointer))
        except Busy:
            if library.satchel_store_is_read_only(pointer, byref(c_bool())) == 0:
                # Refused inside a callback that this package does not track.
                self._handle.restore(pointer)
                _open_stores[self._owner] = weakref.ref(self)
            raise
        finally:
            if self.closed:
                for child in self._children():
                    child.close()

    @property
    def _pointer(self) -> int:
        return self._handle.pointer

    def _refuse_in_batch(self, message: str) -> None:
        if _batches.is_in_batch(self._pointer):
            raise InvalidArgument(message)

    def _adopt(self, dependent: Dependent) -> None:
        dependents = self._dependents
        number = id(dependent)
        dependents[number] = weakref.ref(dependent, lambda _: dependents.pop(number, None))

    def _children(self) -> List[Dependent]:
        others = (reference() for reference in list(self._dependents.values()))
        return [*list(self._observers), *(other for other in others if other is not None)]

    def _forget(self) -> None:
        """Drops the handles without freeing them: they belong to the parent process."""
        for child in self._children():
            child._handle.release()
        self._handle.release()

    def __del__(self) -> None:
        # A store that failed to open has no handle.
        handle: Optional[Handle] = getattr(self, "_handle", None)
        if handle is None or handle.closed:
            return
        try:
            # Where warnings are errors, sys.unraisablehook reports it.
            warnings.warn(f"unclosed store {self._path!r}", ResourceWarning, source=self, stacklevel=2)
        finally:
            self._close_collected()

    def _close_collected(self) -> None:
        if not _callbacks.is_running(self._owner):
            self._close_unasked()
            return
        # Collected inside its own callback, which closing would wait for: close on another thread.
        _open_stores.pop(self._owner, None)
        for child in self._children():
            child.close()
        pointer = self._handle.release()
        if pointer is not None:
            _callbacks.elsewhere(_close_pointer, pointer)

    def _close_unasked(self) -> None:
        """Closes it where no caller can catch the error, which may say that a write was lost."""
        try:
            self.close()
        except Exception as error:
            _callbacks.report(error)


def _close_pointer(pointer: int) -> None:
    # threading.excepthook reports the error.
    check(library.satchel_store_close(pointer))


# By owner; list() of its values is atomic, which a WeakSet's iteration is not.
_open_stores: Dict[int, weakref.ref[Owner]] = {}


def _stores() -> List[Owner]:
    stores = (reference() for reference in list(_open_stores.values()))
    return [store for store in stores if store is not None]


@atexit.register
def _close_all() -> None:
    for store in _stores():
        store._close_unasked()


def _after_fork() -> None:
    for store in _stores():
        store._forget()
    _open_stores.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
