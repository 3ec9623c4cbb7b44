"""Keyed, durable stores of photos: LMDB, and SQLite by Python's own module and by its shell."""

import csv
import json
import sqlite3
import subprocess
from pathlib import Path

import lmdb

from .photo_peer import (
    OF_SHARD,
    PAGE,
    SCHEMA,
    Library,
    PhotoPeer,
    bounds,
    shard_file,
    without_last_newline,
)

MAP_SIZE = 16 << 30
"""Address space that LMDB reserves; the file grows only as far as the data does."""
DATE, MD5_SIZE = 3, 16


class Lmdb(PhotoPeer):
    """The MD5's bytes are the key, what follows it in the line the value; nothing is parsed or checked."""

    def open(self, directory: Path) -> None:
        self.environment = lmdb.open(str(directory / "lmdb"), map_size=MAP_SIZE)

    def take(self, path: Path, shard: int, again: bool) -> None:
        unhex = bytes.fromhex
        lines = path.read_bytes().split(b"\n")
        with self.environment.begin(write=True) as transaction:
            pairs = [(unhex(line[:32].decode()), line[33:]) for line in lines]
            transaction.cursor().putmulti(pairs, append=not again)

    def write(self, shard: int, path: Path) -> None:
        with self.environment.begin() as transaction:
            cursor = transaction.cursor()
            cursor.set_range(bytes([shard << 4]))
            after = bytes([(shard + 1) << 4]) if shard < 15 else b"\xff" * (MD5_SIZE + 1)
            lines = []
            for key, value in cursor:
                if key >= after:
                    break
                lines.append(b"%s,%s" % (key.hex().encode(), value))
        path.write_bytes(b"\n".join(lines))

    def count(self) -> int:
        return self.environment.stat()["entries"]

    def get(self, md5: str) -> list[str]:
        with self.environment.begin() as transaction:
            rest = transaction.get(bytes.fromhex(md5)).decode()
        return [md5, *next(csv.reader([rest]))]

    def page(self, first: int, last: int, limit: int) -> list[str]:
        found = []
        with self.environment.begin() as transaction:
            for key, value in transaction.cursor():
                # There is no comma after the name.
                date = int(value.rsplit(b",", 5)[1])
                if first <= date <= last:
                    found.append((date, key))
        return [key.hex() for _, key in sorted(found)[:limit]]

    def close(self) -> None:
        self.environment.close()


