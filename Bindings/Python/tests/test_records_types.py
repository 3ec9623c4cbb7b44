"""Python's own types in documents, and the app's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Dict, FrozenSet, List, Optional, Set, Tuple
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import satchel
from satchel import State


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Money:
    """A type of an app, which knows nothing of the library."""

    def __init__(self, text: str) -> None:
        amount, _, self.currency = text.partition(" ")
        self.amount = Decimal(amount)

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]


satchel.register_type(Money, str)
ID = UUID("0f3c9a4e-6f1b-4c50-9a6e-0c54c2b0a2d1")
NOON = datetime(2026, 11, 23, 13, 0, 0, 250_000, timezone(timedelta(hours=1)))


@dataclass
class Visit:
    at: datetime
    day: date
    key: UUID
    price: Decimal
    ticket: bytes = b""
    length: timedelta = timedelta()
    tags: Set[str] = field(default_factory=set)
    colours: FrozenSet[Colour] = frozenset()
    days: List[date] = field(default_factory=list)
    by_name: Dict[str, UUID] = field(default_factory=dict)
    pair: Optional[Tuple[Decimal, Money]] = None
    bare: set = field(default_factory=set)  # type: ignore[type-arg]


FULL = Visit(
    NOON,
    date(2026, 11, 23),
    ID,
    Decimal("12.50"),
    b"\x00\xff",
    timedelta(minutes=90, milliseconds=5),
    {"b", "a", "é"},
    frozenset({Colour.RED, Colour.BLUE}),
    [date(2026, 1, 2)],
    {"x": ID},
    (Decimal("1E+3"), Money("3.10 EUR")),
    {2, 1},
)
STORED = {
    "at": "2026-11-23T12:00:00.250000Z",
    "day": "2026-11-23",
    "key": "0f3c9a4e-6f1b-4c50-9a6e-0c54c2b0a2d1",
    "price": "12.50",
    "ticket": "AP8=",
    "length": 5400.005,
    "tags": ["a", "b", "é"],
    "colours": ["blue", "red"],
    "days": ["2026-01-02"],
    "by_name": {"x": "0f3c9a4e-6f1b-4c50-9a6e-0c54c2b0a2d1"},
    "pair": ["1E+3", "3.10 EUR"],
    "bare": [1, 2],
}


def test_an_instance_is_returned_as_it_was(store: satchel.Store) -> None:
    visits = store.records("visits", of=Visit)
    visits.put("full", FULL)
    assert visits.get("full") == FULL
    assert store.records("visits").get("full") == STORED
    visits.put_many({"again": FULL})
    assert visits.get("again") == FULL


def test_they_may_be_anywhere_in_a_dict(store: satchel.Store, state: State) -> None:
    value = {"at": NOON, "more": [{"tags": {"b", "a"}}, Money("1 CHF")], "raw": [b"\x01"]}
    stored = {
        "at": "2026-11-23T12:00:00.250000Z",
        "more": [{"tags": ["a", "b"]}, "1 CHF"],
        "raw": ["AQ=="],
    }
    store.records("visits").put("a", value)
    assert store.records("visits").get("a") == stored
    state.set("a", value)
    assert state.get("a") == stored
    state.members("days").add(date(2026, 1, 2))
    assert date(2026, 1, 2) in state.members("days")


def test_conditions_take_them(store: satchel.Store) -> None:
    visits = store.records("visits", indexes=["at"])
    for hour in range(3):
        visits.put(str(hour), {"at": NOON + timedelta(hours=hour), "key": ID})
    assert visits.ids(where={"at": {"gt": NOON}, "key": ID}, order_by="-at") == ["2", "1"]
    assert visits.ids(where={"at": {"in": [NOON]}}) == ["0"]


# Others have no year in UTC.
FIRST = datetime(1, 1, 3, tzinfo=timezone.utc)
LAST = datetime(9999, 12, 29, tzinfo=timezone.utc)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.datetimes(timezones=st.timezones()), min_size=2, max_size=2))
def test_times_sort_as_text(state: State, times: List[datetime]) -> None:
    times = [min(max(time, FIRST), LAST) for time in times]
    texts = [(state.set("time", time), state.get("time"))[1] for time in times]
    assert (texts[0] < texts[1]) == (times[0] < times[1])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (datetime(2026, 1, 1), "/a/1: a datetime without a time zone"),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=1))), "/a/1: .* has no year in UTC"),
        (Decimal("NaN"), "/a/1: .* is not finite"),
        (object(), "/a/1: object is not a JSON type"),
        ({1, "a", None, (2, 3)}, None),
    ],
)
def test_what_cannot_be_stored_is_named(store: satchel.Store, value: Any, message: Optional[str]) -> None:
    visits = store.records("visits")
    if message is None:
        visits.put("a", {"a": [0, value]})
        assert visits.get("a") == {"a": [0, ["a", 1, [2, 3], None]]}
        return
    with pytest.raises(satchel.InvalidArgument, match=message):
        visits.put("a", {"a": [0, value]})
    assert visits.get("a") is None


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("at", "yesterday"),
        ("at", "2026-01-01T00:00:00"),
        ("at", 5),
        ("day", "2026-13-01"),
        ("key", "no id"),
        ("price", "cheap"),
        ("price", "NaN"),
        ("price", 1.5),
        ("ticket", "%"),
        ("length", "1h"),
        ("days/0", ["soon"]),
        ("by_name/x", {"x": 1}),
    ],
)
def test_what_does_not_fit_is_named(store: satchel.Store, member: str, value: Any) -> None:
    name = member.partition("/")[0]
    store.records("visits").put("odd", {**STORED, name: value})
    with pytest.raises(satchel.InvalidArgument, match=f"visits/odd is not a Visit: /{member}: "):
        store.records("visits", of=Visit).get("odd")


def test_a_whole_number_is_a_decimal_and_other_offsets_are_times(store: satchel.Store) -> None:
    store.records("visits").put("a", {**STORED, "price": 7, "at": "2026-11-23T13:00:00+01:00"})
    visit = store.records("visits", of=Visit).get("a")
    assert visit is not None
    assert (visit.price, visit.at) == (Decimal(7), NOON.replace(microsecond=0))


@pytest.mark.parametrize("kind", [str, dict, 5, None, "Money"])
def test_only_types_that_json_does_not_have_are_registered(kind: Any) -> None:
    with pytest.raises(satchel.InvalidArgument, match="kind must be a type"):
        satchel.register_type(kind, str)


def test_an_error_of_a_conversion_is_named(store: satchel.Store) -> None:
    class Shy:
        pass

    def refuse(value: object) -> Any:
        raise RuntimeError("not today")

    satchel.register_type(Shy, refuse, refuse)
    with pytest.raises(satchel.InvalidArgument, match="/x: not today") as caught:
        store.records("visits").put("a", {"x": Shy()})
    assert isinstance(caught.value.__cause__, RuntimeError)


@dataclass
class Room:
    name: str
    floor: int = 0


@dataclass
class House:
    name: str
    rooms: List[Room] = field(default_factory=list)
    hall: Optional[Room] = None
    by_use: Dict[str, Room] = field(default_factory=dict)


NEWER = {
    "name": "Mill",
    "roof": "slate",
    "rooms": [
        {"name": "kitchen", "floor": 0, "stove": True},
        {"name": "attic", "floor": 2, "light": 1},
        {"name": "attic", "floor": 2, "light": 2},
    ],
    "hall": {"name": "hall", "floor": 0, "clock": [1, 2]},
    "by_use": {"sleep": {"name": "loft", "floor": 1, "beds": 3}},
}


def test_members_that_a_class_does_not_have_survive(store: satchel.Store) -> None:
    plain = store.records("houses")
    plain.put("mill", NEWER)
    plain.put("none", {"name": "None", "roof": "thatch"})
    houses = store.records("houses", of=House)
    mill = houses.get("mill")
    assert mill is not None
    houses.put("mill", mill)
    assert plain.get("mill") == NEWER
    # A changed copy: moved, changed, removed and new items.
    attic, kitchen = mill.rooms[1], mill.rooms[0]
    rooms = [attic, replace(kitchen, floor=1), Room("cellar", -1)]
    changed = replace(mill, name="Old Mill", rooms=rooms, hall=replace(mill.hall or attic, floor=3))
    record = houses.record("mill")
    assert record is not None
    houses.put("mill", changed, if_revision=record.revision)
    assert plain.get("mill") == {
        **NEWER,
        "name": "Old Mill",
        "rooms": [
            {"name": "attic", "floor": 2, "light": 1},
            {"name": "kitchen", "floor": 1, "stove": True},
            {"name": "cellar", "floor": -1},
        ],
        "hall": {"name": "hall", "floor": 3, "clock": [1, 2]},
    }
    with pytest.raises(satchel.Conflict):
        houses.put("mill", changed, if_revision=record.revision)
    houses.put_many({"none": House("Still None"), "new": House("New")})
    empty = {"rooms": [], "hall": None, "by_use": {}}
    assert plain.get("none") == {"name": "Still None", "roof": "thatch", **empty}
    assert plain.get("new") == {"name": "New", **empty}
    houses.put("new", {"name": "Dict"})
    assert plain.get("new") == {"name": "Dict"}


def test_a_range_of_times_is_exact_or_refused(store: satchel.Store) -> None:
    zone = timezone(timedelta(hours=2))
    records = store.records("times", indexes=["due"])
    for hour in (9, 10, 11):
        records.put(str(hour), {"due": datetime(2027, 3, 5, hour, tzinfo=zone)})
    ten = datetime(2027, 3, 5, 8, tzinfo=timezone.utc)
    assert records.ids({"due": {"lt": ten}}) == ["9"]
    assert records.ids({"due": {"gte": ten}}, order_by="-due") == ["11", "10"]
    with pytest.raises(satchel.InvalidArgument, match=r"/where/due/lt: .*without a time zone"):
        records.ids({"due": {"lt": datetime(2027, 3, 5, 8)}})
    records.put("other", {"due": "2027-03-05T09:30:00+02:00"})
    for where in ({"due": {"lt": ten}}, {"any": [{"due": {"gte": ten}}, {"due": None}]}):
        with pytest.raises(
            satchel.InvalidArgument, match=r"/due: .*other has \"2027-03-05T09:30:00\+02:00\""
        ):
            records.count(where)
    assert records.count({"due": {"lt": datetime(2027, 3, 8, tzinfo=timezone.utc)}}) == 4


@dataclass
class Appointment:
    at: datetime
    day: Optional[date] = None


def test_a_date_is_the_beginning_of_its_day(store: satchel.Store) -> None:
    records = store.records("appointments", of=Appointment)
    records.put("a", Appointment(datetime(2027, 3, 5, tzinfo=timezone.utc), date(2027, 3, 5)))
    assert records.ids(
        {"day": {"gte": date(2027, 3, 5)}, "at": {"lt": datetime.max.replace(tzinfo=timezone.utc)}}
    ) == ["a"]
    assert records.ids({"at": {"gte": date(2027, 3, 5)}}) == ["a"]
    assert records.ids({"day": {"gt": datetime(2027, 3, 5, tzinfo=timezone.utc)}}) == []
