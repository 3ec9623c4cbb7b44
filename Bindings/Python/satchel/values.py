"""Results of the catalogue and of the store: frozen dataclasses. Times are Unix milliseconds.

At the end is how all modules make results from JSON.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from datetime import datetime, timedelta, timezone
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Tuple,
    Type,
    TypeVar,
)

from satchel._html import Rows, html_of

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(**options: Any) -> Callable[[type], type]:
        """As :func:`dataclasses.dataclass`, with slots where Python has them, and a table for notebooks."""
        if sys.version_info >= (3, 10):
            options["slots"] = True

        def made(kind: type) -> type:
            kind._repr_html_ = html_of
            return dataclasses.dataclass(**options)(kind)

        return made


__all__ = [
    "ClockCorrection",
    "Context",
    "Entity",
    "Finding",
    "Nearby",
    "Plan",
    "Problem",
    "PruneReceipt",
    "Receipt",
    "Resolved",
    "SearchHit",
    "Section",
    "SectionHeader",
    "StoreInfo",
    "StoredEntity",
]

_Record = TypeVar("_Record")


@dataclass(frozen=True)
class Problem:
    """An object whose ``_storage`` could not be used, and the ``reason``; it stays inline.

    ``pointer`` is its JSON Pointer in the section as it was sent.
    """

    pointer: str
    reason: str


@dataclass(frozen=True)
class Receipt:
    """The result of persisting a section; ``section`` is its name.

    ``saved``, ``updated`` and ``reused`` count entities; ``inline`` counts objects that are not entities
    because their ``_storage`` is invalid or missing, and ``problems`` are those with an invalid one, and ids
    that name no section. ``detached`` has the ids of entities to which the section does not refer any more.
    ``bytes`` counts the bytes of content written, ``shared_bytes`` those that were stored already.
    """

    section: str
    saved: int
    updated: int
    reused: int
    inline: int
    detached: List[str]
    problems: List[Problem]
    bytes: int
    shared_bytes: int


@dataclass(frozen=True)
class Nearby:
    """A location that content was delivered for, and its ``distance`` in metres.

    ``location`` is the location as it was first delivered.
    """

    location: Dict[str, Any]
    distance: float


class Resolved(NamedTuple):
    """The delivered location by which a level was resolved, and how far away it is.

    ``location`` is the location as it was first delivered, ``metres`` its distance.
    """

    location: Dict[str, Any]
    metres: float


@dataclass(frozen=True)
class SectionHeader:
    """A section without its content, by its name ``section``.

    ``display_title`` and ``config`` are as delivered, None when missing, ``extra`` has the other members of
    the delivered section; ``entity_count`` counts the entities that the location sees; ``updated_at`` is when
    it changed last, ``fetched_at`` when it was last delivered or renewed, in Unix milliseconds. ``etag`` is
    the entity tag of the last delivery, and ``stale`` is whether the section's time to live has passed.
    ``level`` is the level of the place where it was found, "global" for global content of elsewhere.
    ``resolved`` has, by level, the delivered location by which the level was resolved, where the location
    sees the section by that.
    """

    section: str
    display_title: Optional[str]
    config: Any
    extra: Dict[str, Any]
    entity_count: int
    updated_at: int
    fetched_at: int
    etag: Optional[str]
    stale: bool
    level: str
    resolved: Dict[str, Resolved]


@dataclass(frozen=True)
class Section:
    """A section with its ``content``, by its name ``section``.

    ``display_title`` and ``config`` are as delivered, None when missing, ``extra`` has the other members of
    the delivered section. ``missing`` and ``expired`` are the
    ids of entities that are no longer stored, and that have expired. ``level`` is the level of the place
    where it was found; ``updated_at`` is when it changed last, in Unix milliseconds. ``fetched_at``,
    ``etag``, ``stale`` and ``resolved`` are as in :class:`SectionHeader`.
    """

    section: str
    display_title: Optional[str]
    config: Any
    extra: Dict[str, Any]
    content: Any
    missing: List[str]
    expired: List[str]
    level: str
    updated_at: int
    fetched_at: int
    etag: Optional[str]
    stale: bool
    resolved: Dict[str, Resolved]


@dataclass(frozen=True)
class Plan:
    """A section's entity ids: ``fresh`` ones, ``expired`` ones to refresh, ``missing`` ones to fetch.

    ``fetched_at`` is when the section was last delivered or renewed, ``etag`` the entity tag of its last
    delivery, None when it had none.
    """

    fresh: List[str]
    expired: List[str]
    missing: List[str]
    fetched_at: int
    etag: Optional[str]


@dataclass(frozen=True)
class Entity:
    """A variant of an entity.

    ``entity_id`` is its id; ``content`` is the object as delivered, without ``_storage``; ``scope`` is the
    scope of the variant, ``display_name`` the name to display. ``expires_at``, ``updated_at`` and
    ``created_at`` are Unix milliseconds. ``source`` is the location whose delivery wrote the content, None
    when that was deleted; ``location`` is a location that it was delivered for, the nearest one of entities
    near a point and otherwise ``source``, and ``distance`` how many metres away that is, None without
    coordinates.
    """

    entity_id: str
    content: Any
    scope: str
    display_name: str
    expires_at: int
    updated_at: int
    created_at: int
    source: Optional[Dict[str, Any]]
    location: Optional[Dict[str, Any]]
    distance: Optional[float]


@dataclass(frozen=True)
class Context:
    """A location that content was delivered for.

    ``location`` is the location as it was first delivered, ``level`` its most specific level; ``sections``,
    ``entities`` (counted for each section) and ``bytes`` of their content, which other places may share, are
    what it has. ``complete`` is whether it was delivered as complete. ``created_at``, ``fetched_at`` (of the
    section that was delivered or renewed last), ``updated_at`` and ``used_at`` are Unix milliseconds; that it
    was read is recorded when the store prunes or closes. ``etag`` is the entity tag of all of its sections.
    """

    location: Dict[str, Any]
    level: str
    sections: int
    entities: int
    bytes: int
    complete: bool
    created_at: int
    fetched_at: int
    etag: Optional[str]
    updated_at: int
    used_at: int


@dataclass(frozen=True)
class StoredEntity:
    """A stored variant of an entity, without its content.

    ``entity_id`` is its id, ``scope`` its scope, ``place`` the key of its place, None for global;
    ``display_name`` is the name to display. ``bytes`` is the size of its content;
    ``references`` counts the sections that refer to it. ``created_at``, ``updated_at`` and ``expires_at`` are
    Unix milliseconds.
    """

    entity_id: str
    scope: str
    place: Optional[str]
    display_name: str
    bytes: int
    references: int
    created_at: int
    updated_at: int
    expires_at: int


@dataclass(frozen=True)
class SearchHit:
    """An entity that a search found.

    ``section`` is the section that shows it at the location; without a location, the section that its id
    names. ``entity_id`` is its id, ``display_name`` the name to display, ``scope`` the scope of the variant,
    ``place`` the key of its place, None for global. ``excerpt`` is a part of the text around a word that was
    found, ``expired`` is whether it has expired, and a higher ``score`` is better within one search.
    """

    section: str
    entity_id: str
    display_name: str
    scope: str
    place: Optional[str]
    excerpt: str
    expired: bool
    score: float


@dataclass(frozen=True)
class PruneReceipt:
    """The result of pruning.

    ``entities``, ``contexts`` (places) and ``bytes`` of content were removed; ``file_bytes`` are the bytes by
    which the file shrank. With ``max_bytes``, ``live_bytes`` are those of the catalogue afterwards, and
    ``over_budget`` those above the budget, which the active location and offline regions have;
    otherwise None and 0. ``pinned_bytes`` are those of entities and templates that were selected and stay
    because offline regions have them; with ``max_bytes``, of those that were come upon before it was met.
    """

    entities: int
    contexts: int
    bytes: int
    file_bytes: int
    live_bytes: Optional[int] = None
    over_budget: int = 0
    pinned_bytes: int = 0


@dataclass(frozen=True)
class Finding:
    """An inconsistency of a store's file: a stable ``code``, and a ``message``."""

    code: str
    message: str


