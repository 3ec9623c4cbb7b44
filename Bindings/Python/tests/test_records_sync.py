"""Two devices and a remote copy come into agreement: additions, changes, deletions, users."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, List
from urllib.parse import unquote

import pytest
from albums import together
from hosts import DictStore
from record_devices import Device, agreed, moved

import satchel
from satchel.remote import Directory, Remote


def test_what_one_device_adds_the_other_gets(pair: List[Device], remote_copy: Remote, tmp_path: Path) -> None:
    phone, tablet = pair
    documents = {f"c{each}": {"n": each, "text": "ü" * each} for each in range(60)}
    phone.records.put_many(documents)
    assert phone.status("c1") == "local"
    report = phone.records.sync(remote_copy, "ada")
    assert moved(report) == {"uploaded": 60}
    assert report.bytes_up > 60 * 20
    assert phone.status("c1") == "synced"
    assert phone.store.collections()[0].user == "ada"
    assert moved(tablet.records.sync(remote_copy, "ada")) == {"downloaded": 60}
    assert tablet.documents() == documents
    assert tablet.records.count({"n": {"gte": 30}}) == 30
    files = sorted((tmp_path / "remote_copy/records/ada/courses").glob("*.json"))
    assert [each.name for each in files] == sorted(f"c{each}.json" for each in range(60))
    envelope = json.loads(files[0].read_bytes())
    assert envelope["id"] == "c0"
    assert envelope["document"] == {"n": 0, "text": ""}
    assert envelope["deleted"] is False
    agreed(pair, remote_copy)


def test_changes_and_deletions_travel(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(10)})
    agreed(pair, remote_copy)
    tablet.put("c1", n=100)
    tablet.put("new", n=200)
    tablet.records.delete("c2")
    assert tablet.status("c1") == "pending"
    assert moved(tablet.records.sync(remote_copy, "ada")) == {"uploaded": 2, "deleted_remotely": 1}
    assert moved(phone.records.sync(remote_copy, "ada")) == {"downloaded": 2, "deleted_locally": 1}
    assert phone.records.get("c1") == {"n": 100}
    assert phone.records.get("c2") is None
    phone.put("c2", n=300)
    phone.records.sync(remote_copy, "ada")
    tablet.records.sync(remote_copy, "ada")
    assert tablet.records.get("c2") == {"n": 300}
    agreed(pair, remote_copy)


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
        assert moved(phone.records.sync(remote, "ada")) == {"deleted_locally": 1}
        agreed(pair, remote)


def test_a_dry_run_transfers_nothing(pair: List[Device], remote_copy: Remote, tmp_path: Path) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(20)})

    def files() -> List[str]:
        return sorted(str(each) for each in (tmp_path / "remote_copy").rglob("*.json"))

    told = phone.records.sync(remote_copy, "ada", dry_run=True)
    assert told.dry_run
    assert told.uploaded == 20
    assert files() == []
    assert phone.records.sync(remote_copy, "ada").uploaded == 20
    told = tablet.records.sync(remote_copy, "ada", dry_run=True)
    assert told.downloaded == 20
    assert tablet.documents() == {}
    assert tablet.records.sync(remote_copy, "ada").downloaded == 20


def test_users_and_collections_are_apart(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    phone.records.sync(remote_copy, "ada")
    tasks = phone.store.records("tasks")
    tasks.put("a", {"task": True})
    tasks.sync(remote_copy, "ada")
    tablet.records.sync(remote_copy, "bob")
    assert tablet.documents() == {}
    others = tablet.store.records("tasks")
    others.sync(remote_copy, "ada")
    assert others.get("a") == {"task": True}


def test_another_user_is_refused_until_detached(pair: List[Device], remote_copy: Remote) -> None:
    phone, _ = pair
    phone.put("a", n=1)
    phone.records.sync(remote_copy, "ada")
    with pytest.raises(satchel.ForeignFile, match=r"ada.*bob"):
        phone.records.sync(remote_copy, "bob")
    phone.records.detach()
    assert phone.records.sync(remote_copy, "bob").uploaded == 1


def test_detach_forgets_what_was_synchronized(
    pair: List[Device], remote_copy: Remote, tmp_path: Path
) -> None:
    phone, tablet = pair
    phone.put("a", n=1)
    phone.records.sync(remote_copy, "ada")
    phone.records.detach()
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
        {"on_conflict": "best"},
        {"on_conflict": 0},
        {"parallel": 0},
        {"parallel": 17},
        {"progress": 5},
        {"remote": "/tmp"},
    ],
)
def test_what_is_no_argument_is_refused(pair: List[Device], remote_copy: Remote, arguments: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        pair[0].records.sync(**{"remote": remote_copy, "user": "ada", **arguments})


def test_threads_synchronize_and_change_at_once(pair: List[Device], remote_copy: Remote) -> None:
    def change(device: Device, first: int) -> None:
        for each in range(first, first + 60):
            device.records.put(f"c{each}", {"n": each})

    def sync(device: Device) -> None:
        for _ in range(5):
            device.records.sync(remote_copy, "ada", on_conflict="merge")

    changes = [functools.partial(change, device, 1000 * each) for each, device in enumerate(pair)]
    together(*changes, *(functools.partial(sync, device) for device in (*pair, pair[0])))
    for device in pair:
        # What failed, since it changed too fast, waits no longer.
        device.clock.advance(3_600_000)
    agreed(pair, remote_copy, on_conflict="merge")
    assert pair[0].documents() == {f"c{each}": {"n": each} for each in (*range(60), *range(1000, 1060))}
