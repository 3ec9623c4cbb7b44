"""Every object of a real sync log in a directory is deleted, cut, altered or replaced, one at a time.

The next synchronization of a device that has the object's content writes it again; a device that has not gets
an error that names what is missing, and takes nothing that no device has written; in the end all are equal.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Set, Tuple

import pytest
from helpers import portion_of

import satchel
from satchel import StoreSyncReport
from satchel.remote import Directory

USER = "ada"
HEAD = f"records/{USER}/head"
COLLECTIONS = ["books", "notes"]
COMMITS, CHANGES = 60, 60
#: The last commit that the late device has read.
SEEN = 48
#: Damage of a pack.
KINDS = ["deleted", "cut", "flipped", "replaced"]
Id = Tuple[str, str]


class Device:
    """A store of two collections, as far as it is needed."""

    def __init__(self, path: Path) -> None:
        self.store = satchel.open(path)
        self.collections = {name: self.store.records(name) for name in COLLECTIONS}

    def sync(self, remote: Directory, **options: bool) -> StoreSyncReport:
        report = self.store.sync(remote, USER, **options)
        assert report.ok
        return report

    def texts(self) -> Dict[Id, bytes]:
        return {
            (name, id): each.text(id) or b"" for name, each in self.collections.items() for id in each.ids()
        }


class Log:
    """A log with many packs, the devices that made it, and all that was ever there."""

    def __init__(self, folder: Path) -> None:
        self.template, self.folder = folder / "template", folder / "work"
        self.folder.mkdir()
        self.dice = random.Random(20)
        #: Of each record what was written.
        self.written: Dict[Id, Set[bytes]] = defaultdict(set)
        self.expected: Dict[Id, bytes] = {}
        #: The heads, oldest first.
        self.heads: List[bytes] = []
        self.devices: List[Device] = []
        self.remote = Directory(self.folder / "remote")
        for name in ("one", "other", "late"):
            self.open(name)
        for commit in range(COMMITS):
            self.write(self.devices[commit % 2])
            if commit == SEEN:
                self.devices[2].sync(self.remote)
        # A small one, so that the head has entries of its own.
        self.write(self.devices[0], 5)
        self.close()
        self.folder.rename(self.template)
        head = json.loads(self.heads[-1].partition(b"\n")[0])
        self.packs: List[str] = [each["name"] for each in head["packs"]]

    def write(self, device: Device, changes: int = CHANGES) -> None:
        """Changes and deletions of a device that has read all others, in a commit of its own."""
        device.sync(self.remote)
        with device.store.batch():
            for each in self.dice.sample(range(900), changes):
                key = (self.dice.choice(COLLECTIONS), f"r{each}")
                if self.dice.random() < 0.1:
                    device.collections[key[0]].delete(key[1])
                    self.expected.pop(key, None)
                    continue
                text = json.dumps({"text": self.dice.randbytes(90).hex(), "n": each}).encode()
                device.collections[key[0]].put(key[1], text)
                self.expected[key] = text
                self.written[key].add(text)
        device.sync(self.remote)
        self.heads.append((self.folder / "remote" / HEAD).read_bytes())

    def open(self, name: str) -> Device:
        device = Device(self.folder / f"{name}.satchel")
        self.devices.append(device)
        return device

    def close(self) -> None:
        for device in self.devices:
            device.store.close()
        self.devices.clear()
        self.remote.close()

    def renew(self) -> List[Device]:
        """Everything as it was made, and a device that has read nothing but has something of its own."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.template, self.folder)
        self.remote = Directory(self.folder / "remote")
        devices = [self.open(name) for name in ("one", "other", "late", "new")]
        text = b'{"own":true}'
        devices[3].collections["notes"].put("own", text)
        self.written["notes", "own"].add(text)
        return devices

    def change(self, key: str, body: Callable[[bytes], bytes]) -> None:
        path = self.folder / "remote" / key
        path.write_bytes(body(path.read_bytes()))

    def check(self, device: Device) -> Dict[Id, bytes]:
        """Returns the content of a device; all of it was written."""
        found = device.texts()
        strange = [key for key, text in found.items() if text not in self.written[key]]
        assert strange == []
        return found

    def agree(self) -> None:
        """All have what all had, and all that was written since."""
        for _ in range(5):
            reports = [device.sync(self.remote) for device in self.devices]
            if all(each.unchanged for each in reports):
                break
        else:
            raise AssertionError("still moving")
        for device in self.devices:
            assert self.check(device) == {**self.expected, ("notes", "own"): b'{"own":true}'}
            assert device.store.check() == []


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    log = Log(tmp_path_factory.mktemp("log"))
    yield log
    log.close()


