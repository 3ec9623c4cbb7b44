"""SQLite by Python's own module and by APSW: WAL, a transaction a payload, statements cached by text."""

import sqlite3
from pathlib import Path

import apsw
import orjson

from .peer import Header, Peer, entity_rows, references

SCHEMA = (
    "CREATE TABLE entity(entity_id TEXT PRIMARY KEY, scope TEXT, expires INTEGER, place TEXT, body TEXT)",
    "CREATE TABLE context(location TEXT, ord INTEGER, section TEXT, title TEXT, count INTEGER,"
    " refs TEXT, PRIMARY KEY(location, section)) WITHOUT ROWID",
)
PUT_ENTITY = (
    "INSERT INTO entity VALUES(?,?,?,?,?) ON CONFLICT(entity_id) DO UPDATE SET"
    " scope=excluded.scope, expires=excluded.expires, place=excluded.place, body=excluded.body"
)
PUT_CONTEXT = (
    "INSERT INTO context VALUES(?,?,?,?,?,?) ON CONFLICT(location, section) DO UPDATE SET"
    " ord=excluded.ord, title=excluded.title, count=excluded.count, refs=excluded.refs"
)


class Sqlite(Peer):
    """`synchronous` is FULL (every commit synced) or NORMAL (synced at checkpoints)."""

    def __init__(self, synchronous: str) -> None:
        self.synchronous = synchronous

    def connect(self, path: str) -> sqlite3.Connection | apsw.Connection:
        return sqlite3.connect(path, isolation_level=None)

    def open(self, directory: Path, writing: bool) -> None:
        self.database = self.connect(f"{directory}/store.db")
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute(f"PRAGMA synchronous={self.synchronous}")
        if writing:
            for statement in SCHEMA:
                self.database.execute(statement)

    def put(self, line: bytes) -> None:
        payload = orjson.loads(line)
        section = payload["section"]
        execute = self.database.execute
        execute("BEGIN IMMEDIATE")
        self.database.executemany(PUT_ENTITY, entity_rows(payload))
        execute(
            PUT_CONTEXT,
            (
                payload["location"],
                section["order"],
                section["id"],
                section["title"],
                len(payload["entities"]),
                references(payload).decode(),
            ),
        )
        execute("COMMIT")

    def headers(self, location: str) -> list[Header]:
        query = "SELECT ord, section, title, count FROM context WHERE location=? ORDER BY ord"
        return self.database.execute(query, (location,)).fetchall()

    def bodies(self, location: str, section: str) -> list[bytes | str]:
        query = "SELECT refs FROM context WHERE location=? AND section=?"
        (keys,) = self.database.execute(query, (location, section)).fetchone()
        one = "SELECT body FROM entity WHERE entity_id=?"
        return [self.database.execute(one, (key,)).fetchone()[0] for key in orjson.loads(keys)]

    def close(self) -> None:
        self.database.close()


class Apsw(Sqlite):
    def connect(self, path: str) -> apsw.Connection:
        return apsw.Connection(path)


PEERS = {
    "sqlite3-full": lambda: Sqlite("FULL"),
    "sqlite3-normal": lambda: Sqlite("NORMAL"),
    "apsw-full": lambda: Apsw("FULL"),
    "apsw-normal": lambda: Apsw("NORMAL"),
}
