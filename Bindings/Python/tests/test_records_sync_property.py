"""Devices that edit, delete, declare and synchronize records with relations and unique values at random.

In the end all have the same bytes, no relation and no unique index is violated, and of every acknowledged
edit there is something left: it is there, somebody who had seen it has replaced or deleted it, or it is in a
conflict log. More examples: SATCHEL_RELATION_EXAMPLES=5000.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

from helpers import portion
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from record_devices import Collection, Device

import satchel
from satchel.records import Index, Relation
from satchel.remote import Directory
from satchel.sync import ConflictEntry

COURSES = st.integers(0, 4).map(lambda number: f"c{number}")
LESSONS = st.integers(0, 4).map(lambda number: f"l{number}")
CODES = st.sampled_from([None, "x", "y", "z"])
DEVICES = st.integers(0, 2)
POLICIES = st.sampled_from(["newest_wins", "remote_wins", "local_wins", "merge", "ask"])
TIMES = st.integers(0, 3)
RELATIONS = {
    "needs": Relation("courses", on_delete="restrict"),
    "part_of": Relation("courses", on_delete="cascade"),
    "see": Relation("courses", on_delete="nullify", many=True),
}
SCHEMA = {"type": "object", "required": ["token"], "properties": {"token": {"type": "integer"}}}


def token(document: Optional[Dict[str, Any]]) -> Set[int]:
    return {document["token"]} if document else set()


class School(RuleBasedStateMachine):
    """Three devices of one user; those who declare lessons late have their entries already."""

    @initialize(policy=POLICIES, late=st.sets(DEVICES, max_size=2))
    def begin(self, policy: str, late: Set[int]) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name)
        self.remote = Directory(path / "remote")
        self.policy = policy
        self.devices = [Device(path / f"{each}.satchel") for each in range(3)]
        self.lessons: List[Optional[Collection]] = [None] * 3
        for number, device in enumerate(self.devices):
            device.records = device.store.records(
                "courses", indexes=[Index("code", unique=True)], schema=SCHEMA, on_conflict=policy
            )
            if number not in late:
                self.declare(number, False)
        self.token = 0
        self.written: Set[int] = set()
        # Tokens that an edit, a deletion or a decision has seen and replaced.
        self.seen: Set[int] = set()

    @rule(device=DEVICES, in_batch=st.booleans())
    def declare(self, device: int, in_batch: bool) -> None:
        if self.lessons[device] is not None:
            return
        store = self.devices[device].store

        def open() -> Collection:
            return store.records("lessons", relations=RELATIONS, schema=SCHEMA, on_conflict=self.policy)

        if in_batch:
            with store.batch():
                self.lessons[device] = open()
        else:
            self.lessons[device] = open()

    def put(self, device: int, records: Collection, id: str, ahead: int, members: Dict[str, Any]) -> None:
        self.devices[device].clock.advance(1000 * ahead + 1)
        replaced = token(records.get(id))
        self.token += 1
        document = {name: value for name, value in members.items() if value}
        try:
            records.put(id, {"token": self.token, **document})
        except satchel.ConstraintViolation:
            return
        self.written.add(self.token)
        self.seen |= replaced

    @rule(device=DEVICES, id=COURSES, code=CODES, ahead=TIMES)
    def put_course(self, device: int, id: str, code: Optional[str], ahead: int) -> None:
        self.put(device, self.devices[device].records, id, ahead, {"code": code})

    @rule(
        device=DEVICES, id=LESSONS, ahead=TIMES,
        needs=st.none() | COURSES, part_of=st.none() | COURSES, see=st.lists(COURSES, max_size=2),
    )  # fmt: skip
    def put_lesson(self, device: int, id: str, ahead: int, **members: Any) -> None:
        lessons = self.lessons[device]
        if lessons is not None:
            self.put(device, lessons, id, ahead, members)

    @rule(device=DEVICES, one=COURSES, two=COURSES)
    def exchange(self, device: int, one: str, two: str) -> None:
        records = self.devices[device].records
        found = [records.get(one), records.get(two)]
        if one == two or None in found:
            return
        codes = [(each or {}).get("code") for each in found]
        with self.devices[device].store.batch():
            self.put(device, records, one, 0, {})
            self.put(device, records, two, 0, {"code": codes[0]})
            self.put(device, records, one, 0, {"code": codes[1]})

    def all(self, device: int) -> Dict[str, Dict[str, Any]]:
        found = {f"courses/{each.id}": each.document for each in self.devices[device].records.list()}
        lessons = self.lessons[device]
        if lessons is not None:
            found.update({f"lessons/{each.id}": each.document for each in lessons.list()})
        return found

    @rule(device=DEVICES, id=COURSES | LESSONS)
    def delete(self, device: int, id: str) -> None:
        records = self.devices[device].records if id[0] == "c" else self.lessons[device]
        if records is None:
            return
        self.devices[device].clock.advance(1)
        before = self.all(device)
        try:
            records.delete(id)
        except satchel.ConstraintViolation:
            return
        # Those that go with it as well.
        for name in before.keys() - self.all(device).keys():
            self.seen |= token(before[name])

    @rule(device=DEVICES)
    def sync(self, device: int) -> None:
        assert self.devices[device].sync(self.remote).ok

    def conflicts(self, device: int) -> List[ConflictEntry]:
        lessons = self.lessons[device]
        return self.devices[device].records.conflicts() + (lessons.conflicts() if lessons is not None else [])

    @rule(device=DEVICES)
    def resolve(self, device: int) -> None:
        """Decides all that is open."""
        for conflict in self.conflicts(device):
            if conflict.kind == "open":
                self.decide(device, conflict)

    def decide(self, device: int, conflict: ConflictEntry) -> None:
        """Takes the remote version, without its code and its references, where there is one."""
        records = self.devices[device].records if conflict.record[0] == "c" else self.lessons[device]
        assert records is not None
        self.token += 1
        seen = token(conflict.local) | token(conflict.remote)
        if conflict.remote is None:
            records.resolve(conflict, "local")
            seen -= token(conflict.local)
        else:
            records.resolve(conflict, document={"token": self.token})
            self.written.add(self.token)
        self.seen |= seen

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

    def settle(self) -> None:
        for _ in range(12):
            reports = [device.sync(self.remote) for device in self.devices]
            assert all(each.ok for each in reports)
            if all(each.unchanged for each in reports):
                return
        raise AssertionError(f"still moving: {reports}")

    def end(self) -> None:
        for device in range(3):
            self.declare(device, False)
        for _ in range(20):
            self.settle()
            undecided = {
                device: [each for each in self.conflicts(device) if each.kind != "lost"]
                for device in range(3)
            }
            causes = [each for found in undecided.values() for each in found]
            if not causes:
                break
            # Relations alone leave nothing that waits.
            assert any(each.kind == "open" or "must be unique" in str(each.reason) for each in causes), causes
            device, found = next(each for each in undecided.items() if each[1])
            self.decide(device, found[0])
        else:
            raise AssertionError(f"never decided: {causes}")
        self.check()

    def check(self) -> None:
        found = [self.all(device) for device in range(3)]
        assert found[0] == found[1] == found[2]
        for device, lessons in zip(self.devices, self.lessons):
            assert lessons is not None
            assert device.store.check() == []
            assert [device.records.text(id) for id in sorted(device.records.ids())] == [
                self.devices[0].records.text(id) for id in sorted(device.records.ids())
            ]
        for name, document in found[0].items():
            references = [document.get("needs"), document.get("part_of"), *document.get("see", [])]
            for target in references:
                assert target is None or f"courses/{target}" in found[0], (name, document)
        codes = [each["code"] for each in found[0].values() if each.get("code")]
        assert len(codes) == len(set(codes))
        kept = {each for document in found[0].values() for each in token(document)}
        for device in range(3):
            for conflict in self.conflicts(device):
                kept |= token(conflict.local) | token(conflict.remote)
        lost = self.written - kept - self.seen
        assert not lost, f"{lost} of {self.written} are lost; {found[0]}"


TestSchool = School.TestCase
EXAMPLES = int(os.environ.get("SATCHEL_RELATION_EXAMPLES", portion(100)))
TestSchool.settings = settings(deadline=None, max_examples=EXAMPLES, stateful_step_count=30)
