"""Two devices change the same record: strategies, conflicts, and how the host ends them."""

from __future__ import annotations

from typing import Any, Dict, List

import pytest
from record_devices import Device, agreed

import satchel
from satchel.remote import Remote


def disagree(pair: List[Device], remote_copy: Remote) -> None:
    """Both change the same record, the tablet later; the phone's change is there first."""
    phone, tablet = pair
    phone.put("c", a=1, b=1, o={"x": 1, "y": 1})
    agreed(pair, remote_copy)
    phone.put("c", a=2, b=1, o={"x": 2, "y": 1})
    tablet.clock.now = phone.clock.now + 60_000
    tablet.put("c", a=1, b=3, o={"x": 3, "y": 3})
    phone.records.sync(remote_copy, "ada")


PHONE = {"a": 2, "b": 1, "o": {"x": 2, "y": 1}}
TABLET = {"a": 1, "b": 3, "o": {"x": 3, "y": 3}}


@pytest.mark.parametrize(
    ("strategy", "winner", "lost"),
    [
        ("newest_wins", TABLET, False),
        ("remote_wins", PHONE, True),
        ("local_wins", TABLET, False),
        ("merge", {"a": 2, "b": 3, "o": {"x": 3, "y": 3}}, False),
    ],
)
def test_a_strategy_decides(
    pair: List[Device], remote_copy: Remote, strategy: str, winner: Dict[str, Any], lost: bool
) -> None:
    phone, tablet = pair
    disagree(pair, remote_copy)
    report = tablet.records.sync(remote_copy, "ada", on_conflict=strategy)
    assert report.ok
    assert report.merged == (strategy == "merge")
    assert tablet.documents() == {"c": winner}
    conflicts = tablet.records.conflicts()
    assert [(each.record, each.kind, each.local) for each in conflicts] == [("c", "lost", TABLET)] * lost
    phone.records.sync(remote_copy, "ada", on_conflict=strategy)
    assert phone.documents() == {"c": winner}
    agreed(pair, remote_copy, on_conflict=strategy)


def test_newest_wins_on_the_older_side_keeps_what_was_lost(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    phone.put("c", n=1)
    agreed(pair, remote_copy)
    tablet.put("c", n=2)
    phone.clock.now = tablet.clock.now + 60_000
    phone.put("c", n=3)
    phone.records.sync(remote_copy, "ada")
    tablet.records.sync(remote_copy, "ada")
    assert tablet.documents() == {"c": {"n": 3}}
    [conflict] = tablet.records.conflicts()
    assert (conflict.kind, conflict.record) == ("lost", "c")
    assert (conflict.local, conflict.remote, conflict.base) == ({"n": 2}, {"n": 3}, {"n": 1})
    tablet.records.resolve(conflict, "local")
    assert tablet.documents() == {"c": {"n": 2}}
    assert tablet.records.conflicts() == []
    with pytest.raises(satchel.NotFound):
        tablet.records.resolve(conflict, "local")
    tablet.records.sync(remote_copy, "ada")
    agreed(pair, remote_copy)
    assert phone.documents() == {"c": {"n": 2}}


RESOLUTIONS: Dict[str, Any] = {
    "local": ({"keep": "local"}, TABLET),
    "remote": ({"keep": "remote"}, PHONE),
    "document": ({"document": {"n": 9}}, {"n": 9}),
    "text": ({"document": b'{"n":9.50}'}, {"n": 9.5}),
    "deleted": ({"document": None}, None),
}


@pytest.mark.parametrize("name", RESOLUTIONS)
def test_the_host_can_be_asked(pair: List[Device], remote_copy: Remote, name: str) -> None:
    arguments, winner = RESOLUTIONS[name]
    phone, tablet = pair
    disagree(pair, remote_copy)
    report = tablet.records.sync(remote_copy, "ada", on_conflict="ask")
    assert report.conflicts == 1
    assert tablet.status("c") == "conflict"
    assert tablet.documents() == {"c": TABLET}
    [conflict] = tablet.records.conflicts()
    assert (conflict.record, conflict.kind) == ("c", "open")
    assert (conflict.local, conflict.remote) == (TABLET, PHONE)
    assert conflict.base == {"a": 1, "b": 1, "o": {"x": 1, "y": 1}}
    assert conflict.happened_at.year >= 2024
    # It waits, and does not move.
    assert tablet.records.sync(remote_copy, "ada", on_conflict="ask").uploaded == 0
    assert len(tablet.records.conflicts()) == 1
    tablet.records.resolve(conflict if name == "local" else conflict.id, **arguments)
    assert tablet.records.conflicts() == []
    assert tablet.records.get("c") == winner
    tablet.records.sync(remote_copy, "ada", on_conflict="ask")
    phone.records.sync(remote_copy, "ada", on_conflict="ask")
    agreed(pair, remote_copy, on_conflict="ask")
    assert phone.records.get("c") == winner


@pytest.mark.parametrize(
    "arguments", [{}, {"keep": "mine"}, {"keep": "local", "document": {}}, {"document": 5}]
)
def test_what_is_no_resolution_is_refused(pair: List[Device], remote_copy: Remote, arguments: Any) -> None:
    disagree(pair, remote_copy)
    pair[1].records.sync(remote_copy, "ada", on_conflict="ask")
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
    phone.put("a", n=1)
    phone.put("b", n=1)
    agreed(pair, remote_copy)
    phone.records.delete("a")
    phone.put("b", n=2)
    tablet.put("a", n=3)
    tablet.records.delete("b")
    agreed(pair, remote_copy, on_conflict="merge")
    assert phone.documents() == {"a": {"n": 3}, "b": {"n": 2}}
