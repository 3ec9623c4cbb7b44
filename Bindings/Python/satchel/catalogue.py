"""The catalogue: content scoped to places, stored once, reused between them.

A location is a dict as :mod:`satchel.places` describes it. A section is a dict with ``section`` (its
name), ``display_title``, ``config``, ``action`` ("replace", the default, or "edit") and ``content``. Both
may be JSON text instead (bytes, bytearray, memoryview or str), which is passed on unchanged.

Inside the content every object that carries ``_storage``: {"entity_id", "scope", "ttl_hours" (default
168)} is an entity, stored once per entity id, scope, and place at that scope. Loading returns the content
as it was sent, without ``_storage``.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, cast

from satchel import _abi, _encoding
from satchel._encoding import Duration
from satchel._html import Rows
from satchel._library import check, json_answer, library, text_answer
from satchel._payloads import (
    Delivery,
    DeliveryDocument,
    Location,
    LocationDocument,
    SectionDocument,
    SectionPayload,
    persist_options,
    read_options,
    restriction,
)
from satchel.session import Session
from satchel.values import (
    Context,
    Entity,
    Nearby,
    Plan,
    PruneReceipt,
    Receipt,
    SearchHit,
    Section,
    SectionHeader,
    StoredEntity,
    nearby_from,
    receipt_from,
    record_from,
    records_from,
)

if TYPE_CHECKING:
    from typing import Literal

    from satchel.store import Store

__all__ = ["Catalogue", "Delivery", "Location", "SectionPayload"]

_LARGEST = 2**63 - 1


class Catalogue:
    """The catalogue of a store: ``store.catalogue``.

    All methods may be called on any thread, also concurrently. All raise :class:`satchel.Closed` once the
    store is closed, and :class:`satchel.InvalidArgument` for a location that yields no key. Those that
    write may raise Busy, Full, ReadOnly and IOFailure; then nothing was changed.
    """

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def persist(
        self, location: LocationDocument, section: SectionDocument, reuse: str = "unless_changed"
    ) -> Receipt:
        """Stores a section in one transaction; it is on the disk when this returns.

        :param location: the place of the content
        :param section: the section as the backend sent it
        :param reuse: "unless_changed": the same content only renews its expiry, changed content is
            updated; "until_expiry": a stored copy is kept unchanged until it expires
        :returns: the receipt; an object with an invalid ``_storage`` stays inline and is listed in
            ``problems``
        :raises InvalidArgument: for an invalid section; nothing is changed
        """
        return receipt_from(
            json_answer(
                library.satchel_catalogue_persist,
                self._store._pointer,
                _encoding.lend_document(location, "location"),
                _encoding.lend_document(section, "section"),
                ctypes.byref(persist_options(reuse)),
            )
        )

    def deliver(
        self, delivery: DeliveryDocument, complete: bool = False, reuse: str = "unless_changed"
    ) -> List[Receipt]:
        """Stores several sections of a location in one transaction; they are on the disk when this returns.

        :param delivery: {"location": …, "sections": [section, …]}
        :param complete: whether the location has all of its sections with this delivery and earlier ones,
            and therefore inherits none; it stays so until one of its sections is removed
        :param reuse: as in :meth:`persist`
        :returns: a receipt for each section
        :raises InvalidArgument: for an invalid section; nothing is changed
        """
        receipts = json_answer(
            library.satchel_catalogue_deliver,
            self._store._pointer,
            _encoding.lend_document(delivery, "delivery"),
            ctypes.byref(persist_options(reuse, complete)),
        )
        return Rows([receipt_from(each) for each in receipts])

    def sections(
        self, location: LocationDocument, inherit: bool = True, nearby: float = 5000
    ) -> List[SectionHeader]:
        """Headers of a location's sections; no content is read.

        The location's own sections come first, in the order of delivery, then inherited ones.

        :param location: the place of the content
        :param inherit: inherits each section that was not delivered for the location from the place that
            has it and shares the most specific level with the location
        :param nearby: for inheriting, a location with coordinates and without place names has those of the
            nearest location that content was delivered for, within so many metres; 0 for none
        :raises InvalidArgument: for a negative distance
        """
        headers = json_answer(
            library.satchel_catalogue_sections,
            self._store._pointer,
            _encoding.lend_document(location, "location"),
            ctypes.byref(read_options(inherit, nearby)),
        )
        return Rows([record_from(SectionHeader, each, **nearby_from(each)) for each in headers])

    def load(
        self,
        location: LocationDocument,
        section: str,
        allow_expired: bool = False,
        inherit: bool = True,
        nearby: float = 5000,
    ) -> Optional[Section]:
        """A section with its content.

        :param location: the place of the content
        :param section: the section's name
        :param allow_expired: keeps expired entities in the content; ``expired`` lists them in any case
        :param inherit: as in :meth:`sections`
        :param nearby: as in :meth:`sections`
        :returns: None when the location has no such section
        """
        found = json_answer(
            library.satchel_catalogue_load,
            self._store._pointer,
            _encoding.lend_document(location, "location"),
            _encoding.lend_text(section, "section"),
            ctypes.byref(read_options(inherit, nearby, allow_expired)),
        )
        return None if found is None else record_from(Section, found, **nearby_from(found))

    def plan(self, location: LocationDocument, inherit: bool = True, nearby: float = 5000) -> Dict[str, Plan]:
        """The entities to fetch for a location; no content is read.

        :param location: the place of the content
        :param inherit: as in :meth:`sections`
        :param nearby: as in :meth:`sections`
        :returns: a plan for each section, by its name
        """
        plans = json_answer(
            library.satchel_catalogue_plan,
            self._store._pointer,
            _encoding.lend_document(location, "location"),
            ctypes.byref(read_options(inherit, nearby)),
        )
        return {name: record_from(Plan, each) for name, each in plans.items()}

    def has_cached(
        self, location: LocationDocument, nearby: float = 5000
    ) -> Optional[Literal["exact", "inherited"]]:
        """Whether a location has content.

        :param location: the place of the content
        :param nearby: as in :meth:`sections`
        :returns: "exact" for content of its own, "inherited" for that of another place that shares a level
            with it, None for no content
        """
        found = text_answer(
            library.satchel_catalogue_has_cached,
            self._store._pointer,
            _encoding.lend_document(location, "location"),
            ctypes.byref(read_options(True, nearby)),
        )
        return cast("Optional[Literal['exact', 'inherited']]", found)

    def locate(self, latitude: float, longitude: float, within: float = 5000) -> List[Nearby]:
        """The locations that content was delivered for within a distance, the nearest first.

        :param latitude: degrees, -90 to 90
        :param longitude: degrees, -180 to 180
        :param within: metres
        :raises InvalidArgument: for a coordinate out of range, and for a negative distance
        """
        numbers = (
            _encoding.number(value, name)
            for value, name in ((latitude, "latitude"), (longitude, "longitude"), (within, "within"))
        )
        found = json_answer(library.satchel_catalogue_locate, self._store._pointer, *numbers)
        return records_from(Nearby, found)

    def search(
        self,
        text: str,
        location: Optional[LocationDocument] = None,
        limit: int = 20,
        allow_expired: bool = False,
        nearby: float = 5000,
    ) -> List[SearchHit]:
        """Finds entities by the words of their texts, in any script.

        All words must occur, each at the beginning of a word of the display name or of a string in the
        content; case and diacritics are ignored. Chinese, Japanese, Thai and other texts without spaces are
        found anywhere in a run of characters. The first search makes the index.

        :param text: the words
        :param location: finds only what its sections show; None finds all that a section shows somewhere
        :param limit: the maximum number of results
        :param allow_expired: finds expired entities, too
        :param nearby: as in :meth:`sections`
        :returns: the best first; with the same score in the order of section and entity id
        :raises InvalidArgument: for more than 64 words, and a negative number
        :raises ReadOnly: when the store is read-only and its index is not up to date
        """
        options = _abi.SearchOptions(
            limit=_encoding.whole(limit, "limit", 0, 2**31 - 1),
            allow_expired=bool(allow_expired),
            nearby=_encoding.number(nearby, "nearby"),
        )
        lent = _encoding.NOTHING if location is None else _encoding.lend_document(location, "location")
        found = json_answer(
            library.satchel_catalogue_search,
            self._store._pointer,
            _encoding.lend_text(text, "text"),
            lent,
            ctypes.byref(options),
        )
        return records_from(SearchHit, found)

    def entity(self, entity_id: str, location: LocationDocument, nearby: float = 5000) -> Optional[Entity]:
        """The most specific variant of an entity that covers a location.

        :param entity_id: such as "cuisine:xiaolongbao"
        :param location: the place of the content
        :param nearby: as in :meth:`sections`
        :returns: None when no variant covers the location
        """
        found = json_answer(
            library.satchel_catalogue_entity,
            self._store._pointer,
            _encoding.lend_text(entity_id, "entity_id"),
            _encoding.lend_document(location, "location"),
            ctypes.byref(read_options(True, nearby)),
        )
        return None if found is None else record_from(Entity, found)

    def contexts(self, level: Optional[str] = None) -> List[Context]:
        """The locations that content was delivered for, the most recently updated first.

        :param level: only those whose most specific level this is
        :raises InvalidArgument: for an unknown level
        """
        found = json_answer(
            library.satchel_catalogue_contexts,
            self._store._pointer,
            restriction(level, "level", _encoding.lend_text),
        )
        return records_from(Context, found)

    def entities(self, section: str) -> List[StoredEntity]:
        """The stored entities of a section, without their content, in the order of their ids.

        Those that sections of that name refer to in any place, and those without references whose id names
        the section.

        :param section: the section's name
        """
        found = json_answer(
            library.satchel_catalogue_entities,
            self._store._pointer,
            _encoding.lend_text(section, "section"),
        )
        return records_from(StoredEntity, found)

    def delete_entity(self, entity_id: str) -> PruneReceipt:
        """Deletes the content of an entity, with all its variants.

        Sections that refer to it list it as missing, until it is delivered again.

        :param entity_id: such as "cuisine:xiaolongbao"
        :returns: what was deleted; nothing when it is not stored
        """
        receipt = json_answer(
            library.satchel_catalogue_delete_entity,
            self._store._pointer,
            _encoding.lend_text(entity_id, "entity_id"),
        )
        return record_from(PruneReceipt, receipt)

    def delete_context(self, location: LocationDocument) -> PruneReceipt:
        """Deletes the content that was delivered for a location itself.

        :param location: the place of the content
        :returns: what was deleted: its sections, and the entities that only they refer to
        """
        receipt = json_answer(
            library.satchel_catalogue_delete_context,
            self._store._pointer,
            _encoding.lend_document(location, "location"),
        )
        return record_from(PruneReceipt, receipt)

    def set_active_location(self, location: Optional[LocationDocument]) -> None:
        """Stores the location of the user, across restarts.

        A byte budget evicts the content of the active location last.

        :param location: the place where the user is; None clears it
        """
        lent = _encoding.NOTHING if location is None else _encoding.lend_document(location, "location")
        check(library.satchel_catalogue_set_active_location(self._store._pointer, lent))

    def active_location(self) -> Optional[Dict[str, Any]]:
        """The active location, as set; None when it is not set."""
        found: Optional[Dict[str, Any]] = json_answer(
            library.satchel_catalogue_active_location, self._store._pointer
        )
        return found

    def assets(self, section: str, paths: Iterable[str]) -> None:
        """Declares members of a section whose strings are URLs of assets.

        They are fetched, counted and pruned as objects with the member ``_asset`` are: see
        :mod:`satchel.assets`. The content stays as it is; what is stored already is looked through again.

        :param section: the section's name
        :param paths: JSON Pointers into its content, "*" for any member or element: "/cards/*/image"; they
            replace those that were declared before, and none ends the declaration
        :raises InvalidArgument: for a path that is not a pointer
        """
        given = _encoding.lend_value([*paths], "paths")
        check(
            library.satchel_catalogue_assets(
                self._store._pointer, _encoding.lend_text(section, "section"), given
            )
        )

    def prune(
        self,
        expired: bool = True,
        unreferenced: bool = False,
        section: Optional[str] = None,
        scope: Optional[str] = None,
        location: Optional[LocationDocument] = None,
        contexts_unused_for: Optional[Duration] = None,
        max_bytes: Optional[int] = None,
    ) -> PruneReceipt:
        """Removes content, and shrinks the file.

        ``section``, ``scope`` and ``location`` restrict ``expired`` and ``unreferenced``; when both of these
        are false, everything in the restriction is removed. A removed entity that a section still refers to
        is listed as missing until it is delivered again.

        :param expired: content of entities that have expired
        :param unreferenced: entities that no section refers to any more
        :param section: only entities of the section with this name
        :param scope: only entities of this scope
        :param location: only entities of this location's own content
        :param contexts_unused_for: removes places neither written nor read for this long, a timedelta or
            milliseconds, with the entities that only they refer to; the active location stays
        :param max_bytes: then removes, while the catalogue's entities and templates have more bytes: expired
            and unreferenced entities, then whole places, the least recently used first; what the active
            location shows stays
        :returns: the numbers of removed entities, contexts and bytes
        :raises InvalidArgument: for an empty name, a negative number, or an invalid location
        """
        unused_for, budget = -1, -1
        if contexts_unused_for is not None:
            unused_for = _encoding.milliseconds(contexts_unused_for, "contexts_unused_for", _LARGEST)
        if max_bytes is not None:
            budget = _encoding.whole(max_bytes, "max_bytes", 0, _LARGEST)
        options = _abi.PruneOptions(
            expired=bool(expired),
            unreferenced=bool(unreferenced),
            section=restriction(section, "section", _encoding.lend_text),
            scope=restriction(scope, "scope", _encoding.lend_text),
            location=restriction(location, "location", _encoding.lend_document),
            contexts_unused_for_ms=unused_for,
            max_bytes=budget,
        )
        receipt = json_answer(library.satchel_catalogue_prune, self._store._pointer, ctypes.byref(options))
        return record_from(PruneReceipt, receipt)

    def session(self, callback: Optional[Callable[[Dict[str, Any]], object]] = None) -> Session:
        """Makes a session: the content of one screen.

        :param callback: receives the session's events as dicts; see :class:`satchel.Session`
        :returns: a new session; close it when the screen is gone
        """
        return Session(self._store, callback)
