"""Devices that edit and synchronize a user's records, photos and state, two processes each, and are killed.

Usage: synced_stores.py SECONDS [--policy STRATEGY] [--devices 3] [--seed N] [--broken-line]

Beside an object store, as photos.py. Without a policy each strategy has its turn, SECONDS each. A process is
killed after a random number of its requests (reaper.py) and not of seconds: a store that takes long to write
what many write would never come to its end. The rules are those of record_verdict.py, verdict.py and
state_verdict.py.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import record_log
import record_remote
import record_verdict
import remote
import satchel
import state_verdict
import turn
import verdict
from journal import History
from reaper import POINTS, Reaper
from record_device import COLLECTION
from record_verdict import Contest, Left
from state_edits import state_of

STRATEGIES = ["newest_wins", "merge", "remote_wins", "local_wins", "ask"]


class StoreTurn(turn.Turn):
    """One strategy's turn."""

    script = Path(__file__).with_name("store_device.py")
    timeout = 180.0

    def perform(self, seconds: float) -> tuple[int, int]:
        upstream = urlsplit(self.options.get("endpoint", self.store["endpoint"])).port
        assert upstream
        with Reaper(upstream, len(self.numbers), self.dice) as self.reaper:
            return super().perform(seconds)

    def prepare(self) -> None:
        self.options["devices"] = len(self.numbers)
        for number in self.numbers:
            self.once(number, "fill")

    def start(self, number: int, mode: str, **more: Any) -> subprocess.Popen[str]:
        return super().start(number, mode, endpoint=self.reaper.endpoint(number), **more)

    def live(self, seconds: float) -> None:
        lives = [(number, mode) for number in self.numbers for mode in ("live", "companion")]
        running = {life: self.watched(*life) for life in lives}
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                time.sleep(0.01)
                for life, process in running.items():
                    if process.poll() is None:
                        continue
                    if not self.reaper.forget(process):
                        code, errors = process.returncode, self.errors(life[0])
                        raise RuntimeError(f"device {life[0]} ended early, {code}: {errors}")
                    self.kills += 1
                    running[life] = self.watched(*life)
        finally:
            for process in running.values():
                process.kill()
                process.wait()

    def watched(self, number: int, mode: str) -> subprocess.Popen[str]:
        process = self.start(number, mode)
        self.reaper.watch(process)
        return process

    def left(self, store: satchel.Store, number: int) -> Left:
        history = History.read(self.folder / f"{number}.journal")
        notes = store.records(COLLECTION)
        texts = {id: (notes.text(id) or b"").decode() for id in notes.ids()}
        statuses = {record.sync_status for record in notes.list()} - {"synced"}
        faults = [str(each) for each in store.check()] + [f"records are {each}" for each in statuses]
        return Left(number, history, texts, notes.conflicts(), faults)

    def left_photos(self, store: satchel.Store, number: int) -> verdict.Left:
        history = History.read(self.folder / f"{number}-photos.journal")
        with store.photos(self.folder / f"photos-{number}") as photos:
            shards = {each: photos.export_shard(int(each, 16)) for each in remote.SHARDS}
            status, conflicts = photos.status(), photos.conflicts()
        others = History.read(self.folder / f"{number}-companion.journal").syncs
        return verdict.Left(number, history, conflicts, shards, [], status.changes, others)

    def faults(self) -> Iterator[turn.Verdict]:
        devices: list[Left] = []
        albums: list[verdict.Left] = []
        states: list[state_verdict.LeftState] = []
        for number in self.numbers:
            with satchel.open(self.folder / f"{number}.satchel") as store:
                devices.append(self.left(store, number))
                albums.append(self.left_photos(store, number))
                history = History.read(self.folder / f"{number}-state.journal")
                states.append(state_verdict.LeftState(number, history, state_of(store)))
        yield from self.record_faults(devices)
        yield from self.photo_faults(albums)
        yield "all have the same state", list(state_verdict.different(states))
        yield "nothing of the state is lost", list(state_verdict.lost(states))
        yield "scores are sums", list(state_verdict.miscounted(states))
        yield "values are the newest", list(state_verdict.replaced(states))

    def photo_faults(self, albums: list[verdict.Left]) -> Iterator[turn.Verdict]:
        found = remote.read(self.store, self.options["prefix"], self.options["user"])
        yield "the remote photos are sound", remote.faults(found)
        differ = [
            f"device {left.number}, shard {each}"
            for left in albums
            for each in remote.SHARDS
            if left.shards[each] != found.shards[each]
        ]
        yield "all have the photos that the remote has", differ
        yield "no acknowledged photo is lost", list(verdict.broken_promises(albums, found))
        yield "no photo vanishes", list(verdict.vanished_edits(albums, found))
        yield "every photo is whole", list(verdict.torn_rows(albums, found))

    def record_faults(self, devices: list[Left]) -> Iterator[turn.Verdict]:
        prefix = f"{self.options['prefix']}records/{self.options['user']}/"
        log = record_remote.read(self.store, prefix, COLLECTION)
        envelopes = log.envelopes
        yield "the remote copy is sound", record_log.faults(log, len(devices))
        texts = {id: envelope.text for id, envelope in envelopes.items() if envelope.text is not None}
        for left in devices:
            differ = [id for id in {*texts, *left.texts} if texts.get(id) != left.texts.get(id)]
            yield f"device {left.number} has what the remote has", [f"not {each}" for each in differ]
            yield f"device {left.number} is sound", left.faults
        syncs = [sync for history in self.histories for sync in history.syncs]
        told = [error for sync in syncs for error in [sync.error or "", *sync.failed.values()] if error]
        others = [each for each in told if not each.startswith(("EBUSY", "EUNAVAILABLE"))]
        yield "syncs fail only because others are busy", others
        found = record_verdict.contests(self.policy, devices, envelopes)
        yield "what one device edits is as it left it", list(record_verdict.changed_own(devices, envelopes))
        yield "nothing goes back", list(record_verdict.went_back(devices))
        yield "every value is somebody's", list(record_verdict.of_nobody(found, devices, envelopes))
        yield "what was seen and replaced is gone", list(record_verdict.come_back(found))
        yield "no acknowledged edit is lost", list(record_verdict.broken_promises(found))
        yield "nothing vanishes", list(record_verdict.vanished(found))
        if self.policy == "newest_wins":
            yield "the newest wins", list(record_verdict.older_than_lost(found))
        if self.policy == "merge":
            yield "an edit outlives a deletion", list(record_verdict.lost_to_deletions(devices))
        yield self.worth(devices, found, told)
        kept = {conflict.kind for left in devices for conflict in left.conflicts if conflict.side != "remote"}
        allowed = set() if self.policy in ("local_wins", "ask") else {"lost"}
        yield "conflicts are where they belong", [f"there are {each} ones" for each in kept - allowed]

    @property
    def histories(self) -> list[History]:
        names = [f"{number}{what}" for number in self.numbers for what in ("", "-companion")]
        return [History.read(self.folder / f"{name}.journal") for name in names]

    def counts(self) -> dict[str, int]:
        histories = self.histories
        syncs = [sync for history in histories for sync in history.syncs]
        edits = [edit for history in histories for edit in history.edits if edit.is_effective]

        def moved(name: str) -> int:
            return sum(sync.told["moves"][name] for sync in syncs if sync.is_done)

        made = {
            what: sum(
                edit.is_made
                for number in self.numbers
                for edit in History.read(self.folder / f"{number}-{what}.journal").edits
            )
            for what in ("photos", "state")
        }
        counts = {
            "kills": self.kills,
            **{f"of them {text}": self.reaper.kills[point] for point, text in POINTS.items()},
            "in the middle of a sync": sum(sync.ended is None for sync in syncs),
            "syncs done": sum(sync.is_done for sync in syncs),
            "edits made": len(edits),
            "of several records": sum(len(edit.rows) > 1 for edit in edits),
            "uploads": moved("uploaded"),
            "downloads": moved("downloaded"),
            "deletions that travelled": moved("deleted_locally"),
            **{f"edits of {what}": count for what, count in made.items()},
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
        remarks = f"{lost} kept as lost, {len(told)} failures told, {self.reaper.requests} requests"
        return turn.worth(counts, remarks)


if __name__ == "__main__":
    sys.exit(turn.main(StoreTurn, STRATEGIES, devices=3))
