"""Values of a photo that only this device has: camera, stars, and the state of its backup."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List

import pytest
from albums import md5, row, shard_file, together
from helpers import Clock

import satchel
from satchel import PhotoCatalogue

CAMERA: Dict[str, Any] = {
    "camera_make": "Leica",
    "camera_model": 'M "6"',
    "orientation": 6,
    "latitude": -33.8568,
    "longitude": 151.2153,
    "aperture": 1.4,
    "shutter_speed": "1/125",
    "iso": 400,
    "focal_length": 35.0,
    "thumbnail_cached_at": 1_704_067_200_123,
    "preview_cached_at": 0,
}

CLAIMING = """
import sys, satchel
with satchel.open(sys.argv[1]) as store:
    photos = store.photos("/photos")
    claimed = []
    while (photo := photos.backup.claim()) is not None:
        claimed.append(photo.md5)
        photos.backup.done(photo)
    print(*claimed)
"""

DYING = """
import os, sys, satchel
photos = satchel.open(sys.argv[1]).photos("/photos")
print(photos.backup.claim().md5, flush=True)
os.kill(os.getpid(), 9)
"""


def known(photos: PhotoCatalogue, number: object = 1) -> Dict[str, Any]:
    photo = photos.get(md5(number))
    assert photo is not None
    return {key: photo[key] for key in CAMERA}


def test_the_camera_is_known_here_only_and_survives(
    photos: PhotoCatalogue, remote_copy: satchel.remote.Remote
) -> None:
    photos.upsert([row(1), row(2)])
    photos.set_local(md5(1), **CAMERA)
    assert known(photos) == CAMERA
    assert known(photos, 2) == dict.fromkeys(CAMERA)
    assert not any(b"Leica" in photos.export_shard(shard) for shard in range(16))
    shard = int(md5(1)[0], 16)
    photos.upsert([row(1, filename="new name")])
    assert known(photos) == CAMERA
    photos.import_shard(shard, shard_file([row(1, size=7)]))
    assert known(photos) == CAMERA
    photos.sync(remote_copy, "ada")
    assert known(photos) == CAMERA
    photos.set_local(
        md5(1), camera_make=None, iso=None, preview_cached_at=datetime(2024, 1, 1, tzinfo=timezone.utc)
    )
    assert known(photos) == {
        **CAMERA,
        "camera_make": None,
        "iso": None,
        "preview_cached_at": 1_704_067_200_000,
    }
    photos.set_local(md5(1))
    assert known(photos)["camera_model"] == CAMERA["camera_model"]


def test_the_camera_comes_with_a_row(photos: PhotoCatalogue, store: satchel.Store) -> None:
    photos.upsert([{**row(1), **CAMERA}])
    assert known(photos) == CAMERA
    # A photo that another catalogue gave brings what it knows.
    with store.photos("/others") as others:
        found = photos.get(md5(1))
        assert found is not None
        others.upsert([found])
        assert others.get(md5(1)) == found
        # And what it does not know stays as it is.
        bare = satchel.Photo(**row(1, size=99))
        others.upsert([bare])
        assert known(others) == CAMERA


@pytest.mark.parametrize("column", ["backup_status", "filename", "no_such", "local_only", "attempts"])
def test_other_columns_are_refused(photos: PhotoCatalogue, column: str) -> None:
    photos.upsert([row(1)])
    with pytest.raises(satchel.InvalidArgument, match=column):
        photos.set_local(md5(1), **{column: "queued"})
    with pytest.raises(satchel.InvalidArgument, match=column):
        photos.upsert([{**row(2), column: ["wrong"]}])
    assert photos.get(md5(2)) is None


def test_stars(photos: PhotoCatalogue, remote_copy: satchel.remote.Remote) -> None:
    photos.upsert(row(each) for each in range(4))
    photos.star(md5(1))
    photos.star(md5(2), False)
    assert [each.md5 for each in photos.query(starred=True)] == [md5(1)]
    photos.sync(remote_copy, "ada")
    # Synchronizing rows stars none of them.
    assert [each.md5 for each in photos.query(starred=True)] == [md5(1)]
    assert [each.md5 for each in photos.query(backup_status="queued")] == [md5(1)]
    # The file of a photo whose row is in the remote is wanted there, too.
    photos.star(md5(3))
    assert [each.md5 for each in photos.query(backup_status="queued")] == [md5(1), md5(3)]
    photos.star(md5(1), False)
    photos.set_local(md5(3), starred=None)
    assert photos.count(starred=True) == photos.count(backup_status="queued") == 0
    assert photos.backup.claim() is None


def test_refreshing_stars_what_others_have_backed_up(photos: PhotoCatalogue, tmp_path: Path) -> None:
    photos.upsert(row(each, size=3) for each in range(6))
    folder = tmp_path / "files"
    files = folder / "photos" / "ada"
    files.mkdir(parents=True)
    for each in (1, 2, 3, 5, 99):
        (files / md5(each)).write_bytes(b"abc")
    (files / md5(4)).write_bytes(b"ab")
    (files / "notes.txt").write_bytes(b"no photo")
    for each in (0, 5):
        photos.star(md5(each))
        photos.backup.claim()
        photos.backup.done(md5(each))
    photos.star(md5(5), False)
    photos.star(md5(3))
    report = photos.backup.refresh(satchel.remote.Directory(folder), "ada")
    assert (report.photos, report.starred, report.unknown_count, report.requests) == (4, 2, 2, 2)
    assert (report.damaged, report.damaged_count) == ([md5(4)], 1)
    assert (report.missing, report.missing_count, report.queued) == ([md5(0)], 1, 0)
    # A removed star stays removed; what was queued need not be uploaded.
    assert {each.md5 for each in photos.query(starred=True)} == {md5(each) for each in (0, 1, 2, 3)}
    assert photos.count(backup_status="uploaded") == 5
    assert photos.backup.claim() is None
    report = photos.backup.refresh(satchel.remote.Directory(folder), "ada", queue_missing=True)
    assert (report.starred, report.queued, report.missing) == (0, 1, [md5(0)])
    claimed = photos.backup.claim()
    assert claimed is not None
    assert claimed.md5 == md5(0)
    with pytest.raises(satchel.Cancelled):
        photos.backup.refresh(satchel.remote.Directory(folder), "ada", progress=lambda progress: False)
    photos.sync(satchel.remote.Directory(folder), "ada")
    with pytest.raises(satchel.ForeignFile, match="ada"):
        photos.backup.refresh(satchel.remote.Directory(folder), "ben")


def test_each_step_of_a_backup(photos: PhotoCatalogue, clock: Clock) -> None:
    photos.upsert([row(1)])
    backup = photos.backup
    assert backup.claim() is None
    backup.queue(md5(1))
    clock.advance(5000)
    claimed = backup.claim()
    assert claimed is not None
    assert (claimed.backup_status, claimed.attempts, claimed.last_attempt) == ("uploading", 1, clock.now)
    assert claimed.last_attempt_at == datetime.fromtimestamp(clock.now / 1000, timezone.utc)
    backup.failed(claimed, ConnectionError("the line is dead"))
    failed = photos.get(md5(1))
    assert failed is not None
    assert (failed.backup_status, failed.error) == ("error", "the line is dead")
    backup.queue(failed)
    backup.claim()
    backup.done(claimed)
    done = photos.get(md5(1))
    assert done is not None
    assert (done.backup_status, done.error, done.attempts) == ("uploaded", None, 2)
    assert photos.status().backup == {
        "queued": 0,
        "uploading": 0,
        "uploaded": 1,
        "error": 0,
    }


def test_a_step_that_does_not_exist_names_both_states(photos: PhotoCatalogue) -> None:
    photos.upsert([row(1)])
    for step, target in (
        (photos.backup.done, "uploaded"),
        (lambda it: photos.backup.failed(it, "x"), "error"),
    ):
        with pytest.raises(satchel.InvalidArgument, match=f"not_backed_up.*{target}"):
            step(md5(1))
    photos.backup.queue(md5(1))
    with pytest.raises(satchel.InvalidArgument, match=r"queued.*queued"):
        photos.backup.queue(md5(1))
    for missing in (photos.backup.queue, photos.backup.done, photos.star):
        with pytest.raises(satchel.NotFound):
            missing(md5(2))
    with pytest.raises(satchel.NotFound):
        photos.set_local(md5(2), iso=100)


def test_photos_are_claimed_in_the_order_they_were_queued(photos: PhotoCatalogue) -> None:
    photos.upsert(row(each) for each in range(20))
    order = [md5(each) for each in (7, 3, 19, 0, 11)]
    for each in order:
        photos.backup.queue(each)
    claimed = [photos.backup.claim() for _ in order]
    assert [each.md5 for each in claimed if each] == order
    assert photos.backup.claim() is None


def test_of_many_threads_each_claims_another_photo(photos: PhotoCatalogue) -> None:
    photos.upsert(row(each) for each in range(200))
    for each in range(200):
        photos.backup.queue(md5(each))
    claimed: List[str] = []

    def work() -> None:
        while True:
            photo = photos.backup.claim()
            if photo is None:
                return
            claimed.append(photo.md5)
            photos.backup.done(photo)

    together(*[work] * 8)
    assert sorted(claimed) == sorted(md5(each) for each in range(200))
    assert photos.count(backup_status="uploaded") == 200


def test_of_many_processes_each_claims_another_photo(path: Path) -> None:
    with satchel.open(path) as store, store.photos("/photos") as photos:
        photos.upsert(row(each) for each in range(60))
        for each in range(60):
            photos.backup.queue(md5(each))
        arguments = [sys.executable, "-c", CLAIMING, str(path)]
        workers = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        claimed: List[str] = []
        for worker in workers:
            said, _ = worker.communicate(timeout=120)
            assert worker.returncode == 0
            claimed.extend(said.split())
        assert sorted(claimed) == sorted(md5(each) for each in range(60))


def test_what_a_process_that_died_had_claimed_is_queued_again(path: Path) -> None:
    with satchel.open(path) as store, store.photos("/photos") as photos:
        photos.upsert([row(1), row(2)])
        photos.backup.queue(md5(1))
        died = subprocess.run(
            [sys.executable, "-c", DYING, str(path)], capture_output=True, text=True, check=False
        )
        assert died.returncode == -9
        assert died.stdout.strip() == md5(1)
        again = photos.backup.claim()
        assert again is not None
        assert (again.md5, again.attempts) == (md5(1), 2)


def test_what_a_closed_catalogue_had_claimed_is_queued_again(store: satchel.Store) -> None:
    with store.photos("/photos") as photos:
        photos.upsert([row(1)])
        photos.backup.queue(md5(1))
        assert photos.backup.claim() is not None
    with store.photos("/photos") as photos:
        assert photos.count(backup_status="queued") == 1
        assert photos.backup.claim() is not None
