"""State: values, lists, sets, scores, secrets."""

from __future__ import annotations

import functools
import json
import sqlite3
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Dict, List

import pytest
from albums import together
from helpers import Clock, eventually
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_model import equal

import satchel
from satchel import State

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))


@pytest.fixture
def state(store: satchel.Store) -> State:
    return store.state


@dataclass
class Screen:
    name: str
    depth: int = 0


VALUES: List[Any] = [
    None,
    True,
    0,
    -(2**63),
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
        assert json.dumps(store.state.get("key", "none")) == json.dumps(value)
        assert "key" in store.state
    with satchel.open(path) as store:
        assert json.dumps(store.state.get("key", "none")) == json.dumps(value)


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
    "value", [{1}, float("nan"), 2**63, "\ud800", {1: 2}, b"", b"no json", b'{"a":1,"a":2}']
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
    state.configure(quiet=timedelta(hours=1), batch=1000, age=timedelta(hours=1))
    heard: List[satchel.Change] = []
    with store.observe(heard.append):
        state.set("theme", "dark")
        state.set("theme", "light")
        assert heard == []
        assert state.flush() is True
    assert [(each.subject, each.own) for each in heard] == [("records", True)]
    assert "state/theme" in heard[0].keys


def saved(path: Path, name: str) -> bool:
    """Whether a key is in the file, as another program sees it."""
    with satchel.open(path, read_only=True) as other:
        return name in other.state


def test_changes_are_saved_by_themselves(path: Path) -> None:
    hour = timedelta(hours=1)
    with satchel.open(path) as store:
        store.state.configure(quiet=50, batch=1000, age=hour)
        store.state.set("quiet", 1)
        assert eventually(lambda: saved(path, "quiet"))
        store.state.configure(quiet=hour, batch=3, age=hour)
        store.state.set("one", 1)
        store.state.set("two", 2)
        store.state.set("three", 3)
        assert eventually(lambda: saved(path, "three"))
        store.state.configure(quiet=hour, batch=1000, age=50.5)
        store.state.set("old", 1)
        assert eventually(lambda: saved(path, "old"))
        store.state.configure(quiet=hour, batch=1000, age=hour)
        store.state.set("waits", 1)
        assert not saved(path, "waits")
        store.state.flush()
        assert saved(path, "waits")
        store.state.configure()
        store.state.set("defaults", 1)
        assert eventually(lambda: saved(path, "defaults"), 30)
        store.state.configure(quiet=hour, batch=1000, age=hour)
        store.state.set("closing", 1)
    assert saved(path, "closing")


@pytest.mark.parametrize(
    "options",
    [
        {"quiet": -1},
        {"quiet": "5"},
        {"quiet": True},
        {"quiet": 2**32},
        {"quiet": timedelta(days=-1)},
        {"age": float("nan")},
        {"age": float("inf")},
        {"batch": 0},
        {"batch": 1.5},
        {"batch": 2**32},
    ],
)
def test_what_is_no_option_is_refused(state: State, options: Dict[str, Any]) -> None:
    with pytest.raises(satchel.InvalidArgument):
        state.configure(**options)


def test_a_list_is_newest_first_and_bounded(state: State, clock: Clock) -> None:
    history = state.list("history", limit=3)
    for each in range(5):
        clock.advance(1000)
        history.push({"n": each})
    assert history.values() == [{"n": 4}, {"n": 3}, {"n": 2}]
    assert [each["n"] for each in history] == [4, 3, 2]
    assert len(history) == 3
    items = history.items()
    assert [each.time for each in items] == [clock.now, clock.now - 1000, clock.now - 2000]
    assert items[0].pushed_at > items[1].pushed_at
    assert state.list("history", limit=2).values() == [{"n": 4}, {"n": 3}]
    history.remove({"n": 3.0})
    assert history.values() == [{"n": 4}, {"n": 3}, {"n": 2}]
    history.remove({"n": 3})
    assert history.values() == [{"n": 4}, {"n": 2}]
    state.flush()
    assert history.values() == [{"n": 4}, {"n": 2}]
    history.clear()
    assert history.values() == []
    assert bool(history)
    assert state.list("others").values() == []
    assert history.name == "history"


def test_a_list_drops_what_is_too_old(state: State, clock: Clock) -> None:
    interactions = state.list("interactions", maximum_age=timedelta(days=30))
    interactions.push("first")
    clock.advance(timedelta(days=29) / timedelta(milliseconds=1))
    interactions.push("second")
    assert interactions.values() == ["second", "first"]
    clock.advance(timedelta(days=2) / timedelta(milliseconds=1))
    assert interactions.values() == ["second"]
    state.flush()
    assert interactions.values() == ["second"]
    assert state.list("interactions", maximum_age=1).values() == []


def test_an_item_of_a_unique_list_moves_to_the_front(state: State) -> None:
    searches = state.list("searches", limit=3, unique=True)
    for words in ("a", "b", {"x": 1, "y": 2}, "a", {"y": 2, "x": 1}):
        searches.push(words)
    assert searches.values() == [{"x": 1, "y": 2}, "a", "b"]
    state.flush()
    searches.push("b")
    searches.push("c")
    assert searches.values() == ["c", "b", {"x": 1, "y": 2}]


@pytest.mark.parametrize(
    "bounds", [{"limit": 0}, {"limit": -1}, {"limit": 1.5}, {"limit": 2**32}, {"maximum_age": -1}]
)
def test_what_are_no_bounds_is_refused(state: State, bounds: Dict[str, Any]) -> None:
    with pytest.raises(satchel.InvalidArgument):
        state.list("list", **bounds)


def test_a_set_knows_its_members(state: State) -> None:
    favourites = state.members("favourites")
    values: List[Any] = ["a", 1, 1.0, True, None, {"x": 1, "y": [2]}, "1", [1], {}]
    for value in values:
        assert favourites.add(value) is True
    for value in values:
        assert favourites.add(value) is False
        assert value in favourites
    assert favourites.add({"y": [2], "x": 1}) is False
    assert {"y": [2.0], "x": 1} not in favourites
    assert len(favourites) == len(list(favourites)) == len(values)
    state.flush()
    assert favourites.add("a") is False
    before = favourites.values()
    assert favourites.remove(1) is True
    assert favourites.remove(1) is False
    assert 1 not in favourites
    assert 1.0 in favourites
    assert [each for each in before if json.dumps(each) != "1"] == favourites.values()
    assert state.members("none").values() == []
    assert bool(state.members("none"))
    assert favourites.name == "favourites"


def test_scores_stay_within_their_bounds(state: State) -> None:
    cuisine = state.scores("cuisine")
    assert cuisine.value("chinese") == 0.0
    assert cuisine.add("chinese", 0.25) == 0.25
    assert cuisine.add("chinese", 0.5) == 0.75
    assert cuisine.add("chinese", 5) == 1.0
    assert cuisine.add("thai", -0.5) == -0.5
    assert cuisine.add("thai", -3.0) == -1.0
    assert cuisine.all() == {"chinese": 1.0, "thai": -1.0}
    state.flush()
    assert cuisine.add("chinese", -0.5) == 0.5
    wide = state.scores("wide", minimum=0, maximum=100)
    assert wide.add("x", 250) == 100.0
    assert wide.add("x", -1e308) == 0.0
    assert cuisine.name == "cuisine"
    assert state.scores("none").all() == {}


@pytest.mark.parametrize("delta", [float("nan"), float("inf"), "1", None, True, 10**400])
def test_what_is_no_delta_is_refused(state: State, delta: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        state.scores("cuisine").add("a", delta)
    with pytest.raises(satchel.InvalidArgument):
        state.scores("cuisine", minimum=delta)
    with pytest.raises(satchel.InvalidArgument):
        state.scores("cuisine", minimum=1, maximum=0).add("a", 0.5)
    assert state.scores("cuisine").all() == {}


def test_a_secret_is_not_in_the_file(path: Path) -> None:
    secret = "correct horse battery staple"
    with satchel.open(path) as store:
        with pytest.raises(satchel.InvalidArgument, match="key"):
            store.state.set("token", secret, sensitive=True)
        store.state.set_key(KEY)
        store.state.set("token", secret, sensitive=True)
        store.state.set("open", "sesame")
        assert store.state.get("token") == secret
        store.state.flush()
        files = [each.read_bytes() for each in path.parent.iterdir() if each.name.startswith(path.name)]
        assert not any(secret.encode() in data for data in files)
        assert any(b"sesame" in data for data in files)
    assert secret.encode() not in path.read_bytes()
    with satchel.open(path) as store:
        with pytest.raises(satchel.InvalidArgument, match="key"):
            store.state.get("token")
        assert store.state.get("open") == "sesame"
        assert store.state.keys() == ["open", "token"]
        store.state.set_key(KEY)
        assert store.state.get("token") == secret


def test_a_wrong_key_is_told_and_destroys_nothing(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        store.state.set("token", "one", sensitive=True)
    with satchel.open(path) as store:
        with pytest.raises(satchel.InvalidArgument, match="key"):
            store.state.set_key(OTHER)
        with pytest.raises(satchel.InvalidArgument):
            store.state.get("token")
        with pytest.raises(satchel.InvalidArgument):
            store.state.rotate_key(OTHER)
        with pytest.raises(satchel.InvalidArgument):
            store.state.set("token", "two", sensitive=True)
        store.state.set_key(KEY)
        assert store.state.get("token") == "one"
        store.state.rotate_key(OTHER)
        assert store.state.get("token") == "one"
        store.state.set("second", "two", sensitive=True)
    with satchel.open(path) as store:
        with pytest.raises(satchel.InvalidArgument):
            store.state.set_key(KEY)
        store.state.set_key(OTHER)
        assert [store.state.get(each) for each in ("token", "second")] == ["one", "two"]


def test_a_sealed_value_that_was_tampered_with_is_told(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        store.state.set("a", "one", sensitive=True)
        store.state.set("b", "two", sensitive=True)
    connection = sqlite3.connect(path)
    # The value of one key cannot stand for another's.
    rows = dict(connection.execute("SELECT key, value FROM state_value WHERE key IN ('a', 'b')"))
    assert len(rows) == 2
    connection.execute("UPDATE state_value SET value = ? WHERE key = 'b'", (rows["a"],))
    connection.commit()
    connection.close()
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        assert store.state.get("a") == "one"
        with pytest.raises(satchel.SatchelError):
            store.state.get("b")


@pytest.mark.parametrize("key", [b"", b"x" * 31, b"x" * 33, "x" * 32, None, 5])
def test_what_is_no_key_is_refused_and_not_repeated(state: State, key: Any) -> None:
    for call in (state.set_key, state.rotate_key):
        with pytest.raises(satchel.InvalidArgument) as caught:
            call(key)
        assert "xxxx" not in str(caught.value)


def test_a_value_can_cease_to_be_a_secret(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        store.state.set("a", "one", sensitive=True)
        store.state.flush()
        store.state.set("a", "two")
    with satchel.open(path) as store:
        assert store.state.get("a") == "two"


def test_threads_change_state_at_once(path: Path) -> None:
    with satchel.open(path) as store:

        def work(name: str) -> None:
            for each in range(200):
                store.state.set(f"{name}-{each % 10}", each)
                store.state.list("list").push([name, each])
                store.state.scores("scores", -1e9, 1e9).add("sum", 1)
                store.state.members("set").add(each)
                if each % 50 == 0:
                    assert store.state.flush()

        together(*(functools.partial(work, f"t{each}") for each in range(5)))
    with satchel.open(path) as store:
        assert store.state.scores("scores").all() == {"sum": 1000.0}
        assert sorted(store.state.members("set")) == list(range(200))
        items = store.state.list("list").values()
        for each in range(5):
            mine = [number for name, number in items if name == f"t{each}"]
            assert mine == list(range(199, -1, -1))
            assert [store.state.get(f"t{each}-{digit}") for digit in range(10)] == list(range(190, 200))
        assert store.check() == []


def test_changes_of_two_stores_add_up(path: Path) -> None:
    with satchel.open(path) as one, satchel.open(path) as other:
        for store in (one, other):
            store.state.configure(quiet=timedelta(hours=1), batch=1000, age=timedelta(hours=1))
        for each in range(10):
            for store, name in ((one, "one"), (other, "other")):
                store.state.scores("s", -100, 100).add("k", 1)
                store.state.list("l").push([name, each])
                store.state.members("m").add(f"{name}-{each}")
        one.state.flush()
        other.state.flush()
    with satchel.open(path) as store:
        assert store.state.scores("s").all() == {"k": 20.0}
        assert len(store.state.list("l")) == 20
        assert len(store.state.members("m")) == 20


SMALL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([1.0, 0.5, "a", "1"]),
    st.lists(st.integers(0, 1), max_size=2),
)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), SMALL),
        st.tuples(st.just("take"), SMALL),
        st.tuples(st.just("clear"), st.none()),
        st.tuples(st.just("add"), SMALL),
        st.tuples(st.just("remove"), SMALL),
        st.tuples(st.just("score"), st.sampled_from([-0.75, -0.25, 0.0, 0.5, 2.0])),
        st.tuples(st.just("flush"), st.none()),
    ),
    max_size=40,
)


