"""Each function of a photo catalogue with what it does not take: refused with a reason, nothing changed."""

from __future__ import annotations

import gc
import threading
import warnings
from pathlib import Path
from typing import Any, Callable, List

import pytest
from albums import assert_holds, md5, row, together

import satchel
from satchel import InvalidArgument, PhotoCatalogue

BAD_MD5 = [
    "",
    "0",
    "g" * 32,
    "0" * 31,
    "0" * 33,
    "\uff10" * 32,
    "\ud800" * 32,
    "0" * 31 + "\0",
    None,
    5,
    b"x",
    1.5,
    [],
    {},
]

BAD_ROWS: List[Any] = [
    {},
    {"md5": md5(1)},
    row(1, md5="no"),
    row(1, md5=5),
    row(1, filename=None),
    row(1, filename=b"bytes"),
    row(1, filename="\ud800"),
    row(1, size=-1),
    row(1, size="10"),
    row(1, size=1.5),
    row(1, size=2**63),
    row(1, size=True),
    row(1, photodate=None),
    row(1, photodate="today"),
    row(1, photodate=float("nan")),
    row(1, modified=1e300),
    row(1, width=-1),
    row(1, height=[]),
    row(1, apple_photo_id=5),
    row(1, no_such_column=1),
    row(1, camera_make=5),
    row(1, orientation=9),
    row(1, latitude=91),
    row(1, longitude=float("inf")),
    row(1, starred="yes"),
    {1: 2},
    None,
    5,
    "text",
    [],
]


@pytest.fixture
def rows(photos: PhotoCatalogue) -> PhotoCatalogue:
    photos.upsert([row("a"), row("b")])
    return photos


def unchanged(photos: PhotoCatalogue) -> None:
    assert_holds(photos, {each["md5"]: each for each in (row("a"), row("b"))})


@pytest.mark.parametrize("bad", BAD_ROWS, ids=repr)
def test_rows_that_are_none(rows: PhotoCatalogue, bad: Any) -> None:
    with pytest.raises(InvalidArgument):
        rows.upsert([row(5), bad])
    unchanged(rows)


@pytest.mark.parametrize("bad", [None, 5, "text", b"bytes", object(), 1.5], ids=repr)
def test_what_is_no_iterable_of_rows(rows: PhotoCatalogue, bad: Any) -> None:
    with pytest.raises(InvalidArgument, match="photos"):
        rows.upsert(bad)
    unchanged(rows)


@pytest.mark.parametrize("batch", [0, -1, 1.5, None, True, "5", 2**40])
def test_batches_that_are_none(rows: PhotoCatalogue, batch: Any) -> None:
    with pytest.raises(InvalidArgument, match="batch"):
        rows.upsert([row(5)], batch=batch)
    unchanged(rows)


def test_the_message_names_the_row(rows: PhotoCatalogue) -> None:
    with pytest.raises(InvalidArgument, match='/1: "size"'):
        rows.upsert([row(5), row(6, size="10")])
    with pytest.raises(InvalidArgument, match=f"{md5(7)}.*size"):
        rows.upsert([row(5), row(6), row(7, size=-1)])
    with pytest.raises(InvalidArgument, match="photo 1 must be a Photo or a dict, not int"):
        rows.upsert([row(5), 7])  # type: ignore[list-item]


@pytest.mark.parametrize("bad", BAD_MD5, ids=ascii)
def test_md5s_that_are_none(rows: PhotoCatalogue, bad: Any) -> None:
    calls: List[Callable[[Any], Any]] = [
        rows.get,
        lambda each: rows.delete([md5("a"), each]),
        lambda each: rows.set_local(each, iso=1),
        rows.star,
        rows.backup.queue,
        rows.backup.done,
        lambda each: rows.backup.failed(each, "x"),
    ]
    for call in calls:
        with pytest.raises(InvalidArgument):
            call(bad)
    unchanged(rows)


@pytest.mark.parametrize("bad", [None, 5, object(), 1.5], ids=repr)
def test_deleting_what_is_no_md5(rows: PhotoCatalogue, bad: Any) -> None:
    with pytest.raises(InvalidArgument, match="md5"):
        rows.delete(bad)
    unchanged(rows)


