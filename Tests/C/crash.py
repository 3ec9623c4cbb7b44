"""Kills a writer at random moments; nothing acknowledged may be lost, and nothing half done may stay.

Usage: crash.py CRASH_WRITER FOLDER. SATCHEL_CRASHES says how often (30), SATCHEL_SEED makes a run repeatable.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

PLACES = 5


def killed(writer: str, store: Path, first: int, delay: float, is_begun: bool) -> list[int]:
    """Lets a writer run for a while and kills it; the generations it acknowledged.

    :param is_begun: whether the while begins with the first acknowledgement
    """
    process = subprocess.Popen([writer, "write", str(store), str(first)], stdout=subprocess.PIPE)
    # Most are killed while they write, some while they open the store.
    begun = process.stdout.readline() if is_begun else b""
    time.sleep(delay)
    process.kill()
    output, _ = process.communicate()
    output = begun + output
    if process.returncode != -9:
        raise RuntimeError(f"the writer ended early with {process.returncode}")
    # A number is acknowledged when its whole line was written; a kill may cut the last one.
    return [int(line) for line in output.decode().split("\n")[:-1]]


def stored(writer: str, store: Path) -> dict[int, int]:
    """The generation of each place, from a store that was found sound and whole."""
    done = subprocess.run([writer, "check", str(store)], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return {int(place): int(generation) for place, generation in map(str.split, done.stdout.splitlines())}


def main(writer: str, folder: Path) -> int:
    crashes = int(os.environ.get("SATCHEL_CRASHES", "30"))
    seed = int(os.environ.get("SATCHEL_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    store = folder / "crash.satchel"
    expected: dict[int, int] = {}
    first, total, passed, failed = 1, 0, 0, 0
    for crash in range(crashes):
        try:
            delay = dice.choice([0.004, 0.03, 0.15]) * (0.2 + dice.random())
            acknowledged = killed(writer, store, first, delay, dice.random() < 0.5)
            for generation in acknowledged:
                expected[generation % PLACES] = generation
            found = stored(writer, store)
            under_way = acknowledged[-1] + 1 if acknowledged else first
            for place, generation in expected.items():
                allowed = {generation, under_way} if under_way % PLACES == place else {generation}
                if found.get(place) not in allowed:
                    raise RuntimeError(
                        f"place {place} has generation {found.get(place)} instead of {generation}"
                    )
            if surplus := set(found) - set(expected) - {under_way % PLACES}:
                raise RuntimeError(f"places {surplus} hold what was never written")
            expected = found
            total += len(acknowledged)
            first = under_way + 1
            passed += 1
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"crash {crash} (SATCHEL_SEED={seed}): {error}", file=sys.stderr)
            failed += 1
            break
    if total == 0:
        print("no write was ever acknowledged", file=sys.stderr)
        failed += 1
    print(f"crash: {crashes} kills, {total} writes acknowledged, seed {seed}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
