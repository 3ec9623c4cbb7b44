"""A phone with a library of photos is lost, and everything is restored from the bucket.

Ana has her photos on a phone, some of them on a tablet too, and both are backed up to a bucket. The
system ends her apps at any point of it. The phone falls into the sea: a new one, with nothing but the
credentials, gets every file back, with its folders, names and dates, and every row.
"""

import hashlib
import json
import os
import random
import shutil
import uuid

import pytest
import satchel
from gallery import Gallery
from journey import Process
from satchel.remote import S3

#: 240 in a short run.
PHOTOS = int(os.environ.get("SATCHEL_LIBRARY_PHOTOS", "240"))
USER = "ana"

APP = """
import json, sys
import satchel
from satchel.remote import S3

path, folder, remote, task = sys.argv[1:]
with satchel.open(path) as store, S3(**json.loads(remote)) as bucket:
    photos = store.photos(folder)

    def progress(_):
        print("step", flush=True)

    if task == "scan":
        photos.scan(progress=progress)
    if task == "sync":
        photos.sync(bucket, "ana", progress=progress)
    if task == "backup":
        photos.backup.run(bucket, "ana", progress, all=True, parallel=8)
    if task == "refresh":
        photos.backup.refresh(bucket, "ana", progress=progress)
    if task == "restore":
        photos.backup.restore_all(bucket, "ana", progress=progress, parallel=8)
"""


class Device:
    """A device, whose app is killed at random points of each task before it completes it."""

    def __init__(self, folder, remote, chance):
        self.folder, self.remote, self.chance = folder, remote, chance
        self.pictures = folder / "Pictures"
        self.folder.mkdir()

    def does(self, *tasks, kills=2):
        for task in tasks:
            for _ in range(kills):
                self._starts(task, self.chance.randrange(1, 1 + int(PHOTOS ** self.chance.random())))
            self._starts(task, None)

    def _starts(self, task, steps):
        """Ends the app after some steps; None lets it complete the task."""
        app = Process(APP, self.folder / "app.satchel", self.pictures, json.dumps(self.remote), task)
        while app.line():
            if steps is not None:
                steps -= 1
                if steps == 0:
                    return app.kill()
        return app.end()

    def open(self):
        store = satchel.open(self.folder / "app.satchel")
        return store, store.photos(self.pictures)

    def files(self):
        """Every file's bytes and its time in seconds, by its path."""
        return {
            str(path.relative_to(self.pictures)): (path.read_bytes(), int(path.stat().st_mtime))
            for path in self.pictures.rglob("*")
            if path.is_file()
        }

    def rows(self):
        """The rows of all photos, as all devices share them, and the files that each has."""
        store, photos = self.open()
        with store:
            assert store.check() == []
            return [photos.export_shard(shard) for shard in range(16)]


def stem(path):
    """The folder and the name of a file without what follows its first dot."""
    folder, _, name = path.rpartition("/")
    return folder, name.partition(".")[0]


def beside(path):
    """The path of a file whose name another one has."""
    folder, name = stem(path)
    return path.replace(f"{folder}/{name}", f"{folder}/{name} (2)", 1)


def test_a_phone_is_lost(tmp_path):
    chance = random.Random(int(os.environ.get("SATCHEL_SEED", "1")))
    remote = {
        **json.loads(os.environ["SATCHEL_TEST_S3"])["store"],
        "prefix": f"journeys/{uuid.uuid4()}",
    }
    phone, tablet = (Device(tmp_path / name, remote, chance) for name in ("phone", "tablet"))
    library = Gallery(PHOTOS).write(phone.pictures)
    # One picture twice, and on the tablet a few others by the same names, and some of the phone's.
    (phone.pictures / "Favourites").mkdir()
    shutil.copy2(phone.pictures / library[3].path, phone.pictures / "Favourites")
    Gallery(PHOTOS // 10, seed=2).write(tablet.pictures)
    Gallery(PHOTOS // 10, first=PHOTOS // 2).write(tablet.pictures / "From the phone")

    phone.does("scan", "sync", "backup")
    tablet.does("scan", "sync", "backup", kills=0)
    phone.does("sync", kills=0)
    before, on_tablet, rows = phone.files(), tablet.files(), phone.rows()
    assert tablet.rows() == rows
    shutil.rmtree(phone.folder)

    new = Device(tmp_path / "new", remote, chance)
    new.does("sync", "restore", "scan", "refresh")
    after = new.files()
    for path in before.keys() | on_tablet.keys():
        files = [each[path] for each in (before, on_tablet) if path in each]
        if path in before and path in on_tablet:
            assert sorted(after[each] for each in (path, beside(path))) == sorted(files), path
        else:
            assert [after[path]] == files, path
    assert len(after) == len(before) + len(on_tablet)
    assert new.rows() == rows

    store, photos = new.open()
    with store, S3(**remote) as bucket:
        total = photos.count()
        assert total == PHOTOS + PHOTOS // 10
        assert photos.count(starred=True) == photos.count(backup_status="uploaded") == total
        # Each film and sidecar is with its photo, under one name.
        for picture in library:
            md5 = hashlib.md5(before[picture.path][0]).hexdigest()
            mine = {file.path: file.kind for file in photos.files(md5)}
            expected = ["photo"] + ["film"] * bool(picture.film) + ["sidecar"] * bool(picture.sidecar)
            assert sorted(set(mine.values())) == sorted(expected), mine
            named = {stem(path) for path, kind in mine.items() if kind == "photo"}
            assert {stem(path) for path in mine} == named, mine
        scan = photos.scan(time_zone="Europe/Lisbon")
        assert (scan.added, scan.changed, scan.missing_count) == (0, 0, 0)
        assert (scan.films, scan.sidecars) == tuple(
            sum(path.lower().endswith(suffix) for path in after) for suffix in (".mov", ".xmp")
        )
        # All of it once more, to a folder where another picture has the name of a live photo; and without the
        # folders.
        live = next(each for each in library if each.film and each.sidecar and each.path not in on_tablet)
        again = new.folder / "again"
        (again / live.path).parent.mkdir(parents=True)
        (again / live.path).write_bytes(b"another picture")
        report = photos.backup.restore_all(bucket, USER, again, missing=False)
        assert (report.restored, report.failed_count) == (len(after), 0)
        assert (again / live.path).read_bytes() == b"another picture"
        found = {path.read_bytes() for path in (again / live.path).parent.glob(f"{stem(live.path)[1]} (*")}
        assert {before[path][0] for path in live.paths} <= found
        assert not (again / live.film).exists()
        flat = photos.backup.restore_all(bucket, USER, new.folder / "flat", missing=False, folders=False)
        assert flat.failed_count == 0
        bodies = {path.read_bytes() for path in (new.folder / "flat").iterdir()}
        assert bodies == {body for body, _ in after.values()}
        with pytest.raises(satchel.NotFound):
            photos.backup.restore_all(bucket, USER, tmp_path / "none/deeper")

        # The new phone goes on where the old one was: nothing is left to send, and it asks for films and
        # sidecars once.
        assert photos.sync(bucket, USER).unchanged
        run = photos.backup.run(bucket, USER, all=True)
        assert (run.uploaded, run.failed_count, run.queued, run.elsewhere) == (0, 0, 0, 0)
        assert run.found == scan.films + scan.sidecars
        assert photos.backup.run(bucket, USER, all=True).requests == 0
        assert photos.backup.verify(bucket, USER).ok
        assert photos.backup.restore_all(bucket, USER).restored == 0
