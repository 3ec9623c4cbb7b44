"""Tables of columns: DuckDB (keyed and durable), pandas over SQLite, and Polars, whose files are neither."""

from pathlib import Path

from .photo_peer import COLUMNS, OF_SHARD, PAGE, SCHEMA, PhotoPeer, bounds, shard_file, without_last_newline
from .photo_stores import Sqlite

TEXTS = ("md5", "filename", "apple_photo_id")


class Duck(PhotoPeer):
    """`keyed`: the MD5 is the primary key, and shards come one by one; else all files in one statement."""

    def __init__(self, keyed: bool) -> None:
        import duckdb

        self.keyed, self.connect = keyed, duckdb.connect
        types = ", ".join(f"'{name}': '{'VARCHAR' if name in TEXTS else 'BIGINT'}'" for name in COLUMNS)
        self.columns = f"header=false, auto_detect=false, columns={{{types}}}"

    def open(self, directory: Path) -> None:
        self.database = self.connect(str(directory / "store.duckdb"))
        schema = SCHEMA.replace("TABLE", "TABLE IF NOT EXISTS").replace("INTEGER", "BIGINT")
        self.database.execute(schema if self.keyed else schema.replace(" PRIMARY KEY", ""))

    def source(self, paths: list[str]) -> str:
        return f"SELECT * FROM read_csv({paths}, {self.columns})"

    def take(self, path: Path, shard: int, again: bool) -> None:
        execute = self.database.execute
        if self.keyed:
            insert = "INSERT OR REPLACE" if again else "INSERT"
            execute(f"{insert} INTO photo {self.source([str(path)])}")
            return
        execute("BEGIN")
        execute("DELETE FROM photo WHERE md5 >= ? AND md5 < ?", bounds(shard))
        execute(f"INSERT INTO photo {self.source([str(path)])}")
        execute("COMMIT")

    def take_all(self, directory: Path) -> None:
        if self.keyed:
            super().take_all(directory)
        else:
            paths = [str(shard_file(directory, shard)) for shard in range(16)]
            self.database.execute(f"INSERT INTO photo {self.source(paths)}")

    def write(self, shard: int, path: Path) -> None:
        first, after = bounds(shard)
        rows = f"SELECT * FROM photo WHERE md5 >= '{first}' AND md5 < '{after}' ORDER BY md5"
        self.database.execute(f"COPY ({rows}) TO '{path}' (FORMAT csv, HEADER false)")
        without_last_newline(path)

    def count(self) -> int:
        return self.database.execute("SELECT count(*) FROM photo").fetchone()[0]

    def get(self, md5: str) -> tuple[object, ...]:
        return self.database.execute("SELECT * FROM photo WHERE md5 = ?", (md5,)).fetchone()

    def page(self, first: int, last: int, limit: int) -> list[str]:
        return [md5 for (md5,) in self.database.execute(PAGE, (first, last, limit)).fetchall()]

    def close(self) -> None:
        self.database.close()


class Pandas(Sqlite):
    """read_csv and to_sql into SQLite as `sqlite3` has it, and back by read_sql and to_csv."""

    def __init__(self) -> None:
        import pandas

        self.pandas = pandas
        self.types = {name: "str" if name in TEXTS else "Int64" for name in COLUMNS}

    def take(self, path: Path, shard: int, again: bool) -> None:
        frame = self.pandas.read_csv(path, header=None, names=COLUMNS, dtype=self.types)
        self.database.execute("BEGIN IMMEDIATE")
        if again:
            self.database.execute("DELETE FROM photo WHERE md5 >= ? AND md5 < ?", bounds(shard))
        frame.to_sql("photo", self.database, if_exists="append", index=False)
        if self.database.in_transaction:
            self.database.execute("COMMIT")

    def write(self, shard: int, path: Path) -> None:
        frame = self.pandas.read_sql(OF_SHARD, self.database, params=bounds(shard), dtype=self.types)
        frame.to_csv(path, header=False, index=False)
        without_last_newline(path)


class Polars(PhotoPeer):
    """An IPC file a shard, sorted by MD5: no key, and nothing is synced."""

    def __init__(self) -> None:
        import polars

        self.polars = polars
        self.types = {name: polars.String if name in TEXTS else polars.Int64 for name in COLUMNS}

    def open(self, directory: Path) -> None:
        self.directory = directory

    def file(self, shard: int) -> Path:
        return self.directory / f"{shard:x}.ipc"

    def take(self, path: Path, shard: int, again: bool) -> None:
        frame = self.polars.read_csv(path, has_header=False, schema=self.types)
        frame.sort("md5").write_ipc(self.file(shard))

    def write(self, shard: int, path: Path) -> None:
        self.polars.read_ipc(self.file(shard)).write_csv(path, include_header=False)
        without_last_newline(path)

    def all(self):
        return self.polars.scan_ipc([self.file(shard) for shard in range(16)])

    def count(self) -> int:
        return self.all().select(self.polars.len()).collect().item()

    def get(self, md5: str) -> tuple[object, ...]:
        of_shard = self.polars.scan_ipc(self.file(int(md5[0], 16)))
        return of_shard.filter(self.polars.col("md5") == md5).collect().row(0)

    def page(self, first: int, last: int, limit: int) -> list[str]:
        dated = self.all().filter(self.polars.col("photodate").is_between(first, last))
        return dated.sort("photodate", "md5").head(limit).collect()["md5"].to_list()

    def close(self) -> None:
        pass


PEERS = {
    "duckdb": lambda: Duck(keyed=True),
    "duckdb-bulk": lambda: Duck(keyed=False),
    "pandas": Pandas,
    "polars-ipc": Polars,
}
