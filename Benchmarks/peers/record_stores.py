"""Databases of records: SQLite by Python's own module and by APSW, LMDB, RocksDB. All sync every commit."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import lmdb
import orjson
from rocksdict import Options, Rdict, WriteBatch, WriteOptions

from .record_peer import Document, RecordPeer

MAP_SIZE = 4 << 30
"""Address space that LMDB reserves; the file grows only as far as the data does."""
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS record(id TEXT PRIMARY KEY, body TEXT)",
    "CREATE TABLE IF NOT EXISTS state(key TEXT PRIMARY KEY, value TEXT)",
)
PUT = "INSERT INTO record VALUES(?,?) ON CONFLICT(id) DO UPDATE SET body=excluded.body"
SAVE = "INSERT INTO state VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value"


class Sqlite(RecordPeer):
    """WAL, synchronous=FULL, statements cached by text."""

    def connect(self, path: str) -> sqlite3.Connection | apsw.Connection:
        return sqlite3.connect(path, isolation_level=None)

    def open(self, directory: Path) -> None:
        self.database = self.connect(f"{directory}/store.db")
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=FULL")
        for statement in SCHEMA:
            self.database.execute(statement)

    def put(self, key: str, document: Document) -> None:
        self.database.execute(PUT, (key, orjson.dumps(document).decode()))

    def put_many(self, records: Sequence[tuple[str, Document]]) -> None:
        rows = [(key, orjson.dumps(document).decode()) for key, document in records]
        self.database.execute("BEGIN IMMEDIATE")
        self.database.executemany(PUT, rows)
        self.database.execute("COMMIT")

    def body(self, key: str) -> str | None:
        row = self.database.execute("SELECT body FROM record WHERE id=?", (key,)).fetchone()
        return row[0] if row else None

    def delete(self, key: str) -> None:
        self.database.execute("DELETE FROM record WHERE id=?", (key,))

    def save(self, key: str, value: Any) -> None:
        self.database.execute(SAVE, (key, orjson.dumps(value).decode()))

    def value(self, key: str) -> Any:
        row = self.database.execute("SELECT value FROM state WHERE key=?", (key,)).fetchone()
        return orjson.loads(row[0])

    def close(self) -> None:
        self.database.close()


class Apsw(Sqlite):
    def connect(self, path: str) -> apsw.Connection:
        return apsw.Connection(path)


class Lmdb(RecordPeer):
    def open(self, directory: Path) -> None:
        self.environment = lmdb.open(str(directory), map_size=MAP_SIZE, max_dbs=2)
        self.records = self.environment.open_db(b"records")
        self.state = self.environment.open_db(b"state")

    def put(self, key: str, document: Document) -> None:
        with self.environment.begin(write=True, db=self.records) as transaction:
            transaction.put(key.encode(), orjson.dumps(document))

    def put_many(self, records: Sequence[tuple[str, Document]]) -> None:
        with self.environment.begin(write=True, db=self.records) as transaction:
            pairs = [(key.encode(), orjson.dumps(document)) for key, document in records]
            transaction.cursor().putmulti(pairs)

    def body(self, key: str) -> bytes | None:
        with self.environment.begin(db=self.records) as transaction:
            return transaction.get(key.encode())

    def delete(self, key: str) -> None:
        with self.environment.begin(write=True, db=self.records) as transaction:
            transaction.delete(key.encode())

    def save(self, key: str, value: Any) -> None:
        with self.environment.begin(write=True, db=self.state) as transaction:
            transaction.put(key.encode(), orjson.dumps(value))

    def value(self, key: str) -> Any:
        with self.environment.begin(db=self.state) as transaction:
            return orjson.loads(transaction.get(key.encode()))

    def close(self) -> None:
        self.environment.close()


class Rocks(RecordPeer):
    """WriteOptions.sync; values of the state have keys of their own kind."""

    def open(self, directory: Path) -> None:
        self.database = Rdict(str(directory), Options(raw_mode=True))
        self.options = WriteOptions()
        self.options.sync = True

    def write(self, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        batch = WriteBatch(raw_mode=True)
        for key, value in pairs:
            batch.put(key, value)
        self.database.write(batch, self.options)

    def put(self, key: str, document: Document) -> None:
        self.write([(key.encode(), orjson.dumps(document))])

    def put_many(self, records: Sequence[tuple[str, Document]]) -> None:
        self.write([(key.encode(), orjson.dumps(document)) for key, document in records])

    def body(self, key: str) -> bytes | None:
        return self.database.get(key.encode())

    def delete(self, key: str) -> None:
        batch = WriteBatch(raw_mode=True)
        batch.delete(key.encode())
        self.database.write(batch, self.options)

    def save(self, key: str, value: Any) -> None:
        self.write([(b"~" + key.encode(), orjson.dumps(value))])

    def value(self, key: str) -> Any:
        return orjson.loads(self.database[b"~" + key.encode()])

    def close(self) -> None:
        self.database.close()


PEERS = {"sqlite3-full": Sqlite, "apsw-full": Apsw, "lmdb-sync": Lmdb, "rocksdict-sync": Rocks}
