"""A store whose clock was ahead, or never set."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import pytest
from helpers import Clock

import satchel

DAY = 86_400_000
NOW = 1_795_000_000_000
CENTURY = 4_102_444_800_000
PLACE = {"country_code": "PT"}
PHOTO = b"\xff\xd8\xff\xe0" + bytes(64) + b"\xff\xd9"


def delivery(hours: int = 24) -> Dict[str, object]:
    storage = {"entity_id": "news:1", "scope": "country", "ttl_hours": hours}
    return {"section": "news", "content": {"x": {"value": 1, "_storage": storage}}}


def times_after(path: Path, limit: int) -> List[Tuple[str, str, int]]:
    """The integers of a store's file that are times after ``limit``."""
    found = []
    with sqlite3.connect(path) as connection:
        tables = [row[1] for row in connection.execute("PRAGMA table_list") if row[2] == "table"]
        for table in tables:
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            for column in columns:
                rows = connection.execute(
                    f'SELECT "{column}" FROM "{table}" WHERE typeof("{column}") = \'integer\''
                    f' AND "{column}" BETWEEN ? AND ?',
                    (limit, CENTURY * 2),
                )
                found += [(table, column, value) for (value,) in rows]
    connection.close()
    return found


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    """The path of a store that was in 2100 while everything in it was used."""
    path, clock = tmp_path / "phone.satchel", Clock(CENTURY)
    (tmp_path / "album").mkdir()
    (tmp_path / "album" / "a.jpg").write_bytes(PHOTO)
    (tmp_path / "remote").mkdir()
    remote = satchel.remote.Directory(tmp_path / "remote")
    with satchel.open(path, clock=clock) as store:
        store.catalogue.persist(PLACE, delivery())
        store.records("notes", synced=True).put("a", {"text": "in 2100"})
        store.records("notes").put("b", {})
        store.state.set("theme", "dark", synced=True)
        store.state.list("recent", max_age=30 * DAY).push("old")
        store.state.flush()
        photos = store.photos(tmp_path / "album")
        photos.scan()
        store.sync(remote, "anna")
        photos.sync(remote, "anna")
        store.records("notes").delete("b")
    return path


def test_no_time_stays_ahead(phone: Path, clock: Clock) -> None:
    with satchel.open(phone, clock=clock) as store:
        assert store.records("notes").record("a").modified == NOW
        assert store.catalogue.entity("news:1", PLACE).expires_at == NOW + DAY
        correction = store.info().clock_correction
        assert correction is not None
        assert (correction.noticed_at, correction.latest) == (NOW, CENTURY)
        assert correction.stamped_rows > 5
        assert store.check() == []
    left = [each for each in times_after(phone, NOW + 2 * DAY) if each[:2] != ("clock_correction", "latest")]
    assert left == []


def test_content_expires_again(phone: Path, clock: Clock) -> None:
    with satchel.open(phone, clock=clock) as store:
        assert not store.catalogue.plan(PLACE)["news"].expired
        recent = store.state.list("recent", max_age=30 * DAY)
        assert recent.values() == ["old"]
        clock.advance(2 * DAY)
        assert store.catalogue.plan(PLACE)["news"].expired == ["news:1"]
        clock.advance(40 * DAY)
        assert recent.values() == []


def test_a_read_only_handle_treats_it_as_expired(phone: Path, clock: Clock) -> None:
    with satchel.open(phone, clock=clock, read_only=True) as store:
        assert store.catalogue.plan(PLACE)["news"].expired == ["news:1"]
        assert store.state.list("recent", max_age=30 * DAY).values() == []
        assert [finding.code for finding in store.check()] == ["clock_ahead"]


def test_a_session_in_which_the_clock_goes_back(clock: Clock) -> None:
    clock.now = CENTURY
    with satchel.open(":memory:", clock=clock) as store:
        store.catalogue.persist(PLACE, delivery())
        notes = store.records("notes")
        notes.put("a", {})
        waiting = store.state.list("recent", max_age=DAY)
        waiting.push("unsaved")
        clock.now = NOW
        assert notes.put("b", {}) == 1
        assert {each.id: each.modified for each in notes.list()} == {"a": NOW, "b": NOW}
        assert not store.catalogue.plan(PLACE)["news"].expired
        store.state.flush()
        assert [item.time for item in waiting.items()] == [NOW]
        clock.advance(2 * DAY)
        assert waiting.values() == []
        assert store.catalogue.plan(PLACE)["news"].expired == ["news:1"]


