"""Strings that should be assets: what a document may weigh is said where it is put."""

from __future__ import annotations

import asyncio
import json
import threading
import warnings
from pathlib import Path
from typing import Any, List

import pytest
from helpers import SHANGHAI, section

import satchel
import satchel.aio
from satchel import InvalidArgument, LargeStringWarning

#: A string with more bytes gives a warning.
MAX = 1 << 20
LARGE = "x" * (MAX + 1)
REASON = "a string of 1048577 bytes; put such content as an asset, and refer to it"


@pytest.fixture
def notes(store: satchel.Store) -> Any:
    return store.records("notes")


def messages(issued: Any) -> List[str]:
    assert all(each.category is LargeStringWarning and each.filename == __file__ for each in issued)
    return [str(each.message) for each in issued]


def test_a_large_string_gives_a_warning_and_is_stored(notes: Any) -> None:
    document = {"title": "x" * MAX, "pictures": [{"a/b": LARGE}], "n": 1}
    with pytest.warns(LargeStringWarning) as issued:
        notes.put("n1", document)
    assert messages(issued) == [f"notes/n1: /pictures/0/a~1b: {REASON}"]
    assert notes.get("n1") == document
    # None of these is one.
    notes.put("n2", {"title": "x" * MAX})
    notes.put("n3", {str(number): "x" * 1000 for number in range(2000)})
    notes.update("n1", {"pictures": None})


def test_all_writes_of_documents_have_warnings(store: satchel.Store, notes: Any) -> None:
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        notes.put_many([("n1", {"a": 1}), ("n2", {"a": LARGE})])
        notes.put_many({"n1": {"a": LARGE}}, skip_rejected=True)
        notes.update("n1", {"b": LARGE})
        store.state.set("photo", LARGE)
    assert messages(issued) == [
        f"notes: /1/document/a: {REASON}",
        f"notes: /0/document/a: {REASON}",
        f"notes/n1: /a: {REASON}",
        f"notes/n1: /b: {REASON}",
        f"state/photo: : {REASON}",
    ]
    assert store.state.get("photo") == LARGE


def test_warnings_are_those_of_the_last_write_of_a_thread(notes: Any) -> None:
    with pytest.warns(LargeStringWarning):
        notes.put("n1", {"a": LARGE})
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        notes.put("n1", {"a": "x" * MAX, "b": "x" * MAX})
        with pytest.raises(InvalidArgument):
            notes.put("n1", b'{"a": "' + LARGE.encode())
    assert issued == []
    found: List[Any] = []
    thread = threading.Thread(target=lambda: found.append(notes.put("n2", {"a": "x" * MAX, "b": 1})))
    thread.start()
    thread.join()
    assert found == [1]


def test_where_warnings_are_errors_the_document_is_written(notes: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(LargeStringWarning, match="asset"):
            notes.put("n1", {"a": LARGE})
    assert notes.get("n1") == {"a": LARGE}


def test_in_a_section_it_is_a_problem_of_the_receipt(store: satchel.Store) -> None:
    receipt = store.catalogue.persist(SHANGHAI, section({"map": LARGE}, "dishes"))
    assert [(each.pointer, each.reason) for each in receipt.problems] == [("/content/map", REASON)]
    loaded = store.catalogue.load(SHANGHAI, "dishes")
    assert loaded is not None
    assert loaded.content["map"] == LARGE


def test_the_error_of_a_document_beyond_its_limit_names_assets(store: satchel.Store) -> None:
    with pytest.raises(InvalidArgument, match="put large content as assets"):
        store.records("synced", synced=True).put("n1", {"a": "x" * (33 << 20)})
    with pytest.raises(InvalidArgument, match="put large content as assets"):
        store.state.set("a", "x" * (17 << 20))


def test_in_asyncio(path: Path) -> None:
    async def run() -> None:
        async with satchel.aio.open(path) as store:
            notes = await store.records("notes")
            with pytest.warns(LargeStringWarning, match="notes/n1: /a: "):
                await notes.put("n1", json.dumps({"a": LARGE}))

    asyncio.run(run())
