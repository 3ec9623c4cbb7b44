"""The records: seeded small JSON documents of random ids, what is done to them, and what has to come out.

records.jsonl  a document a line, its id in it, compact
later.jsonl    more of them, put one by one into the full store
updates.jsonl  new versions of some
deleted.txt    ids, a line each
reads.txt      ids in random order
start.txt      the ids that an app reads at its start
state.jsonl    {"key", "value"}: what the app keeps beside its records
"""

import hashlib
import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .generate import compact, text
from .places import DATA

LATER, UPDATES, DELETED, READS = 1_000, 1_000, 500, 20_000
SINGLES, BATCH = 1_000, 1_000
"""Put one by one first, and the rest in batches."""
STATE_VALUES, STARTED = 1_000, 10
"""An app's start reads so many records, and so many values."""
ABSENT = b"-"
"""Stands for a record that is not there."""
VERSION = 1
"""Counts up when the generator changes, so that older data is replaced."""


@dataclass(frozen=True)
class RecordSet:
    """So many records."""

    records: int

    @property
    def name(self) -> str:
        return f"{self.records:,}"

    @property
    def short(self) -> str:
        return f"{self.records // 1_000_000}M" if self.records >= 1_000_000 else f"{self.records // 1_000}k"

    @property
    def batched(self) -> int:
        return self.records - SINGLES

    @property
    def directory(self) -> Path:
        return DATA / "records" / str(self.records)


@dataclass(frozen=True)
class Expected:
    """The answers of everyone."""

    digest: str
    """The SHA-256 of all documents in the order of records.jsonl, each with a newline."""
    final: str
    """That of all, later ones too, once some were updated and deleted; a line of ABSENT for a deleted one."""
    started: dict[str, Any]
    """The records and values of an app's start."""


SETS = (RecordSet(100_000), RecordSet(1_000_000))
"""The second is ten times the first."""
QUICK_SETS = (RecordSet(10_000), RecordSet(100_000))


def make_record(source: random.Random) -> dict[str, Any]:
    return {
        "id": f"rec-{source.getrandbits(64):016x}",
        "title": text(source, 24),
        "note": text(source, source.randrange(30, 90)),
        "n": source.randrange(10**6),
        "score": round(source.random(), 4),
        "done": bool(source.randrange(2)),
        "tags": [text(source, 6), text(source, 6)],
    }


def make_value(source: random.Random, number: int) -> dict[str, Any]:
    kinds = (
        source.randrange(10_000),
        bool(source.randrange(2)),
        text(source, 20),
        {"x": source.randrange(2_000), "y": source.randrange(2_000), "open": [text(source, 6)]},
    )
    return {"key": f"screen.{number:04d}", "value": kinds[number % len(kinds)]}


def id_of(line: str) -> str:
    """Every line begins with it."""
    return line[7:27]


def digest_of(lines: Iterator[bytes]) -> str:
    found = hashlib.sha256()
    for line in lines:
        found.update(line + b"\n")
    return found.hexdigest()


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def updated(source: random.Random, line: str) -> str:
    """The same record with another note: of another length, as edits are."""
    record = json.loads(line)
    record["note"], record["n"] = text(source, source.randrange(30, 90)), -1
    return compact(record)


def generate_records(record_set: RecordSet) -> Expected:
    """Makes the records unless they are there, and says what is to be answered."""
    directory = record_set.directory
    stamp = directory / "made.json"
    if stamp.exists() and (made := json.loads(stamp.read_text()))["version"] == VERSION:
        return Expected(**made["expected"])
    print(f"  making {record_set.name} records", flush=True)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    source = random.Random(5)
    lines = [compact(make_record(source)) for _ in range(record_set.records)]
    later = [compact(make_record(source)) for _ in range(LATER)]
    touched = source.sample(range(len(lines)), UPDATES + DELETED + STARTED)
    updates = {index: updated(source, lines[index]) for index in touched[:UPDATES]}
    deleted = set(touched[UPDATES : UPDATES + DELETED])
    started = touched[UPDATES + DELETED :]
    state = [make_value(source, number) for number in range(STATE_VALUES)]

    write_lines(directory / "records.jsonl", lines)
    write_lines(directory / "later.jsonl", later)
    write_lines(directory / "updates.jsonl", list(updates.values()))
    write_lines(directory / "deleted.txt", [id_of(lines[index]) for index in sorted(deleted)])
    write_lines(directory / "reads.txt", [id_of(source.choice(lines)) for _ in range(READS)])
    write_lines(directory / "start.txt", [id_of(lines[index]) for index in started])
    write_lines(directory / "state.jsonl", [compact(value) for value in state])

    def final() -> Iterator[bytes]:
        for index, line in enumerate(lines):
            yield ABSENT if index in deleted else updates.get(index, line).encode()
        yield from (line.encode() for line in later)

    facts = {
        "digest": digest_of(line.encode() for line in lines),
        "final": digest_of(final()),
        "started": {
            "records": [json.loads(lines[index]) for index in started],
            "values": [value["value"] for value in state[:STARTED]],
        },
    }
    stamp.write_text(json.dumps({"version": VERSION, "expected": facts}))
    return Expected(**facts)
