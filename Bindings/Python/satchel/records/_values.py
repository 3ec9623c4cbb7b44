"""Results of records: frozen dataclasses; :mod:`satchel.records` exports them.

Times are Unix milliseconds. For each of them a property returns the same as an aware ``datetime``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Callable, Dict, Generic, List, Optional, TypeVar

from satchel.errors import code_of
from satchel.values import dataclass, moment, record_from

__all__ = [
    "CollectionInfo",
    "MirrorDifference",
    "MirrorReport",
    "Record",
    "RecordConflict",
    "RecordFailure",
    "SyncProgress",
    "SyncReport",
    "record_of",
    "report_from",
]

_Document = TypeVar("_Document")


@dataclass(frozen=True)
class Record(Mapping[str, Any], Generic[_Document]):
    """A document with its metadata; ``id`` is unique in its collection.

    ``revision`` counts its writes, from 1; ``created`` and ``modified`` are Unix milliseconds.
    ``sync_status`` is "local" (its collection was never synchronized), "pending", "synced" or "conflict".
    ``document`` is a dict, or what the collection was opened ``of``.

    Also a mapping of the document: ``record["title"]`` is ``record.document["title"]``, and a record equals
    a dict with the same members. Two records are equal when all their fields are.
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
        # A record with an empty document is still true.
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

    ``name`` identifies it; ``version`` is that of its documents, ``count`` the number of records. ``indexes``
    and ``relations`` are as declared; ``user`` is the user of the remote copy that it was synchronized with,
    or None.
    """

    name: str
    version: int
    count: int
    indexes: List[Any]
    relations: Dict[str, Any]
    user: Optional[str]


@dataclass(frozen=True)
class MirrorDifference:
    """A record that differs between a collection and its mirror, by its ``id``.

    ``kind`` is "missing_in_file", "missing_in_store" or "differs"; then ``pointer`` is the JSON Pointer of
    the first difference.
    """

    id: str
    kind: str
    pointer: Optional[str]


@dataclass(frozen=True)
class MirrorReport:
    """The result of attaching a mirror.

    ``imported`` counts the records that were imported from the file. ``quarantined`` is the new path of the
    file when the store was preferred to it, or None.
    """

    imported: int
    quarantined: Optional[str]


@dataclass(frozen=True)
class RecordFailure:
    """A record, by its ``id``, that failed; the others were synchronized.

    ``code`` is that of the errors, such as "EUNAVAILABLE", ``message`` the description. ``cause`` is the
    exception of a function of
    :class:`satchel.remote.Callbacks`, if that is the reason.
    """

    id: str
    code: str
    message: str
    cause: Optional[BaseException] = field(default=None, compare=False)


@dataclass(frozen=True)
class SyncProgress:
    """The progress of a synchronization; ``phase`` is "list" or "records".

    ``records_done`` of ``records_total`` records were transferred, ``bytes_up`` and ``bytes_down`` bytes.
    """

    phase: str
    records_done: int
    records_total: int
    bytes_up: int
    bytes_down: int


@dataclass(frozen=True)
class SyncReport:
    """The result of a synchronization, or of a ``dry_run``: numbers of records.

    ``downloaded`` and ``uploaded`` records were transferred, ``unchanged`` ones needed no transfer.
    ``deleted_locally`` were deleted locally because they were deleted remotely, ``deleted_remotely`` the
    reverse. ``conflicts`` were changed on both sides, whether resolved by the policy or waiting for
    ``records.resolve()``; ``merged`` records were uploaded, too. ``requests`` counts requests to the object
    store, ``bytes_up`` and ``bytes_down`` the bytes of the transferred objects. ``failed`` records stay
    pending, and are retried with backoff.
    """

    downloaded: int
    uploaded: int
    deleted_locally: int
    deleted_remotely: int
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

    ``id`` is the number of the conflict, ``record`` the record's id, ``time`` the time of detection, in Unix
    milliseconds. ``kind`` is "open" (it waits for ``records.resolve()``) or "lost" (the policy discarded the
    local version). ``local``, ``remote`` and ``base`` are the local document, the remote one, and the one
    synchronized last: dicts, or None where it was deleted or did not exist.
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
    """Makes a record from a JSON object, which is modified.

    :param read: converts the document; it receives the record's id for its messages
    """
    answer["document"] = read(answer["document"], answer["id"])
    return record_from(Record, answer)


def report_from(answer: Dict[str, Any], cause_of: Callable[[str], Optional[BaseException]]) -> SyncReport:
    """A report with its failures.

    :param cause_of: returns the exception that a function of the host raised for a record
    """
    failed = [
        record_from(RecordFailure, each, code=code_of(each["code"]), cause=cause_of(each["id"]))
        for each in answer["failed"]
    ]
    return record_from(SyncReport, answer, failed=failed)
