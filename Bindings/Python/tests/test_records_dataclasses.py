"""Dataclasses as documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import pytest

import satchel
from satchel import Record, Records


class Kind(Enum):
    LECTURE = "lecture"
    SEMINAR = "seminar"


class Level(IntEnum):
    BASIC = 1
    ADVANCED = 2


@dataclass
class Room:
    name: str
    floor: Optional[int] = None


@dataclass
class Course:
    title: str
    kind: Kind = Kind.LECTURE
    level: Level = Level.BASIC
    room: Optional[Room] = None
    rooms: List[Room] = field(default_factory=list)
    others: Sequence[Kind] = field(default_factory=list)
    by_day: Dict[str, Room] = field(default_factory=dict)
    by_kind: Mapping[str, Kind] = field(default_factory=dict)
    pair: Tuple[int, Room] = (0, Room(""))
    hours: Tuple[int, ...] = ()
    plain: tuple = ()  # type: ignore[type-arg]
    anything: Union[Room, Kind, None] = None
    bare: list = field(default_factory=list)  # type: ignore[type-arg]
    tags: Optional[List[str]] = None
    length: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if not self.title:
            raise ValueError("a course needs a title")
        self.length = len(self.title)


FULL = Course(
    "Algebra",
    Kind.SEMINAR,
    Level.ADVANCED,
    Room("H1", 2),
    [Room("H2"), Room("H3", 3)],
    [Kind.LECTURE],
    {"monday": Room("H4")},
    {"tuesday": Kind.SEMINAR},
    (5, Room("H5")),
    (1, 2, 3),
    (1, "a"),
    None,
    [1, {"a": 2}],
    ["maths"],
)


@pytest.fixture
def courses(store: satchel.Store) -> Records[Course]:
    return store.records("courses", of=Course, indexes=["kind"])


def test_an_instance_is_returned_as_it_was(courses: Records[Course]) -> None:
    courses.put("full", FULL)
    courses.put("short", Course("Geometry"))
    assert courses.get("full") == FULL
    assert courses.get("short") == Course("Geometry")
    assert courses.get("none") is None
    record = courses.record("full")
    assert record is not None
    assert record.document == FULL
    assert record["title"] == "Algebra"
    assert [each.document for each in courses.list(order_by="title")] == [FULL, Course("Geometry")]
    courses.put_many({"third": Course("Logic"), "fourth": {"title": "Sets"}})
    assert courses.get("fourth") == Course("Sets")


def test_dicts_are_what_is_stored(store: satchel.Store, courses: Records[Course]) -> None:
    courses.put("full", FULL)
    stored = store.records("courses").get("full")
    assert stored is not None
    assert stored["kind"] == "seminar"
    assert stored["level"] == 2
    assert stored["room"] == {"name": "H1", "floor": 2}
    assert stored["pair"] == [5, {"name": "H5", "floor": None}]
    assert stored["length"] == 7


def test_an_instance_can_be_put_into_any_collection(store: satchel.Store) -> None:
    rooms = store.records("rooms")
    rooms.put("h1", Room("H1"))
    rooms.put("h2", {"name": "H2", "inner": [Room("H3"), {"kind": Kind.LECTURE}]})
    assert rooms.get("h1") == {"name": "H1", "floor": None}
    assert rooms.get("h2") == {
        "name": "H2",
        "inner": [{"name": "H3", "floor": None}, {"kind": "lecture"}],
    }


def test_conditions_take_instances_and_enums(courses: Records[Course]) -> None:
    courses.put("full", FULL)
    courses.put("short", Course("Geometry"))
    assert courses.ids(where={"kind": Kind.SEMINAR}) == ["full"]
    assert courses.ids(where={"kind": {"in": {Kind.SEMINAR}}}) == ["full"]
    assert courses.ids(where={"room": Room("H1", 2)}) == ["full"]
    assert courses.ids(where={"rooms": {"contains": Room("H2")}}) == ["full"]


def test_members_that_a_class_does_not_have_are_left_out(store: satchel.Store) -> None:
    store.records("rooms").put("h1", {"name": "H1", "colour": "red"})
    assert store.records("rooms", of=Room).get("h1") == Room("H1")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "/title is missing"),
        ({"title": ""}, "a course needs a title"),
        ({"title": "a", "kind": "picnic"}, "/kind: 'picnic' is not a valid Kind"),
        ({"title": "a", "room": 5}, "/room is not an object"),
        ({"title": "a", "rooms": [{"name": "x"}, {}]}, "/rooms/1/name is missing"),
        ({"title": "a", "by_day": {"monday": []}}, "/by_day/monday is not an object"),
        ({"title": "a", "pair": [1]}, "/pair has 1 items, not 2"),
    ],
)
def test_what_does_not_fit_the_class_is_named(
    store: satchel.Store, courses: Records[Course], document: Dict[str, Any], message: str
) -> None:
    store.records("courses", indexes=["kind"]).put("odd", document)
    for call in (lambda: courses.get("odd"), lambda: courses.record("odd"), courses.list):
        with pytest.raises(
            satchel.InvalidArgument, match=f"courses/odd is not a Course: {message}"
        ) as caught:
            call()
        assert caught.value.__cause__ is not None
    # Records that need not be decoded can be counted, named and deleted.
    assert courses.count() == 1
    assert courses.ids() == ["odd"]
    assert courses.delete("odd")


@dataclass
class Unknown:
    what: Nowhere  # type: ignore[name-defined]  # noqa: F821


def test_annotations_that_cannot_be_understood_are_refused_at_once(store: satchel.Store) -> None:
    with pytest.raises(satchel.InvalidArgument, match=r"Unknown.*Nowhere"):
        store.records("courses", of=Unknown)


def test_an_instance_that_contains_itself_is_refused(store: satchel.Store) -> None:
    room = Room("H1")
    room.floor = room  # type: ignore[assignment]
    with pytest.raises(satchel.InvalidArgument, match="contains itself"):
        store.records("rooms").put("h1", room)


def test_what_json_cannot_hold_is_named_inside_of_an_instance(store: satchel.Store) -> None:
    with pytest.raises(satchel.InvalidArgument, match="/floor: object is not a JSON type"):
        store.records("rooms").put("h1", Room("H1", object()))  # type: ignore[arg-type]


def test_a_record_of_an_instance_equals_one_of_the_same(courses: Records[Course]) -> None:
    courses.put("full", FULL)
    one, other = courses.record("full"), courses.record("full")
    assert isinstance(one, Record)
    assert one == other
    assert hash(one) == hash(other)


@dataclass
class Part:
    name: str
    count: Optional[int] = None


@dataclass
class Kit:
    title: str = ""
    parts: List[Part] = field(default_factory=list)
    main: Optional[Part] = None
    by_place: Dict[str, Part] = field(default_factory=dict)


NEWER: Dict[str, Any] = {
    "title": "Radio",
    "parts": [{"name": "coil", "count": 1, "colour": "red"}, {"name": "wire", "count": 2, "colour": "blue"}],
    "main": {"name": "chip", "pins": 8},
    "by_place": {"left": {"name": "knob", "size": 3}},
    "price": 12,
}


@pytest.mark.parametrize("way", ["put", "deferred", "put_many", "skip_rejected", "without of"])
def test_members_of_a_newer_app_survive_an_instance_that_was_not_read(store: satchel.Store, way: str) -> None:
    plain = store.records("kits")
    plain.put("k", NEWER)
    kits: Any = store.records("kits", of=None if way == "without of" else Kit)
    kit = Kit(
        "Radio 2", [Part("wire", 3), Part("coil", 1), Part("lamp")], Part("chip"), {"left": Part("dial")}
    )
    if way == "deferred":
        kits.put("k", kit, deferred=True)
        store.flush()
    elif way == "put_many":
        kits.put_many({"k": kit, "new": {"title": "", "parts": []}})
    elif way == "skip_rejected":
        assert kits.put_many({"k": kit}, skip_rejected=True).written == 1
    else:
        kits.put("k", kit)
    assert plain.get("k") == {
        "title": "Radio 2",
        "parts": [
            {"name": "wire", "count": 3, "colour": "blue"},
            {"name": "coil", "count": 1, "colour": "red"},
            {"name": "lamp", "count": None},
        ],
        "main": {"name": "chip", "count": None, "pins": 8},
        "by_place": {"left": {"name": "dial", "count": None, "size": 3}},
        "price": 12,
    }
    if way != "without of":
        kits.put("k", kit, replace=True)
        assert "price" not in (plain.get("k") or {})
    plain.put("k", NEWER)
    kits.put_many([("k", kit)], replace=True)
    assert "price" not in (plain.get("k") or {})
    # A dict is the whole document.
    plain.put("k", NEWER)
    kits.put("k", {"title": "x"})
    assert plain.get("k") == {"title": "x"}
