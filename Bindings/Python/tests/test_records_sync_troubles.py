"""Synchronizations that are watched, cancelled or interrupted, and those in which something fails."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import List

import pytest
from hosts import DictStore
from record_devices import Device, moved

import satchel
from satchel.records import SyncProgress
from satchel.remote import Remote


def test_progress_is_reported_on_the_thread_that_synchronizes(
    pair: List[Device], remote_copy: Remote
) -> None:
    phone, _ = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(100)})
    heard: List[SyncProgress] = []
    threads = set()

    def hear(progress: SyncProgress) -> None:
        heard.append(progress)
        threads.add(threading.get_ident())
        assert phone.records.count() == 100

    phone.records.sync(remote_copy, "ada", progress=hear, parallel=1)
    assert threads == {threading.get_ident()}
    assert {each.phase for each in heard} <= {"list", "records"}
    assert heard[-1].records_done == heard[-1].records_total == 100
    assert [each.bytes_up for each in heard] == sorted(each.bytes_up for each in heard)


def test_false_cancels_and_what_is_raised_is_raised(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(100)})
    with pytest.raises(satchel.Cancelled):
        phone.records.sync(remote_copy, "ada", progress=lambda progress: False)
    enough = ZeroDivisionError("enough")

    def fail(progress: SyncProgress) -> None:
        if progress.records_done >= 10:
            raise enough

    with pytest.raises(ZeroDivisionError) as caught:
        phone.records.sync(remote_copy, "ada", progress=fail)
    assert caught.value is enough
    phone.records.sync(remote_copy, "ada")
    tablet.records.sync(remote_copy, "ada")
    assert tablet.documents() == {f"c{each}": {"n": each} for each in range(100)}


def test_an_interrupt_ends_a_synchronization(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(100)})
    begun = threading.Event()

    def slow(progress: SyncProgress) -> None:
        begun.set()
        time.sleep(0.2)

    def interrupt() -> None:
        assert begun.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        phone.records.sync(remote_copy, "ada", progress=slow, parallel=1)
    thread.join()
    phone.records.sync(remote_copy, "ada")
    tablet.records.sync(remote_copy, "ada")
    assert tablet.documents() == {f"c{each}": {"n": each} for each in range(100)}


def test_a_record_that_fails_does_not_stop_the_others(pair: List[Device]) -> None:
    host = DictStore()
    raised = LookupError("no such drawer")
    phone, tablet = pair
    ids = ["a", "b/ü", ".c", "d~"]
    phone.records.put_many({id: {"id": id} for id in ids})
    with host.remote() as remote:
        host.fail(lambda: raised, "put", "b%2F")
        report = phone.records.sync(remote, "ada")
        assert not report.ok
        assert [(each.id, each.cause) for each in report.failed] == [("b/ü", raised)]
        assert report.failed[0].code.startswith("E")
        assert "no such drawer" in report.failed[0].message
        assert report.uploaded == 3
        assert phone.status("b/ü") == "pending"
        host.before = lambda operation, key: None
        # It waits for a while before it is tried again.
        phone.clock.advance(3_600_000)
        assert moved(phone.records.sync(remote, "ada")) == {"uploaded": 1}

        def before(operation: str, key: str) -> None:
            if operation == "get" and ("%2Ec" in key or "d%7E" in key):
                raise raised

        host.before = before
        report = tablet.records.sync(remote, "ada")
        assert [(each.id, each.cause) for each in report.failed] == [(".c", raised), ("d~", raised)]
        assert report.downloaded == 2
        host.before = lambda operation, key: None
        # Before its time it fails still, and says why.
        assert [each.id for each in tablet.records.sync(remote, "ada").failed] == [".c", "d~"]
        tablet.clock.advance(3_600_000)
        assert tablet.records.sync(remote, "ada").ok
    assert tablet.documents() == {id: {"id": id} for id in ids}


def test_a_remote_that_denies_access_changes_nothing(pair: List[Device]) -> None:
    host = DictStore()
    phone, tablet = pair
    phone.put("a", n=1)
    with host.remote() as remote:
        host.fail(lambda: satchel.remote.AccessDenied("no"))
        with pytest.raises(satchel.Unauthorized) as caught:
            phone.records.sync(remote, "ada")
        assert isinstance(caught.value.__cause__, satchel.remote.AccessDenied)
        assert phone.documents() == {"a": {"n": 1}}
        host.before = lambda operation, key: None
        phone.clock.advance(3_600_000)
        assert phone.records.sync(remote, "ada").uploaded == 1
        tablet.records.sync(remote, "ada")
    assert tablet.documents() == {"a": {"n": 1}}


def test_a_record_that_changes_while_it_is_sent_stays_pending(pair: List[Device]) -> None:
    host = DictStore()
    phone, tablet = pair
    phone.put("a", n=1)
    written: List[str] = []

    def after(operation: str, key: str) -> None:
        if operation == "put" and key.endswith("/a.json") and not written:
            written.append(key)
            phone.put("a", n=2)

    host.after = after
    with host.remote() as remote:
        phone.records.sync(remote, "ada")
        assert written == ["records/ada/courses/a.json"]
        assert phone.status("a") == "pending"
        assert phone.documents() == {"a": {"n": 2}}
        assert phone.records.sync(remote, "ada").uploaded == 1
        tablet.records.sync(remote, "ada")
    assert tablet.documents() == {"a": {"n": 2}}


def test_what_is_no_envelope_fails_alone(pair: List[Device], remote_copy: Remote, tmp_path: Path) -> None:
    phone, tablet = pair
    phone.records.put_many({"a": {"n": 1}, "b": {"n": 2}})
    phone.records.sync(remote_copy, "ada")
    file = tmp_path / "remote_copy/records/ada/courses/a.json"
    for text in (b"", b"no json", b"{}", file.read_bytes().replace(b'"a"', b'"z"')):
        file.write_bytes(text)
        report = tablet.records.sync(remote_copy, "ada")
        assert [each.id for each in report.failed] == ["a"]
        assert tablet.documents() == {"b": {"n": 2}}
        tablet.clock.advance(3_600_000)
