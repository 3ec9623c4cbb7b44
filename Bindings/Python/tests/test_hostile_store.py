"""Store files that somebody else has changed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import satchel


def store_with_a_record(path: Path) -> None:
    with satchel.open(path) as store:
        store.records("courses").put("one", {"name": "One"})


def change(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(sql)
    connection.close()


@pytest.mark.parametrize("body", ["7b22", "7b2261223a22ff227d", "00", "5b5d5d"])
def test_a_document_that_is_no_json_is_damage(tmp_path: Path, body: str) -> None:
    path = tmp_path / "store.satchel"
    store_with_a_record(path)
    change(path, f"UPDATE record SET body = x'{body}'")
    with satchel.open(path) as store:
        courses = store.records("courses")
        for read in (lambda: courses.get("one"), courses.list, lambda: courses.list(where={"@id": "one"})):
            with pytest.raises(satchel.errors.Damaged, match="one"):
                read()
        # Once, by collection and id.
        assert [finding.message.split(":")[0] for finding in store.check()] == ["courses/one"]


@pytest.mark.parametrize("table", ["entity_content", "section_content"])
def test_content_that_is_no_json_is_damage(tmp_path: Path, table: str) -> None:
    path = tmp_path / "store.satchel"
    place = {"country_code": "PT"}
    with satchel.open(path) as store:
        storage = {"entity_id": "facts:capital", "scope": "country"}
        content = {"Capital": {"name": "Lisbon", "_storage": storage}, "plain": [1, 2, 3]}
        store.catalogue.persist(place, {"section": "facts", "content": content})
    column = "body" if table == "entity_content" else "template"
    change(path, f"UPDATE {table} SET {column} = CAST(replace(CAST({column} AS TEXT), ':', ';') AS BLOB)")
    with satchel.open(path) as store, pytest.raises(satchel.errors.Damaged, match="section facts"):
        store.catalogue.load(place, "facts")


def test_a_trigger_of_somebody_else_is_named_when_the_store_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "store.satchel"
    store_with_a_record(path)
    change(path, "CREATE TRIGGER evil AFTER INSERT ON record BEGIN UPDATE record SET body = '{}'; END")
    with pytest.raises(satchel.errors.Damaged, match="evil"):
        satchel.open(path)
    satchel.recover(path, tmp_path / "recovered.satchel")
    with satchel.open(tmp_path / "recovered.satchel") as store:
        assert store.records("courses").get("one") == {"name": "One"}
        assert store.check() == []


def test_a_lost_row_of_the_table_of_subjects_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "store.satchel"
    store_with_a_record(path)
    change(path, "DELETE FROM subject WHERE name = 'records'")
    with pytest.raises(satchel.errors.Damaged, match="record"):
        satchel.open(path)
