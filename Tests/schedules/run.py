"""Random schedules of devices that share a user's data, with everything that can happen to them.

Usage: run.py COUNT [--seed N] [--processes 2] [--trace]

Each schedule has a seed; ``run.py 1 --seed N --trace`` repeats one and shows what happens in it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from multiprocessing import get_context
from pathlib import Path

from schedule import Fault, Schedule


def perform(arguments: tuple[int, bool]) -> tuple[int, str | None, int]:
    """One schedule; what is wrong, if something is, and the number of kills."""
    seed, is_traced = arguments
    with tempfile.TemporaryDirectory() as folder:
        schedule = Schedule(seed, Path(folder), is_traced)
        try:
            schedule.run()
        except Fault as fault:
            return seed, str(fault), schedule.kills
        except Exception:
            return seed, traceback.format_exc(limit=8), schedule.kills
    return seed, None, schedule.kills


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument(
        "--seed", type=int, default=int(os.environ.get("SATCHEL_SEED", time.time_ns() % 1_000_000))
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    work = [(options.seed + each, options.trace) for each in range(options.count)]
    failed = kills = 0
    with get_context("spawn").Pool(options.processes, maxtasksperchild=50) as pool:
        for seed, fault, killed in pool.imap_unordered(perform, work):
            kills += killed
            if fault:
                failed += 1
                print(f"FAILED: run.py 1 --seed {seed} --trace\n{fault}", flush=True)
    print(f"{kills} processes were killed at a request")
    print(f"{options.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
