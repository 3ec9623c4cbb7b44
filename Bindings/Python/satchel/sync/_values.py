"""The reports of a store's synchronization, and their making."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from satchel._abi import FIRST_SYNC
from satchel.errors import InvalidArgument, code_of
from satchel.values import dataclass, moment, record_from, records_from

if TYPE_CHECKING:
    from satchel.photos import SyncReport


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
    """An object of the remote that could not be read, and was left out with ``accept_loss``.

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


@dataclass(frozen=True)
class SyncAssetFailure:
    """An asset that could not be downloaded, by its ``sha256``: the ``message``, and the ``code`` of C."""

    sha256: str
    code: int
    message: str


@dataclass(frozen=True)
class SyncAssets:
    """The assets of a synchronization: how many were ``uploaded`` and ``downloaded``, and which ``failed``.

    ``repaired`` counts the uploaded ones that the remote had lost or damaged, ``dropped`` those that were
    removed from the remote because nothing has referred to them for long. Records that wait for the upload of
    an asset are in ``failed`` of the report.
    """

    uploaded: int = 0
    downloaded: int = 0
    repaired: int = 0
    dropped: int = 0
    failed: List[SyncAssetFailure] = field(default_factory=list)


@dataclass(frozen=True)
class StoreDetachReport:
    """The assets that :meth:`satchel.Store.detach` has left in the remote.

    Documents refer to ``remote_assets`` assets of ``remote_bytes`` bytes that are only there: they cannot be
    had before the store is synchronized with it again. ``fetched`` assets were fetched first, if that was
    asked for.
    """

    remote_assets: int
    remote_bytes: int
    fetched: int


@dataclass(frozen=True, repr=False)
class StoreSyncReport:
    """The result of a synchronization, or of a ``dry_run``.

    ``records`` and ``state`` count what was done with both, ``assets`` what they refer to, ``photos`` is
    the report of the photo catalogue that is bound to the same remote and user, by its first
    ``photos.sync``; None without one. ``unsent_photos`` are the directories of photo catalogues that have
    changes which this synchronization did not send, because their own ``photos.sync`` bound them to no
    remote yet, or to another remote or user. ``failed`` could not be sent. ``repaired`` objects of the
    remote were missing or damaged and were written again, ``losses`` were left out with ``accept_loss``.
    ``batch_cut``: a batch was sent in parts, because it is too large for one request. ``requests`` counts
    requests to the object store with retries, ``bytes_up`` and ``bytes_down`` bytes of bodies.
    ``unchanged``: nothing had to be transferred. ``planned`` is what a synchronization would do after a
    dry run, and [] otherwise. ``first_upload`` is the number of records and parts of the state that the
    first synchronization as a user sent, and 0 of every other one.
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
    unsent_photos: List[str] = field(default_factory=list)
    assets: SyncAssets = field(default_factory=SyncAssets)

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
        for name in ("failed", "losses", "planned", "unsent_photos"):
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


def first_sync(first: Optional[str]) -> int:
    """The C value of what a first synchronization does with content of another user."""
    if first is not None and first not in FIRST_SYNC:
        raise InvalidArgument(f'first: {first!r} is neither None, "upload" nor "discard"')
    return 0 if first is None else FIRST_SYNC[first]


def _counted(counts: SyncCounts) -> str:
    """The counts that are not 0."""
    named = ((name, getattr(counts, name)) for name in SyncCounts.__annotations__)
    return ", ".join(f"{name}={number}" for name, number in named if number)


def report_from(
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
        assets=record_from(
            SyncAssets, answer["assets"], failed=records_from(SyncAssetFailure, answer["assets"]["failed"])
        ),
    )
