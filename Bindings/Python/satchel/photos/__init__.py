"""Photo catalogues: the photos of a directory, synchronized between devices through an object store.

>>> with satchel.open("album.satchel") as store, store.photos("/home/ada/Pictures") as photos:
...     photos.scan()
...     for photo in photos.iterate(filename="IMG_*", order="photodate"):
...         print(photo.taken_at, photo.filename)
...     report = photos.sync(satchel.remote.Directory("/mnt/album"), "ada")

A photo is identified by the MD5 of its bytes. A parameter that names a photo accepts the MD5 as 32
hexadecimal digits or as 16 bytes, or a :class:`Photo`. Dates of photos are Unix seconds, other times Unix
milliseconds; a ``datetime`` with a time zone is accepted for both.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterable, List, Optional, Union

from satchel import _abi, _encoding
from satchel._documents import lend_json
from satchel._encoding import FilePath
from satchel._library import answer, check, json_answer, library
from satchel._long_work import LongWork, progress_callback, with_progress
from satchel.errors import InvalidArgument
from satchel.photos._arguments import (
    PhotoConditions,
    conflict_policy,
    conflict_policy_if_any,
    lend_lines,
    shard_number,
)
from satchel.photos._backup import PhotoBackup
from satchel.photos._backup_reports import (
    PhotoBackupFailure,
    PhotoBackupReport,
    PhotoRefreshReport,
    PhotoRestoreAllReport,
    PhotoRestoreFailure,
    PhotoRestoreReport,
)
from satchel.photos._reports import (
    DirectoryExport,
    DirectoryImport,
    DuplicateFile,
    FileRemark,
    FormatCount,
    ImportReport,
    RejectedRow,
    ScanProgress,
    ScanReport,
    ShardFailure,
    SyncReport,
    VerifiedShard,
    VerifyReport,
    causes_of,
    directory_import_from,
    import_from,
    scan_from,
    sync_from,
    verify_from,
)
from satchel.photos._rows import PhotoRows
from satchel.photos._values import (
    CatalogueStatus,
    FileCount,
    Photo,
    PhotoChange,
    PhotoFile,
    PhotoPage,
    PhotoSafety,
    ShardStatus,
    TrashedPhoto,
)
from satchel.remote import Remote, SyncProgress, work_with
from satchel.sync._conflicts import ConflictEntry, entries, number_of
from satchel.sync._values import first_sync
from satchel.values import record_from

__all__ = [
    "CatalogueStatus",
    "DirectoryExport",
    "DirectoryImport",
    "DuplicateFile",
    "FileCount",
    "FileRemark",
    "FormatCount",
    "ImportReport",
    "Photo",
    "PhotoBackup",
    "PhotoBackupFailure",
    "PhotoBackupReport",
    "PhotoCatalogue",
    "PhotoChange",
    "PhotoConditions",
    "PhotoFile",
    "PhotoPage",
    "PhotoRefreshReport",
    "PhotoRestoreAllReport",
    "PhotoRestoreFailure",
    "PhotoRestoreReport",
    "PhotoSafety",
    "RejectedRow",
    "ScanProgress",
    "ScanReport",
    "ShardFailure",
    "ShardStatus",
    "SyncReport",
    "TrashedPhoto",
    "VerifiedShard",
    "VerifyReport",
]


class PhotoCatalogue(PhotoRows):
    """The photos of one directory; made by ``store.photos(directory)``.

    Closed by :meth:`close`, at the end of a ``with`` block, or with the store. The methods may be called on
    any thread, also concurrently; they raise :class:`satchel.Closed` after closing. Observers of the store
    are notified of changes under the subject "photos", with MD5s, or "shard:0" to "shard:f" after many.
    """

    __slots__ = ()

    def export_shard(self, shard: int) -> bytes:
        """A shard's file, byte for byte as every platform writes it.

        :param shard: 0 to 15
        :returns: the file in UTF-8
        """
        return answer(library.satchel_photos_export_shard, self._pointer, shard_number(shard)) or b""

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
        number = conflict_policy(on_conflict)
        lent = _bytes(data, "data")
        return import_from(
            json_answer(library.satchel_photos_import_shard, self._pointer, shard_number(shard), lent, number)
        )

    def export_directory(self, path: FilePath) -> DirectoryExport:
        """Writes 0.csv to f.csv and manifest.json into a directory; files that are identical are not touched.

        :param path: the directory, which is created when its parent exists
        :raises NotFound: when the parent does not exist
        :raises ReadOnly, Full, IOFailure: when a file cannot be written
        """
        _, folder = _encoding.file_path(path, "path")
        lent = _encoding.lend(folder)
        report = json_answer(library.satchel_photos_export_directory, self._pointer, lent)
        return record_from(DirectoryExport, report)

    def import_directory(self, path: FilePath, on_conflict: str = "remote_wins") -> DirectoryImport:
        """Imports 0.csv to f.csv of a directory, as :meth:`import_shard`, each shard in one transaction.

        Into an empty catalogue, all are imported in one.

        Shards without a file, and those whose file cannot be read, are left unchanged: see ``missing`` and
        ``failed`` of the report. A file that differs from its entry in a manifest.json in the same directory
        is in ``failed`` as well: it may be truncated. All shards are on the disk when this returns; a power
        failure before that may undo the latest.

        :param path: the directory
        :param on_conflict: as for :meth:`import_shard`
        :raises NotFound: when none of the files exists
        :raises InvalidArgument: for a manifest.json that cannot be parsed
        """
        _, folder = _encoding.file_path(path, "path")
        number = conflict_policy(on_conflict)
        return directory_import_from(
            json_answer(
                library.satchel_photos_import_directory, self._pointer, _encoding.lend(folder), number
            )
        )

    def scan(
        self,
        delete_missing: bool = False,
        time_zone: Optional[str] = None,
        progress: Optional[Callable[[ScanProgress], object]] = None,
        *,
        force_rehash: bool = False,
        parallel: Optional[int] = None,
        exclude: Iterable[str] = (),
        allow_mass_deletion: bool = False,
        embedded_dates_only: bool = False,
    ) -> ScanReport:
        """Finds the photos below the catalogue's directory. Unchanged files are not read.

        Hidden files, folders that systems keep for themselves, and what ``.satchelignore`` and ``exclude``
        name are left out; a file that a program is writing is left for the next scan. The star of an edited
        photo passes to its new content. A row that another device deleted returns while its file is here; one
        that was deleted on this device does not, until its file is edited.

        :param delete_missing: deletes the rows of photos whose files are gone; the next synchronization
            deletes them from the remote copy. Never below a directory that could not be read
        :param time_zone: the zone of dates without one: "+02:00", or a name of the system's time zone
            database, such as "Europe/Berlin"; None for UTC
        :param progress: receives a :class:`ScanProgress`, on this thread; returning False ends the scan and
            sets ``cancelled``. An exception in it ends the scan too, and is raised here
        :param force_rehash: reads and hashes all files, also unchanged ones
        :param parallel: files that are read concurrently, 1 to 16; None for 2
        :param exclude: rules for what is left out, as the lines of a file ``.satchelignore``
        :param allow_mass_deletion: lets more than a half of the photos be deleted, if they are over 100, and
            lets an empty directory be scanned where an earlier scan has found files
        :param embedded_dates_only: uses only dates in the photo's file, and the file's time; not those of
            sidecars, of the JSON files of Google Takeout, and of names
        :raises NotFound: when the directory does not exist
        :raises Unavailable: for what only ``allow_mass_deletion`` allows; nothing was deleted then

        However it ends, the photos found so far are stored, and the next scan continues from there.
        """
        options = _abi.ScanOptions(
            delete_missing=bool(delete_missing),
            force_rehash=bool(force_rehash),
            time_zone=_encoding.NOTHING if time_zone is None else _encoding.lend_text(time_zone, "time_zone"),
            parallel=_encoding.parallel(parallel),
            exclude=lend_lines(exclude, "exclude"),
            allow_mass_deletion=bool(allow_mass_deletion),
            embedded_dates_only=bool(embedded_dates_only),
        )
        work = LongWork(self._store._owner, progress_callback(ScanProgress, progress))
        return scan_from(work.run(with_progress(options, library.satchel_photos_scan, self._pointer)))

    def sync(
        self,
        remote: Remote,
        user: str,
        on_conflict: Optional[str] = None,
        progress: Optional[Callable[[SyncProgress], object]] = None,
        dry_run: bool = False,
        *,
        parallel: Optional[int] = None,
        allow_unsafe_remote: bool = False,
        first: Optional[str] = None,
        recreate: bool = False,
    ) -> SyncReport:
        """Synchronizes the catalogue with its remote copy.

        The first synchronization binds it to the remote and the user, whatever it finds: ``store.sync`` with
        both then includes it, if the remote has an identity.

        :param remote: the object store with the remote copy
        :param user: the owner of the catalogue: ASCII letters, digits, ".", "_" and "-", at most 128
        :param on_conflict: decides about a photo that both sides changed; "remote_wins": the local change is
            in :meth:`conflicts`; "merge": the local row stays; None for what ``store.photos`` declares
        :param progress: receives a :class:`satchel.SyncProgress`, on this thread; returning False cancels. An
            exception in it cancels too, and is raised here
        :param dry_run: reports what would be transferred, without transferring it
        :param parallel: shards that are transferred concurrently, 1 to 16; None for 4
        :param allow_unsafe_remote: accepts a remote without conditional writes, where two devices that
            synchronize at the same time may overwrite each other
        :param first: what happens to rows that belong to another user or remote, also after :meth:`detach`.
            None refuses them; "upload": they become the user's, and a closed account is opened again;
            "discard": they are removed locally before the first synchronization
        :param recreate: sends everything again to a remote that was synchronized before and has no object of
            the user
        :returns: in ``failed`` the shards that failed; they stay pending, and the others are synchronized
        :raises InvalidArgument: for an invalid user, and for a remote without conditional writes
        :raises ForeignFile: when the rows belong to another user or remote, which the message names; when the
            remote copy is not the catalogue synchronized last: :meth:`detach`; when the account was closed
        :raises Unauthorized: when the remote rejects the credentials
        :raises Unavailable: when the remote cannot be reached; when it was synchronized before and is empty
        :raises Busy: when ``progress`` or a function of the remote starts it again
        :raises Cancelled: when ``progress`` returned False

        Synchronizations of one catalogue run one at a time; other calls are not blocked.
        """
        options = _abi.SyncOptions(
            on_conflict=conflict_policy_if_any(on_conflict),
            dry_run=bool(dry_run),
            allow_unsafe_remote=bool(allow_unsafe_remote),
            parallel=_encoding.parallel(parallel),
            first=first_sync(first),
            recreate=bool(recreate),
        )
        work = self._turn(progress)
        report, failures = work_with(remote, user, work, library.satchel_photos_sync, self._pointer, options)
        return sync_from(report, causes_of(failures))

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
        options = _abi.VerifyOptions(
            repair=bool(repair),
            allow_unsafe_remote=bool(allow_unsafe_remote),
            parallel=_encoding.parallel(parallel),
        )
        work = self._turn(progress)
        report, _ = work_with(remote, user, work, library.satchel_photos_verify, self._pointer, options)
        return verify_from(report)

    def _turn(self, progress: Optional[Callable[[SyncProgress], object]]) -> LongWork:
        """Work of which one at a time is done for a catalogue; also as a part of ``store.sync``."""
        owner = self._store._owner
        return LongWork(
            owner,
            progress_callback(SyncProgress, progress),
            (owner, "photos", self._directory),
            (owner, "sync"),
            (owner, "photos"),
        )

    def detach(self) -> None:
        """Detaches the catalogue from its remote, and deletes the base of each shard, but no photos.

        The next synchronization, with the same or another remote, treats every photo as added locally.
        """
        check(library.satchel_photos_detach(self._pointer))

    def conflicts(self) -> List[ConflictEntry]:
        """The conflicts of the catalogue: local changes that lost, oldest first."""
        return entries(partial(json_answer, library.satchel_photos_conflicts, self._pointer))

    def resolve(self, conflict: Union[ConflictEntry, int], keep: str) -> None:
        """Resolves a conflict, and removes it from the conflict log.

        :param conflict: the conflict, or its ``id``
        :param keep: "local" applies the change that lost again, as any other change; "remote" leaves the
            photo as it is
        :raises NotFound: when it was resolved before
        """
        lent = lend_json({"keep": keep}, "keep")
        check(library.satchel_photos_resolve(self._pointer, number_of(conflict), lent))


def _bytes(data: Any, name: str) -> _abi.Bytes:
    if isinstance(data, str):
        return _encoding.lend_text(data, name)
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise InvalidArgument(f"{name} must be bytes, not {type(data).__name__}")
    return _encoding.lend(bytes(data))
