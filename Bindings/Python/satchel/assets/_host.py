"""The functions of the host that deliver the bytes of assets: streams, fetchers, and makers of variants.

No exception of a function crosses the library: it is kept for the running call, which raises it.
"""

from __future__ import annotations

import ctypes
import os
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

from satchel import _abi, _callbacks, _encoding
from satchel._library import check, library
from satchel._long_work import LongWork
from satchel.assets._files import AssetFile, Lent
from satchel.assets._values import AssetRequest, Fetched, Variant
from satchel.errors import InvalidArgument, SatchelError
from satchel.remote._values import NotModified

__all__ = ["Fetching", "append", "making", "making_thumbnail", "streaming"]

_Result = TypeVar("_Result")
_RESULT = _abi.REMOTE_RESULT
#: The number of bytes that are read of a file object at once.
_PORTION = 1 << 18
_BYTES = (bytes, bytearray, memoryview)


def _portion(file: Any, size: int) -> bytes:
    """The next bytes of a file object; none at its end."""
    data = file.read(size)
    if not isinstance(data, _BYTES):
        raise InvalidArgument(
            f"a file object must be opened in binary mode, and return bytes, not {type(data).__name__}"
        )
    if memoryview(data).nbytes > size:
        raise InvalidArgument(f"a file object returned more than the {size} bytes that it was asked for")
    return bytes(data)


def append(writer: int, body: Any, what: str) -> None:
    """Appends bytes, or those of a file object, which is closed, to a writer of the library."""
    if isinstance(body, _BYTES):
        check(library.satchel_asset_writer_append(writer, _encoding.lend(bytes(body))))
        return
    if not callable(getattr(body, "read", None)):
        raise InvalidArgument(f"{what} must be bytes or a file object, not {type(body).__name__}")
    try:
        while data := _portion(body, _PORTION):
            check(library.satchel_asset_writer_append(writer, _encoding.lend(data)))
    finally:
        close = getattr(body, "close", None)
        if callable(close):
            close()


class _Calls:
    """The functions of one call, and the exception that ended it.

    :param owner: the store among the callbacks
    """

    def __init__(self, owner: int) -> None:
        self._owner = owner
        self.raised: Optional[BaseException] = None

    def run(self, function: Callable[..., Any], call: Callable[[int], _Result]) -> _Result:
        """Makes a call of the library that gets a context for a function.

        :raises BaseException: what the function has raised
        """
        context = _callbacks.register(function, self._owner)
        try:
            return call(context)
        except SatchelError:
            if self.raised is not None:
                raise self.raised from None
            raise
        finally:
            _callbacks.release(context)

    def entered(self) -> Any:
        """Marks the thread as being inside of a function of the host."""
        return _callbacks.entered(self._owner)

    def made(self, make: Callable[[], Any], writer: int) -> bool:
        """Gives what a function makes to a writer of the library; keeps its exception."""
        try:
            with self.entered():
                made = make()
                made = made if isinstance(made, Variant) else Variant(made)
                append(writer, made.body, "what make returns")
            if made.type is not None:
                library.satchel_asset_writer_type(writer, _encoding.lend_text(made.type, "type"))
            return True
        except BaseException as error:
            self.raised = error
            return False


def streaming(owner: int, file: Any, call: Callable[[int], _Result]) -> _Result:
    """Makes a call that reads a file object by ``on_read``."""
    calls = _Calls(owner)

    def read(buffer: int, capacity: int) -> int:
        try:
            with calls.entered():
                data = _portion(file, min(capacity, _PORTION))
            ctypes.memmove(buffer, data, len(data))
            return len(data)
        except BaseException as error:
            calls.raised = error
            return -1

    return calls.run(read, call)


def making(owner: int, make: Callable[..., Any], call: Callable[[int], _Result]) -> _Result:
    """Makes a call that makes a variant by ``on_make``."""
    calls = _Calls(owner)

    def run(reader: int, writer: int) -> bool:
        lent = Lent(reader)
        try:
            return calls.made(lambda: make(AssetFile(lent)), writer)
        finally:
            lent.close()

    return calls.run(run, call)


def making_thumbnail(owner: int, make: Callable[..., Any], call: Callable[[int], _Result]) -> _Result:
    """Makes a call that makes the thumbnail of a photo by ``on_thumbnail``."""
    calls = _Calls(owner)

    def run(path: bytes, writer: int) -> bool:
        return calls.made(lambda: make(os.fsdecode(path)), writer)

    return calls.run(run, call)


class Fetching:
    """The function that fetches, during one call.

    :param work: the call; an exception that is not an Exception, such as KeyboardInterrupt, ends it
    """

    def __init__(self, work: LongWork, fetch: Callable[[AssetRequest], Any]) -> None:
        self._work = work
        self._fetch = fetch
        #: The exceptions, in the order of the requests.
        self.errors: List[Tuple[str, BaseException]] = []

    def request(self, request: Dict[str, Any], writer: int) -> int:
        """Fetches one URL; returns the C result."""
        url = request["url"]
        try:
            with _callbacks.entered(self._work.owner, *self._work.subjects):
                cancelled = partial(library.satchel_asset_writer_cancelled, writer)
                result = self._fetch(AssetRequest(**request, cancelled=cancelled))
                if isinstance(result, NotModified):
                    return _RESULT["not_modified"]
                fetched = result if isinstance(result, Fetched) else Fetched(result)
                append(writer, fetched.body, "what fetch returns")
            if fetched.etag is not None:
                library.satchel_asset_writer_etag(writer, _encoding.lend_text(fetched.etag, "etag"))
            return _RESULT["ok"]
        except BaseException as error:
            self.errors.append((url, error))
            if not isinstance(error, Exception):
                self._work.fail(error)
            _callbacks.describe(error, library.satchel_asset_writer_message, writer)
            return _RESULT["failed"]

    def error_of(self, url: Optional[str]) -> Optional[BaseException]:
        """The last exception for a URL."""
        return next((error for found, error in reversed(self.errors) if found == url), None)


def _guarded(failure: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for C: no exception may cross it, also when memory or the interpreter ends."""

    def call(context: Optional[int], *arguments: Any) -> Any:
        try:
            found, _ = _callbacks.lookup(context)
            return failure if found is None else function(found, *arguments)
        except BaseException:
            return failure

    return call


on_read = _abi.AssetSource(_guarded(-1, lambda read, buffer, capacity: read(buffer, capacity)))
on_make = _abi.AssetVariant(_guarded(False, lambda make, reader, writer: make(reader, writer)))
on_thumbnail = _abi.PhotoThumbnail(_guarded(False, lambda make, path, edge, writer: make(path, writer)))


def _fetching(receive: Any, request: Any, writer: int) -> Any:
    # The context is that of the call's progress, which leads to the work.
    return receive.__self__.fetching.request(_callbacks.json_of(request), writer)


on_fetch = _abi.AssetFetch(_guarded(_RESULT["failed"], _fetching))
