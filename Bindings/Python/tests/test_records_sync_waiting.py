"""Remote versions that a rule of the collection refuses wait, and are applied when the reason is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from record_devices import Collection, Device, Documents, agreed, documents, kinds, moved, only

import satchel
from satchel.records import Index, Relation
from satchel.remote import Remote

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def lessons(pair: List[Device], on_delete: str, many: bool = False) -> Tuple[Collection, Collection]:
    """Lessons that refer to courses, on both devices."""
    relation = Relation("courses", on_delete=on_delete, many=many)
    found = [device.store.records("lessons", relations={"course": relation}) for device in pair]
    return found[0], found[-1]


def test_what_violates_the_schema_waits(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    tablet.store.records("courses", schema=SCHEMA)
    phone.put("good", n=1)
    phone.put("bad", n="one")
    phone.sync(object_store)
    report = tablet.sync(object_store)
    assert moved(report) == {"downloaded": 1, "waiting": 1}
    assert report.waiting == 1
    assert tablet.documents() == {"good": {"n": 1}}
    [conflict] = tablet.records.conflicts()
    assert (conflict.record, conflict.kind, conflict.code) == ("bad", "waiting", "ECONSTRAINT")
    assert conflict.reason is not None
    assert "/n" in conflict.reason
    assert (conflict.local, conflict.remote, conflict.base) == (None, {"n": "one"}, None)
    # Time changes nothing, and it is not counted as a change.
    assert tablet.sync(object_store).unchanged
    # Another declaration does, without the network.
    tablet.records = tablet.store.records("courses", schema=True, redeclare=True)
    assert tablet.documents() == {"good": {"n": 1}, "bad": {"n": "one"}}
    assert tablet.conflicts() == []
    agreed(pair, object_store)


def test_a_changed_record_that_waits_keeps_its_local_version(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    agreed(pair, remote_copy)
    tablet.store.records("courses", schema=SCHEMA)
    phone.put("a", n="two")
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    assert tablet.status("a") == "waiting"
    assert tablet.documents() == {"a": {"n": 1}}
    [conflict] = tablet.records.conflicts()
    assert (conflict.kind, conflict.local, conflict.remote, conflict.base) == (
        "waiting",
        {"n": 1},
        {"n": "two"},
        {"n": 1},
    )
    # The other device corrects it.
    phone.put("a", n=2)
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    assert tablet.status("a") == "synced"
    assert tablet.conflicts() == []
    agreed(pair, remote_copy)


@pytest.mark.parametrize("keep", ["local", "document"])
def test_the_host_can_end_the_waiting(pair: List[Device], remote_copy: Remote, keep: str) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    agreed(pair, remote_copy)
    tablet.store.records("courses", schema=SCHEMA)
    phone.put("a", n="two")
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    [conflict] = tablet.records.conflicts()
    with pytest.raises(satchel.ConstraintViolation):
        tablet.records.resolve(conflict, "remote")
    if keep == "local":
        tablet.records.resolve(conflict, "local")
    else:
        tablet.records.resolve(conflict, document={"n": 5})
    agreed([tablet, phone], remote_copy)
    assert phone.documents() == {"a": {"n": 1 if keep == "local" else 5}}


def test_two_ids_with_one_unique_value_wait_for_each_other(pair: List[Device], object_store: Remote) -> None:
    for device in pair:
        device.records = device.store.records("courses", indexes=[Index("code", unique=True)])
    phone, tablet = pair
    phone.put("a", code="x")
    tablet.put("b", code="x")
    phone.sync(object_store)
    assert moved(tablet.sync(object_store)) == {"uploaded": 1, "waiting": 1}
    phone.sync(object_store)
    # Each device keeps the one that it has.
    assert (phone.documents(), tablet.documents()) == ({"a": {"code": "x"}}, {"b": {"code": "x"}})
    for device, other in ((phone, "b"), (tablet, "a")):
        [conflict] = device.records.conflicts()
        assert (conflict.record, conflict.kind, conflict.code) == (other, "waiting", "ECONSTRAINT")
        assert conflict.reason is not None
        assert "courses/a" in conflict.reason
        assert "courses/b" in conflict.reason
    # A change of either on any device ends it.
    tablet.put("b", code="y")
    assert moved(tablet.sync(object_store)) == {"uploaded": 1, "downloaded": 1}
    assert tablet.documents() == {"b": {"code": "y"}, "a": {"code": "x"}}
    phone.sync(object_store)
    agreed(pair, object_store)
    assert phone.documents() == {"a": {"code": "x"}, "b": {"code": "y"}}
    assert phone.conflicts() == tablet.conflicts() == []


def test_two_records_that_exchange_their_unique_values_arrive(
    pair: List[Device], remote_copy: Remote
) -> None:
    for device in pair:
        device.records = device.store.records("courses", indexes=[Index("code", unique=True)])
    phone, tablet = pair
    phone.records.put_many({"a": {"code": "x"}, "b": {"code": "y"}})
    agreed(pair, remote_copy)
    phone.put("a", code="z")
    phone.put("b", code="x")
    phone.put("a", code="y")
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    assert tablet.documents() == {"a": {"code": "y"}, "b": {"code": "x"}}
    agreed(pair, remote_copy)


def test_what_refers_to_a_record_that_waits_waits_as_well(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    mine, theirs = lessons(pair, "restrict")
    tablet.store.records("courses", schema=SCHEMA)
    phone.put("c", n="one")
    mine.put("l", {"course": "c"})
    phone.sync(object_store)
    assert tablet.sync(object_store).waiting == 2
    assert (theirs.count(), tablet.records.count()) == (0, 0)
    conflict = only(theirs.conflicts(), "l")
    assert (conflict.kind, conflict.code) == ("waiting", "ECONSTRAINT")
    assert conflict.reason is not None
    assert "courses/c" in conflict.reason
    # The reason goes with another change of the target.
    phone.put("c", n=1)
    phone.sync(object_store)
    tablet.sync(object_store)
    assert documents(theirs) == {"l": {"course": "c"}}
    assert kinds(theirs) == tablet.conflicts() == []
    agreed(pair, object_store)


def test_what_refers_to_an_undeclared_collection_waits_for_it(
    pair: List[Device], remote_copy: Remote, tmp_path: Any
) -> None:
    phone, tablet = pair
    rooms = phone.store.records("rooms")
    phone.store.records("courses", relations={"room": "rooms"})
    rooms.put("r", {"seats": 5})
    phone.put("c", n=1, room="r")
    phone.sync(remote_copy)
    # The tablet's app knows rooms, but they stay on their device.
    tablet.store.records("rooms", synced=False)
    tablet.store.records("courses", relations={"room": "rooms"})
    tablet.sync(remote_copy)
    assert tablet.conflicts() == [("c", "waiting")]
    tablet.store.records("rooms", synced=True)
    tablet.sync(remote_copy)
    assert tablet.documents() == {"c": {"n": 1, "room": "r"}}
    agreed(pair, remote_copy)


def test_a_target_that_is_written_here_ends_the_waiting(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    mine, theirs = lessons(pair, "restrict")
    tablet.store.records("courses", schema=SCHEMA)
    phone.put("c", n="one")
    mine.put("l", {"course": "c"})
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    tablet.clock.advance(60_000)
    tablet.put("c", n=2)
    tablet.sync(remote_copy)
    assert documents(theirs) == {"l": {"course": "c"}}
    agreed([tablet, phone], remote_copy)


STEP = {"rename": {"from": "n", "to": "number"}}


def test_records_of_a_newer_version_wait_for_the_app(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    phone.put("b", n=2)
    agreed(pair, object_store)
    phone.records = phone.store.records("courses", version=2, migrations=[[STEP]])
    assert phone.sync(object_store).unchanged, "a migration is nothing to send"
    phone.put("a", number=10)
    phone.put("new", number=3)
    phone.sync(object_store)
    assert tablet.sync(object_store).waiting == 2
    assert tablet.documents() == {"a": {"n": 1}, "b": {"n": 2}}
    assert tablet.status("a") == "waiting"
    conflict = only(tablet.records.conflicts(), "a")
    assert (conflict.kind, conflict.code, conflict.remote) == ("waiting", "ENEWER", {"number": 10})
    # Old versions are understood; what waits here is not sent.
    tablet.clock.now = phone.clock.now + 60_000
    tablet.put("b", n=20)
    tablet.put("a", n=99)
    tablet.sync(object_store)
    phone.sync(object_store)
    assert phone.documents() == {"a": {"number": 10}, "b": {"number": 20}, "new": {"number": 3}}
    # The new app decides about what it has changed itself, and applies the rest at once.
    tablet.records = tablet.store.records("courses", version=2, migrations=[[STEP]])
    assert tablet.records.get("new") == {"number": 3}
    agreed([tablet, phone], object_store)
    assert phone.documents() == {"a": {"number": 99}, "b": {"number": 20}, "new": {"number": 3}}


def without_nulls(found: Documents) -> Documents:
    return {id: {name: v for name, v in each.items() if v is not None} for id, each in found.items()}


DELETIONS: Dict[str, Tuple[Dict[str, Any], Dict[str, Any]]] = {
    # The course is gone, and so are the lessons.
    "cascade": ({}, {}),
    # The course is gone, and the lessons say so.
    "nullify": ({}, {"old": {}, "new": {}}),
    # The course is back: a lesson needs it.
    "restrict": ({"c": {"n": 1}}, {"old": {"course": "c"}, "new": {"course": "c"}}),
}


@pytest.mark.parametrize("on_delete", ["cascade", "nullify"])
def test_a_deletion_elsewhere_reaches_what_refers_to_it(
    pair: List[Device], object_store: Remote, on_delete: str
) -> None:
    phone, tablet = pair
    mine, theirs = lessons(pair, on_delete)
    phone.put("c", n=1)
    mine.put("old", {"course": "c"})
    agreed(pair, object_store)
    # The phone deletes what the tablet refers to, for the first time or again.
    phone.records.delete("c")
    theirs.put("new", {"course": "c"})
    phone.sync(object_store)
    tablet.sync(object_store)
    courses, expected = DELETIONS[on_delete]
    agreed([tablet, phone], object_store)
    assert tablet.documents() == phone.documents() == courses
    assert documents(theirs) == documents(mine)
    assert without_nulls(documents(mine)) == expected
    lost = [(each.record, each.kind, each.local) for each in theirs.conflicts()]
    assert lost == ([("new", "lost", {"course": "c"})] if on_delete == "cascade" else [])


def test_a_restricted_deletion_elsewhere_does_not_hold(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    mine, theirs = lessons(pair, "restrict")
    phone.put("c", n=1)
    agreed(pair, object_store)
    phone.records.delete("c")
    theirs.put("new", {"course": "c"})
    phone.sync(object_store)
    tablet.sync(object_store)
    agreed([tablet, phone], object_store)
    assert tablet.documents() == phone.documents() == {"c": {"n": 1}}
    assert documents(theirs) == documents(mine) == {"new": {"course": "c"}}


@pytest.mark.parametrize("on_delete", DELETIONS)
def test_a_reference_that_arrives_after_the_deletion(
    pair: List[Device], object_store: Remote, on_delete: str
) -> None:
    """As before, but the reference is in the remote first."""
    phone, tablet = pair
    mine, theirs = lessons(pair, on_delete)
    phone.put("c", n=1)
    agreed(pair, object_store)
    theirs.put("new", {"course": "c"})
    tablet.sync(object_store)
    phone.records.delete("c")
    phone.sync(object_store)
    agreed(pair, object_store)
    courses, expected = DELETIONS[on_delete]
    expected = {id: each for id, each in expected.items() if id != "old"}
    assert tablet.documents() == phone.documents() == courses
    assert without_nulls(documents(mine)) == expected
    assert documents(theirs) == documents(mine)


@pytest.mark.parametrize("on_delete", ["cascade", "nullify"])
def test_a_deletion_that_arrives_with_a_reference_to_it(
    pair: List[Device], remote_copy: Remote, tmp_path: Path, on_delete: str
) -> None:
    """The device that deletes does not know the collection that refers to the record."""
    phone, tablet = pair
    desk = Device(tmp_path / "desk.satchel")
    _, theirs = lessons([desk, tablet], on_delete)
    phone.put("c", n=1)
    for device in (phone, tablet, desk):
        device.sync(remote_copy)
    theirs.put("l", {"course": "c"})
    tablet.sync(remote_copy)
    phone.records.delete("c")
    phone.sync(remote_copy)
    # The deletion's effect on the lesson is a change to send, though the lesson has just arrived.
    report = desk.sync(remote_copy).records
    assert (report.deleted_remotely, report.uploaded) == ((1, 0) if on_delete == "cascade" else (0, 1))
    kept = [(each.side, each.local) for each in desk.store.records("lessons").conflicts()]
    assert kept == ([("local", {"course": "c"})] if on_delete == "cascade" else [])
    lessons([phone], on_delete)
    agreed([desk, phone, tablet], remote_copy)
    assert documents(theirs) == ({} if on_delete == "cascade" else {"l": {"course": None}})
    desk.store.close()


def test_lists_of_references_lose_only_what_was_deleted(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    mine, theirs = lessons(pair, "nullify", many=True)
    for id in ("a", "b", "c"):
        phone.put(id, n=1)
    agreed(pair, remote_copy)
    phone.records.delete("b")
    phone.sync(remote_copy)
    theirs.put("l", {"course": ["a", "b", "c"]})
    agreed([tablet, phone], remote_copy)
    assert documents(mine) == documents(theirs) == {"l": {"course": ["a", "c"]}}


def test_records_that_refer_to_each_other_arrive(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    nodes = [
        device.store.records("nodes", relations={"next": "nodes", "course": "courses"}) for device in pair
    ]
    with phone.store.batch():
        for each in range(20):
            nodes[0].put(f"n{each}", {"next": f"n{(each + 1) % 20}", "course": "c"})
        phone.put("c", n=1)
    phone.sync(remote_copy)
    report = tablet.sync(remote_copy)
    assert moved(report) == {"downloaded": 21}
    assert documents(nodes[1]) == documents(nodes[0])
    agreed(pair, remote_copy)
