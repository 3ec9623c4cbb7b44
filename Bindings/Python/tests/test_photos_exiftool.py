"""Dates and sizes of pictures, compared with what exiftool says of them.

The pictures are those of the fixtures, variants of them that exiftool writes, and all that lie below the
directories of SATCHEL_IMAGES (separated by colons), such as unpacked source packages of exiftool and exiv2.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest

import satchel

pytestmark = pytest.mark.skipif(shutil.which("exiftool") is None, reason="exiftool is not installed")

FIXTURES = Path(__file__).parents[3] / "Tests" / "Fixtures" / "photos"
#: The formats of which only sizes are read, or only metadata, or nothing, as exiftool names them.
UNDATED = {"CRW", "X3F"}
UNSIZED = {"CRW", "X3F", "RAF", "IIQ"}
#: Pictures of which exiftool reads more, without a warning: IPTC after the end of a JPEG, and XMP without its
#: header; and one that was made to be read in two ways.
OTHERWISE = {"AFCP.jpg", "withXmp.jpg", "issue_ghsa_mxw9_qx4c_6m8v_poc.jp2"}
TAGS = ("DateTimeOriginal", "CreateDate", "ModifyDate")
OFFSETS = ("OffsetTimeOriginal", "OffsetTimeDigitized", "OffsetTime")
SOURCES = ("date_time_original", "date_time_digitized", "date_time")
XMP = (
    "XMP-exif:DateTimeOriginal",
    "XMP-photoshop:DateCreated",
    "XMP-exif:DateTimeDigitized",
    "XMP-xmp:CreateDate",
)
TIME = r"([ \d]\d:\d\d(?::\d\d)?)[.\d]*(Z|[+-]\d\d:\d\d)?"
DATE = re.compile(rf"((?!0000)\d{{4}})[-:](\d\d)[-:](\d\d)(?:[ T]{TIME})?")


def exiftool(folder: Path) -> List[Dict[str, Any]]:
    """Returns exiftool's answers for the pictures in a directory."""
    tags = ("EXIF:all", "XMP:all", "IPTC:all", "ImageSize", "Rotation", "FileType", "Warning", "Error")
    command = ["exiftool", "-json", "-n", "-G1", "-fast", *(f"-{tag}" for tag in tags), str(folder)]
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    pictures: List[Dict[str, Any]] = json.loads((found.stdout or b"[]").decode("utf-8", "replace"))
    return pictures


