"""An object store of Python functions, as the library calls it: from any thread, several at once.

Nothing that a function raises crosses the library. It is told what the exception means, and the exception
itself waits for the call that is at work, which makes it the cause of what that raises or reports.
"""

from __future__ import annotations

import contextlib
import ctypes
import json as _json
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from satchel import _abi, _callbacks, _encoding
from satchel._library import library
from satchel._remote_values import (
    AccessDenied,
    NotModified,
    PreconditionFailed,
    RemoteEntry,
    RemoteHead,
    RemoteObject,
    RemotePage,
    TransientError,
    UnknownOutcome,
)

__all__ = ["Failures", "Host", "operations"]

_RESULT = _abi.REMOTE_RESULT


class Failures:
    """What the functions of a host raised during one call of the library, the last by each key.

    :param owner: the number of the store that is at work, 0 for none
    :param on_fatal: hears of what is no Exception, such as KeyboardInterrupt: it is to end the work
    :param subject: what the call works for, as :class:`LongWork` has it
    """

    def __init__(
        self,
        owner: int = 0,
        on_fatal: Optional[Callable[[BaseException], None]] = None,
        subject: Optional[object] = None,
    ) -> None:
        self.owner = owner
        self.subject = subject
        self._by_key: Dict[str, BaseException] = {}
        self._on_fatal = on_fatal

    def add(self, key: str, error: BaseException) -> None:
        """Notes an exception; from any thread."""
        self._by_key.pop(key, None)
        self._by_key[key] = error
        if not isinstance(error, Exception) and self._on_fatal is not None:
            self._on_fatal(error)

    def settle(self, key: str) -> None:
        """A later request for the key went well."""
        self._by_key.pop(key, None)

    @property
    def last(self) -> Optional[BaseException]:
        """The last of all."""
        errors = list(self._by_key.values())
        return errors[-1] if errors else None

    def under(self, suffix: str) -> Optional[BaseException]:
        """The last for a key that ends so."""
        return next((error for key, error in list(self._by_key.items()) if key.endswith(suffix)), None)


class Host:
    """The functions, and the calls of the library that are at work with them."""

    def __init__(self, functions: Dict[str, Callable[..., Any]]) -> None:
        self._functions = functions
        self._lock = threading.Lock()
        self._listening: Tuple[Failures, ...] = ()

    @contextlib.contextmanager
    def heard_by(self, failures: Failures) -> Iterator[None]:
        """Tells of what is raised, for as long as a call is at work."""
        with self._lock:
            self._listening = (*self._listening, failures)
        try:
            yield
        finally:
            with self._lock:
                self._listening = tuple(each for each in self._listening if each is not failures)

    def request(self, operation: str, key: str, answer: int, *arguments: Any, **conditions: Any) -> int:
        """Calls a function and hands its result to the library; gives the result of C."""
        listening = self._listening
        try:
            with _callbacks.entered(*(owner for each in listening for owner in (each.owner, each.subject))):
                result = self._functions[operation](key, *arguments, **conditions)
            _ANSWERS[operation](answer, result)
        except _ANSWERING as error:
            self._settle(listening, key)
            _say(answer, error)
            return _meaning(error, operation)
        except BaseException as error:
            for failures in listening:
                failures.add(key, error)
            if not listening:
                # The call was given up, and nobody is left to raise it.
                _callbacks.report(error)
            _say(answer, error)
            return _meaning(error, operation)
        self._settle(listening, key)
        return _RESULT["not_modified" if isinstance(result, NotModified) else "ok"]

    def _settle(self, listening: Tuple[Failures, ...], key: str) -> None:
        for failures in listening:
            failures.settle(key)


# By these a function gives an answer; all others are failures.
_ANSWERING = (KeyError, FileNotFoundError, PreconditionFailed)


def _meaning(error: BaseException, operation: str) -> int:
    if isinstance(error, PreconditionFailed):
        return _RESULT["precondition_failed"]
    if isinstance(error, (KeyError, FileNotFoundError)):
        return _RESULT["not_found"]
    if isinstance(error, (AccessDenied, PermissionError)):
        return _RESULT["denied"]
    if isinstance(error, TransientError):
        return _RESULT["transient"]
    if isinstance(error, (UnknownOutcome, ConnectionError, TimeoutError)):
        # What only read has changed nothing.
        return _RESULT["unknown" if operation in ("put", "delete") else "transient"]
    return _RESULT["failed"]


def _say(answer: int, error: BaseException) -> None:
    # What says that an error cannot be told must not be lost with it.
    with contextlib.suppress(Exception):
        text = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        library.satchel_remote_answer_message(answer, _encoding.lend(text[:1000]))


