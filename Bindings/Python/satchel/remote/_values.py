"""Results and exceptions of the functions of an object store; :mod:`satchel.remote` exports them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Optional, Union

from satchel.values import dataclass

__all__ = [
    "NOT_MODIFIED",
    "AccessDenied",
    "Credentials",
    "NotModified",
    "PreconditionFailed",
    "Probe",
    "RemoteEntry",
    "RemoteError",
    "RemoteHead",
    "RemoteObject",
    "RemotePage",
    "RemoteRange",
    "SyncProgress",
    "TransientError",
    "UnknownOutcome",
]


class RemoteError(Exception):
    """The base of the exceptions with which the functions of :class:`Callbacks` report an outcome."""


class PreconditionFailed(RemoteError):
    """The condition does not hold: another writer was first. Nothing was changed."""


class TransientError(RemoteError):
    """Nothing was changed, and a retry may succeed: the library retries with backoff."""


class UnknownOutcome(RemoteError):
    """A write may have taken effect or not: the library reads the object before it retries."""


class AccessDenied(RemoteError):
    """Credentials or permissions are missing; the request is not retried."""


class NotModified:
    """The type of :data:`NOT_MODIFIED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "satchel.remote.NOT_MODIFIED"


#: Returned by ``get`` when the object still has the etag ``if_none_match``.
NOT_MODIFIED = NotModified()


@dataclass(frozen=True)
class RemoteObject:
    """An object: its bytes ``body``, its ``etag``, and the ``metadata`` of its ``put``.

    The etag is a string that changes whenever the bytes do.
    """

    body: Union[bytes, bytearray, memoryview] = field(repr=False)
    etag: str
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RemoteHead:
    """An object without its bytes: its ``size``, its ``etag``, and the ``metadata`` of its ``put``."""

    size: int
    etag: str
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RemoteEntry:
    """An object in a listing: its ``key``, its ``size`` in bytes and, where it is known, its ``etag``."""

    key: str
    size: int
    etag: Optional[str] = None


@dataclass(frozen=True)
class RemotePage:
    """A page of a listing, with its ``entries``; ``has_more`` when more keys follow the last one."""

    entries: Sequence[RemoteEntry]
    has_more: bool = False


@dataclass(frozen=True)
class RemoteRange:
    """A range of an object: its ``body``, and the ``size`` in bytes and ``etag`` of the whole object."""

    body: bytes
    size: int
    etag: str


@dataclass(frozen=True)
class Credentials:
    """The credentials that a function gives to :class:`S3`.

    ``access_key`` is the id of the key, ``secret_key`` its secret, ``session_token`` the token of temporary
    credentials, and ``expires`` the time at which the store stops accepting them, in milliseconds since 1970.
    """

    access_key: str
    secret_key: str = field(repr=False)
    session_token: Optional[str] = field(default=None, repr=False)
    expires: Optional[int] = None


@dataclass(frozen=True)
class Probe:
    """The abilities of an object store with the credentials at hand; None for those that cannot be measured.

    Whether conditional writes are ``supported``, and if not, the ``reason``: what the object store did.
    Whether the credentials may ``list`` and ``delete``. Whether the store keeps the ``metadata`` of objects,
    sends ``ranges`` of an object alone, has uploads in ``parts``, which files above 64 MiB need, and refuses
    a write without a checksum (``checksum_required``, with Object Lock; the library sends one always).
    ``clock_offset``: its clock less this device's, in milliseconds, by which requests are corrected.
    """

    supported: bool
    reason: Optional[str]
    list: bool
    delete: bool
    metadata: bool
    ranges: Optional[bool]
    parts: Optional[bool]
    checksum_required: Optional[bool]
    clock_offset: Optional[int]

    def __bool__(self) -> bool:
        return self.supported


@dataclass(frozen=True)
class SyncProgress:
    """The progress of a synchronization, or of ``photos.verify``.

    ``phase`` is "download", "apply" or "upload" of records and state, "plan", "shards" or "manifest" of
    photos, and "files" of their backups. ``done`` of ``total`` objects were downloaded, or shards or files
    transferred; of an upload, ``done`` is
    the number of changes. ``total`` is 0 while it is not known. ``bytes_up`` and ``bytes_down`` bytes of
    bodies were transferred so far.
    """

    phase: str
    done: int
    total: int
    bytes_up: int
    bytes_down: int
