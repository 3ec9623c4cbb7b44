"""W8: searching the texts of entities: python -m peers.search satchel|fts5 DIRECTORY DATA

Fills a store, which is not measured; then the first search, which makes the index, and many later ones.
Prints what was found, too, so that the harness can compare.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import apsw
import orjson
import satchel

from harness.generate import WORDS
from harness.search import COMPARED

LATER = 200
LIMIT = 20
ALL = 1_000_000


class Satchel:
    def __init__(self, directory: str, data: Path) -> None:
        self.store = satchel.open(f"{directory}/store.satchel")
        with data.open("rb") as lines, self.store.batch():
            for line in lines:
                self.store.catalogue.deliver(line)

    def search(self, words: str, limit: int) -> list[str]:
        return [hit.entity_id for hit in self.store.catalogue.search(words, limit=limit)]


class Fts5:
    """By hand: a row an entity; its name and all its strings in an index without a copy of the texts."""

    def __init__(self, directory: str, data: Path) -> None:
        self.database = apsw.Connection(f"{directory}/store.db")
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("CREATE TABLE entity(entity_id TEXT, name TEXT, body BLOB)")
        with data.open("rb") as lines, self.database:
            for line in lines:
                self.database.executemany("INSERT INTO entity VALUES(?,?,?)", rows(orjson.loads(line)))
        self.is_made = False

    def search(self, words: str, limit: int) -> list[str]:
        if not self.is_made:
            self.make()
        query = " AND ".join(f'"{word}"*' for word in words.split())
        found = self.database.execute(
            "SELECT entity_id, entity.name, body FROM words JOIN entity ON entity.rowid = words.rowid"
            " WHERE words MATCH ? ORDER BY bm25(words, 10.0, 1.0) LIMIT ?",
            (query, limit),
        )
        # An excerpt needs the body.
        return [entity_id for entity_id, _, body in found if orjson.loads(body)]

    def make(self) -> None:
        self.is_made = True
        with self.database:
            self.database.execute(
                "CREATE VIRTUAL TABLE words USING fts5(name, texts, content='',"
                " tokenize='unicode61 remove_diacritics 2')"
            )
            found = self.database.execute("SELECT rowid, name, body FROM entity")
            self.database.executemany(
                "INSERT INTO words(rowid, name, texts) VALUES(?,?,?)",
                ((row, name, " ".join(strings(orjson.loads(body)))) for row, name, body in found),
            )


def rows(delivery: dict) -> Iterator[tuple[str, str, bytes]]:
    for item in delivery["sections"][0]["content"]["items"]:
        body = {key: value for key, value in item.items() if key != "_storage"}
        yield item["entity_id"], item["name"], orjson.dumps(body)


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from strings(child)
    elif isinstance(value, list):
        for child in value:
            yield from strings(child)


def queries(words: list[str]) -> list[str]:
    """One to four words, some of them only begun."""
    source = random.Random(8)
    chosen = [source.sample(words, source.randint(1, 4)) for _ in range(LATER)]
    return [
        " ".join(word if source.random() < 0.7 else word[: source.randint(3, 5)] for word in query)
        for query in chosen
    ]


def main(name: str, directory: str, data: str) -> None:
    peer = {"satchel": Satchel, "fts5": Fts5}[name](directory, Path(data))
    started = perf_counter()
    peer.search("amber castle", LIMIT)
    first = perf_counter() - started
    later = []
    for query in queries(WORDS):
        started = perf_counter()
        peer.search(query, LIMIT)
        later.append(perf_counter() - started)
    found = {query: sorted(peer.search(query, ALL)) for query in COMPARED}
    print(json.dumps({"first_ms": first * 1e3, "later_ms": median(later) * 1e3, "found": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
