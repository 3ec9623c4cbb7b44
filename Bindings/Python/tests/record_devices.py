"""Two devices that synchronize records through a remote copy, and what tests ask of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

from helpers import Clock

import satchel
from satchel import Records
from satchel.records import SyncReport
from satchel.remote import Remote

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


NOTHING = {
    "downloaded": 0,
    "uploaded": 0,
    "deleted_locally": 0,
    "deleted_remotely": 0,
    "merged": 0,
    "conflicts": 0,
}


def moved(report: SyncReport) -> Dict[str, int]:
    """What a report has that is not 0."""
    assert report.ok, report.failed
    return {name: getattr(report, name) for name in NOTHING if getattr(report, name)}


def agreed(pair: List[Device], remote_copy: Remote, **options: Any) -> None:
    """Brings both into agreement, until nothing moves any more."""
    for _ in range(2):
        for device in pair:
            assert device.records.sync(remote_copy, "ada", **options).ok
    for device in pair:
        report = device.records.sync(remote_copy, "ada", **options)
        assert moved(report) == {}
        # Those that were deleted are objects, too.
        assert report.unchanged >= len(device.documents())
    assert pair[0].documents() == pair[1].documents()
