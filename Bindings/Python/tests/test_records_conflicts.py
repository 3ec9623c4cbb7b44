"""Two devices change the same record: conflict policies, conflicts, and how the host ends them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List

import pytest
from record_devices import Device, agreed

import satchel
from satchel.remote import Remote


def declare(pair: List[Device], policy: str) -> None:
    for device in pair:
        device.store.records("courses", on_conflict=policy)
        assert device.store.collections()[0].on_conflict == policy


def disagree(pair: List[Device], remote: Remote) -> None:
    """Both change the same record, the tablet later; the phone's change is there first."""
    phone, tablet = pair
    phone.put("c", a=1, b=1, o={"x": 1, "y": 1})
    agreed(pair, remote)
    phone.put("c", a=2, b=1, o={"x": 2, "y": 1})
    tablet.clock.now = phone.clock.now + 60_000
    tablet.put("c", a=1, b=3, o={"x": 3, "y": 3})
    phone.sync(remote)


PHONE = {"a": 2, "b": 1, "o": {"x": 2, "y": 1}}
TABLET = {"a": 1, "b": 3, "o": {"x": 3, "y": 3}}


@pytest.mark.parametrize(
    ("policy", "winner", "side"),
    [
        ("newest_wins", TABLET, "remote"),
        ("remote_wins", PHONE, "local"),
        ("local_wins", TABLET, "remote"),
        # Both have changed o.x, and the tablet later.
        ("merge", {"a": 2, "b": 3, "o": {"x": 3, "y": 3}}, "remote"),
    ],
)
def test_a_policy_decides_and_what_loses_is_kept(
    pair: List[Device], object_store: Remote, policy: str, winner: Dict[str, Any], side: str
) -> None:
    phone, tablet = pair
    declare(pair, policy)
    disagree(pair, object_store)
    report = tablet.sync(object_store)
    assert report.ok
    assert report.records.merged == (policy == "merge")
    assert (report.conflicts, report.records.lost) == (1, 1)
    assert tablet.documents() == {"c": winner}
    [conflict] = tablet.records.conflicts()
    assert (conflict.record, conflict.kind, conflict.side) == ("c", "lost", side)
    base = {"a": 1, "b": 1, "o": {"x": 1, "y": 1}}
    assert (conflict.local, conflict.remote, conflict.base) == (TABLET, PHONE, base)
    agreed(pair, object_store)
    assert phone.documents() == {"c": winner}
    # It stays on its device until it is resolved, and keeps nothing from being synchronized.
    assert len(tablet.records.conflicts()) == 1
    assert phone.records.conflicts() == []
    tablet.records.resolve(conflict, "local" if side == "remote" else "remote")
    assert tablet.sync(object_store).unchanged
    assert tablet.documents() == {"c": winner}
    assert tablet.records.conflicts() == []


@pytest.mark.parametrize("policy", ["newest_wins", "local_wins", "merge"])
def test_a_remote_version_that_lost_can_be_taken(
    pair: List[Device], remote_copy: Remote, policy: str
) -> None:
    phone, tablet = pair
    declare(pair, policy)
    disagree(pair, remote_copy)
    tablet.sync(remote_copy)
    tablet.put("c", a=9)
    [conflict] = tablet.records.conflicts()
    assert conflict.local == TABLET, "as it was then"
    tablet.records.resolve(conflict, "remote")
    agreed([tablet, phone], remote_copy)
    assert phone.documents() == {"c": PHONE}


@pytest.mark.parametrize("policy", ["newest_wins", "remote_wins", "local_wins", "merge"])
def test_equal_versions_and_opposite_changes_are_no_conflicts(
    pair: List[Device], remote_copy: Remote, policy: str
) -> None:
    phone, tablet = pair
    declare(pair, policy)
    for id in ("same", "reverted", "alone"):
        phone.put(id, n=1)
    agreed(pair, remote_copy)
    for device in pair:
        device.put("same", n=2, m={"x": [1]})
    phone.put("reverted", n=2)
    tablet.put("reverted", n=5)
    tablet.put("reverted", n=1)
    phone.put("alone", n=3)
    reports = [device.sync(remote_copy) for device in (phone, tablet, phone)]
    assert [each.conflicts for each in reports] == [0, 0, 0]
    agreed(pair, remote_copy)
    assert tablet.documents() == {"same": {"n": 2, "m": {"x": [1]}}, "reverted": {"n": 2}, "alone": {"n": 3}}
    assert phone.records.conflicts() == tablet.records.conflicts() == []


