"""Backups of a store, and what becomes of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Union

from satchel import _encoding
from satchel._dataclasses import dataclass
from satchel._handle import json_answer
from satchel._library import library
from satchel._long_work import LongWork, hearing
from satchel._photo_arguments import whole
from satchel.values import Finding, record_from

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = [
    "Backup",
    "BackupProgress",
    "RecoveredTable",
    "Recovery",
    "Restoration",
    "recover",
    "restore",
]

_Path = Union[str, os.PathLike[str]]


@dataclass(frozen=True)
class BackupProgress:
    """How far a backup has come, in pages of the file."""

    pages_done: int
    pages_total: int


@dataclass(frozen=True)
class Backup:
    """A backup that was made: its size in pages and in bytes, and the milliseconds that it took.

    ``removed`` are the paths of older ones that went for it.
    """

    path: str
    pages: int
    bytes: int
    milliseconds: int
    removed: List[str]


@dataclass(frozen=True)
class Restoration:
    """What restoring did: ``set_aside`` is where a store that was there is now, or None."""

    set_aside: Optional[str]


@dataclass(frozen=True)
class RecoveredTable:
    """A table of a damaged store: rows that were read, and what is known to be lost."""

    name: str
    rows: int
    lost_rows: int
    lost_pages: int


@dataclass(frozen=True)
class Recovery:
    """What was recovered, table by table; ``complete`` when nothing is missing.

    ``header_lost`` and ``schema_lost``: the file's first page, or the list of its tables, could not be read,
    and known ones were looked for. ``unknown_tables`` are none of Satchel's, and were left out. ``findings``:
    what is still not as it should be in the new store, a record that names one that is lost, for example.
    """

    path: str
    complete: bool
    header_lost: bool
    schema_lost: bool
    tables: List[RecoveredTable]
    unknown_tables: List[str]
    findings: List[Finding]


def restore(backup: _Path, path: _Path) -> Restoration:
    """Puts a backup in the place of a store. It is examined first, and stays.

    What was spilled beside the store stays, and is taken in at the next opening, on top of the backup.

    :param backup: the file of :meth:`satchel.Store.backup`
    :param path: the store; close it before. A store that is there is renamed, never deleted
    :returns: where to
    :raises NotFound, ForeignFile, Damaged, NewerStore: for the backup; nothing was changed
    :raises Busy: when the store is open, here or in another process
    :raises Full, ReadOnly, IOFailure, InvalidArgument: as their names say; nothing was changed
    """
    files = _encoding.file_path(backup, "backup")[1], _encoding.file_path(path, "path")[1]
    return record_from(Restoration, json_answer(library.satchel_restore, *files))


def recover(damaged: _Path, path: _Path) -> Recovery:
    """Reads what can be read of a damaged store into a new one; the damaged file is not changed.

    What else is missing may be in a mirror: ``records.mirror(path, prefer="file")``.

    :param damaged: the file; nobody may have it open
    :param path: the new store; must not exist
    :returns: what is in it, and what is known to be lost
    :raises InvalidArgument: when there is a file at ``path``
    :raises ForeignFile: when nothing of a store can be found
    :raises NotFound, NewerStore, Full, IOFailure: as their names say; there is no new store then
    """
    files = _encoding.file_path(damaged, "damaged")[1], _encoding.file_path(path, "path")[1]
    answer = json_answer(library.satchel_recover, *files)
    tables = [record_from(RecoveredTable, each) for each in answer["tables"]]
    findings = [record_from(Finding, each) for each in answer["findings"]]
    return record_from(Recovery, answer, tables=tables, findings=findings)


def back_up(store: Store, path: Any, progress: Optional[Callable[[BackupProgress], object]]) -> Backup:
    """See ``store.backup``."""
    _, file = _encoding.file_path(path, "path")
    pointer = store._pointer
    work = LongWork(store._owner, hearing(BackupProgress, progress))
    return _backup_from(
        work.run(
            lambda on_progress, context: json_answer(
                library.satchel_store_backup, pointer, file, on_progress, context
            )
        )
    )


def rotate(store: Store, directory: Any, keep: Any) -> Backup:
    """See ``store.backup_rotate``."""
    _, folder = _encoding.file_path(directory, "directory")
    number = whole(keep, "keep", 1, 2**31 - 1)
    return _backup_from(json_answer(library.satchel_store_backup_rotate, store._pointer, folder, number))


def _backup_from(answer: Dict[str, Any]) -> Backup:
    return record_from(Backup, answer, removed=answer.get("removed") or [])