@pytest.mark.parametrize(
    "query",
    [
        {"from_": "today"},
        {"to": 1.5},
        {"to": 2**63},
        {"filename": 5},
        {"filename": "\ud800"},
        {"starred": "yes"},
        {"backup_status": "lost"},
        {"backup_status": 1},
        {"shard": 16},
        {"shard": -1},
        {"shard": "f"},
        {"shard": 2**70},
    ],
    ids=ascii,
)
def test_queries_that_are_none(rows: PhotoCatalogue, query: Any) -> None:
    for ask in (rows.query, rows.count, rows.iterate):
        with pytest.raises(InvalidArgument):
            ask(**query)


@pytest.mark.parametrize(
    "query",
    [
        {"order": "size"},
        {"order": 5},
        {"limit": 0},
        {"limit": -1},
        {"limit": 100_001},
        {"limit": "5"},
        {"limit": 2**70},
        {"after": "no cursor"},
        {"after": 5},
        {"after": "\0" * 100},
    ],
    ids=repr,
)
def test_pages_that_are_none(rows: PhotoCatalogue, query: Any) -> None:
    with pytest.raises(InvalidArgument):
        rows.query(**query)


def test_a_cursor_of_another_query_is_refused_or_harmless(rows: PhotoCatalogue) -> None:
    cursor = rows.query(order="filename", limit=1).next
    assert cursor is not None
    for order in ("md5", "photodate"):
        try:
            page = rows.query(order=order, after=cursor)
        except InvalidArgument:
            continue
        assert len(page) <= 2


@pytest.mark.parametrize("shard", [-1, 16, 2**40, None, "0", 1.0, True])
def test_shards_that_are_none(rows: PhotoCatalogue, shard: Any) -> None:
    with pytest.raises(InvalidArgument, match="shard"):
        rows.export_shard(shard)
    with pytest.raises(InvalidArgument, match="shard"):
        rows.import_shard(shard, b"")
    unchanged(rows)


def test_files_and_policies_that_are_none(rows: PhotoCatalogue, tmp_path: Path) -> None:
    for data in (None, 5, [], {}, "\ud800"):
        with pytest.raises(InvalidArgument, match="data"):
            rows.import_shard(0, data)  # type: ignore[arg-type]
    for policy in ("", "local_wins", None, 0, []):
        with pytest.raises(InvalidArgument, match="on_conflict"):
            rows.import_shard(0, b"", on_conflict=policy)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="on_conflict"):
            rows.import_directory(tmp_path, on_conflict=policy)  # type: ignore[arg-type]
    for path in (None, 5, b"bytes", "nul\0", "\ud800"):
        for call in (rows.export_directory, rows.import_directory):
            with pytest.raises(InvalidArgument, match="path"):
                call(path)  # type: ignore[arg-type]
    unchanged(rows)


@pytest.mark.parametrize("directory", [None, 5, b"bytes", "nul\0", "\ud800", ""])
def test_directories_that_are_none(store: satchel.Store, directory: Any) -> None:
    with pytest.raises(InvalidArgument, match="directory"):
        store.photos(directory)


def test_local_values_that_are_none(rows: PhotoCatalogue) -> None:
    wrong = [{"iso": "fast"}, {"latitude": 90.5}, {"longitude": "west"}, {"orientation": 0}, {"starred": 1}]
    wrong += [{"aperture": float("nan")}, {"camera_make": 5}, {"thumbnail_cached_at": "now"}, {"x": object()}]
    for columns in wrong:
        with pytest.raises(InvalidArgument):
            rows.set_local(md5("a"), **columns)
    for error in (None, 5, "\ud800"):
        with pytest.raises(InvalidArgument, match="error"):
            rows.backup.failed(md5("a"), error)  # type: ignore[arg-type]
    found = rows.get(md5("a"))
    assert found is not None
    assert found == satchel.Photo(**row("a"))


def test_conflicts_that_are_none(rows: PhotoCatalogue) -> None:
    for bad in (None, "1", 1.5, True, 2**63, md5("a")):
        with pytest.raises(InvalidArgument, match="conflict"):
            rows.resolve(bad, "local")  # type: ignore[arg-type]
    for unknown in (0, -1, 2**63 - 1, -(2**63)):
        with pytest.raises(satchel.NotFound):
            rows.resolve(unknown, "local")
    for keep in ("both", "", None, 1):
        with pytest.raises(InvalidArgument, match="keep"):
            rows.resolve(1, keep)  # type: ignore[arg-type]


