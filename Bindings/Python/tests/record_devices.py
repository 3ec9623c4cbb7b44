"""Devices that synchronize their stores through an object store, and what tests ask of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Iterable, List, Tuple

from helpers import Clock

import satchel
from satchel import Records, StoreSyncReport
from satchel.remote import Remote
from satchel.sync import ConflictEntry

Collection = Records[Dict[str, Any]]
Documents = Dict[str, Dict[str, Any]]


class Device:
    """A store of its own, with a clock of its own."""

    def __init__(self, path: Path, **declared: Any) -> None:
        self.clock = Clock()
        self.path = path
        self.store = satchel.open(path, clock=self.clock)
        self.records: Collection = self.store.records("courses", indexes=["n"], **declared)

    def sync(self, remote: Remote, **options: Any) -> StoreSyncReport:
        return self.store.sync(remote, options.pop("user", "ada"), **options)

    def documents(self) -> Documents:
        return documents(self.records)

    def put(self, id: str, **members: Any) -> None:
        """Each change is later than all before it, on this device."""
        self.clock.advance(1000)
        self.records.put(id, members)

    def status(self, id: str) -> str:
        found = self.records.record(id)
        assert found is not None
        return found.sync_status

    def conflicts(self) -> List[Tuple[str, str]]:
        return kinds(self.records)


def documents(records: Collection) -> Documents:
    return {each.id: each.document for each in records.list()}


def kinds(records: Collection) -> List[Tuple[str, str]]:
    """The conflict log in short."""
    return [(each.record, each.kind) for each in records.conflicts()]


def only(conflicts: Iterable[ConflictEntry], record: str) -> ConflictEntry:
    [found] = (each for each in conflicts if each.record == record)
    return found


def moved(report: StoreSyncReport, what: str = "records") -> Dict[str, int]:
    """The counts of a report, of records or of state, that are not 0."""
    assert report.ok, report.failed
    counts = getattr(report, what)
    return {name: getattr(counts, name) for name in counts.__annotations__ if getattr(counts, name)}


def everything(store: satchel.Store) -> Dict[str, Documents]:
    """The documents of all collections."""
    return {each.name: documents(store.records(each.name)) for each in store.collections()}


def agreed(devices: List[Device], remote: Remote, rounds: int = 6) -> None:
    """Synchronizes all devices until nothing moves any more; then they have the same records."""
    for _ in range(rounds):
        reports = [device.sync(remote) for device in devices]
        assert all(each.ok for each in reports), reports
        if all(each.unchanged for each in reports):
            break
    else:
        raise AssertionError(f"still moving after {rounds} rounds: {reports}")
    first = everything(devices[0].store)
    for device in devices[1:]:
        assert everything(device.store) == first
