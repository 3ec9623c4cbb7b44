"""Backups of an open store, restoring them, and recovering what is damaged."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from helpers import Clock, eventually

import satchel
from satchel.backup import Backup, BackupProgress


def fill(store: satchel.Store, count: int = 500) -> Dict[str, Any]:
    documents = {f"c{each}": {"n": each, "text": f"{each} " * 100} for each in range(count)}
    store.records("courses", indexes=["n"]).put_many(documents)
    store.state.set("theme", "dark")
    return documents


def held(path: Path) -> Dict[str, Any]:
    with satchel.open(path) as store:
        assert store.check() == []
        return {each.id: each.document for each in store.records("courses", indexes=["n"]).list()}


def test_a_backup_holds_what_the_store_held(store: satchel.Store, tmp_path: Path) -> None:
    documents = fill(store)
    file = tmp_path / "backup.satchel"
    backup = store.backup(file)
    assert Path(backup.path) == file
    assert backup.bytes == file.stat().st_size > 50_000
    assert backup.removed == []
    assert backup.pages == backup.bytes // 4096
    assert backup.milliseconds >= 0
    store.records("courses", indexes=["n"]).put("later", {})
    assert held(file) == documents
    with satchel.open(file) as copy:
        assert copy.state.get("theme") == "dark"
    # A file of that name is replaced.
    store.backup(str(file))
    assert set(held(file)) == {*documents, "later"}
    assert not list(tmp_path.glob("*.part*"))


def test_progress_is_reported_and_can_cancel(store: satchel.Store, tmp_path: Path) -> None:
    fill(store, 4000)
    file = tmp_path / "backup.satchel"
    heard: List[BackupProgress] = []
    threads = set()

    def hear(progress: BackupProgress) -> None:
        heard.append(progress)
        threads.add(threading.get_ident())

    store.backup(file, hear)
    assert heard
    assert threads == {threading.get_ident()}
    assert heard[-1].pages_done == heard[-1].pages_total > 100
    assert [each.pages_done for each in heard] == sorted(each.pages_done for each in heard)
    before = file.read_bytes()
    files = sorted(tmp_path.iterdir())
    with pytest.raises(satchel.Cancelled):
        store.backup(file, progress=lambda progress: False)
    enough = ZeroDivisionError("enough")

    def fail(progress: BackupProgress) -> None:
        raise enough

    with pytest.raises(ZeroDivisionError) as caught:
        store.backup(tmp_path / "other.satchel", fail)
    assert caught.value is enough
    assert file.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == files


def test_a_backup_while_others_write_holds_one_state(store: satchel.Store, tmp_path: Path) -> None:
    fill(store, 3000)
    pairs = store.records("pairs")
    pairs.put_many({"a": {"n": 0}, "b": {"n": 0}})
    ended = threading.Event()
    rounds: List[int] = []

    def write() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            with store.batch():
                pairs.put("a", {"n": number})
                pairs.put("b", {"n": number})
            rounds.append(number)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert eventually(lambda: len(rounds) > 3)
        for each in range(3):
            store.backup(tmp_path / f"{each}.satchel", progress=lambda progress: None)
    finally:
        ended.set()
        thread.join(60)
    for each in range(3):
        with satchel.open(tmp_path / f"{each}.satchel") as copy:
            assert copy.check() == []
            found = copy.records("pairs")
            assert found.get("a") == found.get("b") != {"n": 0}
            assert copy.records("courses", indexes=["n"]).count() == 3000


def test_a_store_is_compacted_in_steps(path: Path) -> None:
    with satchel.open(path) as store:
        notes = store.records("notes")
        notes.put_many((f"r{number}", {"t": "x" * 2000}) for number in range(3000))
        notes.delete_many([f"r{number}" for number in range(2700)])
        assert store.statistics()["free_pages"] > 1000
        before = store.statistics()["pages"]
        seen: List[Tuple[int, int]] = []
        calls: List[str] = []

        def progress(each: BackupProgress) -> bool:
            seen.append((each.pages_done, each.pages_total))
            # Others write between the steps.
            notes.put(f"meanwhile {len(seen)}", {})
            return len(seen) < 3 or "again" in calls

        with pytest.raises(satchel.Cancelled):
            store.compact(progress)
        assert store.statistics()["pages"] < before
        calls.append("again")
        report = store.compact(progress)
        assert report.bytes > 0
        assert report.file_bytes == path.stat().st_size
        assert report.file_bytes < before * 4096 / 4
        assert notes.count() == 300 + len(seen)
        assert store.check() == []
        with store.batch(), pytest.raises(satchel.InvalidArgument, match="transaction"):
            store.compact()
    with satchel.open(path, read_only=True) as store, pytest.raises(satchel.ReadOnly):
        store.compact()


def test_a_wal_that_a_reader_pins_is_shown(path: Path) -> None:
    import sqlite3

    with satchel.open(path, durability="relaxed") as store:
        notes = store.records("notes")
        notes.put("a", {})
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        for number in range(20):
            notes.put_many((f"r{each}", {"t": f"{number} " * 200}) for each in range(500))
        wal = (path.parent / (path.name + "-wal")).stat().st_size
        assert store.info().wal_bytes == store.statistics()["wal_bytes"] == wal > 1_000_000
        assert store.info().file_bytes == path.stat().st_size + wal
        reader.close()


def test_acknowledged_writes_are_in_a_renamed_store(path: Path) -> None:
    store = satchel.open(path)
    store.records("notes").put("a", {"n": 1})
    moved = path.rename(path.with_name("moved.satchel"))
    store.close()
    with satchel.open(moved) as store:
        assert store.records("notes").get("a") == {"n": 1}
        assert store.check() == []
    assert sorted(each.name for each in path.parent.glob("*.satchel*")) == ["moved.satchel"]


def test_a_backup_that_would_not_open_is_not_restored(path: Path, tmp_path: Path) -> None:
    import sqlite3

    with satchel.open(path) as store:
        store.records("notes").put("a", {})
        store.backup(tmp_path / "backup")
    for sql in ("CREATE TRIGGER t AFTER INSERT ON change BEGIN SELECT 1; END", "DROP TABLE entity"):
        bad = tmp_path / "bad"
        bad.write_bytes((tmp_path / "backup").read_bytes())
        connection = sqlite3.connect(bad)
        connection.execute(sql)
        connection.commit()
        connection.close()
        with pytest.raises(satchel.Damaged):
            satchel.open(bad)
        before = path.read_bytes()
        with pytest.raises(satchel.Damaged):
            satchel.restore(bad, path)
        assert path.read_bytes() == before
    with satchel.open(path) as store:
        assert store.records("notes").ids() == ["a"]


def test_a_store_is_no_backup_of_itself(store: satchel.Store, path: Path, tmp_path: Path) -> None:
    documents = fill(store)
    link = tmp_path / "link"
    link.symlink_to(path)
    for same in (path, tmp_path / "." / path.name, link):
        with pytest.raises(satchel.InvalidArgument):
            store.backup(same)
    for wrong in (b"x", 5, None, "a\0b", ""):
        with pytest.raises(satchel.InvalidArgument):
            store.backup(wrong)  # type: ignore[arg-type]
    with pytest.raises(satchel.InvalidArgument):
        store.backup(tmp_path / "x", progress=5)  # type: ignore[arg-type]
    with pytest.raises(satchel.SatchelError):
        store.backup(tmp_path / "none/backup.satchel")
    assert store.records("courses", indexes=["n"]).count() == len(documents)


def test_the_last_backups_are_kept(store: satchel.Store, clock: Clock, tmp_path: Path) -> None:
    fill(store, 5)
    folder = tmp_path / "backups"
    with pytest.raises(satchel.NotFound):
        store.backup_rotate(folder, 3)
    folder.mkdir()
    mine = folder / "notes.txt"
    mine.write_text("mine")
    made: List[Backup] = []
    for _ in range(5):
        clock.advance(1000)
        made.append(store.backup_rotate(folder, 3))
    assert [len(each.removed) for each in made] == [0, 0, 0, 1, 1]
    assert made[3].removed == [made[0].path]
    assert sorted(map(str, folder.iterdir())) == sorted([each.path for each in made[2:]] + [str(mine)])
    assert held(Path(made[4].path)) == held(Path(made[2].path))
    for wrong in (0, -1, 1.5, True, 2**31):
        with pytest.raises(satchel.InvalidArgument):
            store.backup_rotate(folder, wrong)  # type: ignore[arg-type]
    assert mine.read_text() == "mine"


def test_a_backup_can_be_restored(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.satchel"
    with satchel.open(path) as store:
        documents = fill(store, 50)
        store.backup(file)
        store.records("courses", indexes=["n"]).put_many({"c1": {"n": -1}, "later": {}})
    before = file.read_bytes()
    restored = satchel.restore(file, path)
    assert held(path) == documents
    assert restored.quarantined is not None
    assert set(held(Path(restored.quarantined))) == {*documents, "later"}
    assert file.read_bytes() == before
    fresh = satchel.restore(str(file), str(tmp_path / "new.satchel"))
    assert fresh.quarantined is None
    assert held(tmp_path / "new.satchel") == documents


def test_a_restored_store_gives_new_records_revisions_that_were_not_given(path: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.satchel"
    given = []
    for turn in range(3):
        with satchel.open(path) as store:
            seats = store.records("seats")
            if turn == 0:
                seats.put("a", {})
                store.backup(backup)
            seats.delete("a")
            given.append(seats.put("a", {"turn": turn}))
        satchel.restore(backup, path)
    recovered = tmp_path / "recovered.satchel"
    satchel.recover(path, recovered)
    with satchel.open(recovered) as store:
        store.records("seats").delete("a")
        given.append(store.records("seats").put("a", {}))
    assert len(set(given)) == len(given)


def test_an_open_store_is_not_replaced(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.satchel"
    with satchel.open(path) as store:
        documents = fill(store, 50)
        store.backup(file)
        with pytest.raises(satchel.Busy):
            satchel.restore(file, path)
        store.records("courses", indexes=["n"]).put("later", {})
    assert set(held(path)) == {*documents, "later"}
    assert satchel.restore(file, path).quarantined is not None
    assert held(path) == documents


def test_what_is_no_backup_is_not_restored(path: Path, tmp_path: Path) -> None:
    with satchel.open(path) as store:
        documents = fill(store, 2000)
        good = tmp_path / "good.satchel"
        store.backup(good)
    text = tmp_path / "text"
    text.write_text("no store " * 100)
    half = tmp_path / "half.satchel"
    half.write_bytes(good.read_bytes()[:100_000])
    hole = tmp_path / "hole.satchel"
    data = bytearray(good.read_bytes())
    for place in range(8192, len(data) - 4096, 8192):
        data[place : place + 100] = b"\xff" * 100
    hole.write_bytes(data)
    for bad, error in (
        (tmp_path / "none", satchel.NotFound),
        (text, satchel.ForeignFile),
        (half, satchel.Damaged),
        (hole, satchel.Damaged),
    ):
        with pytest.raises(error):
            satchel.restore(bad, path)
    for arguments in ((5, path), (good, b"x"), (good, "a\0"), (path, path)):
        with pytest.raises(satchel.InvalidArgument):
            satchel.restore(*arguments)  # type: ignore[arg-type]
    assert held(path) == documents
    assert not [each for each in tmp_path.iterdir() if "aside" in each.name]


def test_a_damaged_store_is_recovered(path: Path, tmp_path: Path) -> None:
    with satchel.open(path) as store:
        documents = fill(store, 2000)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 3 * 4096] = b"\xa5" * (3 * 4096)
    path.write_bytes(data)
    target = tmp_path / "recovered.satchel"
    recovery = satchel.recover(path, target)
    assert path.read_bytes() == data
    assert not recovery.complete
    assert Path(recovery.path) == target
    assert not recovery.header_lost
    assert any(each.lost_pages or each.lost_rows for each in recovery.tables)
    with satchel.open(target) as store:
        found = {each.id: each.document for each in store.records("courses", indexes=["n"]).list()}
        assert len(found) > 1500
        assert all(documents[id] == document for id, document in found.items())
        assert store.state.get("theme") in ("dark", None)


def test_a_sound_store_is_recovered_as_a_whole(path: Path, tmp_path: Path) -> None:
    with satchel.open(path) as store:
        documents = fill(store, 300)
    recovery = satchel.recover(path, tmp_path / "recovered.satchel")
    assert recovery.complete
    assert not recovery.schema_lost
    assert recovery.unknown_tables == []
    assert not any(each.lost_pages or each.lost_rows for each in recovery.tables)
    # With the value of the state, which is a document too.
    assert {each.name: each.rows for each in recovery.tables}["record"] == 301
    assert held(tmp_path / "recovered.satchel") == documents


def test_recovery_replaces_nothing(path: Path, tmp_path: Path) -> None:
    with satchel.open(path) as store:
        fill(store, 10)
    there = tmp_path / "there"
    there.write_text("mine")
    with pytest.raises(satchel.SatchelError):
        satchel.recover(path, there)
    assert there.read_text() == "mine"
    text = tmp_path / "text"
    text.write_text("no store " * 100)
    with pytest.raises(satchel.ForeignFile):
        satchel.recover(text, tmp_path / "new")
    with pytest.raises(satchel.NotFound):
        satchel.recover(tmp_path / "none", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_records_that_are_missing_come_from_a_mirror(path: Path, tmp_path: Path) -> None:
    mirror = tmp_path / "courses.json"
    with satchel.open(path) as store:
        documents = fill(store, 1000)
        store.records("courses", indexes=["n"]).mirror(mirror)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 8 * 4096] = bytes(8 * 4096)
    path.write_bytes(data)
    target = tmp_path / "recovered.satchel"
    satchel.recover(path, target)
    with satchel.open(target) as store:
        courses = store.records("courses", indexes=["n"])
        before = courses.count()
        # The store has nothing that the file lacks.
        assert courses.mirror(mirror).imported == 1000 - before
        assert courses.verify_mirror() == []
        assert {each.id: each.document for each in courses.list()} == documents
