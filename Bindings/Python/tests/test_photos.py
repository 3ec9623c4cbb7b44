"""The rows of a photo catalogue: written, read, found, counted."""

from __future__ import annotations

import dataclasses
import fnmatch
import random
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from albums import DAY, NOON, assert_holds, md5, row, rows_of
from helpers import portion
from hypothesis import given, settings
from hypothesis import strategies as st

import satchel
from satchel import PhotoCatalogue
from satchel.photos import Photo, PhotoPage


def test_the_names_that_stay(store: satchel.Store, tmp_path: Path) -> None:
    photos = store.photos(tmp_path / "photos")
    assert photos.upsert(row(each) for each in range(20)) == 20
    photo = photos.get(md5(3))
    assert photo is not None
    assert (photo.filename, photo["filename"], photo.row) == ("IMG_3.jpg", "IMG_3.jpg", row(3))
    photos.delete(md5(3))
    assert photos.get(md5(3)) is None
    assert photos.count() == 19
    assert isinstance(photos.query(limit=5), PhotoPage)
    assert photos.modified_shards() == sorted({int(md5(each)[0], 16) for each in range(20) if each != 3})
    data = photos.export_shard(0)
    assert isinstance(data, bytes)
    report = photos.import_shard(0, data + b"\nno photo")
    assert [(each.line, each.raw) for each in report.rejected] == [(data.count(b"\n") + 2, "no photo")]
    assert report.rejected[0].reason
    assert report.photos == photos.count(shard=0)
    photos.set_local(md5(4), camera_make="Leica", iso=400)
    photos.star(md5(4))
    claimed = photos.backup.claim()
    assert claimed is not None
    assert claimed.md5 == md5(4)
    photos.backup.failed(md5(4), "no network")
    photos.backup.queue(md5(4))
    assert photos.backup.claim() is not None
    photos.backup.done(md5(4))
    remote = satchel.remote.Directory(tmp_path / "remote_copy")
    report_of_sync = photos.sync(remote, "ada", on_conflict="remote_wins", progress=None, dry_run=False)
    for name in ("downloaded", "uploaded", "conflicts", "repaired", "failed", "rejected"):
        assert isinstance(getattr(report_of_sync, name), list)
    for name in ("requests", "bytes_up", "bytes_down"):
        assert isinstance(getattr(report_of_sync, name), int)
    assert photos.conflicts() == []
    with pytest.raises(satchel.NotFound):
        photos.resolve(1, "local")


def test_a_photo_is_returned_as_it_was_given(photos: PhotoCatalogue) -> None:
    given = {
        "md5": "00112233445566778899aabbccddeeff",
        "filename": 'a "b",\r\n\tç 🦊.jpg',
        "size": 2**63 - 1,
        "photodate": -(2**63),
        "modified": 2**63 - 1,
        "width": None,
        "height": 0,
        "apple_photo_id": "9F/L0/001",
    }
    assert photos.upsert([given]) == 1
    found = photos.get(given["md5"])
    assert found == Photo(**given)
    assert found.row == given
    assert {**found, "size": 1}["filename"] == given["filename"]
    assert (found.starred, found.local_only, found.backup_status, found.attempts) == (
        False,
        True,
        "not_backed_up",
        0,
    )
    assert photos.get(bytes.fromhex(given["md5"])) == photos.get(found) == photos.get(given["md5"].upper())
    assert photos.upsert([given]) == photos.upsert(given) == photos.upsert(found) == 0
    assert photos.upsert(dataclasses.replace(found, size=5)) == 1
    assert_holds(photos, {given["md5"]: {**given, "size": 5}})


def test_fields_that_may_be_left_out(photos: PhotoCatalogue) -> None:
    needed = {key: value for key, value in row(1).items() if key not in ("width", "height", "apple_photo_id")}
    assert photos.upsert([needed]) == 1
    found = photos.get(md5(1))
    assert found is not None
    assert (found.width, found.height, found.apple_photo_id) == (None, None, None)


