"""Devices that edit at random and synchronize now and then, against a plain dict.

The model knows what the remote holds, and the changes of each device since the last one. A change of a photo
that the remote did not change stays. Where both changed it, with "remote_wins" and at the first sync of the
shard, the change has to be among the conflicts; with "merge" it is on top.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Optional

from albums import Row, Rows, assert_holds, md5, row, rows_of
from helpers import portion
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import satchel
from satchel import PhotoCatalogue
from satchel.remote import Directory

NUMBERS = st.integers(0, 25)
DEVICES = st.integers(0, 2)
NAMES = st.sampled_from(["a.jpg", "b.jpg", 'c,"d"\n.jpg'])
POLICIES = st.sampled_from(["remote_wins", "merge"])


class Device:
    """The content that a device must have: its rows, and the common ancestor of each shard."""

    def __init__(self, photos: PhotoCatalogue) -> None:
        self.photos = photos
        self.rows: Rows = {}
        self.base: Rows = {}
        # Of each shard what the remote held when both agreed; None before.
        self.agreed: Dict[int, Optional[Rows]] = dict.fromkeys(range(16))
        self.lost: Counter[Any] = Counter()


def within(rows: Rows, shard: int) -> Rows:
    return {digits: each for digits, each in rows.items() if int(digits[0], 16) == shard}


def frozen(each: Optional[Row]) -> Any:
    return None if each is None else tuple(each.items())


class Album(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name)
        self.remote = Directory(path / "remote_copy")
        self.stores = [satchel.open(path / f"{each}.satchel", durability="relaxed") for each in range(3)]
        self.devices = [Device(store.photos("/photos")) for store in self.stores]
        self.remote_copy: Rows = {}

    def teardown(self) -> None:
        if not hasattr(self, "stores"):
            return
        for device in self.devices:
            assert_holds(device.photos, device.rows)
        for store in self.stores:
            assert store.check() == []
            store.close()
        self.remote.close()
        self.folder.cleanup()

    @rule(device=DEVICES, numbers=st.lists(NUMBERS, min_size=1, max_size=5), name=NAMES)
    def upsert(self, device: int, numbers: List[int], name: str) -> None:
        known = self.devices[device]
        rows = {md5(each): row(each, filename=name) for each in numbers}
        differ = sum(known.rows.get(digits) != each for digits, each in rows.items())
        assert known.photos.upsert(rows.values()) == differ
        known.rows.update(rows)

    @rule(device=DEVICES, numbers=st.lists(NUMBERS, min_size=1, max_size=5))
    def delete(self, device: int, numbers: List[int]) -> None:
        known = self.devices[device]
        digits = {md5(each) for each in numbers}
        assert known.photos.delete(digits) == len(digits & set(known.rows))
        for each in digits:
            known.rows.pop(each, None)

    @rule(device=DEVICES, policy=POLICIES)
    def sync(self, device: int, policy: str) -> None:
        known = self.devices[device]
        report = known.photos.sync(self.remote, "ada", on_conflict=policy)
        assert report.ok
        conflicts = []
        for shard in range(16):
            if self.settle(known, shard, policy):
                conflicts.append(shard)
        assert report.conflicts == conflicts

    def settle(self, known: Device, shard: int, policy: str) -> bool:
        """Returns one shard after a synchronization, and whether both sides had changed it."""
        mine, theirs = within(known.rows, shard), within(self.remote_copy, shard)
        agreed = known.agreed[shard]
        base = agreed or {}
        changed = {each: mine.get(each) for each in {*mine, *base} if mine.get(each) != base.get(each)}
        moved = theirs != base
        result = dict(theirs)
        for each, value in changed.items():
            remote = theirs.get(each)
            if remote == value:
                continue
            if remote == base.get(each) or (policy == "merge" and agreed is not None):
                result.pop(each, None)
                if value is not None:
                    result[each] = value
            else:
                known.lost[each, frozen(value)] += 1
        for digits in {*mine, *theirs}:
            self.remote_copy.pop(digits, None)
            known.rows.pop(digits, None)
        self.remote_copy.update(result)
        known.rows.update(result)
        known.agreed[shard] = result if result or agreed is not None else None
        return bool(moved and changed)

    @rule(device=DEVICES)
    def reapply(self, device: int) -> None:
        known = self.devices[device]
        for conflict in known.photos.conflicts():
            known.photos.resolve(conflict, "local")
            known.rows.pop(conflict.md5, None)
            if conflict.local is not None:
                known.rows[conflict.md5] = conflict.local.row
        known.lost.clear()

    @invariant()
    def each_device_holds_what_it_must(self) -> None:
        for known in getattr(self, "devices", []):
            assert rows_of(known.photos.iterate()) == known.rows
            told = Counter(
                (each.md5, frozen(each.local and each.local.row)) for each in known.photos.conflicts()
            )
            assert told == known.lost


TestAlbum = Album.TestCase
TestAlbum.settings = settings(deadline=None, max_examples=portion(60), stateful_step_count=30)
