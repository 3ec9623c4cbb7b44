"""W5, one run of one peer in its own process: python -m peers.records PEER DIRECTORY MODE --data DIR

run:   records put one by one, then in batches; in the store opened again: random reads, every document read
       back, more puts, updates, deletions, and every document once more.
fill:  the store of an app: all records, and its state.
start: opening that store, and reading some records and some values; what that adds to the memory.
save:  in that store, one record or one value after another.
Documents are in hand when the clock starts; libraries are imported before it does.
"""

import argparse
import gc
import hashlib
import importlib
import json
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter, time_ns
from typing import Any

import orjson

from .record_peer import RecordPeer
from .stories import peak_bytes

MODULES = {
    "sqlite3": "record_stores",
    "apsw": "record_stores",
    "lmdb": "record_stores",
    "rocksdict": "record_stores",
    "objectbox": "record_objects",
    "files": "record_files",
    "json": "record_files",
    "shelve": "record_files",
    "satchel": "record_satchel",
}
SLOW_SAVE_SECONDS = 3
"""Peers that write everything at each save get fewer of them."""


def make(name: str) -> RecordPeer:
    module = importlib.import_module(f"peers.{MODULES[name.split('-')[0]]}")
    return module.PEERS[name]()


def read_documents(path: Path) -> list[tuple[str, dict[str, Any]]]:
    with path.open("rb") as lines:
        documents = [orjson.loads(line) for line in lines]
    return [(document["id"], document) for document in documents]


def timed(call: Callable[..., Any], arguments: Iterable[tuple], name: str, enough: float = 600) -> dict:
    """Calls one after another; their median and 95th percentile in µs."""
    times, begun = [], perf_counter()
    for each in arguments:
        before = perf_counter()
        call(*each)
        times.append(perf_counter() - before)
        if times[-1] + before - begun > enough:
            break
    quantiles = statistics.quantiles(times, n=20)
    return {f"{name}_us": statistics.median(times) * 1e6, f"{name}_p95_us": quantiles[-1] * 1e6}


def digest(peer: RecordPeer, keys: Iterable[str]) -> str:
    found = hashlib.sha256()
    for key in keys:
        body = peer.body(key)
        found.update(b"-" if body is None else body.encode() if isinstance(body, str) else body)
        found.update(b"\n")
    return found.hexdigest()


def run(peer: RecordPeer, directory: Path, data: Path, singles: int, batch: int) -> dict[str, Any]:
    records = read_documents(data / "records.jsonl")
    later, updates = read_documents(data / "later.jsonl"), read_documents(data / "updates.jsonl")
    deleted = [(key,) for key in (data / "deleted.txt").read_text().split()]
    reads = [(key,) for key in (data / "reads.txt").read_text().split()]
    figures = {}
    # An app would not have all documents at hand, for the collector to look through.
    gc.freeze()

    peer.open(directory)
    figures |= timed(peer.put, records[:singles], "put")
    begun = perf_counter()
    for first in range(singles, len(records), batch):
        peer.put_many(records[first : first + batch])
    figures["batch_s"] = perf_counter() - begun
    peer.close()
    figures["closed_s"] = perf_counter() - begun

    opening = perf_counter()
    peer.open(directory)
    figures["open_ms"] = (perf_counter() - opening) * 1e3
    figures |= timed(peer.get, reads, "read")
    keys = [key for key, _ in records]
    first = digest(peer, keys)
    figures |= timed(peer.put, later, "later")
    figures |= timed(peer.put, updates, "update")
    figures |= timed(peer.delete, deleted, "delete")
    final = digest(peer, keys + [key for key, _ in later])
    peer.close()
    figures = {name: round(value, 4) for name, value in figures.items()}
    return {**figures, "resident": peak_bytes(), "digest": first, "final": final}


def read_state(data: Path) -> list[tuple[str, Any]]:
    with (data / "state.jsonl").open("rb") as lines:
        return [(entry["key"], entry["value"]) for entry in map(orjson.loads, lines)]


def fill(peer: RecordPeer, directory: Path, data: Path, singles: int, batch: int) -> dict[str, Any]:
    begun = perf_counter()
    records = read_documents(data / "records.jsonl")
    peer.open(directory)
    peer.fill(records, read_state(data))
    peer.close()
    size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    return {"fill_s": round(perf_counter() - begun, 3), "megabytes": round(size / 1e6, 3)}


def resident_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def start(peer: RecordPeer, directory: Path, data: Path, singles: int, batch: int) -> dict[str, Any]:
    keys = (data / "start.txt").read_text().split()
    names = [name for name, _ in read_state(data)[: len(keys)]]
    gc.collect()
    before = resident_bytes()

    begun = perf_counter()
    peer.open(directory)
    opened = perf_counter()
    records = [peer.get(key) for key in keys]
    values = [peer.value(name) for name in names]
    read = perf_counter()

    resident = resident_bytes() - before
    peer.close()
    return {
        "open_ms": round((opened - begun) * 1e3, 4),
        "total_ms": round((read - begun) * 1e3, 4),
        "resident_mb": round(resident / 1e6, 3),
        "started": {"records": records, "values": values},
    }


def save(peer: RecordPeer, directory: Path, data: Path, singles: int, batch: int) -> dict[str, Any]:
    """Values that a start reads stay as they are. All others are new: an unchanged value costs nothing."""
    new = time_ns()
    updates = [(key, {**document, "n": new}) for key, document in read_documents(data / "updates.jsonl")]
    names = [name for name, _ in read_state(data)[len((data / "start.txt").read_text().split()) :]]
    values = [(name, {"at": new + index}) for index, name in enumerate(names)]
    peer.open(directory)
    figures = timed(peer.put, updates, "record", enough=SLOW_SAVE_SECONDS)
    figures |= timed(peer.save, values, "value", enough=SLOW_SAVE_SECONDS)
    peer.close()
    return {name: round(value, 3) for name, value in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    modes = {"run": run, "fill": fill, "start": start, "save": save}
    parser.add_argument("peer")
    parser.add_argument("directory", type=Path)
    parser.add_argument("mode", choices=modes)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--singles", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=1000)
    options = parser.parse_args()
    mode = modes[options.mode]
    answer = mode(make(options.peer), options.directory, options.data, options.singles, options.batch)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
