"""Satchel itself through its Python package, to be held against the peers in their own language."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import satchel

# The package imports them at their first use, and libraries are imported before the clock starts.
import satchel.records
import satchel.state

from .record_peer import Document, RecordPeer


class SatchelPython(RecordPeer):
    def open(self, directory: Path) -> None:
        self.store = satchel.open(f"{directory}/store.satchel")
        self.records = self.store.records("rec")

    def put(self, key: str, document: Document) -> None:
        self.records.put(key, document)

    def put_many(self, records: Sequence[tuple[str, Document]]) -> None:
        self.records.put_many(records)

    def body(self, key: str) -> bytes | None:
        return self.records.text(key)

    def get(self, key: str) -> Document:
        return self.records.get(key)

    def delete(self, key: str) -> None:
        self.records.delete(key)

    def save(self, key: str, value: Any) -> None:
        self.store.state.set(key, value)
        self.store.state.flush()

    def fill(self, records: Sequence[tuple[str, Document]], values: Sequence[tuple[str, Any]]) -> None:
        self.put_many(records)
        for key, value in values:
            self.store.state.set(key, value)

    def value(self, key: str) -> Any:
        return self.store.state.get(key)

    def close(self) -> None:
        self.store.close()


PEERS = {"satchel-python": SatchelPython}