def test_a_live_query_hears_of_the_new_times(clock: Clock) -> None:
    clock.now = CENTURY
    with satchel.open(":memory:", clock=clock) as store:
        notes = store.records("notes")
        notes.put("a", {})
        keys: List[List[str]] = []
        with store.observe(lambda change: keys.append(list(change.keys))):
            clock.now = NOW
            notes.put("b", {})
        assert ["*"] in keys


def test_a_clock_that_was_never_set(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "store"
    with satchel.open(path, clock=clock) as store:
        store.catalogue.persist(PLACE, delivery())
        store.records("notes").put("a", {})
    with satchel.open(path, clock=Clock(1000)) as store:
        assert store.records("notes").record("a").modified == NOW
        store.records("notes").put("b", {})
        store.catalogue.persist(PLACE, delivery(48))
        assert store.records("notes").record("b").modified == NOW
    clock.advance(3 * DAY)
    with satchel.open(path, clock=clock) as store:
        assert store.info().clock_correction is None
        assert store.catalogue.plan(PLACE)["news"].expired == ["news:1"]
        store.records("notes").put("c", {})
        assert store.records("notes").record("c").modified == NOW + 3 * DAY


def test_a_new_store_of_a_clock_that_was_never_set(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "store"
    with satchel.open(path, clock=Clock(1000)) as store:
        store.catalogue.persist(PLACE, delivery())
        assert not store.catalogue.plan(PLACE)["news"].expired
    with satchel.open(path, clock=clock) as store:
        assert store.catalogue.plan(PLACE)["news"].expired == ["news:1"]


def test_a_backup_of_2100_and_a_clone(phone: Path, clock: Clock, tmp_path: Path) -> None:
    with satchel.open(phone, clock=Clock(CENTURY)) as store:
        store.backup(tmp_path / "backup")
    satchel.backup.restore(tmp_path / "backup", tmp_path / "restored")
    with satchel.open(tmp_path / "restored", clock=clock) as store:
        assert store.records("notes").record("a").modified == NOW
        assert store.info().clock_correction is not None


@pytest.fixture
def devices(tmp_path: Path) -> Iterator[Tuple[satchel.Store, Clock, satchel.Store, Clock]]:
    wrong, right = Clock(CENTURY), Clock(NOW)
    one = satchel.open(tmp_path / "wrong", clock=wrong)
    two = satchel.open(tmp_path / "right", clock=right)
    with one, two:
        yield one, wrong, two, right


def test_a_received_time_is_at_most_that_of_its_receipt(
    devices: Tuple[satchel.Store, Clock, satchel.Store, Clock], tmp_path: Path
) -> None:
    wrong, wrong_clock, right, right_clock = devices
    (tmp_path / "remote").mkdir()
    remote = satchel.remote.Directory(tmp_path / "remote")
    wrong.records("notes", synced=True).put("a", {"text": "wrong"})
    wrong.state.list("recent", synced=True).push("wrong")
    wrong.sync(remote, "anna")
    right.records("notes", synced=True)
    right.state.list("recent", synced=True)
    right.sync(remote, "anna")
    record = right.records("notes").record("a")
    assert (record.created, record.modified) == (NOW, NOW)
    assert [item.time for item in right.state.list("recent").items()] == [NOW]
    # A later change of the right device is dated by its own clock, and wins over what the other wrote before.
    right_clock.advance(2000)
    right.records("notes").put("a", {"text": "right"})
    right.state.list("recent").push("right")
    wrong_clock.now = NOW + 1000
    wrong.records("notes").put("a", {"text": "wrong again"})
    for store in (wrong, right, wrong):
        store.sync(remote, "anna")
    for store in (wrong, right):
        assert store.records("notes").get("a") == {"text": "right"}
        assert store.records("notes").record("a").modified == NOW + 2000
        assert store.state.list("recent").values() == ["right", "wrong"]


def test_a_time_after_the_year_9999() -> None:
    with satchel.open(":memory:", clock=lambda: 300_000_000_000_000) as store:
        store.records("notes").put("a", {})
        record = store.records("notes").record("a")
        assert record.created == 300_000_000_000_000
        assert record.created_at.year == 9999
        assert record.created_at.utcoffset() == timedelta(0)
