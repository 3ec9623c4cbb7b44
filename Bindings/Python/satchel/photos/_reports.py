"""Results of importing, scanning and synchronizing photos: frozen dataclasses."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Callable, Dict, List, Optional

from satchel.errors import code_of
from satchel.remote._host import Failures
from satchel.values import dataclass, record_from, records_from

__all__ = [
    "DirectoryExport",
    "DirectoryImport",
    "DuplicateFile",
    "FileRemark",
    "FormatCount",
    "ImportReport",
    "RejectedRow",
    "ScanProgress",
    "ScanReport",
    "ShardFailure",
    "SyncReport",
    "VerifiedShard",
    "VerifyReport",
]


@dataclass(frozen=True)
class RejectedRow:
    """A line of a shard's file that is not a photo; it is kept, and every export writes it again.

    ``line`` counts from 1; ``raw`` is the line, with U+FFFD for invalid UTF-8. ``shard`` is None where the
    call named the shard. ``fault`` is a code, such as "columns" or "md5", and ``reason`` its description. Two
    kinds are not kept: of a "duplicate" the later line is used, and a "replaced" line was in a locally
    imported file when the remote shard replaced it.
    """

    line: int
    reason: str
    raw: str
    fault: str = ""
    shard: Optional[int] = None


@dataclass(frozen=True)
class ImportReport:
    """The result of importing a shard.

    ``photos`` counts those in the file, ``conflicts`` local changes that lost and went to the conflict log;
    ``rejected`` are the lines that are not photos.
    """

    photos: int
    rejected: List[RejectedRow]
    conflicts: int


@dataclass(frozen=True)
class ShardFailure:
    """A ``shard`` that failed; the others were synchronized.

    ``code`` is that of the errors, such as "EUNAVAILABLE", ``message`` the description. ``cause`` is the
    exception of a function of
    :class:`satchel.remote.Callbacks`, if that is the reason.
    """

    shard: int
    code: str
    message: str
    cause: Optional[BaseException] = field(default=None, compare=False)


@dataclass(frozen=True)
class DirectoryImport:
    """The result of importing a directory.

    ``photos`` counts those in the files, ``conflicts`` local changes that lost and went to the conflict log;
    ``rejected`` are the lines that are not photos. ``changed`` are shards whose rows changed, ``missing``
    those without a file, and ``failed`` those whose file could not be read, or differs from its entry in a
    manifest.json in the same directory: both stay unchanged. Without a manifest (``has_manifest``) truncated
    files cannot be detected.
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
    """The result of exporting ``photos`` to a directory.

    ``written`` are the names of files that were written, ``unchanged`` of those that were identical already.
    """

    photos: int
    written: List[str]
    unchanged: List[str]


@dataclass(frozen=True)
class ScanProgress:
    """The progress of a scan.

    ``phase`` is "walking", while the totals are not known yet, or "reading". ``files_found`` counts the files
    below the directory; ``files_done`` of ``files_total`` files and ``bytes_done`` of ``bytes_total`` bytes
    were read. The totals are None while walking.
    """

    phase: str
    files_found: int
    files_done: int
    files_total: Optional[int]
    bytes_done: int
    bytes_total: Optional[int]


@dataclass(frozen=True)
class FileRemark:
    """A file or directory that was skipped or only partly read, and the ``reason``.

    ``path`` is relative to the catalogue's directory.
    """

    path: str
    reason: str


@dataclass(frozen=True)
class DuplicateFile:
    """A file at ``path`` with the same bytes as the one at ``first``; ``md5`` is that of both.

    The paths are relative to the catalogue's directory.
    """

    path: str
    first: str
    md5: str


@dataclass(frozen=True)
class FormatCount:
    """The number of ``files`` of a format that a scan has read.

    ``dated`` of them have a date in them, and of ``sized`` the size in pixels is known.
    """

    files: int
    dated: int
    sized: int


@dataclass(frozen=True)
class ScanReport:
    """The result of a scan.

    Each photo's file is counted in one of ``added``, ``changed``, ``unchanged``, ``returned`` (its row had
    gone), ``hidden`` (its photo was deleted on this device), ``duplicates_count`` (of one before it) or
    ``skipped_count``, of which ``skipped_links_count`` are links. ``films`` and ``sidecars`` count the files
    beside photos, ``others`` by their extensions those that no scan reads, ``excluded`` what was left out.
    ``missing_count`` counts photos
    whose files are gone, ``removed`` those that were deleted for that, ``bytes_read`` bytes of files,
    ``remarks_count`` photos that could only be read in part. The lists ``duplicates``, ``missing``,
    ``skipped`` and ``remarks`` name the first 1,000 of a kind, with paths relative to the directory.
    ``date_sources`` counts the files that were read by where their dates are from: see
    ``Photo.photodate_source``. ``formats`` counts them by format: ``files``, those ``dated`` by a date in
    them, and those ``sized``, whose size in pixels is known; formats of which nothing is read are under the
    suffix of their names. ``missing_libraries`` are not installed; without expat dates in XMP stay unknown.
    ``cancelled``: the progress callback ended the scan.
    """

    added: int
    changed: int
    unchanged: int
    returned: int
    hidden: int
    films: int
    sidecars: int
    others: Dict[str, int]
    excluded: int
    missing: List[str]
    missing_count: int
    removed: int
    duplicates: List[DuplicateFile]
    duplicates_count: int
    bytes_read: int
    skipped: List[FileRemark]
    skipped_count: int
    skipped_links_count: int
    remarks: List[FileRemark]
    remarks_count: int
    date_sources: Dict[str, int]
    formats: Dict[str, FormatCount]
    missing_libraries: List[str]
    cancelled: bool


