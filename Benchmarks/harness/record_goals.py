"""The rows of W5: figures in, rows of the table out. Pure."""

from dataclasses import replace

from .generate import GROWTH
from .goals import FLAT, Row, compared, multiple
from .record_data import BATCH, RecordSet
from .records import RECORD_PEERS, SAVE_PEERS, START_PEERS
from .runner import Figures

BATCH_FACTOR = 1.1
"""Of RocksDB's time."""
READ_FACTOR = 2.0
"""Of LMDB's time, from Python."""
READ_LIMIT_FACTOR = 1.2
"""Of the limit's time, from C."""
START_LIMIT_FACTOR = 2.0
START_MEMORY_MB = 4.0
SINGLE_PEERS = ["apsw-full", "rocksdict-sync"]
"""The best of these is the goal of a durable put."""


def record_rows(figures: Figures, record_set: RecordSet) -> list[Row]:
    def row(what: str, unit: str, key: str, satchel: str = "satchel", **more) -> Row:
        more = {"limit": "limit-deferred", **more}
        return compared(f"W5 {what}", unit, key, figures, RECORD_PEERS, satchel, **more)

    batches = f"{record_set.batched:,} records in batches of {BATCH:,}"
    of_rocks = {"goal": f"≤ {BATCH_FACTOR} × RocksDB", "factor": BATCH_FACTOR, "named": "rocksdict-sync"}
    of_lmdb = {"goal": f"≤ {READ_FACTOR} × LMDB", "factor": READ_FACTOR, "named": "lmdb-sync"}
    python = "satchel-python"
    return [
        row("a durable record: median", "µs", "put_us", **single(figures, "put_us", 0.9)),
        row("a durable record: 95 of 100", "µs", "put_p95_us", **single(figures, "put_p95_us", 1.0)),
        row("a durable record, from Python: median", "µs", "put_us", python),
        row(batches, "s", "batch_s", **of_rocks),
        row(f"{batches}, from Python", "s", "batch_s", python),
        read_row(figures),
        row("a record by its id, from Python", "µs", "read_us", python, **of_lmdb),
        row("an update, durable: median", "µs", "update_us"),
        row("a deletion, durable: median", "µs", "delete_us"),
    ]


def single(figures: Figures, key: str, factor: float) -> dict[str, object]:
    best = figures.best(SINGLE_PEERS, key)
    goal = {"goal": f"≤ {factor} × the best of APSW, RocksDB", "factor": factor, "limit": "limit-extended"}
    return {**goal, "named": best[0]} if best else goal


def read_row(figures: Figures) -> Row:
    """From C, against the limit: the peers are in Python."""
    satchel, limit = (figures.median(name, "read_us") for name in ("satchel", "limit-deferred"))
    goal = f"≤ {READ_LIMIT_FACTOR} × the limit"
    return multiple("W5 a record by its id", "µs", satchel, goal, READ_LIMIT_FACTOR, limit, limit=limit)


def start_rows(figures: dict[str, Figures], record_set: RecordSet) -> list[Row]:
    """Of an app that has so many records."""
    limit = {"limit": "limit-deferred"}
    warm, dropped, saved = figures["start-warm"], figures["start-dropped"], figures["start-save"]
    rows = []
    for label, measured in (("warm", warm), ("dropped", dropped)):
        for suffix, satchel in (("", "satchel"), (", from Python", "satchel-python")):
            what = f"W5 an app's start{suffix}: cache {label}"
            goal = {} if suffix else {"limit_factor": START_LIMIT_FACTOR}
            rows.append(compared(what, "ms", "total_ms", measured, START_PEERS, satchel, **limit, **goal))
    what = f"W5 memory of a start with {record_set.short} records"
    memory = compared(what, "MB", "resident_mb", warm, START_PEERS, "satchel", against_peers=False, **limit)
    rows.append(replace(memory, goal=f"≤ {START_MEMORY_MB:g} MB", bound=START_MEMORY_MB))
    for key, saving in (("record_p95_us", "a record"), ("value_p95_us", "a value of the state")):
        what = f"W5 saving {saving}: 95 of 100"
        rows.append(compared(what, "µs", key, saved, SAVE_PEERS, "satchel", **limit))
    return rows


def record_growth_rows(figures: Figures, sets: tuple[RecordSet, ...]) -> list[Row]:
    rows = []
    once, grown = sets
    # The records that are put one by one first are not in the batches.
    batches = GROWTH * once.batched / grown.batched
    for key, what, bound, scale in (
        ("batch_s", f"putting {GROWTH} × the records", 1.1 * GROWTH, batches),
        ("later_us", f"a put among {GROWTH} × the records", FLAT, 1),
        ("read_us", f"a record of {GROWTH} × the records", FLAT, 1),
        ("open_ms", f"opening with {GROWTH} × the records", FLAT, 1),
    ):
        before, after = figures.median(once.name, key), figures.median(grown.name, key)
        ratio = after / before * scale if before and after else None
        goal = f"≤ {bound:g} ×"
        rows.append(Row(f"growth: {what}", "×", ratio, goal=goal, bound=bound, against_peers=False))
    return rows
