"""The goals, and what became of them: figures in, rows of the table out. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from .generate import GROWTH, Shape
from .persist import DURABLE_PEERS, READ_PEERS, RELAXED_PEERS
from .runner import Figures

NOISE = 1.15
"""The difference that two medians of the same thing may have on a shared machine."""
FLAT = 1.25
"""A look-up in ten times as much may cost so much more: noise, and one more level of a tree."""
SCREEN_FACTOR = 1.3
"""Of the time of reading the same without a session."""
AGAIN_FACTOR = 0.5
"""Of the time of the first deliveries."""
NAMES = {
    "rocksdict-sync": "RocksDB",
    "apsw-full": "APSW",
    "sqlite3-full": "sqlite3",
    "lmdb-sync": "LMDB",
    "objectbox": "ObjectBox",
    "files-fsync": "files, fsync",
    "files-rename": "files, renamed",
    "files-none": "files",
    "sqlite3-normal": "sqlite3 NORMAL",
    "apsw-normal": "APSW NORMAL",
    "lmdb-nosync": "LMDB, no sync",
    "sqlite3": "libsqlite3",
    "satchel-search": "**Satchel** from Python",
    "fts5": "FTS5 by hand",
    "satchel-live": "**Satchel** from Python",
    "apsw-live": "APSW, observed by hand",
    "swift-runtime": "Swift runtime",
    "msgspec-minimal": "msgspec minimal",
    "msgspec-uncollected": "msgspec, no GC",
    "msgspec-full": "msgspec full",
    "msgspec-minimal-two": "msgspec, 2 processes",
    "orjson": "orjson",
    "json": "json",
    "jansson": "jansson",
    "jansson-two": "jansson, 2 threads",
    "lmdb": "LMDB",
    "duckdb": "DuckDB",
    "duckdb-bulk": "DuckDB, no key",
    "sqlite3-shell": "sqlite3 shell",
    "sqlite3-table": "sqlite3",
    "sqlite3-indexed": "sqlite3, indexed",
    "pandas": "pandas",
    "polars-ipc": "Polars IPC",
    "json-file": "a JSON file",
    "shelve": "shelve, not synced",
    "rclone": "rclone",
    "rclone-checksum": "rclone --checksum",
    "rclone-records": "rclone, a file a record",
    "hand": "copying by hand",
    "assets-satchel": "**Satchel** from Python",
    "assets-satchel-relaxed": "**Satchel** from Python, relaxed",
    "assets-satchel-plain": "**Satchel** from Python, no pictures",
    "assets-hand": "files by hand",
    "assets-hand-rows": "files by hand, and a row",
    "assets-hand-relaxed": "files by hand, not synced",
    "hand-parallel": "copying by hand, 8 at once",
    "restic": "restic",
    "couch-records": "CouchDB's protocol, by hand",
    "deltalake": "deltalake",
    "satchel": "**Satchel**",
    "satchel-two": "**Satchel**, 2 threads",
    "satchel-relaxed": "**Satchel**, NORMAL",
    "satchel-again": "**Satchel**, before delivering again",
    "satchel-python": "**Satchel** from Python",
    "satchel-begin": "**Satchel**, begin and commit",
    "limit-append": "limit: append and sync",
    "limit-unique": "limit: SQLite, unique ids",
    "limit-deferred": "limit: SQLite, deferred index",
    "limit-deferred-normal": "limit: the same, NORMAL",
    "limit-extended": "limit: the same, WAL extended",
    "limit-scan": "limit: byte scan",
    "limit-scan-two": "limit: byte scan, 2 threads",
    "limit-rows": "limit: rows",
    "limit-rows-wal": "limit: rows, WAL",
}
"""The jobs as people call them."""


@dataclass(frozen=True)
class Row:
    workload: str
    unit: str
    satchel: float | None
    goal: str = "–"
    bound: float | None = None
    """The maximum of the figure, in the row's unit; None for a row without a goal."""
    limit_bound: float | None = None
    """A second maximum, from the limit."""
    peer: tuple[str, float] | None = None
    """The peer that the goal names, which is the best of its class unless the workload says otherwise."""
    limit: float | None = None
    others: dict[str, float] = field(default_factory=dict)
    """Every peer's figure."""
    against_peers: bool = True
    """False when the goal is a number and not a share of a peer's."""
    is_traffic: bool = False
    """True for bytes and requests."""

    @property
    def ratio(self) -> float | None:
        return self.satchel / self.peer[1] if self.satchel is not None and self.peer else None

    @property
    def limit_ratio(self) -> float | None:
        return self.satchel / self.limit if self.satchel is not None and self.limit else None

    @property
    def met(self) -> str:
        bounds = [bound for bound in (self.bound, self.limit_bound) if bound is not None]
        if self.satchel is None or not bounds:
            return "–"
        return "yes" if self.satchel <= min(bounds) else "no"


