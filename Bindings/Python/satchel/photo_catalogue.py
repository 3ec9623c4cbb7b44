"""The photo catalogue of one directory, over a store."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from satchel import _abi, _encoding
from satchel._handle import check, json_answer
from satchel._library import library
from satchel._long_work import LongWork, hearing
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


class PhotoCatalogue(PhotoReader):
    """The photos of one directory; made by ``store.photos(directory)``.

    Ends with :meth:`close`, at the end of a ``with`` block, or with the store. The methods may be called on
    any thread, also at once; they raise :class:`satchel.Closed` after the end. Observers of the store hear
    of changes under the subject "photos", with MD5s, or "shard:0" to "shard:f" when there are many.
    """

    __slots__ = ()

    @property
    def backup(self) -> PhotoBackup:
        """Which photos are to be uploaded, and how far that has come."""
        return PhotoBackup(self)

    def upsert(
        self,
        photos: Union[Photo, Mapping[str, Any], Iterable[Union[Photo, Mapping[str, Any]]]],
        *,
        batch: int = 5000,
    ) -> int:
        """Adds photos, or replaces their rows.

        :param photos: dicts with the fields of a :class:`Photo`, or photos; or one. Of a Photo its state
            (star, backup) is not taken, and what it does not know of the camera stays as it is
        :param batch: rows that are written in one transaction. When one cannot be taken, none of its batch
            is, and those before it are written
        :returns: how many rows differ from what was there
        :raises InvalidArgument: names the row and what is wrong with it
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
        :returns: how many there were
        """
        out = ctypes.c_int64()
        check(library.satchel_photos_delete(self._pointer, lend_md5s(md5), ctypes.byref(out)))
        return out.value

    def set_local(self, md5: PhotoName, **columns: Any) -> None:
        """Sets what only this device knows of a photo; it is never uploaded, and no import touches it.

        :param columns: ``starred``, ``camera_make`` and so on, see :class:`Photo`; None forgets
        :raises NotFound: when there is no such photo
        :raises InvalidArgument: for other columns, and for ``backup_status``: see :attr:`backup`
        """
        check(library.satchel_photos_set_local(self._pointer, lend_md5(md5), lend_columns(columns)))

    def star(self, md5: PhotoName, starred: bool = True) -> None:
        """Stars a photo, or takes its star. Starring one that only this device has queues its backup.

        :raises NotFound: when there is no such photo
        """
        check(library.satchel_photos_star(self._pointer, lend_md5(md5), bool(starred)))

    def import_shard(self, shard: int, data: _encoding.Encoded, policy: str = "remote_wins") -> ImportReport:
        """Replaces a shard by a file, in one transaction.

        :param shard: 0 to 15
        :param data: the file's bytes; a str is encoded as UTF-8
        :param policy: "remote_wins": the file; changes made here that differ from it go to the conflicts.
            "merge_rows": the file, and the changes made here on top
        :returns: in ``rejected`` the lines that are no photos: they are kept, and written back by exports
        """
        number = _encoding.choice(_abi.SYNC_POLICY, policy, "policy")
        lent = _bytes(data, "data")
        return import_from(
            json_answer(library.satchel_photos_import_shard, self._pointer, shard_number(shard), lent, number)
        )

    def export_directory(self, path: Union[str, os.PathLike[str]]) -> DirectoryExport:
        """Writes 0.csv to f.csv and manifest.json into a directory, made when its parent exists.

        Files that are the same already are not touched.
        """
        _, folder = _encoding.file_path(path, "path")
        return directory_export_from(
            json_answer(library.satchel_photos_export_directory, self._pointer, _encoding.lend(folder))
        )

    def import_directory(
        self, path: Union[str, os.PathLike[str]], policy: str = "remote_wins"
    ) -> DirectoryImport:
        """Imports 0.csv to f.csv of a directory, as :meth:`import_shard`, each shard in one transaction.

        Shards without a file, and those whose file cannot be read, are left as they are: see ``missing`` and
        ``failed`` of the report. A file that is not the one that a manifest.json beside it names is in
        ``failed`` as well: it may have been cut short. All are on the disk when this returns; a loss of
        power before may undo the latest.

        :raises NotFound: when there is no such file at all
        :raises InvalidArgument: for a manifest.json that cannot be read
        """
        _, folder = _encoding.file_path(path, "path")
        number = _encoding.choice(_abi.SYNC_POLICY, policy, "policy")
        return directory_import_from(
            json_answer(
                library.satchel_photos_import_directory, self._pointer, _encoding.lend(folder), number
            )
        )

    def scan(
        self,
        removes_missing: bool = False,
        time_zone_offset: int = 0,
        progress: Optional[Callable[[ScanProgress], object]] = None,
        *,
        reads_everything: bool = False,
        parallel: Optional[int] = None,
    ) -> ScanReport:
        """Finds the photos below the catalogue's directory. Files that are as they were are not read.

        :param removes_missing: deletes the rows of photos whose files are gone; the next synchronisation
            deletes them from the master copy. Never where a directory could not be read
        :param time_zone_offset: minutes east of UTC, for dates whose camera did not say
        :param progress: hears a :class:`ScanProgress`, on this thread; when it returns False the scan ends,
            and ``cancelled`` is set. What it raises ends the scan, too, and is raised here
        :param reads_everything: reads files again that look unchanged
        :param parallel: files that are read at once, 1 to 16; None for 2
        :raises NotFound: when there is no such directory

        However it ends, what was found stays, and the next scan goes on from there.
        """
        options = _abi.ScanOptions(size=ctypes.sizeof(_abi.ScanOptions))
        options.removes_missing = bool(removes_missing)
        options.reads_everything = bool(reads_everything)
        options.parallel = 0 if parallel is None else whole(parallel, "parallel", 1, 16)
        options.time_zone_offset = whole(time_zone_offset, "time_zone_offset", -1440, 1440)
        pointer = self._pointer
        work = LongWork(self._store._owner, hearing(ScanProgress, progress))

        def call(on_progress: Any, context: int) -> Any:
            options.progress, options.context = on_progress, context
            return json_answer(library.satchel_photos_scan, pointer, ctypes.byref(options))

        return scan_from(work.run(call))

    def sync(
        self,
        remote: Remote,
        user: str,
        policy: str = "remote_wins",
        progress: Optional[Callable[[SyncProgress], object]] = None,
        dry_run: bool = False,
        *,
        parallel: Optional[int] = None,
        accepts_unconditional: bool = False,
    ) -> SyncReport:
        """Brings the catalogue and its master copy into agreement.

        :param remote: where the master copy is
        :param user: whose catalogue: letters of ASCII, digits, ".", "_" and "-", at most 128
        :param policy: which side wins where both changed; "remote_wins": changes made here that lose go to
            :meth:`conflicts`; "merge_rows": what came from elsewhere, and the changes made here on top
        :param progress: hears a :class:`SyncProgress`, on this thread; when it returns False this raises
            Cancelled. What it raises ends the work, too, and is raised here
        :param dry_run: tells what would move, and moves nothing
        :param parallel: shards that move at once, 1 to 16; None for 4
        :param accepts_unconditional: takes a store that ignores conditions, where two devices that
            synchronise at once may overwrite each other
        :returns: in ``failed`` the shards that failed; they stay pending, and the others went on
        :raises InvalidArgument: for a user that is none, and for a store that ignores conditions
        :raises ForeignFile: when the master is another catalogue than the one agreed with: :meth:`unlink`
        :raises Busy: when the store does not answer
        :raises Cancelled: when ``progress`` said so

        One at a time for each catalogue; ``progress`` and a remote's functions cannot begin it again (Busy).
        All else goes on meanwhile.
        """
        if not isinstance(remote, Remote):
            raise InvalidArgument(f"remote must be of satchel.remote, not {type(remote).__name__}")
        options = _abi.SyncOptions(size=ctypes.sizeof(_abi.SyncOptions))
        options.policy = _encoding.choice(_abi.SYNC_POLICY, policy, "policy")
        options.dry_run = bool(dry_run)
        options.accepts_unconditional = bool(accepts_unconditional)
        options.parallel = 0 if parallel is None else whole(parallel, "parallel", 1, 16)
        lent = _encoding.lend_text(user, "user")
        pointer, store = self._pointer, remote._pointer
        subject = (self._store._owner, "photos", self._directory)
        work = LongWork(self._store._owner, hearing(SyncProgress, progress), subject)
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
        accepts_unconditional: bool = False,
    ) -> VerifyReport:
        """Reads every shard in the remote and compares it with the manifest.

        :param remote: where the master copy is
        :param user: whose catalogue
        :param repair: replaces damaged objects by the bytes last synced, with the changes made here on top,
            applies objects that are newer than the manifest, and puts the manifest right. A device repairs
            what it has the bytes for. Without it nothing is written on either side
        :param progress: as for :meth:`sync`
        :param parallel: shards that are read at once, 1 to 16; None for 4
        :param accepts_unconditional: with ``repair``, takes a store that ignores conditions
        :returns: in ``ok`` whether the remote is sound by now, and in ``shards`` what each of them was
        :raises: as :meth:`sync`
        """
        if not isinstance(remote, Remote):
            raise InvalidArgument(f"remote must be of satchel.remote, not {type(remote).__name__}")
        options = _abi.VerifyOptions(size=ctypes.sizeof(_abi.VerifyOptions))
        options.repair = bool(repair)
        options.accepts_unconditional = bool(accepts_unconditional)
        options.parallel = 0 if parallel is None else whole(parallel, "parallel", 1, 16)
        lent = _encoding.lend_text(user, "user")
        pointer, store = self._pointer, remote._pointer
        work = LongWork(self._store._owner, hearing(SyncProgress, progress))
        failures = Failures(self._store._owner, work.fail)

        def call(on_progress: Any, context: int) -> Any:
            options.progress, options.context = on_progress, context
            return json_answer(library.satchel_photos_verify, pointer, store, lent, ctypes.byref(options))

        return verify_from(remote._at_work(work, call, failures))

    def unlink(self) -> None:
        """Forgets the agreement with a master copy.

        The next synchronisation, with this one or another, counts every photo as added here.
        """
        check(library.satchel_photos_unlink(self._pointer))

    def reapply(self, conflict: Union[PhotoConflict, int]) -> None:
        """Makes a change that lost again, and takes it from the conflicts.

        :param conflict: it, or its ``id``
        :raises NotFound: when it was reapplied or dismissed before
        """
        check(library.satchel_photos_reapply(self._pointer, _conflict(conflict)))

    def dismiss(self, conflict: Union[PhotoConflict, int]) -> None:
        """Takes a change that lost from the conflicts, and forgets it.

        :param conflict: it, or its ``id``
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
