"""Objects of the host's own in a remote: reading, writing, deleting and listing them."""

from __future__ import annotations

from ctypes import byref
from typing import Any, Callable, Iterator, List, Mapping, Optional, Union

from satchel import _encoding
from satchel._abi import Buffer
from satchel._library import answer, check, free_buffer, json_answer, library, paged, some_text, value_of
from satchel._long_work import LongWork
from satchel.errors import InvalidArgument
from satchel.remote._host import Failures
from satchel.remote._values import NOT_MODIFIED, NotModified, RemoteEntry, RemoteHead, RemoteObject
from satchel.values import record_from

__all__ = ["RemoteObjects"]

#: The objects that are listed with one request.
_PAGE = 1000


class RemoteObjects:
    """The part of :class:`satchel.remote.Remote` that reads and writes single objects.

    The requests are retried as those of a synchronization. Keys that begin with "catalogs/", "photos/" and
    "sync/" are the library's: they can be read, and must not be written.
    """

    __slots__ = ()

    def get(self, key: str, if_none_match: Optional[str] = None) -> Union[RemoteObject, NotModified]:
        """An object with its bytes.

        :param key: its key
        :param if_none_match: an etag; an object that still has it is not read
        :returns: :data:`NOT_MODIFIED` when the object still has that etag
        :raises NotFound: when there is no such object
        :raises InvalidArgument: for what cannot be a key
        :raises Unauthorized: when the remote rejects the credentials
        :raises Unavailable: when the remote cannot be reached
        """
        lent = _encoding.lend_text(key, "key"), _tag(if_none_match, "if_none_match")

        def call(pointer: int) -> Union[RemoteObject, NotModified]:
            head = Buffer()
            try:
                body = answer(library.satchel_remote_get, pointer, *lent, byref(head))
                if body is None:
                    return NOT_MODIFIED
                known = value_of(head.data)
            finally:
                free_buffer(byref(head))
            return RemoteObject(body, known["etag"], known["metadata"])

        return self._ask(call)  # type: ignore[no-any-return]

    def put(
        self,
        key: str,
        body: Union[bytes, bytearray, memoryview],
        if_match: Optional[str] = None,
        if_absent: bool = False,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> str:
        """Writes an object as a whole.

        :param key: its key
        :param body: its bytes
        :param if_match: the etag that the object must have
        :param if_absent: there must be no such object
        :param metadata: stored with the object: names of a-z, 0-9 and "-", values of printable ASCII, 2,048
            bytes together. The library adds ``sha256``
        :returns: its etag
        :raises Conflict: when the condition does not hold; nothing was changed
        :raises: as :meth:`get`
        """
        if not isinstance(body, (bytes, bytearray, memoryview)):
            raise InvalidArgument(f"body must be bytes, not {type(body).__name__}")
        lent = (
            _encoding.lend_text(key, "key"),
            _encoding.lend(bytes(body)),
            _tag(if_match, "if_match"),
            bool(if_absent),
            _encoding.lend_value(dict(metadata or {}), "metadata"),
        )
        written: str = self._ask(lambda pointer: some_text(library.satchel_remote_put, pointer, *lent))
        return written

    def head(self, key: str) -> RemoteHead:
        """The size, the etag and the metadata of an object.

        :param key: its key
        :raises: as :meth:`get`
        """
        lent = _encoding.lend_text(key, "key")
        found = self._ask(lambda pointer: json_answer(library.satchel_remote_head, pointer, lent))
        return record_from(RemoteHead, found)

    def delete(self, key: str, if_match: Optional[str] = None) -> None:
        """Deletes an object; without a condition, deleting one that does not exist succeeds.

        :param key: its key
        :param if_match: the etag that the object must have
        :raises Conflict: when the condition does not hold
        :raises: as :meth:`get`
        """
        lent = _encoding.lend_text(key, "key"), _tag(if_match, "if_match")
        self._ask(lambda pointer: check(library.satchel_remote_delete(pointer, *lent)))

    def list(self, prefix: str = "") -> List[RemoteEntry]:
        """The objects whose keys begin with a prefix, in the order of the keys' bytes.

        :param prefix: "" for all objects
        :raises: as :meth:`get`
        """
        return list(self.iterate(prefix))

    def iterate(self, prefix: str = "") -> Iterator[RemoteEntry]:
        """As :meth:`list`, read lazily, with a request for 1,000 objects.

        :param prefix: "" for all objects
        """
        lent = _encoding.lend_text(prefix, "prefix")

        def page(after: str) -> Any:
            start = _encoding.lend_text(after, "after")
            return self._ask(
                lambda pointer: json_answer(library.satchel_remote_list, pointer, lent, start, _PAGE)
            )

        return (record_from(RemoteEntry, each) for each in paged("entries", "", page))

    def _ask(self, call: Callable[[int], Any]) -> Any:
        remote: Any = self
        pointer = remote._pointer
        work = LongWork(0)
        return remote._at_work(work, lambda *_: call(pointer), Failures(work))


def _tag(etag: Optional[str], name: str) -> Any:
    """An etag for one call; empty bytes mean that there is no condition."""
    if etag == "":
        raise InvalidArgument(f"{name} must not be empty")
    return _encoding.NOTHING if etag is None else _encoding.lend_text(etag, name)
