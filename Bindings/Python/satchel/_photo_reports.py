"""What importing, scanning and synchronising photos did: small frozen records."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Callable, Dict, List, Optional

from satchel._dataclasses import dataclass
from satchel.errors import BY_STATUS, SatchelError
from satchel.values import record_from

__all__ = [
    "DirectoryExport",
    "DirectoryImport",
    "DuplicateFile",
    "FileRemark",
    "ImportReport",
    "RejectedRow",
    "ScanProgress",
    "ScanReport",
    "ShardFailure",
    "SyncProgress",
    "SyncReport",
    "VerifiedShard",
    "VerifyReport",
]


@dataclass(frozen=True)
class RejectedRow:
    """A line of a shard's file that is no photo of it; it is kept, and written back by every export.

    ``line`` counts from 1; ``raw`` is the line, with U+FFFD for what is not UTF-8. ``shard`` is None where
    the call named the shard. ``fault`` is a code for the reason, such as "columns" or "md5". Two are not
    kept: of a "duplicate" the later line counts, and one that is "replaced" stood in an imported file here
    when the master's shard came in its place.
    """

    line: int
    reason: str
    raw: str
    fault: str = ""
    shard: Optional[int] = None


@dataclass(frozen=True)
class ImportReport:
    """What importing a shard did: how many photos it has now, lines that are none, changes that lost."""

    photos: int
    rejected: List[RejectedRow]
    conflicts: int


@dataclass(frozen=True)
class ShardFailure:
    """A shard that failed; the others went on.

    ``code`` is that of the errors, such as "EBUSY". ``cause`` is what a function of
    :class:`satchel.remote.Callbacks` raised, if that is why.
    """

    shard: int
    code: str
    message: str
    cause: Optional[BaseException] = field(default=None, compare=False)


@dataclass(frozen=True)
class DirectoryImport:
    """What importing a directory did: how many photos its files have, lines that are none, changes that lost.

    ``changed`` are shards with other rows than before, ``missing`` those without a file, and ``failed`` those
    whose file could not be read, or is not the one that a manifest.json beside it names: both stay as they
    were. Where ``has_manifest`` is False, nothing shows whether the files are complete.
    """

    photos: int
    rejected: List[RejectedRow]
    conflicts: int
    changed: List[int]
    missing: List[int]
    has_manifest: bool
    failed: List[ShardFailure]


@dataclass(frozen=True)
class DirectoryExport:
    """What exporting to a directory did: names of files that were written, and that were the same."""

    photos: int
    written: List[str]
    unchanged: List[str]


@dataclass(frozen=True)
class ScanProgress:
    """How far a scan has come.

    ``phase`` is "walking", while it is not known how much there is to read, or "reading".
    """

    phase: str
    files_found: int
    files_done: int
    files_total: Optional[int]
    bytes_done: int
    bytes_total: Optional[int]


@dataclass(frozen=True)
class FileRemark:
    """A file or directory below the catalogue's directory, and why it was passed over or is odd."""

    path: str
    reason: str


@dataclass(frozen=True)
class DuplicateFile:
    """A file with the same bytes as another one, whose ``path`` is ``first``."""

    path: str
    first: str
    md5: str


@dataclass(frozen=True)
class ScanReport:
    """What a scan found.

    Each file is one of ``added``, ``changed``, ``unchanged``, ``duplicates`` (of one before it) or
    ``skipped_count``. ``missing`` counts files that are gone, ``removed`` the photos that were deleted for
    that. The lists name the first 1,000 of a kind, with paths below the directory: ``skipped`` was not
    taken, ``remarks`` could not be read as a whole. ``missing_libraries`` are not installed; without them
    sizes and camera data of new photos stay unknown.
    """

    added: int
    changed: int
    unchanged: int
    missing: int
    removed: int
    duplicates: int
    bytes_read: int
    skipped: List[FileRemark]
    skipped_count: int
    remarks: List[FileRemark]
    remarks_count: int
    duplicate_files: List[DuplicateFile]
    missing_files: List[str]
    missing_libraries: List[str]
    cancelled: bool


@dataclass(frozen=True)
class SyncProgress:
    """How far a synchronisation has come; ``phase`` is "plan", "shards" or "manifest"."""

    phase: str
    shards_done: int
    shards_total: int
    bytes_up: int
    bytes_down: int


