"""Errors: one class for each status of the library.

Each class derives from :class:`SatchelError` and from the built-in exception of the same meaning, so that
``except ValueError`` and ``except TimeoutError`` work without importing Satchel.
"""

from __future__ import annotations

import errno as _errno
from typing import TYPE_CHECKING, Dict, Optional, Type

if TYPE_CHECKING:
    from satchel.stories import StoryReport

__all__ = [
    "Busy",
    "Cancelled",
    "Closed",
    "Conflict",
    "ConstraintViolation",
    "Damaged",
    "ForeignFile",
    "Full",
    "IOFailure",
    "InternalError",
    "InvalidArgument",
    "LargeStringWarning",
    "NewerStore",
    "NotFound",
    "OutOfMemory",
    "QueryWarning",
    "ReadOnly",
    "SatchelError",
    "SchemaWarning",
    "TimedOut",
    "Unauthorized",
    "Unavailable",
    "UnsoundStory",
]


class SatchelError(Exception):
    """A call failed. ``str(error)`` names the cause, and where in the input it is.

    ``status`` is the number of the header's ``satchel_status``, ``code`` its name without the prefix,
    such as ``"EINVALID"``. An error raised by this class itself has a status that this version of the
    package does not know. The further attributes say where the error is, and are None where they do not
    apply: no program has to parse the message.
    """

    status: int = -1
    code: str = "E?"
    #: "catalogue", "photos", "stories", "records" or "state"
    subject: Optional[str] = None
    #: The collection of a record, the kind of a value of state, the section of a catalogue.
    collection: Optional[str] = None
    #: The id of a record, story or entity, the MD5 of a photo, the name of a value of state.
    id: Optional[str] = None
    #: JSON Pointer of the value, in the document or argument that the message names.
    pointer: Optional[str] = None
    #: Line in the text that the message names, counted from 1.
    line: Optional[int] = None
    #: Column in bytes, counted from 1.
    column: Optional[int] = None
    #: The id that is in the way: of the record that has the unique value, that refers to this one, or that
    #: does not exist.
    other_id: Optional[str] = None
    #: The collection of ``other_id``.
    other_collection: Optional[str] = None
    #: The value of the limit that was exceeded, in the unit of the message.
    limit: Optional[int] = None

    def __str__(self) -> str:
        # KeyError would show its argument's repr, OSError may show an errno: always show the message.
        return str(self.args[0]) if self.args else ""


class InvalidArgument(SatchelError, ValueError):
    """An argument is invalid; the message names the argument, and the path in it."""

    status = 1
    code = "EINVALID"


class UnsoundStory(InvalidArgument):
    """A story that was to be checked has errors; ``report`` has all findings."""

    def __init__(self, message: str = "", report: Optional[StoryReport] = None) -> None:
        super().__init__(message)
        self.report = report


class NotFound(SatchelError, KeyError):
    """A file, directory, photo, story or segment that the call names does not exist."""

    status = 2
    code = "ENOTFOUND"


class Busy(SatchelError, TimeoutError):
    """Another thread or process held the store for longer than ``busy_timeout``."""

    status = 3
    code = "EBUSY"
    errno = _errno.ETIMEDOUT


class Damaged(SatchelError, OSError):
    """The file is a SQLite database, but corrupt or truncated; or a part of a remote is lost."""

    status = 4
    code = "EDAMAGED"
    errno = _errno.EIO


class ForeignFile(SatchelError, ValueError):
    """The file is not a SQLite database, or not one that Satchel created. It is left unchanged.

    Also for a store or a catalogue that is synchronized with another remote or user.
    """

    status = 5
    code = "EFOREIGN"


class NewerStore(SatchelError, RuntimeError):
    """The file, or the remote, was written by a newer Satchel than this one."""

    status = 6
    code = "ENEWER"


class ReadOnly(SatchelError, PermissionError):
    """The store was opened read-only, or the file cannot be written."""

    status = 7
    code = "EREADONLY"
    errno = _errno.EROFS


class Full(SatchelError, OSError):
    """The disk, or the quota, is full. Nothing was changed."""

    status = 8
    code = "EFULL"
    errno = _errno.ENOSPC


class IOFailure(SatchelError, OSError):
    """A read or write of the operating system failed."""

    status = 9
    code = "EIO"
    errno = _errno.EIO


class Closed(SatchelError, ValueError):
    """The store, or an object made by it, was closed. A ValueError, as for Python's own files."""

    status = 10
    code = "ECLOSED"


class Cancelled(SatchelError):
    """The call was cancelled, by its progress callback or by an :class:`satchel.Interrupt`."""

    status = 11
    code = "ECANCELLED"


class OutOfMemory(SatchelError, MemoryError):
    """Not enough memory."""

    status = 12
    code = "ENOMEMORY"


class InternalError(SatchelError, RuntimeError):
    """A bug in the library; please report it."""

    status = 13
    code = "EINTERNAL"


class Conflict(SatchelError, RuntimeError):
    """A compare-and-set failed: the record does not have the expected revision. Nothing was changed."""

    status = 14
    code = "ECONFLICT"


class ConstraintViolation(SatchelError, ValueError):
    """A unique index, a relation or a schema forbids the change. Nothing was changed."""

    status = 15
    code = "ECONSTRAINT"


class Unauthorized(SatchelError, PermissionError):
    """The remote rejects the credentials, or they lack a permission; or an encryption key is not set.

    It is raised as well for an encryption key that is not the one of the store, or of its sync log.
    """

    status = 16
    code = "EAUTH"
    errno = _errno.EACCES


class Unavailable(SatchelError, ConnectionError):
    """The remote cannot be reached, or every retry failed."""

    status = 17
    code = "EUNAVAILABLE"
    errno = _errno.EHOSTUNREACH


class TimedOut(SatchelError, TimeoutError):
    """A read took longer than its time limit: ``query_timeout`` of the store, or ``store.timeout()``."""

    status = 18
    code = "ETIMEDOUT"
    errno = _errno.ETIMEDOUT


class SchemaWarning(UserWarning):
    """A part of a declaration has no effect, and is probably misspelled.

    It is a keyword that JSON Schema does not define, or the step of a migration that found no value.
    """


class QueryWarning(UserWarning):
    """A query has looked at all records of a collection, and none has one of its paths.

    The path is probably misspelled; the warning has the one that was probably meant.
    """


class LargeStringWarning(UserWarning):
    """A document was written that has a string of more than 1 MiB, which should be an asset.

    Such a string makes every query, sync and backup slow; ``store.assets.put`` stores and sends it once.
    """


BY_STATUS: Dict[int, Type[SatchelError]] = {kind.status: kind for kind in SatchelError.__subclasses__()}


def code_of(status: int) -> str:
    """The code of a status, as in :attr:`SatchelError.code`."""
    return BY_STATUS.get(status, SatchelError).code


def error_for(status: int, name: str, message: str) -> SatchelError:
    """The error for a status of the library.

    :param status: a number that is not 0
    :param name: the library's name of the status, such as ``"SATCHEL_EBUSY"``
    :param message: the message of the library
    """
    kind = BY_STATUS.get(status)
    if kind is not None:
        return kind(message)
    error = SatchelError(message)
    error.status = status
    error.code = name.replace("SATCHEL_", "", 1)
    return error
