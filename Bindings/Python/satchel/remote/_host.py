"""Calls the functions of :class:`satchel.remote.Callbacks` for the library: from any thread, several at once.

No exception of a function crosses the library. It is translated into a result, and the exception itself is
kept for the running call, which makes it the cause of its own exception or report.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from satchel import _abi, _callbacks, _encoding
from satchel._library import library
from satchel._long_work import LongWork
from satchel.remote._values import (
    AccessDenied,
    Credentials,
    NotModified,
    PreconditionFailed,
    RemoteEntry,
    RemoteHead,
    RemoteObject,
    RemotePage,
    RemoteRange,
    TransientError,
    UnknownOutcome,
)

__all__ = ["Failures", "Host", "give_credentials", "operations"]

_RESULT = _abi.REMOTE_RESULT


class Failures:
    """The exceptions of a host's functions during one call of the library, the last one for each key.

    :param work: the call; an exception that is not an Exception, such as KeyboardInterrupt, ends it
    """

    def __init__(self, work: LongWork) -> None:
        self.work = work
        self._by_key: Dict[str, Tuple[str, BaseException]] = {}

    def add(self, operation: str, key: str, error: BaseException) -> None:
        """Adds an exception of an operation; from any thread."""
        self._by_key.pop(key, None)
        self._by_key[key] = (operation, error)
        if not isinstance(error, Exception):
            self.work.fail(error)

    def succeed(self, operation: str, key: str) -> None:
        """Forgets the exception of a key, after a later request for it succeeded."""
        failed, _ = self._by_key.get(key, (operation, None))
        # Deleting the object of a probe that failed does not make the probe succeed.
        if operation != "delete" or failed == operation:
            self._by_key.pop(key, None)

    @property
    def last(self) -> Optional[BaseException]:
        """The last exception."""
        errors = list(self._by_key.values())
        return errors[-1][1] if errors else None

    def under(self, suffix: str) -> Optional[BaseException]:
        """The last exception for a key with a suffix."""
        return next((error for key, (_, error) in list(self._by_key.items()) if key.endswith(suffix)), None)


class Host:
    """The functions, and the running calls of the library that use them."""

    def __init__(self, functions: Dict[str, Callable[..., Any]]) -> None:
        self._functions = functions
        self._lock = threading.Lock()
        self._observers: Tuple[Failures, ...] = ()

    @contextlib.contextmanager
    def observed_by(self, failures: Failures) -> Iterator[None]:
        """Collects exceptions while a call is running."""
        with self._lock:
            self._observers = (*self._observers, failures)
        try:
            yield
        finally:
            with self._lock:
                self._observers = tuple(each for each in self._observers if each is not failures)

    def request(self, operation: str, key: str, answer: int, *arguments: Any, **conditions: Any) -> int:
        """Calls a function and passes its result to the library; returns the C result."""
        listening = self._observers
        try:
            running = (owner for each in listening for owner in (each.work.owner, *each.work.subjects))
            with _callbacks.entered(*running):
                result = self._functions[operation](key, *arguments, **conditions)
            _ANSWERS[operation](answer, result)
        except BaseException as error:
            if isinstance(error, _ANSWERING) and operation != "credentials":
                self._succeed(listening, operation, key)
                _callbacks.describe(error, library.satchel_remote_answer_message, answer)
                return _result_of(error, operation)
            for failures in listening:
                failures.add(operation, key, error)
            if not listening:
                # The call has ended, so that no caller is left to raise it.
                _callbacks.report(error)
            _callbacks.describe(error, library.satchel_remote_answer_message, answer)
            return _result_of(error, operation)
        self._succeed(listening, operation, key)
        return _RESULT["not_modified" if isinstance(result, NotModified) else "ok"]

    def _succeed(self, listening: Tuple[Failures, ...], operation: str, key: str) -> None:
        for failures in listening:
            failures.succeed(operation, key)


# These exceptions are answers; all others are failures.
_ANSWERING = (KeyError, FileNotFoundError, PreconditionFailed)


def _result_of(error: BaseException, operation: str) -> int:
    if isinstance(error, PreconditionFailed):
        return _RESULT["precondition_failed"]
    if isinstance(error, (KeyError, FileNotFoundError)):
        return _RESULT["not_found"]
    if isinstance(error, (AccessDenied, PermissionError)):
        return _RESULT["denied"]
    if isinstance(error, TransientError):
        return _RESULT["transient"]
    if isinstance(error, (UnknownOutcome, ConnectionError, TimeoutError)):
        # A failed read changed nothing.
        return _RESULT["unknown" if operation in ("put", "delete", "put_part", "complete") else "transient"]
    return _RESULT["failed"]


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


def _set_range(answer: int, result: Any) -> None:
    if not isinstance(result, RemoteRange):
        raise TypeError(f"get_range must return a RemoteRange, not {type(result).__name__}")
    if not isinstance(result.body, (bytes, bytearray, memoryview)):
        raise TypeError(f"the body that get_range returns must be bytes, not {type(result.body).__name__}")
    library.satchel_remote_answer_size(answer, _size(result.size, "get_range"))
    _set_tag(answer, result.etag, "get_range")
    library.satchel_remote_answer_body(answer, _encoding.lend(bytes(result.body)))


def _set_part(answer: int, result: Any) -> None:
    if result is not None:
        raise TypeError(f"put_part must return None, not {type(result).__name__}")


def _set_completed(answer: int, result: Any) -> None:
    # Without parts the upload is discarded, and no etag is returned.
    if result is not None:
        _set_tag(answer, result, "complete")


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
        raise TypeError(f"the etag that {operation} returns must be a str, not {etag!r}")
    library.satchel_remote_answer_etag(answer, _encoding.lend_text(etag, "etag"))


def _set_metadata(answer: int, metadata: Any, operation: str) -> None:
    if not all(isinstance(word, str) for pair in dict(metadata).items() for word in pair):
        raise TypeError(f"the metadata that {operation} returns must be texts")
    library.satchel_remote_answer_metadata(answer, _encoding.lend_value(dict(metadata), "metadata"))


def _set_credentials(answer: int, result: Any) -> None:
    if not isinstance(result, Credentials):
        raise TypeError(f"credentials must return Credentials, not {type(result).__name__}")
    given = {
        "access_key": result.access_key,
        "secret_key": result.secret_key,
        "session_token": result.session_token,
        "expires": result.expires,
    }
    library.satchel_remote_answer_body(answer, _encoding.lend_value(given, "the credentials"))


_ANSWERS: Dict[str, Callable[[int, Any], None]] = {
    "credentials": _set_credentials,
    "get": _set_object,
    "put": _set_written,
    "head": _set_head,
    "delete": _set_removed,
    "list": _set_page,
    "get_range": _set_range,
    "put_part": _set_part,
    "complete": _set_completed,
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
            # Out of memory, or the interpreter is shutting down: no exception may cross C.
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
        "metadata": _callbacks.json_of(metadata) or {},
    }


def _list_arguments(after: Any, limit: int) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    return (), {"after": _text_or_none(after), "limit": limit}


def _range_arguments(offset: int, length: int, if_match: Any) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    return (offset, length), {"if_match": _text_or_none(if_match)}


def _part_arguments(upload: Any, number: int, body: Any) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    return (_callbacks.bytes_of(upload).decode("utf-8"), number, _callbacks.bytes_of(body)), {}


def _complete_arguments(
    upload: Any, parts: int, if_match: Any, if_absent: bool, metadata: Any
) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    return (_callbacks.bytes_of(upload).decode("utf-8"), parts), {
        "if_match": _text_or_none(if_match),
        "if_absent": bool(if_absent),
        "metadata": _callbacks.json_of(metadata) or {},
    }


def _give_credentials(context: Optional[int], answer: int) -> int:
    try:
        function, _ = _callbacks.lookup(context)
        return _RESULT["failed"] if function is None else int(function("credentials", "", answer))
    except BaseException:
        # Out of memory, or the interpreter is shutting down: no exception may cross C.
        return _RESULT["failed"]


#: The function for C that asks for the credentials of an S3 store.
give_credentials = _abi.RemoteCredentialsCallback(_give_credentials)


def operations(identity: _abi.Bytes, has_transfers: bool) -> _abi.RemoteOperations:
    """The functions for C.

    :param identity: names the object store; may be empty
    :param has_transfers: whether the optional functions are there
    """
    return _abi.RemoteOperations(identity=identity, **_OPERATIONS, **(_TRANSFERS if has_transfers else {}))


# Kept alive here: ctypes does not keep the callbacks of a copied struct.
_OPERATIONS: Dict[str, Any] = {
    "get": _abi.RemoteGet(_requesting("get", lambda tag: ((), {"if_none_match": _text_or_none(tag)}))),
    "put": _abi.RemotePut(_requesting("put", _put_arguments)),
    "head": _abi.RemoteHead(_requesting("head", lambda: ((), {}))),
    "remove": _abi.RemoteRemove(_requesting("delete", lambda tag: ((), {"if_match": _text_or_none(tag)}))),
    "list": _abi.RemoteList(_requesting("list", _list_arguments)),
}

_TRANSFERS: Dict[str, Any] = {
    "get_range": _abi.RemoteGetRange(_requesting("get_range", _range_arguments)),
    "put_part": _abi.RemotePutPart(_requesting("put_part", _part_arguments)),
    "complete": _abi.RemoteComplete(_requesting("complete", _complete_arguments)),
}
