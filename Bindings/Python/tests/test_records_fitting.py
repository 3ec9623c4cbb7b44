"""Documents put into a collection of a dataclass can be read again; records are put as their documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import IntEnum
from typing import Any, Callable, Dict, List, Optional, Union

import pytest

import satchel
from satchel import InvalidArgument, Records


class Grade(IntEnum):
    LOW = 1


@dataclass
class Place:
    name: str
    floor: Optional[int] = None


@dataclass
class Entry:
    title: str
    mood: int = 0
    weight: float = 0.0
    done: bool = False
    note: Optional[str] = None
    written: Optional[datetime] = None
    place: Optional[Place] = None
    numbers: List[int] = field(default_factory=list)
    either: Union[int, str] = 0


@dataclass
class LongEntry(Entry):
    pages: int = 0


@dataclass
class Other:
    title: str


@dataclass
class Outing:
    title: str


NOON = datetime(2027, 5, 3, 12, tzinfo=timezone.utc)


@pytest.fixture
def entries(store: satchel.Store) -> Records[Entry]:
    return store.records("entries", of=Entry)


# Records are written as their documents.


def test_a_record_is_written_as_its_document(store: satchel.Store) -> None:
    notes = store.records("notes")
    notes.put("a", {"title": "First"})
    record = notes.record("a")
    assert record is not None
    notes.put("b", record)
    notes.put("c", record, deferred=True)
    notes.put_many({"d": record})
    notes.put_many([("e", record)], skip_rejected=True)
    notes.put("f", {"inner": [record]})
    notes.update("a", {"inner": record})
    store.state.set("record", record)
    store.state.list("records").push(record)
    assert [notes.get(id) for id in "bcde"] == [{"title": "First"}] * 4
    assert notes.get("f") == {"inner": [{"title": "First"}]}
    assert notes["a"]["inner"] == {"title": "First"}
    assert store.state.get("record") == {"title": "First"}
    assert store.state.list("records").values() == [{"title": "First"}]
    assert notes.ids({"inner": record}) == ["a"]


def test_a_record_of_an_instance_is_written_as_the_instance(
    store: satchel.Store, entries: Records[Entry]
) -> None:
    store.records("entries").put("a", {"title": "First", "colour": "red"})
    record = entries.record("a")
    assert record is not None
    entries.put("a", record)
    entries.put_many({"b": record})
    # Members that the class does not have are kept, as for the instance.
    assert store.records("entries")["a"]["colour"] == "red"
    assert entries["b"] == Entry("First")


def test_a_photo_is_written_as_its_mapping(store: satchel.Store) -> None:
    photo = satchel.Photo("0" * 32, "a.jpg", 1, 2, 3)
    store.records("photos").put("a", photo)
    assert store.records("photos").get("a") == dict(photo)


@pytest.mark.parametrize("pair", [{"a": {}, "b": {}}, ("a",), 3])
def test_only_pairs_are_written_at_once(store: satchel.Store, pair: Any) -> None:
    with pytest.raises(InvalidArgument, match="must be pairs"):
        store.records("notes").put_many([pair])


# Other classes, and members that are missing.


@pytest.mark.parametrize("other", [Other("a"), 5, [1], None, satchel.Photo("0" * 32, "a", 1, 2, 3)])
def test_instances_of_other_classes_are_refused(entries: Records[Entry], other: Any) -> None:
    name = type(other).__name__
    calls: List[Callable[[], object]] = [
        lambda: entries.put("o", other),
        lambda: entries.put("o", other, deferred=True),
        lambda: entries.put_many({"o": other}),
        lambda: entries.put_many([("o", other)], skip_rejected=True),
    ]
    for call in calls:
        with pytest.raises(InvalidArgument, match=f"^entries/o: {name}, not Entry$"):
            call()
    assert entries.count() == 0


def test_instances_of_subclasses_and_text_are_accepted(entries: Records[Entry]) -> None:
    entries.put("long", LongEntry("a", pages=3))
    entries.put("text", '{"title": "b"}')
    entries.put("bytes", b'{"title": "c"}')
    assert [each["title"] for each in entries] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"mood": 1}, "/title is missing"),
        ({"title": "a", "place": {}}, "/place/name is missing"),
        ({"title": "a", "mood": "high"}, "/mood: 'high' is not an int"),
    ],
)
def test_a_dict_that_cannot_be_read_is_refused(
    entries: Records[Entry], document: Dict[str, Any], message: str
) -> None:
    for call in (lambda: entries.put("o", document), lambda: entries.put_many({"o": document})):
        with pytest.raises(InvalidArgument, match=f"^entries/o is not an Entry: {message}$"):
            call()
    assert entries.count() == 0


def test_a_dict_of_values_that_json_does_not_have_is_accepted(entries: Records[Entry]) -> None:
    entries.put("a", {"title": "a", "written": NOON, "place": Place("b"), "mood": Grade.LOW})
    assert entries["a"] == Entry("a", 1, written=NOON, place=Place("b"))


def test_the_article_follows_the_name(store: satchel.Store) -> None:
    for kind, article in ((Entry, "an Entry"), (Place, "a Place"), (Outing, "an Outing")):
        store.records("things").put("a", {})
        with pytest.raises(InvalidArgument, match=f"things/a is not {article}: "):
            store.records("things", of=kind).get("a")


# Numbers, strings and Booleans.


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("mood", "high", "/mood: 'high' is not an int"),
        ("mood", 1.5, "/mood: 1.5 is not an int"),
        ("mood", True, "/mood: True is not an int"),
        ("weight", "1", "/weight: '1' is not a float"),
        ("weight", False, "/weight: False is not a float"),
        ("done", 1, "/done: 1 is not a bool"),
        ("title", 3, "/title: 3 is not a str"),
        ("note", [], r"/note: \[\] is not a str"),
        ("place", {"name": "a", "floor": "b"}, "/place/floor: 'b' is not an int"),
        ("numbers", [1, "b"], "/numbers/1: 'b' is not an int"),
    ],
)
def test_values_of_other_types_are_refused_when_read(
    store: satchel.Store, entries: Records[Entry], member: str, value: Any, message: str
) -> None:
    document = {"title": "a", member: value}
    store.records("entries").put("odd", document)
    store.state.set("odd", document)
    for call in (lambda: entries.get("odd"), entries.list):
        with pytest.raises(InvalidArgument, match=f"^entries/odd is not an Entry: {message}$"):
            call()
    with pytest.raises(InvalidArgument, match=f"^state/odd is not an Entry: {message}$"):
        store.state.get("odd", of=Entry)


def test_values_that_fit_are_read(store: satchel.Store, entries: Records[Entry]) -> None:
    document = {"title": None, "mood": 3.0, "weight": 2, "either": "b", "numbers": [1.0]}
    store.records("entries").put("a", document)
    found = entries["a"]
    assert found == Entry(None, 3, 2, either="b", numbers=[1])  # type: ignore[arg-type]
    assert type(found.mood) is int
    assert type(found.numbers[0]) is int


def test_an_instance_with_such_a_value_is_refused(entries: Records[Entry]) -> None:
    wrong = Entry("a", mood="high")  # type: ignore[arg-type]
    for call in (lambda: entries.put("o", wrong), lambda: entries.put_many({"o": wrong})):
        with pytest.raises(InvalidArgument, match="entries/o is not an Entry: /mood: 'high' is not an int"):
            call()
    entries.put("a", Entry("a", Grade.LOW, 2))
    assert entries["a"] == Entry("a", 1, 2)


# Updates.


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"moood": 3}, '"/moood": Entry has no field "moood": did you mean "/mood"\\?'),
        ({"moood": None}, '"/moood": Entry has no field "moood": did you mean "/mood"\\?'),
        ({"place": {"nmae": "b"}}, '"/place/nmae": Place has no field "nmae": did you mean "/place/name"\\?'),
        ({"a/b": 1}, '"/a~1b": Entry has no field "a/b"'),
        ({"title": None}, "entries/a is not an Entry: /title is missing"),
        ({"place": {"name": None}}, "entries/a is not an Entry: /place/name is missing"),
        ({"mood": "high"}, "entries/a is not an Entry: /mood: 'high' is not an int"),
        ({"title": {"a": 1}}, "entries/a is not an Entry: /title: {'a': 1} is not a str"),
    ],
)
def test_an_update_that_cannot_be_read_is_refused(
    store: satchel.Store, entries: Records[Entry], patch: Dict[str, Any], message: str
) -> None:
    entries.put("a", Entry("First", place=Place("b")))
    with pytest.raises(InvalidArgument, match=f"^{message}$"):
        entries.update("a", patch)
    assert entries["a"] == Entry("First", place=Place("b"))
    # A collection without a class takes it.
    assert store.records("entries").update("a", patch) == 2


def test_an_update_that_fits_is_made(entries: Records[Entry]) -> None:
    entries.put("a", Entry("First", 3, place=Place("b", 1)))
    entries.update("a", {"mood": None, "written": NOON, "place": {"floor": 2}, "numbers": [1, 2]})
    assert entries["a"] == Entry("First", written=NOON, place=Place("b", 2), numbers=[1, 2])


# Orders as in SQL.


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("written desc", '"written desc": Entry has no field "written desc": did you mean "-written"?'),
        ("written ASC", '"written ASC": Entry has no field "written ASC": did you mean "written"?'),
        ("place.name desc", 'did you mean "-place.name"?'),
        ("wrtten desc", '"wrtten": Entry has no field "wrtten": did you mean "written"?'),
        ("-wrtten", '"wrtten": Entry has no field "wrtten": did you mean "written"?'),
    ],
)
def test_an_order_as_in_sql_is_corrected(entries: Records[Entry], order: str, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        entries.list(order_by=["title", order])
    assert str(caught.value).endswith(message)
