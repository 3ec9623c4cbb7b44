"""Sources: where the content of the catalogue comes from, and the bytes of assets.

A source is a server, :class:`HTTPSource`; a function that takes a :class:`ContentRequest`; or an object with
a method ``content`` that does, and perhaps ``asset`` for an :class:`~satchel.assets.AssetRequest`. Functions
may be coroutines: they run on the event loop of an asynchronous store, otherwise on one of their own.

>>> def backend(request):
...     if request.section == "hotels":
...         raise satchel.NotFoundAtSource
...     return satchel.Fetched(guide(request.location), etag="7", max_age=3600)

A function returns a :class:`Fetched`, the content alone, or :data:`NOT_MODIFIED` when it has the etag of the
request. It raises :class:`NotFoundAtSource`, :class:`Retry`, or another :class:`SourceError`; any other
exception counts as a failure that may pass.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Awaitable, Callable, Optional, Protocol, Union

from satchel import _encoding
from satchel._encoding import FilePath
from satchel._handles import Closing, Handle
from satchel._library import json_answer, library, value_of
from satchel.errors import Closed, Damaged
from satchel.remote._values import NOT_MODIFIED, NotModified
from satchel.sources._values import ContentRequest, Fetched, NotFoundAtSource, Retry, SourceError

__all__ = [
    "NOT_MODIFIED",
    "ContentRequest",
    "Fetched",
    "HTTPSource",
    "NotFoundAtSource",
    "NotModified",
    "Retry",
    "Source",
    "SourceError",
]

#: The result of a source's function.
ContentAnswer = Union[Fetched, NotModified, Mapping[str, Any], bytes, str]


class Source(Protocol):
    """The protocol of a source that is an object. A method ``asset`` is optional."""

    def content(self, request: ContentRequest) -> Union[ContentAnswer, Awaitable[ContentAnswer]]:
        """Fetches content.

        :param request: says of which place, and which section
        :raises NotFoundAtSource: when the source has no such content
        :raises Retry: when it has to be asked again
        """
        raise NotImplementedError


#: A source, as calls accept it.
AnySource = Union["HTTPSource", Source, Callable[[ContentRequest], Any]]


class HTTPSource(Closing):
    """A source that is a server, asked by the library's own HTTP client.

    Content is asked for by GET of the base URL, with the query parameters ``latitude``, ``longitude``,
    ``sublocality``, ``locality``, ``admin_area``, ``country_code`` and ``country_name`` as far as the
    location has them, ``section`` for one section, and ``entity`` for each entity that is missing or expired,
    as many as fit into a URL of 2,000 bytes; ``If-None-Match`` has the etag. 200 has the JSON of a section,
    or of a delivery; 304, 404 and 410 mean that nothing has changed, and that there is nothing; 408, 425,
    429, 5xx and faults of the network may pass (``Retry-After``); other answers are final. ``Cache-Control``
    and ``Expires`` say how long content is fresh.

    Redirects are followed within the site. One source serves any number of stores and threads. It is closed
    by :meth:`close`, or when it is collected. Make sources after ``fork``.

    :param base_url: http or https, perhaps with a path and a query; without a user
    :param headers: sent to the origin of the base URL, and to no other, such as ``Authorization``
    :param timeout: for a whole request, in seconds; ten minutes by default, 0 for none
    :param connect_timeout: to connect, in seconds; 10 by default
    :param stall_timeout: without a byte, in seconds; 30 by default
    :param max_size: the largest content in bytes; 16 MiB by default
    :param ca_file: a PEM file with the certificates to trust, instead of the system's
    :param proxy: the URL of a proxy; no proxy of the environment is used
    :param allow_private: whether servers may be asked whose addresses are not public; by default if the base
        URL has such an address, or a name of a private network, such as "localhost"
    :raises InvalidArgument: names the option
    """

    __slots__ = ("_base_url", "_process")

    def __init__(
        self,
        base_url: str,
        headers: Optional[Mapping[str, str]] = None,
        *,
        timeout: Optional[float] = None,
        connect_timeout: Optional[float] = None,
        stall_timeout: Optional[float] = None,
        max_size: Optional[int] = None,
        ca_file: Optional[FilePath] = None,
        proxy: Optional[str] = None,
        allow_private: Optional[bool] = None,
    ) -> None:
        waits = {"connect": connect_timeout, "stall": stall_timeout, "total": timeout}
        timeouts = {
            name: _encoding.timeout(
                seconds, "timeout" if name == "total" else f"{name}_timeout", 0, 86_400_000
            )
            for name, seconds in waits.items()
            if seconds is not None
        }
        options = {
            "headers": None if headers is None else dict(headers),
            "timeouts": timeouts or None,
            "max_size": None if max_size is None else _encoding.whole(max_size, "max_size", 1, 2**53),
            "ca_file": None if ca_file is None else _encoding.file_path(ca_file, "ca_file")[0],
            "proxy": proxy,
            "allow_private": None if allow_private is None else bool(allow_private),
        }
        lent = _encoding.lend_text(base_url, "base_url"), _encoding.lend_given(options, "options")
        self._handle = Handle.made_by("source", library.satchel_source_http, *lent)
        self._base_url = base_url.partition("?")[0]
        self._process = os.getpid()

    def content(self, request: Union[ContentRequest, Mapping[str, Any]]) -> Union[Fetched, NotModified]:
        """Asks for content, and stores nothing.

        :param request: a :class:`ContentRequest`, or a location
        :returns: the content as a dict, or :data:`NOT_MODIFIED`
        :raises NotFoundAtSource: when the server has none
        :raises SourceError: when the request fails
        """
        asked = request if isinstance(request, ContentRequest) else ContentRequest(request)
        members = {
            "location": dict(asked.location),
            "section": asked.section,
            "entities": list(asked.entities),
            "etag": asked.etag,
            "attempt": asked.attempt,
        }
        lent = _encoding.lend_value(members, "request")
        answer = json_answer(library.satchel_source_fetch, self._pointer, lent)
        result = answer["result"]
        if result == "not_modified":
            return NOT_MODIFIED
        if result == "not_found":
            raise NotFoundAtSource(f"{self._base_url}: there is no such content", max_age=answer["max_age"])
        if result != "content":
            is_transient = result == "transient"
            raise SourceError(answer["message"], transient=is_transient, retry_after=answer["retry_after"])
        try:
            content = value_of(answer["body"].encode())
        except Damaged as error:
            raise SourceError(f"{self._base_url}: the answer is not JSON: {error}") from None
        return Fetched(content, answer["etag"], answer["max_age"], answer["complete"])

    def close(self) -> None:
        """Closes the client; idempotent. Running calls are finished."""
        pointer = self._handle.release()
        # In a forked child the handle belongs to the parent.
        if pointer is not None and self._process == os.getpid():
            library.satchel_source_free(pointer)

    @property
    def _pointer(self) -> int:
        if self._process != os.getpid():
            raise Closed("the source was made before this process was forked")
        return self._handle.pointer

    def __del__(self) -> None:
        # An object whose constructor failed has no handle.
        if hasattr(self, "_process"):
            self.close()

    def __repr__(self) -> str:
        return f"<satchel.HTTPSource {self._base_url!r}{', closed' if self.closed else ''}>"
