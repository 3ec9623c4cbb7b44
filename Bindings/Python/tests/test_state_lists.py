"""State: lists, sets and scores."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List

import pytest
from helpers import Clock, portion
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_model import equal

import satchel
from satchel import State


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


def test_an_item_may_have_a_time_of_its_own(state: State, clock: Clock) -> None:
    history = state.list("history", limit=3)
    history.push("now")
    then = datetime(2020, 2, 1, tzinfo=timezone.utc)
    history.push("then", time=then)
    history.push("before", time=int(then.timestamp() * 1000) - 1)
    state.flush()
    history.push("between", time=then + timedelta(days=1))
    assert history.values() == ["now", "between", "then"]
    assert history.items()[2].pushed_at == then
    state.flush()
    assert history.values() == ["now", "between", "then"]
    for time in (datetime(2020, 2, 1), -1, True, "2020", 2**63 - 1):
        with pytest.raises(satchel.InvalidArgument, match="time"):
            history.push("x", time=time)  # type: ignore[arg-type]
    assert len(history) == 3


def test_a_list_drops_what_is_too_old(state: State, clock: Clock) -> None:
    interactions = state.list("interactions", max_age=timedelta(days=30))
    interactions.push("first")
    clock.advance(timedelta(days=29) / timedelta(milliseconds=1))
    interactions.push("second")
    assert interactions.values() == ["second", "first"]
    clock.advance(timedelta(days=2) / timedelta(milliseconds=1))
    assert interactions.values() == ["second"]
    state.flush()
    assert interactions.values() == ["second"]
    assert state.list("interactions", max_age=1).values() == []


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
    "bounds", [{"limit": 0}, {"limit": -1}, {"limit": 1.5}, {"limit": 2**32}, {"max_age": -1}]
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
        assert favourites.has(value) is True
    assert favourites.add({"y": [2], "x": 1}) is False
    assert {"y": [2.0], "x": 1} not in favourites
    assert len(favourites) == len(list(favourites)) == len(values)
    state.flush()
    assert favourites.add("a") is False
    before = favourites.values()
    assert favourites.remove(1) is True
    assert favourites.remove(1) is False
    assert 1 not in favourites
    assert favourites.has(1) is False
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


@pytest.mark.parametrize(("minimum", "maximum", "nothing"), [(-1, 1, 0.0), (2, 5, 2.0), (-5, -3, -3.0)])
def test_a_score_without_additions_is_0_or_the_nearest_bound(
    state: State, minimum: float, maximum: float, nothing: float
) -> None:
    scores = state.scores("levels", minimum=minimum, maximum=maximum)
    assert scores.value("x") == nothing
    assert scores.all() == {}
    for is_saved in (False, True):
        value = scores.add("x", 4)
        if is_saved:
            state.flush()
        assert scores.value("x") == scores.all()["x"] == value
        scores.remove("x")
        scores.remove("never added")
        assert scores.value("x") == nothing
        assert scores.all() == {}
        # The old values do not return.
        assert scores.add("x", 0) == nothing
        scores.remove("x")
    with pytest.raises(satchel.InvalidArgument, match="key"):
        scores.remove("")


def test_a_handle_reads_scores_within_its_own_bounds(state: State) -> None:
    state.scores("visits", minimum=0, maximum=100).add("x", 50)
    assert state.scores("visits").value("x") == 1.0
    assert state.scores("visits").all() == {"x": 1.0}
    assert state.scores("visits", minimum=60, maximum=100).all() == {"x": 60.0}
    assert state.scores("visits", minimum=0, maximum=100).all() == {"x": 50.0}


@pytest.mark.parametrize("delta", [float("nan"), float("inf"), "1", None, True, 10**400])
def test_what_is_no_delta_is_refused(state: State, delta: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        state.scores("cuisine").add("a", delta)
    with pytest.raises(satchel.InvalidArgument):
        state.scores("cuisine", minimum=delta)
    with pytest.raises(satchel.InvalidArgument):
        state.scores("cuisine", minimum=1, maximum=0).add("a", 0.5)
    assert state.scores("cuisine").all() == {}


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


@settings(max_examples=portion(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
