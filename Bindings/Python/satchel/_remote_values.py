"""What passes between the library and an object store that the host supplies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Optional, Union

from satchel._dataclasses import dataclass

__all__ = [
    "NOT_MODIFIED",
    "AccessDenied",
    "NotModified",
    "PreconditionFailed",
    "Probe",
    "RemoteEntry",
    "RemoteError",
    "RemoteHead",
    "RemoteObject",
    "RemotePage",
    "TransientError",
    "UnknownOutcome",
]


class RemoteError(Exception):
    """What the functions of :class:`Callbacks` raise to say what became of a request."""


class PreconditionFailed(RemoteError):
    """The object is not as the condition wants it: somebody else was there first. Nothing was changed."""


class TransientError(RemoteError):
    """Nothing was changed, and trying again may help: the library does, with growing pauses."""


class UnknownOutcome(RemoteError):
    """A write may have taken effect or not: the library reads back before it tries again."""


class AccessDenied(RemoteError):
    """Credentials or permissions are wanting; trying again does not help."""


class NotModified:
    """The kind of :data:`NOT_MODIFIED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "satchel.remote.NOT_MODIFIED"


#: What ``get`` returns when the object still has the tag ``if_none_match``.
NOT_MODIFIED = NotModified()


@dataclass(frozen=True)
class RemoteObject:
    """An object: its bytes, its tag (which differs whenever they do), and what ``put`` was given with it."""

    body: Union[bytes, bytearray, memoryview] = field(repr=False)
    etag: str
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RemoteHead:
    """An object without its bytes."""

    size: int
    etag: str
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RemoteEntry:
    """An object in a listing."""

    key: str
    size: int
    etag: Optional[str] = None


@dataclass(frozen=True)
class RemotePage:
    """A page of a listing; ``has_more`` when keys behind the last one follow."""

    entries: Sequence[RemoteEntry]
    has_more: bool = False


@dataclass(frozen=True)
class Probe:
    """Whether a store honours conditions on writes, and if not, what it did."""

    honoured: bool
    reason: Optional[str]

    def __bool__(self) -> bool:
        return self.honoured
