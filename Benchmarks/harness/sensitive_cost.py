"""The costs of a sensitive field: `put` and `get` with one and without, in turns in one run.

`python -m harness.sensitive_cost`, with SATCHEL_LIBRARY and PYTHONPATH set, prints the ratios, which are what
counts. It is no part of `make bench`.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from pathlib import Path

import satchel

from harness.schema_cost import DOCUMENTS, TURNS, document


def main() -> None:
    """Measures, and prints a line for each."""
    dice = random.Random(7)
    documents = [(f"c{number}", document(dice)) for number in range(DOCUMENTS)]
    puts: dict[bool, list[float]] = {False: [], True: []}
    gets: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as folder, satchel.open(Path(folder) / "sensitive.satchel") as store:
        store.state.set_key(bytes(32))
        for turn in range(TURNS):
            for is_sensitive in (False, True):
                name = f"{'sealed' if is_sensitive else 'plain'}{turn}"
                records = store.records(name, sensitive=["teacher.mail"] if is_sensitive else None)
                start = time.process_time_ns()
                with store.batch():
                    for id, text in documents:
                        records.put(id, text)
                puts[is_sensitive].append((time.process_time_ns() - start) / DOCUMENTS / 1_000)
                start = time.process_time_ns()
                for id, _ in documents:
                    records.get(id)
                gets[is_sensitive].append((time.process_time_ns() - start) / DOCUMENTS / 1_000)
    size = sum(len(text) for _, text in documents) // DOCUMENTS
    for name, taken in (("put", puts), ("get", gets)):
        plain, sealed = statistics.median(taken[False]), statistics.median(taken[True])
        print(f"{size} bytes: {name} {plain:.1f} µs, sensitive {sealed:.1f} µs: {sealed / plain:.2f} times")


if __name__ == "__main__":
    main()
