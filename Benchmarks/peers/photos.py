"""W3, one run of one peer in its own process: python -m peers.photos PEER DIRECTORY --source DIR …

Import of sixteen files, from opening to the end of closing; then, in the store opened again: export of all
with checksums, a second look at the files when nothing has changed, the same when one photo of one file has,
single photos, and a page by date. A library is asked for more: photos by month, the same and the page after
some photos were edited, and a page of a camera and of a place. How an app finds what changed is the same for
all: by checksums.
"""

import argparse
import importlib
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from .photo_peer import DIGITS, Library, PhotoPeer, checksum, shard_file
from .stories import peak_bytes

MODULES = {
    "lmdb": "photo_stores",
    "sqlite3": "photo_stores",
    "duckdb": "photo_frames",
    "pandas": "photo_frames",
    "polars": "photo_frames",
}


def make(name: str) -> PhotoPeer:
    module = importlib.import_module(f"peers.{MODULES[name.split('-')[0]]}")
    return module.PEERS[name]()


def changed_shards(directory: Path, known: list[str]) -> list[int]:
    found = range(len(DIGITS))
    return [shard for shard in found if checksum(shard_file(directory, shard)) != known[shard]]


def answer_all(peer: Library, options: argparse.Namespace) -> dict[str, object]:
    """The answers to the questions that only a library answers, and the time of each."""
    *_, limit = options.page
    questions: dict[str, Callable[[], object]] = {
        "months": peer.months,
        "months_after": peer.months,
        "page_after": lambda: peer.page(*options.page),
        "camera": lambda: peer.of_camera(options.camera[0], *map(int, options.camera[1:]), limit),
        "box": lambda: peer.in_box(*options.box, limit),
    }
    answers: dict[str, object] = {}
    for name, ask in questions.items():
        if name == "months_after":
            peer.edit(options.edits.with_suffix(".csv"))
        start = perf_counter()
        answers[name] = ask()
        answers[f"{name}_ms"] = round((perf_counter() - start) * 1e3, 3)
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--changed", type=Path)
    parser.add_argument("--sampled", type=Path)
    parser.add_argument("--page", type=int, nargs=3, help="first and last date, and how many photos")
    parser.add_argument("--local", type=Path)
    parser.add_argument("--edits", type=Path, help="without ending")
    parser.add_argument("--camera", nargs=3, help="the camera, first and last date")
    parser.add_argument("--box", type=float, nargs=4, help="south, west, north, east")
    options = parser.parse_args()
    peer, target = make(options.peer), options.directory / "out"
    target.mkdir()
    sampled = options.sampled.read_text().split()

    start = perf_counter()
    peer.open(options.directory)
    peer.take_all(options.source)
    committed = perf_counter()
    peer.close()
    imported = perf_counter()
    resident = peak_bytes()

    peer.open(options.directory)
    exporting = perf_counter()
    checksums = peer.export_all(target)
    exported = perf_counter()
    unchanged = changed_shards(options.source, checksums)
    looked = perf_counter()
    for shard in changed_shards(options.changed, checksums):
        peer.take(shard_file(options.changed, shard), shard, again=True)
        changed = peer.export(shard, target / "changed.csv")
    taken = perf_counter()
    photos, times, found = peer.count(), [], []
    if isinstance(peer, Library):
        peer.put_local(options.local)
    for md5 in sampled:
        before = perf_counter()
        found.append(peer.get(md5))
        times.append(perf_counter() - before)
    listing = perf_counter()
    page = peer.page(*options.page)
    listed = perf_counter()
    more = answer_all(peer, options) if isinstance(peer, Library) else {}
    peer.close()
    figures = {
        "import_s": round(imported - start, 4),
        "commit_s": round(committed - start, 4),
        "export_s": round(exported - exporting, 4),
        "noop_s": round(looked - exported, 5),
        "change_s": round(taken - looked, 4),
        "get_us": round(statistics.median(times) * 1e6, 2),
        "page_ms": round((listed - listing) * 1e3, 3),
        "resident": resident,
        "peak": peak_bytes(),
        "photos": photos,
    }
    answers = {"exported": checksums, "unchanged": unchanged, "changed": changed, "got": found, "page": page}
    print(json.dumps({**figures, **answers, **more}))


if __name__ == "__main__":
    main()