def compared(
    workload: str, unit: str, key: str, figures: Figures, names: list[str], satchel: str, **more
) -> Row:
    """A row against the best of some peers, or against the peer `named`.

    `factor` and `limit_factor` are the goals: of the time of that peer, and of the limit's.
    """
    suffix = more.pop("suffix", "")
    named = more.pop("named", None)
    peers = peers_of(figures, key, {name + suffix: NAMES[name] for name in names})
    if named:
        peers["peer"] = peers_of(figures, key, {named: NAMES[named.removesuffix(suffix)]})["peer"]
    best = peers["peer"][1] if peers["peer"] else None
    factor, limit_factor = more.pop("factor", None), more.pop("limit_factor", None)
    limit = figures.median(more.pop("limit") + suffix, key)
    goals = [more.pop("goal", ""), f"≤ {limit_factor} × the limit" if limit_factor else ""]
    return Row(
        workload,
        unit,
        figures.median(satchel + suffix, key),
        bound=best * factor if best and factor else None,
        limit_bound=limit * limit_factor if limit and limit_factor else None,
        limit=limit,
        goal=", ".join(filter(None, goals)) or "–",
        **peers,
        **more,
    )


def peers_of(figures: Figures, key: str, called: Mapping[str, str]) -> dict[str, Any]:
    """The best peer and the figure of each, as a row has them. `called`: how people call each job."""
    others = {
        label: value for job, label in called.items() if (value := figures.median(job, key)) is not None
    }
    return {"peer": min(others.items(), key=itemgetter(1), default=None), "others": others}


def multiple(
    workload: str, unit: str, satchel: float | None, goal: str, factor: float, of: float | None, **more
) -> Row:
    """A row whose goal is a multiple of another figure than a peer's."""
    bound = of * factor if of else None
    return Row(workload, unit, satchel, goal=goal, bound=bound, against_peers=False, **more)


def persist_rows(figures: Figures, shape: Shape) -> list[Row]:
    what = f"persist {shape.payloads:,} × {shape.entities}"
    durable = {"limit": "limit-deferred"}
    return [
        compared(
            f"W1 {what}, each synced",
            "s",
            "seconds",
            figures,
            DURABLE_PEERS,
            "satchel",
            goal="≤ 0.75 × RocksDB",
            factor=0.75,
            limit_factor=1.3,
            named="rocksdict-sync",
            **durable,
        ),
        compared(
            f"W1 {what}, synced, from Python",
            "s",
            "seconds",
            figures,
            DURABLE_PEERS,
            "satchel-python",
            **durable,
        ),
        compared(
            f"W1 {what}, synchronous=NORMAL",
            "s",
            "seconds",
            figures,
            RELAXED_PEERS,
            "satchel-relaxed",
            goal="≤ 0.5 × sqlite3",
            factor=0.5,
            named="sqlite3-normal",
            limit="limit-deferred-normal",
        ),
        again_row(figures),
    ]


def again_row(figures: Figures) -> Row:
    """Beside the first time, in the same process."""
    first, again = (figures.median("satchel-again", key) for key in ("seconds", "again_s"))
    goal = f"≤ {AGAIN_FACTOR} × the first time"
    return multiple("W1 again: members in another order", "s", again, goal, AGAIN_FACTOR, first)


