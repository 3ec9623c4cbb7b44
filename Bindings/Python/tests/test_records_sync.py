"""Two devices and a master copy: agreement, strategies, conflicts, deletions, failures, interrupts."""

from __future__ import annotations

import functools
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List
from urllib.parse import unquote

import pytest
from albums import together
from helpers import Clock
from hosts import DictStore

import satchel
from satchel import Records
from satchel.records import SyncProgress, SyncReport
from satchel.remote import Directory, Remote

Collection = Records[Dict[str, Any]]


class Device:
    """A store of its own, with a clock of its own."""

    def __init__(self, path: Path) -> None:
        self.clock = Clock()
        self.store = satchel.open(path, clock=self.clock)
        self.records: Collection = self.store.records("courses", indexes=["n"])

    def documents(self) -> Dict[str, Any]:
        return {each.id: each.document for each in self.records.list()}

    def put(self, id: str, **members: Any) -> None:
        """Each change is later than all before it, on this device."""
        self.clock.advance(1000)
        self.records.put(id, members)

    def status(self, id: str) -> str:
        found = self.records.record(id)
        assert found is not None
        return found.sync_status


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[List[Device]]:
    pair = [Device(tmp_path / f"device-{each}.satchel") for each in range(2)]
    yield pair
    for device in pair:
        if not device.store.closed:
            assert device.store.check() == []
            device.store.close()


NOTHING = {"downloaded": 0, "uploaded": 0, "deleted_here": 0, "deleted_there": 0, "merged": 0, "conflicts": 0}


def moved(report: SyncReport) -> Dict[str, int]:
    """What a report has that is not 0."""
    assert report.ok, report.failed
    return {name: getattr(report, name) for name in NOTHING if getattr(report, name)}


def agreed(pair: List[Device], master: Remote, **options: Any) -> None:
    """Brings both into agreement, until nothing moves any more."""
    for _ in range(2):
        for device in pair:
            assert device.records.sync(master, "ada", **options).ok
    for device in pair:
        report = device.records.sync(master, "ada", **options)
        assert moved(report) == {}
        # Those that were deleted are objects, too.
        assert report.unchanged >= len(device.documents())
    assert pair[0].documents() == pair[1].documents()


def test_what_one_device_adds_the_other_gets(pair: List[Device], master: Remote, tmp_path: Path) -> None:
    phone, tablet = pair
    documents = {f"c{each}": {"n": each, "text": "ü" * each} for each in range(60)}
    phone.records.put_many(documents)
    assert phone.status("c1") == "local"
    report = phone.records.sync(master, "ada")
    assert moved(report) == {"uploaded": 60}
    assert report.bytes_up > 60 * 20
    assert phone.status("c1") == "synced"
    assert phone.store.collections()[0].user == "ada"
    assert moved(tablet.records.sync(master, "ada")) == {"downloaded": 60}
    assert tablet.documents() == documents
    assert tablet.records.count({"n": {"gte": 30}}) == 30
    files = sorted((tmp_path / "master/records/ada/courses").glob("*.json"))
    assert [each.name for each in files] == sorted(f"c{each}.json" for each in range(60))
    envelope = json.loads(files[0].read_bytes())
    assert envelope["id"] == "c0"
    assert envelope["document"] == {"n": 0, "text": ""}
    assert envelope["deleted"] is False
    agreed(pair, master)


def test_changes_and_deletions_travel(pair: List[Device], master: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(10)})
    agreed(pair, master)
    tablet.put("c1", n=100)
    tablet.put("new", n=200)
    tablet.records.delete("c2")
    assert tablet.status("c1") == "pending"
    assert moved(tablet.records.sync(master, "ada")) == {"uploaded": 2, "deleted_there": 1}
    assert moved(phone.records.sync(master, "ada")) == {"downloaded": 2, "deleted_here": 1}
    assert phone.records.get("c1") == {"n": 100}
    assert phone.records.get("c2") is None
    phone.put("c2", n=300)
    phone.records.sync(master, "ada")
    tablet.records.sync(master, "ada")
    assert tablet.records.get("c2") == {"n": 300}
    agreed(pair, master)