@dataclass(frozen=True)
class SyncReport:
    """The result of a synchronization, or of a ``dry_run``.

    ``downloaded``, ``uploaded``, ``conflicts`` (changed on both sides) and ``repaired`` (damaged, or left
    over from an interrupted upload) are shard numbers; ``conflict_rows`` counts changes that lost, which
    ``photos.conflicts()`` lists. ``requests`` counts requests to the object store with retries, ``bytes_up``
    and ``bytes_down`` bytes of transferred objects, ``removed`` local photos that the remote shards do not
    have. ``failed`` shards stay pending. ``rejected`` are lines that are not photos: those of the remote, and
    those of locally imported files that the remote replaced; and, with the fault "discarded", photos that
    only a damaged remote shard had, which was replaced. ``unchanged``: nothing had changed on either side.
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
    """The state of a shard in the remote, compared with the manifest; ``shard`` is 0 to 15.

    ``state`` is "ok", "missing", "empty", "cut", "corrupt", "outdated" (an earlier version than the one last
    synced), "newer" (whole, and not yet in the manifest), "unproven" (neither in the manifest nor known to
    be whole) or "unreadable". ``repaired``: it is ok now. ``message`` is the reason why it was not.
    """

    shard: int
    state: str
    repaired: bool
    message: Optional[str] = None

    @property
    def ok(self) -> bool:
        """Whether it matches the manifest now."""
        return self.state == "ok" or self.repaired


@dataclass(frozen=True)
class VerifyReport:
    """The result of verifying, for each of the sixteen shards.

    ``ok``: the remote is sound now. ``manifest`` is "ok", "missing" or "unreadable"; ``manifest_repaired``:
    it was corrected. ``shards`` has what was found in each. ``foreign`` has the keys of objects of the user
    that are neither manifest nor shard, such as the conflict copies of a program that synchronizes a folder:
    their rows may be nowhere else. ``removed`` counts photos that the repair removed locally, ``requests``
    requests to the object store with retries, ``bytes_up`` and ``bytes_down`` bytes of transferred objects.
    """

    ok: bool
    manifest: str
    manifest_repaired: bool
    shards: List[VerifiedShard]
    foreign: List[str]
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
    return record_from(ImportReport, answer, rejected=records_from(RejectedRow, answer["rejected"]))


def directory_import_from(answer: Dict[str, Any]) -> DirectoryImport:
    """A report with its rejected rows."""
    failed = [_failure(each) for each in answer["failed"]]
    rejected = records_from(RejectedRow, answer["rejected"])
    return record_from(DirectoryImport, answer, failed=failed, rejected=rejected)


def scan_from(answer: Dict[str, Any]) -> ScanReport:
    """A report with its files."""
    return record_from(
        ScanReport,
        answer,
        skipped=records_from(FileRemark, answer["skipped"]),
        remarks=records_from(FileRemark, answer["remarks"]),
        duplicates=records_from(DuplicateFile, answer["duplicates"]),
        formats={name: record_from(FormatCount, count) for name, count in answer["formats"].items()},
    )


def sync_from(answer: Dict[str, Any], cause_of: Callable[[int], Optional[BaseException]]) -> SyncReport:
    """A report with its failures and rejected rows.

    :param cause_of: returns the exception that a function of the host raised for a shard
    """
    failed = [_failure(each, cause_of(each["shard"])) for each in answer["failed"]]
    rejected = records_from(RejectedRow, answer["rejected"])
    return record_from(SyncReport, answer, failed=failed, rejected=rejected)


def causes_of(failures: Failures) -> Callable[[int], Optional[BaseException]]:
    """Returns the exception that a function of the host raised for a shard."""
    return lambda shard: failures.under(f"/shards/{shard:x}.csv") or failures.under("/manifest.json")


def verify_from(answer: Dict[str, Any]) -> VerifyReport:
    """A report with its shards."""
    return record_from(VerifyReport, answer, shards=records_from(VerifiedShard, answer["shards"]))


def _failure(answer: Dict[str, Any], cause: Optional[BaseException] = None) -> ShardFailure:
    return record_from(ShardFailure, answer, code=code_of(answer["code"]), cause=cause)
