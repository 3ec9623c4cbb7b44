"""The asynchronous twins of Store; written by generate_aio.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from satchel.aio._calls import twin_of
from satchel.aio._catalogue import Catalogue
from satchel.aio._opening import StoreTwin
from satchel.aio._photos import PhotoCatalogue
from satchel.aio._records import Records
from satchel.aio._state import State
from satchel.aio._stories import StoryLibrary
from satchel.aio._streams import Observer
from satchel.store import Store as BlockingStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Callable, Dict, Iterable, List, Optional, Type, Union

    from satchel._encoding import FilePath
    from satchel.backup import Backup, BackupProgress, Compaction
    from satchel.observer import Change
    from satchel.records import CollectionInfo, Index, Relation
    from satchel.records._declarations import MigrationStep
    from satchel.remote import Remote, SyncProgress
    from satchel.sync._conflicts import ConflictEntry
    from satchel.sync._values import AccountDeletionReport, StoreSyncReport, StoreSyncStatus
    from satchel.values import Finding, StoreInfo

__all__ = ["Store"]

_Document = TypeVar("_Document")


@twin_of(BlockingStore)
class Store(StoreTwin):
    """The asynchronous twin of :class:`satchel.Store`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingStore

    async def conflicts(self) -> List[ConflictEntry]:
        """As :meth:`satchel.Store.conflicts`."""
        return await self._calls.write(lambda: self._blocking.conflicts())

    async def sync(
        self,
        remote: Remote,
        user: str,
        *,
        dry_run: bool = False,
        accept_loss: bool = False,
        key: Optional[bytes] = None,
        verify: bool = False,
        purge: bool = False,
        first: Optional[str] = None,
        recreate: bool = False,
        parallel: Optional[int] = None,
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> StoreSyncReport:
        """As :meth:`satchel.Store.sync`; ``progress`` is called on the event loop."""
        return await self._calls.work(
            lambda: self._blocking.sync(
                remote,
                user,
                dry_run=dry_run,
                accept_loss=accept_loss,
                key=key,
                verify=verify,
                purge=purge,
                first=first,
                recreate=recreate,
                parallel=parallel,
                progress=self._calls.on_loop(progress),
            )
        )

    async def rekey(
        self,
        remote: Remote,
        user: str,
        key: Optional[bytes],
        *,
        old_key: Optional[bytes] = None,
    ) -> StoreSyncReport:
        """As :meth:`satchel.Store.rekey`."""
        return await self._calls.work(lambda: self._blocking.rekey(remote, user, key, old_key=old_key))

    async def sync_status(self) -> StoreSyncStatus:
        """As :meth:`satchel.Store.sync_status`."""
        return await self._calls.write(lambda: self._blocking.sync_status())

    async def detach(self) -> None:
        """As :meth:`satchel.Store.detach`."""
        await self._calls.work(lambda: self._blocking.detach())

    async def sign_out(
        self,
        remote: Optional[Remote] = None,
        *,
        key: Optional[bytes] = None,
        unsent: str = "refuse",
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> Optional[StoreSyncReport]:
        """As :meth:`satchel.Store.sign_out`; ``progress`` is called on the event loop."""
        return await self._calls.work(
            lambda: self._blocking.sign_out(
                remote,
                key=key,
                unsent=unsent,
                progress=self._calls.on_loop(progress),
            )
        )

    async def delete_account(
        self,
        remote: Remote,
        user: str,
        *,
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> AccountDeletionReport:
        """As :meth:`satchel.Store.delete_account`; ``progress`` is called on the event loop."""
        return await self._calls.work(
            lambda: self._blocking.delete_account(remote, user, progress=self._calls.on_loop(progress))
        )

    async def flush(self) -> bool:
        """As :meth:`satchel.Store.flush`."""
        return await self._calls.write(lambda: self._blocking.flush())

    async def backup(
        self,
        path: FilePath,
        progress: Optional[Callable[[BackupProgress], object]] = None,
    ) -> Backup:
        """As :meth:`satchel.Store.backup`; ``progress`` is called on the event loop."""
        return await self._calls.work(lambda: self._blocking.backup(path, self._calls.on_loop(progress)))

    async def backup_rotate(self, directory: FilePath, keep: int) -> Backup:
        """As :meth:`satchel.Store.backup_rotate`."""
        return await self._calls.work(lambda: self._blocking.backup_rotate(directory, keep))

    async def compact(self, progress: Optional[Callable[[BackupProgress], object]] = None) -> Compaction:
        """As :meth:`satchel.Store.compact`; ``progress`` is called on the event loop."""
        return await self._calls.work(lambda: self._blocking.compact(self._calls.on_loop(progress)))

    async def info(self) -> StoreInfo:
        """As :meth:`satchel.Store.info`."""
        return await self._calls.read(lambda: self._blocking.info())

    async def statistics(self) -> Dict[str, Any]:
        """As :meth:`satchel.Store.statistics`."""
        return await self._calls.read(lambda: self._blocking.statistics())

    async def check(self) -> List[Finding]:
        """As :meth:`satchel.Store.check`."""
        return await self._calls.read(lambda: self._blocking.check())

    @property
    def path(self) -> str:
        """As :attr:`satchel.Store.path`."""
        return self._blocking.path

    @property
    def catalogue(self) -> Catalogue:
        """As :attr:`satchel.Store.catalogue`."""
        return Catalogue(self._calls, self._blocking.catalogue)

    async def stories(self, directory: FilePath, name: Optional[str] = None) -> StoryLibrary:
        """As :meth:`satchel.Store.stories`."""
        return StoryLibrary(self._calls, await self._calls.write(
            lambda: self._blocking.stories(directory, name)
        ))

    async def photos(self, directory: FilePath, on_conflict: Optional[str] = None) -> PhotoCatalogue:
        """As :meth:`satchel.Store.photos`."""
        return PhotoCatalogue(self._calls, await self._calls.write(
            lambda: self._blocking.photos(directory, on_conflict)
        ))

    @overload
    async def records(
        self,
        name: str,
        *,
        of: Type[_Document],
        indexes: Optional[Iterable[Union[str, Index, Mapping[str, Any]]]] = None,
        relations: Optional[Mapping[str, Union[str, Relation, Mapping[str, Any]]]] = None,
        schema: Optional[Union[Mapping[str, Any], bool]] = None,
        version: Optional[int] = None,
        migrations: Optional[Sequence[MigrationStep]] = None,
        redeclare: bool = False,
        on_conflict: Optional[str] = None,
        synced: Optional[bool] = None,
        sensitive: Optional[Iterable[str]] = None,
    ) -> Records[_Document]: ...

    @overload
    async def records(
        self,
        name: str,
        *,
        of: None = None,
        indexes: Optional[Iterable[Union[str, Index, Mapping[str, Any]]]] = None,
        relations: Optional[Mapping[str, Union[str, Relation, Mapping[str, Any]]]] = None,
        schema: Optional[Union[Mapping[str, Any], bool]] = None,
        version: Optional[int] = None,
        migrations: Optional[Sequence[MigrationStep]] = None,
        redeclare: bool = False,
        on_conflict: Optional[str] = None,
        synced: Optional[bool] = None,
        sensitive: Optional[Iterable[str]] = None,
    ) -> Records[Dict[str, Any]]: ...

    async def records(
        self,
        name: str,
        *,
        of: Optional[Type[Any]] = None,
        indexes: Optional[Iterable[Union[str, Index, Mapping[str, Any]]]] = None,
        relations: Optional[Mapping[str, Union[str, Relation, Mapping[str, Any]]]] = None,
        schema: Optional[Union[Mapping[str, Any], bool]] = None,
        version: Optional[int] = None,
        migrations: Optional[Sequence[MigrationStep]] = None,
        redeclare: bool = False,
        on_conflict: Optional[str] = None,
        synced: Optional[bool] = None,
        sensitive: Optional[Iterable[str]] = None,
    ) -> Records[Any]:
        """As :meth:`satchel.Store.records`."""
        method: Any = self._blocking.records
        return Records(self._calls, await self._calls.write(
            lambda: method(
                name,
                of=of,
                indexes=indexes,
                relations=relations,
                schema=schema,
                version=version,
                migrations=migrations,
                redeclare=redeclare,
                on_conflict=on_conflict,
                synced=synced,
                sensitive=sensitive,
            )
        ))

    async def collections(self) -> List[CollectionInfo]:
        """As :meth:`satchel.Store.collections`."""
        return await self._calls.read(lambda: self._blocking.collections())

    async def drop_collection(self, name: str, discard_unsent: bool = False) -> None:
        """As :meth:`satchel.Store.drop_collection`."""
        await self._calls.write(lambda: self._blocking.drop_collection(name, discard_unsent))

    @property
    def state(self) -> State:
        """As :attr:`satchel.Store.state`."""
        return State(self._calls, self._blocking.state)

    async def observe(self, callback: Callable[[Change], object]) -> Observer:
        """As :meth:`satchel.Store.observe`; ``callback`` is called on the event loop."""
        return Observer(self._calls, await self._calls.write(
            lambda: self._blocking.observe(self._calls.later(callback))
        ))
