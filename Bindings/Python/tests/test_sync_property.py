"""Devices that edit at random and synchronize now and then agree in the end, and lose nothing.

Every write puts a token of its own into a document. A token may only disappear with a write or a deletion
that has seen it, with a decision of the host that has, or into the conflict log.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Dict, Optional, Set

from helpers import portion
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from record_devices import Device, agreed, everything

import satchel
from satchel.remote import Directory

IDS = st.integers(0, 5).map(lambda number: f"r{number}")
DEVICES = st.integers(0, 2)
POLICIES = st.sampled_from(["newest_wins", "remote_wins", "local_wins", "merge", "ask"])
TIMES = st.integers(0, 5)
COLLECTIONS = st.sampled_from(["courses", "notes"])


class Family(RuleBasedStateMachine):
    """Three devices of one user."""

    @initialize(policy=POLICIES)
    def begin(self, policy: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name)
        self.remote = Directory(path / "remote")
        self.policy = policy
        self.devices = [Device(path / f"{each}.satchel", on_conflict=policy) for each in range(3)]
        for device in self.devices:
            device.store.records("notes", on_conflict=policy)
        self.token = 0
        # Records that only one device writes, by its id.
        self.own: Dict[str, Dict[str, int]] = {}
        # Of each record all tokens; of each token those that its writer saw.
        self.written: Dict[str, Set[int]] = {}
        self.seen: Dict[int, Set[int]] = {}
        # Tokens that a deletion has seen.
        self.deleted: Dict[str, Set[int]] = {}

    def tokens(self, document: Optional[Dict[str, object]]) -> Set[int]:
        """The token of each field of a document."""
        fields = (document or {}).values()
        return {token for token in fields if isinstance(token, int)}

    @rule(device=DEVICES, id=IDS, is_deletion=st.booleans())
    def put_own(self, device: int, id: str, is_deletion: bool) -> None:
        own = f"own-{device}-{id}"
        self.token += 1
        if is_deletion:
            self.devices[device].records.delete(own)
            self.own.pop(own, None)
        else:
            self.own[own] = {"a": self.token}
            self.devices[device].records.put(own, self.own[own])

    @rule(device=DEVICES, collection=COLLECTIONS, id=IDS, field=st.sampled_from("abc"), ahead=TIMES)
    def put(self, device: int, collection: str, id: str, field: str, ahead: int) -> None:
        each = self.devices[device]
        each.clock.advance(1000 * ahead + 1)
        records = each.store.records(collection)
        document = records.get(id) or {}
        self.token += 1
        self.seen[self.token] = self.tokens(document)
        self.written.setdefault(f"{collection}/{id}", set()).add(self.token)
        records.put(id, {**document, field: self.token})

    @rule(device=DEVICES, collection=COLLECTIONS, id=IDS)
    def delete(self, device: int, collection: str, id: str) -> None:
        each = self.devices[device]
        each.clock.advance(1)
        records = each.store.records(collection)
        self.deleted.setdefault(f"{collection}/{id}", set()).update(self.tokens(records.get(id)))
        records.delete(id)

    @rule(device=DEVICES, collection=COLLECTIONS)
    def batch(self, device: int, collection: str) -> None:
        each = self.devices[device]
        with each.store.batch():
            for number in range(3):
                self.put(device, collection, f"r{number}", "a", 0)

    @rule(device=DEVICES)
    def sync(self, device: int) -> None:
        assert self.devices[device].sync(self.remote).ok

    @rule(device=DEVICES)
    def dry_run(self, device: int) -> None:
        each = self.devices[device]
        before = everything(each.store)
        each.sync(self.remote, dry_run=True)
        assert everything(each.store) == before

    @rule(device=DEVICES, keep=st.sampled_from(["local", "remote"]))
    def resolve(self, device: int, keep: str) -> None:
        for collection in ("courses", "notes"):
            records = self.devices[device].store.records(collection)
            for conflict in records.conflicts():
                if conflict.kind != "open":
                    continue
                # The host has seen both, and decides.
                gone = conflict.remote if keep == "local" else conflict.local
                self.deleted.setdefault(f"{collection}/{conflict.record}", set()).update(self.tokens(gone))
                records.resolve(conflict, keep)

    @rule(device=DEVICES)
    def reopen(self, device: int) -> None:
        each = self.devices[device]
        each.store.close()
        each.store = satchel.open(each.path, clock=each.clock)
        each.records = each.store.records("courses")

    def teardown(self) -> None:
        if not hasattr(self, "devices"):
            return
        try:
            self.end()
        finally:
            for device in self.devices:
                device.store.close()
            self.remote.close()
            self.folder.cleanup()

    def end(self) -> None:
        for _ in range(4):
            for device in range(3):
                self.sync(device)
                self.resolve(device, "remote" if device else "local")
        agreed(self.devices, self.remote, rounds=8)
        for device in self.devices:
            assert device.store.check() == []
        found = self.devices[0].documents()
        assert {id: each for id, each in found.items() if id.startswith("own")} == self.own
        for name, tokens in self.written.items():
            missing = tokens - self.kept(name, tokens)
            assert not missing, f"{name}: {missing} are lost"

    def kept(self, name: str, tokens: Set[int]) -> Set[int]:
        """The tokens of a record that are there, in the conflict log, or were seen by what replaced them."""
        collection, id = name.split("/")
        kept = self.tokens(self.devices[0].store.records(collection).get(id))
        for device in self.devices:
            for conflict in device.store.records(collection).conflicts():
                assert conflict.kind == "lost"
                if conflict.record == id:
                    kept |= self.tokens(conflict.local) | self.tokens(conflict.remote)
        return kept.union(self.deleted.get(name, set()), *(self.seen[token] for token in tokens))


TestFamily = Family.TestCase
TestFamily.settings = settings(deadline=None, max_examples=portion(40), stateful_step_count=25)
