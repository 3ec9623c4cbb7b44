"""The rules of the catalogue once more, in plain Python and without regard to cost.

Written from the specification alone, to hold the library against. A context is what one place was sent; a
section that a location's own context lacks is served by the context that has it and shares the most specific
level with the location, of several the most recently updated, and shows only what covers the location; global
content is shared by all. Levels are not resolved by distance.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

LEVELS = ("coordinate", "sublocality", "locality", "adminarea", "country")
_NOTHING = object()

Key = Tuple[Any, ...]


def component(text: Optional[str]) -> str:
    """A text as a component of a key; "" when nothing is left of it."""
    kept: List[str] = []
    base = ""
    for letter in unicodedata.normalize("NFD", (text or "").lower()):
        if unicodedata.category(letter) != "Mn":
            base = unicodedata.name(letter, "").split(" ")[0]
            kept.append(letter)
        elif base not in ("LATIN", "GREEK", "CYRILLIC"):
            kept.append(letter)
    return "_".join(unicodedata.normalize("NFC", "".join(kept)).replace(",", "").split())


def keys(location: Dict[str, Any]) -> Dict[str, Key]:
    """The keys of a location by level, the most specific first."""
    country, admin_area, locality, sublocality = (
        component(location.get(name)) for name in ("country_code", "admin_area", "locality", "sublocality")
    )
    found: Dict[str, Key] = {}
    if location.get("latitude") is not None:
        found["coordinate"] = (round(location["latitude"], 4), round(location["longitude"], 4))
    if country and sublocality:
        found["sublocality"] = (country, admin_area, locality, sublocality)
    if country and locality:
        found["locality"] = (country, admin_area, locality)
    if country and admin_area:
        found["adminarea"] = (country, admin_area)
    if country:
        found["country"] = (country,)
    return found


@dataclass(frozen=True)
class Reference:
    """The reference to an entity: its id, its scope, and its place at that scope."""

    entity_id: str
    scope: str
    key: Key


@dataclass
class Variant:
    content: Any
    expires_at: int


@dataclass
class Stored:
    header: Dict[str, Any]
    template: Any


@dataclass
class Context:
    keys: Dict[str, Key]
    updated_at: int = 0
    complete: bool = False
    sections: Dict[str, Stored] = field(default_factory=dict)


@dataclass
class Shown:
    """A section as a location sees it: the references that cover it, and whether the rest is its own."""

    stored: Stored
    covering: List[Reference]
    level: str
    inline: bool


class Model:
    def __init__(self, clock: Callable[[], int]) -> None:
        self.clock = clock
        self.contexts: Dict[Tuple[str, Key], Context] = {}
        self.variants: Dict[Reference, Variant] = {}
        self.changed = False
        """Whether the section that is persisted has changed an entity."""

    # Deliveries and edits.

    def deliver(self, delivery: Dict[str, Any], complete: bool = False) -> None:
        for section in delivery["sections"]:
            self.persist(delivery["location"], section)
        context = self.contexts.get(next(iter(keys(delivery["location"]).items())))
        if context:
            context.complete = complete
        if context and complete:
            context.updated_at = self.clock()
            names = [section["section"] for section in delivery["sections"]]
            context.sections = {name: each for name, each in context.sections.items() if name in names}

    def persist(self, location: Dict[str, Any], section: Dict[str, Any]) -> None:
        places = keys(location)
        context = self.contexts.setdefault(next(iter(places.items())), Context(places))
        self.changed = False
        template = self.taken(section["content"], places)
        header = {
            "section": section["section"],
            "display_title": section["display_title"],
            "config": section["config"],
            "updated_at": self.clock(),
        }
        before = context.sections.get(section["section"])
        unchanged = {**header, "updated_at": before.header["updated_at"]} if before else None
        if before and before.template == template and before.header == unchanged and not self.changed:
            return  # what arrives again is no update
        context.updated_at = self.clock()
        context.sections[section["section"]] = Stored(header, template)

    def taken(self, value: Any, places: Dict[str, Key]) -> Any:
        """A value with references instead of its entities."""
        if isinstance(value, list):
            return [self.taken(child, places) for child in value]
        if not isinstance(value, dict):
            return value
        body = {key: self.taken(child, places) for key, child in value.items() if key != "_storage"}
        if "_storage" not in value:
            return body
        tag = value["_storage"]
        scope = tag["scope"].lower()
        reference = Reference(tag["entity_id"], scope, () if scope == "global" else places[scope])
        lifetime = int(tag.get("ttl_hours", 168) * 3_600_000)
        before = self.variants.get(reference)
        if before is None or before.content != body:
            self.changed = True
        else:
            body = before.content
        self.variants[reference] = Variant(body, self.clock() + lifetime)
        return reference

    # Queries.

    def own(self, location: Dict[str, Any]) -> Optional[Context]:
        return self.contexts.get(next(iter(keys(location).items())))

    def sources(self, location: Dict[str, Any]) -> Iterator[Tuple[str, Context, bool]]:
        """The contexts for a location, the preferred one first: the level, and whether it is its own."""
        places = keys(location)
        own = self.own(location)
        if own:
            yield next(iter(places)), own, True
            if own.complete:
                return
        for level, key in places.items():
            sharing = [each for each in self.contexts.values() if each.keys.get(level) == key]
            for context in sorted(sharing, key=lambda each: -each.updated_at):
                if context is not own:
                    yield level, context, False
        for context in sorted(self.contexts.values(), key=lambda each: -each.updated_at):
            if context is not own:
                yield "global", context, False

    def covers(self, reference: Reference, location: Dict[str, Any]) -> bool:
        return reference.scope == "global" or keys(location).get(reference.scope) == reference.key

    def references(self, value: Any) -> Iterator[Reference]:
        """All references of a template, those inside of entities too."""
        if isinstance(value, Reference):
            yield value
            yield from self.references(self.variants[value].content)
        elif isinstance(value, (dict, list)):
            for child in value.values() if isinstance(value, dict) else value:
                yield from self.references(child)

    def shown(self, location: Dict[str, Any]) -> Dict[str, Shown]:
        """The sections of a location, each with the references that it shows."""
        found: Dict[str, Shown] = {}
        for level, context, inline in self.sources(location):
            for name, stored in context.sections.items():
                covering = [each for each in self.references(stored.template) if self.covers(each, location)]
                if name not in found and (covering or inline):
                    found[name] = Shown(stored, covering, level, inline)
        return found

    def headers(self, location: Dict[str, Any]) -> Dict[str, Dict[str, Any]]:
        """The headers of a location by name."""
        return {
            name: {**shown.stored.header, "entity_count": len(set(shown.covering)), "level": shown.level}
            for name, shown in self.shown(location).items()
        }

    def content(self, location: Dict[str, Any], name: str, allow_expired: bool = False) -> Any:
        """A section's content; None when the location has no such section."""
        if name not in self.shown(location):
            return None
        shown = self.shown(location)[name]

        def assembled(value: Any, inline: bool) -> Any:
            if isinstance(value, Reference):
                variant = self.variants[value]
                expired = variant.expires_at <= self.clock() and not allow_expired
                if expired or not self.covers(value, location):
                    return _NOTHING
                # The values inside of an entity belong to it, and are covered as it is.
                return assembled(variant.content, True)
            if not inline and not any(True for _ in self.references(value)):
                return _NOTHING
            if isinstance(value, dict):
                parts = ((key, assembled(child, inline)) for key, child in value.items())
                return {key: child for key, child in parts if child is not _NOTHING}
            if isinstance(value, list):
                return [child for each in value if (child := assembled(each, inline)) is not _NOTHING]
            return value

        content = assembled(shown.stored.template, shown.inline)
        return None if content is _NOTHING else content

    def plan(self, location: Dict[str, Any]) -> Dict[str, Dict[str, List[str]]]:
        plans = {}
        for name, shown in self.shown(location).items():
            plan: Dict[str, List[str]] = {"fresh": [], "expired": [], "missing": []}
            for reference in dict.fromkeys(shown.covering):
                expired = self.variants[reference].expires_at <= self.clock()
                plan["expired" if expired else "fresh"].append(reference.entity_id)
            plans[name] = {state: sorted(ids) for state, ids in plan.items()}
        return plans

    def has_cached(self, location: Dict[str, Any]) -> Optional[str]:
        if self.own(location):
            return "exact"
        return "inherited" if self.shown(location) else None
