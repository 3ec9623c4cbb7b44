"""W3: keeping the photos of sixteen files, and its growth."""

import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from .photo_data import (
    DIGITS,
    MONTH,
    PAGE,
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
LIMITS = {"limit-blocks": "TRUNCATE", "limit-blocks-wal": "WAL"}
GROWTH_LIMIT = "limit-blocks-wal"
"""The peer whose growth is measured as well: it shows how much of the growth is the machine's."""
SLOW = {"pandas": 1}
"""The slowest by far: one round says enough."""


def program(name: str, gallery: Gallery, directory: Path) -> list[str]:
    """The command of a job."""
    if name != "satchel" and name not in LIMITS:
        options = ["--source", str(gallery.shards), "--changed", str(gallery.changed)]
        options += ["--sampled", str(gallery.sampled), "--page", *map(str, (*MONTH, PAGE))]
        return [sys.executable, "-m", "peers.photos", name, str(directory), *options]
    options = [f"source={gallery.shards}", f"changed={gallery.changed}", f"sampled={gallery.sampled}"]
    options += [f"dir={directory}", f"from={MONTH[0]}", f"to={MONTH[1]}", f"page={PAGE}"]
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
        if page_of(answer["page"]) != expected.page:
            raise WrongAnswerError("the page by date differs")

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
