"""Conditions and counts of photos beside a model: clocks, cameras, places, folders, presence."""

from __future__ import annotations

import hashlib
import math
import random
import shutil
from collections import Counter
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from helpers import FIXTURES

import satchel
from satchel import PhotoCatalogue
from satchel.photos import Photo

EARTH = 6_371_008.8
UTC = timezone.utc


def sample(photos: PhotoCatalogue, count: int = 400) -> List[Photo]:
    """Photos of five cameras all over the earth, and around midnights of many clocks."""
    chance = random.Random(7)
    midnight = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp())
    for number in range(count):
        row: Dict[str, Any] = {
            "md5": hashlib.md5(b"%d" % number).hexdigest(),
            "filename": f"{number}.jpg",
            "size": 1,
            "photodate": midnight + chance.randrange(-40, 40) * 86_400 + chance.randrange(-50_000, 50_000),
            "modified": 0,
        }
        if chance.random() < 0.8:
            row["camera_model"] = chance.choice(["X100V", "NIKON D7000", "é", "iPhone 15", "X100"])
        if chance.random() < 0.7:
            row["utc_offset"] = chance.choice([-36_000, -28_800, 0, 3600, 20_700, 32_400, 50_400])
        if chance.random() < 0.7:
            row["latitude"] = chance.choice([47.37, -89.5, 89.9, 0.0]) + chance.random() * 0.1
            row["longitude"] = chance.choice([8.54, 179.95, -179.99, 0.0]) + chance.random() * 0.04
        photos.upsert(row)
    return list(photos.iterate())


def found(photos: PhotoCatalogue, **conditions: Any) -> List[str]:
    """The photos that a query, its pages, and the count agree on."""
    everything = [each.md5 for each in photos.iterate(**conditions)]
    assert photos.count(**conditions) == len(everything)
    by_date = photos.query(order="photodate", limit=100_000, **conditions)
    assert sorted(each.md5 for each in by_date) == everything
    assert [each.photodate for each in by_date] == sorted(each.photodate for each in by_date)
    # By date, short pages of many photos are read in another way than the long one.
    for order in ("filename", "photodate"):
        pages, after = [], None
        while True:
            page = photos.query(order=order, descending=True, limit=7, after=after, **conditions)
            pages += [each.md5 for each in page]
            after = page.next
            if after is None:
                break
        assert sorted(pages) == everything
    assert pages == [each.md5 for each in reversed(by_date)]
    return everything


def wall(photo: Photo) -> datetime:
    """The time on the wall where a photo was taken, or in UTC."""
    return datetime.fromtimestamp(photo.photodate + (photo.utc_offset or 0), UTC).replace(tzinfo=None)


def berlin(photo: Photo) -> datetime:
    """The time in Berlin, of the winters that the photos are from."""
    return datetime.fromtimestamp(photo.photodate, UTC).replace(tzinfo=None) + timedelta(hours=1)


@pytest.mark.parametrize(
    ("name", "time_of"),
    [("local", wall), ("Europe/Berlin", berlin), ("+01:00", berlin)],
)
def test_days_are_on_the_clock_that_is_asked_for(
    photos: PhotoCatalogue, name: str, time_of: Callable[[Photo], datetime]
) -> None:
    everything = sample(photos)
    first, last = date(2023, 12, 31), date(2024, 1, 1)
    expected = [each.md5 for each in everything if first <= time_of(each).date() <= last]
    assert 0 < len(expected) < len(everything)
    assert found(photos, clock=name, from_=first, to=last) == expected
    noon = datetime(2024, 1, 1, 12, 30)
    assert found(photos, clock=name, to=noon) == [e.md5 for e in everything if time_of(e) <= noon]
    assert found(photos, clock=name, from_=noon) == [e.md5 for e in everything if time_of(e) >= noon]
    days = Counter(time_of(each).strftime("%Y-%m-%d") for each in everything)
    assert list(photos.counts("day", clock=name).items()) == sorted(days.items())
    months = Counter(time_of(each).strftime("%Y-%m") for each in everything if each.camera_model == "é")
    assert photos.counts("month", clock=name, camera="é") == dict(months)


def test_a_day_in_tokyo_is_not_one_in_utc(photos: PhotoCatalogue) -> None:
    taken = datetime(2024, 1, 1, 8, 0, tzinfo=timezone(timedelta(hours=9)))
    row = {"md5": "0" * 32, "filename": "a.jpg", "size": 1, "photodate": taken, "modified": 0}
    photos.upsert({**row, "utc_offset": 32_400})
    assert photos.counts("day", clock="local") == {"2024-01-01": 1}
    assert photos.counts("day") == photos.counts("day", clock="utc") == {"2023-12-31": 1}
    assert photos.count(from_=date(2024, 1, 1), clock="local") == 1
    assert photos.count(from_=datetime(2024, 1, 1, tzinfo=UTC)) == 0


def test_dates_at_the_ends_of_time(photos: PhotoCatalogue) -> None:
    for digit, time in enumerate((-(2**63), -62_167_219_201, 2**63 - 1)):
        row = {"md5": f"{digit:032x}", "filename": "a.jpg", "size": 1, "photodate": time, "modified": 0}
        photos.upsert({**row, "utc_offset": 3600 if digit else -3600})
    for clock in ("utc", "local", "Europe/Berlin", "-12:00"):
        assert list(photos.counts("month", clock=clock)) == ["0000-01", "9999-12"]
        assert photos.count(clock=clock, from_=-(2**63), to=2**63 - 1) == 3


