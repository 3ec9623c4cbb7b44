"""Sources that are functions of the host: the library calls them from any thread, several at once.

No exception of a function crosses the library. It is translated into a result, and the exception itself is
kept for the running call, which makes it the cause of its own exception or report.
"""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from satchel import _abi, _callbacks, _encoding
from satchel._context import event_loop
from satchel._handles import Handle
from satchel._library import library
from satchel._long_work import LongWork
from satchel.assets._host import append
from satchel.assets._values import AssetRequest
from satchel.assets._values import Fetched as FetchedAsset
from satchel.errors import Cancelled, InvalidArgument
from satchel.remote._values import NotModified
from satchel.sources._values import ContentRequest, Fetched, NotFoundAtSource, SourceError

__all__ = ["HostSource", "lent"]

_RESULT = _abi.REMOTE_RESULT


class HostSource:
    """A callable, or an object with ``content`` and perhaps ``asset``, as a source of the library.

    :param source: the callable or the object
    :param work: the call; an exception that is not an Exception, such as KeyboardInterrupt, ends it
    """

    def __init__(self, source: Any, work: LongWork) -> None:
        content = getattr(source, "content", source)
        if not callable(content):
            raise InvalidArgument(
                "source must be an HTTPSource, a callable, or an object with a method `content`, "
                f"not {type(source).__name__}"
            )
        self._content: Callable[[ContentRequest], Any] = content
        self._asset: Optional[Callable[[AssetRequest], Any]] = getattr(source, "asset", None)
        self._work = work
        self._loop = event_loop.get()
        #: The exceptions, by the URL of an asset, or the name of a section.
        self.errors: List[Tuple[Optional[str], BaseException]] = []
        self._handle = Handle.made_by(
            "source",
            library.satchel_source_new,
            on_content,
            on_asset if self._asset is not None else _abi.AssetFetch(),
            _callbacks.register(self.request, 0),
            _callbacks.on_release,
        )

    @property
    def pointer(self) -> int:
        """The handle, for one call."""
        return self._handle.pointer

    def close(self) -> None:
        """Frees the source."""
        pointer = self._handle.release()
        if pointer is not None:
            library.satchel_source_free(pointer)

    def error_of(self, subject: Optional[str]) -> Optional[BaseException]:
        """The last exception for a URL or a section."""
        return next((error for found, error in reversed(self.errors) if found == subject), None)

    def request(self, kind: str, request: Dict[str, Any], answer: int) -> int:
        """Calls a function, and passes its result to the library; returns the C result."""
        is_asset = kind == "asset"
        subject = request["url"] if is_asset else request["section"]
        describe = library.satchel_asset_writer_message if is_asset else library.satchel_source_answer_message
        try:
            with _callbacks.entered(self._work.owner, *self._work.subjects):
                return self._asked_for_asset(request, answer) if is_asset else self._asked(request, answer)
        except NotFoundAtSource as error:
            if is_asset:
                self.errors.append((subject, error))
            elif error.max_age is not None:
                library.satchel_source_answer_max_age(answer, _seconds(error.max_age))
            _say(describe, answer, error)
            return _RESULT["not_found"]
        except BaseException as error:
            self.errors.append((subject, error))
            if not isinstance(error, Exception):
                self._work.fail(error)
            is_transient = not isinstance(error, SourceError) or error.transient
            wait = getattr(error, "retry_after", None)
            if not is_asset and wait is not None:
                library.satchel_source_answer_retry_after(answer, _seconds(wait))
            _say(describe, answer, error)
            return _RESULT["transient" if is_transient else "failed"]

    def _asked(self, request: Dict[str, Any], answer: int) -> int:
        known = {**request, "entities": tuple(request["entities"])}
        cancelled = partial(library.satchel_source_answer_cancelled, answer)
        result = self._awaited(self._content(ContentRequest(**known, cancelled=cancelled)), cancelled)
        if isinstance(result, NotModified):
            return _RESULT["not_modified"]
        fetched = result if isinstance(result, Fetched) else Fetched(result)
        content = fetched.content
        if not isinstance(content, (Mapping, bytes, bytearray, memoryview, str)):
            raise TypeError(
                f"a source must return a Fetched, a dict, JSON, or NOT_MODIFIED, not {type(content).__name__}"
            )
        body = content.encode() if isinstance(content, str) else content
        if isinstance(body, Mapping):
            body = dict(body)
        library.satchel_source_answer_body(answer, _encoding.lend_value(body, "content"))
        if fetched.etag is not None:
            library.satchel_source_answer_etag(answer, _encoding.lend_text(fetched.etag, "etag"))
        if fetched.max_age is not None:
            library.satchel_source_answer_max_age(answer, _seconds(fetched.max_age))
        library.satchel_source_answer_complete(answer, bool(fetched.complete))
        return _RESULT["ok"]

    def _asked_for_asset(self, request: Dict[str, Any], writer: int) -> int:
        assert self._asset is not None
        cancelled = partial(library.satchel_asset_writer_cancelled, writer)
        result = self._awaited(self._asset(AssetRequest(**request, cancelled=cancelled)), cancelled)
        if isinstance(result, NotModified):
            return _RESULT["not_modified"]
        if isinstance(result, Fetched):
            result = FetchedAsset(result.content, result.etag)
        fetched = result if isinstance(result, FetchedAsset) else FetchedAsset(result)
        append(writer, fetched.body, "what a source returns for an asset")
        if fetched.etag is not None:
            library.satchel_asset_writer_etag(writer, _encoding.lend_text(fetched.etag, "etag"))
        return _RESULT["ok"]

    def _awaited(self, result: Any, cancelled: Callable[[], bool]) -> Any:
        """The result of a function, or of its coroutine, which runs on the loop of an asynchronous store.

        :param cancelled: whether the call that asks was cancelled, and with it the coroutine
        """
        if not inspect.isawaitable(result):
            return result
        # Here, because importing it takes longer than opening a store.
        import asyncio

        async def wait() -> Any:
            task = asyncio.ensure_future(result)
            while not (await asyncio.wait([task], timeout=0.1))[0]:
                if cancelled():
                    task.cancel()
            if task.cancelled():
                raise Cancelled("the request was cancelled")
            return task.result()

        if self._loop is None:
            return asyncio.run(wait())
        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result()


