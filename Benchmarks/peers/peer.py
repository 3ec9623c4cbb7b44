"""The interface of every peer, and the shapes that several of them share."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import orjson

Header = tuple[int, str, str, int]
"""order, section, display title, number of entities"""

Payload = dict[str, Any]


class Peer(ABC):
    """A store of payloads: a location, a section of it, and the section's entities."""

    @abstractmethod
    def open(self, directory: Path, writing: bool) -> None: ...

    @abstractmethod
    def put(self, line: bytes) -> None:
        """Stores one line of the data; when it returns, the line is as durable as the peer's name says."""

    @abstractmethod
    def headers(self, location: str) -> list[Header]:
        """The location's sections in order, without their entities."""

    @abstractmethod
    def bodies(self, location: str, section: str) -> list[bytes | str]:
        """The section's entities in order, as stored. Called after headers()."""

    @abstractmethod
    def close(self) -> None: ...

    def section(self, location: str, section: str) -> list[dict[str, Any]]:
        """The section's entities in order, as values."""
        return [orjson.loads(body) for body in self.bodies(location, section)]


def entity_rows(payload: Payload) -> list[tuple[str, str, int, str, str]]:
    """entity id, scope, expiry, place, body"""
    return [
        (
            entity["entity_id"],
            entity["scope"],
            entity["expires_at"],
            entity["source"]["place"],
            orjson.dumps(entity).decode(),
        )
        for entity in payload["entities"]
    ]


def references(payload: Payload) -> bytes:
    """The ids of the payload's entities, as JSON."""
    return orjson.dumps([entity["entity_id"] for entity in payload["entities"]])
