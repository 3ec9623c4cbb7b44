"""Runs jobs interleaved: a round runs each job once, so that the machine's load is the same for all."""

import json
import os
import shutil
import statistics
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from .places import DATA, HERE, LIBRARY, PYTHON_PACKAGE, RECORDS, STORES

TIMEOUT_SECONDS = 400
BULKY = """
headers section entity_ids found reports exported unchanged changed got page page_after camera box
months months_after local digest final started
""".split()
"""The output of a job that is only checked."""


class WrongAnswerError(Exception):
    """A job answered, but not what it should have."""


@dataclass(frozen=True)
class Job:
    """A program that prints one line of JSON."""

    name: str
    command: list[str]
    fresh: Path | None = None
    """A directory that is emptied before every run."""
    evict: Path | None = None
    """A directory whose files are dropped from the page cache before every run."""
    rounds: int | None = None
    """At most so many rounds, for what takes long."""
    check: Callable[[bytes, dict[str, Any]], None] | None = None
    """Raises WrongAnswerError when the answer is not the right one."""


@dataclass
class Figures:
    """The outputs of the jobs of a workload."""

    records: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def median(self, name: str, key: str) -> float | None:
        """None when the job did not run or failed."""
        found = [record[key] for record in self.records.get(name, []) if key in record]
        return statistics.median(found) if found and name not in self.failures else None

    def spread(self, name: str, key: str) -> tuple[float, float] | None:
        found = [record[key] for record in self.records.get(name, []) if key in record]
        return (min(found), max(found)) if found else None

    def best(self, names: Iterable[str], key: str) -> tuple[str, float] | None:
        """The smallest median of some jobs, and whose it is."""
        found = [(self.median(name, key), name) for name in names]
        known = [(value, name) for value, name in found if value is not None]
        return (min(known)[1], min(known)[0]) if known else None


def store(workload: str, name: str) -> Path:
    return STORES / f"{workload}-{name}"


def evict(directory: Path) -> None:
    """Drops a directory's files from the page cache; what is dirty is written first, or it would stay."""
    os.sync()
    for path in directory.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": f"{HERE}:{PYTHON_PACKAGE}",
        # Packages are compiled once, as installing them does.
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(DATA / "compiled"),
        "SATCHEL_LIBRARY": str(LIBRARY),
    }


def run_once(job: Job) -> dict[str, Any]:
    if job.fresh is not None:
        shutil.rmtree(job.fresh, ignore_errors=True)
        job.fresh.mkdir(parents=True)
        # This job must not wait for unwritten pages of the job before.
        os.sync()
    if job.evict is not None:
        evict(job.evict)
    done = subprocess.run(
        job.command, capture_output=True, timeout=TIMEOUT_SECONDS, env=environment(), cwd=HERE, check=False
    )
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise WrongAnswerError(lines[-1] if lines else f"ended with status {done.returncode}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if job.check is not None:
        job.check(done.stdout, answer)
    return {key: value for key, value in answer.items() if key not in BULKY}


def run(workload: str, jobs: list[Job], rounds: int, show: str) -> Figures:
    """`show` is the figure to print while running."""
    figures = Figures()
    RECORDS.mkdir(exist_ok=True)
    started = monotonic()
    with (RECORDS / f"{workload}.jsonl").open("w") as out:
        for turn in range(rounds):
            for job in jobs:
                if job.name in figures.failures or (job.rounds is not None and turn >= job.rounds):
                    continue
                try:
                    record = run_once(job)
                except (WrongAnswerError, subprocess.TimeoutExpired, ValueError, OSError) as error:
                    figures.failures[job.name] = str(error)
                    print(f"  {workload} {job.name}: FAILED: {error}", flush=True)
                    continue
                figures.records.setdefault(job.name, []).append(record)
                out.write(json.dumps({"round": turn, "name": job.name, **record}) + "\n")
                out.flush()
            print(f"  {workload} round {turn + 1}/{rounds}, {monotonic() - started:.0f} s", flush=True)
    for job in jobs:
        value = figures.median(job.name, show)
        if value is not None:
            low, high = figures.spread(job.name, show)
            print(f"  {job.name:24} {show} {value:10.3f}   ({low:.3f} to {high:.3f})", flush=True)
    return figures
