"""Places: how locations become keys, and labels become entity ids.

A location is a dict (or the JSON text of one) with ``latitude``, ``longitude`` (numbers, both or
neither), ``sublocality``, ``locality``, ``admin_area``, ``country_code``, ``country_name`` (strings), each
optional or None; other keys are ignored. It must yield at least one key. Levels, the most specific
first: coordinate, sublocality, locality, adminarea, country. A scope is a level or "global", in any
letter case.

All functions are pure and safe on any thread.
"""

from __future__ import annotations

from typing import List, Optional

from satchel import _encoding
from satchel._library import json_answer, library, some_text, text_answer
from satchel._payloads import LocationDocument

__all__ = ["entity_id", "key", "level_of_scope", "levels", "most_specific_level", "normalize", "section_of"]


def normalize(text: Optional[str]) -> Optional[str]:
    """A string as a component of a key: "São Paulo" becomes "sao_paulo".

    :param text: any text; None gives None
    :returns: None when nothing is left of the text
    :raises InvalidArgument: when it is not a str
    """
    if text is None:
        return None
    return text_answer(library.satchel_place_normalize, _encoding.lend_text(text, "text"))


def key(location: LocationDocument, level: str) -> Optional[str]:
    """The key of a location at a level, as text: "cn_shanghai_shanghai".

    :param location: a dict, or the JSON text of one
    :param level: "coordinate", "sublocality", "locality", "adminarea" or "country"
    :returns: None when the location has no key at that level
    :raises InvalidArgument: for an unknown level, or a location that yields no key at all
    """
    return text_answer(
        library.satchel_place_key,
        _encoding.lend_document(location, "location"),
        _encoding.lend_text(level, "level"),
    )


def most_specific_level(location: LocationDocument) -> str:
    """The most specific level of a location that yields a key.

    :param location: a dict, or the JSON text of one
    :raises InvalidArgument: when the location yields none
    """
    return some_text(library.satchel_place_most_specific_level, _encoding.lend_document(location, "location"))


def levels(location: Optional[LocationDocument] = None) -> List[str]:
    """The levels, the most specific first.

    :param location: only the levels at which this location has a key; None for all
    :raises InvalidArgument: when the location yields no key
    """
    lent = _encoding.NOTHING if location is None else _encoding.lend_document(location, "location")
    found: List[str] = json_answer(library.satchel_place_levels, lent)
    return found


def level_of_scope(scope: str) -> Optional[str]:
    """The level that a scope names, or "global".

    :param scope: in any letter case
    :returns: None for an unknown scope
    """
    return text_answer(library.satchel_place_level_of_scope, _encoding.lend_text(scope, "scope"))


def entity_id(section: str, label: str) -> str:
    """The entity id of a label in a section: "cuisine:chinese_cuisine".

    :param section: the section's name
    :param label: a label of which nothing is left gives "cuisine:unknown"
    :raises InvalidArgument: when one of them is not a str
    """
    return some_text(
        library.satchel_place_entity_id,
        _encoding.lend_text(section, "section"),
        _encoding.lend_text(label, "label"),
    )


def section_of(entity_id: str) -> Optional[str]:
    """The name of an entity's section.

    :param entity_id: such as "cuisine:chinese_cuisine"
    :returns: the part before the first colon; None when that is empty
    """
    return text_answer(library.satchel_place_section_of, _encoding.lend_text(entity_id, "entity_id"))
