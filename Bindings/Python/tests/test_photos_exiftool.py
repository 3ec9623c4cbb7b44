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
#: The formats whose EXIF is read, as exiftool names them, and those whose size is read, too.
BOTH = {"JPEG", "TIFF", "NEF", "DNG", "CR2", "HEIC", "HEIF", "AVIF", "WEBP", "Extended WEBP"}
DATED = {*BOTH, "RW2", "RAF", "IIQ"}
SIZED = {*BOTH, "PNG"}
TAGS = ("DateTimeOriginal", "CreateDate", "ModifyDate")
OFFSETS = ("OffsetTimeOriginal", "OffsetTimeDigitized", "OffsetTime")
SOURCES = ("date_time_original", "date_time_digitized", "date_time")
DATE = re.compile(r"((?!0000)\d{4})[-:](\d\d)[-:](\d\d)[ T](\d\d:\d\d:\d\d)")


def exiftool(folder: Path) -> List[Dict[str, Any]]:
    """Returns exiftool's answers for the pictures in a directory."""
    dates = [f"-EXIF:{tag}" for tag in (*TAGS, *OFFSETS)]
    others = ["-ImageSize", "-FileType", "-Warning", "-Error"]
    command = ["exiftool", "-json", "-n", "-G1", "-fast", *dates, *others, str(folder)]
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    pictures: List[Dict[str, Any]] = json.loads(found.stdout or b"[]")
    return pictures


def date_of(picture: Dict[str, Any]) -> Optional[Any]:
    """The date that exiftool has found, and the name of its source."""
    for tag, offset, source in zip(TAGS, OFFSETS, SOURCES):
        for group in ("ExifIFD", "IFD0"):
            found = DATE.match(str(picture.get(f"{group}:{tag}", "")))
            zone = str(picture.get(f"ExifIFD:{offset}", "+00:00")).replace("Z", "+00:00")
            if found is None or re.fullmatch(r"[+-]\d\d:\d\d", zone) is None:
                continue
            year, month, day, time = found.groups()
            try:
                moment = datetime.fromisoformat(f"{year}-{month}-{day}T{time}{zone}")
            except ValueError:
                # exiftool prints it as it is there: a 31st of June, or a 60th second.
                continue
            return int((moment - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds()), source
    return None


def compare(folder: Path, store: satchel.Store) -> Counter[str]:
    """Scans a directory, and compares the photos with what exiftool says. Returns what was compared."""
    counts: Counter[str] = Counter()
    photos = store.photos(folder)
    report = photos.scan()
    assert report.missing_libraries == []
    remarks = {each.path for each in report.remarks}
    by_name = {photo.filename: photo for photo in photos.iterate()}
    for picture in exiftool(folder):
        name = Path(picture["SourceFile"]).name
        kind = picture.get("File:FileType")
        photo = by_name.get(name)
        # Of a damaged file either may read more.
        if photo is None or name in remarks or "ExifTool:Error" in picture or "ExifTool:Warning" in picture:
            counts["skipped"] += 1
            continue
        date, size = date_of(picture), picture.get("Composite:ImageSize")
        if kind in DATED:
            expected = date or (photo.modified, "file")
            assert (photo.photodate, photo.photodate_source) == expected, (name, kind)
            counts["dates"] += 1
            counts[f"dates of {kind}"] += 1
        if kind in SIZED and size is not None and "0" not in str(size).split():
            assert f"{photo.width} {photo.height}" == size, (name, kind)
            counts["sizes"] += 1
            counts[f"sizes of {kind}"] += 1
    return counts


@pytest.mark.parametrize("tag", TAGS)
def test_pictures_that_exiftool_has_written(tag: str, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    shutil.copytree(FIXTURES, folder)
    names = [each.name for each in folder.iterdir()]
    change = ["exiftool", "-q", "-overwrite_original", "-EXIF:all=", f"-EXIF:{tag}=1999:12:31 23:59:58"]
    subprocess.run([*change, "-EXIF:OffsetTimeOriginal=+02:00", str(folder)], check=True)
    with satchel.open(":memory:") as store:
        counts = compare(folder, store)
    # All but the PNG, whose EXIF is not read.
    assert (counts["dates"], counts["sizes"]) == (len(names) - 1, len(names))


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
