"""The costs of a mirror: `put` with a mirror of 5,000 records and `put` without, in turns in one run.

`python -m harness.mirror_cost [SECONDS]`, with SATCHEL_LIBRARY and PYTHONPATH set, prints the ratio of the
times of which 95 of 100 are shorter, which is what counts. It is no part of `make bench`.

Each turn is long enough for the mirror to be written in it; what is left of that is done before the turn
without a mirror begins, which it would slow down.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import satchel

from .schema_cost import document

RECORDS, TURNS, PAUSE = 5_000, 3, 0.002


def percentile(times: list[float], part: float) -> float:
    """The time of which so many of 100 are shorter."""
    return sorted(times)[int(len(times) * part / 100)]


def main() -> None:
    """Measures, and prints a line for puts with pauses and one for puts without."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 12.0
    dice = random.Random(7)
    documents = [(f"c{number}", document(dice)) for number in range(RECORDS)]
    with tempfile.TemporaryDirectory() as folder:
        stores = {name: satchel.open(Path(folder) / f"{name}.satchel") for name in ("plain", "mirrored")}
        records = {name: store.records("courses") for name, store in stores.items()}
        for each in records.values():
            each.put_many(documents)
        mirror = Path(folder) / "courses.json"
        records["mirrored"].mirror(mirror)
        for pause in (PAUSE, 0.0):
            times: dict[str, list[float]] = {name: [] for name in records}
            written = 0
            for _ in range(TURNS):
                for name, collection in records.items():
                    seen = mirror.stat().st_mtime_ns
                    end = time.monotonic() + seconds
                    while time.monotonic() < end:
                        id, text = dice.choice(documents)
                        # Another document each time: a mirror that would be the same is not written.
                        text = b'{"turn": %d, %s' % (len(times[name]), text[1:])
                        start = time.perf_counter_ns()
                        collection.put(id, text)
                        times[name].append((time.perf_counter_ns() - start) / 1000)
                        if pause:
                            time.sleep(pause)
                        now = mirror.stat().st_mtime_ns
                        written += now != seen
                        seen = now
                    stores[name].flush()
            size = mirror.stat().st_size / 1e6
            medians = {name: statistics.median(each) for name, each in times.items()}
            late = {name: percentile(each, 95) for name, each in times.items()}
            print(
                f"{len(times['mirrored']):,} puts {'with' if pause else 'without'} pauses, "
                f"a mirror of {size:.1f} MB written {written} times meanwhile: "
                f"95 of 100 {late['mirrored']:.0f} µs, without a mirror {late['plain']:.0f} µs: "
                f"{late['mirrored'] / late['plain']:.2f} times; "
                f"median {medians['mirrored']:.0f} and {medians['plain']:.0f} µs"
            )
        for store in stores.values():
            store.close()


if __name__ == "__main__":
    main()
