"""Satchel itself through its Python package, to be held against the peers in their own language."""

from pathlib import Path
from typing import Any

import orjson
import satchel

from .peer import Header, Peer


def place_of(location: str) -> dict[str, str]:
    """The location of a peer's key: "loc:013"."""
    return {"country_code": "xx", "admin_area": "area", "locality": location.replace(":", " ")}


class SatchelPython(Peer):
    """Reads deliveries.jsonl: the same payloads in Satchel's shape. The bytes are passed as they are."""

    def open(self, directory: Path, writing: bool) -> None:
        self.store = satchel.open(f"{directory}/store.satchel", read_only=not writing)
        self.catalogue = self.store.catalogue

    def put(self, line: bytes) -> None:
        self.catalogue.deliver(line)

    def headers(self, location: str) -> list[Header]:
        return [
            (header.config["order"], header.section, header.display_title, header.entity_count)
            for header in self.catalogue.sections(place_of(location))
        ]

    def section(self, location: str, section: str) -> list[dict[str, Any]]:
        found = self.catalogue.load(place_of(location), section)
        return found.content["items"]

    def bodies(self, location: str, section: str) -> list[bytes | str]:
        return [orjson.dumps(entity) for entity in self.section(location, section)]

    def close(self) -> None:
        self.store.close()


PEERS = {"satchel-python": SatchelPython}
