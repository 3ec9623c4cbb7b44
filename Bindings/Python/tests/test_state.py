"""State: values, and when they are saved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple
from uuid import UUID

import pytest
from helpers import eventually, text

import satchel
from satchel import State


@dataclass
class Screen:
    name: str
    depth: int = 0


VALUES: List[Any] = [
    None,
    True,
    0,
    -(2**63),
    2**64,
    {"a": [satchel.BigNumber("1e400"), -(10**30)]},
    1.5,
    -0.0,
    "",
    "ü\0",
    [],
    {},
    {"a": [1, {"b": None}]},
    "x" * 1_000_000,
]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_there_at_once_and_after_reopening(path: Path, value: Any) -> None:
    with satchel.open(path) as store:
        store.state.set("key", value)
        assert text(store.state.get("key", "none")) == text(value)
        assert "key" in store.state
    with satchel.open(path) as store:
        assert text(store.state.get("key", "none")) == text(value)


def test_what_is_not_there_is_the_default(state: State) -> None:
    assert state.get("key") is None
    assert state.get("key", 5) == 5
    assert "key" not in state
    state.remove("key")
    state.set("key", None)
    assert state.get("key", 5) is None
    assert "key" in state
    state.remove("key")
    assert "key" not in state
    state.flush()
    assert "key" not in state
    assert state.keys() == []


def test_instances_and_texts_of_json(state: State) -> None:
    state.set("screen", Screen("courses", 2))
    assert state.get("screen") == {"name": "courses", "depth": 2}
    state.set("raw", b'{"a": 1.50}')
    assert state.get("raw") == {"a": 1.5}
    state.set("text", '{"a": 1}')
    assert state.get("text") == '{"a": 1}'


def test_keys_are_sorted_by_their_bytes(state: State) -> None:
    names = ["b", "a", "ü", "ab", "漢" * 85, "A", "a/b", "u\u0308"]
    for name in names:
        state.set(name, name)
    assert state.keys() == sorted(names, key=str.encode)
    assert state.keys("a") == ["a", "a/b", "ab"]
    assert state.keys("zz") == []
    state.flush()
    state.remove("ab")
    assert state.keys("a") == ["a", "a/b"]


@pytest.mark.parametrize("name", ["", "x" * 256, "漢" * 86, "a\0", "\ud800", None, 5, b"a"])
def test_what_is_no_name_is_refused(state: State, name: Any) -> None:
    for call in (
        lambda: state.set(name, 1),
        lambda: state.get(name),
        lambda: state.remove(name),
        lambda: state.list(name).push(1),
        lambda: state.list(name).items(),
        lambda: state.list(name).remove(1),
        lambda: state.list(name).clear(),
        lambda: state.members(name).add(1),
        lambda: state.members(name).remove(1),
        lambda: state.members(name).values(),
        lambda: state.scores(name).add("a", 1),
        lambda: state.scores(name).all(),
        lambda: state.scores("a").add(name, 1),
    ):
        with pytest.raises(satchel.InvalidArgument):
            call()
    assert state.keys() == []
    assert state.flush() is True


@pytest.mark.parametrize(
    "value", [{object()}, float("nan"), [10**5000], "\ud800", {1: 2}, b"", b"no json", b'{"a":1,"a":2}']
)
def test_what_is_no_value_is_refused(state: State, value: Any) -> None:
    state.set("key", "before")
    for call in (
        lambda: state.set("key", value),
        lambda: state.list("list").push(value),
        lambda: state.members("set").add(value),
    ):
        with pytest.raises(satchel.InvalidArgument):
            call()
    assert state.get("key") == "before"
    assert state.list("list").values() == []
    assert state.members("set").values() == []


def test_observers_hear_of_state_when_it_is_saved(store: satchel.Store, state: State) -> None:
    state.configure(save_delay=timedelta(hours=1), max_pending=1000, max_delay=timedelta(hours=1))
    heard: List[satchel.Change] = []
    with store.observe(heard.append):
        state.set("theme", "dark")
        state.set("theme", "light")
        assert heard == []
        assert state.flush() is True
    assert [(each.subject, each.own) for each in heard] == [("state", True)]
    assert heard[0].keys == ["value/theme"]
    assert heard[0].state == [satchel.StateKey("value", "theme")]


def test_state_and_a_collection_named_state_are_separate(store: satchel.Store, state: State) -> None:
    heard: List[satchel.Change] = []
    records = store.records("state")
    with store.observe(heard.append):
        records.put("theme", {})
        state.set("theme", "dark")
        state.set("list/a", 1)
        state.list("a").push(1)
        state.flush()
    record, saved = heard
    assert (record.subject, record.keys) == ("records", ["state/theme"])
    assert (record.records, record.state) == ([satchel.RecordKey("state", "theme")], [])
    assert (saved.subject, saved.records) == ("state", [])
    assert saved.state == [("value", "theme"), ("value", "list/a"), ("list", "a")]


def saved(path: Path, name: str) -> bool:
    """Whether a key is in the file, as another program sees it."""
    with satchel.open(path, read_only=True) as other:
        return name in other.state


def test_changes_are_saved_by_themselves(path: Path) -> None:
    hour = timedelta(hours=1)
    with satchel.open(path) as store:
        store.state.configure(save_delay=50, max_pending=1000, max_delay=hour)
        store.state.set("delayed", 1)
        assert eventually(lambda: saved(path, "delayed"))
        store.state.configure(save_delay=hour, max_pending=3, max_delay=hour)
        store.state.set("one", 1)
        store.state.set("two", 2)
        store.state.set("three", 3)
        assert eventually(lambda: saved(path, "three"))
        store.state.configure(save_delay=hour, max_pending=1000, max_delay=50.5)
        store.state.set("old", 1)
        assert eventually(lambda: saved(path, "old"))
        store.state.configure(save_delay=hour, max_pending=1000, max_delay=hour)
        store.state.set("waits", 1)
        assert not saved(path, "waits")
        store.state.flush()
        assert saved(path, "waits")
        store.state.configure()
        store.state.set("defaults", 1)
        assert eventually(lambda: saved(path, "defaults"), 30)
        store.state.configure(save_delay=hour, max_pending=1000, max_delay=hour)
        store.state.set("closing", 1)
    assert saved(path, "closing")


def test_an_option_that_is_left_out_gets_its_default(path: Path) -> None:
    hour = timedelta(hours=1)
    with satchel.open(path) as store:
        store.state.configure(save_delay=hour, max_delay=hour)
        for number in range(9):
            store.state.set(f"key {number}", number)
        assert not saved(path, "key 0")
        store.state.set("the tenth", 10)
        assert eventually(lambda: saved(path, "the tenth"))


@pytest.mark.parametrize(
    "options",
    [
        {"save_delay": -1},
        {"save_delay": "5"},
        {"save_delay": True},
        {"save_delay": 2**32},
        {"save_delay": timedelta(days=-1)},
        {"max_delay": float("nan")},
        {"max_delay": float("inf")},
        {"max_pending": 0},
        {"max_pending": 1.5},
        {"max_pending": 2**32},
    ],
)
def test_what_is_no_option_is_refused(state: State, options: Dict[str, Any]) -> None:
    with pytest.raises(satchel.InvalidArgument):
        state.configure(**options)


def test_a_value_is_read_as_a_dataclass(state: State) -> None:
    state.set("screen", Screen("courses", 2))
    assert state.get("screen", of=Screen) == Screen("courses", 2)
    assert state.get("screen") == {"name": "courses", "depth": 2}
    assert state.get("none", of=Screen) is None
    state.set("screen", {"depth": 1})
    with pytest.raises(satchel.InvalidArgument, match=r"state/screen.*name"):
        state.get("screen", of=Screen)


class Mode(Enum):
    LIGHT = "light"
    DARK = "dark"


TYPED: List[Any] = [
    (date(2024, 5, 1), date),
    (datetime(2024, 5, 1, 12, 30, tzinfo=timezone.utc), datetime),
    (UUID(int=7), UUID),
    (Decimal("10.50"), Decimal),
    (b"\x00\xff", bytes),
    (Mode.DARK, Mode),
    (3, int),
    (3, float),
    (True, bool),
    ("théâtre", str),
    ([date(2024, 5, 1), None], List[date]),
    ({"a": Screen("courses", 2)}, Dict[str, Screen]),
    ({"b", "a"}, Set[str]),
    ((1, Mode.LIGHT), Tuple[int, Mode]),
    (None, date),
    (Screen("courses"), Optional[Screen]),
    ({"any": [1]}, Any),
]


@pytest.mark.parametrize(("value", "of"), TYPED, ids=lambda each: str(each)[:40])
def test_a_value_is_read_as_any_type_that_records_know(state: State, value: Any, of: Any) -> None:
    # Bytes are JSON text where a value is set.
    state.set("typed", {"in": value} if isinstance(value, bytes) else value)
    if isinstance(value, bytes):
        assert state.get("typed", of=Dict[str, bytes]) == {"in": value}
    else:
        assert state.get("typed", of=of) == value


@pytest.mark.parametrize(
    ("value", "of", "message"),
    [
        ("three", int, "an int: 'three' is not an int"),
        (True, int, "an int: True is not an int"),
        ("2024-13-01", date, "a date: "),
        (5, date, "a date: "),
        ("blue", Mode, "a Mode: "),
        ({"a": 1}, List[int], "a list: it is a dict"),
        ([1, "b"], List[int], "a list: /1: 'b' is not an int"),
        ([1], dict, "a dict: it is a list"),
        ({"a": 1}, State, "a State: it is a dict"),
        ([{"depth": 1}], List[Screen], "a list: /0/name is missing"),
    ],
)
def test_a_value_of_another_type_is_refused_when_read(
    state: State, value: Any, of: Any, message: str
) -> None:
    state.set("odd", value)
    with pytest.raises(satchel.InvalidArgument, match=f"^state/odd is not {message}"):
        state.get("odd", of=of)
    assert state.get("odd") == value
    assert state.get("missing", 7, of=of) == 7
