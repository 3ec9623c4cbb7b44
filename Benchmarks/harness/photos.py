"""W3: keeping the photos of sixteen files, and its growth."""

import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from .photo_data import (
    BOX,
    CAMERA,
    DIGITS,
    MONTH,
    PAGE,
    YEAR,
    Expected,
    Gallery,
    columns_of,
    generate_photos,
    photo_of,
    shard_file,
)
from .places import BINARIES
from .runner import Figures, Job, WrongAnswerError, run, store

KEYED_PEERS = ["lmdb", "duckdb", "sqlite3-shell", "sqlite3-table", "sqlite3-indexed", "pandas"]
"""They find a photo by its MD5, and what they took in is synced."""
UNKEYED_PEERS = ["polars-ipc", "duckdb-bulk"]
PHOTO_PEERS = [*KEYED_PEERS, *UNKEYED_PEERS]
LIBRARY_PEERS = ["sqlite3-indexed"]
"""They have what Satchel has of each photo, and its indexes."""
LIMITS = {"limit-rows": "TRUNCATE", "limit-rows-wal": "WAL"}
GROWTH_LIMIT = "limit-rows-wal"
"""The peer whose growth is measured as well: it shows how much of the growth is the machine's."""
SLOW = {"pandas": 1}
"""The slowest by far: one round says enough."""


def conditions_of_json() -> dict[str, str]:
    """The conditions of pages, as members of a query."""
    south, west, north, east = BOX
    dates = '"from":{},"to":{}'
    return {
        "dates": dates.format(*MONTH),
        "of_camera": f'"camera":"{CAMERA}",{dates.format(*YEAR)}',
        "in_box": f'"place":{{"south":{south},"west":{west},"north":{north},"east":{east}}}',
    }


def conditions_of_sql() -> dict[str, str]:
    south, west, north, east = BOX
    dates = "photodate BETWEEN {} AND {}"
    return {
        "dates": dates.format(*MONTH),
        "of_camera": f"camera = '{CAMERA}' AND {dates.format(*YEAR)}",
        "in_box": f"latitude BETWEEN {south} AND {north} AND longitude BETWEEN {west} AND {east}",
    }


def program(name: str, gallery: Gallery, directory: Path) -> list[str]:
    """The command of a job."""
    files = {key: str(getattr(gallery, key)) for key in ("changed", "sampled", "local", "edits")}
    files["source"] = str(gallery.shards)
    if name != "satchel" and name not in LIMITS:
        options = [f"--{key}={value}" for key, value in files.items()]
        options += ["--page", *map(str, (*MONTH, PAGE)), "--camera", CAMERA, *map(str, YEAR)]
        options += ["--box", *map(str, BOX)]
        return [sys.executable, "-m", "peers.photos", name, str(directory), *options]
    conditions = conditions_of_sql() if name in LIMITS else conditions_of_json()
    options = [f"{key}={value}" for key, value in {**files, **conditions}.items()]
    options += [f"dir={directory}", f"page={PAGE}"]
    if name in LIMITS:
        return [str(BINARIES / "photo_limit"), *options, f"journal={LIMITS[name]}"]
    return [str(BINARIES / "satchel_w3"), *options, f"store={directory}/store.satchel"]


def checksum(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def as_photo(found: Any) -> dict[str, Any]:
    """A photo as its finder returns it: Satchel's object, a row of columns, or a line of the file."""
    if isinstance(found, dict):
        return found
    columns = columns_of(found) if isinstance(found, str) else found
    return photo_of(["" if column is None else str(column) for column in columns])


def page_of(page: Any) -> list[str]:
    return [photo["md5"] for photo in page["photos"]] if isinstance(page, dict) else page


def months_of(counts: Any) -> dict[str, int]:
    return counts if isinstance(counts, dict) else {count["key"]: count["photos"] for count in counts}


def expect_photos(expected: Expected, directory: Path) -> Callable[[bytes, dict[str, Any]], None]:
    """A check of everyone: files byte for byte, the sampled photos, the page."""

    def check(output: bytes, answer: dict[str, Any]) -> None:
        target = directory / "out"
        if answer["photos"] != expected.photos:
            raise WrongAnswerError(f"{answer['photos']} of {expected.photos} photos")
        # Satchel holds them against its own, and does not tell them.
        if answer.get("exported", expected.checksums) != expected.checksums:
            raise WrongAnswerError("a checksum of the export is wrong")
        written = [checksum(shard_file(target, shard)) for shard in range(len(DIGITS))]
        if written != expected.checksums:
            raise WrongAnswerError("a file was not exported as it was imported")
        changed = checksum(target / "changed.csv")
        if (changed, answer.get("changed", changed)) != (expected.changed, expected.changed):
            raise WrongAnswerError("the changed photo is not in the export of its shard")
        if answer.get("unchanged"):
            raise WrongAnswerError("an unchanged file was reported as changed")
        for found, columns in zip(answer["got"], expected.samples, strict=True):
            photo = as_photo(found)
            compared = photo_of(columns)
            if photo["md5"] == expected.photo["md5"]:
                compared = expected.photo
            if {name: photo.get(name) for name in compared} != compared:
                raise WrongAnswerError(f"photo {columns[0]} differs")
        for name, page in {**vars(expected), "page_after": expected.page}.items():
            if name in ("page", "page_after", "camera", "box") and page_of(answer.get(name, page)) != page:
                raise WrongAnswerError(f"the page differs: {name}")
        for name in ("months", "months_after", "local"):
            if months_of(answer.get(name, expected.months)) != expected.months:
                raise WrongAnswerError(f"the numbers of photos differ: {name}")

    return check


def job(name: str, label: str, gallery: Gallery, expected: Expected) -> Job:
    directory = store("photos", label)
    check = expect_photos(expected, directory)
    return Job(label, program(name, gallery, directory), directory, rounds=SLOW.get(name), check=check)


def in_units(figures: Figures) -> Figures:
    for name, records in figures.records.items():
        for record in records:
            record["noop_ms"], record["change_ms"] = record["noop_s"] * 1e3, record["change_s"] * 1e3
            # The shell's memory is that of other processes.
            if name != "sqlite3-shell":
                record["resident_mb"] = record["resident"] / 1e6
    return figures


def warm(gallery: Gallery) -> None:
    """Reads the files into the page cache; otherwise the first job would."""
    for path in [*gallery.shards.iterdir(), *gallery.changed.iterdir()]:
        path.read_bytes()


def photos(gallery: Gallery, rounds: int, with_satchel: bool) -> Figures:
    expected = generate_photos(gallery)
    warm(gallery)
    names = [*(["satchel"] if with_satchel else []), *LIMITS, *PHOTO_PEERS]
    jobs = [job(name, name, gallery, expected) for name in names]
    return in_units(run("photos", jobs, rounds, "import_s"))


def limit_label(gallery: Gallery) -> str:
    return f"limit {gallery.name}"


def photo_growth(galleries: tuple[Gallery, ...], rounds: int) -> Figures:
    """Satchel and the limit with each gallery, from the smallest on."""
    jobs = []
    for gallery in galleries:
        expected = generate_photos(gallery)
        warm(gallery)
        for name, label in (("satchel", gallery.name), (GROWTH_LIMIT, limit_label(gallery))):
            jobs.append(job(name, label, gallery, expected))
    return in_units(run("photo-growth", jobs, rounds, "import_s"))