def test_cameras(photos: PhotoCatalogue) -> None:
    everything = sample(photos)
    for camera in ("X100V", "X100", "é", "x100", ""):
        assert found(photos, camera=camera) == [e.md5 for e in everything if e.camera_model == camera]
    counts = photos.counts("camera")
    assert counts == dict(Counter(each.camera_model for each in everything))
    assert list(counts) == [*sorted(name for name in counts if name is not None), None]
    assert photos.counts("camera", filename="1?.jpg") == dict(
        Counter(e.camera_model for e in everything if len(e.filename) == 6 and e.filename[0] == "1")
    )


def distance(photo: Photo, latitude: float, longitude: float) -> float:
    assert photo.latitude is not None
    assert photo.longitude is not None
    one, other = math.radians(photo.latitude), math.radians(latitude)
    apart = math.radians(photo.longitude - longitude)
    square = math.sin((one - other) / 2) ** 2 + math.cos(one) * math.cos(other) * math.sin(apart / 2) ** 2
    return 2 * EARTH * math.asin(math.sqrt(min(1.0, square)))


def test_places(photos: PhotoCatalogue) -> None:
    everything = [each for each in sample(photos) if each.latitude is not None]
    for near in ((47.4, 8.56, 4000.0), (0.05, -179.99, 9000.0), (-89.5, 0.0, 60_000.0), (0.0, 0.0, 3e7)):
        latitude, longitude, metres = near
        expected = [each.md5 for each in everything if distance(each, latitude, longitude) <= metres]
        assert expected
        assert found(photos, near=near) == expected
    for south, west, north, east in ((47.0, 8.0, 48.0, 9.0), (-1.0, 179.9, 1.0, -179.9)):
        expected = []
        for each in everything:
            assert each.latitude is not None
            assert each.longitude is not None
            is_between = west <= each.longitude <= east
            if west > east:
                is_between = each.longitude >= west or each.longitude <= east
            if south <= each.latitude <= north and is_between:
                expected.append(each.md5)
        assert expected
        assert found(photos, box=(south, west, north, east)) == expected


def test_folders_and_presence(store: satchel.Store, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    picture = (FIXTURES / "photos/baseline.jpg").read_bytes()
    names = ["a.jpg", "trips/b.jpg", "trips/2024/c.jpg", "trips2/d.jpg", "trips.jpg", "cafe\u0301/e.jpg"]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(picture + name.encode())
    # One photo in two folders, and twice in one.
    for name in ("trips/2024/again.jpg", "trips/2024/twice.jpg"):
        shutil.copy(folder / "trips/b.jpg", folder / name)
    photos = store.photos(folder)
    photos.scan()
    photos.upsert({"md5": "f" * 32, "filename": "x.jpg", "size": 1, "photodate": 1, "modified": 1})

    first_names = {hashlib.md5(picture + name.encode()).hexdigest(): name for name in names}

    def in_folder(name: str) -> List[str]:
        return sorted(first_names[md5].rpartition("/")[2] for md5 in found(photos, folder=name))

    for name in ("trips", "trips/"):
        assert in_folder(name) == ["b.jpg", "c.jpg"]
    assert in_folder("trips/2024") == ["b.jpg", "c.jpg"]
    assert in_folder("caf\u00e9") == in_folder("cafe\u0301") == ["e.jpg"]
    assert in_folder("tri") == in_folder("../pictures") == []
    assert photos.counts("folder") == {"": 2, "cafe\u0301": 1, "trips": 1, "trips/2024": 2, "trips2": 1}
    assert photos.counts("folder", folder="trips") == {"trips": 1, "trips/2024": 2}
    assert len(found(photos, present=True)) == 6
    assert found(photos, present=False) == ["f" * 32]
    (folder / "a.jpg").unlink()
    photos.scan()
    assert len(found(photos, present=True)) == 5
    assert photos.counts("folder")[""] == 1


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"clock": "Nowhere/Town"}, "clock"),
        ({"clock": "local", "from_": datetime(2024, 1, 1, tzinfo=UTC)}, "from_"),
        ({"from_": date(2024, 1, 1)}, "from_"),
        ({"box": (1.0, 2.0, 3.0)}, "box"),
        ({"box": (3.0, 0.0, 1.0, 0.0)}, "place"),
        ({"near": (91.0, 0.0, 1.0)}, "place"),
        ({"near": (0.0, 0.0, -1.0)}, "place"),
        ({"near": (0.0, 0.0, 1.0), "box": (0.0, 0.0, 1.0, 1.0)}, "exclude"),
        ({"present": 1}, "present"),
        ({"camera": 5}, "camera"),
    ],
)
def test_what_is_no_condition(photos: PhotoCatalogue, conditions: Dict[str, Any], message: str) -> None:
    for call in (photos.query, photos.count, photos.iterate, lambda **given: photos.counts("day", **given)):
        with pytest.raises(satchel.InvalidArgument, match=message):
            call(**conditions)
    with pytest.raises(TypeError, match="cameras"):
        photos.count(cameras="X100")  # type: ignore[call-arg]
    with pytest.raises(satchel.InvalidArgument, match="group"):
        photos.counts("year")
