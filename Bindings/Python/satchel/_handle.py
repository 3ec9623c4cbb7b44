"""Calls into the library: statuses become errors, buffers become values, handles are freed once."""

from __future__ import annotations

import os
from ctypes import byref, c_void_p, string_at
from json import JSONDecoder
from typing import TYPE_CHECKING, Any, Callable, List, NoReturn, Optional, Tuple, TypeVar, Union

from satchel import _batches, _callbacks, _encoding
from satchel._abi import Buffer
from satchel._library import check as check
from satchel._library import free_buffer
from satchel.errors import Closed, Damaged, InternalError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Type

    from satchel.store import Store

_Closing = TypeVar("_Closing", bound="Closing")

_decoder = JSONDecoder()
_carried_batch = _batches.carried
_thread = _batches.thread
# json.loads without detecting the encoding and skipping white space: documents are read very often.
_scan: Callable[[str, int], Tuple[Any, int]] = _decoder.scan_once  # type: ignore[attr-defined]


def answer(function: Callable[..., int], *arguments: Any) -> Optional[bytes]:
    """Calls a function whose last parameter is a buffer; returns its bytes, None when it has no data."""
    buffer = Buffer()
    out = byref(buffer)
    status = function(*arguments, out)
    if status:
        check(status)
    try:
        data: Optional[bytes] = buffer.data
        if data is not None and len(data) != buffer.size:
            # It contains a NUL, at which c_char_p stops.
            data = string_at(c_void_p.from_buffer(buffer).value or 0, buffer.size)
        return data
    finally:
        free_buffer(out)


def value_of(data: bytes) -> Any:
    """Parses JSON from the library.

    :raises Damaged: for a stored document that is not JSON
    """
    try:
        text = data.decode()
        try:
            value, end = _scan(text, 0)
        except StopIteration:
            # Leading white space.
            return _decoder.decode(text)
        return value if end == len(text) else _decoder.decode(text)
    except ValueError as error:
        # Documents are returned as the file has them.
        raise Damaged(f"a document in the store is not JSON: {error}") from error


def text_answer(function: Callable[..., int], *arguments: Any) -> Optional[str]:
    """As :func:`answer`, for text."""
    data = answer(function, *arguments)
    return None if data is None else data.decode("utf-8")


def json_answer(function: Callable[..., int], *arguments: Any) -> Any:
    """As :func:`answer`, for JSON; None when the buffer has no data."""
    data = answer(function, *arguments)
    return None if data is None else value_of(data)


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

    def take_back(self, pointer: int) -> None:
        """Restores a released handle that could not be freed."""
        self._cell.append(pointer)

    def give_away(self) -> Optional[int]:
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
        pointer = self._handle.give_away()
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
    """

    __slots__ = ("_directory", "_store")

    def __init__(
        self,
        kind: str,
        store: Store,
        directory: Union[str, os.PathLike[str]],
        make: Callable[..., int],
        free: Callable[[int], Any],
    ) -> None:
        self._directory, folder = _encoding.file_path(directory, "directory")
        self._store = store
        handle = Handle.made_by(kind, make, store._pointer, _encoding.lend(folder))
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
