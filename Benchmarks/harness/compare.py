"""Two builds of the library beside each other, in turns: what a change costs or gains in W1, W3 and W5.

make bench-compare OLD=…/libsatchel.so.0 NEW=…/libsatchel.so.0

A figure has changed when every round of the new build is on the same side of the round of the old one before
it, and the median of their ratios differs from 1 by more than a twentieth.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

from .build import build
from .generate import FULL, generate
from .persist import write_command
from .photo_data import Gallery, generate_photos
from .photos import program as photo_program
from .places import LIBRARY
from .record_data import RecordSet, generate_records
from .records import program as record_program
from .runner import store

GALLERY, RECORDS = Gallery(1_000_000), RecordSet(100_000)
SONAME = "libsatchel.so.0"
NOISE = 0.05
FIGURES = {
    "W1": {"seconds": "W1 persist, each synced: s", "p95_us": "W1 a payload, 95 of 100: µs"},
    "W3": {"import_s": "W3 import: s", "export_s": "W3 export: s", "noop_s": "W3 nothing changed: s"},
    "W5": {
        "put_us": "W5 a durable record, median: µs",
        "put_p95_us": "W5 a durable record, 95 of 100: µs",
        "read_us": "W5 a record by its id: µs",
        "batch_s": "W5 99,000 in batches: s",
    },
}


def commands() -> dict[str, tuple[Path, list[str]]]:
    """The directory of each workload's store, and its command."""
    places = {name: store("compare", name) for name in FIGURES}
    target = f"store={places['W1']}/store.satchel"
    words = write_command("satchel", FULL)
    persist = [target if word.startswith("store=") else word for word in words]
    return {
        "W1": (places["W1"], persist),
        "W3": (places["W3"], photo_program("satchel", GALLERY, places["W3"])),
        "W5": (places["W5"], record_program("satchel", "run", RECORDS, places["W5"])),
    }


def run(directory: Path, command: list[str], library: Path) -> dict[str, Any]:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    os.sync()
    # Before the path that is linked into the programs.
    environment = os.environ | {"LD_LIBRARY_PATH": str(library.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def verdict(old: list[float], new: list[float]) -> str:
    """Compares each round of the new build with the one of the old build that ran before it."""
    ratios = sorted(after / before for before, after in zip(old, new, strict=True))
    middle = statistics.median(ratios)
    words = "same"
    if len(ratios) > 1 and (ratios[0] > 1 or ratios[-1] < 1) and abs(middle - 1) > NOISE:
        words = "SLOWER" if middle > 1 else "faster"
    return f"  {middle:5.2f} × ({ratios[0]:.2f}–{ratios[-1]:.2f})  {words}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, nargs="+", help="a libsatchel.so.0 in a directory of its own")
    parser.add_argument(
        "--new", type=Path, default=LIBRARY.with_name(SONAME), help="the same (default: that of .build-lib)"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(FIGURES), default=list(FIGURES))
    options = parser.parse_args()
    builds = [path.absolute() for path in (*options.old, options.new)]
    for library in builds:
        if library.name != SONAME or not library.is_file():
            parser.error(f"{library}: must be a file called {SONAME}, the name that the programs load")
    build(with_satchel=True)
    generate(FULL)
    generate_photos(GALLERY)
    generate_records(RECORDS)
    print("the old builds, the new one; beside each old one the ratio new / old, its range, and a verdict")
    for workload in options.only:
        directory, command = commands()[workload]
        found: dict[Path, list[dict[str, Any]]] = {library: [] for library in builds}
        for library in builds * options.rounds:
            found[library].append(run(directory, command, library))
        for figure, words in FIGURES[workload].items():
            rounds = [[float(answer[figure]) for answer in found[library]] for library in builds]
            medians = "".join(f"  {statistics.median(each):10.4f}" for each in rounds)
            verdicts = "".join(verdict(each, rounds[-1]) for each in rounds[:-1])
            print(f"{words:42}{medians}{verdicts}", flush=True)
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