def test_dates_are_seconds_and_moments(photos: PhotoCatalogue) -> None:
    taken = datetime(2024, 2, 29, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    before = datetime(1969, 12, 31, 23, 59, 59, 750_000, tzinfo=timezone.utc)
    photos.upsert([row(1, photodate=taken, modified=before)])
    photo = photos.get(md5(1))
    assert photo is not None
    assert photo.photodate == int(taken.timestamp())
    assert photo.taken_at == taken
    assert photo.modified == -1
    assert photo.modified_at == datetime(1969, 12, 31, 23, 59, 59, tzinfo=timezone.utc)
    assert len(photos.query(from_=taken, to=taken)) == 1
    assert len(photos.query(from_=taken + timedelta(seconds=1))) == 0
    for wrong in (datetime(2024, 1, 1), date(2024, 1, 1)):
        with pytest.raises(satchel.InvalidArgument, match="time zone"):
            photos.query(to=wrong)  # type: ignore[arg-type]
        with pytest.raises(satchel.InvalidArgument, match="photodate of photo 1"):
            photos.upsert([row(1), row(2, photodate=wrong)])
    photos.upsert([row(3, photodate=2**62)])
    far = photos.get(md5(3))
    assert far is not None
    with pytest.raises(OverflowError):
        far.taken_at  # noqa: B018


def test_of_rows_with_one_md5_the_last_counts(photos: PhotoCatalogue) -> None:
    photos.upsert([row(1, filename="a"), row(2), row(1, filename="b")])
    photo = photos.get(md5(1))
    assert photo is not None
    assert photo.filename == "b"
    assert photos.count() == 2


def test_a_batch_is_one_transaction(photos: PhotoCatalogue) -> None:
    def rows() -> Iterator[Dict[str, Any]]:
        for number in range(25):
            yield row(number, **({"md5": "no md5"} if number == 17 else {}))

    with pytest.raises(satchel.InvalidArgument, match=r"after 10 photos: .*7"):
        photos.upsert(rows(), batch=10)
    assert_holds(photos, {md5(each): row(each) for each in range(10)})

    def breaks() -> Iterator[Dict[str, Any]]:
        yield from (row(each) for each in range(100, 112))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        photos.upsert(breaks(), batch=10)
    assert photos.count() == 20


def test_deleting_says_how_many_there_were(photos: PhotoCatalogue) -> None:
    photos.upsert(row(each) for each in range(10))
    assert photos.delete(md5(1)) == 1
    assert photos.delete(md5(1)) == 0
    assert photos.delete([]) == 0
    second = photos.get(md5(2))
    assert second is not None
    assert photos.delete(iter([second, bytes.fromhex(md5(3)), md5(4), md5(4), md5(99)])) == 3
    assert_holds(photos, {md5(each): row(each) for each in (0, 5, 6, 7, 8, 9)})
    assert photos.delete(md5(each) for each in range(10)) == 6
    assert_holds(photos, {})
    # A photo that was never on both sides is not a change when it is gone.
    assert photos.modified_shards() == []


ROWS = [
    row(each, filename=f"{'IMG' if each % 3 else 'img'}_{each:03}.{'jpg' if each % 2 else 'heic'}")
    for each in range(300)
]


@pytest.fixture
def filled(photos: PhotoCatalogue) -> PhotoCatalogue:
    photos.upsert(ROWS)
    return photos


@pytest.mark.parametrize("order", ["md5", "photodate", "filename"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limit", [1, 7, 300, 100_000])
def test_pages_in_order_make_up_the_whole(
    filled: PhotoCatalogue, order: str, descending: bool, limit: int
) -> None:
    found: List[Photo] = []
    page = filled.query(order=order, descending=descending, limit=limit)
    while True:
        assert len(page) <= limit
        found.extend(page)
        if page.next is None:
            break
        page = filled.query(order=order, descending=descending, limit=limit, after=page.next)
    assert rows_of(found) == {each["md5"]: each for each in ROWS}
    assert len(found) == len(ROWS)
    keys = [getattr(each, order) for each in found]
    assert keys == sorted(keys, reverse=descending)
    assert [each.md5 for each in filled.iterate(order=order, descending=descending)] == [
        each.md5 for each in found
    ]


def test_a_page_is_a_sequence(filled: PhotoCatalogue) -> None:
    page = filled.query(limit=3)
    assert (len(page), page[0], page[-1], page[1:]) == (3, *page.photos[:1], page.photos[2], page.photos[1:])
    assert page[0] in page
    assert list(reversed(page)) == page.photos[::-1]


@settings(deadline=None, max_examples=portion(100))
@given(st.data())
def test_filters_compose_as_in_python(data: st.DataObject) -> None:
    """Each filter, alone and with others, against a loop over the rows."""
    with satchel.open(":memory:") as store, store.photos("/photos") as photos:
        photos.upsert(ROWS[:60])
        chance = random.Random(5)
        starred = {each["md5"] for each in ROWS[:60] if chance.random() < 0.5}
        for each in starred:
            photos.star(each)
        dates = st.one_of(st.none(), st.integers(NOON, NOON + DAY))
        query: Dict[str, Any] = {
            "from_": data.draw(dates),
            "to": data.draw(dates),
            "filename": data.draw(
                st.sampled_from([None, "*", "IMG_*", "img_0?3.*", "*.jpg", "IMG_001.jpg", "IMG_0", "?"])
            ),
            "starred": data.draw(st.sampled_from([None, True, False])),
            "shard": data.draw(st.one_of(st.none(), st.integers(0, 15))),
            "backup_status": data.draw(st.sampled_from([None, "queued", "not_backed_up", "error"])),
        }

        def fits(each: Dict[str, Any]) -> bool:
            star = each["md5"] in starred
            tests = [
                query["from_"] is None or each["photodate"] >= query["from_"],
                query["to"] is None or each["photodate"] <= query["to"],
                query["filename"] is None or fnmatch.fnmatchcase(each["filename"], query["filename"]),
                query["starred"] is None or query["starred"] == star,
                query["shard"] is None or int(each["md5"][0], 16) == query["shard"],
                query["backup_status"] in (None, "queued" if star else "not_backed_up"),
            ]
            return all(tests)

        expected = {each["md5"]: each for each in ROWS[:60] if fits(each)}
        assert rows_of(photos.iterate(**query)) == expected
        assert photos.count(**query) == len(expected)


def test_a_catalogue_a_directory(store: satchel.Store, tmp_path: Path) -> None:
    with store.photos(tmp_path / "a") as one, store.photos(tmp_path / "b") as other:
        one.upsert([row(1)])
        other.upsert([row(2)])
        with store.photos(tmp_path / "a") as same:
            assert rows_of(same.iterate()) == {md5(1): row(1)}
            assert same.status().uuid == one.status().uuid != other.status().uuid
        assert one.status().directory == str(tmp_path / "a")
        assert repr(tmp_path / "a")[11:-2] in repr(one)


def test_rows_are_there_after_reopening(path: Path) -> None:
    with satchel.open(path) as store, store.photos("/photos") as photos:
        photos.upsert(ROWS)
        photos.star(md5(1))
        uuid = photos.status().uuid
    with satchel.open(path, read_only=True) as store, store.photos("/photos") as photos:
        assert_holds(photos, {each["md5"]: each for each in ROWS})
        assert photos.status().uuid == uuid
        assert [each.md5 for each in photos.query(starred=True)] == [md5(1)]
        with pytest.raises(satchel.ReadOnly):
            photos.upsert([row(1000)])
        with pytest.raises(satchel.NotFound):
            store.photos("/nowhere")


def test_observers_hear_of_photos(store: satchel.Store, photos: PhotoCatalogue) -> None:
    heard: List[satchel.Change] = []
    store.observe(heard.append)
    photos.upsert([row(1), row(2)])
    photos.upsert([row(1)])
    photos.delete(md5(2))
    photos.star(md5(1))
    photos.upsert(row(each, shard=3) for each in range(2000, 4000))
    told = [(each.subject, sorted(each.keys)) for each in heard]
    assert told[:3] == [
        ("photos", sorted([md5(1), md5(2)])),
        ("photos", [md5(2)]),
        ("photos", [md5(1)]),
    ]
    assert ("photos", ["shard:3"]) in told[3:]
    assert {each.place for each in heard} == {photos.directory}
