"""What the library answers with: small frozen records. Times are Unix milliseconds."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, TypeVar

from satchel._dataclasses import dataclass

__all__ = [
    "Change",
    "Entity",
    "Finding",
    "Plan",
    "Problem",
    "PruneReceipt",
    "Receipt",
    "Section",
    "SectionHeader",
    "SessionSection",
    "SessionState",
    "StoreInfo",
]

_Record = TypeVar("_Record")


@dataclass(frozen=True)
class Problem:
    """An object whose ``_storage`` could not be used; it stays inline.

    ``pointer`` is the JSON Pointer of the place in the section as it was sent.
    """

    pointer: str
    reason: str


@dataclass(frozen=True)
class Receipt:
    """What persisting a section did.

    ``saved``, ``updated`` and ``reused`` count entities; ``inline`` the objects that were taken for no
    entity; ``bytes`` is what was written, ``shared_bytes`` what was stored already.
    """

    section: str
    saved: int
    updated: int
    reused: int
    inline: int
    problems: List[Problem]
    bytes: int
    shared_bytes: int


@dataclass(frozen=True)
class SectionHeader:
    """A section without its content. ``level`` is the level that it was found at."""

    section: str
    display_title: Optional[str]
    config: Any
    entity_count: int
    updated_at: int
    level: str


@dataclass(frozen=True)
class Section:
    """A section with its content; ``missing`` and ``expired`` are entity ids."""

    section: str
    display_title: Optional[str]
    config: Any
    content: Any
    missing: List[str]
    expired: List[str]
    level: str
    updated_at: int


@dataclass(frozen=True)
class Plan:
    """A section's entity ids, by what a host has to do: nothing, refresh, fetch."""

    fresh: List[str]
    expired: List[str]
    missing: List[str]


@dataclass(frozen=True)
class Entity:
    """The variant of an entity that covers a location."""

    entity_id: str
    content: Any
    scope: str
    display_name: str
    expires_at: int
    updated_at: int


@dataclass(frozen=True)
class PruneReceipt:
    """What pruning took: entities, contexts, bytes of content, bytes by which the file shrank."""

    entities: int
    contexts: int
    bytes: int
    file_bytes: int


@dataclass(frozen=True)
class Finding:
    """Something wrong with a store's file: a stable code, and a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True)
class Change:
    """What an observer hears after a commit.

    ``subject`` is ``"catalogue"``, and ``keys`` are names of sections and entity ids; or it is
    ``"stories"``, and they are ids of stories; or ``"photos"``, and they are MD5s, or ``"shard:0"`` to
    ``"shard:f"``; or ``"records"``, and they are such as ``"courses/algebra"``, ``"courses"``,
    ``"state/theme"`` or ``"@spilled"``. ``["*"]`` says: read anew. ``place`` is a place's key as text, or the
    directory of the photos; ``own`` says whether this store wrote it.
    """

    subject: str
    keys: List[str]
    place: Optional[str]
    own: bool
    revision: int


@dataclass(frozen=True)
class StoreInfo:
    """Facts about a store.

    ``set_aside`` is where a file that could not be opened was moved to. ``sqlite_wal_reset_bug`` says whether
    the version of SQLite has the bug of that name (https://sqlite.org/wal.html#walresetbug), which Satchel
    prevents on any version.
    """

    path: str
    read_only: bool
    schema_version: int
    file_bytes: int
    sqlite_version: str
    sqlite_wal_reset_bug: bool
    set_aside: Optional[str]


@dataclass(frozen=True)
class SessionSection:
    """A section of a screen; ``state`` is placeholder, loading, loaded or failed (``reason``)."""

    section: str
    state: str
    display_title: Optional[str]
    config: Any
    entity_count: Optional[int]
    content: Any
    expired: List[str]
    missing: List[str]
    reason: Optional[str]


@dataclass(frozen=True)
class SessionState:
    """What a screen shows. ``location`` and ``level`` are None before :meth:`Session.show`."""

    location: Optional[Dict[str, Any]]
    level: Optional[str]
    sections: List[SessionSection]


def _names_of(kind: Any) -> Tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


#: The names of a dataclass's fields.
names_of: Callable[[Any], Tuple[str, ...]] = functools.lru_cache(maxsize=256)(_names_of)


def record_from(kind: Type[_Record], answer: Dict[str, Any], **parts: Any) -> _Record:
    """A record from what the library said; keys of a newer library are passed over.

    :param parts: fields that were made into records already
    """
    if parts:
        answer = {**answer, **parts}
    return kind(*map(answer.get, names_of(kind)))


def receipt_from(answer: Dict[str, Any]) -> Receipt:
    """A receipt with its problems."""
    return record_from(Receipt, answer, problems=[record_from(Problem, each) for each in answer["problems"]])
