"""Versions that are only valid together are applied together: codes, relations and deletions in circles."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Dict, List

import pytest
from helpers import portion
from hypothesis import given, settings
from hypothesis import strategies as st
from record_devices import Collection, Device, agreed, documents, kinds, moved, only

from satchel.records import Index, Relation
from satchel.remote import Directory, Remote

UNIQUE = [Index("code", unique=True)]


def with_codes(devices: List[Device], **declared: object) -> None:
    for device in devices:
        device.records = device.store.records("courses", indexes=UNIQUE, **declared)  # type: ignore[arg-type]


def give(device: Device, codes: Dict[str, str]) -> None:
    """Gives records other codes in one batch, by way of codes that no record has."""
    with device.store.batch():
        for id in codes:
            device.put(id, code=f"none-{id}")
        for id, code in codes.items():
            device.put(id, code=code)


def rotated(count: int, by: int = 1) -> Dict[str, str]:
    return {f"r{each}": f"code-{(each + by) % count}" for each in range(count)}


@pytest.mark.parametrize("count", [2, 3, 200])
@pytest.mark.parametrize("by", [1, -1])
def test_codes_that_rotate_arrive(pair: List[Device], remote_copy: Remote, count: int, by: int) -> None:
    with_codes(pair)
    phone, tablet = pair
    phone.records.put_many({id: {"code": code} for id, code in rotated(count, 0).items()})
    agreed(pair, remote_copy)
    give(phone, rotated(count, by))
    phone.sync(remote_copy)
    assert moved(tablet.sync(remote_copy)) == {"downloaded": count}
    assert tablet.documents() == phone.documents()
    agreed(pair, remote_copy)
    assert tablet.store.check() == []


@pytest.mark.parametrize("end", ["free", "deleted"])
def test_codes_that_move_on_arrive(pair: List[Device], remote_copy: Remote, end: str) -> None:
    """Chains: at the end of one is a code that no record had, or a record that is deleted."""
    with_codes(pair)
    phone, tablet = pair
    phone.records.put_many({id: {"code": code} for id, code in rotated(50, 0).items()})
    agreed(pair, remote_copy)
    with phone.store.batch():
        if end == "deleted":
            phone.records.delete("r49")
        else:
            phone.put("r49", code="another")
        for each in reversed(range(49)):
            phone.put(f"r{each}", code=f"code-{each + 1}")
    phone.sync(remote_copy)
    assert tablet.sync(remote_copy).waiting == 0
    assert tablet.documents() == phone.documents()
    agreed(pair, remote_copy)


def test_what_another_record_keeps_from_it_waits_as_a_whole(pair: List[Device], object_store: Remote) -> None:
    with_codes(pair)
    phone, tablet = pair
    phone.records.put_many({"a": {"code": "x"}, "b": {"code": "y"}, "c": {"code": "z"}})
    agreed(pair, object_store)
    tablet.put("mine", code="q")
    give(phone, {"a": "y", "b": "x", "c": "q"})
    phone.sync(object_store)
    # The exchange arrives, and what wants the tablet's code waits for it.
    assert tablet.sync(object_store).waiting == 1
    assert tablet.documents() == {
        "a": {"code": "y"}, "b": {"code": "x"}, "c": {"code": "z"}, "mine": {"code": "q"},
    }  # fmt: skip
    assert tablet.conflicts() == [("c", "waiting")]
    give(phone, {"a": "z", "c": "y", "b": "x"})
    phone.sync(object_store)
    tablet.sync(object_store)
    assert tablet.documents()["a"] == {"code": "z"}
    assert tablet.conflicts() == []
    # A circle that one of its members cannot be part of.
    give(phone, {"a": "y", "c": "x", "b": "own"})
    tablet.put("mine", code="own")
    phone.sync(object_store)
    assert tablet.sync(object_store).waiting == 3
    reasons = {each.record: each.reason or "" for each in tablet.records.conflicts()}
    assert "courses/mine" in reasons["b"]
    assert "courses/b" in reasons["c"]
    assert "courses/c" in reasons["a"]
    before = tablet.documents()
    assert tablet.sync(object_store).unchanged
    assert tablet.documents() == before
    tablet.put("mine", code="other")
    agreed([tablet, phone], object_store)
    assert tablet.documents() == {
        "a": {"code": "y"}, "b": {"code": "own"}, "c": {"code": "x"}, "mine": {"code": "other"},
    }  # fmt: skip
    assert tablet.conflicts() == phone.conflicts() == []


def test_the_rest_of_a_group_arrives_later(pair: List[Device], remote_copy: Remote) -> None:
    with_codes(pair, on_conflict="ask")
    phone, tablet = pair
    phone.records.put_many({"a": {"code": "x"}, "b": {"code": "y"}})
    agreed(pair, remote_copy)
    # The phone cannot send its change of b before the conflict about it is resolved.
    tablet.put("b", code="y", n=1)
    tablet.sync(remote_copy)
    give(phone, {"a": "y", "b": "x"})
    assert phone.sync(remote_copy).conflicts == 1
    assert tablet.sync(remote_copy).waiting == 1
    assert only(tablet.records.conflicts(), "a").kind == "waiting"
    phone.records.resolve(only(phone.records.conflicts(), "b"), "local")
    phone.sync(remote_copy)
    assert moved(tablet.sync(remote_copy)) == {"downloaded": 2}
    assert tablet.documents() == {"a": {"code": "y"}, "b": {"code": "x"}}
    assert tablet.conflicts() == []
    agreed(pair, remote_copy)


def lessons(devices: List[Device], on_delete: str) -> List[Collection]:
    relation = Relation("courses", on_delete=on_delete)
    return [device.store.records("lessons", relations={"course": relation}) for device in devices]


@pytest.mark.parametrize("on_delete", ["restrict", "cascade", "nullify"])
def test_a_successor_with_the_code_and_the_lessons_arrives(
    pair: List[Device], object_store: Remote, on_delete: str
) -> None:
    """The new course wants the code of the old one, which a lesson keeps, which wants the new one."""
    with_codes(pair)
    mine, theirs = lessons(pair, on_delete)
    phone, tablet = pair
    phone.put("old", code="x")
    mine.put("l", {"course": "old"})
    agreed(pair, object_store)
    with phone.store.batch():
        phone.put("old", code="")
        phone.put("new", code="x")
        mine.put("l", {"course": "new"})
        phone.records.delete("old")
    phone.sync(object_store)
    assert moved(tablet.sync(object_store)) == {"downloaded": 2, "deleted_locally": 1}
    assert tablet.documents() == {"new": {"code": "x"}}
    assert documents(theirs) == {"l": {"course": "new"}}
    agreed(pair, object_store)
    assert kinds(theirs) == tablet.conflicts() == []
    assert tablet.store.check() == []


def test_records_that_keep_each_other_are_deleted_together(pair: List[Device], remote_copy: Remote) -> None:
    nodes = [device.store.records("nodes", relations={"next": "nodes"}) for device in pair]
    phone, tablet = pair
    with phone.store.batch():
        for each in range(20):
            nodes[0].put(f"n{each}", {"next": f"n{(each + 1) % 20}"})
    agreed(pair, remote_copy)
    nodes[0].clear()
    phone.sync(remote_copy)
    assert moved(tablet.sync(remote_copy)) == {"deleted_locally": 20}
    assert nodes[1].count() == 0
    agreed(pair, remote_copy)
    assert nodes[0].count() == 0


def test_a_deletion_waits_for_the_version_that_allows_it(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    mine, theirs = lessons(pair, "restrict")
    phone.put("c", n=1)
    mine.put("l", {"course": "c"})
    agreed(pair, remote_copy)
    theirs = tablet.store.records("lessons", schema={"properties": {"title": {"type": "string"}}})
    with phone.store.batch():
        mine.put("l", {"title": 5})
        phone.records.delete("c")
    phone.sync(remote_copy)
    assert tablet.sync(remote_copy).waiting == 2
    assert (documents(theirs), tablet.documents()) == ({"l": {"course": "c"}}, {"c": {"n": 1}})
    assert "lessons/l" in (only(tablet.records.conflicts(), "c").reason or "")
    assert phone.sync(remote_copy).unchanged, "the deletion holds"
    mine.put("l", {"title": "five"})
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    assert (documents(theirs), tablet.documents()) == ({"l": {"title": "five"}}, {})
    agreed(pair, remote_copy)


PERMUTATIONS = settings(max_examples=int(os.environ.get("SATCHEL_PERMUTATIONS", portion(25))), deadline=None)


@PERMUTATIONS
@given(st.data())
def test_any_permutations_of_codes_arrive(data: st.DataObject) -> None:
    """Each device permutes codes of its own records, several times between two syncs of another one."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        remote = stack.enter_context(Directory(folder / "remote"))
        devices = [Device(folder / f"{each}.satchel") for each in range(3)]
        for device in devices:
            stack.enter_context(device.store)
        permute(devices, remote, data)


def permute(devices: List[Device], remote: Remote, data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 12))
    with_codes(devices)
    codes = {
        number: {f"r{number}-{each}": f"{number}-{each}" for each in range(count)} for number in range(3)
    }
    for number, device in enumerate(devices):
        device.records.put_many({id: {"code": code} for id, code in codes[number].items()})
    agreed(devices, remote)
    for _ in range(data.draw(st.integers(1, 6))):
        number = data.draw(st.integers(0, 2))
        values = data.draw(st.permutations(list(codes[number].values())))
        codes[number] = dict(zip(codes[number], values))
        give(devices[number], codes[number])
        for each in data.draw(st.lists(st.integers(0, 2), max_size=3)):
            assert devices[each].sync(remote).waiting == 0
    agreed(devices, remote)
    expected = {id: {"code": code} for each in codes.values() for id, code in each.items()}
    for device in devices:
        assert device.documents() == expected
        assert device.conflicts() == []
        assert device.store.check() == []
