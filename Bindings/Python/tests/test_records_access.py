"""One or many records at once: updating, reading, deleting and iterating."""

from __future__ import annotations

from typing import Any, Dict

import pytest

import satchel
from satchel import Records


@pytest.fixture
def courses(store: satchel.Store) -> Records[Dict[str, Any]]:
    return store.records("courses", indexes=[{"path": "code", "unique": True}])


def test_an_update_changes_what_the_patch_names(courses: Records[Dict[str, Any]]) -> None:
    courses.put("a", b'{"room":{"name":"H1","floor":2},"credits":6,"price":1.0}')
    assert courses.update("a", {"credits": 7, "room": {"floor": None}, "code": "A1"}) == 2
    assert courses.text("a") == b'{"room":{"name":"H1"},"credits":7,"price":1.0,"code":"A1"}'
    assert courses.update("a", {}) == 3
    with pytest.raises(satchel.NotFound, match="courses/b"):
        courses.update("b", {"credits": 1})
    with pytest.raises(satchel.Conflict):
        courses.update("a", {"credits": 1}, if_revision=1)
    assert courses.update("a", {"credits": 8}, if_revision=3) == 4
    courses.put("b", {"code": "B1"})
    with pytest.raises(satchel.ConstraintViolation, match="/code"):
        courses.update("b", {"code": "A1"})
    bad: Any
    for bad in ([1], "x", None, 5):
        with pytest.raises(satchel.InvalidArgument):
            courses.update("a", bad)
    assert courses["a"]["credits"] == 8
    assert courses["b"] == {"code": "B1"}


def test_many_are_read_and_deleted_at_once(store: satchel.Store, courses: Records[Dict[str, Any]]) -> None:
    courses.put_many((f"c{each}", {"n": each}) for each in range(10))
    assert courses.get_many(["c3", "none", "c1", "c3"]) == {"c3": {"n": 3}, "c1": {"n": 1}}
    assert list(courses.get_many(["c3", "c1"])) == ["c3", "c1"]
    assert courses.get_many([]) == {}
    assert courses.delete_many(["c1", "c1", "none", "c2"]) == 2
    assert courses.delete_many([]) == 0
    assert courses.ids() == ["c0", *(f"c{each}" for each in range(3, 10))]
    grades = store.records("grades", relations={"course": "courses", "next": "grades"})
    grades.put_many({"g1": {"course": "c5"}, "g2": {"next": "g1"}})
    with pytest.raises(satchel.ConstraintViolation, match="grades/g1"):
        courses.delete_many(["c4", "c5"])
    assert "c4" in courses
    # Records that refer to each other go together.
    assert grades.delete_many(["g1", "g2"]) == 2
    bad: Any
    for bad in ("c4", 5, [5], None, {"c4": 1}, [""]):
        with pytest.raises(satchel.InvalidArgument):
            courses.delete_many(bad)
    with pytest.raises(satchel.InvalidArgument):
        courses.get_many("c4")
    assert courses.count() == 8
    assert store.check() == []


def test_a_collection_is_asked_as_a_mapping_is(courses: Records[Dict[str, Any]]) -> None:
    assert courses
    assert len(courses) == 0
    assert list(courses) == []
    courses.put_many((f"c{each}", {"n": each}) for each in range(1200))
    assert len(courses) == 1200
    assert "c7" in courses
    assert "d7" not in courses
    assert courses["c7"] == {"n": 7}
    with pytest.raises(KeyError, match="courses/d7"):
        courses["d7"]
    assert [each.id for each in courses] == courses.ids()
    assert sum(each["n"] for each in courses.iterate({"n": {"lt": 10}})) == 45
    backwards = courses.iterate(order_by="-n")
    assert next(backwards).id == "c1199"
    # Records that are deleted meanwhile are left out.
    courses.delete("c3")
    assert len(list(backwards)) == 1198
