"""One run of one peer, in its own process: python -m peers PEER write|read DIRECTORY …

write: `data` is a file of payloads; seconds from opening to the end of closing.
read:  opening, the headers of one location, one section of it (parsed), then every section for the steady
       state; prints what was read too, so that the harness can compare.
Libraries are imported before the clock starts, as a C program's are linked.
"""

import argparse
import importlib
import json
import resource
import statistics
import sys
from pathlib import Path
from time import perf_counter

from .peer import Peer

MODULES = {
    "files": "files",
    "sqlite3": "sqlite",
    "apsw": "sqlite",
    "lmdb": "key_value",
    "rocksdict": "key_value",
    "objectbox": "object_box",
    "satchel": "satchel_python",
}


def make(name: str) -> Peer:
    module = importlib.import_module(f"peers.{MODULES[name.split('-')[0]]}")
    return module.PEERS[name]()


def write(peer: Peer, directory: Path, data: Path) -> None:
    latencies = []
    with data.open("rb") as lines:
        start = perf_counter()
        peer.open(directory, writing=True)
        for line in lines:
            before = perf_counter()
            peer.put(line)
            latencies.append(perf_counter() - before)
        peer.close()
        seconds = perf_counter() - start
    print(
        json.dumps(
            {
                "seconds": round(seconds, 4),
                "payloads": len(latencies),
                "median_us": round(statistics.median(latencies) * 1e6, 1),
                "p95_us": round(statistics.quantiles(latencies, n=20)[-1] * 1e6, 1),
                "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
    )


def read(peer: Peer, directory: Path, location: str, chosen: int) -> None:
    start = perf_counter()
    peer.open(directory, writing=False)
    opened = perf_counter()
    headers = peer.headers(location)
    listed = perf_counter()
    name = next(section for order, section, _, _ in headers if order == chosen)
    entities = peer.section(location, name)
    loaded = perf_counter()
    for _, section, _, _ in headers:
        peer.section(location, section)
    finished = perf_counter()

    times = {
        "open_ms": (opened - start) * 1e3,
        "list_ms": (listed - opened) * 1e3,
        "load_ms": (loaded - listed) * 1e3,
        "total_ms": (loaded - start) * 1e3,
        "warm_section_us": (finished - loaded) / len(headers) * 1e6,
    }
    answer = {name: round(value, 3) for name, value in times.items()}
    answer["headers"] = [[section, title, count] for _, section, title, count in headers]
    answer["entity_ids"] = [entity["entity_id"] for entity in entities]
    bodies = [body.encode() if isinstance(body, str) else body for body in peer.bodies(location, name)]
    # As it was stored, byte for byte: not written again.
    section = b',"section":[' + b",".join(bodies) + b"]}\n"
    sys.stdout.buffer.write(json.dumps(answer).encode()[:-1] + section)
    peer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("mode", choices=["write", "read"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--location")
    parser.add_argument("--chosen", type=int, default=0)
    arguments = parser.parse_args()
    peer = make(arguments.peer)
    if arguments.mode == "write":
        write(peer, arguments.directory, arguments.data)
    else:
        read(peer, arguments.directory, arguments.location, arguments.chosen)


main()
