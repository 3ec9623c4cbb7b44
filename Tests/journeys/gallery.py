"""A photo library: pictures with films and sidecars, in folders, with names as people have them.

The pictures are those of Tests/Fixtures/photos, each with a date and bytes of its own. The same numbers and
sizes give the same files.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "Fixtures/photos"
#: Seconds from 1904, from which QuickTime counts, to 1970.
QUICKTIME = 2_082_844_800
START = datetime(2014, 1, 1, 9, tzinfo=UTC)
PLACES = ["", " Porto", " Zoë & Łukasz", ' the "old" house, again', " 東京", " Cafe\u0301"]
SIDECAR = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><!-- rating of {} --></x:xmpmeta>'


@dataclass(frozen=True)
class Picture:
    """A photo with its film and its sidecar, by their paths in the library."""

    path: str
    film: str | None
    sidecar: str | None

    @property
    def paths(self) -> list[str]:
        return [each for each in (self.path, self.film, self.sidecar) if each]


def exif(date: datetime, camera: bytes = b"Satchel One\0") -> bytes:
    """An APP1 segment with the camera's model and the time at which the picture was taken, in UTC."""
    taken, zone = date.strftime("%Y:%m:%d %H:%M:%S\0").encode(), b"+00:00\0\0"
    # Two directories, of which the first refers to the second, and then their values.
    second = 8 + 2 + 2 * 12 + 4
    values = second + 2 + 2 * 12 + 4
    after = values + len(camera)
    tiff = b"MM\0*" + struct.pack(">I", 8)
    tiff += struct.pack(">HHHIIHHIII", 2, 0x0110, 2, len(camera), values, 0x8769, 4, 1, second, 0)
    tiff += struct.pack(">HHHIIHHIII", 2, 0x9003, 2, 20, after, 0x9011, 2, 7, after + 20, 0)
    body = b"Exif\0\0" + tiff + camera + taken + zone
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content) + 8) + kind + content


def film(date: datetime, content: bytes) -> bytes:
    """A QuickTime film of two seconds without a track."""
    moment = int(date.timestamp()) + QUICKTIME
    matrix = struct.pack(">9I", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
    head = struct.pack(">IIIIIIH10x", 0, moment, moment, 600, 1200, 1 << 16, 1 << 8)
    movie = box(b"mvhd", head + matrix + struct.pack(">6II", *[0] * 6, 1))
    return box(b"ftyp", b"qt  \0\0\0\0qt  ") + box(b"moov", movie) + box(b"mdat", content)


class Gallery:
    """The files of a library, which `write` makes below a folder."""

    def __init__(self, count: int, *, seed: int = 1, first: int = 0, size: int = 0) -> None:
        """:param first: the number of the first photo, by which names and dates begin
        :param size: the bytes that each photo has besides its picture
        """
        self.count, self.seed, self.first, self.size = count, seed, first, size
        self.bases = {
            suffix: (FIXTURES / name).read_bytes()
            for suffix, name in ((".jpg", "baseline.jpg"), (".heic", "small.heic"), (".png", "small.png"))
        }

    def write(self, folder: Path) -> list[Picture]:
        pictures = []
        for picture, date, files in self._files():
            for path, body in files.items():
                file = folder / path
                if not file.parent.exists():
                    file.parent.mkdir(parents=True)
                file.write_bytes(body)
                os.utime(file, (date.timestamp() + 60,) * 2)
            pictures.append(picture)
        return pictures

    def _files(self) -> Iterator[tuple[Picture, datetime, dict[str, bytes]]]:
        for number in range(self.first, self.first + self.count):
            chance = random.Random(self.seed * 1_000_003 + number)
            date = START + timedelta(hours=5 * number, seconds=chance.randrange(3600))
            place = PLACES[date.month % len(PLACES)]
            # Cameras count to 50 in a folder, and begin again.
            stem = f"{date.year}/{date:%Y-%m}{place}/{100 + number // 50}SATCH/IMG_{number % 50 + 1:04}"
            yield self._picture(stem, number, date, chance)

    def _picture(
        self, stem: str, number: int, date: datetime, chance: random.Random
    ) -> tuple[Picture, datetime, dict[str, bytes]]:
        own = struct.pack(">QQ", self.seed, number) + chance.randbytes(self.size)
        files: dict[str, bytes] = {}
        suffix = (".jpg", ".heic", ".jpg", ".jpg", ".png")[number % 5]
        base = self.bases[suffix]
        if suffix == ".jpg":
            body = base[:2] + exif(date) + base[2:] + own
        elif suffix == ".heic":
            body = base + box(b"free", own)
        else:
            body = base + own
        path = stem + (suffix.upper() if number % 2 else suffix)
        files[path] = body
        moving = sidecar = None
        if suffix == ".heic":
            moving = stem + ".MOV"
            files[moving] = film(date, own[:4096])
        if number % 4 == 0:
            sidecar = path + ".xmp" if number % 8 else stem + ".xmp"
            files[sidecar] = SIDECAR.format(f"{self.seed}-{number}").encode()
        return Picture(path, moving, sidecar), date, files
