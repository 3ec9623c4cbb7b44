"""Files of JSON, as apps begin: one for each record, one for all of them, or Python's shelve."""

import os
import shelve
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from .record_peer import Document, RecordPeer

STATE = "state.json"


def write_synced(path: str, data: bytes) -> None:
    """Aside, synced, renamed; the directory is the caller's to sync."""
    aside = path + ".tmp"
    with open(aside, "wb", 0) as file:  # noqa: PTH123 (plain strings: the hot path is a file)
        file.write(data)
        os.fsync(file.fileno())
    os.rename(aside, path)  # noqa: PTH104


def sync_directory(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


class StateFile(RecordPeer):
    """The state is one file, which is written as a whole."""

    def open(self, directory: Path) -> None:
        self.directory = str(directory)
        state = directory / STATE
        self.state = orjson.loads(state.read_bytes()) if state.exists() else {}

    def write(self, name: str, data: bytes) -> None:
        write_synced(f"{self.directory}/{name}", data)
        sync_directory(self.directory)

    def save(self, key: str, value: Any) -> None:
        self.state[key] = value
        self.write(STATE, orjson.dumps(self.state))

    def fill(self, records: Sequence[tuple[str, Document]], values: Sequence[tuple[str, Any]]) -> None:
        self.state.update(values[1:])
        super().fill(records, values[:1])

    def value(self, key: str) -> Any:
        return self.state[key]

    def close(self) -> None:
        pass


class Files(StateFile):
    """A file a record; of a batch, the directory is synced once."""

    def open(self, directory: Path) -> None:
        super().open(directory)
        self.records = f"{directory}/records/"
        os.makedirs(self.records, exist_ok=True)  # noqa: PTH103

    def path(self, key: str) -> str:
        return f"{self.records}{key}.json"

    def put(self, key: str, document: Document) -> None:
        self.put_many([(key, document)])

    def put_many(self, records: Sequence[tuple[str, Document]]) -> None:
        for key, document in records:
            write_synced(self.path(key), orjson.dumps(document))
        sync_directory(self.records)

    def fill(self, records: Sequence[tuple[str, Document]], values: Sequence[tuple[str, Any]]) -> None:
        """Synced all at once, which spares minutes."""
        for key, document in records:
            with open(self.path(key), "wb", 0) as file:  # noqa: PTH123
                file.write(orjson.dumps(document))
        os.sync()
        super().fill([], values)

    def body(self, key: str) -> bytes | None:
        try:
            with open(self.path(key), "rb", 0) as file:  # noqa: PTH123
                return file.read()
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        os.unlink(self.path(key))  # noqa: PTH108
        sync_directory(self.records)


class OneFile(StateFile):
    """All records in one file, which is read as a whole and written as a whole."""

    def open(self, directory: Path) -> None:
        super().open(directory)
        records = directory / "records.json"
        self.records = orjson.loads(records.read_bytes()) if records.exists() else {}

    def put(self, key: str, document: Document) -> None:
        self.put_many([(key, document)])

    def put_many(self, records: Sequence[tuple[str, Document]]) -> None:
        self.records.update(records)
        self.write("records.json", orjson.dumps(self.records))

    def body(self, key: str) -> bytes | None:
        return orjson.dumps(self.records[key]) if key in self.records else None

    def get(self, key: str) -> Document:
        return self.records[key]

    def delete(self, key: str) -> None:
        del self.records[key]
        self.put_many([])


class Shelf(RecordPeer):
    """Pickles in whichever dbm Python has here. After a sync() nothing says that the disk has it."""

    def open(self, directory: Path) -> None:
        self.shelf = shelve.open(f"{directory}/store")  # noqa: S301, SIM115

    def put(self, key: str, document: Document) -> None:
        self.put_many([(key, document)])

    def put_many(self, records: Sequence[tuple[str, Document]]) -> None:
        for key, document in records:
            self.shelf[key] = document
        self.shelf.sync()

    def body(self, key: str) -> bytes | None:
        return orjson.dumps(self.shelf[key]) if key in self.shelf else None

    def get(self, key: str) -> Document:
        return self.shelf[key]

    def delete(self, key: str) -> None:
        del self.shelf[key]
        self.shelf.sync()

    def save(self, key: str, value: Any) -> None:
        self.put_many([("~" + key, value)])

    def fill(self, records: Sequence[tuple[str, Document]], values: Sequence[tuple[str, Any]]) -> None:
        self.put_many([*records, *(("~" + key, value) for key, value in values)])

    def value(self, key: str) -> Any:
        return self.shelf["~" + key]

    def close(self) -> None:
        self.shelf.close()


PEERS = {"files-fsync": Files, "json-file": OneFile, "shelve": Shelf}
