"""Live queries: python -m peers.live satchel|apsw DIRECTORY DATA

Fills a store, which is not measured; then puts records one by one, without a live query and beside one, and
then changes one of the records that it shows, again and again, each time until the new result is there.
Prints what it shows in the end, too, so that the harness can compare.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import apsw
import orjson
import satchel

from harness.live import CHANGES, PAUSE_SECONDS, PUTS, RECORDS, SHOWN

Document = dict[str, Any]
WAIT_SECONDS = 60


class Satchel:
    def __init__(self, directory: str) -> None:
        self.store = satchel.open(f"{directory}/store.satchel")
        self.records = self.store.records("notes", indexes=["n"])
        self.query = {"where": {"done": True}, "order_by": "n", "limit": SHOWN}

    def put(self, document: Document) -> None:
        self.records.put(document["id"], document)

    def fill(self, documents: list[Document]) -> None:
        with self.store.batch():
            for document in documents:
                self.put(document)

    def shown(self) -> list[Document]:
        return [record.document for record in self.records.list(**self.query)]

    def watch(self) -> Iterator[list[Document]]:
        with self.records.watch(**self.query) as results:
            for result in results:
                yield [record.document for record in result]


class Apsw:
    """By hand, as GRDB observes a query: after each commit that changed its table, the query runs again on a
    connection of its own, and a result that differs from the last one is handed on."""

    def __init__(self, directory: str) -> None:
        self.path = f"{directory}/store.db"
        self.database = self.connect()
        self.database.execute("CREATE TABLE record(id TEXT PRIMARY KEY, body TEXT)")
        self.database.execute("CREATE INDEX record_n ON record(json_extract(body, '$.n'))")
        self.is_changed = False
        self.changed = threading.Semaphore(0)
        self.database.set_update_hook(self.row_changed)
        self.database.set_wal_hook(self.committed)

    def connect(self) -> apsw.Connection:
        database = apsw.Connection(self.path)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        return database

    def row_changed(self, *_: object) -> None:
        self.is_changed = True

    def committed(self, database: apsw.Connection, _: str, pages: int) -> int:
        if self.is_changed:
            self.is_changed = False
            self.changed.release()
        # The hook replaces SQLite's own, which checkpoints.
        if pages >= 1000:
            database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        return apsw.SQLITE_OK

    def put(self, document: Document) -> None:
        self.database.execute(
            "INSERT INTO record VALUES(?,?) ON CONFLICT(id) DO UPDATE SET body=excluded.body",
            (document["id"], orjson.dumps(document).decode()),
        )

    def fill(self, documents: list[Document]) -> None:
        with self.database:
            for document in documents:
                self.put(document)

    def shown(self) -> list[Document]:
        return self.read(self.database)

    def read(self, database: apsw.Connection) -> list[Document]:
        found = database.execute(
            "SELECT body FROM record WHERE json_extract(body, '$.done')"
            " ORDER BY json_extract(body, '$.n'), id LIMIT ?",
            (SHOWN,),
        )
        return [orjson.loads(body) for (body,) in found]

    def watch(self) -> Iterator[list[Document]]:
        database, last = self.connect(), None
        while True:
            result = self.read(database)
            if result != last:
                last = result
                yield result
            self.changed.acquire()
            # Of several commits the last counts.
            while self.changed.acquire(blocking=False):
                pass


def seconds(put: Callable[[Document], None], documents: list[Document]) -> list[float]:
    taken = []
    for document in documents:
        started = perf_counter()
        put(document)
        taken.append(perf_counter() - started)
    return taken


def main(name: str, directory: str, data: str) -> None:
    peer = {"satchel": Satchel, "apsw": Apsw}[name](directory)
    with Path(data).open("rb") as lines:
        documents = [orjson.loads(line) for line in islice(lines, RECORDS)]
    peer.fill(documents)
    shown = {document["id"] for document in peer.shown()}
    others = [{**document, "note": "changed"} for document in documents if document["id"] not in shown]
    alone = seconds(peer.put, others[:PUTS])

    results: list[list[Document]] = []
    news = threading.Condition()

    def follow() -> None:
        for result in peer.watch():
            with news:
                results.append(result)
                news.notify()

    threading.Thread(target=follow, daemon=True).start()

    def wait_for(document: Document) -> None:
        with news:
            if not news.wait_for(lambda: results and document in results[-1], WAIT_SECONDS):
                sys.exit("the new result did not come")

    changed = peer.shown()[0]
    wait_for(changed)
    beside = seconds(peer.put, others[PUTS : 2 * PUTS])
    latencies = []
    for number in range(CHANGES):
        # A result that comes sooner after another one may be held back.
        time.sleep(PAUSE_SECONDS)
        changed = {**changed, "title": f"title {number}"}
        started = perf_counter()
        peer.put(changed)
        wait_for(changed)
        latencies.append(perf_counter() - started)
    figures = {"alone_us": median(alone) * 1e6, "beside_us": median(beside) * 1e6}
    print(json.dumps({**figures, "result_ms": median(latencies) * 1e3, "final": results[-1]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
