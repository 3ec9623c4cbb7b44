"""SQLite's WAL-reset bug through the library: two handles of one store checkpoint, and nothing is lost.

Usage: wal_reset_library.py FOLDER, with stalling_preload.c preloaded, SATCHEL_LIBRARY set, and
Bindings/Python in PYTHONPATH. wal_reset.c shows the same in SQLite alone, and says what happens. Here the
second checkpoint is that of a writer whose commit finds the log over its limit, or that of the library's
checkpointer thread.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import satchel

#: Seconds for each condition.
PATIENCE = 60
#: Another thread of the library may come to a point first; a new store is another try.
TRIES = 4
IN_CHECKPOINT, AT_HAS_MOVED = 0, 1
PAGE = "x" * 3000
#: Pages of the log from which on a commit runs a checkpoint.
LIMIT = 4000


class NotReached(Exception):
    """The store did not come into the state that is to be tested."""


@dataclass(frozen=True)
class Log:
    """The state of a write-ahead log: frames in it, and how many of them a checkpoint has copied."""

    frames: int
    copied: int

    @classmethod
    def of(cls, path: Path) -> Log:
        index = Path(f"{path}-shm").read_bytes()
        return cls(*struct.unpack_from("=I", index, 16), *struct.unpack_from("=I", index, 96))


class Stall:
    """A point at which the next thread stops; see stalling_vfs.h."""

    calls = ctypes.CDLL(None)

    def __init__(self, point: int) -> None:
        self.point = point
        self.calls.stalling_arm(point)

    def wait(self, what: str) -> None:
        if not self.calls.stalling_wait(self.point, PATIENCE):
            raise NotReached(f"{what}: the point was not reached within {PATIENCE} s")

    def release(self) -> None:
        self.calls.stalling_release(self.point)


def eventually(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise NotReached(f"{what}: not within {PATIENCE} s")
        time.sleep(0.002)


class Scenario:
    """Two handles, ``first`` and ``second``, and the point at which ``second`` is about to checkpoint."""

    name = ""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.first = satchel.open(path)
        self.second = satchel.open(path)
        self.notes = self.first.records("notes")
        self.others = self.second.records("notes")
        self.notes.put("row", {"value": "old"})
        self.filled = 0

    @property
    def log(self) -> Log:
        return Log.of(self.path)

    @property
    def has_copied_all(self) -> bool:
        return self.log.copied == self.log.frames > 0

    def fill(self, store: satchel.Store, count: int) -> None:
        notes = store.records("notes")
        with store.batch():
            for _ in range(count):
                self.filled += 1
                notes.put(f"fill-{self.filled}", {"value": self.filled, "text": PAGE})

    def fill_log(self, frames: int, step: int) -> None:
        """Commits until the log has so many frames."""

        def fill() -> bool:
            self.fill(self.first, step)
            return self.log.frames >= frames

        eventually(fill, f"a log of {frames} frames")

    def prepare(self) -> None:
        """Makes the log so long that the next commits find it over the limit."""
        raise NotImplementedError

    def commit_second(self) -> None:
        """Commits what makes ``second`` checkpoint."""
        raise NotImplementedError

    def copy_first(self) -> None:
        """Commits what makes ``first`` copy all of the log."""
        raise NotImplementedError

    def reset(self) -> None:
        """Stops ``second`` in its checkpoint, and lets ``first`` begin the log from its start."""
        self.prepare()
        self.others.get("row")
        committed = Stall(AT_HAS_MOVED)
        thread = threading.Thread(target=self.commit_second, daemon=True)
        thread.start()
        in_checkpoint = None
        try:
            committed.wait("the second handle's commit")
            # Repeats: a read transaction that the library keeps for some milliseconds delays a checkpoint.
            self.copy_first()
            in_checkpoint = Stall(IN_CHECKPOINT)
            committed.release()
            in_checkpoint.wait("the second handle's checkpoint")
            self.notes.put("row", {"value": "new"})
        finally:
            committed.release()
            if in_checkpoint:
                in_checkpoint.release()
            thread.join(PATIENCE)
        if thread.is_alive():
            raise NotReached("the second handle's commit does not end")
        self.settle()

    def settle(self) -> None:
        """Waits until no thread of the library works on the log."""

    def run(self) -> list[str]:
        """Returns what was lost."""
        self.reset()
        self.notes.put("after", {"value": "acknowledged"})
        self.others.put("after-too", {"value": "acknowledged"})
        problems = []
        for name, store in [("first", self.first), ("second", self.second)]:
            problems += [f"{name} handle: {each}" for each in self.missing(store)]
        with satchel.open(self.path) as third:
            problems += [f"a new handle: {each}" for each in self.missing(third)]
        self.first.close()
        self.second.close()
        with satchel.open(self.path) as last:
            problems += [f"opened again: {each}" for each in self.missing(last)]
            problems += [f"check: {finding.message}" for finding in last.check()]
        return problems

    def missing(self, store: satchel.Store) -> list[str]:
        notes = store.records("notes")
        expected = {"row": "new", "after": "acknowledged", "after-too": "acknowledged"}
        expected |= {f"fill-{number}": number for number in range(1, self.filled + 1)}
        found = {key: (notes.get(key) or {}).get("value") for key in expected}
        wrong = [key for key in expected if found[key] != expected[key]]
        return [f"{len(wrong)} records are not as they were acknowledged, {wrong[0]} first"] if wrong else []


class SmallCommits(Scenario):
    """Small commits, which checkpoint by themselves."""

    name = "small commits"

    def prepare(self) -> None:
        self.fill_log(1500, 1500)
        self.fill_log(LIMIT - 100, 20)
        self.fill_log(LIMIT - 20, 1)
        self.others.put("step", {"value": 1})
        eventually(self._is_nearly_full, "a log that is nearly full")

    def _is_nearly_full(self) -> bool:
        if self.log.frames < LIMIT - 3:
            self.notes.put("step", {"value": self.log.frames})
        return self.log.frames >= LIMIT - 3

    def commit_second(self) -> None:
        self.others.put("second", {"value": PAGE})

    def copy_first(self) -> None:
        def put() -> bool:
            self.notes.put("first", {"value": PAGE})
            return self.has_copied_all

        eventually(put, "a checkpoint by a commit of the first handle")


class LargeCommits(Scenario):
    """Commits of more than a thousand pages, after which a thread of the library checkpoints."""

    name = "large commits"

    def prepare(self) -> None:
        self.fill(self.second, 4200)
        eventually(lambda: self.log.copied >= LIMIT, "a first checkpoint by the thread")
        self.notes.put("step", {"value": 1})
        self.others.get("step")
        self.fill_log(1500, 1500)
        self.fill_log(3000, 20)

    def commit_second(self) -> None:
        self.fill(self.second, 1500)

    def copy_first(self) -> None:
        def put() -> bool:
            self.notes.put("first", {"value": PAGE})
            return self.has_copied_all

        eventually(put, "a checkpoint by a commit of the first handle")

    def settle(self) -> None:
        # Closing waits for the thread, which may still copy.
        self.second.close()
        self.second = satchel.open(self.path)
        self.others = self.second.records("notes")


def attempt(scenario: type[Scenario], folder: Path) -> list[str]:
    """Returns what a scenario lost; one that no attempt could bring about counts as a loss."""
    problems = []
    for number in range(TRIES):
        try:
            return scenario(folder / f"{scenario.__name__}-{number}.satchel").run()
        except satchel.SatchelError as error:
            return [f"{type(error).__name__}: {error}"]
        except NotReached as error:
            problems.append(f"not reached: {error}")
    return problems


def main(folder: Path) -> int:
    passed = failed = 0
    for scenario in [SmallCommits, LargeCommits]:
        problems = attempt(scenario, folder)
        for problem in problems:
            print(f"wal_reset_library: {scenario.name}: {problem}", file=sys.stderr)
        passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed")
    sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
