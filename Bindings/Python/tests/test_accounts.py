"""Whose data it is: owners, signing out, closed accounts and empty remotes."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, List

import pytest
from albums import row
from hosts import DictStore

import satchel
from satchel.remote import Directory, Remote

SECRET = "the secret of ana"


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    (tmp_path / "remote").mkdir()
    return Directory(tmp_path / "remote")


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with satchel.open(tmp_path / "store.satchel") as opened:
        yield opened


def traces(path: Path, text: str) -> List[str]:
    """The files beside a store, and the store, that have a text."""
    found = path.parent.glob(f"{path.name}*")
    return [each.name for each in found if each.is_file() and text.encode() in each.read_bytes()]


def filled(store: Any, remote: Remote, pictures: Path) -> Any:
    """A store of ana with some of everything."""
    notes = store.records("notes", indexes=["title"])
    notes.put("diary", {"title": SECRET})
    store.state.set("nickname", SECRET, synced=True)
    store.state.set("volume", 3)
    store.state.list("searches", synced=True).push(SECRET)
    store.catalogue.persist(
        {"locality": "Porto", "country_code": "PT"},
        {"section": "food", "display_title": "Food", "config": {}, "action": "replace", "content": {"a": 1}},
    )
    photos = store.photos(pictures)
    photos.upsert([row(1)])
    photos.sync(remote, "ana")
    store.sync(remote, "ana")
    return notes


def test_signing_out_empties_what_is_the_users(store: Any, remote: Remote, tmp_path: Path) -> None:
    notes = filled(store, remote, tmp_path / "pictures")
    local = store.photos(tmp_path / "scans")
    local.upsert([row(1)])
    notes.put("late", {"title": SECRET})
    with pytest.raises(satchel.Conflict, match="1 changes"):
        store.sign_out()
    assert notes.count() == 2
    report = store.sign_out(remote)
    assert report.records.uploaded == 1
    assert (notes.count(), store.state.get("nickname"), store.state.get("volume")) == (0, None, 3)
    assert store.photos(tmp_path / "pictures").count() == 0
    assert store.photos(tmp_path / "scans").count() == 1
    assert store.catalogue.load({"locality": "Porto", "country_code": "PT"}, "food").content == {"a": 1}
    assert store.sync_status().owner is None
    assert store.check() == []
    assert traces(Path(store.path), SECRET) == []
    with satchel.open(tmp_path / "back.satchel") as back:
        theirs = back.records("notes")
        back.sync(remote, "ana")
        assert (theirs.count(), back.state.get("nickname")) == (2, SECRET)
        assert back.photos(tmp_path / "pictures").sync(remote, "ana").downloaded


def test_photos_are_not_sent_to_another_user(store: Any, remote: Remote, tmp_path: Path) -> None:
    photos = store.photos(tmp_path)
    photos.upsert([row(1), row(2), row(3)])
    photos.sync(remote, "ana")
    for _ in range(2):
        with pytest.raises(satchel.ForeignFile, match=r'"ana".*sign_out'):
            photos.sync(remote, "ben")
        with pytest.raises(satchel.ForeignFile):
            photos.backup.run(remote, "ben")
        photos.detach()
    photos.sync(remote, "ben", first="upload")
    assert len(list(remote.list("catalogs/ben/shards/"))) == len(list(remote.list("catalogs/ana/shards/")))
    photos.sync(remote, "cleo", first="discard")
    assert photos.count() == 0
    photos.sync(remote, "ana", first="upload")
    assert photos.count() == 3


def test_the_first_user_of_a_guest(store: Any, remote: Remote) -> None:
    notes = store.records("notes")
    notes.put("draft", {})
    assert store.sync(remote, "ana", dry_run=True).first_upload == 1
    assert store.sync(remote, "ana").first_upload == 1
    with pytest.raises(satchel.InvalidArgument, match="first"):
        store.sync(remote, "ben", first="merge")
    assert store.sync(remote, "ben", first="discard").first_upload == 0
    assert notes.count() == 0


def test_live_queries_and_other_handles_notice_it(store: Any, remote: Remote, tmp_path: Path) -> None:
    notes = filled(store, remote, tmp_path / "pictures")
    with satchel.open(store.path) as second:
        others = second.records("notes")
        with notes.watch() as here, others.watch() as there:
            assert [len(next(here)), len(next(there))] == [1, 1]
            store.sign_out()
            assert [len(next(here)), len(next(there))] == [0, 0]
        assert (others.list(), second.state.get("nickname")) == ([], None)
        others.put("next", {"title": "of ben"})
        assert [each.id for each in notes.list(where={"title": "of ben"})] == ["next"]


def test_a_mirror_is_written_empty(store: Any, remote: Remote, tmp_path: Path) -> None:
    notes = store.records("notes")
    notes.put("diary", {"title": SECRET})
    notes.mirror(tmp_path / "notes.json")
    store.flush()
    store.sync(remote, "ana")
    store.sign_out()
    assert json.loads((tmp_path / "notes.json").read_text()) == {}


def test_keys_are_forgotten(store: Any, remote: Remote) -> None:
    store.state.set_key(bytes(32))
    store.state.set("token", SECRET, sensitive=True)
    notes = store.records("notes", sensitive=["title"])
    notes.put("diary", {"title": SECRET})
    store.sync(remote, "ana", key=bytes(32))
    store.sign_out()
    assert store.state.get("token") is None
    store.state.set_key(bytes(range(32)))
    notes.put("next", {"title": "of ben"})
    assert notes.get("next") == {"title": "of ben"}


#: Signs out, and kills itself at the point of the first argument.
KILLED = """
import os, signal, sys, satchel
store = satchel.open(sys.argv[1])
store.observe(lambda change: os.kill(os.getpid(), signal.SIGKILL))
store.sign_out()
"""


def test_a_killed_process_is_signed_out_by_the_next(store: Any, remote: Remote, tmp_path: Path) -> None:
    filled(store, remote, tmp_path / "pictures")
    path = Path(store.path)
    store.close()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert traces(path, SECRET) != []
    with satchel.open(path) as opened:
        assert (opened.records("notes").count(), opened.sync_status().owner) == (0, None)
        assert opened.check() == []
        assert traces(path, SECRET) == []
        assert opened.sync(remote, "ben").first_upload == 0


def test_a_deleted_account(store: Any, remote: Remote, tmp_path: Path) -> None:
    notes = filled(store, remote, tmp_path / "pictures")
    with pytest.raises(satchel.ForeignFile):
        store.delete_account(remote, "ben")
    assert store.delete_account(remote, "ana").objects > 0
    left = sorted(each.key for each in remote.list(""))
    assert left == ["catalogs/ana/manifest.json", "records/ana/head"]
    photos = store.photos(tmp_path / "pictures")
    for synchronize in (store.sync, photos.sync):
        with pytest.raises(satchel.ForeignFile, match="account closed"):
            synchronize(remote, "ana")
    assert sorted(each.key for each in remote.list("")) == left
    report = store.sync(remote, "ana", first="upload")
    assert report.records.uploaded == 1
    assert report.photos.uploaded
    assert (notes.count(), photos.count()) == (1, 1)
    assert photos.sync(remote, "ana").unchanged
    assert store.sync(remote, "ana").unchanged


@pytest.mark.parametrize("subject", ["store", "photos"])
def test_an_empty_remote_is_not_written_to(store: Any, remote: Remote, tmp_path: Path, subject: str) -> None:
    filled(store, remote, tmp_path / "pictures")
    photos = store.photos(tmp_path / "pictures")
    synchronize = store.sync if subject == "store" else photos.sync
    for each in list(remote.list("")):
        remote.delete(each.key)
    with pytest.raises(satchel.Unavailable, match="the remote is empty"):
        synchronize(remote, "ana")
    assert list(remote.list("")) == []
    synchronize(remote, "ana", recreate=True)
    assert list(remote.list("")) != []
    store.sync(remote, "ana")
    with satchel.open(tmp_path / "back.satchel") as back:
        theirs = back.records("notes")
        back.sync(remote, "ana")
        assert theirs.count() == 1


def test_a_directory_is_recognised_by_its_id(store: Any, tmp_path: Path) -> None:
    place = tmp_path / "disk"
    remote = Directory(place)
    assert not place.exists(), "making a remote creates nothing"
    notes = store.records("notes")
    notes.put("a", {})
    assert store.sync(remote, "ana", dry_run=True).first_upload == 1
    assert not place.exists(), "nor does a dry run"
    store.sync(remote, "ana")
    id = json.loads((place / ".satchel/remote.json").read_text())["id"]
    photos = store.photos(tmp_path / "pictures")
    photos.upsert([row(1)])
    photos.sync(remote, "ana")

    # The disk is not mounted: nothing is there, or an empty directory.
    place.rename(tmp_path / "unmounted")
    notes.put("b", {})
    photos.upsert([row(2)])
    for is_made in (False, True):
        if is_made:
            place.mkdir()
        for synchronize in (store.sync, photos.sync):
            with pytest.raises(satchel.Unavailable, match="the remote is empty"):
                synchronize(Directory(place), "ana")
        assert list(tmp_path.glob("disk/*")) == []
    # Another disk is.
    with satchel.open(tmp_path / "other.satchel") as other:
        other.records("notes").put("c", {})
        other.sync(Directory(place), "ana")
    for synchronize in (store.sync, photos.sync):
        with pytest.raises(satchel.ForeignFile, match="another directory"):
            synchronize(Directory(place), "ana")
    # A copy is the same, and an id that is lost beside data is written again.
    shutil.rmtree(place)
    shutil.copytree(tmp_path / "unmounted", place)
    (place / ".satchel/remote.json").unlink()
    report = store.sync(Directory(place), "ana")
    assert report.records.uploaded == 1
    assert report.photos.uploaded
    assert json.loads((place / ".satchel/remote.json").read_text())["id"] == id


def test_a_directory_that_lost_everything_is_written_again(store: Any, tmp_path: Path) -> None:
    remote = Directory(tmp_path / "disk")
    store.records("notes").put("a", {})
    store.sync(remote, "ana")
    shutil.rmtree(tmp_path / "disk")
    with pytest.raises(satchel.Unavailable):
        store.sync(Directory(tmp_path / "disk"), "ana")
    assert store.sync(Directory(tmp_path / "disk"), "ana", recreate=True).records.uploaded == 1
    assert store.sync(Directory(tmp_path / "disk"), "ana").unchanged


def test_the_parent_of_a_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(satchel.NotFound, match="nowhere"):
        Directory(tmp_path / "nowhere/disk")


def test_an_interrupted_deletion_of_an_account_is_repeated(store: Any, tmp_path: Path) -> None:
    host = DictStore()
    remote = host.remote()
    notes = filled(store, remote, tmp_path / "pictures")
    notes.put_many({f"n{each}": {"title": "x" * 100} for each in range(400)})
    store.sync(remote, "ana")
    total, deleted = len(host.objects), 0
    allowed: List[int] = []

    def stop(operation: str, key: str) -> None:
        if operation == "delete" and "probe" not in key:
            if not allowed:
                raise PermissionError(key)
            allowed.pop()

    host.before = stop
    while True:
        allowed[:] = [1]
        try:
            deleted += store.delete_account(remote, "ana").objects
            break
        except satchel.Unauthorized:
            deleted += 1
            # No device goes on meanwhile.
            with pytest.raises(satchel.ForeignFile, match="account closed"):
                store.sync(remote, "ana")
    host.before = lambda operation, key: None
    assert sorted(host.objects) == ["catalogs/ana/manifest.json", "records/ana/head"]
    assert deleted == total - 2
