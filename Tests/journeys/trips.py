"""Places of a guide, and their content and pictures as the backend generates them."""

from __future__ import annotations

import hashlib
from typing import Any

import satchel

PORTO = {"locality": "Porto", "admin_area": "Porto", "country_code": "PT"}
MADRID = {"locality": "Madrid", "admin_area": "Madrid", "country_code": "ES"}
LYON = {"locality": "Lyon", "admin_area": "Rhône", "country_code": "FR"}
PLACES = [PORTO, MADRID, LYON]


def picture(url: str, size: int, version: int = 1) -> bytes:
    """The bytes that the backend has at a URL."""
    name = url.rpartition("/asset/")[2]
    block = hashlib.sha256(f"{name} {version}".encode()).digest()
    return (block * (size // len(block) + 1))[:size]


def shown(store: satchel.Store, places: list[dict[str, str]] = PLACES) -> dict[str, Any]:
    """The content of places, by place and section."""
    found = {}
    for place in places:
        for header in store.catalogue.sections(place, inherit=False):
            section = store.catalogue.load(place, header.section, inherit=False)
            assert section is not None
            assert section.missing == []
            found[f"{place['locality']}/{header.section}"] = section.content
    return found


def pictures(store: satchel.Store, places: list[dict[str, str]] = PLACES) -> dict[str, bytes]:
    """The pictures that the content of places refers to, by URL."""
    found = {}
    for content in shown(store, places).values():
        for entity in content.values():
            url = entity["picture"]["_asset"]["url"]
            found[url] = store.assets.get(entity["picture"]).bytes()
    return found
