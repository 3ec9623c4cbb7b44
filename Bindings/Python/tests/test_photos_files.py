"""Shards as files: the vectors, round trips, lines that are no photos, directories, changes and conflicts."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from albums import Row, assert_holds, md5, row, rows_of, shard_file
from helpers import portion
from hypothesis import given, settings
from hypothesis import strategies as st

import satchel
from satchel import PhotoCatalogue


def test_rows_are_written_as_the_vectors_have_them(photos: PhotoCatalogue, vectors: Dict[str, Any]) -> None:
    export = vectors["csv"]["export"]
    assert len(export) >= 4
    for each in export:
        photos.upsert([each["photo"]])
        shard = int(each["photo"]["md5"][0], 16)
        assert photos.export_shard(shard) == each["line"].encode()
        photos.delete(each["photo"]["md5"])
        assert photos.export_shard(shard) == b""
    photos.upsert(each["photo"] for each in export)
    assert photos.export_shard(0) == b"\n".join(sorted(each["line"].encode() for each in export))
    assert hashlib.sha256(photos.export_shard(15)).hexdigest() == vectors["csv"]["empty_shard_sha256"]


@pytest.mark.parametrize("index", range(3))
def test_files_are_read_as_the_vectors_say(
    photos: PhotoCatalogue, vectors: Dict[str, Any], index: int
) -> None:
    vector = vectors["csv"]["import"][index]
    shard = int(vector["shard"], 16)
    report = photos.import_shard(shard, vector["text"].encode())
    assert report.photos == photos.count(shard=shard) == vector["photos"]
    assert [each.line for each in report.rejected] == vector["rejected"]
    lines = vector["text"].split("\n")
    for each in report.rejected:
        assert each.raw == lines[each.line - 1]
        assert each.raw.encode() in photos.export_shard(shard).split(b"\n")
    if "first" in vector:
        first = photos.query(limit=1)[0]
        assert {key: first[key] for key in vector["first"]} == vector["first"]
    assert photos.status().shards[shard].kept == len(report.rejected)


@pytest.mark.parametrize("data", [b"\0", b"bad\0row,x", b"\0a\nb\0\0"])
def test_a_row_with_a_nul_is_kept_byte_for_byte(photos: PhotoCatalogue, data: bytes) -> None:
    report = photos.import_shard(0, data)
    assert sorted(each.raw.encode() for each in report.rejected) == sorted(data.split(b"\n"))
    assert sorted(photos.export_shard(0).split(b"\n")) == sorted(data.split(b"\n"))


def test_every_vector_was_run(vectors: Dict[str, Any]) -> None:
    assert len(vectors["csv"]["import"]) == 3


text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
numbers = st.integers(-(2**63), 2**63 - 1)
sizes = st.integers(0, 2**63 - 1)


@st.composite
def any_row(draw: st.DrawFn) -> Row:
    return {
        "md5": md5(draw(st.integers(0, 40))),
        "filename": draw(text),
        "size": draw(sizes),
        "photodate": draw(numbers),
        "modified": draw(numbers),
        "width": draw(st.none() | sizes),
        "height": draw(st.none() | sizes),
        "apple_photo_id": draw(st.none() | text.filter(bool)),
    }


@settings(deadline=None, max_examples=portion(150))
@given(st.lists(any_row(), max_size=20))
def test_any_rows_are_written_and_read_again(rows: List[Row]) -> None:
    expected = {each["md5"]: each for each in rows}
    with satchel.open(":memory:") as store, store.photos("/a") as one, store.photos("/b") as other:
        one.upsert(rows)
        assert_holds(one, expected)
        for shard in range(16):
            report = other.import_shard(shard, one.export_shard(shard))
            assert (report.rejected, report.conflicts) == ([], 0)
        assert rows_of(other.iterate()) == expected
        assert store.check() == []


@settings(deadline=None, max_examples=portion(150))
@given(st.binary(max_size=200) | st.text('0a,"\r\n' + "f", max_size=200).map(str.encode))
def test_any_bytes_are_kept_and_said(data: bytes) -> None:
    """Whatever is imported: nothing of it is lost, and a second round changes nothing more."""
    with satchel.open(":memory:") as store, store.photos("/a") as photos:
        report = photos.import_shard(0, data)
        written = photos.export_shard(0)
        assert report.photos == photos.count()
        again = photos.import_shard(0, written)
        assert photos.export_shard(0) == written
        assert again.photos == report.photos
        kept = photos.status().shards[0].kept
        assert len(again.rejected) == kept <= len(report.rejected)
        assert store.check() == []


def test_an_import_replaces_a_shard_and_keeps_what_lost(photos: PhotoCatalogue) -> None:
    old, new = row(1, 0), row(2, 0)
    photos.import_shard(0, shard_file([old, row(3, 0)]))
    photos.upsert([{**old, "filename": "mine"}, row(4, 0), row(5, 1)])
    photos.delete(md5(3, 0))
    assert [(each.md5, each.kind) for each in photos.changes() if each.md5[0] == "0"]
    report = photos.import_shard(0, shard_file([old, new, row(3, 0)]))
    assert report.photos == 3
    assert_holds(photos, {each["md5"]: each for each in (old, new, row(3, 0), row(5, 1))})
    conflicts = {each.md5: each for each in photos.conflicts()}
    assert report.conflicts == len(conflicts) == 3
    lost = conflicts[md5(1, 0)]
    assert (lost.subject, lost.cause, lost.kind, lost.side) == ("photos", "import", "lost", "local")
    assert lost.local is not None
    assert lost.remote is not None
    assert (lost.local.filename, lost.remote.row) == ("mine", old)
    assert conflicts[md5(3, 0)].local is None
    assert conflicts[md5(4, 0)].remote is None
    photos.resolve(lost, "local")
    photos.resolve(conflicts[md5(3, 0)].id, "local")
    photos.resolve(conflicts[md5(4, 0)], "remote")
    mine = {**old, "filename": "mine"}
    assert_holds(photos, {each["md5"]: each for each in (mine, new, row(5, 1))})
    assert photos.conflicts() == []
    for done in (lost, lost.id, conflicts[md5(4, 0)]):
        with pytest.raises(satchel.NotFound):
            photos.resolve(done, "local")
        with pytest.raises(satchel.NotFound):
            photos.resolve(done, "remote")


def test_an_import_that_merges_keeps_changes_on_top(photos: PhotoCatalogue) -> None:
    photos.import_shard(0, shard_file([row(1, 0), row(2, 0)]))
    photos.upsert([row(1, 0, filename="mine")])
    report = photos.import_shard(0, shard_file([row(1, 0, size=1), row(3, 0)]), on_conflict="merge")
    assert report.conflicts == 0
    expected = [row(1, 0, filename="mine"), row(3, 0)]
    assert rows_of(photos.iterate()) == {each["md5"]: each for each in expected}
    assert photos.conflicts() == []


def test_changes_are_known_row_by_row(photos: PhotoCatalogue, remote_copy: satchel.remote.Remote) -> None:
    photos.upsert(row(each) for each in range(2500))
    assert len(photos.changes()) == 2500
    photos.sync(remote_copy, "ada")
    assert photos.changes() == []
    photos.upsert([row(1, filename="new name"), row(9999)])
    photos.delete(md5(2))
    changes = {each.md5: each for each in photos.changes()}
    assert [each.md5 for each in photos.changes()] == sorted(changes)
    assert set(changes) == {md5(1), md5(2), md5(9999)}

    def sides(digits: str) -> List[Optional[Dict[str, Any]]]:
        change = changes[digits]
        return [each and each.row for each in (change.photo, change.base)]

    assert sides(md5(1)) == [row(1, filename="new name"), row(1)]
    assert sides(md5(2)) == [None, row(2)]
    assert sides(md5(9999)) == [row(9999), None]
    assert [changes[each].kind for each in (md5(1), md5(2), md5(9999))] == ["upsert", "delete", "upsert"]
    # Back to what both sides have is no change.
    photos.upsert([row(1), row(2)])
    photos.delete(md5(9999))
    assert photos.changes() == []
    assert photos.modified_shards() == []


def test_a_directory_of_files(photos: PhotoCatalogue, store: satchel.Store, tmp_path: Path) -> None:
    photos.upsert(row(each) for each in range(100))
    photos.import_shard(2, photos.export_shard(2) + b"\nno photo")
    folder = tmp_path / "export"
    report = photos.export_directory(folder)
    files = {f"{shard:x}.csv" for shard in range(16)}
    assert set(os.listdir(folder)) - {"manifest.json"} <= files
    assert set(report.written) == set(os.listdir(folder))
    assert report.unchanged == []
    assert report.photos == 100
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["photo-count"] == 100
    assert manifest["directory-uuid"] == photos.status().uuid
    for shard in range(16):
        data = photos.export_shard(shard)
        file = folder / f"{shard:x}.csv"
        assert (file.read_bytes() if file.exists() else b"") == data
        assert manifest["shard-checksums"].get(f"{shard:x}") == (
            hashlib.sha256(data).hexdigest() if data else None
        )
    times = {name: (folder / name).stat().st_mtime_ns for name in files if (folder / name).exists()}
    assert photos.export_directory(str(folder)).written in ([], ["manifest.json"])
    assert times == {name: (folder / name).stat().st_mtime_ns for name in times}

    with store.photos("/copy") as copy:
        took = copy.import_directory(folder)
        assert took.photos == copy.count() == 100
        assert [(each.shard, each.raw) for each in took.rejected] == [(2, "no photo")]
        assert took.changed == [each.shard for each in photos.status().shards if each.photos or each.kept]
        assert {f"{shard:x}.csv" for shard in took.missing} == files - set(os.listdir(folder))
        assert copy.import_directory(folder).changed == []
        for shard in range(16):
            assert copy.export_shard(shard) == photos.export_shard(shard)


def test_a_file_that_cannot_be_read_does_not_stop_the_others(photos: PhotoCatalogue, tmp_path: Path) -> None:
    folder = tmp_path / "import"
    folder.mkdir()
    with pytest.raises(satchel.NotFound):
        photos.import_directory(folder)
    (folder / "1.csv").write_bytes(shard_file([row(1, 1)]))
    (folder / "2.csv").mkdir()
    (folder / "3.csv").write_bytes(shard_file([row(3, 3)]) + b"\nbad")
    photos.upsert([row(9, 9), row("lost", 3)])
    report = photos.import_directory(folder)
    [failure] = report.failed
    assert failure.shard == 2
    assert "2.csv" in failure.message
    assert report.missing == [shard for shard in range(16) if shard not in (1, 2, 3)]
    assert (report.changed, report.conflicts) == ([1, 3], 1)
    assert rows_of(photos.iterate()) == {each["md5"]: each for each in (row(1, 1), row(3, 3), row(9, 9))}
    assert [(each.shard, each.line, each.fault, each.raw) for each in report.rejected] == [
        (3, 2, "columns", "bad")
    ]
    with pytest.raises(satchel.NotFound):
        photos.import_directory(tmp_path / "none")
