"""Relations and schemas: what refers to what, and what a document has to be."""

from __future__ import annotations

from typing import Any, Dict, List

import pytest

import satchel
from satchel import Records
from satchel.records import Relation

Collection = Records[Dict[str, Any]]


@pytest.fixture
def semesters(store: satchel.Store) -> Collection:
    return store.records("semesters")


def test_what_is_referred_to_has_to_be_there(store: satchel.Store, semesters: Collection) -> None:
    courses = store.records("courses", relations={"semester": "semesters"})
    with pytest.raises(satchel.ConstraintViolation, match=r"courses/a.*/semester"):
        courses.put("a", {"semester": "spring"})
    assert courses.count() == 0
    semesters.put("spring", {})
    courses.put("a", {"semester": "spring"})
    courses.put("b", {"semester": None})
    courses.put("c", {})
    for wrong in (5, ["spring"], {"id": "spring"}, True):
        with pytest.raises(satchel.ConstraintViolation, match=r"courses/d.*/semester"):
            courses.put("d", {"semester": wrong})
    assert courses.ids() == ["a", "b", "c"]


def test_restrict_refuses(store: satchel.Store, semesters: Collection) -> None:
    courses = store.records("courses", relations={"semester": Relation("semesters")})
    semesters.put("spring", {})
    courses.put("a", {"semester": "spring"})
    with pytest.raises(satchel.ConstraintViolation, match="courses/a"):
        semesters.delete("spring")
    assert semesters.count() == 1
    courses.put("a", {"semester": None})
    assert semesters.delete("spring")


def test_cascade_deletes_however_deep(store: satchel.Store) -> None:
    nodes = store.records("nodes", relations={"parent": Relation("nodes", on_delete="cascade")})
    with store.batch():
        nodes.put("0", {"parent": None})
        for each in range(1, 3000):
            nodes.put(str(each), {"parent": str(each - 1)})
        nodes.put("other", {"parent": None})
    assert nodes.delete("0")
    assert nodes.ids() == ["other"]


def test_a_circle_is_deleted_as_a_whole(store: satchel.Store) -> None:
    nodes = store.records("nodes", relations={"next": Relation("nodes", "cascade")})
    with store.batch():
        for each in range(5):
            nodes.put(str(each), {"next": str((each + 1) % 5)})
    assert nodes.delete("3")
    assert nodes.count() == 0


def test_nullify_takes_the_id_out(store: satchel.Store, semesters: Collection) -> None:
    courses = store.records(
        "courses",
        relations={
            "semester": Relation("semesters", "nullify"),
            "others.list": {"collection": "semesters", "on_delete": "nullify", "many": True},
        },
    )
    semesters.put_many({"spring": {}, "autumn": {}})
    courses.put(
        "a", {"semester": "spring", "others": {"list": ["autumn", "spring", "autumn"], "n": 1.50}, "x": -0.0}
    )
    semesters.delete("spring")
    left = {"semester": None, "others": {"list": ["autumn", "autumn"], "n": 1.5}, "x": -0.0}
    assert courses.get("a") == left
    record = courses.record("a")
    assert record is not None
    assert record.revision == 2
    semesters.delete("autumn")
    assert courses.get("a") == {"semester": None, "others": {"list": [], "n": 1.5}, "x": -0.0}


def test_restrict_wins_before_anything_is_changed(store: satchel.Store, semesters: Collection) -> None:
    courses = store.records("courses", relations={"semester": Relation("semesters", "cascade")})
    tasks = store.records("tasks", relations={"course": Relation("courses", "nullify")})
    grades = store.records("grades", relations={"course": Relation("courses", "restrict")})
    semesters.put("spring", {})
    courses.put_many({"a": {"semester": "spring"}, "b": {"semester": "spring"}})
    tasks.put("t", {"course": "a"})
    grades.put("g", {"course": "b"})
    heard: List[satchel.Change] = []
    with store.observe(heard.append), pytest.raises(satchel.ConstraintViolation, match="grades/g"):
        semesters.delete("spring")
    assert heard == []
    assert (semesters.count(), courses.count()) == (1, 2)
    assert tasks.get("t") == {"course": "a"}
    grades.delete("g")
    semesters.delete("spring")
    assert courses.count() == 0
    assert tasks.get("t") == {"course": None}


