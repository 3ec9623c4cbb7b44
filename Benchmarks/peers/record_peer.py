"""The interface of every peer of W5: it keeps small JSON documents by id, and an app's state."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

Document = dict[str, Any]


class RecordPeer(ABC):
    """A write is durable when the call returns, unless the peer's name says otherwise."""

    @abstractmethod
    def open(self, directory: Path) -> None: ...

    @abstractmethod
    def put(self, key: str, document: Document) -> None:
        """Writes a record, or replaces it."""

    @abstractmethod
    def put_many(self, records: Sequence[tuple[str, Document]]) -> None:
        """Writes records that are not there yet, durable together."""

    @abstractmethod
    def body(self, key: str) -> bytes | str | None:
        """A document as it was stored; None when it is not there."""

    @abstractmethod
    def delete(self, key: str) -> None: ...

    @abstractmethod
    def save(self, key: str, value: Any) -> None:
        """Writes a value of the app's state."""

    @abstractmethod
    def value(self, key: str) -> Any: ...

    @abstractmethod
    def close(self) -> None: ...

    def get(self, key: str) -> Document:
        return orjson.loads(self.body(key))

    def fill(self, records: Sequence[tuple[str, Document]], values: Sequence[tuple[str, Any]]) -> None:
        """Fills a new store with records and state; this is not measured."""
        self.put_many(records)
        for key, value in values:
            self.save(key, value)
