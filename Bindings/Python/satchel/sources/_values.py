"""Requests, answers and exceptions of sources; :mod:`satchel.sources` exports them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Callable, Optional, Tuple

from satchel._callbacks import never
from satchel.values import dataclass

__all__ = ["ContentRequest", "Fetched", "NotFoundAtSource", "Retry", "SourceError"]


@dataclass(frozen=True)
class ContentRequest:
    """A request for content.

    ``location`` is the place, ``section`` the name of one section of it, or None for all that it has.
    ``entities`` are the ids of those that are missing or expired, ``etag`` is that of what is stored.
    ``attempt`` is 1, and one more for each failure since the last answer. ``cancelled`` is a
    function: whether the call that asks was cancelled. A source that takes long calls it now and then, and
    raises anything, which is not counted as a failure. A coroutine is cancelled.
    """

    location: Mapping[str, Any]
    section: Optional[str] = None
    entities: Tuple[str, ...] = ()
    etag: Optional[str] = None
    attempt: int = 1
    cancelled: Callable[[], bool] = field(default=never, repr=False, compare=False)


@dataclass(frozen=True)
class Fetched:
    """The result of a source.

    ``content`` is a section, or a delivery, a dict with ``sections``; as a dict, or as JSON. ``etag`` is
    passed with the next request, ``max_age`` is for how many seconds the content is fresh, ``complete`` says
    that a delivery has all sections of the place. Of an asset ``content`` are the bytes, or a binary file.
    """

    content: Any = field(repr=False)
    etag: Optional[str] = None
    max_age: Optional[int] = None
    complete: bool = False


class SourceError(Exception):
    """A source failed. A final failure is asked again, too, but after an hour at the earliest.

    :param message: the cause, without credentials
    :param transient: whether a later request may succeed
    :param retry_after: the earliest time of the next request, in seconds from now, where the source says it
    """

    def __init__(
        self, message: str = "", *, transient: bool = False, retry_after: Optional[float] = None
    ) -> None:
        super().__init__(message)
        self.transient = transient
        self.retry_after = retry_after


class Retry(SourceError):
    """A source cannot answer now, and is to be asked again.

    :param after: the seconds until then; None leaves it to the library
    :param message: the cause
    """

    def __init__(self, after: Optional[float] = None, message: str = "temporarily unavailable") -> None:
        super().__init__(message, transient=True, retry_after=after)


class NotFoundAtSource(SourceError):
    """A source has no content for the place, no such section, or no such asset. What is stored stays.

    :param max_age: for how many seconds it is not asked again
    """

    def __init__(self, message: str = "there is no such content", *, max_age: Optional[int] = None) -> None:
        super().__init__(message)
        self.max_age = max_age