@pytest.mark.parametrize(
    "id", ["a/b", ".", "..", ".hidden", "ü 漢", "%2F", "~", "a.json", "x" * 255, "漢" * 85]
)
def test_every_id_can_travel(pair: List[Device], id: str) -> None:
    host = DictStore()
    phone, tablet = pair
    with host.remote() as remote:
        phone.put(id, n=1)
        assert moved(phone.records.sync(remote, "ada")) == {"uploaded": 1}
        [key] = [key for key in host.objects if key.startswith("records/ada/courses/")]
        assert unquote(key[len("records/ada/courses/") : -len(".json")]) == id
        tablet.records.sync(remote, "ada")
        assert tablet.documents() == {id: {"n": 1}}
        tablet.records.delete(id)
        tablet.records.sync(remote, "ada")
        assert moved(phone.records.sync(remote, "ada")) == {"deleted_here": 1}
        agreed(pair, remote)


def disagree(pair: List[Device], master: Remote) -> None:
    """Both change the same record, the tablet later; the phone's change is there first."""
    phone, tablet = pair
    phone.put("c", a=1, b=1, o={"x": 1, "y": 1})
    agreed(pair, master)
    phone.put("c", a=2, b=1, o={"x": 2, "y": 1})
    tablet.clock.now = phone.clock.now + 60_000
    tablet.put("c", a=1, b=3, o={"x": 3, "y": 3})
    phone.records.sync(master, "ada")


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
    pair: List[Device], master: Remote, strategy: str, winner: Dict[str, Any], lost: bool
) -> None:
    phone, tablet = pair
    disagree(pair, master)
    report = tablet.records.sync(master, "ada", strategy=strategy)
    assert report.ok
    assert report.merged == (strategy == "merge")
    assert tablet.documents() == {"c": winner}
    conflicts = tablet.records.conflicts()
    assert [(each.record, each.kind, each.local) for each in conflicts] == [("c", "lost", TABLET)] * lost
    phone.records.sync(master, "ada", strategy=strategy)
    assert phone.documents() == {"c": winner}
    agreed(pair, master, strategy=strategy)


def test_newest_wins_on_the_older_side_keeps_what_was_lost(pair: List[Device], master: Remote) -> None:
    phone, tablet = pair
    phone.put("c", n=1)
    agreed(pair, master)
    tablet.put("c", n=2)
    phone.clock.now = tablet.clock.now + 60_000
    phone.put("c", n=3)
    phone.records.sync(master, "ada")
    tablet.records.sync(master, "ada")
    assert tablet.documents() == {"c": {"n": 3}}
    [conflict] = tablet.records.conflicts()
    assert (conflict.kind, conflict.record) == ("lost", "c")
    assert (conflict.local, conflict.remote, conflict.base) == ({"n": 2}, {"n": 3}, {"n": 1})
    tablet.records.resolve(conflict, "local")
    assert tablet.documents() == {"c": {"n": 2}}
    assert tablet.records.conflicts() == []
    with pytest.raises(satchel.NotFound):
        tablet.records.resolve(conflict, "local")
    tablet.records.sync(master, "ada")
    agreed(pair, master)
    assert phone.documents() == {"c": {"n": 2}}


RESOLUTIONS: Dict[str, Any] = {
    "local": ({"keep": "local"}, TABLET),
    "remote": ({"keep": "remote"}, PHONE),
    "document": ({"document": {"n": 9}}, {"n": 9}),
    "text": ({"document": b'{"n":9.50}'}, {"n": 9.5}),
    "deleted": ({"document": None}, None),
}


