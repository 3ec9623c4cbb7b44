"""Loses the power while a store is written, and opens what may be left of it.

Usage: power.py STATES [--workload NAME]... [--seed N]; PYTHONPATH has Bindings/Python. Each workload runs
under a tracer (power_trace.c), which records all writes, syncs and changes of the directory. The trace gives
states in which unsynced writes are lost, reordered or torn (power_disk.py), at random moments; the library
opens each of them. Nothing that was acknowledged may be missing, and every store must open and be sound
(power_verdict.py). A self-check shows that this finds what is wrong.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from power_disk import Disk, State
from power_host import REMOTE, USER
from power_trace import Event, Mark, compile_tracer, read
from power_verdict import Judge, Progress
from power_workloads import WORKLOADS, Workload

#: States of one trace; more are taken from further traces, with other seeds.
STATES_PER_TRACE = 500
#: Seconds for one state, and for one workload under the tracer: far more than either needs.
DEADLINE = 600
#: Violations of a trace that are printed.
PRINTED = 4
#: Half of the moments follow an event of these types: there, what may be lost changes most.
DECISIVE = "sSDdATRUCLMX"


class Trace:
    """A workload that was run, and what it did to the disk."""

    def __init__(self, workload: Workload, seed: int, folder: Path, tracer: Path) -> None:
        self.workload = workload
        self.folder = folder
        self.inputs = folder / "inputs"
        self.root = folder / "root"
        file = folder / "trace"
        for each in [self.inputs, self.root]:
            each.mkdir(parents=True)
        environment = {
            **os.environ,
            "LD_PRELOAD": str(tracer),
            "TRACE_ROOT": str(self.root),
            "TRACE_FILE": str(file),
        }
        recorder = Path(__file__).with_name("power_record.py")
        command = [sys.executable, str(recorder), workload.name, str(seed), str(self.root), str(self.inputs)]
        subprocess.run(command, env=environment, check=True, timeout=DEADLINE)
        self.events = read(file)
        self._verify()

    def _verify(self) -> None:
        """All events together make the files that are there: the tracer missed nothing."""
        disk = Disk(self.root.resolve())
        for event in self.events:
            disk.apply(event)
        found = {
            str(each.relative_to(self.root)): each.read_bytes()
            for each in self.root.rglob("*")
            if each.is_file() and not each.name.endswith("-shm")
        }
        traced = disk.contents()
        if differing := [name for name in found | traced if found.get(name) != traced.get(name)]:
            raise RuntimeError(f"the trace in {self.folder} does not make the files {differing}")

    def moments(self, dice: random.Random, count: int) -> list[int]:
        """When the power is lost: so many events of the trace are done."""
        events = list(itertools.takewhile(lambda event: not self._is_end(event), self.events))
        decisive = [index + 1 for index, event in enumerate(events) if event.type in DECISIVE]
        return sorted(
            dice.choice(decisive) if dice.random() < 0.5 else dice.randrange(1, len(events) + 1)
            for _ in range(count)
        )

    def _is_end(self, event: Event) -> bool:
        is_limited = self.workload.until != "" and event.type == "C"
        return is_limited and event.path.name.endswith(self.workload.until)

    def states(self, dice: random.Random, count: int) -> Iterator[tuple[State, list[Progress]]]:
        """States of the disk when the power returns, and how far each actor was."""
        disk = Disk(self.root.resolve())
        progress = [Progress() for _ in range(self.workload.actors)]
        done = 0
        for moment in self.moments(dice, count):
            for event in self.events[done:moment]:
                disk.apply(event)
                note(event, progress)
            done = moment
            yield disk.lose_power(dice), [replace(each) for each in progress]


def note(event: Event, progress: list[Progress]) -> None:
    if event.type != "A":
        return
    mark = Mark.of(event)
    if mark.is_begin:
        progress[mark.actor].begun = mark.number
    else:
        progress[mark.actor].acknowledged = mark.number


def search(trace: Trace, judge: Judge, seed: int, count: int, is_quiet: bool = False) -> int:
    """Opens states of a trace.

    :returns: how many of them are not as they must be; the first of them stay in the trace's folder
    """
    dice = random.Random(f"states-{seed}")
    failed = 0
    for number, (state, progress) in enumerate(trace.states(dice, count)):
        # At the same path: what the store has synchronized is bound to it.
        shutil.rmtree(trace.root)
        write(state, trace.root)
        # A call that does not return cannot be interrupted: the process ends, and says where it was.
        faulthandler.dump_traceback_later(DEADLINE, exit=True)
        violations = judge.violations(trace.root, progress, writes=dice.random() < 0.2)
        faulthandler.cancel_dump_traceback_later()
        failed += bool(violations)
        if violations and failed <= PRINTED and not is_quiet:
            folder = trace.folder / f"state-{number}"
            write(state, folder)
            print(
                f"  {folder}:", *violations[:3], *state.description, sep="\n    ", file=sys.stderr, flush=True
            )
    return failed


def write(state: State, folder: Path) -> None:
    folder.mkdir()
    for name, content in state.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def examine(workload: Workload, seed: int, count: int, folder: Path, tracer: Path) -> int:
    """Takes ``count`` states from as many traces as that needs.

    :returns: how many are not as they must be
    """
    failed = 0
    began = time.monotonic()
    events = 0
    for part, first in enumerate(range(0, count, STATES_PER_TRACE)):
        trace = Trace(workload, seed + part, folder / f"{workload.name}-{seed + part}", tracer)
        judge = Judge(workload, seed + part, trace.inputs)
        events += len(trace.events)
        violations = search(trace, judge, seed + part, min(STATES_PER_TRACE, count - first))
        failed += violations
        if not violations:
            shutil.rmtree(trace.folder)
    seconds = time.monotonic() - began
    print(
        f"{workload.name:<10} {count} states of {events} events, {failed} unsound, {seconds:.0f} s",
        flush=True,
    )
    return failed


def finds_faults(seed: int, folder: Path, tracer: Path) -> Iterator[tuple[str, bool]]:
    """Whether the search finds a store that syncs nothing, by name of what was taken away."""
    relaxed = next(each for each in WORKLOADS if each.name == "relaxed")
    trace = Trace(relaxed, seed, folder / "self-check-relaxed", tracer)
    judge = Judge(replace(relaxed, durability="full"), seed, trace.inputs)
    yield "relaxed durability", search(trace, judge, seed, 100, is_quiet=True) > 0

    for name in ["records", "processes"]:
        workload = next(each for each in WORKLOADS if each.name == name)
        trace = Trace(workload, seed, folder / f"self-check-{name}", tracer)
        judge = Judge(workload, seed, trace.inputs)
        wal = next(
            event.inode for event in trace.events if event.type == "C" and event.data.endswith(b"-wal")
        )
        trace.events = [event for event in trace.events if event.type not in "sS" or event.inode != wal]
        yield f"{name} without syncs of the log", search(trace, judge, seed, 50, is_quiet=True) > 0

    workload = next(each for each in WORKLOADS if each.name == "assets")
    trace = Trace(workload, seed, folder / "self-check-assets", tracer)
    judge = Judge(workload, seed, trace.inputs)
    events = trace.events
    incoming = {each.inode for each in events if each.type == "C" and b".assets/incoming/" in each.data}
    trace.events = [each for each in events if each.type not in "sS" or each.inode not in incoming]
    yield "assets without syncs of their files", search(trace, judge, seed, 100, is_quiet=True) > 0
    names = {each.inode for each in events if each.type == "d" and b".assets" in each.data}
    trace.events = [each for each in events if each.type not in "dD" or each.inode not in names]
    yield "assets whose names are not synced", search(trace, judge, seed, 100, is_quiet=True) > 0

    workload = next(each for each in WORKLOADS if each.name == "synced")
    trace = Trace(workload, seed, folder / "self-check-synced", tracer)
    judge = Judge(workload, seed, trace.inputs)
    packs = f"{trace.root.resolve()}/{REMOTE}/records/{USER}/p".encode()
    inodes = {event.inode for event in trace.events if event.type == "d" and event.data == packs}
    trace.events = [event for event in trace.events if event.type not in "dD" or event.inode not in inodes]
    yield "packs whose names are not synced", search(trace, judge, seed, 100, is_quiet=True) > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("states", type=int, help="of each workload")
    parser.add_argument("--workload", action="append", choices=[each.name for each in WORKLOADS])
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SATCHEL_SEED", time.time())))
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="satchel-power-"))
    tracer = compile_tracer(folder)
    print(f"power, seed {options.seed}, {options.states} states of each workload")
    failures: Counter[str] = Counter()
    passed = 0
    for workload in WORKLOADS:
        if options.workload is None or workload.name in options.workload:
            count = options.states * workload.weight
            try:
                failed = examine(workload, options.seed, count, folder, tracer)
            except (RuntimeError, ValueError, subprocess.SubprocessError) as error:
                print(f"{workload.name}: {error}", file=sys.stderr)
                failed = count
            failures[workload.name] = failed
            passed += count - failed
    if options.workload is None:
        for name, is_found in finds_faults(options.seed, folder, tracer):
            print(f"self-check: {name}: {'found' if is_found else 'NOT FOUND'}")
            passed += is_found
            failures["self-check"] += not is_found
    failed = failures.total()
    if failed:
        print(
            f"power: run again with --seed {options.seed}; traces and states are in {folder}", file=sys.stderr
        )
    else:
        shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