def same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(operations=OPERATIONS, limit=st.one_of(st.none(), st.integers(1, 4)), unique=st.booleans())
def test_lists_sets_and_scores_are_what_a_plain_program_makes(
    operations: Any, limit: Any, unique: bool
) -> None:
    items: List[Any] = []
    members: List[Any] = []
    score = 0.0
    with satchel.open(":memory:") as store:
        history = store.state.list("list", limit=limit, unique=unique)
        group = store.state.members("set")
        for operation, value in operations:
            if operation == "push":
                history.push(value)
                kept = [each for each in items if not (unique and same(each, value))]
                items = [value, *kept][:limit]
            elif operation == "take":
                history.remove(value)
                items = [each for each in items if not same(each, value)]
            elif operation == "clear":
                history.clear()
                items = []
            elif operation == "add":
                is_new = not any(same(each, value) for each in members)
                assert group.add(value) is is_new
                members += [value] * is_new
            elif operation == "remove":
                assert group.remove(value) is any(same(each, value) for each in members)
                members = [each for each in members if not same(each, value)]
            elif operation == "score":
                score = max(-1.0, min(1.0, score + value))
                assert store.state.scores("scores").add("k", value) == score
            else:
                assert store.state.flush()
            assert same(history.values(), items)
            assert sorted(map(json.dumps, group)) == sorted(map(json.dumps, members))
            assert equal(store.state.scores("scores").value("k"), score)
