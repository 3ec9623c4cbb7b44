"""Objects of the remote that are deleted, cut or altered: who notices, who repairs them, what is lost."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from pathlib import Path
from typing import Callable, Dict, Iterator, List

import pytest
from hosts import DictStore
from record_devices import Device, Documents, agreed

import satchel
from satchel.remote import Remote, RemoteObject

HEAD = "records/ada/head"


def changed(found: RemoteObject, body: bytes) -> RemoteObject:
    return dataclasses.replace(found, body=body, etag=f'"changed-{len(body)}"')


def flipped(found: RemoteObject) -> RemoteObject:
    body = bytearray(found.body)
    body[len(body) // 2] ^= 1
    return changed(found, bytes(body))


#: Damage of an object.
DAMAGES: Dict[str, Callable[[Dict[str, RemoteObject], str], object]] = {
    "deleted": lambda objects, key: objects.pop(key),
    "empty": lambda objects, key: objects.update({key: changed(objects[key], b"")}),
    "cut": lambda objects, key: objects.update(
        {key: changed(objects[key], bytes(objects[key].body[: len(objects[key].body) // 2]))}
    ),
    "flipped": lambda objects, key: objects.update({key: flipped(objects[key])}),
}


class Log:
    """A host with a log of several packs, and the device that wrote it."""

    def __init__(self, folder: Path) -> None:
        self.host = DictStore()
        self.folder = folder
        self.devices: List[Device] = []
        self.writer = self.device()
        self.remote: Remote = self.host.remote()
        for round in range(4):
            added = {f"{round}-{each}": {"text": os.urandom(200).hex()} for each in range(100)}
            self.writer.records.put_many(added)
            self.writer.sync(self.remote)
        self.writer.put("last", n=1)
        self.writer.sync(self.remote)
        self.documents: Documents = self.writer.documents()

    def device(self) -> Device:
        made = Device(self.folder / f"{len(self.devices)}.satchel")
        self.devices.append(made)
        return made

    def packs(self) -> List[str]:
        return sorted(key for key in self.host.objects if "/p/" in key)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path)
    assert len(log.packs()) == 4
    yield log
    for device in log.devices:
        assert device.store.check() == []
        device.store.close()
    log.remote.close()


def mended(log: Log, key: str, damage: str) -> None:
    """After damage to an object, the next sync of a device that has its content writes it again."""
    DAMAGES[damage](log.host.objects, key)
    joined = log.device()
    with contextlib.suppress(satchel.Damaged):
        joined.sync(log.remote)
    # It may be the one that repairs, or one of the two may notice first.
    for _ in range(2):
        log.writer.sync(log.remote)
    joined.sync(log.remote)
    assert joined.documents() == log.documents
    newcomer = log.device()
    newcomer.sync(log.remote)
    assert newcomer.documents() == log.documents
    agreed([log.writer, joined, newcomer], log.remote)


def test_a_head_that_was_deleted_is_written_again(log: Log) -> None:
    mended(log, HEAD, "deleted")


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped"])
def test_a_head_that_is_damaged_is_written_again(log: Log, damage: str) -> None:
    mended(log, HEAD, damage)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_sealed_head_that_is_damaged_is_written_again(log: Log, damage: str) -> None:
    keys = (bytes(32), bytes(range(32)))
    log.writer.store.rekey(log.remote, "ada", keys[0])
    DAMAGES[damage](log.host.objects, HEAD)
    damaged = log.host.objects.get(HEAD)
    log.writer.put("unsent", n=1)
    for key in (None, keys[1]):
        with pytest.raises(satchel.Unauthorized):
            log.writer.sync(log.remote, key=key, accept_loss=True)
        assert log.host.objects.get(HEAD) == damaged
    log.writer.sync(log.remote, key=keys[0])
    newcomer = log.device()
    newcomer.sync(log.remote, key=keys[0])
    assert newcomer.documents() == {**log.documents, "unsent": {"n": 1}}


@pytest.mark.parametrize(("pack", "damage"), list(enumerate(DAMAGES)))
def test_a_pack_that_is_damaged_is_written_again(log: Log, pack: int, damage: str) -> None:
    mended(log, log.packs()[pack], damage)


def test_all_objects_of_a_remote_can_be_lost(log: Log) -> None:
    log.host.objects.clear()
    with pytest.raises(satchel.Unavailable, match="the remote is empty"):
        log.writer.sync(log.remote)
    report = log.writer.sync(log.remote, recreate=True)
    assert report.ok
    assert report.records.uploaded == 401
    agreed([log.writer, log.device()], log.remote)


@pytest.mark.parametrize(("pack", "damage"), list(enumerate(DAMAGES)))
def test_a_new_device_gets_an_error_that_names_what_is_missing(log: Log, pack: int, damage: str) -> None:
    key = log.packs()[pack]
    name = key.rpartition("/")[2]
    DAMAGES[damage](log.host.objects, key)
    joined = log.device()
    joined.put("own", n=5)
    for options in ({}, {"dry_run": True}):
        with pytest.raises(satchel.Damaged) as caught:
            joined.sync(log.remote, **options)
        assert name in str(caught.value)
        assert "100 entries" in str(caught.value)
        assert joined.documents() == {"own": {"n": 5}}
    # A device whose cursor is the head does not need the pack.
    log.writer.put("later", n=2)
    assert log.writer.sync(log.remote).ok


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_loss_that_is_accepted_is_made_good_by_others(log: Log, damage: str) -> None:
    key = log.packs()[1]
    DAMAGES[damage](log.host.objects, key)
    joined = log.device()
    joined.put("own", n=5)
    report = joined.sync(log.remote, accept_loss=True)
    assert [(each.pack, each.entries) for each in report.losses] == [(key.rpartition("/")[2], 100)]
    assert "losses=1" in repr(report)
    assert len(joined.documents()) == 302
    # The content of the other device is sent again.
    report = log.writer.sync(log.remote)
    assert report.records.uploaded == 100
    agreed(log.devices, log.remote)
    assert joined.documents() == {**log.documents, "own": {"n": 5}}
    newcomer = log.device()
    assert newcomer.sync(log.remote).records.downloaded == 402


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped"])
def test_a_new_device_does_not_replace_a_damaged_head(log: Log, damage: str) -> None:
    log.writer.put("unsent", n=1)
    DAMAGES[damage](log.host.objects, HEAD)
    damaged = log.host.objects[HEAD]
    joined = log.device()
    joined.put("own", n=5)
    for options in ({}, {"dry_run": True}):
        with pytest.raises(satchel.Damaged, match=r"records/ada/head.*has synchronized before"):
            joined.sync(log.remote, **options)
        assert log.host.objects[HEAD] == damaged
    assert joined.sync(log.remote, accept_loss=True).ok
    agreed(log.devices, log.remote)
    assert joined.documents() == {**log.documents, "unsent": {"n": 1}, "own": {"n": 5}}


def test_the_remote_goes_back_to_an_earlier_state(log: Log) -> None:
    """As when a bucket is restored from a copy: nothing that a device has is lost."""
    joined = log.device()
    joined.sync(log.remote)
    earlier = dict(log.host.objects)
    log.writer.put("last", n=2)
    log.writer.put("new", n=3)
    log.writer.sync(log.remote)
    joined.sync(log.remote)
    joined.put("joined", n=4)
    joined.sync(log.remote)
    log.host.objects.clear()
    log.host.objects.update(earlier)
    agreed([joined, log.writer], log.remote)
    expected = {**log.documents, "last": {"n": 2}, "new": {"n": 3}, "joined": {"n": 4}}
    assert log.writer.documents() == expected


@pytest.mark.parametrize(("is_lost", "is_sent"), [(False, True), (True, True), (True, False)])
def test_deletions_survive_a_remote_that_goes_back(log: Log, is_lost: bool, is_sent: bool) -> None:
    joined, late = log.device(), log.device()
    for device in (joined, late):
        device.sync(log.remote)
    earlier = {} if is_lost else dict(log.host.objects)
    log.writer.clock.advance(60_000)
    log.writer.records.delete("0-0")
    if is_sent:
        log.writer.sync(log.remote)
        joined.sync(log.remote)
    log.host.objects.clear()
    log.host.objects.update(earlier)
    # The last one has not heard of the deletion.
    log.writer.sync(log.remote, recreate=is_lost)
    agreed([log.writer, joined, late], log.remote)
    assert "0-0" not in late.documents()


@pytest.mark.parametrize("policy", ["newest_wins", "remote_wins", "local_wins", "merge", "ask"])
def test_what_was_built_on_an_earlier_state_is_no_conflict(log: Log, policy: str) -> None:
    """A bucket that goes back has no version that the devices did not know, however their clocks are."""
    phone, tablet = log.writer, log.device()
    tablet.sync(log.remote)
    for device in (phone, tablet):
        device.store.records("courses", on_conflict=policy)
    earlier = dict(log.host.objects)
    for device, id in ((phone, "0-0"), (tablet, "0-1")):
        device.clock.now -= 3_600_000
        device.records.delete(id)
        device.records.put(f"1{id[1:]}", {"n": 2})
        agreed([phone, tablet], log.remote)
    phone.records.put("last", {"n": 3})
    expected = phone.documents()
    log.host.objects.clear()
    log.host.objects.update(earlier)
    agreed([tablet, phone], log.remote)
    assert phone.documents() == expected
    assert phone.conflicts() == tablet.conflicts() == []


def test_objects_that_no_head_names_do_not_matter(log: Log) -> None:
    names = [f"records/ada/p/{'0' * 31}{each}" for each in range(3)] + ["records/ada/p/x", "records/ada/y"]
    for name in names:
        log.host.objects[name] = RemoteObject(b"?", '"1"')
    log.writer.put("a", n=1)
    assert log.writer.sync(log.remote).ok
    agreed([log.writer, log.device()], log.remote)
