"""Two processes change the same records and synchronize, one first, the other first, and both at once.

Usage: orders.py [ROUNDS], so often at once. Beside an object store, as photos.py. rivals.py has the expected
outcomes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import rivals
from rivals import Outcome, Rivalry, promised

PEER = Path(__file__).with_name("peer.py")
#: Whichever comes first, these come to the same.
ALIKE = ("newest_wins", "merge")


class Process:
    """A device."""

    def __init__(self, path: Path, prefix: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(PEER), str(path), prefix],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.process.communicate()

    def tell(self, *command: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"a device has ended, {self.process.wait()}")
        return json.loads(line)

    def ask(self, *command: Any) -> Any:
        self.tell(*command)
        return self.answer()


class Meeting:
    """Two devices that have changed the same records, and a strategy."""

    def __init__(self, pair: list[Process], strategy: str) -> None:
        self.pair = pair
        self.strategy = strategy
        self.rivalries = rivals.rivalries()

    def prepare(self) -> None:
        """Both agree on the base, and then change it."""
        for rivalry in self.rivalries:
            if rivalry.base is not None:
                self.pair[0].ask("write", rivalry.id, rivalry.base, rivals.BASE)
        self.settle()
        for number, device in enumerate(self.pair):
            changes = [(each.id, change) for each in self.rivalries if (change := each.changes[number])]
            for id, change in sorted(changes, key=lambda each: each[1].time):
                device.ask("write", id, change.text, change.time)

    def sync(self, *devices: Process) -> bool:
        """Lets devices synchronize at once; whether nothing moved any more."""
        for device in devices:
            device.tell("sync", self.strategy)
        quiet = [device.answer()["is_quiet"] for device in devices]
        return all(quiet)

    def settle(self) -> None:
        for _ in range(10):
            quiet = [self.sync(device) for device in self.pair]
            if all(quiet):
                return
        raise RuntimeError("it does not come to rest")

    def broken(self, firsts: list[int]) -> Iterator[str]:
        """Returns what is not as it was promised.

        :param firsts: the devices that may have been first
        """
        texts = [device.ask("texts") for device in self.pair]
        conflicts = [device.ask("conflicts") for device in self.pair]
        for rivalry in self.rivalries:
            found = [each.get(rivalry.id) for each in texts]
            told = [[each for each in side if each["record"] == rivalry.id] for side in conflicts]
            outcomes = {first: promised(rivalry, self.strategy, first) for first in firsts}
            if not any(fits(rivalry, outcome, first, found, told) for first, outcome in outcomes.items()):
                yield f"{rivalry.id}: both have {found}, with {told}, and not {list(outcomes.values())}"
        yield from (finding for device in self.pair for finding in device.ask("check"))

    def decide(self) -> None:
        """Where the host is asked, it keeps what was later."""
        versions = {rivalry.id: rivalry for rivalry in self.rivalries}
        for number, device in enumerate(self.pair):
            for conflict in [each for each in device.ask("conflicts") if each["kind"] == "open"]:
                rivalry = versions[conflict["record"]]
                mine, other = rivalry.version(number), rivalry.version(1 - number)
                device.ask("resolve", conflict["id"], "local" if mine.rank > other.rank else "remote")
        self.settle()


def fits(
    rivalry: Rivalry,
    outcome: Outcome,
    first: int,
    found: list[str | None],
    told: list[list[dict[str, Any]]],
) -> bool:
    """Whether a record is as promised on both devices, and its conflicts are."""
    second = 1 - first
    expected: list[Any] = [[], []]
    versions = [rivalry.version(device).value for device in range(2)]
    base = json.loads(rivalry.base) if rivalry.base else None
    if outcome.loser is not None or outcome.is_open:
        # The second one decides, and keeps what it knows of both.
        kind = "open" if outcome.is_open else "lost"
        side = None if outcome.is_open else "local" if outcome.loser == second else "remote"
        expected[second] = [(kind, side, versions[second], versions[first], base)]
    names = ("kind", "side", "local", "remote", "base")
    if [[tuple(each[name] for name in names) for each in side] for side in told] != expected:
        return False
    texts = [outcome.text, outcome.text]
    if outcome.is_open:
        texts[second] = rivalry.version(second).text
    elif outcome.text is None:
        return found[0] == found[1] and (json.loads(found[0]) if found[0] else None) == outcome.value
    return found == texts


def meet(strategy: str, order: list[int]) -> tuple[list[str], dict[str, str]]:
    """One meeting: what was not as promised, and what all records were in the end.

    :param order: the devices in the order in which they synchronize; [] for both at once
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="satchel-orders-")))
        prefix = f"orders-{os.getpid()}-{time.time_ns()}/"
        pair = [stack.enter_context(Process(folder / f"{each}.satchel", prefix)) for each in range(2)]
        meeting = Meeting(pair, strategy)
        meeting.prepare()
        for device in order:
            meeting.sync(pair[device])
        if not order:
            meeting.sync(*pair)
        meeting.settle()
        broken = list(meeting.broken(order[:1] or [0, 1]))
        meeting.decide()
        texts = [device.ask("texts") for device in pair]
        if texts[0] != texts[1]:
            broken.append(f"{texts[0]} is not {texts[1]}")
        return broken, texts[0]


def main(rounds: int) -> int:
    passed = failed = 0

    def judge(rule: str, broken: list[str]) -> None:
        nonlocal passed, failed
        passed, failed = passed + (not broken), failed + bool(broken)
        for each in broken:
            print(f"orders: {rule}: NO: {each}", file=sys.stderr)

    for strategy in rivals.STRATEGIES:
        ends: dict[str, dict[str, str]] = {}
        orders = {"first, second": [0, 1], "second, first": [1, 0]}
        orders |= {f"both at once, {each + 1}": [] for each in range(rounds)}
        for name, order in orders.items():
            try:
                broken, ends[name] = meet(strategy, order)
            except RuntimeError as error:
                broken = [str(error)]
            judge(f"{strategy}: {name}", broken)
        if strategy in (*ALIKE, "ask"):
            # With ask, since every resolver decides the same.
            differ = [name for name, end in ends.items() if end != ends.get("first, second")]
            judge(f"{strategy} does not depend on the order", [f"not so: {name}" for name in differ])
    print(f"orders: {len(rivals.rivalries())} records of each strategy, {rounds + 2} orders", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