def test_nullify_has_to_fit_the_schema(store: satchel.Store, semesters: Collection) -> None:
    courses = store.records(
        "courses",
        relations={"semester": Relation("semesters", "nullify")},
        schema={"properties": {"semester": {"type": "string"}}},
    )
    semesters.put("spring", {})
    courses.put("a", {"semester": "spring"})
    with pytest.raises(satchel.ConstraintViolation, match=r"courses/a.*/semester"):
        semesters.delete("spring")
    assert semesters.count() == 1
    assert courses.get("a") == {"semester": "spring"}


def test_relations_go_between_collections_in_any_order(store: satchel.Store) -> None:
    # Each refers to the other, and neither could be first.
    people = store.records("people", relations={"team": "teams"})
    teams = store.records("teams", relations={"lead": "people"})
    with store.batch():
        people.put("ada", {"team": "maths"})
        teams.put("maths", {"lead": "ada"})

    @store.batch()
    def change() -> None:
        people.put("bob", {"team": "physics"})
        teams.put("chemistry", {"lead": "bob"})

    with pytest.raises(satchel.ConstraintViolation, match="people/bob"):
        change()
    assert (people.count(), teams.count()) == (1, 1)


SCHEMA: Dict[str, Any] = {
    "$defs": {"room": {"type": "object", "required": ["name"]}},
    "type": "object",
    "required": ["title"],
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "credits": {"type": "integer", "minimum": 0, "maximum": 30},
        "kind": {"enum": ["lecture", "seminar"]},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "room": {"$ref": "#/$defs/room"},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({}, "title"),
        ({"title": ""}, "/title"),
        ({"title": 5}, "/title"),
        ({"title": "a", "credits": 31}, "/credits"),
        ({"title": "a", "credits": 1.5}, "/credits"),
        ({"title": "a", "kind": "picnic"}, "/kind"),
        ({"title": "a", "tags": ["x", 5]}, "/tags/1"),
        ({"title": "a", "tags": ["x", "x"]}, "/tags"),
        ({"title": "a", "room": {}}, "/room"),
        ({"title": "a", "more": 1}, "more"),
    ],
)
def test_a_schema_names_the_place(store: satchel.Store, document: Dict[str, Any], place: str) -> None:
    courses = store.records("courses", schema=SCHEMA)
    good = {"title": "a", "credits": 6.0, "kind": "seminar", "tags": ["x"], "room": {"name": "b"}}
    courses.put("good", good)
    with pytest.raises(satchel.ConstraintViolation, match=rf"(?s)courses/bad.*{place}"):
        courses.put("bad", document)
    with pytest.raises(satchel.ConstraintViolation, match=place):
        courses.put_many({"other": {"title": "x"}, "bad": document})
    assert courses.ids() == ["good"]


@pytest.mark.parametrize("schema", [{"$ref": "https://example.org/schema"}, {"pattern": 5}, {"minimum": "a"}])
def test_what_is_no_schema_is_refused(store: satchel.Store, schema: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        store.records("courses", schema=schema)


def test_a_schema_holds_for_every_handle(store: satchel.Store) -> None:
    strict = store.records("courses", schema={"required": ["title"]})
    strict.put("a", {"title": "x"})
    with pytest.raises(satchel.ConstraintViolation):
        strict.put("b", {})
    as_it_is = store.records("courses")
    with pytest.raises(satchel.ConstraintViolation):
        as_it_is.put("b", {})
    with pytest.raises(satchel.ConstraintViolation):
        store.records("courses", version=1).put("b", {})
    loose = store.records("courses", version=1, redeclare=True)
    loose.put("b", {})
    assert strict.get("b") == {}