@pytest.mark.parametrize("name", RESOLUTIONS)
def test_the_host_can_be_asked(pair: List[Device], master: Remote, name: str) -> None:
    arguments, winner = RESOLUTIONS[name]
    phone, tablet = pair
    disagree(pair, master)
    report = tablet.records.sync(master, "ada", strategy="ask")
    assert report.conflicts == 1
    assert tablet.status("c") == "conflict"
    assert tablet.documents() == {"c": TABLET}
    [conflict] = tablet.records.conflicts()
    assert (conflict.record, conflict.kind) == ("c", "open")
    assert (conflict.local, conflict.remote) == (TABLET, PHONE)
    assert conflict.base == {"a": 1, "b": 1, "o": {"x": 1, "y": 1}}
    assert conflict.happened_at.year >= 2024
    # It waits, and does not move.
    assert tablet.records.sync(master, "ada", strategy="ask").uploaded == 0
    assert len(tablet.records.conflicts()) == 1
    tablet.records.resolve(conflict if name == "local" else conflict.id, **arguments)
    assert tablet.records.conflicts() == []
    assert tablet.records.get("c") == winner
    tablet.records.sync(master, "ada", strategy="ask")
    phone.records.sync(master, "ada", strategy="ask")
    agreed(pair, master, strategy="ask")
    assert phone.records.get("c") == winner


@pytest.mark.parametrize(
    "arguments", [{}, {"keep": "mine"}, {"keep": "local", "document": {}}, {"document": 5}]
)
def test_what_is_no_resolution_is_refused(pair: List[Device], master: Remote, arguments: Any) -> None:
    disagree(pair, master)
    pair[1].records.sync(master, "ada", strategy="ask")
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


def test_an_edit_outlives_a_deletion_in_a_merge(pair: List[Device], master: Remote) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    phone.put("b", n=1)
    agreed(pair, master)
    phone.records.delete("a")
    phone.put("b", n=2)
    tablet.put("a", n=3)
    tablet.records.delete("b")
    agreed(pair, master, strategy="merge")
    assert phone.documents() == {"a": {"n": 3}, "b": {"n": 2}}


def test_a_dry_run_tells_and_moves_nothing(pair: List[Device], master: Remote, tmp_path: Path) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(20)})

    def files() -> List[str]:
        return sorted(str(each) for each in (tmp_path / "master").rglob("*.json"))

    told = phone.records.sync(master, "ada", dry_run=True)
    assert told.dry_run
    assert told.uploaded == 20
    assert files() == []
    assert phone.records.sync(master, "ada").uploaded == 20
    told = tablet.records.sync(master, "ada", dry_run=True)
    assert told.downloaded == 20
    assert tablet.documents() == {}
    assert tablet.records.sync(master, "ada").downloaded == 20


def test_progress_is_told_on_the_thread_that_synchronises(pair: List[Device], master: Remote) -> None:
    phone, _ = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(100)})
    heard: List[SyncProgress] = []
    threads = set()

    def hear(progress: SyncProgress) -> None:
        heard.append(progress)
        threads.add(threading.get_ident())
        assert phone.records.count() == 100

    phone.records.sync(master, "ada", progress=hear, parallel=1)
    assert threads == {threading.get_ident()}
    assert {each.phase for each in heard} <= {"list", "records"}
    assert heard[-1].records_done == heard[-1].records_total == 100
    assert [each.bytes_up for each in heard] == sorted(each.bytes_up for each in heard)


def test_false_cancels_and_what_is_raised_is_raised(pair: List[Device], master: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(100)})
    with pytest.raises(satchel.Cancelled):
        phone.records.sync(master, "ada", progress=lambda progress: False)
    enough = ZeroDivisionError("enough")

    def fail(progress: SyncProgress) -> None:
        if progress.records_done >= 10:
            raise enough

    with pytest.raises(ZeroDivisionError) as caught:
        phone.records.sync(master, "ada", progress=fail)
    assert caught.value is enough
    phone.records.sync(master, "ada")
    tablet.records.sync(master, "ada")
    assert tablet.documents() == {f"c{each}": {"n": each} for each in range(100)}


