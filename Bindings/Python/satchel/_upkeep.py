"""The upkeep of a store: flushes, backups, space, and facts about the file."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from satchel._blocks import StoreBlocks
from satchel._encoding import FilePath
from satchel._library import json_answer, library, scalar_answer
from satchel.values import ClockCorrection, Finding, StoreInfo, record_from, records_from

# A program waits for its imports before its first screen.
if TYPE_CHECKING:
    from satchel.backup import Backup, BackupProgress, Compaction

__all__ = ["StoreUpkeep"]


class StoreUpkeep(StoreBlocks):
    """The part of :class:`satchel.Store` that looks after the file."""

    def flush(self) -> bool:
        """Writes deferred puts, changes of state, and mirrors, and drains the outbox.

        What was changed before survives a kill of the process afterwards, and mirrors have all commits. All
        parts are tried; what cannot be written stays in memory, and is tried again.

        :returns: True when all is in the store; False when changes were spooled, because the store cannot be
            written
        :raises InvalidArgument: in a batch; for a mirror that another program has changed (the message names
            the differences), or that cannot hold a record
        :raises Full, ReadOnly, IOFailure, Damaged, Busy: when neither the store nor the outbox file, or a
            mirror, can be written
        """
        return not scalar_answer(ctypes.c_bool, library.satchel_store_flush, self._pointer)

    def backup(
        self,
        path: FilePath,
        progress: Optional[Callable[[BackupProgress], object]] = None,
        *,
        assets: bool = True,
    ) -> Backup:
        """Copies the store into another file, while other calls read and write.

        :param path: the new file, which replaces an existing one after the copy was checked
        :param progress: receives a :class:`satchel.backup.BackupProgress`, on this thread; returning False
            cancels. An exception in it cancels too, and is raised here
        :param assets: whether the files of assets are copied into the folder ``path``.assets, as clones or
            hard links where the file system has these; small assets are in the file in any case
        :raises InvalidArgument: for the store's own path, and in a batch
        :raises ForeignFile, Busy: when ``path`` is a file of another program, or an open store; it is kept
        :raises Cancelled, NotFound, ReadOnly, Full, IOFailure, Damaged: see their classes; no file is left
        """
        from satchel.backup import back_up

        return back_up(self, path, progress, assets)

    def backup_rotate(self, directory: FilePath, keep: int, *, assets: bool = True) -> Backup:
        """Makes a backup in a directory, named by store and time, and removes the oldest of these backups.

        :param directory: the directory of the backups; must exist
        :param keep: how many to keep, 1 or more
        :param assets: as for :meth:`backup`
        :raises NotFound: when the directory does not exist; otherwise as :meth:`backup`
        """
        from satchel.backup import rotate

        return rotate(self, directory, keep, assets)

    def compact(self, progress: Optional[Callable[[BackupProgress], object]] = None) -> Compaction:
        """Returns the unused pages of the file to the file system, in steps, while others read and write.

        Deleting leaves unused pages in the file; without this call it keeps its size.

        :param progress: receives a :class:`satchel.backup.BackupProgress`, on this thread; returning False
            cancels. An exception in it cancels too, and is raised here
        :raises Cancelled: what was released stays so, and the next call continues
        :raises InvalidArgument: in a batch
        :raises ReadOnly, Busy, Full, IOFailure: see their classes
        """
        from satchel.backup import compact

        return compact(self, progress)

    def info(self) -> StoreInfo:
        """Facts about the store."""
        answer = json_answer(library.satchel_store_info, self._pointer)
        found = answer.get("clock_correction")
        correction = None if found is None else record_from(ClockCorrection, found)
        return record_from(StoreInfo, answer, clock_correction=correction)

    def statistics(self) -> Dict[str, Any]:
        """The size of the file and of its contents; reads every page.

        :returns: ``file_bytes``, ``wal_bytes``, ``pages``, ``free_pages``, ``subjects`` with their size and
            counts, ``collections`` of records, the ``spooled`` changes in the outbox file, and of the
            ``catalogue`` the number of ``regions``, what they keep (``pinned_sections``, ``pinned_entities``,
            ``pinned_bytes``, ``pinned_asset_bytes``), ``oldest_fetched_at`` of a section, the ``requests`` to
            sources that are remembered, and the ``failed_requests`` of them
        """
        found: Dict[str, Any] = json_answer(library.satchel_store_statistics, self._pointer)
        return found

    def check(self) -> List[Finding]:
        """Checks the whole file, reading every page.

        :returns: the findings; [] when the store is sound
        """
        return records_from(Finding, json_answer(library.satchel_store_check, self._pointer))
