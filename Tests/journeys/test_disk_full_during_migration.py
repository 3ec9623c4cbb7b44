"""A disk that is full during a migration, and a restore.

Ada's app is updated on a tablet whose disk is nearly full. The migration makes a backup first, and then the
disk is full. She restores yesterday's backup, which does not fit either; she deletes some films, and tries
again.
"""

import pytest
import satchel
from journey import documents

STEPS = [[{"default": {"path": "text", "value": "x" * 20_000}}]]


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
