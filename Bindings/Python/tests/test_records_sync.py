"""Devices come into agreement through an object store: records, collections, batches, users."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Dict, List

import pytest
from albums import row
from hosts import DictStore
from record_devices import Device, agreed, documents, everything, moved

import satchel
from satchel import Change
from satchel.remote import Directory, Remote


def test_what_one_device_adds_the_other_gets(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    added = {f"c{each}": {"n": each, "text": "ü" * each} for each in range(60)}
    phone.records.put_many(added)
    assert phone.status("c1") == "local"
    report = phone.sync(object_store)
    assert moved(report) == {"uploaded": 60}
    assert report.bytes_up > 60 * 20
    assert report.photos is None
    assert phone.status("c1") == "synced"
    assert moved(tablet.sync(object_store)) == {"downloaded": 60}
    assert tablet.documents() == added
    assert tablet.records.count({"n": {"gte": 30}}) == 30
    mine, theirs = phone.records.record("c7"), tablet.records.record("c7")
    assert mine == theirs
    agreed(pair, object_store)


def test_the_status_needs_no_network(pair: List[Device], object_store: Remote) -> None:
    phone, _ = pair
    phone.put("c1", n=1)
    status = phone.store.sync_status()
    assert (status.remote, status.user, status.pending, status.last_sync_at) == (None, None, 0, None)
    phone.sync(object_store)
    first = phone.store.sync_status()
    assert (first.user, first.pending) == ("ada", 0)
    assert first.last_sync_at is not None
    phone.put("c1", n=2)
    with pytest.raises(satchel.ForeignFile):
        phone.store.sync(object_store, "somebody")
    assert phone.store.sync_status() == replace(first, pending=1)


def test_changes_and_deletions_travel(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(10)})
    agreed(pair, object_store)
    tablet.put("c1", n=100)
    tablet.put("new", n=200)
    tablet.records.delete("c2")
    assert tablet.status("c1") == "pending"
    assert moved(tablet.sync(object_store)) == {"uploaded": 2, "deleted_remotely": 1}
    assert moved(phone.sync(object_store)) == {"downloaded": 2, "deleted_locally": 1}
    assert phone.records.get("c1") == {"n": 100}
    assert phone.records.get("c2") is None
    phone.put("c2", n=300)
    phone.sync(object_store)
    tablet.sync(object_store)
    assert tablet.records.get("c2") == {"n": 300}
    agreed(pair, object_store)


def test_several_collections_and_relations_travel_in_one_call(
    pair: List[Device], object_store: Remote
) -> None:
    def declare(device: Device) -> None:
        device.store.records("tags")
        device.store.records(
            "lessons",
            relations={"course": "courses", "tags": {"collection": "tags", "many": True}},
        )

    phone, tablet = pair
    declare(phone)
    declare(tablet)
    with phone.store.batch():
        # Records that refer come before those that they refer to.
        for each in range(30):
            lesson = {"course": f"c{each}", "tags": [f"t{each % 3}", "t0"]}
            phone.store.records("lessons").put(f"l{each}", lesson)
            phone.records.put(f"c{each}", {"n": each})
        phone.store.records("tags").put_many({f"t{each}": {} for each in range(3)})
    assert moved(phone.sync(object_store)) == {"uploaded": 63}
    assert moved(tablet.sync(object_store)) == {"downloaded": 63}
    assert everything(tablet.store) == everything(phone.store)
    assert tablet.records.conflicts() == []
    agreed(pair, object_store)


def test_a_batch_arrives_as_a_whole(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    halves = [device.store.records("halves") for device in pair]
    seen: List[Any] = []

    def look(change: Change) -> None:
        if change.subject == "records":
            seen.append((tablet.records.count(), halves[1].count()))

    with tablet.store.observe(look):
        for round in range(5):
            with phone.store.batch():
                phone.records.put(f"c{round}", {"n": round})
                halves[0].put(f"h{round}", {"c": f"c{round}"})
            phone.sync(remote_copy)
            tablet.sync(remote_copy)
    assert seen == [(each, each) for each in range(1, 6)]


@pytest.mark.parametrize(
    "id", ["a/b", ".", "..", ".hidden", "ü 漢", "%2F", "~", "a.json", "x" * 255, "漢" * 85, "@state"]
)
def test_every_id_can_travel(pair: List[Device], remote_copy: Remote, id: str) -> None:
    phone, tablet = pair
    phone.put(id, n=1)
    assert moved(phone.sync(remote_copy)) == {"uploaded": 1}
    tablet.sync(remote_copy)
    assert tablet.documents() == {id: {"n": 1}}
    tablet.records.delete(id)
    tablet.sync(remote_copy)
    assert moved(phone.sync(remote_copy)) == {"deleted_locally": 1}
    agreed(pair, remote_copy)


def test_a_quiet_sync_is_one_request(pair: List[Device], object_store: Remote, tmp_path: Path) -> None:
    phone, tablet = pair
    for name in ("a", "b", "c"):
        phone.store.records(name).put_many({str(each): {"n": each} for each in range(200)})
    phone.sync(object_store)
    tablet.sync(object_store)
    for device in pair:
        report = device.sync(object_store)
        assert report.unchanged
        assert (report.requests, report.bytes_up, report.bytes_down) == (1, 0, 0)
        assert "unchanged" in repr(report)
    phone.records.put_many({f"c{each}": {"n": each} for each in range(30)})
    assert phone.sync(object_store).requests == 2
    assert tablet.sync(object_store).requests == 1
    # A photo catalogue that is bound to the same remote is one request more.
    with phone.store.photos(tmp_path / "holiday") as photos:
        photos.upsert([row(1)])
        photos.sync(object_store, "ada")
    report = phone.sync(object_store)
    assert report.photos is not None
    assert report.photos.unchanged
    assert (report.unchanged, report.requests) == (True, 2)


def test_a_dry_run_names_what_then_moves(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(20)})

    def planned(device: Device) -> Dict[str, str]:
        before = everything(device.store)
        report = device.sync(object_store, dry_run=True)
        assert report.dry_run
        assert report.bytes_up == 0
        assert everything(device.store) == before
        assert report.unchanged is not bool(report.planned)
        again = device.sync(object_store, dry_run=True)
        assert again.planned == report.planned
        assert {each.collection for each in report.planned} <= {"courses"}
        # Merged records are uploaded afterwards.
        return {each.id: each.action for each in reversed(report.planned)}

    assert planned(phone) == {f"c{each}": "upload" for each in range(20)}
    assert phone.sync(object_store).records.uploaded == 20
    assert planned(tablet) == {f"c{each}": "download" for each in range(20)}
    assert tablet.sync(object_store).records.downloaded == 20
    # The tablet learns of these; it has changed some of them itself.
    phone.put("c0", n=100)
    phone.records.delete("c1")
    phone.put("c2", a=1, n=2)
    phone.put("c3", n=103)
    phone.sync(object_store)
    tablet.store.records("courses", on_conflict="merge")
    tablet.put("c2", b=1, n=2)
    tablet.put("new", n=200)
    tablet.records.delete("c4")
    expected = {
        "c0": "download",
        "c1": "delete_locally",
        "c2": "merge",
        "c3": "download",
        "new": "upload",
        "c4": "delete_remotely",
    }
    assert planned(tablet) == expected
    assert moved(tablet.sync(object_store)) == {
        "downloaded": 2,
        "deleted_locally": 1,
        "merged": 1,
        "uploaded": 2,
        "deleted_remotely": 1,
    }
    assert planned(tablet) == {}
    tablet.store.records("courses", on_conflict="ask")
    phone.put("c5", n=105)
    tablet.put("c5", n=205)
    phone.sync(object_store)
    assert planned(tablet)["c5"] == "conflict"
    assert tablet.conflicts() == []


def test_undeclared_collections_wait_for_their_declaration(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    tasks = phone.store.records("tasks")
    tasks.put_many({str(each): {"n": each} for each in range(2500)})
    phone.sync(remote_copy)
    assert moved(tablet.sync(remote_copy)) == {}
    tasks.put("0", {"n": -1})
    tasks.delete("1")
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    assert tablet.sync(remote_copy).requests == 1
    # No network is needed for what is in the store already.
    theirs = tablet.store.records("tasks", indexes=["n"])
    assert documents(theirs) == documents(tasks)
    assert theirs.count({"n": -1}) == 1
    agreed(pair, remote_copy)


def test_a_collection_can_stay_on_its_device(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    drafts = phone.store.records("drafts", synced=False)
    drafts.put("a", {"n": 1})
    assert phone.sync(remote_copy).unchanged
    found = drafts.record("a")
    assert found is not None
    assert found.sync_status == "local"
    infos = {each.name: each for each in phone.store.collections()}
    assert (infos["drafts"].synced, infos["courses"].synced) == (False, True)
    phone.store.records("drafts", synced=True)
    assert moved(phone.sync(remote_copy)) == {"uploaded": 1}
    theirs = tablet.store.records("drafts", synced=False)
    tablet.sync(remote_copy)
    assert theirs.count() == 0
    tablet.store.records("drafts", synced=True)
    tablet.sync(remote_copy)
    assert documents(theirs) == {"a": {"n": 1}}


def test_clearing_travels_and_dropping_does_not(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    trips = phone.store.records("trips")
    for id in ("a", "b"):
        phone.put(id, n=1)
        trips.put(id, {})
    theirs = tablet.store.records("trips")
    agreed(pair, remote_copy)
    assert phone.records.clear() == 2
    assert phone.records.clear() == 0
    trips.put("c", {})
    with pytest.raises(satchel.Conflict):
        phone.store.drop_collection("trips")
    phone.sync(remote_copy)
    phone.store.drop_collection("trips")
    with pytest.raises(satchel.NotFound):
        trips.count()
    with pytest.raises(satchel.NotFound):
        phone.store.drop_collection("trips")
    tablet.sync(remote_copy)
    phone.sync(remote_copy)
    assert tablet.documents() == {}
    assert sorted(theirs.ids()) == ["a", "b", "c"]
    # It returns when it is declared again, without a change of which nothing was sent.
    again = phone.store.records("trips")
    assert sorted(again.ids()) == ["a", "b", "c"]
    again.put("d", {})
    phone.store.drop_collection("trips", discard_unsent=True)
    assert sorted(phone.store.records("trips").ids()) == ["a", "b", "c"]
    agreed(pair, remote_copy)


def test_a_collection_that_others_refer_to_is_neither_dropped_nor_cleared(pair: List[Device]) -> None:
    phone, _ = pair
    lessons = phone.store.records("lessons", relations={"course": "courses"})
    phone.put("a", n=1)
    lessons.put("l", {"course": "a"})
    with pytest.raises(satchel.ConstraintViolation):
        phone.store.drop_collection("courses", discard_unsent=True)
    with pytest.raises(satchel.ConstraintViolation):
        phone.records.clear()
    assert phone.documents() == {"a": {"n": 1}}
    phone.store.drop_collection("lessons", discard_unsent=True)
    phone.store.drop_collection("courses", discard_unsent=True)


def test_users_are_apart_and_a_store_has_one(
    pair: List[Device], object_store: Remote, tmp_path: Path
) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    phone.sync(object_store)
    tablet.sync(object_store, user="bob")
    assert tablet.documents() == {}
    with pytest.raises(satchel.ForeignFile, match="ada"):
        phone.sync(object_store, user="bob")
    with Directory(tmp_path / "other") as other, pytest.raises(satchel.ForeignFile):
        phone.sync(other)
    with pytest.raises(satchel.ForeignFile):
        phone.sync(object_store, user="bob", dry_run=True)
    phone.put("b", n=2)
    assert moved(phone.sync(object_store)) == {"uploaded": 1}


def test_detach_and_bind_again(pair: List[Device], remote_copy: Remote, tmp_path: Path) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    phone.put("b", n=1)
    agreed(pair, remote_copy)
    phone.store.detach()
    phone.store.detach()
    assert phone.status("a") == "local"
    with Directory(tmp_path / "other") as other:
        assert phone.sync(other, user="eve", first="upload").records.uploaded == 2
    phone.store.detach()
    phone.put("a", n=2)
    phone.records.delete("b")
    tablet.clock.advance(60_000)
    tablet.put("c", n=3)
    tablet.sync(remote_copy)
    # Bound again, it compares everything. Records deleted meanwhile return: no device remembers them.
    report = phone.sync(remote_copy, first="upload")
    assert moved(report) == {"uploaded": 1, "downloaded": 2, "conflicts": 1, "lost": 1}
    assert phone.conflicts() == [("a", "lost")], "without a base both have changed it"
    agreed(pair, remote_copy)
    assert tablet.documents() == {"a": {"n": 2}, "b": {"n": 1}, "c": {"n": 3}}


@pytest.mark.parametrize(
    "arguments",
    [
        {"user": ""},
        {"user": "a/b"},
        {"user": ".."},
        {"user": "x" * 129},
        {"user": 5},
        {"parallel": 0},
        {"parallel": 17},
        {"progress": 5},
        {"remote": "/tmp"},
    ],
)
def test_what_is_no_argument_is_refused(pair: List[Device], remote_copy: Remote, arguments: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        pair[0].store.sync(**{"remote": remote_copy, "user": "ada", **arguments})
    for name, value in (("on_conflict", "best"), ("on_conflict", 0)):
        with pytest.raises(satchel.InvalidArgument):
            pair[0].store.records("courses", **{name: value})  # type: ignore[call-overload]


def test_a_remote_needs_an_identity_and_a_store_must_be_writable(
    pair: List[Device], remote_copy: Remote
) -> None:
    host = DictStore()
    phone, _ = pair
    functions = (host.get, host.put, host.head, host.delete, host.list)
    with (
        satchel.remote.Callbacks(*functions) as remote,
        pytest.raises(satchel.InvalidArgument, match="identity"),
    ):
        phone.sync(remote)
    for identity in ("x" * 1025, 5):
        with pytest.raises(satchel.InvalidArgument):
            satchel.remote.Callbacks(*functions, identity=identity)  # type: ignore[arg-type]
    # Two objects with one identity are one remote.
    phone.put("a", n=1)
    for _ in range(2):
        with host.remote() as remote:
            phone.sync(remote)
    with satchel.open(phone.path, read_only=True) as store, pytest.raises(satchel.ReadOnly):
        store.sync(remote_copy, "ada")
    with pytest.raises(satchel.InvalidArgument), phone.store.batch():
        phone.sync(remote_copy)
    with pytest.raises(satchel.InvalidArgument), phone.store.batch():
        phone.store.detach()