def seconds_of(text: Any, zone: Any = None) -> Optional[int]:
    """Unix seconds of a date as exiftool prints it; None for another text."""
    found = DATE.fullmatch(str(text or "").strip())
    if found is None:
        return None
    year, month, day, time, own = found.groups()
    time = (time or "00:00").replace(" ", "0")
    zone = str(own or zone or "+00:00").replace("Z", "+00:00")
    if re.fullmatch(r"[+-]\d\d:\d\d", zone) is None:
        zone = "+00:00"
    try:
        moment = datetime.fromisoformat(f"{year}-{month}-{day}T{time}{zone}")
    except ValueError:
        # exiftool prints it as it is there: a 31st of June, or a 60th second.
        return None
    return int((moment - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds())


def date_of(picture: Dict[str, Any]) -> Optional[Any]:
    """The date that exiftool has found, and the name of its source."""

    def exif(number: int) -> Optional[Any]:
        for group in ("ExifIFD", "IFD0"):
            zone = picture.get(f"ExifIFD:{OFFSETS[number]}")
            found = seconds_of(picture.get(f"{group}:{TAGS[number]}"), zone)
            if found is not None:
                return found, SOURCES[number]
        return None

    def iptc(day: str, time: str) -> Optional[Any]:
        text = picture.get(f"IPTC:{day}")
        found = seconds_of(f"{text} {picture.get(f'IPTC:{time}') or '00:00:00'}") if text else None
        return None if found is None else (found, "iptc")

    xmp = [(seconds_of(picture.get(tag)), "xmp") for tag in XMP]
    candidates = [exif(0), exif(1), *(each for each in xmp if each[0] is not None)]
    candidates += [iptc("DateCreated", "TimeCreated"), iptc("DigitalCreationDate", "DigitalCreationTime")]
    candidates.append(exif(2))
    return next((each for each in candidates if each is not None), None)


def size_of(picture: Dict[str, Any]) -> Optional[str]:
    """The size that exiftool has found, turned as the file itself asks for; None for none."""
    size = str(picture.get("Composite:ImageSize", "0"))
    if "0" in size.split():
        return None
    return " ".join(reversed(size.split())) if picture.get("QuickTime:Rotation") in (90, 270) else size


def compare(folder: Path, store: satchel.Store) -> Counter[str]:
    """Scans a directory, and compares the photos with what exiftool says. Returns what was compared."""
    counts: Counter[str] = Counter()
    photos = store.photos(folder)
    report = photos.scan(embedded_dates_only=True)
    assert report.missing_libraries == []
    remarks = {each.path for each in report.remarks}
    by_name = {photo.filename: photo for photo in photos.iterate()}
    for picture in exiftool(folder):
        name = Path(picture["SourceFile"]).name
        kind = picture.get("File:FileType")
        photo = by_name.get(name)
        # Of a damaged file either may read more.
        is_damaged = name in remarks or "ExifTool:Error" in picture or "ExifTool:Warning" in picture
        if photo is None or is_damaged or name in OTHERWISE:
            counts["skipped"] += 1
            continue
        if kind not in UNDATED and photo.photodate_source != "gps":
            expected = date_of(picture) or (photo.modified, "file")
            assert (photo.photodate, photo.photodate_source) == expected, (name, kind)
            counts["dates"] += 1
            counts[f"dates of {kind}"] += 1
        size = size_of(picture)
        if kind not in UNSIZED and size is not None:
            assert f"{photo.width} {photo.height}" == size, (name, kind)
            counts["sizes"] += 1
            counts[f"sizes of {kind}"] += 1
        if kind not in UNDATED:
            counts["others"] += others(photo, picture)
    return counts


def others(photo: satchel.Photo, picture: Dict[str, Any]) -> int:
    """Compares the camera, the orientation and the position, and returns how many there were."""
    count = 0
    make, turn = picture.get("IFD0:Make"), picture.get("IFD0:Orientation")
    # exiftool prints bytes that are not UTF-8 as question marks.
    if make is not None and str(make).strip() and "?" not in str(make):
        assert photo.camera_make == str(make).strip(), photo.filename
        count += 1
    if isinstance(turn, int) and 1 <= turn <= 8:
        assert photo.orientation == turn, photo.filename
        count += 1
    north, half = picture.get("GPS:GPSLatitude"), picture.get("GPS:GPSLatitudeRef")
    if isinstance(north, (int, float)) and half in ("N", "S") and photo.latitude is not None:
        assert photo.latitude == pytest.approx(-north if half == "S" else north), photo.filename
        count += 1
    return count


@pytest.mark.parametrize("tag", TAGS)
def test_pictures_that_exiftool_has_written(tag: str, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    shutil.copytree(FIXTURES, folder)
    names = [each.name for each in folder.iterdir()]
    change = ["exiftool", "-q", "-overwrite_original", "-EXIF:all=", f"-EXIF:{tag}=1999:12:31 23:59:58"]
    subprocess.run([*change, "-EXIF:OffsetTimeOriginal=+02:00", str(folder)], check=True)
    with satchel.open(":memory:") as store:
        counts = compare(folder, store)
    assert (counts["dates"], counts["sizes"]) == (len(names), len(names))


@pytest.mark.skipif("SATCHEL_IMAGES" not in os.environ, reason="SATCHEL_IMAGES names no directories")
def test_pictures_of_others(tmp_path: Path) -> None:
    total: Counter[str] = Counter()
    folders = {
        Path(folder)
        for root in os.environ["SATCHEL_IMAGES"].split(":")
        for folder, _, files in os.walk(root)
        if files
    }
    with satchel.open(":memory:") as store:
        for number, folder in enumerate(sorted(folders)):
            # Of files with the same bytes a scan keeps one name; here they are compared once.
            copies = tmp_path / str(number)
            copies.mkdir()
            for file in sorted(each for each in folder.iterdir() if each.is_file()):
                if file.stat().st_size > 0:
                    shutil.copy2(file, copies)
            total += compare(copies, store)
    print(dict(sorted(total.items())))
    assert total["dates"] > 0
    assert total["sizes"] > 0
