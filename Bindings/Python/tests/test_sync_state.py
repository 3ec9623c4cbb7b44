"""State that is marked for it is synchronized: values, lists, sets and scores of two stores."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, List

import pytest
from record_devices import Device, moved

import satchel
from satchel.remote import Remote


def states(pair: List[Device]) -> List[satchel.State]:
    return [device.store.state for device in pair]


def settled(pair: List[Device], remote: Remote) -> None:
    """Synchronizes until nothing moves any more."""
    for _ in range(4):
        reports = [device.sync(remote) for device in pair]
        if all(each.unchanged for each in reports):
            return
    raise AssertionError("still moving")


def test_the_newest_value_wins(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    one, two = states(pair)
    one.set("theme", "dark", synced=True)
    one.set("size", 12)
    assert moved(phone.sync(object_store), "state") == {"uploaded": 1}
    two.set("theme", "light", synced=True)
    tablet.clock.advance(60_000)
    two.set("theme", {"name": "sepia"})
    tablet.sync(object_store)
    phone.sync(object_store)
    assert one.get("theme") == two.get("theme") == {"name": "sepia"}
    # State that is not marked stays local, and the mark outlives a removal.
    assert two.get("size") is None
    phone.clock.advance(120_000)
    one.remove("theme")
    settled(pair, object_store)
    assert "theme" not in two
    one.set("theme", 5)
    settled(pair, object_store)
    assert two.get("theme") == 5


def test_a_value_arrives_where_it_is_marked(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    one, two = states(pair)
    one.set("theme", "dark", synced=True)
    phone.sync(object_store)
    assert tablet.sync(object_store).state.downloaded in (0, 1)
    two.set("other", 1, synced=True)
    settled(pair, object_store)
    assert one.get("other") is None or one.get("other") == 1
    one.set("other", 2, synced=True)
    phone.clock.advance(60_000)
    one.set("other", 3)
    settled(pair, object_store)
    assert two.get("other") == 3


def test_lists_sets_and_scores_of_both_are_merged(pair: List[Device], object_store: Remote) -> None:
    for number, (device, state) in enumerate(zip(pair, states(pair))):
        for each in range(3):
            device.clock.advance(1000 + number)
            state.list("history", limit=5, synced=True).push(f"{number}-{each}")
            state.members("tags", synced=True).add({"of": number, "n": each})
            state.members("tags").add("both")
            state.scores("cuisine", -1, 1, synced=True).add("chinese", 0.2 + number / 10)
    settled(pair, object_store)
    one, two = states(pair)
    assert one.list("history", limit=5).items() == two.list("history", limit=5).items()
    assert one.list("history", limit=5).values() == ["1-2", "0-2", "1-1", "0-1", "1-0"]
    assert len(one.members("tags")) == 7
    assert all(each in two.members("tags") for each in one.members("tags"))
    assert len(two.members("tags")) == 7
    # Within the bounds: both together are more than 1.
    assert one.scores("cuisine").all() == two.scores("cuisine").all() == {"chinese": 1.0}
    one.members("tags").remove("both")
    two.members("tags").add("later")
    one.list("history", limit=5).remove("1-2")
    two.scores("cuisine").add("thai", 0.5)
    settled(pair, object_store)
    for state in (one, two):
        assert "both" not in state.members("tags")
        assert "later" in state.members("tags")
        assert "1-2" not in state.list("history", limit=5).values()
        assert state.scores("cuisine").value("thai") == 0.5


def test_a_list_keeps_each_value_once_where_it_says_so(pair: List[Device], remote_copy: Remote) -> None:
    for device, state in zip(pair, states(pair)):
        recent = state.list("recent", limit=3, max_age=timedelta(days=1), unique=True, synced=True)
        for value in ("a", "b", "a"):
            device.clock.advance(1000)
            recent.push(value)
    settled(pair, remote_copy)
    assert [list(state.list("recent", limit=3, unique=True)) for state in states(pair)] == [["a", "b"]] * 2


def test_what_is_no_longer_marked_stays(pair: List[Device], remote_copy: Remote) -> None:
    one, two = states(pair)
    for state in (one, two):
        state.scores("s", synced=True)
    one.scores("s").add("k", 0.5)
    settled(pair, remote_copy)
    assert two.scores("s").value("k") == 0.5
    two.scores("s", synced=False).add("k", 0.25)
    one.scores("s").add("k", 0.1)
    settled(pair, remote_copy)
    assert one.scores("s").value("k") == pytest.approx(0.6)
    assert two.scores("s").value("k") == pytest.approx(0.75)
    two.scores("s", synced=True)
    settled(pair, remote_copy)
    assert one.scores("s").all() == two.scores("s").all()
    assert one.scores("s").value("k") == pytest.approx(0.85)


def test_state_is_in_reports_and_dry_runs(pair: List[Device], object_store: Remote) -> None:
    phone, _ = pair
    one = phone.store.state
    one.set("theme", "dark", synced=True)
    one.list("h", synced=True).push(1)
    planned = phone.sync(object_store, dry_run=True).planned
    assert sorted((each.collection, each.id, each.action) for each in planned) == [
        ("@state", "list/h", "upload"),
        ("@state", "value/theme", "upload"),
    ]
    report = phone.sync(object_store)
    assert moved(report, "state") == {"uploaded": 2}
    assert moved(report) == {}
    assert "state(uploaded=2)" in repr(report)


def test_sensitive_lists_sets_and_scores_travel_encrypted(pair: List[Device], remote_copy: Remote) -> None:
    log_key = b"l" * 32
    for number, state in enumerate(states(pair)):
        state.set_key(bytes([number + 1]) * 32)
        state.list("history", sensitive=True, synced=True).push(f"{number}")
        state.members("tags", sensitive=True, synced=True).add({"of": number})
        state.scores("cuisine", sensitive=True, synced=True).add(f"{number}", 0.5)
    phone, tablet = pair
    report = phone.sync(remote_copy, key=log_key)
    assert moved(report, "state") == {"uploaded": 3}
    for device in (tablet, phone, tablet):
        assert not device.sync(remote_copy, key=log_key).failed
    for state in states(pair):
        assert sorted(state.list("history").values()) == ["0", "1"]
        assert all({"of": number} in state.members("tags") for number in range(2))
        assert state.scores("cuisine").all() == {"0": 0.5, "1": 0.5}


def test_a_sensitive_list_is_not_sent_without_a_key(pair: List[Device], remote_copy: Remote) -> None:
    phone, _ = pair
    one, _ = states(pair)
    one.set_key(b"k" * 32)
    one.members("tags", sensitive=True, synced=True).add("secret")
    assert [(each.id, each.code) for each in phone.sync(remote_copy).failed] == [("set/tags", "EAUTH")]


def test_a_sensitive_value_is_not_sent(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    one, two = states(pair)
    one.set_key(b"k" * 32)
    one.set("token", "secret", sensitive=True, synced=True)
    one.set("theme", "dark", synced=True)
    report = phone.sync(remote_copy)
    assert [(each.collection, each.id, each.code) for each in report.failed] == [
        ("@state", "value/token", "EAUTH")
    ]
    assert report.state.uploaded == 1
    two.set("theme", "x", synced=True)
    tablet.sync(remote_copy)
    assert "token" not in two


def test_what_cannot_be_marked_is_refused(pair: List[Device]) -> None:
    state = pair[0].store.state
    marks: List[Any] = [
        lambda name: state.set(name, 1, synced=True),
        lambda name: state.list(name, synced=True),
        lambda name: state.members(name, synced=True),
        lambda name: state.scores(name, synced=True),
    ]
    for mark in marks:
        for name in ("x" * 255, "a\nb", ""):
            with pytest.raises(satchel.InvalidArgument):
                mark(name)
    assert state.keys() == []
    # Names that are too long for it can be used otherwise.
    state.set("x" * 255, 1)
    assert state.get("x" * 255) == 1


def test_a_name_that_is_too_long_can_be_unmarked(pair: List[Device]) -> None:
    pair[0].store.state.scores("x" * 255, synced=False).add("k", 0.5)
    pair[0].store.state.flush()
    try:
        assert pair[0].store.check() == []
    finally:
        # The fixture checks the store as well.
        pair[0].store.close()
