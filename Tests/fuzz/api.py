"""Calls every function of the C interface with random arguments: valid, nearly valid and invalid ones.

Usage: api.py [--seconds 60] [--seed N] [--threads 4]; PYTHONPATH has Bindings/Python. Slices of 400 calls
for each thread run one after the other, each in a process and a folder of its own, by a seed. A slice fails
when it dies, when a call does not return, when the library breaks the contract of satchel.h (api_slice.py),
and when a store that it left cannot be opened or is not sound. The folder of a slice that fails is kept. With
--seed and without --seconds only that slice runs. With --threads 1 its calls are the same each
time, but for those of callbacks on threads of the library.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from api_arguments import ROLES
from satchel._abi import FUNCTIONS

#: Calls of each thread of a slice, and its seconds.
CALLS, SECONDS = 400, 5.0
#: Seconds after which a process that should have ended long ago is killed.
PATIENCE = 150
#: From how many seconds on a run must have called every function, and seen each succeed.
ALL_CALLED, ALL_SUCCEED = 60, 600
#: Functions that need not succeed, and why.
SELDOM = {
    "satchel_store_enter": "needs a batch of another thread that is still open",
    "satchel_records_resolve": "needs an open conflict",
    "satchel_photos_backup_restore": "needs a photo whose file a backup has sent",
    "satchel_photos_resolve": "needs a conflict",
    "satchel_assets_scaled": "needs a picture among the assets",
    "satchel_asset_writer_append": "is called within a function of the host",
}


def part(folder: Path, *arguments: str) -> str | None:
    """Runs a part of this program in a process of its own; what is wrong with its end, if something is."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))
    with (folder / "output").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, __file__, *arguments], cwd=folder, env=environment, stdout=output, stderr=output
        )
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            process.wait()
            return f"did not end within {PATIENCE} s"
    fault = folder / "fault"
    if fault.exists():
        return fault.read_text(encoding="utf-8")
    if code:
        return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
    return None


def tail(path: Path, lines: int) -> str:
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return "\n".join(line[:700] for line in text.splitlines()[-lines:])


def run_slice(folder: Path, seed: int, threads: int) -> bool:
    """One slice, and the examination of the stores that it left."""
    problem = part(folder, "--slice", str(seed), "--threads", str(threads))
    if problem is None:
        examined = part(folder, "--examine")
        problem = f"the stores that it left: {examined}" if examined else None
    if problem is None:
        return True
    print(f"FAILED seed {seed}, {threads} threads: {problem}\nthe last calls:\n{tail(folder / 'calls', 50)}")
    print(f"its output:\n{tail(folder / 'output', 30)}\nits folder: {folder}", flush=True)
    return False


def examine() -> None:
    """Opens every store of a slice's folder and checks it; also the copies that were made of it."""
    import satchel

    problems = []
    for folder in ("stores", "backups", "rotated", "recovered"):
        for path in sorted(Path(folder).iterdir()):
            if "quarantine" in path.name or path.name.endswith(("-shm", "-wal", ".outbox", ".assets")):
                continue
            with path.open("rb") as file:
                if file.read(15) != b"SQLite format 3":
                    continue
            try:
                with satchel.open(path) as store:
                    # The remains of a damaged file may not fit together: recovering says so.
                    is_sound = folder != "recovered" and not Path("unsound").exists()
                    findings = store.check() if is_sound else []
                    findings = [each for each in findings if not is_expected(each.code, each.message)]
            except Exception as error:
                findings = [error]
            problems += [f"{path}: {finding}" for finding in findings]
    if problems:
        Path("fault").write_text("\n".join(problems), encoding="utf-8")


def is_expected(code: str, message: str) -> bool:
    """Whether calls leave such a finding in a sound store. A change in the outbox file may violate a
    constraint when it is drained; one of a sensitive list, set or scores waits until a process sets the key.
    """
    return code == "rejected_change" or (
        code == "state" and message.endswith("a change waits for the encryption key")
    )


def missing(called: Counter[str], succeeded: Counter[str], seconds: float) -> list[str]:
    """Functions that a run of so many seconds should have called, or should have seen succeed."""
    faults = []
    if seconds >= ALL_CALLED:
        faults += [f"{name} was never called" for name in FUNCTIONS if not called[name]]
    if seconds >= ALL_SUCCEED:
        faults += [
            f"{name} never succeeded" for name in FUNCTIONS if not succeeded[name] and name not in SELDOM
        ]
    return faults


def run(first: int, seconds: float, threads: int) -> tuple[int, int]:
    """Slices from a seed on, until the time is over: how many passed, and how many failed."""
    called: Counter[str] = Counter()
    succeeded: Counter[str] = Counter()
    passed = failed = 0
    end = time.monotonic() + seconds
    while passed + failed == 0 or time.monotonic() < end:
        folder = Path(tempfile.mkdtemp(prefix="satchel-fuzz-"))
        if run_slice(folder, first + passed + failed, threads):
            counts = json.loads((folder / "counts").read_text(encoding="utf-8"))
            called.update(counts[0])
            succeeded.update(counts[1])
            passed += 1
            shutil.rmtree(folder)
        else:
            failed += 1
    print(f"{called.total()} calls of {len(called)} functions, {succeeded.total()} succeeded")
    rarest = sorted(FUNCTIONS, key=lambda name: succeeded[name])[:5]
    print("succeeded least often:", ", ".join(f"{name} ({succeeded[name]})" for name in rarest))
    if faults := missing(called, succeeded, seconds):
        print("\n".join(faults))
        failed += 1
    return passed, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--slice", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--examine", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.slice is not None:
        from api_slice import Slice

        work = Slice(options.slice, CALLS, SECONDS)
        work.prepare()
        work.run(options.threads)
        os._exit(0)
    if options.examine:
        examine()
        return 0
    if differing := set(ROLES) ^ set(FUNCTIONS):
        print(f"api_roles.py and satchel.h differ: {', '.join(sorted(differing))}", file=sys.stderr)
        return 1
    seed = random.randrange(2**40) if options.seed is None else options.seed
    seconds = (60 if options.seed is None else 0) if options.seconds is None else options.seconds
    print(f"seeds from {seed}", flush=True)
    passed, failed = run(seed, seconds, options.threads)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
