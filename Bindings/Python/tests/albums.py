"""Photos for tests, and what a shard's file has to be, worked out in another way than the library does."""

from __future__ import annotations

import hashlib
import threading
from typing import Any, Callable, Dict, Iterable, List

from satchel.photos import Photo, PhotoCatalogue

Row = Dict[str, Any]
Rows = Dict[str, Row]

ROW = ("md5", "filename", "size", "photodate", "modified", "width", "height", "apple_photo_id")
DAY = 86_400
NOON = 1_704_110_400


def md5(number: object, shard: int = -1) -> str:
    """An MD5 for anything, in a shard if need be."""
    digits = hashlib.md5(str(number).encode()).hexdigest()
    return digits if shard < 0 else f"{shard:x}{digits[1:]}"


def row(number: object, shard: int = -1, **fields: Any) -> Row:
    """A photo; of each number another one."""
    digits = md5(number, shard)
    made = {
        "md5": digits,
        "filename": f"IMG_{number}.jpg",
        "size": int(digits[8:12], 16),
        "photodate": NOON + int(digits[12:16], 16),
        "modified": NOON,
        "width": 4032,
        "height": 3024,
        "apple_photo_id": None,
    }
    return {**made, **fields}


def field(text: object) -> str:
    written = "" if text is None else str(text)
    quoted = any(letter in written for letter in ',"\r\n')
    return f'"{written.replace(chr(34), chr(34) * 2)}"' if quoted else written


def shard_file(rows: Iterable[Row]) -> bytes:
    """The file of a shard with these rows."""
    ordered = sorted(rows, key=lambda each: str(each["md5"]))
    return "\n".join(",".join(field(each[column]) for column in ROW) for each in ordered).encode()


def rows_of(photos: Iterable[Photo]) -> Rows:
    """The rows of photos by their MD5s."""
    return {photo.md5: photo.row for photo in photos}


def assert_holds(photos: PhotoCatalogue, rows: Rows) -> None:
    """A catalogue holds these rows and no others, in whatever way it is asked."""
    assert rows_of(photos.iterate()) == rows
    assert photos.count() == len(rows)
    status = photos.status()
    assert status.photos == len(rows)
    for shard in range(16):
        own = [each for digits, each in rows.items() if int(digits[0], 16) == shard]
        assert photos.export_shard(shard) == shard_file(own)
        assert photos.count(shard=shard) == status.shards[shard].photos == len(own)
    assert [each.shard for each in status.shards if each.changes] == photos.modified_shards()
    assert sum(each.changes for each in status.shards) == status.changes <= len(photos.changes())


def together(*works: Callable[[], object], seconds: float = 240) -> None:
    """Does all of it at once, each on a thread of its own; raises what one of them raised."""
    failures: List[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive()
    if failures:
        raise failures[0]