def test_arguments_of_long_work(rows: PhotoCatalogue, remote_copy: satchel.remote.Remote) -> None:
    for zone in (60, "1", "Europe/Nowhere", "../../etc/passwd", "/etc/passwd", "a\0b", "+99:00", "Ö" * 100):
        with pytest.raises(InvalidArgument, match="time_zone"):
            rows.scan(time_zone=zone)  # type: ignore[arg-type]
    for progress in (5, "x"):
        with pytest.raises(InvalidArgument, match="progress"):
            rows.scan(progress=progress)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="progress"):
            rows.sync(remote_copy, "ada", progress=progress)  # type: ignore[arg-type]
    for parallel in (0, 17, -1, "4", True):
        with pytest.raises(InvalidArgument, match="parallel"):
            rows.sync(remote_copy, "ada", parallel=parallel)  # type: ignore[arg-type]
    for remote in (None, "/path", object()):
        with pytest.raises(InvalidArgument, match="remote"):
            rows.sync(remote, "ada")  # type: ignore[arg-type]
    for user in ("", ".", "..", "a/b", "a b", "ü", "x" * 129, "a\0", None, 5, "\ud800"):
        with pytest.raises(InvalidArgument):
            rows.sync(remote_copy, user)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="on_conflict"):
        rows.sync(remote_copy, "ada", on_conflict="mine")
    unchanged(rows)


def every_call(photos: PhotoCatalogue, remote: satchel.remote.Remote) -> List[Callable[[], object]]:
    return [
        lambda: photos.upsert([row(1)]),
        lambda: photos.get(md5(1)),
        lambda: photos.delete(md5(1)),
        lambda: photos.count(),
        lambda: photos.query(),
        lambda: photos.iterate(),
        lambda: photos.set_local(md5(1)),
        lambda: photos.star(md5(1)),
        lambda: photos.status(),
        lambda: photos.modified_shards(),
        lambda: photos.changes(),
        lambda: photos.export_shard(0),
        lambda: photos.import_shard(0, b""),
        lambda: photos.export_directory("/tmp"),
        lambda: photos.import_directory("/tmp"),
        lambda: photos.backup.queue(md5(1)),
        lambda: photos.backup.claim(),
        lambda: photos.backup.done(md5(1)),
        lambda: photos.backup.failed(md5(1), "x"),
        lambda: photos.scan(),
        lambda: photos.sync(remote, "ada"),
        lambda: photos.verify(remote, "ada"),
        lambda: photos.detach(),
        lambda: photos.conflicts(),
        lambda: photos.resolve(1, "local"),
    ]


@pytest.mark.parametrize("how", ["photos", "store"])
def test_a_closed_catalogue_says_so(tmp_path: Path, remote_copy: satchel.remote.Remote, how: str) -> None:
    store = satchel.open(tmp_path / "x.satchel")
    photos = store.photos("/photos")
    (photos if how == "photos" else store).close()
    photos.close()
    assert photos.closed
    assert "closed" in repr(photos)
    for call in every_call(photos, remote_copy):
        with pytest.raises(satchel.Closed):
            call()
    store.close()


def test_a_closed_remote_says_so(photos: PhotoCatalogue, remote_copy: satchel.remote.Remote) -> None:
    remote_copy.close()
    remote_copy.close()
    with pytest.raises(satchel.Closed, match="remote"):
        photos.sync(remote_copy, "ada")
    with pytest.raises(satchel.Closed, match="remote"):
        remote_copy.probe()


def test_catalogues_that_no_one_holds_are_closed(store: satchel.Store) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in range(50):
            store.photos(f"/photos-{each % 5}").upsert([row(each)])
        gc.collect()
    assert sum(store.photos(f"/photos-{each}").count() for each in range(5)) == 50


def test_catalogues_close_while_others_work(store: satchel.Store) -> None:
    with store.photos("/photos") as photos:
        photos.upsert(row(each) for each in range(100))

    def come_and_go() -> None:
        for _ in range(30):
            photos = store.photos("/photos")
            closer = threading.Thread(target=photos.close)
            closer.start()
            try:
                while True:
                    assert len(list(photos.iterate())) == 100
            except satchel.Closed:
                closer.join()

    together(*[come_and_go] * 4)
