"""Loading returns exactly what was sent, without `_storage`."""

from __future__ import annotations

from typing import Any, Dict, List

import pytest
from helpers import SHANGHAI, section, storage, stripped, text

import satchel


def test_every_delivery_is_returned_as_it_was_sent(
    catalogue: satchel.Catalogue, deliveries: List[Dict[str, Any]]
) -> None:
    assert len(deliveries) == 266
    for delivery in deliveries:
        receipts = catalogue.deliver(delivery)
        assert [receipt.section for receipt in receipts] == [each["section"] for each in delivery["sections"]]
        assert all(receipt.problems == [] for receipt in receipts)
        headers = catalogue.sections(delivery["location"])
        for sent, header in zip(delivery["sections"], headers):
            assert header.section == sent["section"]
            assert header.display_title == sent["display_title"]
            assert text(header.config) == text(sent["config"])
            assert header.level == "coordinate"
            loaded = catalogue.load(delivery["location"], sent["section"])
            assert loaded is not None
            assert (loaded.missing, loaded.expired) == ([], [])
            assert text(loaded.content) == text(stripped(sent["content"]))


def test_texts_are_taken_as_they_are(catalogue: satchel.Catalogue) -> None:
    sent = section({"a": {"x": 1, **storage("cuisine:a")}, "b": 0.1})
    for number, kind in enumerate(
        (str, str.encode, lambda t: bytearray(t.encode()), lambda t: memoryview(t.encode()))
    ):
        receipt = catalogue.persist(kind(text(SHANGHAI)), kind(text(sent)))  # type: ignore[operator]
        assert (receipt.saved, receipt.reused) == ((1, 0) if number == 0 else (0, 1))
        loaded = catalogue.load(kind(text(SHANGHAI)), "cuisine")  # type: ignore[operator]
        assert loaded is not None
        assert loaded.content == {"a": {"x": 1}, "b": 0.1}


