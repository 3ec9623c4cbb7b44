"""ObjectBox: objects with indexed properties, a write transaction a payload."""

from pathlib import Path

import orjson
from objectbox import Entity, Id, Index, Int64, Store, String

from .peer import Header, Peer, entity_rows, references

MAXIMUM_KILOBYTES = 4 << 20


@Entity()
class Stored:
    id = Id()
    entity_id = String(index=Index())
    scope = String()
    expires = Int64()
    place = String()
    body = String()


@Entity()
class Context:
    id = Id()
    location = String(index=Index())
    order = Int64()
    section = String()
    title = String()
    count = Int64()
    references = String()


class ObjectBox(Peer):
    def open(self, directory: Path, writing: bool) -> None:
        self.store = Store(directory=str(directory), max_db_size_in_kb=MAXIMUM_KILOBYTES)
        self.entities = self.store.box(Stored)
        self.contexts = self.store.box(Context)

    def put(self, line: bytes) -> None:
        payload = orjson.loads(line)
        section = payload["section"]
        with self.store.write_tx():
            # ObjectBox updates by its own numeric id. Nothing is stored twice here, so that no look-up by
            # entity id is charged to it, though an app would need one.
            self.entities.put(
                [
                    Stored(entity_id=entity_id, scope=scope, expires=expires, place=place, body=body)
                    for entity_id, scope, expires, place, body in entity_rows(payload)
                ]
            )
            self.contexts.put(
                Context(
                    location=payload["location"],
                    order=section["order"],
                    section=section["id"],
                    title=section["title"],
                    count=len(payload["entities"]),
                    references=references(payload).decode(),
                )
            )

    def headers(self, location: str) -> list[Header]:
        found = self.contexts.query(Context.location.equals(location)).build().find()
        self.references = {context.section: context.references for context in found}
        return sorted((context.order, context.section, context.title, context.count) for context in found)

    def bodies(self, location: str, section: str) -> list[bytes | str]:
        return [
            self.entities.query(Stored.entity_id.equals(key)).build().find()[0].body
            for key in orjson.loads(self.references[section])
        ]

    def close(self) -> None:
        self.store.close()


PEERS = {"objectbox": ObjectBox}
