"""A device that synchronizes its records by Satchel, one step in its own process:
python -m peers.record_sync REMOTE STORE fill DATA | change DATA | sync [DATA DIGEST]

DATA is a file of records, a document a line. The clock runs while the store is synchronized, not while it is
opened. With DATA and DIGEST the documents are compared then: in the order of DATA, each with a newline.
"""

import hashlib
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import satchel

USER, COLLECTION, BATCH = "ana", "records", 10_000


def id_of(line: bytes) -> str:
    return line[7:27].decode()


def lines_of(path: str) -> list[bytes]:
    return Path(path).read_bytes().splitlines()


def digest(records: satchel.Records[Any], path: str) -> str:
    found = hashlib.sha256()
    for line in lines_of(path):
        found.update((records.text(id_of(line)) or b"-") + b"\n")
    return found.hexdigest()


def main(remote: str, path: str, step: str, data: str = "", expected: str = "") -> None:
    with satchel.open(path) as store:
        records = store.records(COLLECTION)
        if step in ("fill", "change"):
            lines = lines_of(data)
            for first in range(0, len(lines), BATCH):
                records.put_many({id_of(line): line for line in lines[first : first + BATCH]})
            return
        with satchel.remote.S3(**json.loads(remote)) as bucket:
            start = perf_counter()
            report = store.sync(bucket, USER)
            seconds = perf_counter() - start
        if expected and digest(records, data) != expected:
            sys.exit("the records are not those that were sent")
        told = {"requests": report.requests, "ok": report.ok}
        print(json.dumps({"seconds": round(seconds, 4), "report": told}))


if __name__ == "__main__":
    main(*sys.argv[1:])