SHAPES: Dict[str, Any] = {
    "nested": {"A": {"v": 1, **storage("x:a")}, "B": {"v": 2, **storage("x:b")}},
    "flat": {"items": [{"v": 1, **storage("x:a")}, {"v": 2, **storage("x:b")}]},
    "mixed": {"A": {"v": 1, **storage("x:a")}, "items": [{"v": 2, **storage("x:b")}, 7, "note"], "n": None},
    "an entity inside of an entity": {"A": {"inner": {"v": 1, **storage("x:b", "global")}, **storage("x:a")}},
    "the content is an entity": {"v": [1, 2], **storage("x:a")},
    "the content is a list": [{"v": 1, **storage("x:a")}, [{"v": 2, **storage("x:b")}]],
    "nothing but storage": {"A": storage("x:a")},
    "storage first": {"A": {**storage("x:a"), "v": 1}},
    "storage in the middle": {"A": {"u": 0, **storage("x:a"), "v": 1}},
    "every scope": {
        scope: {"v": scope, **storage(f"x:{scope}", scope)}
        for scope in ("global", "Country", "ADMINAREA", "locality")
    },
    "one id in two scopes": [{"v": 1, **storage("x:a", "country")}, {"v": 2, **storage("x:a", "locality")}],
    "one variant twice": [{"v": 1, **storage("x:a")}, {"v": 1, **storage("x:a")}],
    "one variant twice, with other content": [{"v": 1, **storage("x:a")}, {"v": 2, **storage("x:a")}],
    "one variant twice, with keys in another order": [
        {"u": 1, "v": 2, **storage("x:a")},
        {"v": 2, "u": 1, **storage("x:a")},
    ],
    "an entity that holds its own id": {"v": 1, "self": {"v": 2, **storage("x:a")}, **storage("x:a")},
    "no entity": {"a": [1, 2.5, None, True, {"b": {}}], "": []},
    "empty object": {},
    "empty list": [],
    "text": "text",
    "number": -0.0,
    "null": None,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_returned(catalogue: satchel.Catalogue, shape: str) -> None:
    sent = section(SHAPES[shape])
    receipt = catalogue.persist(SHANGHAI, sent)
    loaded = catalogue.load(SHANGHAI, "cuisine")
    assert loaded is not None
    assert text(loaded.content) == text(stripped(sent["content"]))
    assert (loaded.missing, loaded.expired, loaded.level) == ([], [], "locality")
    # Once more: nothing is new, and loading returns the same.
    again = catalogue.persist(SHANGHAI, sent)
    assert (again.saved, again.updated, again.reused) == (0, 0, receipt.saved)
    repeated = catalogue.load(SHANGHAI, "cuisine")
    assert repeated is not None
    assert text(repeated.content) == text(loaded.content)


BAD_STORAGE: Dict[str, Any] = {
    "null": None,
    "true": True,
    "a number": 5,
    "a text": "x:a",
    "a list": [],
    "empty": {},
    "no id": {"scope": "locality"},
    "an id that is no text": {"entity_id": 5, "scope": "locality"},
    "no scope": {"entity_id": "x:a"},
    "an unknown scope": {"entity_id": "x:a", "scope": "galaxy"},
    "a scope that is no text": {"entity_id": "x:a", "scope": ["locality"]},
    "a negative ttl": {"entity_id": "x:a", "scope": "locality", "ttl_hours": -1},
    "a ttl that is no number": {"entity_id": "x:a", "scope": "locality", "ttl_hours": "24"},
}


@pytest.mark.parametrize("bad", BAD_STORAGE)
def test_bad_storage_is_reported_and_the_object_stays_inline(catalogue: satchel.Catalogue, bad: str) -> None:
    good = {"v": 1, **storage("x:good")}
    odd = {"v": 2, "_storage": BAD_STORAGE[bad]}
    sent = section({"items": [good, {"deep/er": odd}]})
    receipt = catalogue.persist(SHANGHAI, sent)
    assert receipt.saved == 1
    assert receipt.inline >= 1
    (problem,) = receipt.problems
    assert "/items/1/deep~1er" in problem.pointer
    assert problem.reason
    loaded = catalogue.load(SHANGHAI, "cuisine")
    assert loaded is not None
    assert text(loaded.content) == text(stripped(sent["content"]))
    (header,) = catalogue.sections(SHANGHAI)
    assert header.entity_count == 1


def test_a_display_name_is_found_in_order(catalogue: satchel.Catalogue) -> None:
    names = {"local_name": "local", "title": "title", "name": "name"}
    content = {
        "key": {**storage("x:key")},
        "1": {**names, **storage("x:local")},
        "2": {"name": "name", "title": "title", **storage("x:title")},
        "3": {"name": "name", **storage("x:name")},
        "list": [{"v": 1, **storage("x:id")}],
    }
    catalogue.persist(SHANGHAI, section(content))
    for expected in ("key", "local", "title", "name"):
        entity = catalogue.entity(f"x:{expected}", SHANGHAI)
        assert entity is not None
        assert entity.display_name == expected
    entity = catalogue.entity("x:id", SHANGHAI)
    assert entity is not None
    assert (entity.display_name, entity.content, entity.scope) == ("x:id", {"v": 1}, "locality")
    assert catalogue.entity("x:none", SHANGHAI) is None


def test_sections_keep_the_order_in_which_they_were_delivered(catalogue: satchel.Catalogue) -> None:
    names = ["zoo", "art", "Museum", "é", "10", "9"]
    sections = [section({"a": {"v": 1, **storage(f"{name}:a")}}, name) for name in names]
    catalogue.deliver({"location": SHANGHAI, "sections": sections})
    assert [header.section for header in catalogue.sections(SHANGHAI)] == names
    catalogue.persist(SHANGHAI, sections[1])
    assert [header.section for header in catalogue.sections(SHANGHAI)] == names


def test_a_section_without_title_and_config_has_none(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SHANGHAI, {"section": "bare", "content": {"a": 1}})
    (header,) = catalogue.sections(SHANGHAI)
    assert (header.display_title, header.config, header.entity_count) == (None, None, 0)