@dataclass(frozen=True)
class ClockCorrection:
    """The correction of a clock that was ahead; times are Unix milliseconds.

    ``noticed_at`` is when the clock was found to have gone back by more than 24 hours, ``latest`` the
    latest time that had been written before, and ``stamped_rows`` the number of rows whose times became
    ``noticed_at``.
    """

    noticed_at: int
    latest: int
    stamped_rows: int


@dataclass(frozen=True)
class StoreInfo:
    """Facts about a store.

    ``path`` is that of the file, ``file_bytes`` its size with the WAL, ``wal_bytes`` that of the WAL, which
    grows while a reader of any process stays in its transaction; ``read_only`` is whether it was opened so.
    ``schema_version`` is the version of the store's tables, ``sqlite_version`` that of the loaded SQLite.
    ``quarantined`` is the new path of a file that could not be opened and was quarantined, or None.
    ``sqlite_wal_reset_bug`` is whether the version of SQLite has the bug of that name
    (https://sqlite.org/wal.html#walresetbug), which Satchel prevents on any version.
    ``clock_correction`` is the latest correction of a clock that was ahead, or None.
    """

    path: str
    read_only: bool
    schema_version: int
    file_bytes: int
    wal_bytes: int
    sqlite_version: str
    sqlite_wal_reset_bug: bool
    quarantined: Optional[str]
    clock_correction: Optional[ClockCorrection] = None


# Making results from JSON.

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def moment(milliseconds: int) -> datetime:
    """A time in UTC; the last one of the year 9999 for a later one, of a clock that was ahead."""
    try:
        return EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return (datetime.min if milliseconds < 0 else datetime.max).replace(tzinfo=timezone.utc)


def _names_of(kind: Any) -> Tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


#: The names of a dataclass's fields.
names_of: Callable[[Any], Tuple[str, ...]] = functools.lru_cache(maxsize=256)(_names_of)


def record_from(kind: Type[_Record], answer: Dict[str, Any], **parts: Any) -> _Record:
    """Makes a dataclass from a JSON object; keys of a newer library are ignored.

    :param parts: fields that were already converted
    """
    if parts:
        answer = {**answer, **parts}
    return kind(*map(answer.get, names_of(kind)))


def records_from(kind: Type[_Record], answers: Iterable[Dict[str, Any]]) -> List[_Record]:
    """Makes dataclasses from JSON objects."""
    return Rows([record_from(kind, each) for each in answers])


def resolved_from(answer: Dict[str, Any]) -> Dict[str, Any]:
    """The parts of a header or section that are tuples."""
    levels = answer.get("resolved") or {}
    return {"resolved": {name: Resolved(each["location"], each["metres"]) for name, each in levels.items()}}


def receipt_from(answer: Dict[str, Any]) -> Receipt:
    """A receipt with its problems."""
    return record_from(Receipt, answer, problems=records_from(Problem, answer["problems"]))
