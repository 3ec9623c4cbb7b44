"""Synchronizations that are watched, cancelled or interrupted, and those in which something fails."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Any, List

import pytest
from albums import row
from helpers import interrupted
from hosts import DictStore
from record_devices import Device, agreed, moved

import satchel
from satchel import SyncProgress
from satchel.remote import Remote

MANY = {f"c{each}": {"n": each, "text": os.urandom(300).hex()} for each in range(300)}


def test_progress_is_reported_on_the_thread_that_synchronizes(
    pair: List[Device], object_store: Remote
) -> None:
    phone, tablet = pair
    phone.records.put_many(MANY)
    for device, last in ((phone, "upload"), (tablet, "apply")):
        heard: List[SyncProgress] = []
        threads = set()

        def hear(progress: SyncProgress, heard: Any = heard, threads: Any = threads) -> None:
            heard.append(progress)
            threads.add(threading.get_ident())
            assert phone.records.count() == 300

        device.sync(object_store, progress=hear, parallel=1)
        assert threads == {threading.get_ident()}
        phases = [each.phase for each in heard]
        assert phases[0] == "download"
        assert last in phases
        assert set(phases) <= {"download", "apply", "upload"}
        uploads = [each.done for each in heard if each.phase == "upload"]
        assert uploads[-1:] == [300] * (device is phone)
        for name in ("bytes_up", "bytes_down"):
            numbers = [getattr(each, name) for each in heard]
            assert numbers == sorted(numbers)


@pytest.mark.parametrize("phase", ["download", "apply", "upload"])
def test_false_cancels_in_every_phase(pair: List[Device], object_store: Remote, phase: str) -> None:
    phone, tablet = pair
    phone.records.put_many(MANY)
    phone.sync(object_store)
    tablet.put("own", n=1)
    with pytest.raises(satchel.Cancelled):
        tablet.sync(object_store, progress=lambda progress: progress.phase != phase)
    report = tablet.sync(object_store, progress=lambda progress: None)
    assert report.ok
    assert tablet.documents() == {**MANY, "own": {"n": 1}}
    agreed(pair, object_store)


def test_what_progress_raises_is_raised(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many(MANY)
    enough = ZeroDivisionError("enough")

    def fail(progress: SyncProgress) -> None:
        if progress.phase == "apply":
            raise enough

    with pytest.raises(ZeroDivisionError) as caught:
        phone.sync(object_store, progress=fail)
    assert caught.value is enough
    assert phone.status("c1") == "pending"
    agreed(pair, object_store)
    assert tablet.documents() == MANY


def test_an_interrupt_ends_a_synchronization(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many(MANY)
    interrupted(lambda slow: phone.sync(remote_copy, progress=slow, parallel=1))
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    assert tablet.documents() == MANY


def test_a_synchronization_does_not_begin_in_its_own_callbacks(
    pair: List[Device], remote_copy: Remote, tmp_path: Path
) -> None:
    phone, _ = pair
    photos = phone.store.photos(tmp_path / "holiday")
    photos.upsert([row(1)])
    photos.sync(remote_copy, "ada")
    phone.put("a", n=1)
    calls = {
        "sync": lambda: phone.sync(remote_copy),
        "detach": lambda: phone.store.detach(),
        "photos.sync": lambda: photos.sync(remote_copy, "ada"),
        "photos.verify": lambda: photos.verify(remote_copy, "ada"),
    }
    refused = set()

    def call(progress: object) -> None:
        for name, each in calls.items():
            with pytest.raises(satchel.Busy):
                each()
            refused.add(name)

    phone.sync(remote_copy, progress=call)
    assert refused == set(calls)
    # Nor does a sync of the whole store in a callback of its photos.
    del calls["detach"]
    refused.clear()
    photos.upsert([row(2)])
    photos.sync(remote_copy, "ada", progress=call)
    assert refused == set(calls)


def test_a_host_that_fails_is_the_cause(pair: List[Device]) -> None:
    host = DictStore()
    phone, tablet = pair
    phone.put("a", n=1)
    errors = {
        satchel.remote.AccessDenied("no"): satchel.Unauthorized,
        LookupError("no such drawer"): satchel.SatchelError,
    }
    with host.remote() as remote:
        for raised, expected in errors.items():
            for operation in ("get", "put"):
                host.fail(lambda raised=raised: raised, operation)  # type: ignore[misc]
                with pytest.raises(expected) as caught:
                    phone.sync(remote)
                assert caught.value.__cause__ is raised
                assert phone.documents() == {"a": {"n": 1}}
                assert phone.status("a") in ("local", "pending")
        host.before = lambda operation, key: None
        assert phone.sync(remote).records.uploaded == 1
        tablet.sync(remote)
    assert tablet.documents() == {"a": {"n": 1}}


@pytest.mark.parametrize("operation", ["get", "put", "head", "delete", "list"])
def test_what_breaks_for_a_moment_is_tried_again(pair: List[Device], operation: str) -> None:
    host = DictStore()
    phone, tablet = pair
    with host.remote() as remote:
        for each in range(3):
            phone.records.put_many({f"{each}-{id}": document for id, document in MANY.items()})
            host.fail(lambda: satchel.remote.TransientError("later"), operation, times=2)
            assert phone.sync(remote).ok
            host.fail(lambda: ConnectionError("gone"), operation, times=2)
            assert tablet.sync(remote).ok
        host.before = lambda operation, key: None
        assert len(tablet.documents()) == 900
        agreed(pair, remote)


@pytest.mark.parametrize("is_done", [False, True])
def test_a_write_whose_answer_is_lost(pair: List[Device], is_done: bool) -> None:
    """Of each write in turn the answer is lost, and it has taken effect or not."""
    host = DictStore()
    phone, tablet = pair
    with host.remote() as remote:
        phone.put("first", n=0)
        agreed(pair, remote)
        for number in range(4):
            left = [number]

            def lose(operation: str, key: str, left: List[int] = left) -> None:
                if operation == "put" and "probe" not in key:
                    left[0] -= 1
                    if left[0] == -1:
                        raise satchel.remote.UnknownOutcome("no answer")

            phone.records.put_many({f"{number}-{id}": each for id, each in MANY.items()})
            setattr(host, "after" if is_done else "before", lose)
            assert phone.sync(remote).ok
            host.before = host.after = lambda operation, key: None
            agreed(pair, remote)
        assert len(tablet.documents()) == 1201
        assert phone.conflicts() == tablet.conflicts() == []


def test_a_remote_that_does_not_answer_is_unavailable(pair: List[Device]) -> None:
    host = DictStore()
    phone, _ = pair
    phone.put("a", n=1)
    with host.remote() as remote:
        phone.sync(remote)
        phone.put("a", n=2)
        host.fail(lambda: satchel.remote.TransientError("later"))
        with pytest.raises(satchel.Unavailable):
            phone.sync(remote)
        assert phone.status("a") == "pending"


def test_a_remote_without_conditions_is_refused(pair: List[Device]) -> None:
    host = DictStore()
    phone, _ = pair
    phone.put("a", n=1)

    def ignore(key: str, body: bytes, metadata: Any = None, **conditions: Any) -> str:
        return host.put(key, body, metadata=metadata)

    with (
        satchel.remote.Callbacks(
            host.get, ignore, host.head, host.delete, host.list, identity="careless"
        ) as remote,
        pytest.raises(satchel.InvalidArgument),
    ):
        phone.sync(remote)
    assert phone.status("a") in ("local", "pending")


def test_a_record_that_changes_while_it_is_sent_stays_pending(pair: List[Device]) -> None:
    host = DictStore()
    phone, tablet = pair
    phone.put("a", n=1)
    written: List[str] = []

    def after(operation: str, key: str) -> None:
        if operation == "put" and key.endswith("/head") and not written:
            written.append(key)
            phone.put("a", n=2)
            phone.put("b", n=3)

    host.after = after
    with host.remote() as remote:
        phone.sync(remote)
        assert written == ["records/ada/head"]
        assert phone.documents() == {"a": {"n": 2}, "b": {"n": 3}}
        phone.sync(remote)
        assert phone.status("a") == phone.status("b") == "synced"
        tablet.sync(remote)
    assert tablet.documents() == {"a": {"n": 2}, "b": {"n": 3}}


@pytest.mark.filterwarnings("ignore::satchel.LargeStringWarning")
def test_a_document_that_is_too_large_does_not_stop_the_others(
    pair: List[Device], remote_copy: Remote
) -> None:
    phone, tablet = pair
    phone.records.put("large", b'{"text":"' + b"x" * (33 << 20) + b'"}')
    phone.put("small", n=1)
    report = phone.sync(remote_copy)
    assert not report.ok
    [failure] = report.failed
    assert (failure.collection, failure.id) == ("courses", "large")
    assert failure.code.startswith("E")
    assert "courses/large" in failure.message
    assert report.records.uploaded == 1
    assert "failed=1" in repr(report)
    assert phone.status("large") == "pending"
    # It is named each time, also while it is not tried again.
    assert phone.sync(remote_copy).failed == report.failed
    tablet.sync(remote_copy)
    assert tablet.documents() == {"small": {"n": 1}}
    # A bound store refuses what it could never send, and so does a collection that is to be synchronized.
    large = b'{"text":"' + b"y" * (33 << 20) + b'"}'
    with satchel.open(":memory:") as guest:
        for refused in (phone.records, guest.records("films", synced=True)):
            with pytest.raises(satchel.InvalidArgument, match="33554432") as caught:
                refused.put("other", large)
            assert (caught.value.id, caught.value.limit) == ("other", 32 << 20)
            assert refused.get("other") is None
    phone.put("large", n=2)
    assert moved(phone.sync(remote_copy)) == {"uploaded": 1}
    agreed(pair, remote_copy)


def test_a_conflict_about_a_version_that_the_remote_has_lost_ends(tmp_path: Path) -> None:
    host = DictStore()
    one, two = (Device(tmp_path / f"{name}.satchel", on_conflict="ask") for name in "ab")
    one.put("swift", n=1)
    agreed([one, two], host.remote())
    snapshot = dict(host.objects)
    one.put("swift", n=2)
    one.sync(host.remote())
    two.put("swift", n=3)
    two.sync(host.remote())
    assert two.conflicts() == [("swift", "open")]
    # The bucket is put back from a snapshot, in which the other version never was; its device is gone.
    host.objects = snapshot
    for _ in range(2):
        two.sync(host.remote(), accept_loss=True)
    assert two.conflicts() == [("swift", "lost")]
    assert two.status("swift") == "synced"
    three = Device(tmp_path / "c.satchel")
    agreed([two, three], host.remote())
    assert three.documents() == {"swift": {"n": 3}}
    for device in (one, two, three):
        device.store.close()


def test_a_version_that_waits_is_kept_as_a_lost_one_when_the_remote_loses_it(tmp_path: Path) -> None:
    remote = DictStore().remote()
    unique = [satchel.records.Index("code", unique=True)]
    with satchel.open(tmp_path / "phone.satchel") as store:
        store.records("courses", indexes=unique).put("maths", {"code": "q"})
        store.sync(remote, "ada")
    with satchel.open(tmp_path / "tablet.satchel") as store:
        courses = store.records("courses", indexes=unique)
        courses.put("music", {"code": "q"})
        store.sync(remote, "ada")
        assert [each.kind for each in courses.conflicts()] == ["waiting"]
        remote.delete("records/ada/head")
        for _ in range(2):
            store.sync(remote, "ada", recreate=True)
        [conflict] = courses.conflicts()
        assert (conflict.kind, conflict.record, conflict.remote) == ("lost", "maths", {"code": "q"})
        courses.delete("music")
        courses.resolve(conflict, "remote")
        assert courses.get("maths") == {"code": "q"}
        assert list(courses.conflicts()) == []


def test_a_copy_of_a_store_is_another_device_also_before_its_first_upload(tmp_path: Path) -> None:
    host = DictStore()
    remote = host.remote()
    stores = [tmp_path / f"{name}.satchel" for name in ("phone", "copy")]

    def seen(path: Path, *, add: str = "") -> List[str]:
        with satchel.open(path) as store:
            marks = store.state.members("marks", synced=True)
            if add:
                marks.add(add)
            else:
                store.sync(remote, "ada", recreate=True)
            return sorted(marks)

    seen(stores[0])
    shutil.copyfile(stores[0], stores[1])
    seen(stores[0], add="phone's")
    for mark in ("copy's", "copy's second"):
        seen(stores[1], add=mark)
        seen(stores[1])
    host.objects.clear()
    for path in (stores[0], stores[1], stores[0]):
        seen(path)
    assert [seen(path) for path in stores] == [["copy's", "copy's second", "phone's"]] * 2
