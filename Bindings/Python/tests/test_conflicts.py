"""The conflict log of a store, which all subjects share."""

from __future__ import annotations

from pathlib import Path

import pytest
from albums import md5, row

import satchel
from satchel.remote import Directory


def test_the_log_has_the_conflicts_of_all_subjects(tmp_path: Path) -> None:
    """In the order of their detection, with numbers that they share."""
    remote = Directory(tmp_path / "remote")
    devices = [satchel.open(tmp_path / f"{name}.satchel") for name in ("phone", "tablet")]
    folders = [tmp_path / name for name in ("phone", "tablet")]
    assert [store.conflicts() for store in devices] == [[], []]
    for number, (store, folder) in enumerate(zip(devices, folders)):
        notes = store.records("notes", on_conflict="ask")
        photos = store.photos(folder)
        if number == 0:
            notes.put("a", {"n": 0})
            photos.upsert([row(1)])
        photos.sync(remote, "ada")
        store.sync(remote, "ada")
    for store, folder, name in zip(devices, folders, ("phone", "tablet")):
        store.photos(folder).upsert([row(1, filename=name)])
        store.records("notes").put("a", {"by": name})
    for store in devices:
        store.sync(remote, "ada")
    phone, tablet = devices
    assert phone.conflicts() == []
    both = tablet.conflicts()
    assert [each.id for each in both] == sorted({each.id for each in both})
    photo = next(each for each in both if each.subject == "photos")
    record = next(each for each in both if each.subject == "records")
    assert len(both) == 2
    assert (photo.directory, photo.md5, photo.kind, photo.side) == (str(folders[1]), md5(1), "lost", "local")
    assert (photo.local.filename, photo.remote.filename) == ("tablet", "phone")
    assert (photo.collection, photo.record, record.directory, record.md5) == (None, None, None, None)
    assert (record.collection, record.record, record.kind, record.cause) == ("notes", "a", "open", "sync")
    assert (record.local, record.remote, record.base) == ({"by": "tablet"}, {"by": "phone"}, {"n": 0})
    notes, photos = tablet.records("notes"), tablet.photos(folders[1])
    assert notes.conflicts() == [record]
    assert photos.conflicts() == [photo]
    # A number belongs to one subject.
    with pytest.raises(satchel.NotFound):
        notes.resolve(photo, "local")
    with pytest.raises(satchel.NotFound):
        photos.resolve(record, "local")
    photos.resolve(photo, "local")
    notes.resolve(record, "local")
    assert tablet.conflicts() == []
    tablet.sync(remote, "ada")
    phone.sync(remote, "ada")
    assert phone.records("notes").get("a") == {"by": "tablet"}
    assert phone.photos(folders[0]).get(md5(1)).filename == "tablet"  # type: ignore[union-attr]
    for store in devices:
        assert store.check() == []
        store.close()


def test_the_log_is_read_page_by_page(tmp_path: Path) -> None:
    with satchel.open(tmp_path / "a.satchel") as store:
        photos = store.photos(tmp_path / "photos")
        photos.upsert([row(each) for each in range(2300)])
        source = tmp_path / "source"
        with satchel.open(tmp_path / "b.satchel") as another:
            other = another.photos(tmp_path / "photos")
            other.upsert([row(each, filename=f"other {each}") for each in range(2300)])
            other.export_directory(source)
        photos.import_directory(source)
        found = store.conflicts()
        assert len(found) == 2300
        assert {each.cause for each in found} == {"import"}
        assert found == photos.conflicts()
