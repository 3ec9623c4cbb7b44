"""One schedule: two to five devices of a user, and everything that happens to them, by a seed.

In the end each device is given one call, ``sync(accept_loss=True, recreate=True)``, as often as it takes
until nothing moves any more. Then all have the same documents and the same state, each store is sound, no
edit of a device that still has its store is lost, and, where no store and no bucket was restored from an
older state, nothing that was seen and replaced is there again. The owner of the bucket can delete; with a key
he cannot bring anything in.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import satchel
from bucket import Bucket, Line
from device import HEAD, TOKEN, USER, Device, History
from satchel.sync import ConflictEntry

DAY = 86_400_000
YEAR = 365 * DAY
POLICIES = ["newest_wins", "remote_wins", "local_wins", "merge", "ask"]
#: Errors of a synchronization while things go wrong; all else is a fault of the library.
TROUBLES = (satchel.Unavailable, satchel.Busy, satchel.Damaged, satchel.Unauthorized, satchel.ForeignFile)


class Fault(Exception):
    """Something that must not be."""


class Schedule:
    """A seed decides all that happens, but for the names that the library gives at random."""

    def __init__(self, seed: int, folder: Path, is_traced: bool = False) -> None:
        self.dice = random.Random(seed)
        self.folder, self.is_traced = folder, is_traced
        self.bucket = Bucket(folder / "bucket")
        self.history = History()
        self.policy = self.dice.choice(POLICIES)
        self.key = self.dice.randbytes(32) if self.dice.random() < 0.5 else None
        self.rate = self.dice.choice([0.0, 0.03, 0.1, 0.25])
        self.devices: list[Device] = []
        for _ in range(self.dice.randint(2, 5)):
            self._new_device()
        self.snapshots: list[dict[str, bytes]] = []
        self.backups: list[tuple[Path, set[int]]] = []
        #: Edits of which only a conflict log had something left, in a store that was restored since.
        self.forgotten: set[int] = set()
        self.kills = 0
        #: Whether the account was deleted, because no device could know that a stranger had written its log.
        self.is_closed = False

    def _new_device(self) -> Device:
        path = self.folder / f"{len(self.devices)}.satchel"
        device = Device(path, self.history, self.policy, self.key)
        self.devices.append(device)
        return device

    def run(self, actions: int = 60) -> None:
        kinds = {
            self.edit: 40, self.sync: 20, self.sync_killed: 3, self.resolve: 4, self.set_clock: 2,
            self.back_up: 2, self.restore: 1.5, self.clone: 0.7, self.keep_snapshot: 2, self.lose: 1.2,
            self.attack: 0.8, self.reopen: 2,
        }  # fmt: skip
        try:
            for _ in range(actions):
                [action] = self.dice.choices(list(kinds), list(kinds.values()))
                device = self.dice.choice(self.devices)
                for each in self.devices:
                    each.time += self.dice.randrange(1, 60_000)
                action(device)
            self.settle()
            self.judge()
        finally:
            for each in self.devices:
                with suppress(satchel.SatchelError):
                    each.close()

    def trace(self, device: Device, *what: Any) -> None:
        if self.is_traced:
            print(self.devices.index(device), *what, flush=True)

    # Actions of people

    def edit(self, device: Device) -> None:
        name = str(self.dice.randrange(4))
        kind = self.dice.choice(
            ["note", "note", "course", "lesson", "delete", "value", "member", "score", "batch"]
        )
        self.trace(device, kind, name, self.history.edits + 1)
        state = device.opened().state
        if kind == "note":
            device.put("notes", name, {self.dice.choice("xy"): self.dice.random()})
        elif kind == "course":
            device.put("courses", name, {"code": self.dice.choice([None, "p", "q", "r"])})
        elif kind == "lesson":
            targets = [self.dice.choice([None, str(self.dice.randrange(4))]) for _ in "12"]
            device.put("lessons", name, {"needs": targets[0], "part_of": targets[1]})
        elif kind == "delete":
            device.delete(self.dice.choice(["notes", "courses", "lessons"]), name)
        elif kind == "value":
            state.set("theme", self.dice.random(), synced=True)
            state.flush()
        elif kind == "member":
            device.add_member()
        elif kind == "score":
            state.scores("cuisine", minimum=-1e9, maximum=1e9, synced=True).add(name, 1)
            state.flush()
        else:
            with device.opened().batch():
                device.put("notes", name, {"x": 1})
                device.put("courses", name, {})

    def resolve(self, device: Device) -> None:
        for collection, conflict in list(device.conflicts()):
            if conflict.kind == "open":
                self.decide(device, collection, conflict)

    def decide(self, device: Device, collection: str, conflict: ConflictEntry) -> None:
        outcome = device.resolve(conflict, collection)
        self.trace(device, "decides", collection, conflict.record, conflict.kind, outcome)

    def set_clock(self, device: Device) -> None:
        device.offset = self.dice.choice(
            [0, 0, self.dice.randint(-10, 80) * YEAR, self.dice.randint(-20, 20) * DAY]
        )
        self.trace(device, "clock off by days", device.offset // DAY)

    def reopen(self, device: Device) -> None:
        device.close()

    def sync(self, device: Device) -> None:
        options = {"purge": self.dice.random() < 0.1, "verify": self.dice.random() < 0.1}
        line = Line(self.bucket, self.dice.getrandbits(32), self.rate)
        try:
            report = device.sync(line, **options)
            self.trace(device, "sync", options, report)
        except TROUBLES as error:
            self.trace(device, "sync", type(error).__name__, error)

    def sync_killed(self, device: Device) -> None:
        """Another process of the device synchronizes, and is killed at a request."""
        if self.dice.random() < 0.5:
            device.close()
        else:
            device.opened()
        options = {
            "path": str(device.path), "bucket": str(self.bucket.folder), "policy": self.policy,
            "key": self.key.hex() if self.key else None, "seed": self.dice.getrandbits(32), "rate": self.rate,
            "kill_at": self.dice.randint(1, 16), "now": device.time + device.offset,
        }  # fmt: skip
        program = str(Path(__file__).with_name("device.py"))
        done = subprocess.run(
            [sys.executable, program, json.dumps(options)], capture_output=True, text=True, check=False
        )
        self.trace(device, "sync in a process that ended with", done.returncode, done.stderr[-200:])
        if done.returncode == -signal.SIGKILL:
            self.kills += 1
        elif done.returncode < 0 or not (done.returncode == 0 or "satchel.errors." in done.stderr):
            raise Fault(f"a synchronization ended with {done.returncode}: {done.stderr[-2000:]}")

    # Accidents of stores

    def back_up(self, device: Device) -> None:
        path = self.folder / f"{len(self.backups)}.backup"
        device.opened().backup(path)
        self.backups.append((path, set(device.owed)))
        self.trace(device, "backup", path.name)

    def restore(self, device: Device) -> None:
        """The device is restored from one of its backups, or from another device's: a new phone."""
        if not self.backups:
            return
        path, owed = self.dice.choice(self.backups)
        # Changes that others wrote and that this device's conflict log alone still had.
        self.forgotten |= set(self.in_conflicts(device))
        device.close()
        satchel.restore(path, device.path)
        device.has_read = False
        device.owed = set(owed)
        self.history.went_back = True
        self.trace(device, "restored from", path.name)

    def clone(self, device: Device) -> None:
        """The store's file is copied to another device, as systems do that move all apps to a new phone."""
        if len(self.devices) > 6:
            return
        device.opened()
        device.close()
        other = self._new_device()
        shutil.copyfile(device.path, other.path)
        other.owed, other.time = set(device.owed), device.time
        self.history.went_back = True
        self.trace(device, "cloned to", self.devices.index(other))

    # Accidents of the bucket

    def keep_snapshot(self, device: Device) -> None:
        self.snapshots.append(self.bucket.snapshot())

    def lose(self, device: Device) -> None:
        keys = self.bucket.names()
        kind = self.dice.choice(["head", "pack", "snapshot", "everything", "bytes"])
        self.trace(device, "the bucket loses", kind)
        self.history.went_back = True
        packs = [key for key in keys if "/p/" in key]
        if kind == "head":
            self.bucket.delete(HEAD)
        elif kind == "pack" and packs:
            self.bucket.delete(self.dice.choice(packs))
        elif kind == "snapshot" and self.snapshots:
            self.bucket.put_back(self.dice.choice(self.snapshots))
        elif kind == "everything":
            self.bucket.put_back({})
        elif kind == "bytes" and keys:
            key = self.dice.choice(keys)
            body = bytearray(self.bucket.read(key).body)
            if body:
                body[self.dice.randrange(len(body))] ^= 1 << self.dice.randrange(8)
            self.bucket.write(key, bytes(body))

    def attack(self, device: Device) -> None:
        """Somebody writes to the bucket who has no key. Without encryption he could write anything."""
        self.history.went_back = True
        envelope = {
            "format": 2, "collection": "notes", "id": "evil", "version": 1, "n": 1, "revision": 1,
            "created": 1, "modified": 1, "deleted": False, "writer": "evil", "ancestors": {},
            "document": {TOKEN: -1},
        }  # fmt: skip
        entry = json.dumps(envelope, separators=(",", ":")).encode()
        numbers = [1, 2**52, 2**53, 2**62, 10**30]
        if self.key is None:
            # All that he could write as a device of the user is no attack: only what no device writes.
            numbers, entry = numbers[2:], b"{"
        number, epoch = self.dice.choice(numbers), self.dice.choice(numbers)
        digest = int.from_bytes(hashlib.sha256(b"notes/evil\0" + entry).digest()[:16], "big")
        # A key of his own, where some device knows that it is not the log's.
        name = {}
        if self.key and any(each.has_read for each in self.devices) and self.dice.random() < 0.5:
            name = {"key": self.dice.randbytes(8).hex(), "signature": self.dice.randbytes(16).hex()}
        head = {
            "format": 2, **name, "epoch": epoch, "log": self.dice.randbytes(8).hex(), "number": number,
            "id": self.dice.randbytes(16).hex(), "count": 1, "bytes": len(entry), "digest": f"{digest:032x}",
            "fence": 0, "packs": [], "inline_from": 1, "retired": [],
        }  # fmt: skip
        frames = b"%d %d\n" % (number, len(entry)) + entry + b"\n"
        line = json.dumps(head, separators=(",", ":")).encode()[:-1]
        checksum = hashlib.sha256(line + b"\n" + frames).hexdigest()
        self.bucket.write(HEAD, line + f',"sha256":"{checksum}"}}\n'.encode() + frames)
        self.trace(device, "attack", "number", number, "epoch", epoch)

    # The end

    def settle(self) -> None:
        """Each device has the one call that gets it going again."""
        self.rate = 0.0
        last: list[Any] = []
        for _ in range(40):
            for each in self.devices:
                each.time += 1000
                each.offset = 0
            last = [self.settle_one(each) for each in self.devices]
            if all(isinstance(each, satchel.Unauthorized) for each in last):
                # None of them has read the log, and so none can tell that a stranger has written it.
                if any(each.has_read for each in self.devices):
                    raise Fault(f"locked out: {[str(each) for each in last]}")
                self.devices[0].opened().delete_account(Line(self.bucket, 0).remote(), USER)
                self.is_closed = True
            if all(getattr(each, "unchanged", False) for each in last) and not self.decide_rest():
                return
        raise Fault(f"still moving, or refused: {[str(each) for each in last]}")

    def settle_one(self, device: Device) -> object:
        line = Line(self.bucket, self.dice.getrandbits(32))
        try:
            first = "upload" if self.is_closed else None
            report = device.sync(line, accept_loss=True, recreate=True, first=first)
        except TROUBLES as error:
            self.trace(device, "settle", type(error).__name__, error)
            return error
        self.trace(device, "settle", report)
        return report

    def decide_rest(self) -> bool:
        """Decides what waits for a person on one device, since its decisions may end others' conflicts."""
        for device in self.devices:
            rest = [each for each in device.conflicts() if each[1].kind != "lost"]
            for collection, conflict in rest:
                self.decide(device, collection, conflict)
            if rest:
                return True
        return False

    def judge(self) -> None:
        first = dict(self.devices[0].documents())
        state = self.devices[0].state()
        for device in self.devices:
            number = self.devices.index(device)
            if (found := dict(device.documents())) != first:
                raise Fault(f"device {number} has {different(found, first)}")
            if (other := device.state()) != state:
                raise Fault(f"device {number} has the state {other}, device 0 {state}")
            if findings := device.opened().check():
                raise Fault(f"device {number} is not sound: {[str(each) for each in findings]}")
        if self.key and "notes/evil" in first:
            raise Fault("the attacker has brought a record in")
        self.judge_relations(first)
        kept = {document[TOKEN] for document in first.values()} | set(state["marks"])
        for device in self.devices:
            kept |= set(self.in_conflicts(device))
        self.judge_edits(kept)
        again = {token for token in self.kept_edits(first) if token in self.history.replaced}
        if again and not self.history.went_back and self.policy != "local_wins":
            raise Fault(f"edits {again} were seen and replaced, and are there again")

    def judge_relations(self, documents: dict[str, dict[str, Any]]) -> None:
        for name, document in documents.items():
            for target in (document.get("needs"), document.get("part_of")):
                if target is not None and f"courses/{target}" not in documents:
                    raise Fault(f"{name} refers to courses/{target}, which is not there")
        codes = [document["code"] for document in documents.values() if document.get("code")]
        if len(codes) != len(set(codes)):
            raise Fault(f"unique values are not unique: {codes}")

    def judge_edits(self, kept: set[int]) -> None:
        """An edit is left, or one that had seen it is left in the same way, or it was deleted on purpose."""
        excused = kept | self.forgotten
        for token in sorted(self.history.replaced, reverse=True):
            if any(later is None or later in excused for later in self.history.replaced[token]):
                excused.add(token)
        owed = set().union(*(device.owed for device in self.devices))
        if lost := owed - excused:
            raise Fault(f"edits {sorted(lost)} are lost; policy {self.policy}")

    def kept_edits(self, documents: dict[str, dict[str, Any]]) -> set[int]:
        """Edits of notes as they were written: relations may put a deleted course back on purpose, and a
        merged document also has what the edit that replaced one of its sources had not seen."""
        notes = [document for name, document in documents.items() if name.startswith("notes/")]
        return {note[TOKEN] for note in notes if note == self.history.written.get(note[TOKEN])}

    def in_conflicts(self, device: Device) -> Iterator[int]:
        for _, conflict in device.conflicts():
            for document in (conflict.local, conflict.remote):
                if document is not None and TOKEN in document:
                    yield document[TOKEN]


def different(one: dict[str, Any], other: dict[str, Any]) -> str:
    names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    return "; ".join(f"{name}: {one.get(name)}, device 0 {other.get(name)}" for name in names)
