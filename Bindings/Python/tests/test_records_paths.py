"""A path that no document can have is an error, and names the one that was probably meant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

import pytest

import satchel
from satchel.records import Index


@dataclass
class Person:
    name: str
    mail: Optional[str] = None


@dataclass
class Book:
    title: str
    author: Optional[Person] = None
    readers: List[Person] = field(default_factory=list)
    marks: Dict[str, Person] = field(default_factory=dict)
    more: Any = None


SCHEMA = {
    "additionalProperties": False,
    "properties": {
        "title": {"type": "string"},
        "author": {"type": "object", "additionalProperties": False, "properties": {"name": True}},
    },
}

WRONG = [
    ("auhtor", '"auhtor"', 'did you mean "author"?'),
    ("author.nmae", '"author.nmae"', 'did you mean "author.name"?'),
    ("/author/nmae", '"/author/nmae"', 'did you mean "/author/name"?'),
    ("something_else", '"something_else"', ""),
]


@pytest.fixture(params=["dataclass", "schema"])
def books(request: pytest.FixtureRequest, store: satchel.Store) -> Any:
    if request.param == "dataclass":
        return store.records("books", of=Book)
    return store.records("books", schema=SCHEMA)


@pytest.mark.parametrize(("wrong", "named", "likely"), WRONG)
def test_a_query_names_the_path(books: Any, wrong: str, named: str, likely: str) -> None:
    calls = [
        lambda: books.list({wrong: "x"}),
        lambda: books.list({"any": [{"title": "x"}, {"not": {wrong: {"prefix": "x"}}}]}),
        lambda: books.list(order_by=wrong),
        lambda: books.list(order_by=["title", "-" + wrong]),
        lambda: books.ids({wrong: "x"}),
        lambda: books.count({wrong: {"in": ["x"]}}),
        lambda: list(books.iterate({wrong: "x"})),
        lambda: books.watch({wrong: "x"}),
    ]
    for call in calls:
        with pytest.raises(satchel.InvalidArgument) as error:
            call()
        assert named in str(error.value)
        assert likely in str(error.value)


@pytest.mark.parametrize("given", [{"of": Book}, {"schema": SCHEMA}])
def test_a_declaration_names_it(store: satchel.Store, given: Dict[str, Any]) -> None:
    for indexes in (["auhtor"], [Index("auhtor", unique=True)], [{"path": "auhtor"}]):
        with pytest.raises(satchel.InvalidArgument, match='did you mean "author"'):
            store.records("books", indexes=indexes, **given)
    with pytest.raises(satchel.InvalidArgument, match='did you mean "author"'):
        store.records("books", relations={"auhtor": "people"}, **given)
    assert store.collections() == []


def test_paths_that_may_exist_are_none(store: satchel.Store) -> None:
    books = store.records("books", of=Book, indexes=["author.name"])
    books.put("b1", Book("Emma", Person("Austen"), [Person("Ada")], {"x": Person("Emmy")}, {"y": 1}))
    for path, value in {
        "title": "Emma",
        "author.name": "Austen",
        "/readers/0/name": "Ada",
        "marks.x.name": "Emmy",
        "more.y": 1,
        "@id": "b1",
    }.items():
        assert books.ids({path: value}) == ["b1"]
    with pytest.raises(satchel.InvalidArgument, match=r'did you mean "marks\.x\.name"'):
        books.ids({"marks.x.nam": "Emmy"})
    with pytest.raises(satchel.InvalidArgument, match='did you mean "/readers/0/name"'):
        books.ids({"/readers/0/nam": "Ada"})


def test_an_open_schema_and_plain_dicts_allow_all(store: satchel.Store) -> None:
    notes = store.records("notes", schema={"properties": {"author": {"type": "string"}}})
    notes.put("n1", {"auhtor": "x"})
    assert notes.ids({"auhtor": "x"}) == ["n1"]
    assert store.records("others").ids({"anything": 1}) == []