def _say(describe: Callable[..., object], answer: int, error: BaseException) -> None:
    """Passes the message of an exception to the library; that of this package's own ones as it is."""
    if isinstance(error, SourceError) and str(error):
        with contextlib.suppress(Exception):
            describe(answer, _encoding.lend(str(error).encode("utf-8", "replace")[:1000]))
        return
    _callbacks.describe(error, describe, answer)


def _seconds(number: Any) -> int:
    """Whole seconds, rounded up, at most 2**53; none for what is negative, or no number."""
    return -1 if math.isnan(number) or number < 0 else math.ceil(min(number, 2**53))


@contextlib.contextmanager
def lent(source: Any, work: LongWork) -> Iterator[Tuple[int, Optional[HostSource]]]:
    """The handle of a source for one call; with the functions, where it is one of the host.

    :param source: an HTTPSource, a callable, or an object with a method ``content``
    :param work: the call
    :raises InvalidArgument: for anything else
    """
    from satchel.sources import HTTPSource

    if isinstance(source, HTTPSource):
        yield source._pointer, None
        return
    host = HostSource(source, work)
    try:
        yield host.pointer, host
    finally:
        host.close()


def _requesting(kind: str) -> Callable[..., int]:
    """The function for C."""

    def request(context: Optional[int], message: Any, answer: int) -> int:
        try:
            function, _ = _callbacks.lookup(context)
            if function is None:
                return _RESULT["failed"]
            result: int = function(kind, _callbacks.json_of(message), answer)
            return result
        except BaseException:
            # Out of memory, or the interpreter is shutting down: no exception may cross C.
            return _RESULT["failed"]

    return request


on_content = _abi.SourceContent(_requesting("content"))
on_asset = _abi.AssetFetch(_requesting("asset"))