class Sqlite(PhotoPeer):
    """WAL, synchronous=FULL, a transaction a shard."""

    def open(self, directory: Path) -> None:
        self.database = sqlite3.connect(directory / "store.db", isolation_level=None)
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=FULL")
        self.database.execute(SCHEMA.replace("TABLE", "TABLE IF NOT EXISTS"))

    def take(self, path: Path, shard: int, again: bool) -> None:
        insert = "INSERT OR REPLACE" if again else "INSERT"
        with path.open(newline="", encoding="utf-8") as file:
            self.database.execute("BEGIN IMMEDIATE")
            self.database.executemany(f"{insert} INTO photo VALUES(?,?,?,?,?,?,?,?)", csv.reader(file))
            self.database.execute("COMMIT")

    def write(self, shard: int, path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = self.database.execute(OF_SHARD, bounds(shard))
            csv.writer(file, lineterminator="\n").writerows(rows)
        without_last_newline(path)

    def count(self) -> int:
        return self.database.execute("SELECT count(*) FROM photo").fetchone()[0]

    def get(self, md5: str) -> tuple[object, ...]:
        return self.database.execute("SELECT * FROM photo WHERE md5 = ?", (md5,)).fetchone()

    def page(self, first: int, last: int, limit: int) -> list[str]:
        return [md5 for (md5,) in self.database.execute(PAGE, (first, last, limit))]

    def close(self) -> None:
        self.database.close()


INDEXES = (
    "CREATE INDEX IF NOT EXISTS dates ON photo(photodate, md5)",
    "CREATE TABLE IF NOT EXISTS local(md5 TEXT PRIMARY KEY, camera TEXT, latitude REAL, longitude REAL)",
    "CREATE INDEX IF NOT EXISTS cameras ON local(camera)",
    "CREATE INDEX IF NOT EXISTS places ON local(latitude, longitude)",
)
ALL_COLUMNS = (
    "SELECT p.*, l.* FROM photo p LEFT JOIN local l ON l.md5 = p.md5 WHERE {}"
    " ORDER BY photodate, p.md5 LIMIT ?"
)
MONTHS = "SELECT strftime('%Y-%m', photodate, 'unixepoch') AS month, count(*) FROM photo GROUP BY month"


class SqliteLibrary(Sqlite, Library):
    """With the indexes of Satchel's questions; pages have all columns."""

    def open(self, directory: Path) -> None:
        super().open(directory)
        for sql in INDEXES:
            self.database.execute(sql)

    def put_local(self, path: Path) -> None:
        with path.open(newline="", encoding="utf-8") as file:
            self.database.execute("BEGIN IMMEDIATE")
            self.database.executemany("INSERT INTO local VALUES(?,?,?,?)", csv.reader(file))
            self.database.execute("COMMIT")

    def edit(self, path: Path) -> None:
        self.take(path, shard=0, again=True)

    def months(self) -> dict[str, int]:
        return dict(self.database.execute(MONTHS))

    def listed(self, conditions: str, *values: object) -> list[str]:
        return [row[0] for row in self.database.execute(ALL_COLUMNS.format(conditions), values)]

    def page(self, first: int, last: int, limit: int) -> list[str]:
        return self.listed("photodate BETWEEN ? AND ?", first, last, limit)

    def of_camera(self, camera: str, first: int, last: int, limit: int) -> list[str]:
        return self.listed("camera = ? AND photodate BETWEEN ? AND ?", camera, first, last, limit)

    def in_box(self, south: float, west: float, north: float, east: float, limit: int) -> list[str]:
        where = "latitude BETWEEN ? AND ? AND longitude BETWEEN ? AND ?"
        return self.listed(where, south, north, west, east, limit)


LINE = (
    "md5||','||iif(filename GLOB '*[,\"]*', '\"'||replace(filename,'\"','\"\"')||'\"', filename)||','||size"
    "||','||photodate||','||modified||','||width||','||height||','||ifnull(apple_photo_id, '')"
)
"""The shell's own CSV quotes whatever is not ASCII, too; an empty column at the end of a file is NULL."""


class Shell(PhotoPeer):
    """The sqlite3 program with its defaults (synchronous=FULL): a process for each call, timed with it."""

    def open(self, directory: Path) -> None:
        self.path = directory / "store.db"
        self.run(SCHEMA.replace("TABLE", "TABLE IF NOT EXISTS") + ";")

    def run(self, script: str) -> str:
        command = ["sqlite3", "-bail", str(self.path)]
        return subprocess.run(command, input=script, text=True, check=True, capture_output=True).stdout

    def take(self, path: Path, shard: int, again: bool) -> None:
        first, after = bounds(shard)
        delete = f"DELETE FROM photo WHERE md5 >= '{first}' AND md5 < '{after}';\n" if again else ""
        self.run(f"{delete}.mode csv\n.import {path} photo\n")

    def take_all(self, directory: Path) -> None:
        imports = (f".import {shard_file(directory, shard)} photo\n" for shard in range(16))
        self.run(".mode csv\n" + "".join(imports))

    def write(self, shard: int, path: Path) -> None:
        first, after = bounds(shard)
        of_shard = f"FROM photo WHERE md5 >= '{first}' AND md5 < '{after}' ORDER BY md5;\n"
        self.run(f".mode list\n.once {path}\nSELECT {LINE} {of_shard}")
        without_last_newline(path)

    def count(self) -> int:
        return int(self.run("SELECT count(*) FROM photo;"))

    def get(self, md5: str) -> list[object]:
        [found] = json.loads(self.run(f".mode json\nSELECT * FROM photo WHERE md5 = '{md5}';"))
        return list(found.values())

    def page(self, first: int, last: int, limit: int) -> list[str]:
        filled = PAGE.replace("?", "{}").format(first, last, limit)
        return self.run(f"{filled};").split()

    def close(self) -> None:
        pass


PEERS = {
    "lmdb": Lmdb,
    "sqlite3-table": Sqlite,
    "sqlite3-indexed": SqliteLibrary,
    "sqlite3-shell": Shell,
}
