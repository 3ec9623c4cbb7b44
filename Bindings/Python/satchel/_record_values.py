"""What is said of records: small frozen records. Times are Unix milliseconds.

:mod:`satchel.records` has them all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, Generic, List, Optional, TypeVar

from satchel._dataclasses import dataclass
from satchel.errors import BY_STATUS, SatchelError
from satchel.values import record_from

__all__ = [
    "CollectionInfo",
    "MirrorDifference",
    "MirrorReport",
    "Record",
    "RecordConflict",
    "RecordFailure",
    "SyncProgress",
    "SyncReport",
    "conflict_from",
    "moment",
    "record_of",
    "report_from",
]

_Document = TypeVar("_Document")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def moment(milliseconds: int) -> datetime:
    """A time in UTC.

    :raises OverflowError: for a year that ``datetime`` does not have
    """
    return _EPOCH + timedelta(milliseconds=milliseconds)


@dataclass(frozen=True)
class Record(Mapping[str, Any], Generic[_Document]):
    """A document with what is known of it.

    ``revision`` counts its writes, from 1; ``created`` and ``modified`` are Unix milliseconds.
    ``sync_status`` is "local" (its collection was never synchronised), "pending", "synced" or "conflict".
    ``document`` is a dict, or what the collection was opened ``of``.

    Also a mapping of the document: ``record["title"]`` is ``record.document["title"]``, and a record equals
    a dict with the same members. Two records are equal when everything of them is.
    """

    id: str
    revision: int
    created: int
    modified: int
    sync_status: str
    document: _Document

    @property
    def created_at(self) -> datetime:
        """``created`` in UTC."""
        return moment(self.created)

    @property
    def modified_at(self) -> datetime:
        """``modified`` in UTC."""
        return moment(self.modified)

    @property
    def _members(self) -> Mapping[str, Any]:
        document: Any = self.document
        if isinstance(document, Mapping):
            return document
        return {each.name: getattr(document, each.name) for each in dataclasses.fields(document)}

    def __getitem__(self, member: str) -> Any:
        return self._members[member]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __bool__(self) -> bool:
        # That the document is empty does not make the record nothing.
        return True

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Record):
            names = [each.name for each in dataclasses.fields(self)]
            return all(getattr(self, name) == getattr(other, name) for name in names)
        return dict(self) == dict(other) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.id, self.revision))


@dataclass(frozen=True)
class CollectionInfo:
    """A collection of a store.

    ``indexes`` and ``relations`` are as they were declared; ``user`` is whose master copy it was
    synchronised with, or None.
    """

    name: str
    version: int
    count: int
    indexes: List[Any]
    relations: Dict[str, Any]
    user: Optional[str]


@dataclass(frozen=True)
class MirrorDifference:
    """A record that is not the same in a collection and in its mirror.

    ``kind`` is "missing_in_file", "missing_in_store" or "differs"; then ``pointer`` is the JSON Pointer of
    the first place where they differ.
    """

    id: str
    kind: str
    pointer: Optional[str]


@dataclass(frozen=True)
class MirrorReport:
    """What attaching a mirror did.

    ``imported`` counts the records that the store took from the file. ``set_aside`` is the path of the file
    that the store was preferred to, or None.
    """

    imported: int
    set_aside: Optional[str]


@dataclass(frozen=True)
class RecordFailure:
    """A record that failed; the others went on.

    ``code`` is that of the errors, such as "EBUSY". ``cause`` is what a function of
    :class:`satchel.remote.Callbacks` raised, if that is why.
    """

    id: str
    code: str
    message: str
    cause: Optional[BaseException] = field(default=None, compare=False)


@dataclass(frozen=True)
class SyncProgress:
    """How far a synchronisation has come; ``phase`` is "list" or "records"."""

    phase: str
    records_done: int
    records_total: int
    bytes_up: int
    bytes_down: int


@dataclass(frozen=True)
class SyncReport:
    """What a synchronisation did, or what it would do when it was a ``dry_run``: numbers of records.

    ``conflicts`` had been changed on both sides, however that was settled, or wait for
    ``records.resolve()``; ``merged`` were uploaded, too. ``requests`` are those to the object
    store, the bytes those of the objects that moved. Records that ``failed`` stay pending, and are tried
    again later and later.
    """

    downloaded: int
    uploaded: int
    deleted_here: int
    deleted_there: int
    merged: int
    conflicts: int
    unchanged: int
    requests: int
    bytes_up: int
    bytes_down: int
    failed: List[RecordFailure]
    dry_run: bool

    @property
    def ok(self) -> bool:
        """Whether no record failed."""
        return not self.failed


@dataclass(frozen=True)
class RecordConflict:
    """A record that both sides changed.

    ``record`` is its id, ``time`` when that was noticed, in Unix milliseconds. ``kind`` is "open" (it waits
    for ``records.resolve()``) or "lost" (the strategy gave the local version up). ``local``, ``remote`` and
    ``base`` are the document as it was here, as it came, and as both sides last agreed on: dicts, or None
    where it was deleted or not there.
    """

    id: int
    record: str
    kind: str
    time: int
    local: Optional[Dict[str, Any]]
    remote: Optional[Dict[str, Any]]
    base: Optional[Dict[str, Any]]

    @property
    def happened_at(self) -> datetime:
        """``time`` in UTC."""
        return moment(self.time)


def record_of(answer: Dict[str, Any], read: Callable[[Dict[str, Any], str], _Document]) -> Record[_Document]:
    """A record from what the library said of it, which is used up by that.

    :param read: makes the document of JSON's, given the record's id for its messages
    """
    answer["document"] = read(answer["document"], answer["id"])
    return record_from(Record, answer)


def report_from(answer: Dict[str, Any], cause_of: Callable[[str], Optional[BaseException]]) -> SyncReport:
    """A report with its failures.

    :param cause_of: what was raised in the host's functions for a record
    """
    failed = [_failure(each, cause_of(each["id"])) for each in answer["failed"]]
    return record_from(SyncReport, answer, failed=failed)


def _failure(answer: Dict[str, Any], cause: Optional[BaseException]) -> RecordFailure:
    kind = BY_STATUS.get(answer["code"], SatchelError)
    return record_from(RecordFailure, answer, code=kind.code, cause=cause)


def conflict_from(answer: Dict[str, Any]) -> RecordConflict:
    """A conflict."""
    return record_from(RecordConflict, answer)
