"""What can go wrong: one class for each status of the library.

Each class is a :class:`SatchelError` and also the built-in exception that it means, so that
``except ValueError`` and ``except TimeoutError`` work for those who know nothing of Satchel.
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
    "Damaged",
    "ForeignFile",
    "Full",
    "IOFailure",
    "InternalError",
    "InvalidArgument",
    "NewerStore",
    "NotFound",
    "OutOfMemory",
    "ReadOnly",
    "SatchelError",
    "UnsoundStory",
]


class SatchelError(Exception):
    """A call failed. ``str(error)`` says what, and where in the input.

    ``status`` is the number of the header's ``satchel_status``, ``code`` its name without the prefix,
    such as ``"EINVALID"``. An error raised by this class itself has a status that this version of the
    package does not know.
    """

    status: int = -1
    code: str = "E?"

    def __str__(self) -> str:
        # KeyError would show its argument's repr, OSError may show an errno: say the message, always.
        return str(self.args[0]) if self.args else ""


class InvalidArgument(SatchelError, ValueError):
    """An argument is not what the call takes; the message names the place."""

    status = 1
    code = "EINVALID"


class UnsoundStory(InvalidArgument):
    """A story that was to be checked has errors; ``report`` has all findings."""

    def __init__(self, message: str = "", report: Optional[StoryReport] = None) -> None:
        super().__init__(message)
        self.report = report


class NotFound(SatchelError, KeyError):
    """There is no such thing as the call names: a file, a directory, a story, a segment."""

    status = 2
    code = "ENOTFOUND"


class Busy(SatchelError, TimeoutError):
    """Another thread or process held the store for longer than ``busy_timeout``."""

    status = 3
    code = "EBUSY"
    errno = _errno.ETIMEDOUT


class Damaged(SatchelError, OSError):
    """The file is a SQLite database, but damaged or cut short."""

    status = 4
    code = "EDAMAGED"
    errno = _errno.EIO


class ForeignFile(SatchelError, ValueError):
    """The file is no SQLite database, or one that Satchel did not make. It is left as it is."""

    status = 5
    code = "EFOREIGN"


class NewerStore(SatchelError, RuntimeError):
    """The file was written by a newer Satchel than this one."""

    status = 6
    code = "ENEWER"


class ReadOnly(SatchelError, PermissionError):
    """The store was opened to read only, or the file cannot be written."""

    status = 7
    code = "EREADONLY"
    errno = _errno.EROFS


class Full(SatchelError, OSError):
    """The disk, or the quota, is full. Nothing was changed."""

    status = 8
    code = "EFULL"
    errno = _errno.ENOSPC


class IOFailure(SatchelError, OSError):
    """The operating system failed to read or write."""

    status = 9
    code = "EIO"
    errno = _errno.EIO


class Closed(SatchelError, ValueError):
    """The store, or what it handed out, was closed (Python's own files raise ValueError there too)."""

    status = 10
    code = "ECLOSED"


class Cancelled(SatchelError):
    """The host asked for the work to be stopped."""

    status = 11
    code = "ECANCELLED"


class OutOfMemory(SatchelError, MemoryError):
    """Not enough memory."""

    status = 12
    code = "ENOMEMORY"


class InternalError(SatchelError, RuntimeError):
    """A fault of the library itself; please report it."""

    status = 13
    code = "EINTERNAL"


BY_STATUS: Dict[int, Type[SatchelError]] = {kind.status: kind for kind in SatchelError.__subclasses__()}


def error_for(status: int, name: str, message: str) -> SatchelError:
    """The error for a status of the library.

    :param status: a number that is not 0
    :param name: the library's name of the status, such as ``"SATCHEL_EBUSY"``
    :param message: what the library said
    """
    kind = BY_STATUS.get(status)
    if kind is not None:
        return kind(message)
    error = SatchelError(message)
    error.status = status
    error.code = name.replace("SATCHEL_", "", 1)
    return error