def screen_rows(figures: Figures) -> list[Row]:
    """A session beside the calls that it makes: headers, and the sections."""
    rows = []
    for shown, plain, what in (
        ("first_us", "load_first_us", "the first section on the screen"),
        ("all_us", "load_all_us", "all sections on the screen"),
    ):
        satchel, loaded = figures.median("satchel", shown), figures.median("satchel", plain)
        goal = f"≤ {SCREEN_FACTOR} × headers and load"
        rows.append(multiple(f"W1 {what}", "µs", satchel, goal, SCREEN_FACTOR, loaded))
    return rows


def restore_rows(restored: dict[str, Figures]) -> list[Row]:
    rows = []
    of_files = {"goal": "≤ 1.0 × files", "factor": 1.0, "named": "files-none dropped"}
    for state, label, suffix, goal in (
        ("warm", "cache warm", "", {"limit_factor": 1.8}),
        ("dropped", "cache dropped", " dropped", {"limit_factor": 1.3, **of_files}),
    ):
        common = {"suffix": suffix, "limit": "limit-deferred"}
        figures = restored[state]
        rows.append(
            compared(
                f"W2 open, headers, a section: {label}",
                "ms",
                "total_ms",
                figures,
                READ_PEERS,
                "satchel",
                **goal,
                **common,
            )
        )
        rows.append(
            compared(
                f"W2 from Python: {label}",
                "ms",
                "total_ms",
                figures,
                READ_PEERS,
                "satchel-python",
                **common,
            )
        )
    return rows


def call_rows(figures: Figures) -> list[Row]:
    rows = []
    for key, label, factor in (("nothing_ns", "nothing", 1.2), ("handle_ns", "a handle, its lock", 2.0)):
        plain = figures.median("plain", key)
        bound = plain * factor if plain else None
        rows.append(call_row(f"W6 call: {label}", figures, "satchel", "plain", key, f"≤ {factor} × C", bound))
    for key, label in (("nothing_ns", "nothing"), ("handle_ns", "a handle")):
        plain = figures.median("plain-ctypes", key)
        bound = plain * NOISE if plain else None
        names = ("satchel-ctypes", "plain-ctypes")
        rows.append(
            call_row(f"W6 call from Python: {label}", figures, *names, key, f"≤ {NOISE} × C (noise)", bound)
        )
    return rows


def call_row(workload: str, figures: Figures, name: str, plain: str, key: str, goal: str, bound) -> Row:
    limit = figures.median(plain, key)
    return Row(
        workload,
        "ns",
        figures.median(name, key),
        goal=goal,
        bound=bound,
        limit=limit,
        against_peers=False,
    )


def footprint_rows(figures: Figures) -> list[Row]:
    rows = []
    for key, label, unit, bound in (
        ("megabytes", "size, stripped", "MB", 10.0),
        ("load_ms", "load", "ms", 1.5),
        ("resident_mb", "resident after open", "MB", 6.5),
    ):
        # Only what opened a store too can be compared after opening one.
        peers = ["sqlite3"] if key == "resident_mb" else ["sqlite3", "objectbox"]
        limit = figures.median("swift-runtime", key)
        rows.append(
            Row(
                label,
                unit,
                figures.median("satchel", key),
                goal=f"≤ {bound:g} {unit}",
                bound=bound,
                limit=limit,
                against_peers=False,
                **peers_of(figures, key, {name: NAMES[name] for name in peers}),
            )
        )
    return rows


def growth_rows(figures: Figures) -> list[Row]:
    rows = []
    for job, key, label, bound in (
        ("persist", "seconds", f"growth: persisting {GROWTH} × the entities", 1.1 * GROWTH),
        ("lookups", "headers_us", f"growth: headers in {GROWTH} × the entities", FLAT),
        ("lookups", "section_us", f"growth: a section in {GROWTH} × the entities", FLAT),
    ):
        once, grown = figures.median(f"once-{job}", key), figures.median(f"grown-{job}", key)
        ratio = grown / once if once and grown else None
        rows.append(Row(label, "×", ratio, goal=f"≤ {bound:g} ×", bound=bound, against_peers=False))
    return rows
