"""The costs of a mirror: `put` with a mirror and `put` without."""

import sys

from .goals import Row, multiple
from .runner import Figures, Job, run

RECORDS = 5_000
SECONDS, QUICK_SECONDS = 12, 7
"""Of a turn; while puts go on, a mirror is written after five."""
FACTOR = 1.3
"""Of a put without a mirror."""


def mirror(quick: bool) -> Figures:
    """One round, which takes turns itself."""
    seconds = QUICK_SECONDS if quick else SECONDS
    job = Job("satchel", [sys.executable, "-m", "peers.mirror", str(seconds)])
    return run("mirror", [job], 1, "mirrored_p95_us")


def mirror_row(figures: Figures) -> Row:
    plain, mirrored = (figures.median("satchel", key) for key in ("plain_p95_us", "mirrored_p95_us"))
    what = f"W5 a put beside a mirror of {RECORDS:,}, Python: 95 of 100"
    return multiple(what, "µs", mirrored, f"≤ {FACTOR} × without one", FACTOR, plain)
