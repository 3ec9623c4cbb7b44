"""The photos: seeded, in the sixteen files of a catalogue (Documentation/photos.md), sorted, of random MD5s.

shards/       0.csv to f.csv
changed/      the same files, but that in one of them one photo has another width
sampled.txt   the MD5s of some photos, a line each
local.csv     MD5, camera, latitude and longitude of one in sixteen photos
edits.json    an array of a photo of each shard, with another width; edits.csv has the same as lines
"""

import csv
import hashlib
import json
import random
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .places import DATA

DIGITS = "0123456789abcdef"
COLUMNS = ("md5", "filename", "size", "photodate", "modified", "width", "height", "apple_photo_id")
NUMBERS = ("size", "photodate", "modified", "width", "height")
CHANGED_SHARD = 7
CHANGED_WIDTH = 9999
SAMPLED = 200
FIRST_DATE, SECONDS = 1_104_537_600, 631_152_000
"""Twenty years from 2005 on."""
MONTH = (1_400_025_600, 1_402_617_599)
"""A page is asked of these 30 days."""
PAGE = 100
CAMERAS = tuple(f"Model {number}" for number in range(20))
CAMERA, YEAR = "Model 7", (1_388_534_400, 1_420_070_399)
"""A page is asked of this camera in 2014."""
BOX = (48.0, 5.0, 52.0, 15.0)
"""South, west, north and east of a box that a page is asked of."""
PIXELS = ("4032,3024", "3024,4032", "1920,1080", "6000,4000", "828,1792")
ENDINGS = ("JPG", "HEIC", "MOV", "PNG")
VERSION = 2
"""Counts up when the generator changes, so that older data is replaced."""


@dataclass(frozen=True)
class Gallery:
    """So many photos."""

    photos: int

    @property
    def name(self) -> str:
        return f"{self.photos:,}"

    @property
    def short(self) -> str:
        return f"{self.photos // 1_000_000}M" if self.photos >= 1_000_000 else f"{self.photos // 1_000}k"

    @property
    def directory(self) -> Path:
        return DATA / "photos" / str(self.photos)

    @property
    def shards(self) -> Path:
        return self.directory / "shards"

    @property
    def changed(self) -> Path:
        return self.directory / "changed"

    @property
    def sampled(self) -> Path:
        return self.directory / "sampled.txt"

    @property
    def local(self) -> Path:
        return self.directory / "local.csv"

    @property
    def edits(self) -> Path:
        """Without its ending."""
        return self.directory / "edits"


@dataclass(frozen=True)
class Expected:
    """The answers of everyone."""

    photos: int
    checksums: list[str]
    """The SHA-256 of each shard."""
    changed: str
    """That of the shard with the changed photo."""
    photo: dict[str, Any]
    """The changed photo."""
    samples: list[list[str]]
    """The columns of the sampled photos."""
    page: list[str]
    """The MD5s of the first page of MONTH, by date and MD5."""
    months: dict[str, int]
    """The number of photos of each month."""
    camera: list[str]
    """As page, of CAMERA in YEAR."""
    box: list[str]
    """As page, of BOX."""


GALLERIES = (Gallery(100_000), Gallery(1_000_000), Gallery(10_000_000))
"""Each ten times the one before it."""
QUICK_GALLERIES = (Gallery(1_000), Gallery(10_000))


def shard_file(directory: Path, shard: int) -> Path:
    return directory / f"{DIGITS[shard]}.csv"


def file_name(draw, md5: str) -> str:
    """One in 50 has to be quoted, some are not ASCII."""
    kind = draw(20) % 100
    if kind == 0:
        return f'"Trip, day {draw(10) % 30} ({md5[:4]}).JPG"'
    if kind == 1:
        return f'"The ""best"" {draw(20)}.HEIC"'
    if kind < 5:
        return f"\u00c9t\u00e9_{draw(20)}.jpg"
    return f"IMG_{draw(20) % 10_000:04}.{ENDINGS[draw(2)]}"


def lines(shard: int, count: int) -> Iterator[str]:
    draw = random.Random(f"photos {shard}").getrandbits
    digit = DIGITS[shard]
    for _ in range(count):
        md5 = f"{digit}{draw(124):031x}"
        name = file_name(draw, md5)
        date = FIRST_DATE + draw(40) % SECONDS
        apple = ""
        if draw(20) % 10 >= 3:
            uuid = f"{draw(128):032X}"
            apple = f"{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}/L0/001"
        pixels = PIXELS[draw(20) % len(PIXELS)] if draw(7) else ","
        yield f"{md5},{name},{100_000 + draw(23)},{date},{date + draw(24)},{pixels},{apple}"


