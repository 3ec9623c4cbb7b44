"""The files of photos: uploaded from the queue, verified, continued, and brought back."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict, List

import pytest
from hosts import DictStore
from photo_files import NAMES, Album

import satchel
from satchel import PhotoCatalogue
from satchel.remote import AccessDenied, Remote, RemoteHead, RemoteObject, UnknownOutcome


def keys(remote: Remote, user: str = "ada") -> List[str]:
    return [each.key.rpartition("/")[2] for each in remote.list(f"photos/{user}/")]


def test_files_are_uploaded_and_come_back(album: Album, object_store: Remote, tmp_path: Path) -> None:
    heard: List[satchel.SyncProgress] = []
    report = album.photos.backup.run(object_store, "ada", heard.append)
    assert report.ok
    assert (report.uploaded, report.found, report.failed_count, report.queued) == (5, 0, 0, 0)
    [index] = object_store.list("photo-index/ada/")
    assert report.bytes_up == sum(len(album.bytes_of(name)) for name in NAMES) + index.size
    assert heard[-1].phase == "files"
    assert (heard[-1].done, heard[-1].total) == (5, 5)
    assert keys(object_store) == sorted(album.files.values())
    assert {album.status_of(name) for name in NAMES} == {"uploaded"}
    head = object_store.head(f"photos/ada/{album.files['a.jpg']}")
    assert head.size == len(album.bytes_of("a.jpg"))
    # A directory needs none: its etag is computed from the bytes.
    assert head.metadata.get("md5", album.files["a.jpg"]) == album.files["a.jpg"]
    # Nothing is left to do.
    assert album.photos.backup.run(object_store, "ada").requests == 0

    back = tmp_path / "back.jpg"
    restored = album.photos.backup.restore(album.files["2024/c.jpg"], back, object_store, "ada")
    assert back.read_bytes() == album.bytes_of("2024/c.jpg")
    assert int(back.stat().st_mtime) == int((album.folder / "2024/c.jpg").stat().st_mtime)
    assert (restored.size, restored.unchanged) == (back.stat().st_size, False)
    again = album.photos.backup.restore(album.files["2024/c.jpg"], back, object_store, "ada")
    assert (again.unchanged, again.requests) == (True, 0)
    with pytest.raises(satchel.ConstraintViolation, match=r"back\.jpg"):
        album.photos.backup.restore(album.files["a.jpg"], back, object_store, "ada")
    assert back.read_bytes() == album.bytes_of("2024/c.jpg")
    with pytest.raises(satchel.NotFound, match="0" * 32):
        album.photos.backup.restore("0" * 32, tmp_path / "none.jpg", object_store, "ada")
    with pytest.raises(satchel.NotFound):
        album.photos.backup.restore(album.files["a.jpg"], tmp_path / "no" / "a.jpg", object_store, "ada")
    for path, user in (("", "ada"), ("a\0b", "ada"), (str(tmp_path / "x"), "../x")):
        with pytest.raises(satchel.InvalidArgument):
            album.photos.backup.restore(album.files["a.jpg"], path, object_store, user)
    assert not (tmp_path / "none.jpg").exists()
    assert [each for each in os.listdir(tmp_path) if each.endswith(".part")] == []


def test_a_file_that_is_there_is_not_sent_again(album: Album, object_store: Remote) -> None:
    # By another device, with its MD5 and without; and what is not the file at all.
    own, plain, cut = (album.files[name] for name in ("a.jpg", "b.jpg", "e.jpg"))
    object_store.put(f"photos/ada/{own}", album.bytes_of("a.jpg"), metadata={"md5": own})
    object_store.put(f"photos/ada/{plain}", album.bytes_of("b.jpg"))
    object_store.put(f"photos/ada/{cut}", album.bytes_of("e.jpg")[:-1])
    report = album.photos.backup.run(object_store, "ada")
    assert (report.uploaded, report.found, report.queued) == (3, 2, 0)
    for name in NAMES:
        found = object_store.get(f"photos/ada/{album.files[name]}")
        assert isinstance(found, RemoteObject)
        assert found.body == album.bytes_of(name)


def test_files_that_cannot_be_uploaded(album: Album, object_store: Remote) -> None:
    (album.folder / "a.jpg").unlink()
    (album.folder / "b.jpg").write_bytes(bytes(len(album.bytes_of("b.jpg"))))
    (album.folder / "e.jpg").write_bytes(b"another size")
    (album.folder / "2024/c.jpg").rename(album.folder / "f.jpg")
    (album.folder / "2024/c.jpg").symlink_to(album.folder / "f.jpg")
    report = album.photos.backup.run(object_store, "ada")
    assert (report.uploaded, report.failed_count, report.queued) == (1, 4, 0)
    failed = {each.filename: each.message for each in report.failed}
    assert set(failed) == {"a.jpg", "b.jpg", "c.jpg", "e.jpg"}
    assert "changed since the last scan" in failed["b.jpg"]
    assert "changed since the last scan" in failed["e.jpg"]
    photo = album.photos.get(album.files["a.jpg"])
    assert photo is not None
    assert (photo.backup_status, photo.error) == ("error", failed["a.jpg"])
    assert keys(object_store) == [album.files["2024/deeper/d.jpg"]]
    # Found again, they are uploaded.
    album.add("a.jpg")
    album.photos.star(album.files["a.jpg"])
    assert album.photos.backup.run(object_store, "ada").uploaded == 1


def test_a_photo_without_a_scan_is_found_by_its_name(photos: PhotoCatalogue, remote_copy: Remote) -> None:
    folder = Path(photos.directory)
    folder.mkdir(exist_ok=True)
    (folder / "x.jpg").write_bytes(b"bytes")
    outside = folder.parent / "outside.jpg"
    outside.write_bytes(b"outside")
    digests = {name: hashlib.md5(body).hexdigest() for name, body in (("x", b"bytes"), ("o", b"outside"))}
    common = {"photodate": 1, "modified": 1}
    photos.upsert(
        [
            {"md5": digests["x"], "filename": "x.jpg", "size": 5, **common},
            {"md5": digests["o"], "filename": "../outside.jpg", "size": 7, **common},
        ]
    )
    for each in digests.values():
        photos.star(each)
    report = photos.backup.run(remote_copy, "ada")
    assert (report.uploaded, [each.md5 for each in report.failed]) == (1, [digests["o"]])
    assert "below the directory" in report.failed[0].message


def test_a_remote_that_fails_leaves_the_queue(album: Album) -> None:
    objects = DictStore()

    def refuse(operation: str, key: str) -> None:
        if operation == "put":
            raise AccessDenied("no")

    objects.before = refuse
    with objects.remote() as remote:
        with pytest.raises(satchel.Unauthorized):
            album.photos.backup.run(remote, "ada")
        assert album.photos.count(backup_status="queued") == 5
        # A reply that is lost is no failure: the object is read back.
        objects.before = lambda operation, key: None
        lost: Dict[str, int] = {}

        def lose(operation: str, key: str) -> None:
            if operation == "put":
                lost[key] = lost.get(key, 0) + 1
                if lost[key] == 1:
                    raise UnknownOutcome("lost")

        objects.after = lose
        report = album.photos.backup.run(remote, "ada")
        assert (report.uploaded, report.failed_count) == (5, 0)
        assert set(lost.values()) == {1}


def test_a_store_that_cuts_bodies_is_noticed(album: Album, tmp_path: Path) -> None:
    objects = DictStore()

    def cut(operation: str, key: str) -> None:
        if operation == "put":
            found = objects.objects[key]
            objects.objects[key] = RemoteObject(bytes(found.body)[:-1], found.etag, found.metadata)

    objects.after = cut
    with objects.remote() as remote:
        report = album.photos.backup.run(remote, "ada")
        assert (report.uploaded, report.failed_count) == (0, 5)
        assert album.status_of("a.jpg") == "error"
        with pytest.raises(satchel.Damaged):
            album.photos.backup.restore(album.files["a.jpg"], tmp_path / "a", remote, "ada")
        assert not (tmp_path / "a").exists()


def test_a_cancelled_run_goes_on(album: Album, remote_copy: Remote) -> None:
    def stop(progress: satchel.SyncProgress) -> bool:
        return progress.done < 2

    report = album.photos.backup.run(remote_copy, "ada", stop, parallel=1)
    assert (report.cancelled, report.uploaded, report.queued) == (True, 2, 3)
    report = album.photos.backup.run(remote_copy, "ada")
    assert (report.cancelled, report.uploaded, report.queued) == (False, 3, 0)

    def fail(progress: satchel.SyncProgress) -> None:
        raise RuntimeError("the screen is gone")

    album.add("g.jpg")
    album.photos.scan()
    album.photos.star(hashlib.md5(album.bytes_of("g.jpg")).hexdigest())
    with pytest.raises(RuntimeError, match="the screen is gone"):
        album.photos.backup.run(remote_copy, "ada", fail)
    assert album.photos.count(backup_status="queued") == 1


KILLED = """
import sys, time
import satchel
from satchel.remote import Callbacks, Directory

