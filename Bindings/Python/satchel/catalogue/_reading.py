"""Reading a catalogue: sections, entities, places, and what is to be fetched."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple, cast

from satchel import _abi, _encoding
from satchel._html import Rows
from satchel._library import json_answer, library, text_answer
from satchel._payloads import LocationDocument, read_options, restriction
from satchel.values import (
    Context,
    Entity,
    Nearby,
    Plan,
    SearchHit,
    Section,
    SectionHeader,
    StoredEntity,
    record_from,
    records_from,
    resolved_from,
)

if TYPE_CHECKING:
    from typing import Literal

    from satchel.store import Store

__all__ = ["ReadableCatalogue"]


def _circle(latitude: float, longitude: float, within: float) -> Tuple[float, float, float]:
    """The arguments of the library for the positions within a distance of one."""
    return (
        _encoding.number(latitude, "latitude"),
        _encoding.number(longitude, "longitude"),
        _encoding.number(within, "within"),
    )


class ReadableCatalogue:
    """The part of :class:`satchel.Catalogue` that reads."""

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def sections(
        self, location: LocationDocument, inherit: bool = True, nearby: float = 5000
    ) -> List[SectionHeader]:
        """Headers of a location's sections; no content is read.

        The location's own sections come first, in the order of delivery, then inherited ones.

        :param location: the place of the content
        :param inherit: inherits each section that was not delivered for the location from the place that
            has it and shares the most specific level with the location
        :param nearby: the distance in metres within which a location with coordinates has, besides those of
            its own names, the coordinate, sublocality and locality of the nearest location that content was
            delivered for; ten times as far for the admin area and the country, and never in another country
            than the stated one; 0 for none
        :raises InvalidArgument: for a negative distance
        """
        headers = json_answer(
            library.satchel_catalogue_sections,
            self._store._pointer,
            _encoding.lend_document(location, "location"),
            ctypes.byref(read_options(inherit, nearby)),
        )
        return Rows([record_from(SectionHeader, each, **resolved_from(each)) for each in headers])

    def load(
        self,
        location: LocationDocument,
        section: str,
        allow_expired: bool = False,
        inherit: bool = True,
        nearby: float = 5000,
        storage: bool = False,
    ) -> Optional[Section]:
        """A section with its content.

        :param location: the place of the content
        :param section: the section's name
        :param allow_expired: keeps expired entities, and the rest of a stale section, in the content;
            ``expired`` lists the entities in any case
        :param inherit: as in :meth:`sections`
        :param nearby: as in :meth:`sections`
        :param storage: each entity keeps its ``_storage``, so that persisting the content changes nothing;
            expired ones are kept, too
        :returns: None when the location has no such section
        """
        found = json_answer(
            library.satchel_catalogue_load,
            self._store._pointer,
            _encoding.lend_document(location, "location"),
            _encoding.lend_text(section, "section"),
            ctypes.byref(read_options(inherit, nearby, allow_expired, storage)),
        )
        return None if found is None else record_from(Section, found, **resolved_from(found))

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
        numbers = _circle(latitude, longitude, within)
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
        lent = restriction(location, "location", _encoding.lend_document)
        found = json_answer(
            library.satchel_catalogue_search,
            self._store._pointer,
            _encoding.lend_text(text, "text"),
            lent,
            ctypes.byref(options),
        )
        return records_from(SearchHit, found)

    def entity(
        self, entity_id: str, location: Optional[LocationDocument] = None, nearby: float = 5000
    ) -> Optional[Entity]:
        """The most specific variant of an entity that covers a location.

        Without a location, the variant that was delivered last, wherever; that takes time in proportion to
        the number of stored entities.

        :param entity_id: such as "cuisine:xiaolongbao"
        :param location: the place of the content; None for any
        :param nearby: as in :meth:`sections`
        :returns: None when no variant covers the location
        """
        lent = restriction(location, "location", _encoding.lend_document)
        found = json_answer(
            library.satchel_catalogue_entity,
            self._store._pointer,
            _encoding.lend_text(entity_id, "entity_id"),
            lent,
            ctypes.byref(read_options(True, nearby)),
        )
        return None if found is None else record_from(Entity, found)

    def variants(self, entity_id: str) -> List[Entity]:
        """All stored variants of an entity, with their locations, the one that was delivered last first.

        It takes time in proportion to the number of stored entities.

        :param entity_id: such as "cuisine:xiaolongbao"
        """
        found = json_answer(
            library.satchel_catalogue_variants,
            self._store._pointer,
            _encoding.lend_text(entity_id, "entity_id"),
        )
        return records_from(Entity, found)

    def near_entities(
        self, latitude: float, longitude: float, within: float = 5000, section: Optional[str] = None
    ) -> List[Entity]:
        """The entities of the locations that content was delivered for within a distance, the nearest first.

        Each variant comes once, with the nearest of these locations, and may have expired; those of one
        location are in the order of its sections.

        :param latitude: degrees, -90 to 90
        :param longitude: degrees, -180 to 180
        :param within: metres
        :param section: only entities of sections with this name; None for all
        :raises InvalidArgument: for a coordinate out of range, a negative distance, and for more than
            100,000 entities
        """
        numbers = _circle(latitude, longitude, within)
        found = json_answer(
            library.satchel_catalogue_near_entities,
            self._store._pointer,
            *numbers,
            restriction(section, "section", _encoding.lend_text),
        )
        return records_from(Entity, found)

    def contexts(
        self, level: Optional[str] = None, location: Optional[LocationDocument] = None
    ) -> List[Context]:
        """The locations that content was delivered for, the most recently updated first.

        :param level: only those whose most specific level this is
        :param location: only that of this location
        :raises InvalidArgument: for an unknown level
        """
        found = json_answer(
            library.satchel_catalogue_contexts,
            self._store._pointer,
            restriction(level, "level", _encoding.lend_text),
            restriction(location, "location", _encoding.lend_document),
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
