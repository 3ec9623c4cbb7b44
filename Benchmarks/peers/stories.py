"""W4, one run of one peer in its own process: python -m peers.stories PEER FILE|DIRECTORY …

What a Python app does today: a decoder, and the checks written by hand. The decoders differ, the checks are
the same: segments with one id, choices that lead nowhere, segments that cannot be reached, and whether the
authentic path leads to an ending. The clock runs from reading the file until the answer is there.
"""

import argparse
import gc
import importlib
import json
import os
import statistics
from collections import deque
from collections.abc import Callable, Iterable
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

Segment = tuple[str, bool, bool, list[str]]
"""id, whether on the authentic path, whether an ending, the targets of its choices"""
Decode = Callable[[bytes], list[Segment]]
COUNTS = ("segments", "duplicates", "broken", "unreachable", "authentic")


def from_dictionaries(loads: Callable[[bytes], Any]) -> Decode:
    def decode(data: bytes) -> list[Segment]:
        return [
            (
                segment["id"],
                segment["isAuthenticPath"],
                bool(segment.get("isEnding")) or not segment["choices"],
                [choice["nextSegmentId"] for choice in segment["choices"]],
            )
            for segment in loads(data)["segments"]
        ]

    return decode


def from_structs(decode_story: Callable[[bytes], Any]) -> Decode:
    def decode(data: bytes) -> list[Segment]:
        return [
            (
                segment.id,
                segment.is_authentic_path,
                bool(segment.is_ending) or not segment.choices,
                [choice.next_segment_id for choice in segment.choices],
            )
            for segment in decode_story(data).segments
        ]

    return decode


def msgspec_minimal() -> Decode:
    """Types with the fields that the checks need; msgspec skips the others without making values."""
    from msgspec import Struct
    from msgspec.json import Decoder

    class Choice(Struct, gc=False, rename="camel"):
        next_segment_id: str

    class Part(Struct, gc=False, rename="camel"):
        id: str
        is_authentic_path: bool
        choices: list[Choice]
        is_ending: bool | None = None

    class Story(Struct):
        segments: list[Part]

    return from_structs(Decoder(Story).decode)


def msgspec_full() -> Decode:
    """Types with every field, which checks that all of them are there and well typed."""
    from msgspec import Struct
    from msgspec.json import Decoder

    class Choice(Struct, gc=False, rename="camel"):
        id: str
        text: str
        next_segment_id: str

    class Part(Struct, gc=False, rename="camel"):
        id: str
        text: str
        is_authentic_path: bool
        choices: list[Choice]
        is_ending: bool | None = None

    class Story(Struct, rename="camel"):
        id: str
        title: str
        author: str
        synopsis: str
        cover_image_name: str
        estimated_reading_minutes: int
        age_range: str
        tags: list[str]
        is_purchased: bool
        segments: list[Part]
        original_source: str | None = None
        cultural_origin: str | None = None

    return from_structs(Decoder(Story).decode)


PEERS: dict[str, Callable[[], Decode]] = {
    "msgspec-minimal": msgspec_minimal,
    "msgspec-full": msgspec_full,
    "orjson": lambda: from_dictionaries(importlib.import_module("orjson").loads),
    "json": lambda: from_dictionaries(json.loads),
}


def check(segments: list[Segment]) -> tuple[int, ...]:
    """The figures of COUNTS. The first of several segments with one id counts."""
    places: dict[str, int] = {}
    duplicates = broken = 0
    for place, segment in enumerate(segments):
        if segment[0] in places:
            duplicates += 1
        else:
            places[segment[0]] = place
    edges = []
    for segment in segments:
        targets = []
        for target in segment[3]:
            place = places.get(target)
            if place is None:
                broken += 1
            else:
                targets.append(place)
        edges.append(targets)
    reached = bytearray(len(segments))
    reached[0] = 1
    wave = [0]
    while wave:
        ahead = []
        for place in wave:
            for target in edges[place]:
                if not reached[target]:
                    reached[target] = 1
                    ahead.append(target)
        wave = ahead
    unreachable = len(places) - sum(reached)
    return len(segments), duplicates, broken, unreachable, int(authentic(segments, edges))


def authentic(segments: list[Segment], edges: list[list[int]]) -> bool:
    """Whether segments of the authentic path alone lead from the start to an ending."""
    if not segments[0][1]:
        return False
    seen, waiting = {0}, deque([0])
    while waiting:
        place = waiting.popleft()
        if segments[place][2]:
            return True
        for target in edges[place]:
            if target not in seen and segments[target][1]:
                seen.add(target)
                waiting.append(target)
    return False


def read(path: str) -> bytes:
    with open(path, "rb", 0) as file:  # noqa: PTH123 (plain strings: 10,000 files are opened)
        return file.read()


def one(decode: Decode, path: str) -> tuple[float, tuple[int, ...]]:
    start = perf_counter()
    segments = decode(read(path))
    counts = check(segments)
    # Giving the memory back is not on the clock.
    return perf_counter() - start, counts


def total(counts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*counts, strict=True)))


def share(name: str, paths: list[str]) -> tuple[int, ...]:
    decode = PEERS[name]()
    return total(check(decode(read(path))) for path in paths)


def many(name: str, directory: str, processes: int) -> tuple[float, tuple[int, ...]]:
    start = perf_counter()
    with os.scandir(directory) as entries:
        paths = [entry.path for entry in entries]
    if processes == 1:
        counts = share(name, paths)
    else:
        with get_context("fork").Pool(processes) as pool:
            parts = [(name, paths[first::processes]) for first in range(processes)]
            counts = total(pool.starmap(share, parts))
    return perf_counter() - start, counts


def peak_bytes() -> int:
    """Peak resident memory of this process; getrusage would count that of the one that started it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("path")
    parser.add_argument("--repeats", type=int, default=1, help="for a file; the median counts")
    parser.add_argument("--processes", type=int, default=1, help="for a directory")
    parser.add_argument("--uncollected", action="store_true", help="without Python's garbage collector")
    arguments = parser.parse_args()
    decode = PEERS[arguments.peer]()
    if arguments.uncollected:
        gc.disable()
    if Path(arguments.path).is_dir():
        measured = [many(arguments.peer, arguments.path, arguments.processes)]
    else:
        measured = [one(decode, arguments.path) for _ in range(arguments.repeats)]
    figures = {
        "total_ms": round(statistics.median(seconds for seconds, _ in measured) * 1e3, 4),
        "resident": peak_bytes(),
    }
    print(json.dumps({**figures, **dict(zip(COUNTS, measured[-1][1], strict=True))}))


if __name__ == "__main__":
    main()
