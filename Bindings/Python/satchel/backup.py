"""Backups of a store, restoring and recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from satchel import _encoding
from satchel._encoding import FilePath
from satchel._library import json_answer, library
from satchel._long_work import LongWork, progress_callback
from satchel.values import Finding, dataclass, record_from, records_from

if TYPE_CHECKING:
    from satchel._handles import Owner

__all__ = [
    "Backup",
    "BackupProgress",
    "Compaction",
    "RecoveredTable",
    "Recovery",
    "Restoration",
    "recover",
    "restore",
]


@dataclass(frozen=True)
class BackupProgress:
    """The progress of a backup: ``pages_done`` of ``pages_total`` pages of the file; or of compacting it."""

    pages_done: int
    pages_total: int


@dataclass(frozen=True)
class Backup:
    """A backup: its ``path``, its size in ``pages`` and ``bytes``, its duration in ``milliseconds``.

    ``assets`` files of assets are in the folder ``path``.assets next to it, and ``missing_assets`` are lost
    in the store. ``removed`` are the paths of older backups that the rotation deleted.
    """

    path: str
    pages: int
    bytes: int
    milliseconds: int
    assets: int
    missing_assets: int
    removed: List[str]


@dataclass(frozen=True)
class Compaction:
    """The result of ``store.compact``: the file became smaller by ``bytes``, to ``file_bytes``.

    ``free_pages`` are unused, because others wrote meanwhile.
    """

    bytes: int
    file_bytes: int
    free_pages: int


@dataclass(frozen=True)
class Restoration:
    """The result of :func:`restore`: ``quarantined`` is the new path of the replaced store, or None."""

    quarantined: Optional[str]


@dataclass(frozen=True)
class RecoveredTable:
    """A table of a damaged store, by its ``name``.

    ``rows`` were recovered; ``lost_rows`` and ``lost_pages`` are known to be lost.
    """

    name: str
    rows: int
    lost_rows: int
    lost_pages: int


@dataclass(frozen=True)
class Recovery:
    """The result of :func:`recover`: ``path`` is the new store, ``tables`` what was recovered of each table.

    ``complete``: nothing is missing. ``header_lost`` and ``schema_lost``: the first page, or sqlite_schema,
    is unreadable, and tables were identified from their page layout. ``unknown_tables`` are not Satchel's,
    and were left out. ``findings``: inconsistencies of the new store, such as a record that refers to a lost
    one.
    """

    path: str
    complete: bool
    header_lost: bool
    schema_lost: bool
    tables: List[RecoveredTable]
    unknown_tables: List[str]
    findings: List[Finding]


def restore(backup: FilePath, path: FilePath) -> Restoration:
    """Replaces a store by a copy of a backup, which is checked first.

    Spooled writes in the outbox file are kept; the next opening applies them to the restored store.

    :param backup: the file of :meth:`satchel.Store.backup`
    :param path: the store, which must be closed. An existing file is renamed, never deleted
    :returns: the new path of the replaced store
    :raises NotFound, ForeignFile, Damaged, NewerStore: for the backup; nothing was changed
    :raises Busy: when the store is open, here or in another process
    :raises Full, ReadOnly, IOFailure, InvalidArgument: see their classes; nothing was changed
    """
    files = _encoding.file_path(backup, "backup")[1], _encoding.file_path(path, "path")[1]
    return record_from(Restoration, json_answer(library.satchel_store_restore, *files))


def recover(damaged: FilePath, path: FilePath) -> Recovery:
    """Copies the readable part of a damaged store into a new one; the damaged file is not changed.

    Records that are lost may still be in a mirror: ``records.mirror(path, prefer="file")``.

    :param damaged: the file, which must not be open anywhere
    :param path: the new store; must not exist
    :returns: the recovered tables, and the known losses
    :raises InvalidArgument: when ``path`` exists
    :raises ForeignFile: when the file has no part of a store
    :raises NotFound, NewerStore, Full, IOFailure: see their classes; no new store is left
    """
    files = _encoding.file_path(damaged, "damaged")[1], _encoding.file_path(path, "path")[1]
    answer = json_answer(library.satchel_store_recover, *files)
    return record_from(
        Recovery,
        answer,
        tables=records_from(RecoveredTable, answer["tables"]),
        findings=records_from(Finding, answer["findings"]),
    )


def back_up(
    store: Owner, path: Any, progress: Optional[Callable[[BackupProgress], object]], assets: bool
) -> Backup:
    """See ``store.backup``."""
    _, file = _encoding.file_path(path, "path")
    pointer = store._pointer
    work = LongWork(store._owner, progress_callback(BackupProgress, progress))
    return _backup_from(
        work.run(
            lambda on_progress, context: json_answer(
                library.satchel_store_backup, pointer, file, bool(assets), on_progress, context
            )
        )
    )


def compact(store: Owner, progress: Optional[Callable[[BackupProgress], object]]) -> Compaction:
    """See ``store.compact``."""
    pointer = store._pointer
    work = LongWork(store._owner, progress_callback(BackupProgress, progress))
    answer = work.run(
        lambda on_progress, context: json_answer(library.satchel_store_compact, pointer, on_progress, context)
    )
    return record_from(Compaction, answer)


def rotate(store: Owner, directory: Any, keep: Any, assets: bool) -> Backup:
    """See ``store.backup_rotate``."""
    _, folder = _encoding.file_path(directory, "directory")
    number = _encoding.whole(keep, "keep", 1, 2**31 - 1)
    return _backup_from(
        json_answer(library.satchel_store_backup_rotate, store._pointer, folder, number, bool(assets))
    )


def _backup_from(answer: Dict[str, Any]) -> Backup:
    return record_from(Backup, answer, removed=answer.get("removed") or [])
