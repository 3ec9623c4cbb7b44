"""Many live queries beside each other, and many values in one query."""

import sys

from .goals import Row, multiple
from .runner import Figures, Job, run

QUERIES, RECORDS, BYTES = 20, 20_000, 20_000_000
VALUES = 40_000
PUTS = 100
ADDED_MB = 10
BESIDE, PEER = 2, 3
"""Multiples of a put without live queries, and of sqlite3 with json_each."""


def many() -> Figures:
    """One round, which takes turns itself."""
    return run("many", [Job("satchel", [sys.executable, "-m", "peers.many"])], 1, "get_ms")


def many_rows(figures: Figures) -> list[Row]:
    def of(key: str) -> float | None:
        return figures.median("satchel", key)

    queries = f"{QUERIES} live queries over {BYTES // 1_000_000} MB, from Python"
    by_hand = f"≤ {PEER} × sqlite3 with json_each"
    return [
        Row(
            f"W6 {queries}: memory added",
            "MB",
            of("added_mb"),
            goal=f"≤ {ADDED_MB} MB",
            bound=ADDED_MB,
            against_peers=False,
        ),
        multiple(
            f"W6 {queries}: a put beside",
            "µs",
            of("beside_us"),
            f"≤ {BESIDE} × without",
            BESIDE,
            of("alone_us"),
        ),
        multiple(
            f"W5 get_many of {VALUES:,}, from Python", "ms", of("get_ms"), by_hand, PEER, of("peer_get_ms")
        ),
        multiple(
            f"W5 in of {VALUES:,} and a condition, from Python",
            "ms",
            of("in_ms"),
            by_hand,
            PEER,
            of("peer_in_ms"),
        ),
    ]
