"""Key-value stores: LMDB and RocksDB. Contexts are keys in order, so that headers are one range."""

from pathlib import Path

import lmdb
import orjson
from rocksdict import Options, Rdict, WriteBatch, WriteOptions

from .peer import Header, Payload, Peer, references

MAP_SIZE = 4 << 30
"""Address space that LMDB reserves; the file grows only as far as the data does."""


def context_key(payload: Payload) -> bytes:
    section = payload["section"]
    return f"{payload['location']}|{section['order']:04d}|{section['id']}".encode()


def context_value(payload: Payload) -> bytes:
    return orjson.dumps([payload["section"]["title"], len(payload["entities"]), references(payload).decode()])


class KeyValue(Peer):
    """The common part of both: a header is a key's parts and its value."""

    def begin_headers(self) -> None:
        self.references: dict[str, str] = {}
        self.found: list[Header] = []

    def add_header(self, key: bytes, value: bytes) -> None:
        _, order, section = key.decode().split("|")
        title, count, keys = orjson.loads(value)
        self.references[section] = keys
        self.found.append((int(order), section, title, count))


class Lmdb(KeyValue):
    """`sync` says whether every commit is synced, as LMDB's default is."""

    def __init__(self, sync: bool) -> None:
        self.sync = sync

    def open(self, directory: Path, writing: bool) -> None:
        self.environment = lmdb.open(
            str(directory),
            map_size=MAP_SIZE,
            max_dbs=2,
            sync=self.sync,
            metasync=self.sync,
            readonly=not writing,
            lock=writing,
        )
        self.entities = self.environment.open_db(b"entities", create=writing)
        self.contexts = self.environment.open_db(b"contexts", create=writing)
        self.writing = writing

    def put(self, line: bytes) -> None:
        payload = orjson.loads(line)
        with self.environment.begin(write=True) as transaction:
            for entity in payload["entities"]:
                key = entity["entity_id"].encode()
                transaction.put(key, orjson.dumps(entity), db=self.entities)
            transaction.put(context_key(payload), context_value(payload), db=self.contexts)

    def headers(self, location: str) -> list[Header]:
        prefix = f"{location}|".encode()
        self.begin_headers()
        with self.environment.begin(db=self.contexts) as transaction:
            cursor = transaction.cursor()
            more = cursor.set_range(prefix)
            while more and cursor.key().startswith(prefix):
                self.add_header(cursor.key(), cursor.value())
                more = cursor.next()
        return self.found

    def bodies(self, location: str, section: str) -> list[bytes | str]:
        with self.environment.begin(db=self.entities) as transaction:
            return [transaction.get(key.encode()) for key in orjson.loads(self.references[section])]

    def close(self) -> None:
        if self.writing:
            self.environment.sync(True)
        self.environment.close()


class Rocks(KeyValue):
    """A write batch a payload; `sync` is RocksDB's WriteOptions.sync."""

    def __init__(self, sync: bool) -> None:
        self.options = WriteOptions()
        self.options.sync = sync

    def open(self, directory: Path, writing: bool) -> None:
        self.database = Rdict(str(directory), Options(raw_mode=True))

    def put(self, line: bytes) -> None:
        payload = orjson.loads(line)
        batch = WriteBatch(raw_mode=True)
        for entity in payload["entities"]:
            batch.put(entity["entity_id"].encode(), orjson.dumps(entity))
        batch.put(b"~" + context_key(payload), context_value(payload))
        self.database.write(batch, self.options)

    def headers(self, location: str) -> list[Header]:
        prefix = f"~{location}|".encode()
        self.begin_headers()
        iterator = self.database.iter()
        iterator.seek(prefix)
        while iterator.valid() and iterator.key().startswith(prefix):
            self.add_header(iterator.key(), iterator.value())
            iterator.next()
        return self.found

    def bodies(self, location: str, section: str) -> list[bytes | str]:
        return [self.database[key.encode()] for key in orjson.loads(self.references[section])]

    def close(self) -> None:
        self.database.close()


PEERS = {
    "lmdb-sync": lambda: Lmdb(True),
    "lmdb-nosync": lambda: Lmdb(False),
    "rocksdict-sync": lambda: Rocks(True),
}