def test_a_merge_without_rivals_is_no_conflict(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    declare(pair, "merge")
    phone.put("c", a=1, b=1)
    agreed(pair, remote_copy)
    phone.put("c", a=2, b=1)
    tablet.put("c", a=1, b=2)
    phone.sync(remote_copy)
    report = tablet.sync(remote_copy)
    assert (report.records.merged, report.conflicts) == (1, 0)
    assert tablet.records.conflicts() == []


def test_a_deletion_that_loses_is_kept(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    declare(pair, "local_wins")
    phone.put("c", n=1)
    agreed(pair, remote_copy)
    phone.records.delete("c")
    tablet.put("c", n=2)
    phone.sync(remote_copy)
    assert tablet.sync(remote_copy).conflicts == 1
    [conflict] = tablet.records.conflicts()
    assert (conflict.kind, conflict.side) == ("lost", "remote")
    assert (conflict.local, conflict.remote) == ({"n": 2}, None)
    # Applied again, it deletes the record everywhere.
    tablet.records.resolve(conflict, "remote")
    agreed([tablet, phone], remote_copy)
    assert phone.documents() == {}


def test_the_policy_is_kept_until_another_is_declared(pair: List[Device], remote_copy: Remote) -> None:
    _, tablet = pair
    declare(pair, "remote_wins")
    for device in pair:
        device.store.records("courses")
        device.store.records("courses", indexes=["a"])
    assert tablet.store.collections()[0].on_conflict == "remote_wins"
    disagree(pair, remote_copy)
    tablet.sync(remote_copy)
    assert tablet.documents() == {"c": PHONE}
    # With redeclare as well: it is not a part that is dropped.
    tablet.store.records("courses", redeclare=True)
    assert tablet.store.collections()[0].on_conflict == "remote_wins"


def test_a_lost_change_can_be_taken_back(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    declare(pair, "newest_wins")
    tablet.put("c", n=1)
    agreed([tablet, phone], remote_copy)
    tablet.put("c", n=2)
    phone.clock.now = tablet.clock.now + 60_000
    phone.put("c", n=3)
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    assert tablet.documents() == {"c": {"n": 3}}
    [conflict] = tablet.records.conflicts()
    assert (conflict.kind, conflict.side, conflict.record) == ("lost", "local", "c")
    assert (conflict.local, conflict.remote, conflict.base) == ({"n": 2}, {"n": 3}, {"n": 1})
    assert (conflict.code, conflict.reason) == (None, None)
    tablet.records.resolve(conflict, "local")
    assert tablet.documents() == {"c": {"n": 2}}
    assert tablet.records.conflicts() == []
    with pytest.raises(satchel.NotFound):
        tablet.records.resolve(conflict, "local")
    agreed([tablet, phone], remote_copy)
    assert phone.documents() == {"c": {"n": 2}}


RESOLUTIONS: Dict[str, Any] = {
    "local": ({"keep": "local"}, TABLET),
    "remote": ({"keep": "remote"}, PHONE),
    "document": ({"document": {"n": 9}}, {"n": 9}),
    "text": ({"document": b'{"n":9.50}'}, {"n": 9.5}),
    "deleted": ({"document": None}, None),
}


@pytest.mark.parametrize("name", RESOLUTIONS)
def test_the_host_can_be_asked(pair: List[Device], object_store: Remote, name: str) -> None:
    arguments, winner = RESOLUTIONS[name]
    phone, tablet = pair
    declare(pair, "ask")
    disagree(pair, object_store)
    report = tablet.sync(object_store)
    assert (report.conflicts, report.records.lost, report.unchanged) == (1, 0, False)
    assert tablet.status("c") == "conflict"
    assert tablet.records.ids({"@sync_status": "conflict"}) == ["c"]
    assert tablet.documents() == {"c": TABLET}
    [conflict] = tablet.records.conflicts()
    assert (conflict.record, conflict.kind) == ("c", "open")
    assert (conflict.local, conflict.remote) == (TABLET, PHONE)
    assert conflict.base == {"a": 1, "b": 1, "o": {"x": 1, "y": 1}}
    assert conflict.happened_at.year >= 2024
    # It waits, and does not move.
    assert tablet.sync(object_store).unchanged
    assert len(tablet.records.conflicts()) == 1
    tablet.records.resolve(conflict if name == "local" else conflict.id, **arguments)
    assert tablet.records.conflicts() == []
    assert tablet.records.get("c") == winner
    agreed([tablet, phone], object_store)
    assert phone.records.get("c") == winner
    assert phone.records.conflicts() == []


@dataclass
class Course:
    a: int
    b: int = 0


@dataclass
class Other:
    a: int


def test_a_resolution_is_written_as_a_put(pair: List[Device], object_store: Remote) -> None:
    tablet = pair[1]
    declare(pair, "ask")
    disagree(pair, object_store)
    tablet.sync(object_store)
    courses = tablet.store.records("courses", of=Course)
    [conflict] = courses.conflicts()
    with pytest.raises(satchel.InvalidArgument, match=r"^courses/c: Other, not Course$"):
        courses.resolve(conflict, document=Other(1))
    with pytest.raises(satchel.InvalidArgument, match="is not a Course: /a is missing"):
        courses.resolve(conflict.id, document={"b": 1})
    courses.put("d", Course(7, 8))
    courses.resolve(conflict, document=courses.record("d"))
    assert tablet.documents()["c"] == {"a": 7, "b": 8}
    assert courses.conflicts() == []


def test_an_open_conflict_follows_both_sides(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    declare(pair, "ask")
    disagree(pair, remote_copy)
    tablet.sync(remote_copy)
    tablet.put("c", n=10)
    phone.put("c", n=20)
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    [conflict] = tablet.records.conflicts()
    assert (conflict.local, conflict.remote) == ({"n": 10}, {"n": 20})
    # Without the conflict, when both become equal.
    phone.put("c", n=10)
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    assert tablet.records.conflicts() == []
    assert tablet.status("c") == "synced"
    agreed(pair, remote_copy)


def test_other_records_move_while_one_waits_for_the_host(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    declare(pair, "ask")
    disagree(pair, remote_copy)
    tablet.put("d", n=1)
    phone.put("e", n=2)
    phone.sync(remote_copy)
    report = tablet.sync(remote_copy)
    assert (report.records.uploaded, report.records.downloaded, report.conflicts) == (1, 1, 1)
    phone.sync(remote_copy)
    assert phone.records.get("d") == {"n": 1}
    assert phone.records.get("c") == PHONE


def test_a_deletion_can_be_one_side_of_a_conflict(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    declare(pair, "ask")
    phone.put("a", n=1)
    phone.put("b", n=1)
    agreed(pair, remote_copy)
    phone.records.delete("a")
    phone.put("b", n=2)
    phone.sync(remote_copy)
    tablet.put("a", n=3)
    tablet.records.delete("b")
    tablet.sync(remote_copy)
    found = {each.record: (each.local, each.remote, each.base) for each in tablet.records.conflicts()}
    assert found == {"a": ({"n": 3}, None, {"n": 1}), "b": (None, {"n": 2}, {"n": 1})}
    for each in tablet.records.conflicts():
        tablet.records.resolve(each, "remote")
    assert tablet.documents() == {"b": {"n": 2}}
    agreed(pair, remote_copy)
    assert phone.documents() == {"b": {"n": 2}}


@pytest.mark.parametrize(
    "arguments", [{}, {"keep": "mine"}, {"keep": "local", "document": {}}, {"document": 5}]
)
def test_what_is_no_resolution_is_refused(pair: List[Device], remote_copy: Remote, arguments: Any) -> None:
    declare(pair, "ask")
    disagree(pair, remote_copy)
    pair[1].sync(remote_copy)
    [conflict] = pair[1].records.conflicts()
    with pytest.raises(satchel.InvalidArgument):
        pair[1].records.resolve(conflict, **arguments)
    assert len(pair[1].records.conflicts()) == 1
    for wrong in ("1", None, True, 2**63):
        with pytest.raises(satchel.InvalidArgument):
            pair[1].records.resolve(wrong, "local")  # type: ignore[arg-type]
    for unknown in (-1, 0, 10**6):
        with pytest.raises(satchel.NotFound):
            pair[1].records.resolve(unknown, "local")


def test_an_edit_outlives_a_deletion_in_a_merge(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    declare(pair, "merge")
    phone.put("a", n=1)
    phone.put("b", n=1)
    agreed(pair, remote_copy)
    phone.records.delete("a")
    phone.put("b", n=2)
    tablet.put("a", n=3)
    tablet.records.delete("b")
    agreed(pair, remote_copy)
    assert phone.documents() == {"a": {"n": 3}, "b": {"n": 2}}


def test_detaching_forgets_conflicts_that_wait(pair: List[Device], remote_copy: Remote) -> None:
    _, tablet = pair
    declare(pair, "ask")
    disagree(pair, remote_copy)
    tablet.sync(remote_copy)
    tablet.store.detach()
    assert tablet.records.conflicts() == []
    assert tablet.documents() == {"c": TABLET}
    tablet.sync(remote_copy)
    assert tablet.conflicts() == [("c", "open")]
