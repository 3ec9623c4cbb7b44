"""Live queries: how soon a new result is there after a change, and what a put costs beside one."""

import sys
from collections.abc import Callable
from typing import Any

from .goals import NAMES, Row, peers_of
from .record_data import RecordSet, generate_records
from .report import figure_table
from .runner import Figures, Job, WrongAnswerError, run, store

OBSERVERS = ("satchel-live", "apsw-live")
RECORDS, SHOWN = 10_000, 20
PUTS, CHANGES = 2_000, 30
PAUSE_SECONDS = 0.15
"""Longer than the time in which a live query hands on one result at most."""
READING = f"""\
- A live query shows the first {SHOWN} of {RECORDS:,} records that are done, from Python. Its result is the
  time from calling put, which syncs, until another thread has the records with the change, the median of
  {CHANGES}. The peer is what an app writes by hand, as GRDB does it: hooks of SQLite notice the commit, the
  query runs again on a connection of its own, and a result that differs from the last one is handed on. Both
  end with the same records."""


def command(name: str, record_set: RecordSet) -> list[str]:
    peer = name.removesuffix("-live")
    data = record_set.directory / "records.jsonl"
    return [sys.executable, "-m", "peers.live", peer, str(store("live", name)), str(data)]


def agreeing() -> Callable[[bytes, dict[str, Any]], None]:
    """A check that all show the same in the end."""
    finals: list[Any] = []

    def check(_: bytes, answer: dict[str, Any]) -> None:
        finals.append(answer["final"])
        if len(finals[0]) != SHOWN or finals[0] != finals[-1]:
            raise WrongAnswerError("the records that are shown differ")

    return check


def live(record_set: RecordSet, rounds: int, with_satchel: bool) -> Figures:
    generate_records(record_set)
    check = agreeing()
    names = OBSERVERS if with_satchel else OBSERVERS[1:]
    jobs = [Job(name, command(name, record_set), fresh=store("live", name), check=check) for name in names]
    return run("live", jobs, rounds, "result_ms")


def live_rows(figures: Figures) -> list[Row]:
    rows = []
    for what, unit, key in (
        ("its result after a change", "ms", "result_ms"),
        ("a durable put while it runs", "µs", "beside_us"),
        ("a durable put without it", "µs", "alone_us"),
    ):
        satchel = figures.median("satchel-live", key)
        peers = peers_of(figures, key, {"apsw-live": NAMES["apsw-live"]})
        rows.append(Row(f"live query, from Python: {what}", unit, satchel, **peers))
    return rows


def live_table(figures: Figures) -> str:
    columns = [
        ("a result after a change", "result_ms", "ms"),
        ("a put while it runs", "beside_us", "µs"),
        ("a put without it", "alone_us", "µs"),
    ]
    return figure_table(figures, OBSERVERS, columns)
