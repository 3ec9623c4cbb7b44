"""One turn of devices that live, are killed all the time, and are let come to rest; then rules are checked.

A script of its own has the actions of a device. It is started again after each kill, with a JSON object
of options as its argument: folder, number, seed, policy, user, prefix and mode.
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
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from line import Line

Verdict = tuple[str, list[str]]
"""A rule, and what breaks it."""


class Turn(ABC):
    """The devices of one policy, beside the object store that SATCHEL_TEST_S3 tells of."""

    #: The script that devices run.
    script: Path
    #: How long they may take to come to rest, in seconds.
    timeout = 60.0

    def __init__(self, policy: str, arguments: argparse.Namespace) -> None:
        seed, devices = arguments.seed, arguments.devices
        self.told: dict[str, Any] = json.loads(os.environ["SATCHEL_TEST_S3"])
        self.store: dict[str, Any] = self.told["store"]
        self.folder = Path(tempfile.mkdtemp(prefix="satchel-crash-"))
        self.policy = policy
        self.numbers = range(devices)
        self.dice = random.Random(f"{seed}-{policy}")
        self.options: dict[str, Any] = {
            "folder": str(self.folder), "seed": seed, "policy": policy, "user": "ada",
            "prefix": f"crash-{os.getpid()}-{time.time_ns()}/",
        }  # fmt: skip
        self.kills = 0
        self.is_line_broken: bool = arguments.broken_line
        if self.is_line_broken:
            self.options["endpoint"] = self.told["proxy"]

    @abstractmethod
    def prepare(self) -> None:
        """Prepares, before the first of them is killed."""

    @abstractmethod
    def faults(self) -> Iterator[Verdict]:
        """Verifies the outcome."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Returns what has happened, by the journals. A run in which something never did proves nothing."""

    @property
    def lives(self) -> list[tuple[int, str]]:
        """Devices that are killed and started again."""
        return [(number, "live") for number in self.numbers]

    def start(self, number: int, mode: str, **more: Any) -> subprocess.Popen[str]:
        options = json.dumps({**self.options, "number": number, "mode": mode, **more})
        with (self.folder / f"{number}.errors").open("a") as errors:
            return subprocess.Popen(
                [sys.executable, str(self.script), options], stdout=subprocess.PIPE, stderr=errors, text=True
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
        running = {life: (self.start(*life), self.lifetime()) for life in self.lives}
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                time.sleep(0.01)
                for life, (process, death) in running.items():
                    if process.poll() is not None:
                        code, errors = process.returncode, self.errors(life[0])
                        raise RuntimeError(f"device {life[0]} ended early, {code}: {errors}")
                    if time.monotonic() > death:
                        process.kill()
                        process.wait()
                        self.kills += 1
                        running[life] = (self.start(*life), self.lifetime())
        finally:
            for process, _ in running.values():
                process.kill()
                process.wait()

    def lifetime(self) -> float:
        return time.monotonic() + self.dice.uniform(0.2, 2)

    def settle(self) -> None:
        """Synchronizes all until nothing moves. What had failed may have to wait until it is tried again."""
        end = time.monotonic() + self.timeout
        while True:
            answers = [self.once(number, "sync") for number in self.numbers]
            if all(answer["is_quiet"] for answer in answers):
                return
            if time.monotonic() > end:
                raise RuntimeError(f"it does not come to rest: {answers}")

    def perform(self, seconds: float) -> tuple[int, int]:
        """Passed and failed rules."""
        seed = self.options["seed"]
        print(f"crash/{Path(sys.argv[0]).stem}: {self.policy}, {seconds} s, seed {seed}", file=sys.stderr)
        try:
            self.prepare()
            with Line(self.told["admin"], self.dice) if self.is_line_broken else nullcontext():
                self.live(seconds)
                for _ in range(12):
                    # A machine that has much else to do.
                    if all(self.counts().values()):
                        break
                    self.live(seconds)
            self.settle()
            verdicts = list(self.faults())
        except RuntimeError as error:
            verdicts = [("the run comes to its end", [str(error)])]
        failed = 0
        for rule, broken in verdicts:
            failed += bool(broken)
            for each in broken[:20]:
                print(f"{self.policy}, seed {seed}: {rule}: NO: {each}", file=sys.stderr)
        if failed:
            print(f"journals and stores stay in {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder)
        return len(verdicts) - failed, failed


def worth(counts: dict[str, int], remarks: str) -> Verdict:
    """Whether all that can happen did."""
    print(", ".join(f"{count} {what}" for what, count in counts.items()), remarks, sep=", ", file=sys.stderr)
    return "the run was worth it", [f"0 {what}" for what, count in counts.items() if count == 0]


def main(turn: type[Turn], policies: list[str], devices: int = 2) -> int:
    """One turn of each policy, or of the one that the arguments name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=float)
    parser.add_argument("--policy", choices=policies)
    parser.add_argument("--some", action="store_true", help="half of the policies, as the seed selects")
    parser.add_argument("--devices", type=int, default=devices)
    parser.add_argument("--broken-line", action="store_true", help="requests and answers are lost, too")
    seed = os.environ.get("SATCHEL_SEED", str(time.time_ns() % 1_000_000))
    parser.add_argument("--seed", type=int, default=int(seed))
    arguments = parser.parse_args()
    first, count = arguments.seed % len(policies), len(policies) // 2 if arguments.some else len(policies)
    chosen = [arguments.policy] if arguments.policy else (policies * 2)[first : first + count]
    turns = (turn(policy, arguments) for policy in chosen)
    results = [each.perform(arguments.seconds) for each in turns]
    passed, failed = (sum(counts) for counts in zip(*results, strict=True))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
