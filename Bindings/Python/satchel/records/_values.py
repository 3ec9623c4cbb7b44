"""Results of records: frozen dataclasses; :mod:`satchel.records` exports them.

Times are Unix milliseconds. For each of them a property returns the same as an aware ``datetime``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Callable, Dict, Generic, List, Optional, Tuple, TypeVar, Union

from satchel._types import register_type
from satchel.errors import code_of
from satchel.values import dataclass, moment, record_from

__all__ = [
    "CollectionInfo",
    "MirrorDifference",
    "MirrorReport",
    "NearbyRecord",
    "Page",
    "PutReport",
    "QueryPlan",
    "Record",
    "RecordSearchHit",
    "RejectedRecord",
    "document_of",
    "put_report_from",
    "record_of",
    "spans",
]

_Document = TypeVar("_Document")


@dataclass(frozen=True)
class Record(Mapping[str, Any], Generic[_Document]):
    """A document with its metadata; ``id`` is unique in its collection.

    ``revision`` grows with each write, from 1, or from the revisions of deleted records; ``created`` and
    ``modified`` are Unix milliseconds.
    ``sync_status`` is "local" (the store is not bound to a remote), "pending" (not sent yet), "synced",
    "waiting" (for a remote version that cannot be applied yet) or "conflict" (the host has to decide).
    ``document`` is a dict, or what the collection was opened ``of``.
    ``included`` are the related records that a query includes, by the path of the relation: a Record or None,
    or a list of Records of a relation to many; their documents are dicts.

    Also a mapping of the document: ``record["title"]`` is ``record.document["title"]``, and a record equals
    a dict with the same members. Two records are equal when all their fields are. Written to a collection or
    to the state, it is its document.
    """

    id: str
    revision: int
    created: int
    modified: int
    sync_status: str
    document: _Document
    included: Dict[str, Any] = dataclasses.field(default_factory=dict)

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
class Page(Sequence[Record[_Document]]):
    """Some records of a query's result: a sequence of ``records``.

    ``cursor`` is for ``after`` of the next :meth:`satchel.Records.page`; None on the last page.
    """

    records: List[Record[_Document]]
    cursor: Optional[str]

    def __getitem__(self, position: Any) -> Any:
        return self.records[position]

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True)
class RecordSearchHit(Generic[_Document]):
    """A ``record`` that :meth:`satchel.Records.search` found.

    A higher ``score`` is better within one search. ``excerpt`` is a part of the text at the declared ``path``
    around a word that was found, and ``highlights`` are the parts of it that match:
    ``excerpt[start:end]`` for each ``(start, end)``.
    """

    record: Record[_Document]
    score: float
    path: str
    excerpt: str
    highlights: List[Tuple[int, int]]


@dataclass(frozen=True)
class NearbyRecord(Generic[_Document]):
    """A ``record`` that :meth:`satchel.Records.near` found, and its ``distance`` in metres."""

    record: Record[_Document]
    distance: float


def spans(text: str, ranges: List[List[int]]) -> List[Tuple[int, int]]:
    """Ranges of a text by characters instead of bytes of UTF-8."""
    data = text.encode()
    return [(len(data[:start].decode()), len(data[:end].decode())) for start, end in ranges]


@dataclass(frozen=True)
class QueryPlan:
    """How a query runs.

    ``access`` is how records are found: "scan", "ids", "index", "relation" or "union"; ``paths`` are those of
    the indexes and relations that find them, ``tests`` those that are tested of each record that is found.
    ``order`` is "insertion", "index" (the index has it) or "sorted"; ``found`` is the number of records that
    are found, up to 1,000. ``text`` says the same as a sentence.
    """

    access: str
    paths: List[str]
    tests: List[str]
    order: str
    found: int
    text: str


def document_of(document: Any) -> Any:
    """A document to write: of a record, its document."""
    return document.document if isinstance(document, Record) else document


def _not_stored(value: Any) -> Any:
    raise ValueError("records are stored as their documents, and cannot be read again")


# Also inside of other values.
register_type(Record, document_of, _not_stored)


@dataclass(frozen=True)
class CollectionInfo:
    """A collection of a store.

    ``name`` identifies it; ``version`` is that of its documents, ``count`` the number of records.
    ``indexes``, ``types`` and ``relations`` are as declared; ``sensitive`` are the paths of fields that are
    encrypted, ``search`` and ``positions`` those that are searched; ``on_conflict`` is its conflict policy,
    and ``synced`` whether ``store.sync`` includes it. ``ttl`` is the path of the time at which records
    expire, or their seconds after the latest write, None for never. ``warnings`` are those of its schema, see
    :attr:`Records.warnings`.
    """

    name: str
    version: int
    count: int
    indexes: List[Any]
    types: Dict[str, Any]
    relations: Dict[str, Any]
    sensitive: List[str]
    search: List[str]
    positions: List[str]
    on_conflict: str
    synced: bool
    ttl: Optional[Union[int, str]]
    warnings: List[str]


@dataclass(frozen=True)
class RejectedRecord:
    """A record that ``put_many(…, skip_rejected=True)`` did not write.

    ``position`` counts the documents from 0, ``id`` is the record's. ``code`` is "ECONSTRAINT" (the schema, a
    unique index or a relation forbids it) or "EINVALID"; ``message`` names the record, the place in its
    document, and the reason.
    """

    position: int
    id: Optional[str]
    code: str
    message: str


@dataclass(frozen=True)
class PutReport:
    """The result of ``put_many(…, skip_rejected=True)``.

    ``written`` is the number of records that were written; ``rejected`` are the others, as they were given.
    """

    written: int
    rejected: List[RejectedRecord]


def put_report_from(found: Any) -> PutReport:
    """The report of the library's JSON."""
    rejected = found["rejected"]
    return PutReport(
        found["written"],
        [record_from(RejectedRecord, {**each, "code": code_of(each["code"])}) for each in rejected],
    )


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


def record_of(answer: Dict[str, Any], read: Callable[[Dict[str, Any], str], _Document]) -> Record[_Document]:
    """Makes a record from a JSON object, which is modified.

    :param read: converts the document; it receives the record's id for its messages
    """
    answer["document"] = read(answer["document"], answer["id"])
    included = answer.get("included")
    answer["included"] = {} if included is None else {path: _related(each) for path, each in included.items()}
    return record_from(Record, answer)


def _related(answer: Any) -> Any:
    """The related record or records of one relation."""
    if isinstance(answer, list):
        return [_related(each) for each in answer]
    return None if answer is None else record_from(Record, answer, included={})
