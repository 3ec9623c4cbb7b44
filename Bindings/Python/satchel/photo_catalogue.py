"""The photo catalogue of one directory, over a store."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from satchel import _abi, _encoding
from satchel._handle import check, json_answer
from satchel._library import library
from satchel._long_work import LongWork, progress_callback
from satchel._photo_arguments import (
    PhotoName,
    lend_columns,
    lend_md5,
    lend_md5s,
    row_batches,
    shard_number,
    whole,
)
from satchel._photo_reader import PhotoReader
from satchel._photo_reports import (
    DirectoryExport,
    DirectoryImport,
    ImportReport,
    ScanProgress,
    ScanReport,
    SyncProgress,
    SyncReport,
    VerifyReport,
    directory_export_from,
    directory_import_from,
    import_from,
    scan_from,
    sync_from,
    verify_from,
)
from satchel._photo_values import Photo, PhotoConflict
from satchel._remote_host import Failures
from satchel.errors import InvalidArgument, SatchelError
from satchel.photo_backup import PhotoBackup
from satchel.remote import Remote

__all__ = ["PhotoCatalogue"]

# The policies that photos accept.
_POLICIES = {name: _abi.CONFLICT_POLICY[name] for name in ("remote_wins", "merge")}


class PhotoCatalogue(PhotoReader):
    """The photos of one directory; made by ``store.photos(directory)``.

    Closed by :meth:`close`, at the end of a ``with`` block, or with the store. The methods may be called on
    any thread, also concurrently; they raise :class:`satchel.Closed` after closing. Observers of the store
    are notified of changes under the subject "photos", with MD5s, or "shard:0" to "shard:f" after many.
    """

    __slots__ = ()

    @property
    def backup(self) -> PhotoBackup:
        """The queue of photos to be uploaded by the host."""
        return PhotoBackup(self)

    def upsert(
        self,
        photos: Union[Photo, Mapping[str, Any], Iterable[Union[Photo, Mapping[str, Any]]]],
        *,
        batch: int = 5000,
    ) -> int:
        """Adds photos, or replaces their rows.

        :param photos: dicts with the fields of a :class:`Photo`, or photos; or one. The state of a Photo
            (star, backup) is ignored, and camera data that it lacks keeps its stored value
        :param batch: the number of rows in one transaction. An invalid row rolls back its own batch only
        :returns: the number of rows that changed
        :raises InvalidArgument: names the row and the reason
        """
        changed = 0
        before = 0
        for rows in row_batches(photos, batch):
            out = ctypes.c_int64()
            lent = _encoding.lend(_encoding.encoded(rows, "photos"))
            try:
                check(library.satchel_photos_upsert(self._pointer, lent, ctypes.byref(out)))
            except SatchelError as error:
                if before:
                    error.args = (f"after {before} photos: {error}",)
                raise
            changed += out.value
            before += len(rows)
        return changed

    def delete(self, md5: Union[PhotoName, Iterable[PhotoName]]) -> int:
        """Deletes photos from the catalogue, in one transaction; files are not touched.

        :param md5: one, or an iterable of several
        :returns: how many existed
        """
        out = ctypes.c_int64()
        check(library.satchel_photos_delete(self._pointer, lend_md5s(md5), ctypes.byref(out)))
        return out.value

    def set_local(self, md5: PhotoName, **columns: Any) -> None:
        """Sets local-only columns of a photo; they are never uploaded, and imports do not change them.

        :param columns: ``starred``, ``camera_make`` and so on, see :class:`Photo`; None clears
        :raises NotFound: when the photo does not exist
        :raises InvalidArgument: for other columns, and for ``backup_status``: see :attr:`backup`
        """
        check(library.satchel_photos_set_local(self._pointer, lend_md5(md5), lend_columns(columns)))

    def star(self, md5: PhotoName, starred: bool = True) -> None:
        """Stars a photo, or removes its star. Starring a photo that only this device has queues its backup.

        :raises NotFound: when the photo does not exist
        """
        check(library.satchel_photos_star(self._pointer, lend_md5(md5), bool(starred)))

    def import_shard(
        self, shard: int, data: _encoding.Encoded, on_conflict: str = "remote_wins"
    ) -> ImportReport:
        """Replaces the photos of a shard by those of a file, in one transaction.

        :param shard: 0 to 15
        :param data: the file's bytes; a str is encoded as UTF-8
        :param on_conflict: "remote_wins": the file wins; local changes that differ from it go to the conflict
            log. "merge": the local changes are applied to the file
        :returns: in ``rejected`` the lines that are not photos: they are kept, and exports write them again
        """
        number = _encoding.choice(_POLICIES, on_conflict, "on_conflict")
        lent = _bytes(data, "data")
        return import_from(
            json_answer(library.satchel_photos_import_shard, self._pointer, shard_number(shard), lent, number)
        )

    def export_directory(self, path: Union[str, os.PathLike[str]]) -> DirectoryExport:
        """Writes 0.csv to f.csv and manifest.json into a directory, made when its parent exists.

        Files that are already identical are not touched.
        """
        _, folder = _encoding.file_path(path, "path")
        return directory_export_from(
            json_answer(library.satchel_photos_export_directory, self._pointer, _encoding.lend(folder))
        )

    def import_directory(
        self, path: Union[str, os.PathLike[str]], on_conflict: str = "remote_wins"
    ) -> DirectoryImport:
        """Imports 0.csv to f.csv of a directory, as :meth:`import_shard`, each shard in one transaction.

        Shards without a file, and those whose file cannot be read, are left unchanged: see ``missing`` and
        ``failed`` of the report. A file that differs from its entry in a manifest.json beside it is in
        ``failed`` as well: it may be truncated. All shards are on the disk when this returns; a power failure
        before that may undo the latest.

        :raises NotFound: when none of the files exists
        :raises InvalidArgument: for a manifest.json that cannot be parsed
        """
        _, folder = _encoding.file_path(path, "path")
        number = _encoding.choice(_POLICIES, on_conflict, "on_conflict")
        return directory_import_from(
            json_answer(
                library.satchel_photos_import_directory, self._pointer, _encoding.lend(folder), number
            )
        )

    def scan(
        self,
        delete_missing: bool = False,
        time_zone_offset: int = 0,
        progress: Optional[Callable[[ScanProgress], object]] = None,
        *,
        force_rehash: bool = False,
        parallel: Optional[int] = None,
    ) -> ScanReport:
        """Finds the photos below the catalogue's directory. Unchanged files are not read.

        :param delete_missing: deletes the rows of photos whose files are gone; the next synchronisation
            deletes them from the remote copy. Never below a directory that could not be read
        :param time_zone_offset: minutes east of UTC, for dates without a time zone
        :param progress: receives a :class:`ScanProgress`, on this thread; returning False ends the scan and
            sets ``cancelled``. An exception in it ends the scan too, and is raised here
        :param force_rehash: reads and hashes all files, also unchanged ones
        :param parallel: files that are read concurrently, 1 to 16; None for 2
        :raises NotFound: when the directory does not exist

        However it ends, the photos found so far are stored, and the next scan continues from there.
        """
        options = _abi.ScanOptions(size=ctypes.sizeof(_abi.ScanOptions))
        options.delete_missing = bool(delete_missing)
        options.force_rehash = bool(force_rehash)
        options.parallel = 0 if parallel is None else whole(parallel, "parallel", 1, 16)
        options.time_zone_offset = whole(time_zone_offset, "time_zone_offset", -1440, 1440)
        pointer = self._pointer
        work = LongWork(self._store._owner, progress_callback(ScanProgress, progress))

        def call(on_progress: Any, context: int) -> Any:
            options.progress, options.context = on_progress, context
            return json_answer(library.satchel_photos_scan, pointer, ctypes.byref(options))

        return scan_from(work.run(call))

    def sync(
        self,
        remote: Remote,
        user: str,
        on_conflict: str = "remote_wins",
        progress: Optional[Callable[[SyncProgress], object]] = None,
        dry_run: bool = False,
        *,
        parallel: Optional[int] = None,
        allow_unsafe_remote: bool = False,
    ) -> SyncReport:
        """Synchronises the catalogue with its remote copy.

        :param remote: the object store with the remote copy
        :param user: the owner of the catalogue: ASCII letters, digits, ".", "_" and "-", at most 128
        :param on_conflict: decides where both sides changed; "remote_wins": local changes that lose go to
            :meth:`conflicts`; "merge": the local changes are applied to the remote rows
        :param progress: receives a :class:`SyncProgress`, on this thread; returning False cancels. An
            exception in it cancels too, and is raised here
        :param dry_run: reports what would be transferred, without transferring it
        :param parallel: shards that are transferred concurrently, 1 to 16; None for 4
        :param allow_unsafe_remote: accepts a remote without conditional writes, where two devices that
            synchronise at the same time may overwrite each other
        :returns: in ``failed`` the shards that failed; they stay pending, and the others are synchronised
        :raises InvalidArgument: for an invalid user, and for a remote without conditional writes
        :raises ForeignFile: when the remote copy is not the catalogue synchronised last: :meth:`detach`
        :raises Unauthorized: when the remote rejects the credentials
        :raises Unavailable: when the remote cannot be reached
        :raises Busy: when ``progress`` or a function of the remote starts it again
        :raises Cancelled: when ``progress`` returned False

        Synchronisations of one catalogue run one at a time; other calls are not blocked.
        """
        if not isinstance(remote, Remote):
            raise InvalidArgument(f"remote must be of satchel.remote, not {type(remote).__name__}")
        options = _abi.SyncOptions(size=ctypes.sizeof(_abi.SyncOptions))
        options.on_conflict = _encoding.choice(_POLICIES, on_conflict, "on_conflict")
        options.dry_run = bool(dry_run)
        options.allow_unsafe_remote = bool(allow_unsafe_remote)
        options.parallel = 0 if parallel is None else whole(parallel, "parallel", 1, 16)
        lent = _encoding.lend_text(user, "user")
        pointer, store = self._pointer, remote._pointer
        subject = (self._store._owner, "photos", self._directory)
        work = LongWork(self._store._owner, progress_callback(SyncProgress, progress), subject)
        failures = Failures(self._store._owner, work.fail, subject)

        def call(on_progress: Any, context: int) -> Any:
            options.progress, options.context = on_progress, context
            return json_answer(library.satchel_photos_sync, pointer, store, lent, ctypes.byref(options))

        answered = remote._at_work(work, call, failures)
        return sync_from(
            answered,
            lambda shard: failures.under(f"/shards/{shard:x}.csv") or failures.under("/manifest.json"),
        )

    def verify(
        self,
        remote: Remote,
        user: str,
        repair: bool = False,
        progress: Optional[Callable[[SyncProgress], object]] = None,
        *,
        parallel: Optional[int] = None,
        allow_unsafe_remote: bool = False,
    ) -> VerifyReport:
        """Reads every shard in the remote and compares it with the manifest.

        :param remote: the object store with the remote copy
        :param user: the owner of the catalogue
        :param repair: replaces damaged objects by the bytes synced last, with the local changes applied,
            applies objects that are newer than the manifest, and corrects the manifest. A device can only
            repair objects whose bytes it has. Without it nothing is written on either side
        :param progress: as for :meth:`sync`
        :param parallel: shards that are read concurrently, 1 to 16; None for 4
        :param allow_unsafe_remote: with ``repair``, accepts a remote without conditional writes
        :returns: in ``ok`` whether the remote is sound now, and in ``shards`` what was found in each
        :raises: as :meth:`sync`
        """
        if not isinstance(remote, Remote):
            raise InvalidArgument(f"remote must be of satchel.remote, not {type(remote).__name__}")
        options = _abi.VerifyOptions(size=ctypes.sizeof(_abi.VerifyOptions))
        options.repair = bool(repair)
        options.allow_unsafe_remote = bool(allow_unsafe_remote)
        options.parallel = 0 if parallel is None else whole(parallel, "parallel", 1, 16)
        lent = _encoding.lend_text(user, "user")
        pointer, store = self._pointer, remote._pointer
        work = LongWork(self._store._owner, progress_callback(SyncProgress, progress))
        failures = Failures(self._store._owner, work.fail)

        def call(on_progress: Any, context: int) -> Any:
            options.progress, options.context = on_progress, context
            return json_answer(library.satchel_photos_verify, pointer, store, lent, ctypes.byref(options))

        return verify_from(remote._at_work(work, call, failures))

    def detach(self) -> None:
        """Forgets the remote copy, and what was synchronised with it.

        The next synchronisation, with the same or another remote, treats every photo as added locally.
        """
        check(library.satchel_photos_detach(self._pointer))

    def reapply(self, conflict: Union[PhotoConflict, int]) -> None:
        """Applies a change that lost again, and removes it from the conflict log.

        :param conflict: the conflict, or its ``id``
        :raises NotFound: when it was reapplied or dismissed before
        """
        check(library.satchel_photos_reapply(self._pointer, _conflict(conflict)))

    def dismiss(self, conflict: Union[PhotoConflict, int]) -> None:
        """Removes a change that lost from the conflict log.

        :param conflict: the conflict, or its ``id``
        :raises NotFound: when it was reapplied or dismissed before
        """
        check(library.satchel_photos_dismiss(self._pointer, _conflict(conflict)))


def _conflict(conflict: Any) -> int:
    id = conflict.id if isinstance(conflict, PhotoConflict) else conflict
    return whole(id, "conflict", -(2**63), 2**63 - 1)


def _bytes(data: Any, name: str) -> _abi.Bytes:
    if isinstance(data, str):
        return _encoding.lend_text(data, name)
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise InvalidArgument(f"{name} must be bytes, not {type(data).__name__}")
    return _encoding.lend(bytes(data))