@dataclass(frozen=True)
class SyncReport:
    """What a synchronisation did, or what it would do when it was a ``dry_run``.

    ``downloaded``, ``uploaded``, ``conflicts`` (changed on both sides) and ``repaired`` (damaged, or
    left behind by a writer that died) are numbers of shards; ``conflict_rows`` counts changes that lost,
    which ``photos.conflicts()`` lists. ``removed`` counts photos that were here, and that the master's
    shards do not have. ``failed`` shards stay pending. ``rejected`` are lines that are no photos:
    the master's, and those of imported files here that it replaced; and, with the fault "discarded", photos
    that only a damaged shard of the master had, which was replaced. ``unchanged``: nothing had changed
    anywhere.
    """

    downloaded: List[int]
    uploaded: List[int]
    conflicts: List[int]
    repaired: List[int]
    conflict_rows: int
    removed: int
    requests: int
    bytes_up: int
    bytes_down: int
    failed: List[ShardFailure]
    rejected: List[RejectedRow]
    unchanged: bool
    dry_run: bool

    @property
    def ok(self) -> bool:
        """Whether no shard failed."""
        return not self.failed


@dataclass(frozen=True)
class VerifiedShard:
    """What a shard in the remote is, compared with the manifest.

    ``state`` is "ok", "missing", "empty", "cut", "corrupt", "outdated" (an earlier version than the one last
    synced), "newer" (whole, and not yet in the manifest), "unproven" (neither in the manifest nor known to
    be whole) or "unreadable". ``repaired``: it is ok by now. ``message`` tells why it was not.
    """

    shard: int
    state: str
    repaired: bool
    message: Optional[str] = None

    @property
    def ok(self) -> bool:
        """Whether it is as the manifest says, by now."""
        return self.state == "ok" or self.repaired


@dataclass(frozen=True)
class VerifyReport:
    """What verifying found, shard by shard: all sixteen.

    ``ok``: the remote is sound by now. ``manifest`` is "ok", "missing" or "unreadable". ``removed`` counts
    photos that the repair removed here.
    """

    ok: bool
    manifest: str
    manifest_repaired: bool
    shards: List[VerifiedShard]
    removed: int
    requests: int
    bytes_up: int
    bytes_down: int

    @property
    def failed(self) -> List[VerifiedShard]:
        """The shards that are not ok."""
        return [each for each in self.shards if not each.ok]

    @property
    def repaired(self) -> List[int]:
        """The numbers of the shards that were repaired."""
        return [each.shard for each in self.shards if each.repaired]


def import_from(answer: Dict[str, Any]) -> ImportReport:
    """A report with its rejected rows."""
    return record_from(ImportReport, answer, rejected=_rows(answer))


def directory_export_from(answer: Dict[str, Any]) -> DirectoryExport:
    """What was written."""
    return record_from(DirectoryExport, answer)


def directory_import_from(answer: Dict[str, Any]) -> DirectoryImport:
    """A report with its rejected rows."""
    failed = [_failure(each) for each in answer["failed"]]
    return record_from(DirectoryImport, answer, failed=failed, rejected=_rows(answer))


def scan_from(answer: Dict[str, Any]) -> ScanReport:
    """A report with what it says of single files."""
    return record_from(
        ScanReport,
        answer,
        skipped=[record_from(FileRemark, each) for each in answer["skipped"]],
        remarks=[record_from(FileRemark, each) for each in answer["remarks"]],
        duplicate_files=[record_from(DuplicateFile, each) for each in answer["duplicate_files"]],
    )


def sync_from(
    answer: Dict[str, Any], cause_of: Callable[[int], Optional[BaseException]] = lambda shard: None
) -> SyncReport:
    """A report with its failures and rejected rows.

    :param cause_of: what was raised in the host's functions for a shard
    """
    failed = [_failure(each, cause_of(each["shard"])) for each in answer["failed"]]
    return record_from(SyncReport, answer, failed=failed, rejected=_rows(answer))


def verify_from(answer: Dict[str, Any]) -> VerifyReport:
    """A report with its shards."""
    return record_from(
        VerifyReport, answer, shards=[record_from(VerifiedShard, each) for each in answer["shards"]]
    )


def _failure(answer: Dict[str, Any], cause: Optional[BaseException] = None) -> ShardFailure:
    kind = BY_STATUS.get(answer["code"], SatchelError)
    return record_from(ShardFailure, answer, code=kind.code, cause=cause)


def _rows(answer: Dict[str, Any]) -> List[RejectedRow]:
    return [record_from(RejectedRow, each) for each in answer["rejected"]]
