"""The costs of a mirror: `put` with a mirror of 5,000 records and `put` without, in turns in one run.

`python -m peers.mirror SECONDS`, with SATCHEL_LIBRARY and PYTHONPATH set, prints a line of JSON: the times of
which 95 of 100 are shorter, which is what counts, and the medians. Between puts is a pause, in which a mirror
can be written.

Each turn is long enough for the mirror to be written in it; what is left of that is done before the turn
without a mirror begins, which it would slow down.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import satchel

from harness.mirror import RECORDS
from harness.schema_cost import document

TURNS, PAUSE = 3, 0.002


def percentile(times: list[float], part: float) -> float:
    """The time of which so many of 100 are shorter."""
    return sorted(times)[int(len(times) * part / 100)]


def measured(seconds: float) -> dict[str, Any]:
    dice = random.Random(7)
    documents = [(f"c{number}", document(dice)) for number in range(RECORDS)]
    times: dict[str, list[float]] = {"plain": [], "mirrored": []}
    written = 0
    with tempfile.TemporaryDirectory() as folder:
        stores = {name: satchel.open(Path(folder) / f"{name}.satchel") for name in times}
        records = {name: store.records("courses") for name, store in stores.items()}
        for each in records.values():
            each.put_many(documents)
        mirror = Path(folder) / "courses.json"
        records["mirrored"].mirror(mirror)
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
                    time.sleep(PAUSE)
                    now = mirror.stat().st_mtime_ns
                    written += now != seen
                    seen = now
                stores[name].flush()
        for store in stores.values():
            store.close()
    if written < TURNS:
        sys.exit(f"the mirror was written only {written} times meanwhile")
    figures: dict[str, Any] = {"written": written}
    for name, each in times.items():
        figures[f"{name}_p95_us"] = percentile(each, 95)
        figures[f"{name}_us"] = statistics.median(each)
    return figures


if __name__ == "__main__":
    print(json.dumps(measured(float(sys.argv[1]))))
