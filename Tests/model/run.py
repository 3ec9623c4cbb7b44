#!/usr/bin/env python3
"""Schedules of the model of the sync log.

Usage: run.py [SCHEDULES] [--first SEED]     all keep the rules of checks.py
       run.py mutants [SCHEDULES] [NAME...]  each mutant, which breaks one rule of the protocol, is found;
                                             in `make test` every third one, as SATCHEL_SEED selects
       run.py seed N [MUTANT]                one schedule, with its history

The model is the protocol without bytes; the simulation of SatchelSyncTests runs the code under the same
rules. A rule of the protocol is added here first.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from multiprocessing import Pool

from sync_log import Violation
from world import World, run

#: The mutants, and the mistake of each.
MUTANTS = {
    "no condition": "the head is written without a condition",
    "head first": "the head is written before the packs that it names",
    "no fence": "garbage is deleted without a head write",
    "ignores fence": "a segment is named although a sweep may have deleted it",
    "no intent": "an upload whose outcome is unknown is not looked for",
    "new bytes": "an upload is replaced before its outcome is known",
    "believes old": "an older head is accepted as a new one",
    "confirms all": "all changes are confirmed, not those that were sent",
    "skips straddling packs": "packs that begin before the position are skipped",
    "drops tombstones": "compaction drops tombstones above the horizon",
    "no renewal": "a new log is joined without sending again what it lacks",
    "applies forks": "an entry that was not built on the base is applied as if it were",
    "older as other": "local content is decided against a version that it was built on",
    "vector only": "a full version vector without the base's writer counts as a fork",
    "drops in any order": "a dropped tombstone leaves the packs before what it deleted",
    "keeps base": "the base of a dropped tombstone is kept",
    "goes on below": "a device below the horizon reads only what is new",
    "one clock": "only the own clock is believed",
    "dates the new head": "the head that is written gets the time, not the one that was read",
    "over closed": "a closed head is replaced like any other",
    "lists after closing": "what is deleted with an account is listed after the closed head was written",
    "creates in empty": "a head is created in an empty remote",
}
#: The schedules that are given out at once.
BATCH = 400
#: Mistakes that chance seldom brings to light need more schedules.
SELDOM = {"ignores fence", "new bytes", "applies forks", "lists after closing", "creates in empty"}


def judge(task: tuple[int, str]) -> tuple[int, str, tuple[int, int]]:
    """A seed, what it has violated, and how many commits and races it had."""
    seed, mutant = task
    try:
        world: World = run(seed, mutant)
    except Violation as violation:
        return seed, str(violation), (0, 0)
    except Exception as error:  # A mistake of the model itself.
        return seed, f"{type(error).__name__}: {error}", (0, 0)
    return seed, "", (world.commits, world.races)


def judged(
    pool: Pool, first: int, count: int, mutant: str = ""
) -> Iterator[tuple[int, str, tuple[int, int]]]:
    for start in range(first, first + count, BATCH):
        seeds = range(start, min(start + BATCH, first + count))
        yield from pool.imap(judge, ((seed, mutant) for seed in seeds), chunksize=20)


def check(pool: Pool, count: int, first: int) -> bool:
    bad, commits, races = 0, 0, 0
    for seed, violation, numbers in judged(pool, first, count):
        commits, races = commits + numbers[0], races + numbers[1]
        if violation:
            bad += 1
            print(f"seed {seed}: {violation}")
        if bad == 20:
            break
    print(f"{count} schedules with {commits} commits and {races} lost races: {bad} violations", flush=True)
    return bad == 0


def find(pool: Pool, mutant: str, count: int) -> bool:
    for seed, violation, _ in judged(pool, 0, count, mutant):
        if violation:
            print(f"{mutant}: seed {seed}: {violation}", flush=True)
            return True
    print(f"{mutant}: not found in {count} schedules", flush=True)
    return False


def chosen_mutants() -> list[str]:
    seed = os.environ.get("SATCHEL_SEED")
    if seed is None or os.environ.get("SATCHEL_CHANCE") == "all":
        return list(MUTANTS)
    return list(MUTANTS)[int(seed) % 3 :: 3]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="*", default=["1000"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    what = arguments.what
    if what[0] == "seed":
        run(int(what[1]), what[2] if len(what) > 2 else "", is_logging=True)
        return 0
    with Pool(arguments.processes) as pool:
        if what[0] != "mutants":
            right = check(pool, int(what[0]), arguments.first)
            print("1 passed" if right else "1 failed")
            return 0 if right else 1
        count = int(what[1]) if len(what) > 1 else 0
        results = [
            find(pool, mutant, count or (20_000 if mutant in SELDOM else 2_000))
            for mutant in what[2:] or chosen_mutants()
        ]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
