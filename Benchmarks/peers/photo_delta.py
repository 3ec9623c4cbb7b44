"""Synchronization by a Delta table in the object store, a partition a shard; one step in its own process:
python -m peers.photo_delta REMOTE DIRECTORY upload|look|download|merge|download-new|append …

What a device knows of the table (its version and files) is in DIRECTORY. The clock starts after importing,
and stops when the rows are in memory or in the table.
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import polars
from deltalake import DeltaTable, write_deltalake

from .photo_peer import COLUMNS, DIGITS, without_last_newline

TEXTS = ("md5", "filename", "apple_photo_id")
TYPES = {name: polars.String if name in TEXTS else polars.Int64 for name in COLUMNS}


class Table:
    def __init__(self, remote: dict[str, str], directory: Path) -> None:
        self.address = f"s3://{remote['bucket']}/{remote['table']}"
        self.options = {
            "aws_endpoint_url": remote["endpoint"],
            "aws_access_key_id": remote["access_key"],
            "aws_secret_access_key": remote["secret_key"],
            "aws_region": remote["region"],
            "aws_allow_http": "true",
            "aws_conditional_put": "etag",
        }
        self.known = directory / "known.json"

    def open(self) -> DeltaTable:
        return DeltaTable(self.address, storage_options=self.options)

    def remember(self, version: int, files: list[str]) -> None:
        self.known.write_text(json.dumps({"version": version, "files": files}))

    def upload(self, directory: str) -> None:
        rows = polars.concat(read(Path(directory) / f"{digit}.csv") for digit in DIGITS)
        write_deltalake(self.address, rows, partition_by=["shard"], storage_options=self.options)
        self.remember(0, [])

    def look(self) -> None:
        known = json.loads(self.known.read_text())
        if self.open().version() != known["version"]:
            sys.exit("the table has changed")

    def download(self) -> polars.DataFrame:
        table = self.open()
        rows = polars.read_delta(table, storage_options=self.options)
        self.remember(table.version(), table.file_uris())
        return rows.sort("md5")

    def download_new(self) -> polars.DataFrame:
        """The files that are new since the device last looked: the changed shard's."""
        known = set(json.loads(self.known.read_text())["files"])
        fresh = [file for file in self.open().file_uris() if file not in known]
        rows = polars.read_parquet(fresh, storage_options=self.options, hive_partitioning=True)
        return rows.sort("md5")

    def merge(self, path: str, md5: str) -> None:
        """The row replaces the one with its MD5; naming the shard spares the others."""
        row = read(Path(path)).filter(polars.col("md5") == md5)
        same = f"t.shard = '{md5[0]}' AND t.md5 = s.md5"
        merging = self.open().merge(row, predicate=same, source_alias="s", target_alias="t")
        merged = merging.when_matched_update_all().when_not_matched_insert_all().execute()
        if merged["num_target_rows_updated"] != 1:
            sys.exit(f"merged {merged}")

    def append(self, path: str, md5: str) -> None:
        row = read(Path(path)).filter(polars.col("md5") == md5)
        write_deltalake(self.open(), row, mode="append")


def read(path: Path) -> polars.DataFrame:
    rows = polars.read_csv(path, has_header=False, schema=TYPES)
    return rows.with_columns(shard=polars.col("md5").str.slice(0, 1))


def write(rows: polars.DataFrame, directory: Path) -> None:
    """The shards' files, to be compared with those that were uploaded."""
    directory.mkdir(exist_ok=True)
    for digit in DIGITS:
        path = directory / f"{digit}.csv"
        of_shard = rows.filter(polars.col("md5").str.starts_with(digit)).select(COLUMNS)
        if not of_shard.is_empty():
            of_shard.write_csv(path, include_header=False)
            without_last_newline(path)


def main() -> None:
    remote, directory, step, *more = sys.argv[1:]
    table = Table(json.loads(remote), Path(directory))
    start = perf_counter()
    match step:
        case "upload":
            table.upload(*more)
        case "look":
            table.look()
        case "merge":
            table.merge(*more)
        case "append":
            table.append(*more)
        case "download":
            rows = table.download()
        case "download-new":
            rows = table.download_new()
    seconds = perf_counter() - start
    if step.startswith("download"):
        write(rows, Path(more[0]))
    print(json.dumps({"seconds": round(seconds, 4)}))


main()
