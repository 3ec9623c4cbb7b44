"""Devices that edit and synchronize one user's photos and are killed at random moments; see verdict.py.

Usage: photos.py SECONDS [--policy remote_wins|merge] [--devices 2] [--seed N] [--broken-line]

Beside an object store: Tests/Servers/run.py ministack -- python Tests/crash/photos.py 120. PYTHONPATH has
Bindings/Python and Tests/Servers. Without a policy both have their turn, SECONDS each. The seed decides edits
and kills; what meets what is up to the machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import remote
import satchel
import turn
import verdict
from device import own_rows, shared_rows
from journal import History


class PhotoTurn(turn.Turn):
    """One policy's turn."""

    script = Path(__file__).with_name("device.py")

    def prepare(self) -> None:
        self.once(0, "fill")
        # With merge the first sync of all is a race, too; else the filling would only be a conflict.
        if self.policy == "remote_wins":
            self.once(0, "sync")

    def counts(self) -> dict[str, int]:
        histories = [History.read(self.folder / f"{number}.journal") for number in self.numbers]
        syncs = [sync for history in histories for sync in history.syncs]
        return {
            "kills": self.kills,
            "in the middle of a sync": sum(sync.ended is None for sync in syncs),
            "syncs done": sum(sync.is_done for sync in syncs),
            "edits made": sum(edit.is_made for history in histories for edit in history.edits),
        }

    def left(self, number: int) -> verdict.Left:
        history = History.read(self.folder / f"{number}.journal")
        with (
            satchel.open(self.folder / f"{number}.satchel") as store,
            store.photos(self.folder / f"photos-{number}") as photos,
        ):
            shards = {each: photos.export_shard(int(each, 16)) for each in remote.SHARDS}
            status = photos.status()
            faults = [str(each) for each in store.check()]
            return verdict.Left(number, history, photos.conflicts(), shards, faults, status.changes)

    def faults(self) -> Iterator[turn.Verdict]:
        found = remote.read(self.store, self.options["prefix"], self.options["user"])
        devices = [self.left(number) for number in self.numbers]
        yield "the remote copy is sound", remote.faults(found)
        for left in devices:
            differ = [each for each in remote.SHARDS if left.shards[each] != found.shards[each]]
            yield f"device {left.number} has what the remote has", [f"not in shard {each}" for each in differ]
            pending = [f"{left.changes} changes are pending"] if left.changes else []
            yield f"device {left.number} is sound", left.faults + pending
        syncs = [sync for left in devices for sync in left.history.syncs]
        told = [error for sync in syncs for error in [sync.error or "", *sync.failed.values()] if error]
        others = [each for each in told if not each.startswith(("EBUSY", "EUNAVAILABLE"))]
        yield "syncs fail only because others are busy", others
        yield "no acknowledged edit is lost", list(verdict.broken_promises(devices, found))
        yield "no edit vanishes", list(verdict.vanished_edits(devices, found))
        yield "every row is whole", list(verdict.torn_rows(devices, found))
        yield from self.worth(devices, told)

    def worth(self, devices: list[verdict.Left], told: list[str]) -> Iterator[turn.Verdict]:
        rows = [key for number in self.numbers for key in own_rows(number)] + shared_rows()
        all_claims = [claim for left in devices for key in rows for claim in verdict.claims(left, key)]
        conflicts = sum(len(left.conflicts) for left in devices)
        acknowledged = sum(claim.acknowledged < float("inf") for claim in all_claims)
        counts = {**self.counts(), "rows acknowledged": acknowledged}
        yield turn.worth(counts, f"{conflicts} conflicts, {len(told)} failures told")
        if self.policy == "remote_wins":
            yield "conflicts are where they belong", [] if conflicts else ["no conflicts"]
            return
        # Only a first sync has conflicts, of photos that were never synchronized.
        others = [each for left in devices for each in left.conflicts if each.base is not None]
        yield "conflicts are where they belong", [str(each) for each in others]


if __name__ == "__main__":
    sys.exit(turn.main(PhotoTurn, ["remote_wins", "merge"]))
