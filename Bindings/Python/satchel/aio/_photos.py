"""The asynchronous twins of PhotoCatalogue, PhotoBackup; written by generate_aio.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel.aio._calls import ClosingTwin, Twin, twin_of
from satchel.photos import PhotoBackup as BlockingPhotoBackup
from satchel.photos import PhotoCatalogue as BlockingPhotoCatalogue

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any, Callable, Iterable, List, Mapping, Optional, Union

    from satchel import _encoding
    from satchel._encoding import FilePath
    from satchel.photos._arguments import PhotoName, Time
    from satchel.photos._reports import (
        DirectoryExport,
        DirectoryImport,
        ImportReport,
        PhotoBackupReport,
        PhotoRefreshReport,
        PhotoRestoreReport,
        ScanProgress,
        ScanReport,
        SyncReport,
        VerifyReport,
    )
    from satchel.photos._values import CatalogueStatus, Photo, PhotoChange, PhotoPage
    from satchel.remote import Remote, SyncProgress
    from satchel.sync._conflicts import ConflictEntry

__all__ = ["PhotoBackup", "PhotoCatalogue"]


@twin_of(BlockingPhotoCatalogue)
class PhotoCatalogue(ClosingTwin):
    """The asynchronous twin of :class:`satchel.PhotoCatalogue`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingPhotoCatalogue

    @property
    def directory(self) -> str:
        """As :attr:`satchel.PhotoCatalogue.directory`."""
        return self._blocking.directory

    async def get(self, md5: PhotoName) -> Optional[Photo]:
        """As :meth:`satchel.PhotoCatalogue.get`."""
        return await self._calls.read(lambda: self._blocking.get(md5))

    async def count(
        self,
        *,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        filename: Optional[str] = None,
        starred: Optional[bool] = None,
        backup_status: Optional[str] = None,
        shard: Optional[int] = None,
    ) -> int:
        """As :meth:`satchel.PhotoCatalogue.count`."""
        return await self._calls.read(
            lambda: self._blocking.count(
                from_=from_,
                to=to,
                filename=filename,
                starred=starred,
                backup_status=backup_status,
                shard=shard,
            )
        )

    async def query(
        self,
        *,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        filename: Optional[str] = None,
        starred: Optional[bool] = None,
        backup_status: Optional[str] = None,
        shard: Optional[int] = None,
        order: Optional[str] = None,
        descending: bool = False,
        limit: int = 1000,
        after: Optional[str] = None,
    ) -> PhotoPage:
        """As :meth:`satchel.PhotoCatalogue.query`."""
        return await self._calls.read(
            lambda: self._blocking.query(
                from_=from_,
                to=to,
                filename=filename,
                starred=starred,
                backup_status=backup_status,
                shard=shard,
                order=order,
                descending=descending,
                limit=limit,
                after=after,
            )
        )

    def iterate(
        self,
        *,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        filename: Optional[str] = None,
        starred: Optional[bool] = None,
        backup_status: Optional[str] = None,
        shard: Optional[int] = None,
        order: Optional[str] = None,
        descending: bool = False,
    ) -> AsyncIterator[Photo]:
        """As :meth:`satchel.PhotoCatalogue.iterate`."""
        return self._calls.each(
            lambda: self._blocking.iterate(
                from_=from_,
                to=to,
                filename=filename,
                starred=starred,
                backup_status=backup_status,
                shard=shard,
                order=order,
                descending=descending,
            )
        )

    async def status(self) -> CatalogueStatus:
        """As :meth:`satchel.PhotoCatalogue.status`."""
        return await self._calls.read(lambda: self._blocking.status())

    async def modified_shards(self) -> List[int]:
        """As :meth:`satchel.PhotoCatalogue.modified_shards`."""
        return await self._calls.read(lambda: self._blocking.modified_shards())

    async def changes(self) -> List[PhotoChange]:
        """As :meth:`satchel.PhotoCatalogue.changes`."""
        return await self._calls.read(lambda: self._blocking.changes())

    def iterate_changes(self) -> AsyncIterator[PhotoChange]:
        """As :meth:`satchel.PhotoCatalogue.iterate_changes`."""
        return self._calls.each(lambda: self._blocking.iterate_changes())

    @property
    def backup(self) -> PhotoBackup:
        """As :attr:`satchel.PhotoCatalogue.backup`."""
        return PhotoBackup(self._calls, self._blocking.backup)

    async def upsert(
        self,
        photos: Union[Photo, Mapping[str, Any], Iterable[Union[Photo, Mapping[str, Any]]]],
        *,
        batch: int = 5000,
    ) -> int:
        """As :meth:`satchel.PhotoCatalogue.upsert`."""
        return await self._calls.write(lambda: self._blocking.upsert(photos, batch=batch))

    async def delete(self, md5: Union[PhotoName, Iterable[PhotoName]]) -> int:
        """As :meth:`satchel.PhotoCatalogue.delete`."""
        return await self._calls.write(lambda: self._blocking.delete(md5))

    async def set_local(self, md5: PhotoName, **columns: Any) -> None:
        """As :meth:`satchel.PhotoCatalogue.set_local`."""
        await self._calls.write(lambda: self._blocking.set_local(md5, **columns))

    async def star(self, md5: PhotoName, starred: bool = True) -> None:
        """As :meth:`satchel.PhotoCatalogue.star`."""
        await self._calls.write(lambda: self._blocking.star(md5, starred))

    async def export_shard(self, shard: int) -> bytes:
        """As :meth:`satchel.PhotoCatalogue.export_shard`."""
        return await self._calls.read(lambda: self._blocking.export_shard(shard))

    async def import_shard(
        self,
        shard: int,
        data: _encoding.Encoded,
        on_conflict: str = "remote_wins",
    ) -> ImportReport:
        """As :meth:`satchel.PhotoCatalogue.import_shard`."""
        return await self._calls.write(lambda: self._blocking.import_shard(shard, data, on_conflict))

    async def export_directory(self, path: FilePath) -> DirectoryExport:
        """As :meth:`satchel.PhotoCatalogue.export_directory`."""
        return await self._calls.work(lambda: self._blocking.export_directory(path))

    async def import_directory(self, path: FilePath, on_conflict: str = "remote_wins") -> DirectoryImport:
        """As :meth:`satchel.PhotoCatalogue.import_directory`."""
        return await self._calls.work(lambda: self._blocking.import_directory(path, on_conflict))

    async def scan(
        self,
        delete_missing: bool = False,
        time_zone_offset: int = 0,
        progress: Optional[Callable[[ScanProgress], object]] = None,
        *,
        force_rehash: bool = False,
        parallel: Optional[int] = None,
    ) -> ScanReport:
        """As :meth:`satchel.PhotoCatalogue.scan`; ``progress`` is called on the event loop."""
        return await self._calls.work(
            lambda: self._blocking.scan(
                delete_missing,
                time_zone_offset,
                self._calls.on_loop(progress),
                force_rehash=force_rehash,
                parallel=parallel,
            )
        )

    async def sync(
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
        """As :meth:`satchel.PhotoCatalogue.sync`; ``progress`` is called on the event loop."""
        return await self._calls.work(
            lambda: self._blocking.sync(
                remote,
                user,
                on_conflict,
                self._calls.on_loop(progress),
                dry_run,
                parallel=parallel,
                allow_unsafe_remote=allow_unsafe_remote,
                first=first,
                recreate=recreate,
            )
        )

    async def verify(
        self,
        remote: Remote,
        user: str,
        repair: bool = False,
        progress: Optional[Callable[[SyncProgress], object]] = None,
        *,
        parallel: Optional[int] = None,
        allow_unsafe_remote: bool = False,
    ) -> VerifyReport:
        """As :meth:`satchel.PhotoCatalogue.verify`; ``progress`` is called on the event loop."""
        return await self._calls.work(
            lambda: self._blocking.verify(
                remote,
                user,
                repair,
                self._calls.on_loop(progress),
                parallel=parallel,
                allow_unsafe_remote=allow_unsafe_remote,
            )
        )

    async def detach(self) -> None:
        """As :meth:`satchel.PhotoCatalogue.detach`."""
        await self._calls.write(lambda: self._blocking.detach())

    async def conflicts(self) -> List[ConflictEntry]:
        """As :meth:`satchel.PhotoCatalogue.conflicts`."""
        return await self._calls.read(lambda: self._blocking.conflicts())

    async def resolve(self, conflict: Union[ConflictEntry, int], keep: str) -> None:
        """As :meth:`satchel.PhotoCatalogue.resolve`."""
        await self._calls.write(lambda: self._blocking.resolve(conflict, keep))


@twin_of(BlockingPhotoBackup)
class PhotoBackup(Twin):
    """The asynchronous twin of :class:`satchel.PhotoBackup`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingPhotoBackup

    async def queue(self, photo: PhotoName) -> None:
        """As :meth:`satchel.PhotoBackup.queue`."""
        await self._calls.write(lambda: self._blocking.queue(photo))

    async def claim(self) -> Optional[Photo]:
        """As :meth:`satchel.PhotoBackup.claim`."""
        return await self._calls.write(lambda: self._blocking.claim())

    async def done(self, photo: PhotoName) -> None:
        """As :meth:`satchel.PhotoBackup.done`."""
        await self._calls.write(lambda: self._blocking.done(photo))

    async def failed(self, photo: PhotoName, error: Union[str, BaseException]) -> None:
        """As :meth:`satchel.PhotoBackup.failed`."""
        await self._calls.write(lambda: self._blocking.failed(photo, error))

    async def run(
        self,
        remote: Remote,
        user: str,
        progress: Optional[Callable[[SyncProgress], object]] = None,
        *,
        parallel: Optional[int] = None,
    ) -> PhotoBackupReport:
        """As :meth:`satchel.PhotoBackup.run`; ``progress`` is called on the event loop."""
        return await self._calls.work(
            lambda: self._blocking.run(remote, user, self._calls.on_loop(progress), parallel=parallel)
        )

    async def restore(
        self,
        photo: PhotoName,
        path: FilePath,
        remote: Remote,
        user: str,
        *,
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> PhotoRestoreReport:
        """As :meth:`satchel.PhotoBackup.restore`; ``progress`` is called on the event loop."""
        return await self._calls.work(
            lambda: self._blocking.restore(photo, path, remote, user, progress=self._calls.on_loop(progress))
        )

    async def refresh(
        self,
        remote: Remote,
        user: str,
        *,
        queue_missing: bool = False,
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> PhotoRefreshReport:
        """As :meth:`satchel.PhotoBackup.refresh`; ``progress`` is called on the event loop."""
        return await self._calls.work(
            lambda: self._blocking.refresh(
                remote,
                user,
                queue_missing=queue_missing,
                progress=self._calls.on_loop(progress),
            )
        )
