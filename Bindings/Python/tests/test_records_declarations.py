"""Declarations add; only redeclare=True drops."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import pytest

import satchel
from satchel import Records

Collection = Records[Dict[str, Any]]

SCHEMA = {"type": "object", "required": ["name"]}


def declared(store: satchel.Store) -> Collection:
    store.records("teams").put("t1", {})
    users = store.records(
        "users", indexes=[{"path": "email", "unique": True}], relations={"team": "teams"}, schema=SCHEMA
    )
    users.put("u1", {"name": "Ada", "email": "a@b.c", "team": "t1"})
    return users


FORBIDDEN = [{"name": "Bob", "email": "a@b.c"}, {"name": "Bob", "team": "t9"}, {"email": "x@y.z"}]


def refuses(users: Collection) -> None:
    for document in FORBIDDEN:
        with pytest.raises(satchel.ConstraintViolation, match=r"^users/u2: "):
            users.put("u2", document)
    assert users.ids() == ["u1"]


def test_another_part_of_the_app_drops_nothing(store: satchel.Store) -> None:
    users = declared(store)
    others = [store.records("users", indexes=["name"]), store.records("users")]
    for handle in [users, *others]:
        refuses(handle)


def test_what_another_process_declares_holds_for_handles_that_are_open(path: Path) -> None:
    with satchel.open(path) as store:
        store.records("teams").put("t1", {})
        users = store.records("users")
        users.put("u1", {"name": "Ada", "email": "a@b.c", "team": "t1"})
        run(
            path,
            "store.records('users', indexes=[{'path': 'email', 'unique': True}],"
            f" relations={{'team': 'teams'}}, schema={SCHEMA!r})",
        )
        refuses(users)
        run(path, "store.records('users', indexes=['name'], redeclare=True)")
        for call in (lambda: users.put("u2", {"name": "Bob"}), lambda: users.delete("u1")):
            with pytest.raises(satchel.Conflict, match="declare the collection again"):
                call()
        assert users.get("u1") == {"name": "Ada", "email": "a@b.c", "team": "t1"}
        assert users.ids(where={"name": "Ada"}) == ["u1"]
        again = store.records("users")
        for number, document in enumerate(FORBIDDEN):
            again.put(f"v{number}", document)
        assert store.check() == []


def run(path: Path, statement: str) -> None:
    program = f"import satchel\nwith satchel.open({str(path)!r}) as store:\n    {statement}\n"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    "other",
    [
        {"indexes": ["email"]},
        {"relations": {"team": "users"}},
        {"relations": {"team": {"collection": "teams", "on_delete": "cascade"}}},
        {"schema": {"required": ["title"]}},
    ],
)
def test_what_the_store_has_otherwise_is_refused(store: satchel.Store, other: Dict[str, Any]) -> None:
    users = declared(store)
    before = store.collections()
    with pytest.raises(satchel.InvalidArgument, match="redeclare=True"):
        store.records("users", **other)
    assert store.collections() == before
    refuses(users)
    users.put("u1", {"name": "Ada"})
    new = store.records("users", **{**other, "relations": other.get("relations", {})}, redeclare=True)
    if "relations" not in other:
        new.put("u2", {"name": "Bob", "title": "", "email": "b@b.c", "team": "t9"})
    with pytest.raises(satchel.Conflict):
        users.put("u3", {"name": "Cid"})


def test_a_collection_opened_to_read_only_is_read_whatever_is_declared(path: Path) -> None:
    with satchel.open(path) as store:
        declared(store)
    with satchel.open(path, read_only=True) as store:
        for users in (store.records("users"), store.records("users", indexes=["email"], schema=True)):
            assert users.count() == 1


# A model: what has been declared, and not dropped since, is what no record violates.

PATHS = ["a", "b", "c"]
SCHEMAS: List[Any] = [
    {"properties": {"a": {"type": "integer"}}},
    {"required": ["b"]},
]


class Model:
    def __init__(self) -> None:
        self.indexes: Dict[str, bool] = {}
        self.relations: Dict[str, str] = {}
        self.schema: Optional[Any] = None
        self.documents: Dict[str, Dict[str, Any]] = {}
        self.owners: Dict[str, Dict[str, Any]] = {"o1": {}, "o2": {}}

    def allows(self, id: str, document: Dict[str, Any], check_schema: bool = True) -> bool:
        for path, unique in self.indexes.items():
            value = document.get(path)
            if unique and value is not None:
                others = [each.get(path) for key, each in self.documents.items() if key != id]
                if value in others:
                    return False
        for path in self.relations:
            value = document.get(path)
            if value is not None and value not in self.owners:
                return False
        if check_schema and self.schema == SCHEMAS[0]:
            return isinstance(document.get("a", 0), int)
        if check_schema and self.schema == SCHEMAS[1]:
            return "b" in document
        return True

    def declare(
        self, indexes: Dict[str, bool], relations: Dict[str, str], schema: Any, redeclare: bool
    ) -> Optional[bool]:
        """Whether something was dropped or replaced; None when it has to be refused, and changes nothing."""
        before = (dict(self.indexes), dict(self.relations), self.schema)
        clashes = (
            any(self.indexes.get(path, unique) != unique for path, unique in indexes.items())
            or any(self.relations.get(path, kind) != kind for path, kind in relations.items())
            or (None not in (schema, self.schema) and schema != self.schema)
        )
        if clashes and not redeclare:
            return None
        if redeclare:
            self.indexes, self.relations, self.schema = dict(indexes), dict(relations), schema
        else:
            self.indexes.update(indexes)
            self.relations.update(relations)
            self.schema = self.schema if schema is None else schema
        # A schema is for what is written from now on.
        if not all(self.allows(id, each, False) for id, each in self.documents.items()):
            self.indexes, self.relations, self.schema = before
            return None
        return (
            any(self.indexes.get(path) != unique for path, unique in before[0].items())
            or any(self.relations.get(path) != kind for path, kind in before[1].items())
            or (before[2] is not None and before[2] != self.schema)
        )


def declaration(dice: random.Random) -> Tuple[Dict[str, bool], Dict[str, str], Any]:
    indexes = {path: dice.random() < 0.6 for path in PATHS if dice.random() < 0.3}
    relations = {"c": dice.choice(["restrict", "nullify"])} if dice.random() < 0.3 else {}
    schema = dice.choice(SCHEMAS) if dice.random() < 0.3 else None
    return indexes, relations, schema


@pytest.mark.parametrize("seed", range(12))
def test_nothing_that_a_declaration_forbids_is_ever_stored(path: Path, seed: int) -> None:
    dice = random.Random(seed)
    model = Model()
    with satchel.open(path) as one, satchel.open(path) as other:
        stores = [one, other]
        owners = one.records("owners")
        for id, owner in model.owners.items():
            owners.put(id, owner)
        handles: List[Tuple[Collection, bool]] = [(store.records("things"), True) for store in stores]
        refused = 0
        for _ in range(150):
            if dice.random() < 0.25:
                indexes, relations, schema = declaration(dice)
                redeclare = dice.random() < 0.2
                dropped = model.declare(indexes, relations, schema, redeclare)
                given: Dict[str, Any] = {
                    "indexes": [{"path": path, "unique": unique} for path, unique in indexes.items()],
                    "relations": {
                        path: {"collection": "owners", "on_delete": kind} for path, kind in relations.items()
                    },
                    "schema": schema,
                    "redeclare": redeclare,
                }
                store = dice.choice(stores)
                if dropped is None:
                    with pytest.raises((satchel.InvalidArgument, satchel.ConstraintViolation)):
                        store.records("things", **given)
                    continue
                if dropped:
                    handles = [(handle, False) for handle, _ in handles]
                handles.append((store.records("things", **given), True))
                handles = handles[-6:]
            else:
                handle, is_current = dice.choice(handles)
                id = f"r{dice.randrange(6)}"
                document = {
                    path: dice.choice([1, 2, 3, "x", "o1", "o2", None])
                    for path in PATHS
                    if dice.random() < 0.6
                }
                if isinstance(document.get("c"), int):
                    document["c"] = "o3"
                if is_current and model.allows(id, document):
                    handle.put(id, document)
                    model.documents[id] = document
                else:
                    refused += 1
                    with pytest.raises(satchel.ConstraintViolation if is_current else satchel.Conflict):
                        handle.put(id, document)
                assert handle.get(id) == model.documents.get(id)
        assert refused > 0
        assert {each.id: each.document for each in other.records("things").list()} == model.documents
        assert one.check() == []
