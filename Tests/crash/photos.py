"""Devices that edit and synchronise one user's photos and are killed at random moments; see verdict.py.

Usage: photos.py SECONDS [--policy remote_wins|merge_rows] [--devices 2] [--seed N]

Beside an object store: Tests/Servers/run.py ministack -- python Tests/crash/photos.py 120. PYTHONPATH has
Bindings/Python and Tests/Servers. Without a policy both have their turn, SECONDS each. The seed decides edits
and kills; what meets what is up to the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import master
import satchel
import verdict
from device import own_rows, shared_rows
from journal import History

DEVICE = Path(__file__).with_name("device.py")


class Run:
    """One policy's turn."""

    def __init__(self, policy: str, devices: int, seed: int) -> None:
        self.store = json.loads(os.environ["SATCHEL_TEST_S3"])["store"]
        self.folder = Path(tempfile.mkdtemp(prefix="satchel-crash-"))
        self.numbers = range(devices)
        self.dice = random.Random(f"{seed}-{policy}")
        self.options: dict[str, Any] = {
            "folder": str(self.folder), "seed": seed, "policy": policy, "user": "ada",
            "prefix": f"crash-{os.getpid()}-{time.time_ns()}/",
        }  # fmt: skip
        self.kills = 0

    def start(self, number: int, mode: str) -> subprocess.Popen[str]:
        options = json.dumps({**self.options, "number": number, "mode": mode})
        with (self.folder / f"{number}.errors").open("a") as errors:
            return subprocess.Popen(
                [sys.executable, str(DEVICE), options], stdout=subprocess.PIPE, stderr=errors, text=True
            )

    def once(self, number: int, mode: str) -> dict[str, Any]:
        """Lets a device do one thing in peace."""
        process = self.start(number, mode)
        try:
            output, _ = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            raise RuntimeError(f"device {number} does not come to an end") from None
        if process.returncode != 0:
            raise RuntimeError(f"device {number} ended with {process.returncode}: {self.errors(number)}")
        answer: dict[str, Any] = json.loads(output or "{}")
        return answer

    def errors(self, number: int) -> str:
        return (self.folder / f"{number}.errors").read_text()[-2000:]

    def live(self, seconds: float) -> None:
        """Lets all of them live and die."""
        running = {number: (self.start(number, "live"), self.lifetime()) for number in self.numbers}
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                time.sleep(0.01)
                for number, (process, death) in running.items():
                    if process.poll() is not None:
                        code = process.returncode
                        raise RuntimeError(f"device {number} ended by itself, {code}: {self.errors(number)}")
                    if time.monotonic() > death:
                        process.kill()
                        process.wait()
                        self.kills += 1
                        running[number] = (self.start(number, "live"), self.lifetime())
        finally:
            for process, _ in running.values():
                process.kill()
                process.wait()

    def lifetime(self) -> float:
        return time.monotonic() + self.dice.uniform(0.2, 2)

    def settle(self) -> None:
        """Synchronises all until nothing moves."""
        for _ in range(10):
            answers = [self.once(number, "sync") for number in self.numbers]
            if all(answer["is_quiet"] for answer in answers):
                return
        raise RuntimeError(f"it does not come to rest: {answers}")

    def left(self, number: int) -> verdict.Left:
        history = History.read(self.folder / f"{number}.journal")
        with (
            satchel.open(self.folder / f"{number}.satchel") as store,
            store.photos(self.folder / f"photos-{number}") as photos,
        ):
            shards = {each: photos.export_shard(int(each, 16)) for each in master.SHARDS}
            status = photos.status()
            faults = [str(each) for each in store.check()]
            return verdict.Left(number, history, photos.conflicts(), shards, faults, status.changes)

    def faults(self) -> Iterator[tuple[str, list[str]]]:
        """Each rule, and what breaks it."""
        found = master.read(self.store, self.options["prefix"], self.options["user"])
        devices = [self.left(number) for number in self.numbers]
        yield "the master copy is sound", master.faults(found)
        for left in devices:
            differ = [each for each in master.SHARDS if left.shards[each] != found.shards[each]]
            yield f"device {left.number} has what the master has", [f"not in shard {each}" for each in differ]
            pending = [f"{left.changes} changes are pending"] if left.changes else []
            yield f"device {left.number} is sound", left.faults + pending
        syncs = [sync for left in devices for sync in left.history.syncs]
        told = [error for sync in syncs for error in [sync.error or "", *sync.failed.values()] if error]
        others = [each for each in told if not each.startswith("EBUSY")]
        yield "syncs fail only because others are busy", others
        yield "no acknowledged edit is lost", list(verdict.broken_promises(devices, found))
        yield "no edit vanishes", list(verdict.vanished_edits(devices, found))
        yield "every row is whole", list(verdict.torn_rows(devices, found))
        yield from self.worth(devices, told)

    def worth(self, devices: list[verdict.Left], told: list[str]) -> Iterator[tuple[str, list[str]]]:
        """A run in which nothing happened proves nothing."""
        syncs = [sync for left in devices for sync in left.history.syncs]
        edits = [edit for left in devices for edit in left.history.edits]
        rows = [key for number in self.numbers for key in own_rows(number)] + shared_rows()
        all_claims = [claim for left in devices for key in rows for claim in verdict.claims(left, key)]
        conflicts = sum(len(left.conflicts) for left in devices)
        counts = {
            "kills": self.kills,
            "in the middle of a sync": sum(sync.ended is None for sync in syncs),
            "syncs done": sum(sync.is_done for sync in syncs),
            "edits made": sum(edit.is_made for edit in edits),
            "rows acknowledged": sum(claim.acknowledged < float("inf") for claim in all_claims),
        }
        print(", ".join(f"{count} {what}" for what, count in counts.items()),
              f"{conflicts} conflicts, {len(told)} failures told", sep=", ", file=sys.stderr)  # fmt: skip
        yield "the run was worth it", [f"0 {what}" for what, count in counts.items() if count == 0]
        wins = self.options["policy"] == "remote_wins"
        yield "conflicts are where they belong", [] if (conflicts > 0) == wins else [f"{conflicts} conflicts"]