def columns_of(line: str) -> list[str]:
    return next(csv.reader([line]))


def photo_of(columns: list[str]) -> dict[str, Any]:
    """As Satchel's JSON has it."""
    photo: dict[str, Any] = dict(zip(COLUMNS, columns, strict=True))
    for name in NUMBERS:
        photo[name] = int(photo[name]) if photo[name] else None
    photo["apple_photo_id"] = photo["apple_photo_id"] or None
    return photo


def widened(line: str) -> str:
    parts = line.rsplit(",", 3)
    parts[1] = str(CHANGED_WIDTH)
    return ",".join(parts)


def change(made: list[str]) -> dict[str, Any]:
    """Changes the photo in the middle, in place."""
    middle = len(made) // 2
    made[middle] = widened(made[middle])
    return photo_of(columns_of(made[middle]))


def date_of(line: str) -> int:
    """Names hold commas, what follows the size does not."""
    return int(line.rsplit(",", 5)[1])


class Places:
    """The local columns of one in sixteen photos, and what is found by them."""

    def __init__(self) -> None:
        self.draw = random.Random("local")
        self.lines: list[str] = []
        self.camera: list[tuple[int, str]] = []
        self.box: list[tuple[int, str]] = []

    def add(self, line: str) -> None:
        md5, date, camera = line[:32], date_of(line), self.draw.choice(CAMERAS)
        latitude, longitude = self.draw.randrange(-600, 700) / 10, self.draw.randrange(-1800, 1800) / 10
        self.lines.append(f"{md5},{camera},{latitude},{longitude}\n")
        if camera == CAMERA and YEAR[0] <= date <= YEAR[1]:
            self.camera.append((date, md5))
        south, west, north, east = BOX
        if south <= latitude <= north and west <= longitude <= east:
            self.box.append((date, md5))


def write(path: Path, made: list[str]) -> str:
    """Returns the checksum."""
    content = "\n".join(made).encode()
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def generate_photos(gallery: Gallery) -> Expected:
    """Makes the photos unless they are there, and says what is to be answered."""
    stamp = gallery.directory / "made.json"
    if stamp.exists() and (made := json.loads(stamp.read_text()))["version"] == VERSION:
        return Expected(**made["expected"])
    print(f"  making {gallery.name} photos", flush=True)
    shutil.rmtree(gallery.directory, ignore_errors=True)
    gallery.shards.mkdir(parents=True)
    gallery.changed.mkdir()
    checksums, samples, dates, edits = [], [], [], []
    places, months = Places(), Counter[str]()
    count = gallery.photos // len(DIGITS)
    for shard in range(len(DIGITS)):
        made = sorted(lines(shard, count))
        path = shard_file(gallery.shards, shard)
        checksums.append(write(path, made))
        chosen = random.Random(shard).sample(made, max(1, SAMPLED // len(DIGITS)))
        samples += [columns_of(line) for line in chosen]
        dates += [(date_of(line), line[:32]) for line in made]
        for line in made[::16]:
            places.add(line)
        edits.append(widened(made[-1]))
        if shard == CHANGED_SHARD:
            photo = change(made)
            changed = write(shard_file(gallery.changed, shard), made)
        else:
            shard_file(gallery.changed, shard).hardlink_to(path)
    random.Random(0).shuffle(samples)
    gallery.sampled.write_text("".join(f"{columns[0]}\n" for columns in samples))
    gallery.local.write_text("".join(places.lines))
    gallery.edits.with_suffix(".csv").write_text("\n".join(edits))
    gallery.edits.with_suffix(".json").write_text(json.dumps([photo_of(columns_of(line)) for line in edits]))
    for date, _ in dates:
        months[datetime.fromtimestamp(date, UTC).strftime("%Y-%m")] += 1
    facts = {
        "photos": count * len(DIGITS),
        "checksums": checksums,
        "changed": changed,
        "photo": photo,
        "samples": samples,
        "page": first_page(pair for pair in dates if MONTH[0] <= pair[0] <= MONTH[1]),
        "months": months,
        "camera": first_page(places.camera),
        "box": first_page(places.box),
    }
    stamp.write_text(json.dumps({"version": VERSION, "expected": facts}))
    return Expected(**facts)


def first_page(dated: Iterable[tuple[int, str]]) -> list[str]:
    """The MD5s, by date and MD5."""
    return [md5 for _, md5 in sorted(dated)[:PAGE]]
