"""A disk that is full during a migration, and a restore.

Ada's app is updated on a tablet whose disk is nearly full. The migration makes a backup first, and then the
disk is full. She restores yesterday's backup, which does not fit either; she deletes some films, and tries
again.
"""

import os
import resource
import subprocess
from contextlib import contextmanager

import pytest
import satchel
from journey import documents

STEPS = [[{"default": {"path": "text", "value": "x" * 20_000}}]]


@pytest.fixture(params=["a disk", "a limit of the process"])
def small_disk(request, tmp_path):
    """A folder on a small disk, and how to fill and to free it.

    The disk is a real one where it can be mounted, which needs root; a limit of the size of files comes near
    to it anywhere.
    """
    folder = tmp_path / "tablet"
    folder.mkdir(exist_ok=True)
    if request.param == "a limit of the process":
        yield folder, limited_files
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "none", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a disk needs root")
    try:
        yield folder, films
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def limited_files(folder, room):
    """No file may be written beyond this size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def films(folder, room):
    """Films fill the disk, except for this room."""
    disk = os.statvfs(folder)
    film = folder / "film.mp4"
    film.write_bytes(bytes(max(0, disk.f_bavail * disk.f_frsize - room)))
    try:
        yield
    finally:
        film.unlink()


def test_the_disk_is_full_during_a_migration_and_a_restore(small_disk, device, tmp_path):
    folder, full = small_disk
    tablet = device("tablet")
    notes = tablet.records("notes")
    notes.put_many({f"note{each}": {"number": each} for each in range(400)})
    tablet.backup(tmp_path / "yesterday.satchel")
    notes.put("today", {"number": 1000})
    before = documents(notes)

    # The migration fails, and everything is as it was: no file of it stays, and the app goes on.
    files = sorted(path.name for path in folder.iterdir())
    with full(folder, 1 << 20):
        with pytest.raises((satchel.Full, satchel.IOFailure)):
            tablet.records("notes", version=2, migrations=STEPS)
        assert documents(notes) == before
        assert tablet.check() == []
        assert sorted(path.name for path in folder.iterdir() if path.name != "film.mp4") == files
        notes.delete("note0")
        del before["note0"]
    tablet.close()

    # The backup does not fit either: the store is as it was.
    with full(folder, 32 << 10), pytest.raises((satchel.Full, satchel.IOFailure)):
        satchel.restore(tmp_path / "yesterday.satchel", folder / "app.satchel")
    tablet = device("tablet")
    notes = tablet.records("notes")
    assert documents(notes) == before

    # The films are deleted, and the migration succeeds.
    migrated = tablet.records("notes", version=2, migrations=STEPS)
    assert documents(migrated) == {id: {**note, "text": "x" * 20_000} for id, note in before.items()}
    tablet.close()

    # So does the restore. It keeps the store that it replaces.
    report = satchel.restore(tmp_path / "yesterday.satchel", folder / "app.satchel")
    tablet = device("tablet")
    assert set(documents(tablet.records("notes"))) == {f"note{each}" for each in range(400)}
    assert report is not None
