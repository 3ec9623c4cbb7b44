"""Twenty live queries over a large collection, and many values in one query.

`python -m peers.many`, with SATCHEL_LIBRARY and PYTHONPATH set, prints a line of JSON: the memory that the
live queries add, a durable put without them and with them, in turns; then `get_many` and `in` with a second
condition, and the same by sqlite3 with json_each.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import satchel

from harness.many import BYTES, PUTS, QUERIES, RECORDS, VALUES

TURNS, PAUSE = 5, 0.01


def resident() -> int:
    """The memory that no file backs, in bytes."""
    with Path("/proc/self/status").open(encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) * 1024


def put_us(records: Any, turn: int) -> float:
    times = []
    for number in range(PUTS):
        start = time.perf_counter_ns()
        records.put("k0", {"n": 0, "turn": turn, "number": number})
        times.append((time.perf_counter_ns() - start) / 1000)
        time.sleep(PAUSE)
    return statistics.median(times)


def live(folder: str) -> dict[str, float]:
    with satchel.open(f"{folder}/live.satchel") as store:
        records = store.records("notes", indexes=["n"])
        records.put_many((f"k{each}", {"n": each, "t": "x" * (BYTES // RECORDS)}) for each in range(RECORDS))
        # The buffers of one result are reused by the next.
        with records.watch() as results:
            next(results)
        added, times = [], {"alone": [], "beside": []}
        for turn in range(TURNS):
            times["alone"].append(put_us(records, turn))
            before = resident()
            watches = [records.watch(where={"n": {"gte": -each}}) for each in range(QUERIES)]
            for watch in watches:
                if len(next(watch)) != RECORDS:
                    sys.exit("a live query lacks records")
            added.append(resident() - before)
            times["beside"].append(put_us(records, turn + TURNS))
            for watch in watches:
                if next(watch)[0].document["turn"] < turn + TURNS:
                    sys.exit("a live query has not seen the puts")
                watch.close()
        return {
            "added_mb": statistics.median(added) / 1e6,
            "alone_us": statistics.median(times["alone"]),
            "beside_us": statistics.median(times["beside"]),
        }


def milliseconds(call: Callable[[], Any], expected: int) -> float:
    times = []
    for _ in range(TURNS):
        start = time.perf_counter()
        found = call()
        times.append((time.perf_counter() - start) * 1000)
        if found != expected:
            sys.exit(f"{found} instead of {expected}")
    return statistics.median(times)


def values(folder: str) -> dict[str, float]:
    documents = [(f"k{each:06}", {"code": f"c{each:06}", "n": each}) for each in range(VALUES)]
    ids = [id for id, _ in documents]
    codes = [document["code"] for _, document in documents]
    database = sqlite3.connect(Path(folder) / "peer.db")
    database.execute("CREATE TABLE note(id TEXT PRIMARY KEY, body TEXT)")
    database.execute("CREATE INDEX note_code ON note(json_extract(body, '$.code'))")
    database.executemany("INSERT INTO note VALUES(?, ?)", ((id, json.dumps(each)) for id, each in documents))
    database.commit()

    def peer_get() -> int:
        sql = "SELECT id, body FROM note WHERE id IN (SELECT value FROM json_each(?))"
        return len({id: json.loads(body) for id, body in database.execute(sql, (json.dumps(ids),))})

    def peer_in() -> int:
        sql = """SELECT count(*) FROM note
            WHERE json_extract(body, '$.code') IN (SELECT value FROM json_each(?))
            AND json_extract(body, '$.n') >= 0"""
        return int(database.execute(sql, (json.dumps(codes),)).fetchone()[0])

    with satchel.open(f"{folder}/values.satchel") as store:
        records = store.records("notes", indexes=["code"])
        records.put_many(documents)
        return {
            "get_ms": milliseconds(lambda: len(records.get_many(ids)), VALUES),
            "in_ms": milliseconds(lambda: records.count({"code": {"in": codes}, "n": {"gte": 0}}), VALUES),
            "peer_get_ms": milliseconds(peer_get, VALUES),
            "peer_in_ms": milliseconds(peer_in, VALUES),
        }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(live(folder) | values(folder)))