path, folder, remote = sys.argv[1:]
inner = Directory(remote)
put = 0

def slow(key, body, if_match=None, if_absent=False, metadata={}):
    global put
    put += 1
    # The second upload takes effect, and its result is never recorded.
    tag = inner.put(key, body, if_match=if_match, if_absent=if_absent, metadata=metadata)
    if put == 2:
        print("second", flush=True)
        time.sleep(600)
    return tag

def head(key):
    try:
        return inner.head(key)
    except satchel.NotFound:
        raise KeyError(key)

photos = satchel.open(path).photos(folder)
photos.backup.run(Callbacks(inner.get, slow, head, inner.delete, inner.list), "ada", parallel=1)
"""


def test_a_killed_run_goes_on(tmp_path: Path, path: Path) -> None:
    with satchel.open(path) as store:
        album = Album(store, tmp_path / "album", NAMES)
    remote_path = tmp_path / "remote"
    command = [sys.executable, "-c", KILLED, str(path), str(album.folder), str(remote_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"second\n"
        process.send_signal(signal.SIGKILL)
    with satchel.open(path) as store, satchel.remote.Directory(remote_path) as remote:
        photos = store.photos(album.folder)
        # Uploads are recorded in batches.
        assert photos.count(backup_status="uploaded") == 0
        assert len(keys(remote)) == 2
        report = photos.backup.run(remote, "ada")
        # The files that the killed run had written are not sent again.
        assert (report.uploaded, report.found, report.queued) == (3, 2, 0)
        assert photos.count(backup_status="uploaded") == 5
        assert store.check() == []


def test_several_processes_share_the_queue(tmp_path: Path, path: Path) -> None:
    with satchel.open(path) as store:
        album = Album(store, tmp_path / "album", [f"{each}.jpg" for each in range(40)])
    (tmp_path / "remote").mkdir()
    run = (
        "import sys, satchel\n"
        "photos = satchel.open(sys.argv[1]).photos(sys.argv[2])\n"
        "report = photos.backup.run(satchel.remote.Directory(sys.argv[3]), 'ada')\n"
        "print(report.uploaded, report.found, report.failed_count)"
    )
    command = [sys.executable, "-c", run, str(path), str(album.folder), str(tmp_path / "remote")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    results = [each.communicate()[0].split() for each in running]
    assert [each.returncode for each in running] == [0, 0, 0]
    assert sum(int(result[0]) for result in results) == 40
    assert {tuple(result[1:]) for result in results} == {("0", "0")}


def test_what_is_refused(album: Album, remote_copy: Remote, path: Path, tmp_path: Path) -> None:
    with pytest.raises(satchel.InvalidArgument, match=r"satchel\.remote, such as Directory"):
        album.photos.backup.run("/mnt", "ada")  # type: ignore[arg-type]
    with pytest.raises(satchel.InvalidArgument, match="user"):
        album.photos.backup.run(remote_copy, "../ada")
    with pytest.raises(satchel.InvalidArgument, match="parallel"):
        album.photos.backup.run(remote_copy, "ada", parallel=17)
    album.photos.sync(remote_copy, "ada")
    with pytest.raises(satchel.ForeignFile, match="ada"):
        album.photos.backup.run(remote_copy, "ben")
    held: List[BaseException] = []

    def again(progress: satchel.SyncProgress) -> None:
        try:
            album.photos.backup.run(remote_copy, "ada")
        except satchel.Busy as error:
            held.append(error)

    album.photos.backup.run(remote_copy, "ada", again)
    assert held
    with satchel.open(tmp_path / "other.satchel") as other:
        nowhere = other.photos(tmp_path / "nowhere")
        with pytest.raises(satchel.NotFound):
            nowhere.backup.run(remote_copy, "ada")


def test_a_host_store_may_list_no_md5(album: Album) -> None:
    objects = DictStore()
    with objects.remote() as remote:
        assert album.photos.backup.run(remote, "ada").uploaded == 5
        # Another catalogue of the same photos, on a device without the stars.
        with satchel.open(":memory:") as store:
            other = store.photos(album.folder)
            other.scan()
            report = other.backup.refresh(remote, "ada")
            assert (report.photos, report.starred, report.missing_count) == (5, 5, 0)
            assert other.count(backup_status="uploaded") == 5


def test_threads_run_one_after_the_other(album: Album, remote_copy: Remote) -> None:
    reports: List[Any] = []
    threads = [
        threading.Thread(target=lambda: reports.append(album.photos.backup.run(remote_copy, "ada")))
        for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(each.uploaded for each in reports) == 5
    assert all(each.ok for each in reports)


def test_heads_have_what_was_written(remote_copy: Remote) -> None:
    assert isinstance(remote_copy.put("a", b""), str)
    assert isinstance(remote_copy.head("a"), RemoteHead)
