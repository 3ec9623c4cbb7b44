"""Schemas: unknown keywords, what failures say, and many documents of which some do not fit."""

from __future__ import annotations

import warnings
from typing import Any, Dict

import pytest

import satchel
from satchel.records import PutReport, RejectedRecord


def test_an_unknown_keyword_is_a_warning_that_names_the_one_meant(store: satchel.Store) -> None:
    schema = {"properties": {"n": {"minimun": 1}}, "x-form": "wide"}
    expected = r'courses: schema: /properties/n/minimun.*"minimum"'
    with pytest.warns(satchel.SchemaWarning, match=expected) as issued:
        courses = store.records("courses", schema=schema)
    assert [each.filename for each in issued] == [__file__]
    assert courses.warnings == [
        '/properties/n/minimun: unknown keyword, without effect: did you mean "minimum"?'
    ]
    courses.put("a", {"n": 0})
    # Later handles do not declare it, and are not warned; they can ask.
    assert store.records("courses").warnings == courses.warnings
    assert [each.warnings for each in store.collections()] == [courses.warnings]
    assert store.records("plain").warnings == []


def test_a_warning_may_be_an_error(store: satchel.Store) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(satchel.SchemaWarning, match="titel"):
            store.records("courses", schema={"titel": "Courses"})
        assert store.records("talks", schema={"title": "Talks", "type": "object"}).warnings == []


@pytest.mark.parametrize("keyword", ["dependencies", "additionalItems", "divisibleBy", "$dynamicRef"])
def test_an_assertion_of_an_earlier_draft_is_refused_by_name(store: satchel.Store, keyword: str) -> None:
    schema = {"properties": {"n": {keyword: {}}}}
    with pytest.raises(satchel.InvalidArgument, match=rf"/properties/n/.*{keyword[1:]}.*use"):
        store.records("courses", schema=schema)
    assert store.collections() == []


def test_white_space_is_that_of_ecmascript(store: satchel.Store) -> None:
    names = store.records("names", schema={"properties": {"n": {"pattern": r"^\S+\s\S+$"}}})
    for space in " \t\u00a0\u2003\u2028\u3000\ufeff":
        names.put("a", {"n": f"Ada{space}Lovelace"})
    for other in "_\u0085\u200b":
        with pytest.raises(satchel.ConstraintViolation, match="/n"):
            names.put("a", {"n": f"Ada{other}Lovelace"})


def test_a_failed_one_of_names_the_nearest_branch(store: satchel.Store) -> None:
    shapes = store.records(
        "shapes",
        schema={
            "oneOf": [
                {"required": ["radius"], "properties": {"kind": {"const": "circle"}}},
                {"required": ["to"], "properties": {"kind": {"const": "line"}, "to": {"type": "array"}}},
            ]
        },
    )
    with pytest.raises(satchel.ConstraintViolation, match="nearest is schema 1: /to: a string, not an"):
        shapes.put("a", {"kind": "line", "to": "there"})


@pytest.fixture
def users(store: satchel.Store) -> satchel.Records[Dict[str, Any]]:
    return store.records(
        "users",
        indexes=[{"path": "mail", "unique": True}],
        relations={"boss": "users"},
        schema={"properties": {"age": {"type": "integer"}}},
    )


def test_the_one_that_does_not_fit_is_named(users: satchel.Records[Dict[str, Any]]) -> None:
    with pytest.raises(satchel.ConstraintViolation, match="users/b: /age"):
        users.put_many({"a": {"age": 1}, "b": {"age": "x"}, "c": {"age": 2}})
    assert users.count() == 0


def test_those_that_fit_are_written_and_the_others_reported(users: satchel.Records[Dict[str, Any]]) -> None:
    documents = {
        "a": {"mail": "x"},
        "b": {"mail": "x"},
        "c": {"age": 1.5},
        "d": {"boss": "c"},
        "e": {"boss": "f"},
        "f": {},
    }
    report = users.put_many(documents, skip_rejected=True)
    assert isinstance(report, PutReport)
    assert report.written == 3
    assert [(each.position, each.id, each.code) for each in report.rejected] == [
        (1, "b", "ECONSTRAINT"),
        (2, "c", "ECONSTRAINT"),
        (3, "d", "ECONSTRAINT"),
    ]
    assert report.rejected[1] == RejectedRecord(2, "c", "ECONSTRAINT", "users/c: /age: 1.5, not an integer")
    assert "there is no users/c" in report.rejected[2].message
    assert users.ids() == ["a", "e", "f"]
    assert users.put_many([("", {}), ("g", {})], skip_rejected=True).rejected[0].code == "EINVALID"
    assert users.put_many([], skip_rejected=True) == PutReport(0, [])
    # A value that JSON cannot represent is an error of the call.
    with pytest.raises(satchel.InvalidArgument, match="'h'"):
        users.put_many({"h": {"x": float("nan")}}, skip_rejected=True)


def test_an_order_holds_with_records_that_lack_the_path(store: satchel.Store) -> None:
    notes = store.records("notes", indexes=["n"])
    notes.put_many((f"r{each}", {"n": each} if each % 3 else {}) for each in range(30))
    assert notes.ids(order_by="n", limit=3) == ["r0", "r3", "r6"]
    assert notes.ids(order_by="-n", limit=3) == ["r29", "r28", "r26"]
    assert notes.ids(order_by="n", limit=2, offset=10) == ["r1", "r2"]
    assert notes.count({"n": {"exists": False}}) == 10


def test_a_condition_on_a_relation(store: satchel.Store) -> None:
    tags = store.records("tags")
    notes = store.records("notes", relations={"tags": {"collection": "tags", "many": True}, "main": "tags"})
    tags.put_many({"a": {}, "b": {}})
    notes.put_many({"n1": {"tags": ["a", "b"]}, "n2": {"tags": ["b"], "main": "a"}, "n3": {"main": "b"}})
    assert notes.ids({"tags": {"contains": "b"}}) == ["n1", "n2"]
    assert notes.ids({"tags": {"contains": "b"}, "main": "a"}) == ["n2"]
    assert notes.ids({"main": {"in": ["a", "b"]}}) == ["n2", "n3"]
    assert notes.count({"tags": {"contains": "c"}}) == 0
