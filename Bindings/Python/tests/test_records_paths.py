"""A path that no document can have is an error, and names the one that was probably meant."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Callable, Dict, List, Optional

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


@dataclass
class Task:
    title: str
    course: Optional[uuid.UUID] = None
    due: Optional[datetime] = None
    tags: List[str] = field(default_factory=list)
    marks: Dict[str, int] = field(default_factory=dict)
    extra: Any = None


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("course.semester", '"course" is of type UUID, which has no "semester"'),
        ("title.x", '"title" is of type str, which has no "x"'),
        ("due.year", '"due" is of type datetime, which has no "year"'),
        ("tags.x", '"tags" is of type list, which has no "x"'),
        ("tags.0", '"tags" is of type list, which has no "0"'),
        ("/tags/0/x", '"0" is of type str, which has no "x"'),
        ("marks.maths.x", '"maths" is of type int, which has no "x"'),
    ],
)
def test_a_path_through_a_value_without_members_is_refused(
    store: satchel.Store, wrong: str, says: str
) -> None:
    tasks = store.records("tasks", of=Task)
    calls: List[Callable[[], Any]] = [
        lambda: tasks.list({wrong: 1}),
        lambda: tasks.ids(order_by=wrong),
        lambda: tasks.count({"not": {wrong: {"gt": 1}}}),
        lambda: store.records("tasks", of=Task, indexes=[wrong]),
    ]
    for call in calls:
        with pytest.raises(satchel.InvalidArgument, match=says):
            call()


def test_a_path_into_what_may_have_members_is_not(store: satchel.Store) -> None:
    tasks = store.records("tasks", of=Task)
    tasks.put("a", Task("x", tags=["q"], marks={"maths": 2}, extra={"n": 1}))
    for path, value in (("/tags/0", "q"), ("marks.maths", 2), ("extra.n", 1)):
        assert tasks.ids({path: value}) == ["a"]


def test_a_range_of_decimals_is_refused(store: satchel.Store) -> None:
    prices = store.records("prices")
    prices.put_many({"cheap": {"p": Decimal("9.50")}, "dear": {"p": Decimal("10.00")}})
    for operator in ("lt", "lte", "gt", "gte"):
        with pytest.raises(satchel.InvalidArgument, match='"p": decimals are stored as text'):
            prices.ids({"any": [{"p": {operator: Decimal("9.5")}}]})
    assert prices.ids({"p": Decimal("9.50")}) == ["cheap"]
    assert prices.ids({"p": {"in": [Decimal("10.00")]}}) == ["dear"]


@dataclass
class Price:
    p: Optional[Decimal] = None


def test_decimals_of_a_dataclass_are_compared_as_numbers(store: satchel.Store) -> None:
    prices = store.records("prices", of=Price)
    prices.put_many({"cheap": Price(Decimal("9.50")), "dear": Price(Decimal("10.00"))})
    assert prices.ids(order_by="-p") == ["dear", "cheap"]
    assert prices.ids({"/p": {"gte": "9.50"}}) == ["cheap", "dear"]
    assert prices.ids({"p": {"gt": Decimal("9.5")}}) == ["dear"]
    assert prices.ids({"p": Decimal("10")}) == ["dear"]
    assert prices.sum("p") == "19.5"
    with pytest.raises(satchel.InvalidArgument, match='"p" is declared as decimal: "many" is not'):
        prices.ids({"p": "many"})


@dataclass
class Visit:
    at: datetime
    day: Optional[date] = None
    who: Optional[Person] = None
    inner: Optional[Price] = None


def test_types_of_a_dataclass_are_those_of_its_fields(store: satchel.Store) -> None:
    visits = store.records("visits", of=Visit)
    zone = timezone(timedelta(hours=2))
    visits.put("a", Visit(datetime(2027, 3, 5, 9, tzinfo=timezone.utc), date(2027, 3, 5)))
    visits.put("b", Visit(datetime(2027, 3, 5, 10, tzinfo=zone), date(2027, 3, 4)))
    assert visits.ids(order_by="at") == ["b", "a"]
    assert visits.ids({"at": {"lt": date(2027, 3, 6)}}) == ["a", "b"]
    assert visits.ids({"day": {"gte": datetime(2027, 3, 5, tzinfo=timezone.utc)}}) == ["a"]
    (info,) = [each for each in store.collections() if each.name == "visits"]
    assert info.types == {"at": "time", "day": "time", "inner.p": "decimal"}
    # A type of its own comes first, and no version is declared with it.
    other = store.records("others", of=Visit, types={"day": {"type": "text"}}, version=2)
    other.put("a", Visit(datetime(2027, 3, 5, tzinfo=timezone.utc), date(2027, 3, 5)))
    assert store.records("others", of=Visit, types={"day": {"type": "text"}}).ids() == ["a"]


def test_indexes_of_several_paths_conditions_and_elements(store: satchel.Store) -> None:
    orders = store.records(
        "orders",
        indexes=[
            Index(("who", "-at"), unique=True),
            Index("rank", where={"open": True}, type="number"),
            {"path": "lines[*].sku"},
            {"path": "title", "type": "text", "fold": "case", "order": "unicode"},
        ],
    )
    orders.put("a", {"who": 1, "at": 1, "rank": 3, "open": True, "lines": [{"sku": "x"}, {"sku": "y"}]})
    orders.put("b", {"who": 1, "at": 2, "rank": 1, "open": True, "lines": [{"sku": "x"}]})
    with pytest.raises(satchel.ConstraintViolation, match="orders/a"):
        orders.put("c", {"who": 1, "at": 1})
    assert orders.ids({"who": 1}, order_by="-at", limit=1) == ["b"]
    assert orders.explain({"open": True}, order_by="rank", limit=1).paths == ["rank"]
    assert orders.ids({"lines[*].sku": "y"}) == ["a"]
    (info,) = store.collections()
    assert info.indexes[0] == {"paths": ["who", "-at"], "unique": True}
    assert info.indexes[1] == {"path": "rank", "unique": False, "where": {"open": {"eq": True}}}
    for wrong in (Index([]), Index(["a", "a"]), Index("a", type="colour"), Index("tags[*]", unique=True)):
        with pytest.raises(satchel.InvalidArgument):
            store.records("wrong", indexes=[wrong])


def test_paths_into_items_and_computed_ones_are_checked_as_well(store: satchel.Store) -> None:
    books = store.records("books", of=Book)
    books.put("a", Book("A", readers=[Person("Ann"), Person("Ben")]))
    assert books.ids({"readers[*].name": "Ben"}) == ["a"]
    assert books.ids({"length(readers)": 2, "lower(title)": "a"}) == ["a"]
    for path in ("readers[*].nmae", "lower(titel)"):
        with pytest.raises(satchel.InvalidArgument, match="did you mean"):
            books.ids({path: 1})
