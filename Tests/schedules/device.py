"""One device of a schedule: a store, the edits that its user makes, and what is owed to him.

Run as a program, it synchronizes a store once and kills itself at a request: see ``main``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import satchel
from bucket import Bucket, Line
from satchel.records import Index, Relation
from satchel.sync import ConflictEntry

USER = "ada"
HEAD = f"records/{USER}/head"
#: Members that hold what an edit wrote; each edit writes a number of its own.
TOKEN = "token"
RELATIONS = {
    "needs": Relation("courses", on_delete="restrict"),
    "part_of": Relation("courses", on_delete="cascade"),
}


@dataclass
class History:
    """The edits of all devices, which the library never sees."""

    #: A number for each edit; the next one.
    edits: int = 0
    #: For each edit the later ones that replaced it and had seen it; None for a deletion.
    replaced: dict[int, list[int | None]] = field(default_factory=dict)
    #: The documents as edits wrote them. A merge puts the members of several edits together.
    written: dict[int, dict[str, Any]] = field(default_factory=dict)
    #: Whether something happened after which a deletion may not be known: a restore, a clone, a loss.
    went_back: bool = False


class Device:
    """A store with a clock of its own."""

    def __init__(self, path: Path, history: History, policy: str, key: bytes | None) -> None:
        self.path, self.history, self.policy, self.key = path, history, policy, key
        #: Added to the time that all devices share.
        self.offset = 0
        self.time = 1_700_000_000_000
        #: Edits that this device has, and that may not be lost while it has its store.
        self.owed: set[int] = set()
        self.store: satchel.Store | None = None
        #: Whether this store has read or written the log.
        self.has_read = False

    def opened(self) -> satchel.Store:
        if self.store is None:
            self.store = satchel.open(self.path, clock=lambda: self.time + self.offset, durability="relaxed")
            declare(self.store, self.policy)
        return self.store

    def close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None

    # The user

    def put(self, collection: str, id: str, members: dict[str, Any]) -> None:
        records = self.opened().records(collection)
        before = records.get(id)
        self.history.edits += 1
        token = self.history.edits
        document = {TOKEN: token, **{name: text for name, text in members.items() if text}}
        try:
            records.put(id, document)
        except satchel.ConstraintViolation:
            return
        self.history.written[token] = document
        self._replace(before, token)
        self.owed.add(token)

    def delete(self, collection: str, id: str) -> None:
        before = dict(self.documents())
        try:
            self.opened().records(collection).delete(id)
        except satchel.ConstraintViolation:
            return
        after = dict(self.documents())
        for name in before.keys() - after.keys():
            self._replace(before[name], None)

    def resolve(self, conflict: ConflictEntry, collection: str) -> str:
        """Decides a conflict by a new version; what happened."""
        records = self.opened().records(collection)
        self.history.edits += 1
        token = self.history.edits
        try:
            records.resolve(conflict, document={TOKEN: token})
        except (satchel.ConstraintViolation, satchel.NotFound, satchel.Conflict) as error:
            return f"{type(error).__name__}: {error}"
        for document in (conflict.local, conflict.remote):
            self._replace(document, token)
        self.history.written[token] = {TOKEN: token}
        self.owed.add(token)
        return f"by edit {token}"

    def _replace(self, document: dict[str, Any] | None, token: int | None) -> None:
        if document is not None:
            self.history.replaced.setdefault(document[TOKEN], []).append(token)

    # Documents and state of the device

    def documents(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for collection in ("notes", "courses", "lessons"):
            for record in self.opened().records(collection).list():
                yield f"{collection}/{record.id}", record.document

    def conflicts(self) -> Iterator[tuple[str, ConflictEntry]]:
        for collection in ("notes", "courses", "lessons"):
            for conflict in self.opened().records(collection).conflicts():
                yield collection, conflict

    def add_member(self) -> None:
        """Members are only ever added: each is to be on all devices in the end."""
        self.history.edits += 1
        self.opened().state.members("marks", synced=True).add(self.history.edits)
        self.opened().state.flush()
        self.owed.add(self.history.edits)

    def state(self) -> dict[str, Any]:
        state = self.opened().state
        return {
            "theme": state.get("theme"),
            "scores": state.scores("cuisine", minimum=-1e9, maximum=1e9, synced=True).all(),
            "marks": sorted(state.members("marks", synced=True)),
        }

    # Synchronizing

    def sync(self, line: Line, **options: Any) -> satchel.StoreSyncReport:
        report = self.opened().sync(line.remote(), USER, key=self.key, **options)
        self.has_read = HEAD in line.bucket.names()
        # All that it shows is its own from now on: were the bucket lost, it would send it again.
        self.owed |= {document[TOKEN] for _, document in self.documents()}
        self.owed |= set(self.state()["marks"])
        return report


def declare(store: satchel.Store, policy: str) -> None:
    store.records("notes", on_conflict=policy)
    store.records("courses", indexes=[Index("code", unique=True)], on_conflict=policy)
    store.records("lessons", relations=RELATIONS, on_conflict=policy)


def main(options: dict[str, Any]) -> None:
    """Synchronizes once; at request ``kill_at`` the process kills itself."""
    store = satchel.open(Path(options["path"]), clock=lambda: options["now"], durability="relaxed")
    declare(store, options["policy"])
    key = bytes.fromhex(options["key"]) if options["key"] else None
    line = Line(Bucket(Path(options["bucket"])), options["seed"], options["rate"], options["kill_at"])
    store.sync(line.remote(), USER, key=key)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
