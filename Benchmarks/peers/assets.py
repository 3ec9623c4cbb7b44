"""Pictures: python -m peers.assets NAME DIRECTORY COUNT

Puts pictures, each with a commit of its own, reads all by bytes and by path, and lists records that refer to
them. The bytes of each are made before its time is taken. NAME: "satchel" or "satchel-relaxed"; "hand"
writes each under another name, syncs and renames it and syncs its folder, one of 256, as a careful program
does, and "hand-rows" also commits a row with its name to sqlite3; "hand-relaxed" syncs nothing.
"satchel-plain" lists records with the same members, none of which is an asset.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

SIZE = 300_000
LISTS = 20
PAGE = 100


def pictures(count: int) -> Iterator[bytes]:
    dice = random.Random(10)
    for _ in range(count):
        yield dice.randbytes(SIZE)


class Satchel:
    def __init__(self, directory: Path, durability: str) -> None:
        import satchel  # noqa: PLC0415

        self.store = satchel.open(directory / "store.satchel", durability=durability)
        self.notes = self.store.records("notes")

    def put(self, content: bytes) -> str:
        return str(self.store.assets.put(content, "image/jpeg").sha256)

    def read(self, name: str) -> bytes:
        return self.store.assets.read(name)

    def read_by_path(self, name: str) -> bytes:
        with self.store.assets.open(name) as file:
            return Path(file.path).read_bytes()

    def fill(self, names: list[str], is_plain: bool) -> None:
        with self.store.batch():
            for number, name in enumerate(names):
                kind = "_image" if is_plain else "_asset"
                picture = {kind: {"sha256": name, "size": SIZE, "type": "image/jpeg"}}
                self.notes.put(f"n{number:05}", {"title": f"Note {number}", "picture": picture})

    def listed(self) -> int:
        return sum(len(record.document) for record in self.notes.list())

    def close(self) -> None:
        self.store.close()


class Hand:
    def __init__(self, directory: Path, is_synced: bool, has_rows: bool) -> None:
        self.directory = directory
        self.is_synced = is_synced
        for number in range(256):
            (directory / f"{number:02x}").mkdir()
        self.rows = sqlite3.connect(directory / "rows.db") if has_rows else None
        if self.rows:
            self.rows.executescript(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                "CREATE TABLE picture(name TEXT, size INTEGER)"
            )

    def _path(self, name: str) -> Path:
        return self.directory / name[:2] / name

    def put(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        path = self._path(name)
        part = path.with_name(name + ".part")
        with part.open("wb") as file:
            file.write(content)
            if self.is_synced:
                file.flush()
                os.fsync(file.fileno())
        part.rename(path)
        if self.is_synced:
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        if self.rows:
            with self.rows:
                self.rows.execute("INSERT INTO picture VALUES(?, ?)", (name, len(content)))
        return name

    def read(self, name: str) -> bytes:
        return self._path(name).read_bytes()

    read_by_path = read

    def fill(self, names: list[str], is_plain: bool) -> None:
        pass

    def listed(self) -> int:
        return 0

    def close(self) -> None:
        pass


MAKERS: dict[str, Callable[[Path], Satchel | Hand]] = {
    "satchel": lambda directory: Satchel(directory, "full"),
    "satchel-relaxed": lambda directory: Satchel(directory, "relaxed"),
    "satchel-plain": lambda directory: Satchel(directory, "full"),
    "hand": lambda directory: Hand(directory, is_synced=True, has_rows=False),
    "hand-rows": lambda directory: Hand(directory, is_synced=True, has_rows=True),
    "hand-relaxed": lambda directory: Hand(directory, is_synced=False, has_rows=False),
}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = perf_counter()
    answer = work()
    return perf_counter() - start, answer


def main(name: str, directory: str, count: str) -> dict[str, Any]:
    peer = MAKERS[name](Path(directory))
    seconds = 0.0
    names = []
    if name == "satchel-plain":
        names = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(int(count))]
    else:
        for content in pictures(int(count)):
            taken, digest = timed(lambda content=content: peer.put(content))
            seconds += taken
            names.append(digest)
    answer: dict[str, Any] = {"put_s": round(seconds, 4)}
    if name != "satchel-plain":
        answer["read_s"], sizes = timed(lambda: [len(peer.read(each)) for each in names])
        answer["path_s"], others = timed(lambda: [len(peer.read_by_path(each)) for each in names])
        if sizes != others or set(sizes) != {SIZE}:
            sys.exit("wrong bytes")
    if isinstance(peer, Satchel):
        peer.fill(names, is_plain=name == "satchel-plain")
        peer.listed()
        times = sorted(timed(peer.listed)[0] for _ in range(LISTS))
        answer["list_s"] = times[LISTS // 2]
    answer["digest"] = hashlib.sha256("".join(names).encode()).hexdigest()
    answer["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    peer.close()
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in answer.items()}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
