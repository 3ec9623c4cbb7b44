"""Synchronizing a store with an object store: records, state and the photo catalogue, in one call.

>>> remote = satchel.remote.S3(bucket="planner", endpoint="https://s3.example.org", region="eu-central-1")
>>> report = store.sync(remote, "ada")
>>> report.records.downloaded, report.waiting
(3, 0)

The guide to records describes what is synchronized, conflicts, and what a damaged remote means.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Union

from satchel import _abi, _callbacks, _encoding
from satchel._handles import Owner
from satchel._library import json_answer, library
from satchel._long_work import LongWork, progress_callback
from satchel.errors import Busy, InvalidArgument
from satchel.sync._conflicts import ConflictEntry, entries
from satchel.sync._continuous import ContinuousSync, ContinuousSyncStatus
from satchel.sync._values import (
    AccountDeletionReport,
    PlannedChange,
    StoreDetachReport,
    StoreSyncReport,
    StoreSyncStatus,
    SyncAssetFailure,
    SyncAssets,
    SyncCounts,
    SyncFailure,
    SyncLoss,
    first_sync,
    report_from,
)
from satchel.values import record_from

if TYPE_CHECKING:
    from satchel.catalogue._refreshing import Network
    from satchel.remote import Remote, SyncProgress

__all__ = [
    "AccountDeletionReport",
    "ConflictEntry",
    "ContinuousSync",
    "ContinuousSyncStatus",
    "PlannedChange",
    "StoreDetachReport",
    "StoreSyncReport",
    "StoreSyncStatus",
    "SyncAssetFailure",
    "SyncAssets",
    "SyncCounts",
    "SyncFailure",
    "SyncLoss",
    "SyncingStore",
]


class SyncingStore(Owner):
    """The part of :class:`satchel.Store` that synchronizes."""

    def conflicts(self) -> List[ConflictEntry]:
        """The conflict log, oldest first: versions that were discarded, and those that wait for a decision.

        A synchronization discards versions of records and photos by the declared policies, an import of
        photos local changes.

        :returns: those not yet resolved by ``resolve`` of their collection or catalogue
        :raises Unauthorized: for versions with sensitive fields when the encryption key is not set
        """
        return entries(partial(json_answer, library.satchel_store_conflicts, self._pointer))

    def sync(
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
        assets: Union[str, int] = "lazy",
        asset_uploads: bool = True,
        parallel: Optional[int] = None,
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> StoreSyncReport:
        """Synchronizes the store with a user's data in an object store.

        That is the records of all declared collections, the state that is marked with ``synced=True``, and
        the photo catalogue whose first ``photos.sync`` was with the same remote and user. The first
        synchronization binds the store to both. What cannot be sent or applied does not stop the rest:
        ``failed`` of the report and ``records.conflicts()`` name it. Synchronizations of one store run one
        at a time; other calls are not blocked. Of what they change meanwhile, a synchronization sends what
        two further uploads find, and the next one the rest.

        :param remote: an object store with conditional writes; :class:`satchel.remote.Callbacks` need an
            identity
        :param user: the owner of the data: ASCII letters, digits, ".", "_" and "-", at most 128
        :param dry_run: reports what would be transferred, without transferring it; the store is copied to a
            temporary file for that
        :param accept_loss: goes on where a part of the remote is lost that no device has; other devices then
            send what they have again. Also sends records whose assets no device has: these are missing on all
            devices until one gets the bytes. With ``key``, also replaces a remote that has lost its
            encryption
        :param key: 32 bytes, with which records and state are encrypted (AES-256-GCM) before they leave the
            device, ids included; None when they are not. Photos are not encrypted, because other programs
            read them. See :meth:`rekey`
        :param verify: reads every object of the records and the state, and writes those again that are
            missing or damaged
        :param purge: removes the bytes of replaced and deleted documents from the remote; otherwise they
            leave when their object is next rewritten
        :param first: what the first synchronization does with content that the store has. None adds content
            of a guest, or of the same user, to the user's, and refuses that of another user or remote.
            "upload": it becomes the user's, also where it is another user's, and a closed account is opened
            again. "discard": it is removed, as by :meth:`sign_out`, and what was never sent is lost
        :param recreate: sends everything again to a remote that was synchronized before and has no object of
            the user
        :param assets: the assets to download: "lazy" for none, since ``store.assets.fetch`` gets each when it
            is needed; "all"; or a number of bytes, the newest first
        :param asset_uploads: whether assets are uploaded; otherwise the records that refer to new ones wait,
            as on a metered line
        :param parallel: concurrent transfers, 1 to 16; None for 4
        :param progress: receives a :class:`satchel.SyncProgress`, on this thread; returning False
            cancels. An exception in it cancels too, and is raised here
        :raises InvalidArgument: for an invalid user; for a remote without conditional writes, or without an
            identity; in a batch
        :raises ForeignFile: when the content belongs to another remote or user, which the message names:
            :meth:`sign_out`; when the account was closed by :meth:`delete_account`
        :raises Damaged: when a part of the remote is lost, naming it; other devices may repair it
        :raises NewerStore: when a newer version of Satchel wrote to the remote
        :raises Unauthorized: when the remote rejects the credentials; for another key than that of the
            remote, or none: nothing is changed then
        :raises Unavailable: when the remote cannot be reached; when it was synchronized before and is empty:
            nothing is written to it then
        :raises Busy: when other devices were faster each time; when ``progress``, or a function of the
            remote, starts it again
        :raises Cancelled: when ``progress`` returned False
        :raises ReadOnly: for a store that was opened read-only
        """
        options = _options(key, first, assets, asset_uploads, parallel)
        options.dry_run, options.accept_loss, options.verify = bool(dry_run), bool(accept_loss), bool(verify)
        options.purge, options.recreate = bool(purge), bool(recreate)
        return self._synchronize(remote, user, progress, library.satchel_store_sync, options)

    def run_sync(
        self,
        remote: Remote,
        user: str,
        *,
        every: Optional[int] = 60,
        network: Optional[Callable[[], Network]] = None,
        key: Optional[bytes] = None,
        first: Optional[str] = None,
        assets: Union[str, int] = "lazy",
        asset_uploads: bool = True,
        parallel: Optional[int] = None,
        callback: Optional[Callable[[ContinuousSyncStatus], object]] = None,
    ) -> ContinuousSync:
        """Keeps the store in sync on a thread of the library, as :meth:`sync` does with each call.

        It synchronizes at once, soon after commits of any store or process that have something to send (a
        second after the last one, and at most five after the first), and at an interval, by which the changes
        of other devices come. After a failure it tries again after 5 seconds, then after 10, and so on up to
        an hour, half of it at random.

        It goes on until it is closed, until the store is, and until :meth:`sign_out`, :meth:`detach` or
        :meth:`delete_account` ends the binding to the user: it does not bind the store again.

        :param remote: as for :meth:`sync`
        :param user: as for :meth:`sync`
        :param every: the seconds from the end of a synchronization to the next one, 1 to 31,536,000, and up
            to a tenth more at random; None to synchronize only after commits and on request
        :param network: returns "free", "metered" or "none", before each synchronization: without a network it
            is asked again every 5 seconds; on a metered one no assets are transferred. Called on a thread of
            the library
        :param key: as for :meth:`sync`
        :param first: as for :meth:`sync`, for the synchronization that binds the store
        :param assets: as for :meth:`sync`
        :param asset_uploads: as for :meth:`sync`
        :param parallel: as for :meth:`sync`
        :param callback: receives each new :class:`satchel.ContinuousSyncStatus`, on a thread of the library,
            in order. Its exceptions go to ``sys.unraisablehook``
        :raises InvalidArgument: for an invalid user or interval; for a remote without an identity
        :raises Busy: when the store is kept in sync already; in a callback of its synchronization
        :raises ReadOnly: for a store that was opened read-only
        """
        options = _options(key, first, assets, asset_uploads, parallel)
        return ContinuousSync(self, remote, user, options, every, network, callback)

    def rekey(
        self, remote: Remote, user: str, key: Optional[bytes], *, old_key: Optional[bytes] = None
    ) -> StoreSyncReport:
        """Synchronizes, and encrypts the records and the state in the remote with another key.

        Devices with the new key go on; for the others :meth:`sync` raises Unauthorized from then on. A call
        that was interrupted can be repeated.

        :param remote: as for :meth:`sync`
        :param user: as for :meth:`sync`
        :param key: the new key, 32 bytes; None to store the data unencrypted
        :param old_key: the present key; None for a log that is not encrypted
        :raises InvalidArgument, ForeignFile, Damaged, NewerStore, Unauthorized, Unavailable, Busy, ReadOnly:
            as :meth:`sync`
        """
        options = _abi.StoreSyncOptions()
        if old_key is not None:
            options.key = _encoding.lend_key(old_key)
        new = _encoding.lend_key(key) if key is not None else _encoding.lend(b"")

        def function(store: int, remote: int, user: Any, options: Any, out: Any) -> int:
            return int(library.satchel_store_rekey(store, remote, user, options, new, out))

        return self._synchronize(remote, user, None, function, options)

    def _synchronize(
        self,
        remote: Remote,
        user: str,
        progress: Optional[Callable[[SyncProgress], object]],
        function: Callable[..., int],
        options: _abi.StoreSyncOptions,
    ) -> StoreSyncReport:
        from satchel.photos._reports import causes_of
        from satchel.remote import work_with

        pointer = self._pointer
        self._refuse_in_batch("a store cannot be synchronized in a batch")
        work = self._work(progress)
        report, failures = work_with(remote, user, work, function, pointer, options)
        return report_from(report, causes_of(failures))

    def sync_status(self) -> StoreSyncStatus:
        """The synchronization status of records and state; uses no network, and does not wait for a sync."""
        return record_from(StoreSyncStatus, json_answer(library.satchel_store_sync_status, self._pointer))

    def detach(self, *, fetch_assets: Optional[Remote] = None) -> StoreDetachReport:
        """Ends the binding to a remote and a user; waits for a running synchronization.

        Local and remote data remain, and the local content still belongs to the user: see :meth:`sign_out`.
        Open and waiting conflicts are deleted. The next :meth:`sync` as the same user binds the store again,
        and compares everything.

        :param fetch_assets: the remote of the last synchronization: assets that are only there are fetched
            first; None leaves them there
        :returns: how many assets are only in the remote
        :raises InvalidArgument: in a batch
        :raises Busy: in a callback of a synchronization of this store
        :raises ForeignFile, Unauthorized, Unavailable: with ``fetch_assets``; the store is not detached then
        """
        if _callbacks.is_running(self._synchronization):
            raise Busy("a store cannot be detached in a callback of its synchronization")
        from satchel.remote import remote_of
        from satchel.remote._host import Failures

        call = partial(library.satchel_store_detach, self._pointer)
        if fetch_assets is None:
            found = json_answer(call, None)
        else:
            pointer = remote_of(fetch_assets)._pointer
            self._refuse_in_batch("a store cannot be detached in a batch")

            def fetching(on_progress: Any, context: int) -> Any:
                return json_answer(call, pointer)

            work = self._work(None)
            found = fetch_assets._at_work(work, fetching, Failures(work))
        return record_from(StoreDetachReport, found, fetched=found["assets"]["fetched"])

    def _work(self, progress: Optional[Callable[[SyncProgress], object]]) -> LongWork:
        """A synchronization that begins."""
        from satchel.remote import SyncProgress

        # It synchronizes photos as well, and would wait for those in whose callback it begins.
        photos = (self._owner, "photos")
        return LongWork(self._owner, progress_callback(SyncProgress, progress), self._synchronization, photos)

    @property
    def _synchronization(self) -> object:
        return self._owner, "sync"


def _options(
    key: Optional[bytes],
    first: Optional[str],
    assets: Union[str, int],
    asset_uploads: bool,
    parallel: Optional[int],
) -> _abi.StoreSyncOptions:
    """The options that every synchronization has."""
    options = _abi.StoreSyncOptions(
        first=first_sync(first),
        asset_bytes=_asset_bytes(assets),
        hold_assets=not asset_uploads,
        parallel=_encoding.parallel(parallel),
    )
    if key is not None:
        options.key = _encoding.lend_key(key)
    return options


def _asset_bytes(assets: Union[str, int]) -> int:
    """The bytes of assets that a synchronization downloads."""
    named = {"lazy": 0, "all": -1}
    if isinstance(assets, str):
        if assets not in named:
            raise InvalidArgument(f'assets must be "lazy", "all" or a number of bytes, not {assets!r}')
        return named[assets]
    return _encoding.whole(assets, "assets", 0, 2**63 - 1)
