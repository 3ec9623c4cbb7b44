"""W5: keeping small JSON records by id, and the start of an app that has them."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .places import BINARIES
from .record_data import BATCH, SINGLES, Expected, RecordSet, generate_records
from .runner import Figures, Job, WrongAnswerError, run, store

RECORD_PEERS = ["rocksdict-sync", "apsw-full", "sqlite3-full", "lmdb-sync", "objectbox", "files-fsync"]
"""They sync at every call."""
WHOLE_PEERS = ["json-file"]
"""Synced too, but everything is written again at each save: only for an app's start."""
UNSYNCED_PEERS = ["shelve"]
START_PEERS = [*RECORD_PEERS, *WHOLE_PEERS, *UNSYNCED_PEERS]
SAVE_PEERS = [*RECORD_PEERS, *WHOLE_PEERS]
SATCHEL = {"satchel": "many", "satchel-begin": "commit"}
"""How a batch is written."""
LIMITS = {"limit-deferred": 0, "limit-extended": 1}
"""Whether the WAL has its blocks from the start."""
SLOW = {"files-fsync": 1}
"""A file is synced at a time: one round says enough."""


def program(name: str, mode: str, record_set: RecordSet, directory: Path) -> list[str]:
    """The command of a job."""
    options = [f"mode={mode}", f"data={record_set.directory}", f"dir={directory}"]
    options += [f"singles={SINGLES}", f"batch={BATCH}"]
    if name == "limit-append":
        return [str(BINARIES / "record_append"), *options]
    if name in LIMITS:
        return [str(BINARIES / "record_limit"), *options, f"extended={LIMITS[name]}"]
    if name in SATCHEL:
        return [str(BINARIES / "satchel_w5"), *options, f"batches={SATCHEL[name]}"]
    command = [sys.executable, "-m", "peers.records", name, str(directory), mode]
    command += ["--data", str(record_set.directory)]
    return [*command, "--singles", str(SINGLES), "--batch", str(BATCH)]


def expect_documents(expected: Expected) -> Callable[[bytes, dict[str, Any]], None]:
    """A check of everyone who can be asked: each document as it was put, before and after it was changed."""

    def check(output: bytes, answer: dict[str, Any]) -> None:
        if answer["digest"] != expected.digest:
            raise WrongAnswerError("a document that was read is not the one that was put")
        if answer["final"] != expected.final:
            raise WrongAnswerError("after updates and deletions the documents are not what they should be")

    return check


def expect_start(expected: Expected) -> Callable[[bytes, dict[str, Any]], None]:
    def check(output: bytes, answer: dict[str, Any]) -> None:
        if answer["started"] != expected.started:
            raise WrongAnswerError("the records or values of the start differ")

    return check


def records(record_set: RecordSet, rounds: int, with_satchel: bool) -> Figures:
    check = expect_documents(generate_records(record_set))
    names = [*SATCHEL, "satchel-python"] if with_satchel else []
    names += ["limit-append", *LIMITS, *RECORD_PEERS]
    jobs = []
    for name in names:
        directory = store("records", name)
        command = program(name, "run", record_set, directory)
        answering = None if name == "limit-append" else check
        jobs.append(Job(name, command, fresh=directory, rounds=SLOW.get(name), check=answering))
    return run("records", jobs, rounds, "put_us")


def record_growth(sets: tuple[RecordSet, ...], rounds: int) -> Figures:
    """Satchel with each set, from the smallest on."""
    jobs = []
    for record_set in sets:
        check = expect_documents(generate_records(record_set))
        directory = store("records", record_set.name)
        command = program("satchel", "run", record_set, directory)
        jobs.append(Job(record_set.name, command, fresh=directory, check=check))
    return run("record-growth", jobs, rounds, "later_us")


def app_start(record_set: RecordSet, rounds: int, with_satchel: bool) -> dict[str, Figures]:
    """Fills a store each; starts with a warm page cache, and with its files dropped from it; saves."""
    expected = generate_records(record_set)
    names = [*(["satchel", "satchel-python"] if with_satchel else []), "limit-deferred", *START_PEERS]

    def job(name: str, mode: str, **more) -> Job:
        command = program(name, mode, record_set, store("start", name))
        return Job(name, command, **more)

    filling = [job(name, "fill", fresh=store("start", name)) for name in names]
    filled = run("start-fill", filling, 1, "fill_s")
    usable = [name for name in names if name not in filled.failures]
    check = expect_start(expected)
    warm = [job(name, "start", check=check) for name in usable]
    dropped = [job(name, "start", check=check, evict=store("start", name)) for name in usable]
    saving = [job(name, "save") for name in usable if name not in UNSYNCED_PEERS]
    # Warm after warm: the first start after an eviction would not be one.
    return {
        "start-fill": filled,
        "start-warm": run("start-warm", warm, rounds, "total_ms"),
        "start-dropped": run("start-dropped", dropped, rounds, "total_ms"),
        "start-save": run("start-save", saving, min(rounds, 5), "record_p95_us"),
    }
