"""Versions: declared steps, functions, ways back, and records that break on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

import satchel
from satchel import _callbacks
from satchel.records import Migration

DECLARED: List[Any] = [
    [{"rename": {"from": "name", "to": "title"}}, {"default": {"path": "credits", "value": 6}}],
    [{"move": {"from": "/room/floor", "to": "/floor"}}, {"convert": {"path": "floor", "to": "string"}}],
    [{"remove": {"path": "credits"}}],
]


def filled(store: satchel.Store, count: int = 3) -> None:
    store.records("courses").put_many(
        {f"c{each}": {"name": f"Course {each}", "room": {"floor": each, "x": 1}} for each in range(count)}
    )


def test_declared_steps_lead_on_and_back(store: satchel.Store) -> None:
    filled(store)
    courses = store.records("courses", version=2, migrations=DECLARED[:1])
    assert courses.get("c1") == {"title": "Course 1", "room": {"floor": 1, "x": 1}, "credits": 6}
    courses.put("c1", {"title": "Course 1", "room": {"floor": 1, "x": 1}, "credits": 9})
    courses = store.records("courses", version=4, migrations=DECLARED)
    assert courses.get("c1") == {"title": "Course 1", "room": {"x": 1}, "floor": "1"}
    assert [each.version for each in store.collections()] == [4]
    # An older app does not declare the later steps, which are in the store.
    courses = store.records("courses", version=2, migrations=DECLARED[:1])
    assert courses.get("c1") == {"title": "Course 1", "room": {"floor": 1, "x": 1}, "credits": 9}
    assert courses.get("c2") == {"title": "Course 2", "room": {"floor": 2, "x": 1}, "credits": 6}
    courses = store.records("courses", version=1)
    assert courses.get("c2") == {"name": "Course 2", "room": {"floor": 2, "x": 1}}
    assert courses.ids() == ["c0", "c1", "c2"]


def test_functions_migrate(store: satchel.Store) -> None:
    filled(store)

    def split(course: Dict[str, Any]) -> Dict[str, Any]:
        word, number = course.pop("name").split()
        return {**course, "word": word, "number": int(number)}

    def in_place(course: Dict[str, Any]) -> Dict[str, Any]:
        course["number"] += 100
        return course

    with pytest.warns(satchel.SchemaWarning, match='version 3: step 1: no record has a value at "/credits"'):
        courses = store.records(
            "courses", version=4, indexes=["number"], migrations=[split, DECLARED[2], in_place]
        )
    assert courses.get("c2") == {"room": {"floor": 2, "x": 1}, "word": "Course", "number": 102}
    assert courses.ids(where={"number": {"gte": 101}}) == ["c1", "c2"]
    with pytest.raises(satchel.NewerStore):
        store.records("courses", version=1)
    with pytest.raises(satchel.NewerStore):
        store.records("courses", version=3, migrations=[split, DECLARED[2]])
    assert courses.count() == 3
    # By its name alone it is opened as it is.
    assert store.records("courses").ids(where={"number": {"gte": 101}}) == ["c1", "c2"]


def test_functions_can_lead_back(store: satchel.Store) -> None:
    filled(store)
    steps = [
        Migration(lambda course: {"n": course}, lambda course: course["n"]),
        [{"rename": {"from": "n", "to": "m"}}],
    ]
    assert store.records("courses", version=3, migrations=steps).get("c1") == {
        "m": {"name": "Course 1", "room": {"floor": 1, "x": 1}}
    }
    assert store.records("courses", version=1, migrations=steps).get("c1") == {
        "name": "Course 1",
        "room": {"floor": 1, "x": 1},
    }


def test_steps_that_are_missing_are_reported(store: satchel.Store) -> None:
    filled(store)
    with pytest.raises(satchel.InvalidArgument, match="courses"):
        store.records("courses", version=3, migrations=DECLARED[:1])
    assert store.records("courses").get("c1") == {"name": "Course 1", "room": {"floor": 1, "x": 1}}


def test_a_collection_that_is_new_needs_no_migration(store: satchel.Store) -> None:
    def fail(document: Dict[str, Any]) -> Dict[str, Any]:
        raise AssertionError("there is nothing to migrate")

    courses = store.records("courses", version=3, migrations=[fail, fail])
    courses.put("a", {})
    assert store.records("courses", version=3, migrations=[fail, fail]).get("a") == {}


@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_function_that_raises_changes_nothing(store: satchel.Store, broken: int) -> None:
    filled(store)
    before = {each.id: (each.document, each.revision) for each in store.records("courses").list()}
    why = ZeroDivisionError("no such course")

    def migrate(course: Dict[str, Any]) -> Dict[str, Any]:
        if course["name"] == f"Course {broken}":
            raise why
        return {"changed": True}

    registered = _callbacks.registered_count()
    with pytest.raises(satchel.InvalidArgument, match=rf"courses/c{broken}.*no such course") as caught:
        store.records("courses", version=2, migrations=[migrate])
    assert caught.value.__cause__ is why
    assert _callbacks.registered_count() == registered
    assert {each.id: (each.document, each.revision) for each in store.records("courses").list()} == before
    assert [each.version for each in store.collections()] == [1]
    courses = store.records("courses", version=2, migrations=[lambda course: {"title": course["name"]}])
    assert courses.get("c1") == {"title": "Course 1"}


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_raised_as_it_is(store: satchel.Store, interrupt: Any) -> None:
    filled(store)

    def migrate(course: Dict[str, Any]) -> Dict[str, Any]:
        raise interrupt

    with pytest.raises(interrupt):
        store.records("courses", version=2, migrations=[migrate])
    assert store.records("courses").get("c0") == {"name": "Course 0", "room": {"floor": 0, "x": 1}}


@pytest.mark.parametrize(
    "answer",
    [None, 5, [], "text", {"a": {object()}}, {1: 2}, {"a": float("nan")}, b"no json", b'{"a":1,"a":2}'],
)
def test_what_is_no_document_is_no_answer(store: satchel.Store, answer: Any) -> None:
    filled(store)
    with pytest.raises(satchel.InvalidArgument, match="courses/c0"):
        store.records("courses", version=2, migrations=[lambda course: answer])
    assert store.records("courses").get("c0") == {"name": "Course 0", "room": {"floor": 0, "x": 1}}


@pytest.mark.parametrize(
    "step",
    [
        {"rename": {"from": "name", "to": "room"}},
        {"convert": {"path": "name", "to": "integer"}},
    ],
)
def test_a_declared_step_that_cannot_be_taken_names_the_record(
    store: satchel.Store, step: Dict[str, Any]
) -> None:
    filled(store)
    with pytest.raises(satchel.InvalidArgument, match="courses/c0"):
        store.records("courses", version=2, migrations=[[step]])
    assert store.records("courses").get("c0") == {"name": "Course 0", "room": {"floor": 0, "x": 1}}


def test_records_have_to_fit_the_new_schema_and_relations(store: satchel.Store) -> None:
    filled(store)
    schema = {"properties": {"title": {"type": "integer"}}}
    with pytest.raises(satchel.ConstraintViolation, match=r"courses/c0"):
        store.records("courses", version=2, migrations=DECLARED[:1], schema=schema)
    assert store.records("courses").count({"name": {"exists": True}}) == 3


def test_a_migration_makes_a_backup_next_to_the_store(path: Path) -> None:
    with satchel.open(path) as store:
        filled(store)
        before = set(path.parent.iterdir())
        store.records("courses", version=2, migrations=DECLARED[:1])
        fresh = [each for each in path.parent.iterdir() if each not in before]
    [backup] = [each for each in fresh if not each.name.endswith(("-wal", "-shm"))]
    assert backup.name.startswith(path.stem)
    with satchel.open(backup, read_only=True) as store:
        assert store.records("courses").get("c1") == {"name": "Course 1", "room": {"floor": 1, "x": 1}}


@pytest.mark.parametrize("steps", [5, "ab", b"ab", {"a": 1}, [5], [None], ["callback"], [Migration(5)]])  # type: ignore[arg-type]
def test_what_are_no_migrations_is_refused(store: satchel.Store, steps: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        store.records("courses", version=2, migrations=steps)
    assert store.collections() == []


def test_a_migration_that_uses_its_store_fails_and_does_not_hang(store: satchel.Store) -> None:
    filled(store)
    seen: List[Any] = []

    def migrate(course: Dict[str, Any]) -> Dict[str, Any]:
        with pytest.raises(satchel.Busy):
            store.close()
        seen.append(store.closed)
        return {"title": course["name"]}

    courses = store.records("courses", version=2, migrations=[migrate])
    assert seen == [False] * 3
    assert courses.get("c0") == {"title": "Course 0"}


def test_many_records_migrate(store: satchel.Store) -> None:
    filled(store, 5000)
    courses = store.records("courses", version=2, migrations=[lambda course: {"n": course["room"]["floor"]}])
    assert [each["n"] for each in courses.list()] == list(range(5000))


def test_a_function_cannot_write_to_the_store(store: satchel.Store) -> None:
    filled(store)
    courses = store.records("courses", version=1, indexes=["name"])
    store.state.set("n", 1)
    calls: List[Callable[[], Any]] = [
        lambda: courses.put("x", {}),
        lambda: courses.put("x", {}, deferred=True),
        lambda: courses.put_many({"x": {}}, skip_rejected=True),
        lambda: courses.delete("c0"),
        lambda: courses.clear(),
        lambda: store.records("others"),
        lambda: store.state.set("n", 2),
        lambda: store.batch().__enter__(),
        lambda: store.catalogue.persist({"country_code": "at"}, {"section": "a", "content": {}}),
    ]
    for call in calls:

        def migrate(course: Dict[str, Any], call: Callable[[], Any] = call) -> Dict[str, Any]:
            call()
            return course

        with pytest.raises(satchel.InvalidArgument) as caught:
            store.records("courses", version=2, migrations=[migrate])
        assert "the migration of courses to version 2 runs" in f"{caught.value} {caught.value.__cause__}"
    assert courses.ids() == ["c0", "c1", "c2"]
    assert store.state.get("n") == 1
    assert store.check() == []


def test_a_function_of_the_state_cannot_write_either(store: satchel.Store) -> None:
    courses = store.records("courses")
    store.state.set("n", 1)

    def migrate(values: Dict[str, Any]) -> Dict[str, Any]:
        courses.put("x", {})
        return values

    with pytest.raises(satchel.InvalidArgument) as caught:
        store.state.declare(version=2, migrations=[migrate])
    assert "the migration of state to version 2 runs" in f"{caught.value} {caught.value.__cause__}"
    assert courses.count() == 0


def test_declarations_go_with_a_field_that_is_renamed(store: satchel.Store) -> None:
    parents = store.records("parents")
    parents.put("p", {})
    kids = store.records(
        "kids",
        version=1,
        relations={"parent": {"collection": "parents", "on_delete": "cascade"}},
        indexes=[{"path": "code", "unique": True}],
    )
    kids.put("k", {"parent": "p", "code": 1})
    steps: List[Any] = [
        [{"rename": {"from": "parent", "to": "mother"}}, {"move": {"from": "code", "to": "ids.number"}}]
    ]
    kids = store.records(
        "kids", version=2, migrations=steps, indexes=[{"path": "ids.number", "unique": True}]
    )
    with pytest.raises(satchel.ConstraintViolation, match="kids/k has the same"):
        kids.put("k2", {"ids": {"number": 1}})
    kids = store.records("kids", version=1)
    with pytest.raises(satchel.ConstraintViolation, match="kids/k has the same"):
        kids.put("k2", {"code": 1})
    with pytest.raises(satchel.InvalidArgument, match=r'declare the index of "ids\.number"'):
        store.records("kids", version=2, migrations=steps, indexes=[{"path": "code", "unique": True}])
    parents.delete("p")
    assert kids.count() == 0


def test_sensitive_fields_go_with_a_field_that_is_renamed(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set_key(bytes(32))
        notes = store.records("notes", version=1, sensitive=["secret"])
        notes.put("n", {"secret": "swordfish"})
        steps: List[Any] = [[{"rename": {"from": "secret", "to": "hidden"}}]]
        notes = store.records("notes", version=2, migrations=steps)
        assert notes.get("n") == {"hidden": "swordfish"}
        assert [each.sensitive for each in store.collections()] == [["hidden"]]
        notes.put("m", {"hidden": "tuna"})
        assert store.records("notes", version=1).get("m") == {"secret": "tuna"}
        assert store.check() == []
    assert b"tuna" not in path.read_bytes()


def test_observers_are_notified_of_a_migration(store: satchel.Store) -> None:
    filled(store)
    heard: List[satchel.Change] = []
    with store.observe(heard.append):
        store.records("courses", version=2, migrations=DECLARED[:1])
    assert ("records", ["courses"]) in [(each.subject, list(each.keys)) for each in heard]