def test_an_interrupt_ends_a_synchronisation(pair: List[Device], master: Remote) -> None:
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
        phone.records.sync(master, "ada", progress=slow, parallel=1)
    thread.join()
    phone.records.sync(master, "ada")
    tablet.records.sync(master, "ada")
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


def test_a_store_that_does_not_answer_changes_nothing(pair: List[Device]) -> None:
    host = DictStore()
    phone, tablet = pair
    phone.put("a", n=1)
    with host.remote() as remote:
        host.fail(lambda: satchel.remote.AccessDenied("no"))
        with pytest.raises(satchel.SatchelError) as caught:
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


def test_users_and_collections_are_apart(pair: List[Device], master: Remote) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    phone.records.sync(master, "ada")
    tasks = phone.store.records("tasks")
    tasks.put("a", {"task": True})
    tasks.sync(master, "ada")
    tablet.records.sync(master, "bob")
    assert tablet.documents() == {}
    others = tablet.store.records("tasks")
    others.sync(master, "ada")
    assert others.get("a") == {"task": True}


def test_another_user_is_refused_until_it_is_unlinked(pair: List[Device], master: Remote) -> None:
    phone, _ = pair
    phone.put("a", n=1)
    phone.records.sync(master, "ada")
    with pytest.raises(satchel.ForeignFile, match=r"ada.*bob"):
        phone.records.sync(master, "bob")
    phone.records.unlink()
    assert phone.records.sync(master, "bob").uploaded == 1


def test_unlink_forgets_the_agreement(pair: List[Device], master: Remote, tmp_path: Path) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    phone.records.sync(master, "ada")
    phone.records.unlink()
    assert phone.store.collections()[0].user is None
    assert phone.status("a") == "local"
    with Directory(tmp_path / "other") as other:
        assert phone.records.sync(other, "eve").uploaded == 1
        tablet.records.sync(other, "eve")
    assert tablet.documents() == {"a": {"n": 1}}


@pytest.mark.parametrize(
    "arguments",
    [
        {"user": ""},
        {"user": "a/b"},
        {"user": ".."},
        {"user": "x" * 129},
        {"user": 5},
        {"strategy": "best"},
        {"strategy": 0},
        {"parallel": 0},
        {"parallel": 17},
        {"progress": 5},
        {"remote": "/tmp"},
    ],
)
def test_what_is_no_argument_is_refused(pair: List[Device], master: Remote, arguments: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        pair[0].records.sync(**{"remote": master, "user": "ada", **arguments})


def test_what_is_no_envelope_fails_alone(pair: List[Device], master: Remote, tmp_path: Path) -> None:
    phone, tablet = pair
    phone.records.put_many({"a": {"n": 1}, "b": {"n": 2}})
    phone.records.sync(master, "ada")
    file = tmp_path / "master/records/ada/courses/a.json"
    for text in (b"", b"no json", b"{}", file.read_bytes().replace(b'"a"', b'"z"')):
        file.write_bytes(text)
        report = tablet.records.sync(master, "ada")
        assert [each.id for each in report.failed] == ["a"]
        assert tablet.documents() == {"b": {"n": 2}}
        tablet.clock.advance(3_600_000)


def test_threads_synchronise_and_change_at_once(pair: List[Device], master: Remote) -> None:
    def change(device: Device, first: int) -> None:
        for each in range(first, first + 60):
            device.records.put(f"c{each}", {"n": each})

    def sync(device: Device) -> None:
        for _ in range(5):
            device.records.sync(master, "ada", strategy="merge")

    changes = [functools.partial(change, device, 1000 * each) for each, device in enumerate(pair)]
    together(*changes, *(functools.partial(sync, device) for device in (*pair, pair[0])))
    for device in pair:
        # What failed, since it changed too fast, waits no longer.
        device.clock.advance(3_600_000)
    agreed(pair, master, strategy="merge")
    assert pair[0].documents() == {f"c{each}": {"n": each} for each in (*range(60), *range(1000, 1060))}
