"""W10: pictures, each put with a commit of its own, read, and listed with the records that refer to them."""

import sys
from collections.abc import Callable
from typing import Any

from .goals import NAMES, Row
from .report import figure_table
from .runner import Figures, Job, WrongAnswerError, run, store

PICTURES, QUICK_PICTURES = 10_000, 2_000
SATCHEL = ("satchel", "satchel-relaxed", "satchel-plain")
HAND = ("hand", "hand-rows", "hand-relaxed")
PUT_FACTOR, READ_FACTOR, LIST_FACTOR, MEMORY_MB = 1.3, 1.0, 1.05, 64
READING = """\
- W10 puts pictures of 300 kB from Python, each with a commit of its own, and reads all of them, from the page
  cache. By hand each is hashed, written under another name, synced and renamed, and its folder, one of 256,
  is synced; with a row, its name is also committed to sqlite3. Satchel hashes each picture, too, and commits
  a row. Reading by path opens the file that the store names. The list has all records, each with a picture,
  beside as many that have as many bytes of text in its place. Peak memory is that of the process, with
  Python."""


def job(name: str) -> str:
    """Names the job of a peer."""
    return f"assets-{name}"


def agreeing() -> Callable[[bytes, dict[str, Any]], None]:
    """A check that all have put the same."""
    found: dict[str, Any] = {}

    def check(_: bytes, answer: dict[str, Any]) -> None:
        if "read_s" in answer and found.setdefault("digest", answer["digest"]) != answer["digest"]:
            raise WrongAnswerError("the pictures differ")

    return check


def assets(count: int, rounds: int, with_satchel: bool) -> Figures:
    check = agreeing()
    jobs = [
        Job(
            job(name),
            [sys.executable, "-m", "peers.assets", name, str(store("assets", name)), str(count)],
            fresh=store("assets", name),
            check=check,
        )
        for name in ((*SATCHEL, *HAND) if with_satchel else HAND)
    ]
    return run("assets", jobs, rounds, "put_s")


def asset_rows(figures: Figures, count: int) -> list[Row]:
    def row(what: str, key: str, name: str, peer: str, factor: float, others: tuple[str, ...] = ()) -> Row:
        beside = figures.median(job(peer), key)
        known = {NAMES[job(each)]: figures.median(job(each), key) for each in (peer, *others)}
        return Row(
            f"W10 {what}",
            "s",
            figures.median(job(name), key),
            peer=(NAMES[job(peer)], beside) if beside is not None else None,
            others={each: value for each, value in known.items() if value is not None},
            goal=f"≤ {factor} × {NAMES[job(peer)]}",
            bound=beside * factor if beside is not None else None,
        )

    named = f"{count:,} of 300 kB"
    return [
        row(f"put {named}, each synced", "put_s", "satchel", "hand", PUT_FACTOR, ("hand-rows",)),
        row(f"put {named}, relaxed", "put_s", "satchel-relaxed", "hand-relaxed", PUT_FACTOR),
        row(f"read {named}", "read_s", "satchel", "hand", READ_FACTOR),
        row(f"read {named} by path", "path_s", "satchel", "hand", READ_FACTOR),
        row(f"list {count:,} records with a picture", "list_s", "satchel", "satchel-plain", LIST_FACTOR),
        Row(
            f"W10 put and read {named}: memory",
            "MB",
            figures.median(job("satchel"), "peak_mb"),
            goal=f"≤ {MEMORY_MB} MB",
            bound=MEMORY_MB,
            against_peers=False,
        ),
    ]


def asset_table(figures: Figures) -> str:
    columns = [
        ("put", "put_s", "s"),
        ("read", "read_s", "s"),
        ("read by path", "path_s", "s"),
        ("list", "list_s", "s"),
        ("peak memory", "peak_mb", "MB"),
    ]
    return figure_table(figures, tuple(job(name) for name in (*SATCHEL, *HAND)), columns)
