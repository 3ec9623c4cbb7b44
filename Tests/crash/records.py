"""A store of records and state whose process is killed at random moments, again and again.

Usage: records.py KILLS [--seed N]; PYTHONPATH has Bindings/Python. A child writes what it is about to do
and what was acknowledged into a journal, until it is killed, some with a second process; the next one first
compares the store with all that could be, and goes on from there. Some children migrate, back up, mirror, or
cannot enlarge the store's file, so that the outbox file takes over; see saver.py, which does all this, and
ledger.py, which knows what must be there.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from ledger import Ledger
from saver import Saver, upkeep

#: Seconds that a child may take to end normally.
PATIENCE = 120


def start(folder: Path, seed: str, is_limited: bool) -> tuple[int, int]:
    """A child that works until it is killed; a pipe tells when it has looked at the store."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        os.close(reading)
        # Both are killed at once.
        os.setpgid(0, 0)
        dice = random.Random(f"beside {seed}")
        beside = start_beside(folder, dice) if not is_limited and dice.random() < 0.3 else None
        saver = Saver(folder, random.Random(seed))
        saver.verify()
        if beside is not None:
            saver.journal.write("beside")
            os.write(beside, b"!")
        os.write(writing, b"!")
        saver.work(is_limited)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(1)


def start_beside(folder: Path, dice: random.Random) -> int:
    """A second process, which begins when it reads from the pipe that is returned."""
    reading, writing = os.pipe()
    if os.fork():
        os.close(reading)
        return writing
    try:
        os.close(writing)
        upkeep(folder, reading, dice)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
        (folder / "failed").touch()
    os._exit(1)


def life(folder: Path, seed: str, seconds: float, is_limited: bool) -> str | None:
    """One child from its start to its end; what is wrong, if something is."""
    child, ready = start(folder, seed, is_limited)
    try:
        if os.read(ready, 1) != b"!":
            os.waitpid(child, 0)
            return "a store that was killed is not as it was acknowledged (see above)"
    finally:
        os.close(ready)
    time.sleep(seconds)
    os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if (folder / "failed").exists():
        return "the second process ended early (see above)"
    return None if os.WIFSIGNALED(status) else "a child ended early (see above)"


def run(folder: Path, kills: int, seed: int) -> tuple[int, str | None]:
    """How many were killed, and what is wrong, if something is."""
    dice, done = random.Random(seed), 0
    for number in range(3 * kills):
        # Situations that have not occurred yet get more of them.
        if number >= kills and not Ledger.read(folder).missing():
            break
        # Most are killed in their first steps, where the store is opened, migrated and drained. Before
        # something is spooled, it is tried for half a second.
        is_limited = dice.random() < 0.06
        seconds = 0.4 + dice.random() if is_limited else 0.08 * dice.random() ** 2
        problem = life(folder, f"{seed}-{number}", seconds, is_limited)
        if problem:
            return number, f"after {number} kills: {problem}; the store is in {folder}"
        done = number + 1
    return done, None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="satchel-records-"))
    kills, problem = run(folder, options.kills, options.seed)
    ledger = Ledger.read(folder)
    print(f"records, seed {options.seed}: {kills} kills, {ledger.acknowledged} acknowledged changes")
    print(f"  {ledger.told}")
    if problem:
        print(f"records: not so: {problem}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    # The count shows that every situation occurred.
    missing = [] if problem else ledger.missing()
    for kind in missing:
        print(f"records: never happened: {kind}", file=sys.stderr)
    failed = (problem is not None) + len(missing)
    print(f"{kills if not failed else 0} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