def perform(policy: str, arguments: argparse.Namespace) -> tuple[int, int]:
    """Passed and failed rules of one policy."""
    run = Run(policy, arguments.devices, arguments.seed)
    print(f"crash/photos: {policy}, {arguments.seconds} s, seed {arguments.seed}", file=sys.stderr)
    try:
        run.once(0, "fill")
        # With merge_rows the first sync of all is a race, too; else the filling would only be a conflict.
        if policy == "remote_wins":
            run.once(0, "sync")
        run.live(arguments.seconds)
        run.settle()
        faults = list(run.faults())
    except RuntimeError as error:
        faults = [("the run comes to its end", [str(error)])]
    failed = 0
    for rule, broken in faults:
        failed += bool(broken)
        for each in broken[:20]:
            print(f"{policy}, seed {arguments.seed}: {rule}: NO: {each}", file=sys.stderr)
    if failed:
        print(f"journals and stores stay in {run.folder}", file=sys.stderr)
    else:
        shutil.rmtree(run.folder)
    return len(faults) - failed, failed


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=float)
    parser.add_argument("--policy", choices=["remote_wins", "merge_rows"])
    parser.add_argument("--devices", type=int, default=2)
    seed = os.environ.get("SATCHEL_SEED", str(time.time_ns() % 1_000_000))
    parser.add_argument("--seed", type=int, default=int(seed))
    arguments = parser.parse_args()
    policies = [arguments.policy] if arguments.policy else ["remote_wins", "merge_rows"]
    results = [perform(policy, arguments) for policy in policies]
    passed, failed = (sum(counts) for counts in zip(*results, strict=True))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