def _set_object(answer: int, result: Any) -> None:
    if isinstance(result, NotModified):
        return
    if not isinstance(result, RemoteObject):
        raise TypeError(f"get must return a RemoteObject or NOT_MODIFIED, not {type(result).__name__}")
    body = result.body
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise TypeError(f"the body that get returns must be bytes, not {type(body).__name__}")
    _set_tag(answer, result.etag, "get")
    _set_metadata(answer, result.metadata, "get")
    library.satchel_remote_answer_body(answer, _encoding.lend(bytes(body)))


def _set_head(answer: int, result: Any) -> None:
    if isinstance(result, RemoteObject):
        result = RemoteHead(memoryview(result.body).nbytes, result.etag, result.metadata)
    if not isinstance(result, RemoteHead):
        raise TypeError(f"head must return a RemoteHead, not {type(result).__name__}")
    library.satchel_remote_answer_size(answer, _size(result.size, "head"))
    _set_tag(answer, result.etag, "head")
    _set_metadata(answer, result.metadata, "head")


def _set_written(answer: int, result: Any) -> None:
    _set_tag(answer, result, "put")


def _set_removed(answer: int, result: Any) -> None:
    if result is not None:
        raise TypeError(f"delete must return None, not {type(result).__name__}")


def _set_page(answer: int, result: Any) -> None:
    page = result if isinstance(result, RemotePage) else RemotePage(result)
    entries: List[Dict[str, Any]] = []
    for entry in page.entries:
        if not isinstance(entry, RemoteEntry):
            raise TypeError(f"list must return entries of RemoteEntry, not {type(entry).__name__}")
        known = {"key": entry.key, "size": _size(entry.size, "list")}
        entries.append(known if entry.etag is None else {**known, "etag": entry.etag})
    listing = {"entries": entries, "has_more": bool(page.has_more)}
    text = _encoding.encoded(listing, "the listing")
    library.satchel_remote_answer_body(answer, _encoding.lend(text))


def _size(size: Any, operation: str) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**63:
        raise TypeError(f"a size that {operation} returns must be an int from 0 on, not {size!r}")
    return size


def _set_tag(answer: int, etag: Any, operation: str) -> None:
    if not isinstance(etag, str) or not etag:
        raise TypeError(f"the etag that {operation} returns must be a text, not {etag!r}")
    library.satchel_remote_answer_etag(answer, _encoding.lend_text(etag, "etag"))


def _set_metadata(answer: int, metadata: Any, operation: str) -> None:
    if not all(isinstance(word, str) for pair in dict(metadata).items() for word in pair):
        raise TypeError(f"the metadata that {operation} returns must be texts")
    library.satchel_remote_answer_metadata(answer, _encoding.lend_value(dict(metadata), "metadata"))


_ANSWERS: Dict[str, Callable[[int, Any], None]] = {
    "get": _set_object,
    "put": _set_written,
    "head": _set_head,
    "delete": _set_removed,
    "list": _set_page,
}


def _requesting(operation: str, arguments: Callable[..., Tuple[Tuple[Any, ...], Dict[str, Any]]]) -> Any:
    """The function for C: its last argument is the answer, the one before are those of the request."""

    def request(context: Optional[int], key: Any, *rest: Any) -> int:
        try:
            function, _ = _callbacks.lookup(context)
            if function is None:
                return _RESULT["failed"]
            given, conditions = arguments(*rest[:-1])
            name = _callbacks.bytes_of(key).decode("utf-8")
            result: int = function(operation, name, rest[-1], *given, **conditions)
            return result
        except BaseException:
            # Memory ran out, or the interpreter ends: nothing of this may cross C.
            return _RESULT["failed"]

    return request


def _text_or_none(message: Any) -> Optional[str]:
    return _callbacks.bytes_of(message).decode("utf-8") or None


def _put_arguments(
    body: Any, if_match: Any, if_absent: bool, metadata: Any
) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    return (_callbacks.bytes_of(body),), {
        "if_match": _text_or_none(if_match),
        "if_absent": bool(if_absent),
        "metadata": _json.loads(_callbacks.bytes_of(metadata) or b"{}"),
    }


def _list_arguments(after: Any, limit: int) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    return (), {"after": _text_or_none(after), "limit": limit}


# Held here: ctypes does not keep what a struct that was copied refers to.
operations = _abi.RemoteOperations(
    ctypes.sizeof(_abi.RemoteOperations),
    _abi.RemoteGet(_requesting("get", lambda tag: ((), {"if_none_match": _text_or_none(tag)}))),
    _abi.RemotePut(_requesting("put", _put_arguments)),
    _abi.RemoteHead(_requesting("head", lambda: ((), {}))),
    _abi.RemoteRemove(_requesting("delete", lambda tag: ((), {"if_match": _text_or_none(tag)}))),
    _abi.RemoteList(_requesting("list", _list_arguments)),
)
