"""Backups whose files were damaged or lost, and whose disk is not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from photo_files import NAMES, Album

import satchel


def test_a_backup_is_verified_repaired_and_cleaned(album: Album, tmp_path: Path) -> None:
    remote = satchel.remote.Directory(tmp_path / "remote")
    backup = album.photos.backup
    backup.run(remote, "ada")
    assert backup.verify(remote, "ada", read=True).ok
    flipped, gone = (tmp_path / "remote/photos/ada" / album.files[each] for each in ("a.jpg", "b.jpg"))
    body = bytearray(flipped.read_bytes())
    body[9] ^= 1
    flipped.write_bytes(body)
    gone.unlink()
    assert backup.refresh(remote, "ada").damaged == []
    found = backup.verify(remote, "ada", read=True)
    assert (found.damaged, found.missing, found.queued) == (
        [album.files["a.jpg"]],
        [album.files["b.jpg"]],
        2,
    )
    assert backup.run(remote, "ada").uploaded == 2
    assert backup.verify(remote, "ada", read=True).ok

    album.photos.delete(album.files["e.jpg"])
    assert backup.orphans(remote, "ada") == [album.files["e.jpg"]]
    assert backup.delete(album.files["e.jpg"], remote, "ada")
    assert not backup.delete(album.files["e.jpg"], remote, "ada")
    assert backup.orphans(remote, "ada") == []
    assert backup.delete(album.files["a.jpg"], remote, "ada")
    assert album.status_of("a.jpg") == "not_backed_up"


def test_a_disk_that_is_not_mounted_gets_no_second_backup(album: Album, tmp_path: Path) -> None:
    disk, away = tmp_path / "disk", tmp_path / "away"
    disk.mkdir()
    with satchel.remote.Directory(disk / "backup") as remote:
        assert album.photos.backup.run(remote, "ada").uploaded == len(NAMES)
        (disk / "backup").rename(away)
        album.add("late.jpg")
        album.photos.scan()
        for left in ("absent", "empty"):
            if left == "empty":
                (disk / "backup").mkdir()
            for call in (
                lambda: album.photos.backup.run(remote, "ada", all=True),
                lambda: album.photos.backup.verify(remote, "ada"),
                lambda: album.photos.backup.restore(album.files["a.jpg"], tmp_path / "a.jpg", remote, "ada"),
                lambda: album.photos.backup.restore_all(remote, "ada", tmp_path / "all"),
            ):
                with pytest.raises(satchel.Unavailable, match="the remote is empty"):
                    call()
        assert list((disk / "backup").iterdir()) == []
        assert album.status_of("a.jpg") == "uploaded"
        (disk / "backup").rmdir()
        away.rename(disk / "backup")
        assert album.photos.backup.run(remote, "ada", all=True).uploaded == 1
        assert album.photos.backup.verify(remote, "ada").ok


def test_another_disk_at_its_path_is_refused(album: Album, tmp_path: Path) -> None:
    disk, away, other = (tmp_path / name for name in ("disk", "away", "other"))
    album.photos.backup.run(satchel.remote.Directory(disk), "ada")
    with satchel.open(":memory:") as store:
        stranger = Album(store, tmp_path / "others", ["z.jpg"])
        stranger.photos.backup.run(satchel.remote.Directory(other), "ada")
    disk.rename(away)
    for found, error, message in (
        (other, satchel.ForeignFile, "is another directory"),
        (None, satchel.Unavailable, "is another disk mounted"),
    ):
        if found is None:
            (disk / "films").mkdir(parents=True)
            (disk / "films/1.mkv").write_bytes(b"a film")
        else:
            found.rename(disk)
        before = {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}
        remote = satchel.remote.Directory(disk)
        for call in (
            lambda backup, remote: backup.run(remote, "ada", all=True),
            lambda backup, remote: backup.verify(remote, "ada"),
            lambda backup, remote: backup.restore(album.files["a.jpg"], tmp_path / "a.jpg", remote, "ada"),
        ):
            with pytest.raises(error, match=message):
                call(album.photos.backup, remote)
        assert {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()} == before
        # The host may decide to begin again there.
        album.photos.backup.run(satchel.remote.Directory(disk), "ada", recreate=True)
        assert len(list((disk / "photo-index/ada").iterdir())) == (2 if found else 1)
        shutil.rmtree(disk)
    # A disk that lost its id beside its files is the same one.
    away.rename(disk)
    shutil.rmtree(disk / ".satchel")
    album.add("late.jpg")
    album.photos.scan()
    assert album.photos.backup.run(satchel.remote.Directory(disk), "ada", all=True).uploaded == 1
    assert album.photos.backup.verify(satchel.remote.Directory(disk), "ada").ok


def test_a_disk_that_was_lost_is_written_again(album: Album, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with satchel.remote.Directory(disk) as remote:
        album.photos.backup.run(remote, "ada")
        shutil.rmtree(disk)
        disk.mkdir()
        assert album.photos.backup.run(remote, "ada", recreate=True).uploaded == 0
        assert album.photos.backup.verify(remote, "ada").queued == len(NAMES)
        assert album.photos.backup.run(remote, "ada").uploaded == len(NAMES)
    with satchel.open(":memory:") as store, satchel.remote.Directory(disk) as again:
        report = store.photos(tmp_path / "new").backup.restore_all(again, "ada")
        assert (report.restored, report.failed) == (len(NAMES), [])
        assert (tmp_path / "new/2024/deeper/d.jpg").read_bytes() == album.bytes_of("2024/deeper/d.jpg")
