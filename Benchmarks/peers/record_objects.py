"""ObjectBox: an object a record, its id unique and replaced on conflict."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
from objectbox import ConflictStrategy, Entity, Id, Store, String, Unique

from .record_peer import Document, RecordPeer

MAXIMUM_KILOBYTES = 4 << 20
LONGEST_PUT = 10_000
"""The number of objects in one call of the library."""
MODEL = "records"


@Entity(model=MODEL)
class Kept:
    id = Id()
    key = String(unique=Unique(on_conflict=ConflictStrategy.REPLACE))
    body = String()


@Entity(model=MODEL)
class Value:
    id = Id()
    key = String(unique=Unique(on_conflict=ConflictStrategy.REPLACE))
    body = String()


class ObjectBox(RecordPeer):
    def open(self, directory: Path) -> None:
        self.store = Store(
            model=MODEL,
            model_json_file=str(directory / "model.json"),
            directory=str(directory / "objects"),
            max_db_size_in_kb=MAXIMUM_KILOBYTES,
        )
        self.records = self.store.box(Kept)
        self.state = self.store.box(Value)

    def put(self, key: str, document: Document) -> None:
        self.records.put(Kept(key=key, body=orjson.dumps(document).decode()))

    def put_many(self, records: Sequence[tuple[str, Document]]) -> None:
        kept = [Kept(key=key, body=orjson.dumps(document).decode()) for key, document in records]
        with self.store.write_tx():
            for first in range(0, len(kept), LONGEST_PUT):
                self.records.put(kept[first : first + LONGEST_PUT])

    def find(self, key: str) -> list[Any]:
        return self.records.query(Kept.key.equals(key)).build().find()

    def body(self, key: str) -> str | None:
        found = self.find(key)
        return found[0].body if found else None

    def delete(self, key: str) -> None:
        self.records.query(Kept.key.equals(key)).build().remove()

    def save(self, key: str, value: Any) -> None:
        self.state.put(Value(key=key, body=orjson.dumps(value).decode()))

    def value(self, key: str) -> Any:
        return orjson.loads(self.state.query(Value.key.equals(key)).build().find()[0].body)

    def close(self) -> None:
        self.store.close()


PEERS = {"objectbox": ObjectBox}
