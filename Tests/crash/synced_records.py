"""Devices that edit and synchronize one user's records and are killed at random; see record_verdict.py.

Usage: synced_records.py SECONDS [--policy STRATEGY] [--devices 2] [--seed N] [--broken-line]

Beside an object store, as photos.py. Without a policy each strategy has its turn, SECONDS each. Of the first
device's store a second process synchronizes as well, and is killed as well.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import record_log
import record_remote
import record_verdict
import satchel
import turn
from journal import History
from record_device import COLLECTION
from record_verdict import Contest, Left

STRATEGIES = ["newest_wins", "merge", "remote_wins", "local_wins", "ask"]


class RecordTurn(turn.Turn):
    """One strategy's turn."""

    script = Path(__file__).with_name("record_device.py")

    def prepare(self) -> None:
        self.options["devices"] = len(self.numbers)
        self.once(0, "fill")

    @property
    def lives(self) -> list[tuple[int, str]]:
        return [*super().lives, (0, "companion")]

    def left(self, number: int) -> Left:
        history = History.read(self.folder / f"{number}.journal")
        with satchel.open(self.folder / f"{number}.satchel") as store:
            notes = store.records(COLLECTION)
            texts = {id: (notes.text(id) or b"").decode() for id in notes.ids()}
            statuses = {record.sync_status for record in notes.list()} - {"synced"}
            faults = [str(each) for each in store.check()] + [f"records are {each}" for each in statuses]
            return Left(number, history, texts, notes.conflicts(), faults)

    def faults(self) -> Iterator[turn.Verdict]:
        prefix = f"{self.options['prefix']}records/{self.options['user']}/"
        log = record_remote.read(self.store, prefix, COLLECTION)
        remote = log.envelopes
        devices = [self.left(number) for number in self.numbers]
        yield "the remote copy is sound", record_log.faults(log, len(devices))
        texts = {id: envelope.text for id, envelope in remote.items() if envelope.text is not None}
        for left in devices:
            differ = [id for id in {*texts, *left.texts} if texts.get(id) != left.texts.get(id)]
            yield f"device {left.number} has what the remote has", [f"not {each}" for each in differ]
            yield f"device {left.number} is sound", left.faults
        syncs = [sync for history in self.histories for sync in history.syncs]
        told = [error for sync in syncs for error in [sync.error or "", *sync.failed.values()] if error]
        others = [each for each in told if not each.startswith(("EBUSY", "EUNAVAILABLE"))]
        yield "syncs fail only because others are busy", others
        found = record_verdict.contests(self.policy, devices, remote)
        yield "what one device edits is as it left it", list(record_verdict.changed_own(devices, remote))
        yield "nothing goes back", list(record_verdict.went_back(devices))
        yield "every value is somebody's", list(record_verdict.of_nobody(found, devices, remote))
        yield "what was seen and replaced is gone", list(record_verdict.come_back(found))
        yield "no acknowledged edit is lost", list(record_verdict.broken_promises(found))
        yield "nothing vanishes", list(record_verdict.vanished(found))
        if self.policy == "newest_wins":
            yield "the newest wins", list(record_verdict.older_than_lost(found))
        if self.policy == "merge":
            yield "an edit outlives a deletion", list(record_verdict.lost_to_deletions(devices))
        yield self.worth(devices, found, told)
        kept = {conflict.kind for left in devices for conflict in left.conflicts}
        allowed = set() if self.policy in ("local_wins", "ask") else {"lost"}
        yield "conflicts are where they belong", [f"there are {each} ones" for each in kept - allowed]

    @property
    def histories(self) -> list[History]:
        names = [*map(str, self.numbers), "0-companion"]
        return [History.read(self.folder / f"{name}.journal") for name in names]

    def counts(self) -> dict[str, int]:
        histories = self.histories
        syncs = [sync for history in histories for sync in history.syncs]
        edits = [edit for history in histories for edit in history.edits if edit.is_effective]

        def moved(name: str) -> int:
            return sum(sync.told["moves"][name] for sync in syncs if sync.is_done)

        counts = {
            "kills": self.kills,
            "in the middle of a sync": sum(sync.ended is None for sync in syncs),
            "syncs done": sum(sync.is_done for sync in syncs),
            "edits made": len(edits),
            "of several records": sum(len(edit.rows) > 1 for edit in edits),
            "uploads": moved("uploaded"),
            "downloads": moved("downloaded"),
            "deletions that travelled": moved("deleted_locally"),
        }
        if self.policy == "merge":
            counts["merged"] = moved("merged")
        if self.policy == "ask":
            counts["conflicts"] = moved("conflicts")
            counts["decided"] = sum(len(both) > 1 for edit in edits for both in edit.told["seen"].values())
        return counts

    def worth(self, devices: list[Left], found: list[Contest], told: list[str]) -> turn.Verdict:
        claims = [claim for contest in found for claim in contest.claims]
        acknowledged = sum(claim.acknowledged < math.inf for claim in claims)
        lost = sum(len(left.lost) for left in devices)
        counts = {**self.counts(), "values acknowledged": acknowledged}
        return turn.worth(counts, f"{lost} kept as lost, {len(told)} failures told")


if __name__ == "__main__":
    sys.exit(turn.main(RecordTurn, STRATEGIES))
