"""Synchronizing a store with an object store: records, state and the photo catalogue, in one call.

>>> remote = satchel.remote.S3(bucket="planner", endpoint="https://s3.example.org", region="eu-central-1")
>>> report = store.sync(remote, "ada")
>>> report.records.downloaded, report.waiting
(3, 0)

The guide to records describes what is synchronized, conflicts, and what a damaged remote means.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from satchel import _abi, _callbacks, _encoding
from satchel._handles import Owner
from satchel._library import check, json_answer, library
from satchel._long_work import LongWork, progress_callback, with_progress
from satchel.errors import Busy, InvalidArgument, code_of
from satchel.values import dataclass, moment, record_from, records_from

if TYPE_CHECKING:
    from satchel.photos import SyncReport
    from satchel.remote import Remote, SyncProgress

__all__ = [
    "AccountDeletionReport",
    "PlannedChange",
    "StoreSyncReport",
    "StoreSyncStatus",
    "SyncCounts",
    "SyncFailure",
    "SyncLoss",
    "SyncingStore",
]


@dataclass(frozen=True)
class StoreSyncStatus:
    """The synchronization status of records and state; photo catalogues have their own status.

    ``remote`` and ``user`` are what the store is bound to, None for a store that was never synchronized, or
    was detached. ``pending`` counts the changes of records and state that are saved, and not uploaded yet.
    ``last_sync`` is when these were last synchronized completely, in Unix milliseconds. ``owner`` is the user
    whom the content belongs to, also after :meth:`Store.detach <satchel.Store.detach>`; None for that of a
    guest.
    """

    remote: Optional[str]
    user: Optional[str]
    pending: int
    last_sync: Optional[int]
    owner: Optional[str] = None

    @property
    def last_sync_at(self) -> Optional[datetime]:
        """``last_sync`` in UTC."""
        return None if self.last_sync is None else moment(self.last_sync)


@dataclass(frozen=True)
class SyncCounts:
    """The counts of a sync for the records, or for the state.

    ``downloaded`` remote versions were applied, ``uploaded`` local changes were sent. ``deleted_locally``
    deletions of other devices were applied, ``deleted_remotely`` local ones were sent. ``merged`` counts
    changes of both sides that were merged, ``conflicts`` those that wait for ``records.resolve()`` and those
    of versions that were discarded, which ``lost`` counts alone, ``waiting`` remote versions that cannot be
    applied yet: see ``records.conflicts()``.
    """

    downloaded: int
    uploaded: int
    deleted_locally: int
    deleted_remotely: int
    merged: int
    conflicts: int
    lost: int
    waiting: int


@dataclass(frozen=True)
class SyncFailure:
    """A record, or a part of the state, that could not be sent; a later synchronization retries it.

    ``collection`` is that of the record, or "@state"; ``id`` identifies it there, that of state is its kind
    and its name, such as "list/history". ``code`` is that of the errors, such as "EINVALID", ``message`` the
    description.
    """

    collection: str
    id: str
    code: str
    message: str


@dataclass(frozen=True)
class SyncLoss:
    """An object of the remote that could not be read, and was given up with ``accept_loss``.

    ``pack`` is the name of the object, ``entries`` the number of versions that it had.
    """

    pack: str
    entries: int


@dataclass(frozen=True)
class PlannedChange:
    """The action that a sync would take for a record, or a part of the state; see :class:`SyncFailure`.

    ``collection`` and ``id`` identify it. ``action`` is "upload", "download", "delete_remotely",
    "delete_locally", "merge", "conflict" or "wait".
    """

    collection: str
    id: str
    action: str


@dataclass(frozen=True, repr=False)
class StoreSyncReport:
    """The result of a synchronization, or of a ``dry_run``.

    ``records`` and ``state`` count what was done with both, ``photos`` is the report of the photo catalogue
    that is bound to the same remote and user, by its first ``photos.sync``; None without one. ``failed``
    could not be sent. ``repaired`` objects of the remote were missing or damaged and were written again,
    ``losses`` were given up with ``accept_loss``. ``batch_cut``: a batch was sent in parts, because it is too
    large for one request. ``requests`` counts requests to the object store with retries, ``bytes_up`` and
    ``bytes_down`` bytes of bodies. ``unchanged``: nothing had to be transferred. ``planned`` is what a
    synchronization would do after a dry run, and [] otherwise. ``first_upload`` is the number of records and
    parts of the state that the first synchronization as a user sent, and 0 of every other one.
    """

    records: SyncCounts
    state: SyncCounts
    photos: Optional[SyncReport]
    failed: List[SyncFailure]
    repaired: int
    losses: List[SyncLoss]
    batch_cut: bool
    requests: int
    bytes_up: int
    bytes_down: int
    unchanged: bool
    dry_run: bool
    planned: List[PlannedChange] = field(default_factory=list)
    first_upload: int = 0

    @property
    def ok(self) -> bool:
        """Whether everything was sent, photos included."""
        return not self.failed and (self.photos is None or self.photos.ok)

    @property
    def conflicts(self) -> int:
        """The number of conflicts that wait for ``records.resolve()``, and of versions that were lost."""
        return self.records.conflicts + self.state.conflicts

    @property
    def waiting(self) -> int:
        """The number of remote versions that cannot be applied yet."""
        return self.records.waiting + self.state.waiting

    def __repr__(self) -> str:
        counts = {name: _counted(getattr(self, name)) for name in ("records", "state")}
        parts = [f"{name}({counted})" for name, counted in counts.items() if counted]
        if self.photos is not None:
            parts.append(f"photos={'unchanged' if self.photos.unchanged else 'changed'}")
        for name in ("failed", "losses", "planned"):
            if getattr(self, name):
                parts.append(f"{name}={len(getattr(self, name))}")
        if self.repaired:
            parts.append(f"repaired={self.repaired}")
        parts.extend(name for name in ("batch_cut", "dry_run", "unchanged") if getattr(self, name))
        traffic = f"requests={self.requests} bytes_up={self.bytes_up} bytes_down={self.bytes_down}"
        return f"<satchel.StoreSyncReport {' '.join(parts)} {traffic}>"


@dataclass(frozen=True)
class AccountDeletionReport:
    """The result of :meth:`satchel.Store.delete_account`: ``objects`` that were deleted, and ``requests``."""

    objects: int
    requests: int


#: The C values of ``first=``.
_FIRST = {None: 0, "upload": 1, "discard": 2}


def first_sync(first: Optional[str]) -> int:
    """The C value of what a first synchronization does with content of another user."""
    if first not in _FIRST:
        raise InvalidArgument(f'first: {first!r} is neither None, "upload" nor "discard"')
    return _FIRST[first]


class SyncingStore(Owner):
    """The part of :class:`satchel.Store` that synchronizes."""

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
            send what they have again. With ``key``, also replaces a remote that has lost its encryption
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
        options = _abi.StoreSyncOptions(
            dry_run=bool(dry_run),
            accept_loss=bool(accept_loss),
            verify=bool(verify),
            purge=bool(purge),
            first=first_sync(first),
            recreate=bool(recreate),
            parallel=_encoding.parallel(parallel),
        )
        if key is not None:
            options.key = _encoding.lend_key(key)
        return self._synchronize(remote, user, progress, library.satchel_store_sync, options)

    def rekey(
        self, remote: Remote, user: str, key: Optional[bytes], *, old_key: Optional[bytes] = None
    ) -> StoreSyncReport:
        """Synchronizes, and encrypts the records and the state in the remote with another key.

        Devices with the new key go on; for the others :meth:`sync` raises Unauthorized from then on. A call
        that was interrupted can be repeated.

        :param remote: as for :meth:`sync`
        :param user: as for :meth:`sync`
        :param key: the new key, 32 bytes; None to store the data unencrypted
        :param old_key: the present key; None when there is none
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
        from satchel.remote import SyncProgress, work_with

        pointer = self._pointer
        self._refuse_in_batch("a store cannot be synchronized in a batch")
        # It synchronizes photos as well, and would wait for those in whose callback it begins.
        photos = (self._owner, "photos")
        work = LongWork(
            self._owner, progress_callback(SyncProgress, progress), self._synchronization, photos
        )
        report, failures = work_with(remote, user, work, function, pointer, options)
        return _report_from(report, causes_of(failures))

    def sync_status(self) -> StoreSyncStatus:
        """The synchronization status of records and state; uses no network, and does not wait for a sync."""
        return record_from(StoreSyncStatus, json_answer(library.satchel_store_sync_status, self._pointer))

    def detach(self) -> None:
        """Ends the binding to a remote and a user; waits for a running synchronization.

        Local and remote data remain, and the local content still belongs to the user: see :meth:`sign_out`.
        Open and waiting conflicts are deleted. The next :meth:`sync` as the same user binds the store again,
        and compares everything.

        :raises InvalidArgument: in a batch
        :raises Busy: in a callback of a synchronization of this store
        """
        if _callbacks.is_running(self._synchronization):
            raise Busy("a store cannot be detached in a callback of its synchronization")
        check(library.satchel_store_detach(self._pointer))

    def sign_out(
        self,
        remote: Optional[Remote] = None,
        *,
        key: Optional[bytes] = None,
        unsent: str = "refuse",
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> Optional[StoreSyncReport]:
        """Ends the session of the user whom the content belongs to.

        Synchronizes with the remote first, if there is one, unbinds the store, and removes what is the
        user's: all records with their conflicts, the state that is marked with ``synced=True``, sensitive
        state, the rows of photo catalogues that were synchronized, the reader's progress, purchases, the
        outbox file, and the keys of ``state.set_key``. Their bytes leave the file and its WAL. What is the
        device's or the app's stays: the catalogue, other state, photo catalogues that were never
        synchronized, declarations, and the files of photos. The files of mirrors are written empty. Nothing
        is synchronized as a deletion. Handles stay usable, and live queries and observers are notified.

        What is left to do after a crash is completed by any later call, of any process, or when the store is
        opened.

        :param remote: is synchronized with as the owner; None synchronizes nothing
        :param key: as for :meth:`sync`
        :param unsent: "refuse": fails while there are changes that were never sent; "discard": they are lost
        :param progress: as for :meth:`sync`
        :returns: the report of the synchronization; None without one
        :raises Conflict: names the number of changes that were never sent; nothing is removed
        :raises InvalidArgument: in a batch
        :raises Busy: when the user is signed out, and bytes are left in the WAL because another handle reads
            or writes: call it again; and as :meth:`sync`
        :raises ForeignFile, Damaged, NewerStore, Unauthorized, Unavailable, Cancelled, ReadOnly: as
            :meth:`sync`
        """
        from satchel.photos._reports import causes_of
        from satchel.remote import SyncProgress, remote_of
        from satchel.remote._host import Failures

        if unsent not in ("refuse", "discard"):
            raise InvalidArgument(f'unsent: {unsent!r} is neither "refuse" nor "discard"')
        pointer = self._pointer
        self._refuse_in_batch("a store cannot be signed out in a batch")
        options = _abi.StoreSyncOptions()
        if key is not None:
            options.key = _encoding.lend_key(key)
        discards = unsent == "discard"

        def function(store: int, remote: Optional[int], options: Any, out: Any) -> int:
            return int(library.satchel_store_sign_out(store, remote, options, discards, out))

        photos = (self._owner, "photos")
        work = LongWork(
            self._owner, progress_callback(SyncProgress, progress), self._synchronization, photos
        )
        failures = Failures(work)
        if remote is None:
            report = work.run(with_progress(options, function, pointer, None))
        else:
            call = with_progress(options, function, pointer, remote_of(remote)._pointer)
            report = remote._at_work(work, call, failures)
        return None if report is None else _report_from(report, causes_of(failures))

    def delete_account(
        self,
        remote: Remote,
        user: str,
        *,
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> AccountDeletionReport:
        """Deletes everything that a user has in a remote, photos included.

        Closes the account first, so that no device writes to it again, and then deletes all other objects of
        the user. Local content stays: :meth:`sign_out` removes it. On a device that meets the closed account,
        :meth:`sync` raises ForeignFile and changes nothing in the remote; only ``sync(first="upload")`` opens
            it
        again. Other programs do not know that the photo catalogue is closed, and may write to it. A call that
        was interrupted can be repeated.

        :param remote: as for :meth:`sync`
        :param user: as for :meth:`sync`
        :param progress: as for :meth:`sync`
        :raises ForeignFile: for another user than the owner of the store's content
        :raises InvalidArgument: for an invalid user; for a remote without conditional writes, or without an
            identity; in a batch
        :raises NewerStore, Unauthorized, Unavailable, Busy, Cancelled, ReadOnly: as :meth:`sync`
        """
        from satchel.remote import SyncProgress, work_with

        pointer = self._pointer
        self._refuse_in_batch("an account cannot be deleted in a batch")
        photos = (self._owner, "photos")
        work = LongWork(
            self._owner, progress_callback(SyncProgress, progress), self._synchronization, photos
        )
        function = library.satchel_store_delete_account
        report, _ = work_with(remote, user, work, function, pointer, _abi.StoreSyncOptions())
        return record_from(AccountDeletionReport, report)

    @property
    def _synchronization(self) -> object:
        return self._owner, "sync"


def _counted(counts: SyncCounts) -> str:
    """The counts that are not 0."""
    named = ((name, getattr(counts, name)) for name in SyncCounts.__annotations__)
    return ", ".join(f"{name}={number}" for name, number in named if number)


def _report_from(
    answer: Dict[str, Any], cause_of: Callable[[int], Optional[BaseException]]
) -> StoreSyncReport:
    """A report with its parts.

    :param cause_of: returns the exception that a function of the host raised for a shard
    """
    from satchel.photos._reports import sync_from

    photos = answer["photos"]
    return record_from(
        StoreSyncReport,
        answer,
        records=record_from(SyncCounts, answer["records"]),
        state=record_from(SyncCounts, answer["state"]),
        photos=None if photos is None else sync_from(photos, cause_of),
        failed=[record_from(SyncFailure, each, code=code_of(each["code"])) for each in answer["failed"]],
        losses=records_from(SyncLoss, answer["losses"]),
        planned=records_from(PlannedChange, answer["planned"]),
    )
