"""The backup of photos' files: its queue, and the files in the remote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, List, Optional, Union

from satchel import _abi, _encoding
from satchel._encoding import FilePath
from satchel._library import check, json_answer, library
from satchel._long_work import LongWork, progress_callback, with_progress
from satchel.photos._arguments import PhotoName, lend_md5
from satchel.photos._backup_reports import (
    PhotoBackupFailure,
    PhotoBackupReport,
    PhotoRefreshReport,
    PhotoRestoreAllReport,
    PhotoRestoreFailure,
    PhotoRestoreReport,
)
from satchel.photos._values import Photo, photo_from
from satchel.remote import Remote, SyncProgress, remote_of, work_with
from satchel.remote._host import Failures
from satchel.values import record_from, records_from

if TYPE_CHECKING:
    from satchel.photos._rows import PhotoRows

__all__ = ["PhotoBackup"]


class PhotoBackup:
    """The backup of the photos' files, and its queue; ``photos.backup``.

    A photo goes from "not_backed_up" or "error" to "queued", to "uploading", and to "uploaded" or "error".
    Any other transition raises :class:`satchel.InvalidArgument`, naming both states. Any number of threads
    and processes may work on it. :meth:`run` uploads the files of the queue; a host with an uploader of its
    own does this instead:

    >>> while photo := photos.backup.claim():
    ...     try:
    ...         upload(photo)
    ...     except OSError as error:
    ...         photos.backup.failed(photo, error)
    ...     else:
    ...         photos.backup.done(photo)
    """

    __slots__ = ("_photos",)

    def __init__(self, photos: PhotoRows) -> None:
        self._photos = photos

    def queue(self, photo: PhotoName) -> None:
        """Queues a photo that is not backed up, or whose upload failed, and stars it.

        :param photo: its MD5, or the photo
        :raises NotFound: when the photo does not exist
        """
        check(library.satchel_photos_backup_queue(self._photos._pointer, lend_md5(photo, "photo")))

    def claim(self) -> Optional[Photo]:
        """Leases the oldest queued photo to this process, for uploading; None when the queue is empty.

        Concurrent callers, also of other processes, get different photos. A photo whose lease owner died or
        closed its catalogue is queued again.
        """
        claimed = json_answer(library.satchel_photos_backup_claim, self._photos._pointer)
        return None if claimed is None else photo_from(claimed)

    def done(self, photo: PhotoName) -> None:
        """Marks a leased photo as uploaded.

        :param photo: its MD5, or the photo
        :raises NotFound: when the photo does not exist
        """
        check(library.satchel_photos_backup_done(self._photos._pointer, lend_md5(photo, "photo")))

    def failed(self, photo: PhotoName, error: Union[str, BaseException]) -> None:
        """Marks the upload of a leased photo as failed.

        :param photo: its MD5, or the photo
        :param error: the reason; of an exception its message
        :raises NotFound: when the photo does not exist
        """
        reason = str(error) or type(error).__name__ if isinstance(error, BaseException) else error
        lent = lend_md5(photo, "photo"), _encoding.lend_text(reason, "error")
        check(library.satchel_photos_backup_failed(self._photos._pointer, *lent))

    def run(
        self,
        remote: Remote,
        user: str,
        progress: Optional[Callable[[SyncProgress], object]] = None,
        *,
        all: bool = False,
        recreate: bool = False,
        parallel: Optional[int] = None,
    ) -> PhotoBackupReport:
        """Uploads the files of the queued photos to "photos/{user}/{md5}", and records the results.

        A file is found by the paths of the last scan, else by its name in the directory, and uploaded only
        with the size and MD5 of its photo. A file that the remote has already is not sent again. What a
        killed run had begun is queued again, and goes on with the next run. A photo whose file no scan of
        this device has found stays queued, and is counted in ``elsewhere``. Films and sidecars go with their
        photos. At its end the run writes this device's index of files, from which :meth:`restore_all` takes
        names and folders.

        :param remote: the object store for the files
        :param user: whose files they are
        :param progress: receives a :class:`satchel.SyncProgress`, on this thread; returning False ends the
            run and sets ``cancelled``. An exception in it ends the run too, and is raised here
        :param all: stars the photos first that have a file here and are not backed up, and uploads all films
            and sidecars
        :param recreate: writes to a directory that is absent, empty or another one, although this device has
            backed up to it before; :meth:`verify` then queues what is missing
        :param parallel: files that are uploaded concurrently, 1 to 16; None for 4
        :returns: in ``failed`` the files that could not be uploaded; photos have the status "error", and are
            tried again by later runs, after a growing delay
        :raises NotFound: when the directory does not exist
        :raises ForeignFile: when the catalogue is synchronized as another user; for another directory
        :raises Unauthorized: when the remote rejects the credentials
        :raises Unavailable: when the remote cannot be reached, or a directory with a backup is absent or
            empty, as that of a disk that is not mounted; photos stay queued
        """
        options = _abi.PhotoBackupOptions(
            all=bool(all), recreate=bool(recreate), parallel=_encoding.parallel(parallel)
        )
        report, _ = self._work(remote, user, progress, library.satchel_photos_backup_run, options)
        failed = records_from(PhotoBackupFailure, report["failed"])
        return record_from(PhotoBackupReport, report, failed=failed)

    def restore(
        self,
        photo: PhotoName,
        path: FilePath,
        remote: Remote,
        user: str,
        *,
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> PhotoRestoreReport:
        """Downloads a photo's file, checks its MD5, and writes it with the photo's time.

        A file at ``path`` that has these bytes stays as it is.

        :param photo: its MD5, or the photo, which need not be in the catalogue
        :param path: the file to write, in a directory that exists
        :param remote: the object store with the files
        :param user: whose files they are
        :param progress: receives a :class:`satchel.SyncProgress`, on this thread; returning False cancels
        :raises NotFound: when the remote does not have the file
        :raises Damaged: when the remote has other bytes
        :raises ConstraintViolation: when another file is at ``path``
        :raises Unauthorized: when the remote rejects the credentials
        :raises Unavailable: when the remote cannot be reached
        """
        lent = lend_md5(photo, "photo"), _encoding.lend(_encoding.file_path(path, "path")[1])
        function, options = library.satchel_photos_backup_restore, _abi.PhotoBackupOptions()
        return record_from(PhotoRestoreReport, self._with(function, lent, remote, user, options, progress))

    def restore_all(
        self,
        remote: Remote,
        user: str,
        to: Optional[FilePath] = None,
        *,
        missing: bool = True,
        folders: bool = True,
        progress: Optional[Callable[[SyncProgress], object]] = None,
        parallel: Optional[int] = None,
    ) -> PhotoRestoreAllReport:
        """Downloads all files of a user that are not here: photos, films and sidecars.

        They get the folders, names and times that the indexes of all devices give them; a file that no index
        names gets the name of its row, else its MD5. Where a file with other bytes has a path, the file gets
        a number behind its name; no existing file is replaced. Every file is verified by its MD5. What a
        killed call has left is restored by the next one. The next scan finds the files.

        :param remote: the object store with the files
        :param user: whose files they are
        :param to: the directory to write to, which is created if its parent exists; None for the catalogue's
        :param missing: leaves out photos that have a file on this device
        :param folders: gives the files their folders; otherwise all are written to one
        :param progress: receives a :class:`satchel.SyncProgress`, on this thread; returning False ends the
            work and sets ``cancelled``. An exception in it ends the work too, and is raised here
        :param parallel: files that are downloaded concurrently, 1 to 16; None for 4
        :raises NotFound: when the parent of the directory does not exist
        :raises ForeignFile: when the catalogue is synchronized as another user; for another directory
        :raises Unauthorized: when the remote rejects the credentials
        :raises Unavailable: when the remote cannot be reached
        """
        options = _abi.PhotoBackupOptions(
            existing_too=not missing, without_folders=not folders, parallel=_encoding.parallel(parallel)
        )
        folder = b"" if to is None else _encoding.file_path(to, "to")[1]
        report = self._with(
            library.satchel_photos_backup_restore_all,
            (_encoding.lend(folder),),
            remote,
            user,
            options,
            progress,
        )
        failed = records_from(PhotoRestoreFailure, report["failed"])
        return record_from(PhotoRestoreAllReport, report, failed=failed)

    def delete(self, photo: PhotoName, remote: Remote, user: str) -> bool:
        """Deletes a file from the remote, for good.

        The photo's row and its files here stay as they are. A photo that counts as backed up loses its star.

        :param photo: its MD5, or the photo, which need not be in the catalogue
        :param remote: the object store with the files
        :param user: whose files they are
        :returns: whether the remote had the file
        :raises ForeignFile: when the catalogue is synchronized as another user; for another directory
        :raises Unauthorized: when the remote rejects the credentials, or does not permit to delete
        :raises Unavailable: when the remote cannot be reached
        """
        name = lend_md5(photo, "photo")
        options = _abi.PhotoBackupOptions()
        report = self._with(library.satchel_photos_backup_delete, (name,), remote, user, options, None)
        return bool(report["deleted"])

    def refresh(
        self,
        remote: Remote,
        user: str,
        *,
        queue_missing: bool = False,
        read: bool = False,
        abort_uploads: bool = False,
        progress: Optional[Callable[[SyncProgress], object]] = None,
        parallel: Optional[int] = None,
    ) -> PhotoRefreshReport:
        """Lists the files in the remote, and stars the photos that another device has backed up.

        One request for 1,000 files, and one for each device's index; never a part of a synchronization. A
        star that was removed after the upload stays removed.

        :param remote: the object store with the files
        :param user: whose files they are, below "photos/{user}/"
        :param queue_missing: queues photos again that were uploaded, and that the remote does not have, or
            has damaged
        :param read: downloads every file, and compares it with its MD5
        :param abort_uploads: aborts uploads in parts that were begun more than a week ago
        :param progress: receives a :class:`satchel.SyncProgress`, on this thread; returning False cancels
        :param parallel: files that are read concurrently, 1 to 16; None for 4
        :raises ForeignFile: when the catalogue is synchronized as another user; for another directory
        :raises Unauthorized: when the remote rejects the credentials
        :raises Unavailable: when the remote cannot be reached
        :raises Cancelled: when ``progress`` returned False
        """
        options = _abi.PhotoBackupOptions(
            queue_missing=bool(queue_missing),
            read=bool(read),
            abort_uploads=bool(abort_uploads),
            parallel=_encoding.parallel(parallel),
        )
        report, _ = self._work(remote, user, progress, library.satchel_photos_backup_refresh, options)
        return record_from(PhotoRefreshReport, report)

    def verify(
        self,
        remote: Remote,
        user: str,
        *,
        read: bool = False,
        progress: Optional[Callable[[SyncProgress], object]] = None,
        parallel: Optional[int] = None,
    ) -> PhotoRefreshReport:
        """Verifies that the remote has the files, and queues again what is missing or damaged.

        As :meth:`refresh` with ``queue_missing``; the next :meth:`run` uploads what this device has.

        :param remote: the object store with the files
        :param user: whose files they are, below "photos/{user}/"
        :param read: downloads every file, and compares it with its MD5; otherwise presence and sizes are
            verified
        :param progress: receives a :class:`satchel.SyncProgress`, on this thread; returning False cancels
        :param parallel: files that are read concurrently, 1 to 16; None for 4
        """
        return self.refresh(remote, user, queue_missing=True, read=read, progress=progress, parallel=parallel)

    def orphans(self, remote: Remote, user: str, *, abort_uploads: bool = False) -> List[str]:
        """The names of files in the remote that belong to no photo, and that no device's index names.

        At most 1,000; :meth:`delete` deletes one for good. After them those whose upload in parts was begun
        more than a week ago, and that no run has completed: a bucket keeps, and charges for, their parts.

        :param remote: the object store with the files
        :param user: whose files they are, below "photos/{user}/"
        :param abort_uploads: aborts these uploads
        """
        report = self.refresh(remote, user, abort_uploads=abort_uploads)
        return report.unknown + report.uploads

    def _with(self, function: Any, lent: Any, remote: Any, user: str, options: Any, progress: Any) -> Any:
        """Work with a remote of a function that has arguments before it."""
        remote = remote_of(remote)
        photos = self._photos
        name = _encoding.lend_text(user, "user")
        work = LongWork(photos._store._owner, progress_callback(SyncProgress, progress))
        call = with_progress(options, function, photos._pointer, *lent, remote._pointer, name)
        return remote._at_work(work, call, Failures(work))

    def _work(self, remote: Any, user: str, progress: Any, function: Any, options: Any) -> Any:
        """Work with files in the remote, of which one at a time is done for a catalogue."""
        photos = self._photos
        owner = photos._store._owner
        work = LongWork(
            owner, progress_callback(SyncProgress, progress), (owner, "backups", photos._directory)
        )
        return work_with(remote, user, work, function, photos._pointer, options)