@pytest.fixture
def log(made: Log) -> Iterator[Log]:
    yield made
    made.close()


def flipped(body: bytes, bit: int) -> bytes:
    changed = bytearray(body)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def damage(log: Log, key: str, kind: str) -> None:
    """Damages an object."""
    dice = random.Random(key + kind)
    if kind == "deleted":
        (log.folder / "remote" / key).unlink()
    elif kind == "cut":
        log.change(key, lambda body: body[: dice.randrange(len(body))])
    elif kind == "flipped":
        log.change(key, lambda body: flipped(body, dice.randrange(len(body) * 8)))
    else:
        # Another pack, sound, and older than this: as if this had never been written.
        other = dice.choice([each for each in log.packs if not key.endswith(each)])
        body = (log.template / "remote" / "records" / USER / "p" / other).read_bytes()
        log.change(key, lambda _: body)


def told(log: Log, device: Device, name: str) -> bool:
    """Whether a sync reports that this pack is missing. It keeps what it has, or writes the pack again."""
    before = log.check(device)
    try:
        report = device.sync(log.remote)
    except satchel.Damaged as error:
        message = str(error)
    else:
        assert report.repaired == 1
        return False
    assert name in message
    assert log.check(device) == before
    return True


def test_the_log_has_many_packs(log: Log) -> None:
    assert len(log.packs) >= 15
    log.renew()
    log.agree()


@pytest.mark.parametrize("kind", portion_of(KINDS, parts=2))
def test_each_pack_is_written_again(log: Log, kind: str) -> None:
    """Each pack meets one kind of damage, or all where there is time for it."""
    is_all = "SATCHEL_ALL_DAMAGES" in os.environ
    chosen = log.packs if is_all else log.packs[KINDS.index(kind) :: len(KINDS)]
    for place, name in enumerate(chosen):
        one, other, late, new = log.renew()
        damage(log, f"records/{USER}/p/{name}", kind)
        if place % 4 == 0:
            # Without being told: it reads all.
            assert other.sync(log.remote, verify=True).repaired == 1
        else:
            assert told(log, new, name)
            # It needs only what it has not read yet, and can write the rest again.
            if place % 4 == 1 and told(log, late, name):
                assert told(log, new, name)
                assert not told(log, one, name)
            elif place % 4 > 1:
                assert not told(log, [one, other][place % 2], name)
        log.agree()


@pytest.mark.parametrize("back", portion_of([1, 2, 7, 40], parts=2))
def test_an_older_head_is_replaced(log: Log, back: int) -> None:
    """As when only the head is restored from a backup: 40 commits ago it named packs that are gone since."""
    one, other, late, new = log.renew()
    log.change(HEAD, lambda _: log.heads[-1 - back])
    told = refused(log, [new, late, other, one])
    assert one not in told
    assert other not in told
    log.agree()


def test_a_head_that_is_deleted_is_written_again(log: Log) -> None:
    log.renew()
    (log.folder / "remote" / HEAD).unlink()
    log.agree()


@pytest.mark.parametrize("part", ["line", "entries"])
@pytest.mark.parametrize("each", portion_of(range(8), parts=4))
def test_a_head_with_a_flipped_bit_is_written_again(log: Log, part: str, each: int) -> None:
    """Whatever the bit makes of the head, no device takes it."""
    dice = random.Random(f"{part} {each}")
    end = log.heads[-1].index(b"\n") + 1
    first, last = (0, end) if part == "line" else (end, len(log.heads[-1]))
    one, _, _, new = log.renew()
    bit = dice.randrange(first * 8, last * 8)
    log.change(HEAD, lambda body: flipped(body, bit))
    assert refused(log, [new]) == [new]
    one.sync(log.remote)
    log.agree()


def test_an_altered_entry_of_the_head_is_not_taken_with_a_loss(log: Log) -> None:
    new = log.renew()[3]
    place = log.heads[-1].rindex(b'"text": "') + len(b'"text": "')
    log.change(HEAD, lambda body: flipped(body, place * 8))
    assert refused(log, [new]) == [new]
    new.sync(log.remote, accept_loss=True)
    log.check(new)
    log.agree()


def refused(log: Log, devices: List[Device]) -> List[Device]:
    """Lets all synchronize; returns those that reported damage. None takes what no device wrote."""
    told = []
    for device in devices:
        try:
            device.sync(log.remote)
        except (satchel.Damaged, satchel.NewerStore, satchel.Unauthorized):
            told.append(device)
        log.check(device)
    return told
