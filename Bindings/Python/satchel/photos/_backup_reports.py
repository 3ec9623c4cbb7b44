"""Results of backing up and restoring the files of photos: frozen dataclasses."""

from __future__ import annotations

from typing import List, Optional

from satchel.values import dataclass

__all__ = [
    "PhotoBackupFailure",
    "PhotoBackupReport",
    "PhotoRefreshReport",
    "PhotoRestoreAllReport",
    "PhotoRestoreFailure",
    "PhotoRestoreReport",
]


@dataclass(frozen=True)
class PhotoBackupFailure:
    """A file that could not be uploaded; ``message`` is the reason.

    ``md5`` and ``filename`` are those of its photo; for a film or a sidecar ``md5`` is None, and ``filename``
    its path.
    """

    md5: Optional[str]
    filename: str
    message: str


@dataclass(frozen=True)
class PhotoBackupReport:
    """The result of ``photos.backup.run``.

    ``uploaded`` counts files that were sent, ``found`` those that the remote had already, ``queued`` photos
    that are still queued, of which ``elsewhere`` have their files on other devices. ``failed`` are the first
    1,000 files that could not be uploaded, and ``failed_count`` counts all. ``requests`` counts requests to
    the object store with retries, ``bytes_up`` and ``bytes_down`` bytes of bodies. ``cancelled``: the
    progress callback ended the run.
    """

    uploaded: int
    found: int
    failed: List[PhotoBackupFailure]
    failed_count: int
    queued: int
    elsewhere: int
    requests: int
    bytes_up: int
    bytes_down: int
    cancelled: bool

    @property
    def ok(self) -> bool:
        """Whether no file failed."""
        return not self.failed


@dataclass(frozen=True)
class PhotoRestoreReport:
    """The result of ``photos.backup.restore``.

    ``size`` is that of the file in bytes, ``unchanged``: it was there already. ``requests`` counts requests
    to the object store with retries, ``bytes_down`` bytes of bodies.
    """

    size: int
    unchanged: bool
    requests: int
    bytes_down: int


@dataclass(frozen=True)
class PhotoRestoreFailure:
    """A file at ``path`` that could not be written; ``message`` is the reason."""

    path: str
    message: str


@dataclass(frozen=True)
class PhotoRestoreAllReport:
    """The result of ``photos.backup.restore_all``.

    ``restored`` counts files that were written, of which ``renamed`` got another name, because a file with
    other bytes had theirs; ``unchanged`` those that were there already; ``absent`` those that an index names,
    and that were never backed up. ``failed`` are the first 1,000 files that could not be written, and
    ``failed_count`` counts all. ``requests`` counts requests to the object store with retries,
    ``bytes_down`` bytes of bodies. ``cancelled``: the progress callback ended the work.
    """

    restored: int
    unchanged: int
    renamed: int
    failed: List[PhotoRestoreFailure]
    failed_count: int
    absent: int
    requests: int
    bytes_down: int
    cancelled: bool

    @property
    def ok(self) -> bool:
        """Whether no file failed."""
        return not self.failed


@dataclass(frozen=True)
class PhotoRefreshReport:
    """The result of ``photos.backup.refresh`` and ``verify``.

    ``photos`` counts those whose file is in the remote, ``starred`` those that got their star now.
    ``unknown`` are the names of objects that are no files of the catalogue's photos and that no device's
    index names, ``damaged`` the MD5s of photos whose object has another size, or other bytes where these were
    read, ``missing`` those of uploaded photos that the remote does not have: the first 1,000 of each, while
    ``unknown_count``, ``damaged_count`` and ``missing_count`` include all. ``uploads`` are the names of
    objects whose upload in parts was begun more than a week ago, and not completed, of which ``aborted`` were
    aborted now. ``queued`` counts photos that were queued again, ``requests`` requests to the object store
    with retries, ``bytes_down`` bytes of bodies.
    """

    photos: int
    starred: int
    unknown: List[str]
    unknown_count: int
    uploads: List[str]
    aborted: int
    damaged: List[str]
    damaged_count: int
    missing: List[str]
    missing_count: int
    queued: int
    requests: int
    bytes_down: int

    @property
    def ok(self) -> bool:
        """Whether nothing is missing or damaged."""
        return self.missing_count == self.damaged_count == 0
