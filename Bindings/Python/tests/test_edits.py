"""Sections with the action "edit" change what is stored, as satchel.json.edit would."""

from __future__ import annotations

from typing import Any, Dict, Optional

import pytest
from helpers import HOUR, SHANGHAI, Clock, dump, section, storage, stripped, text

import satchel

EXISTING = {
    "title": "Eat",
    "items": [
        {"id": "a", "price": 1, **storage("cuisine:a", hours=1)},
        {"id": "b", "price": 2, **storage("cuisine:b", "global", hours=48)},
        {"id": "note"},
    ],
    "meta": {"count": 3, "nested": {"x": 1}},
}


def edit(content: Any, config: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    return section(content, action="edit", config=config)


def loaded(catalogue: satchel.Catalogue) -> Any:
    found = catalogue.load(SHANGHAI, "cuisine", allow_expired=True)
    assert found is not None
    return found.content


EDITS: Dict[str, Any] = {
    "merge": ({"meta": {"nested": {"y": 2}, "new": None}}, {"operation": "merge"}),
    "merge by default": ({"title": "Drink"}, None),
    "merge at a path": ({"y": [1]}, {"operation": "merge", "target_path": "meta.nested"}),
    "append one": ({"id": "c"}, {"operation": "append", "target_path": "items"}),
    "append several": ([{"id": "c"}, 5], {"operation": "append", "target_path": "/items"}),
    "append makes the path": ([1], {"operation": "append", "target_path": "meta.list.deep"}),
    "remove": (None, {"operation": "remove", "target_path": "items", "match": {"id": "a"}}),
    "remove what is inline": (None, {"operation": "remove", "target_path": "items", "match": {"id": "note"}}),
    "merge patch": ({"title": None, "meta": {"count": None}}, {"operation": "merge_patch"}),
    "patch": (
        [{"op": "remove", "path": "/items/0"}, {"op": "add", "path": "/items/-", "value": {"id": "z"}}],
        {"operation": "patch"},
    ),
    "a change inside of an entity": (
        [{"op": "replace", "path": "/items/0/price", "value": 9}],
        {"operation": "patch"},
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_a_section_is_an_edit_of_its_content(catalogue: satchel.Catalogue, name: str) -> None:
    new, config = EDITS[name]
    catalogue.persist(SHANGHAI, section(EXISTING))
    catalogue.persist(SHANGHAI, edit(new, config))
    assert text(loaded(catalogue)) == text(satchel.json.edit(stripped(EXISTING), new, config))


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_never_deletes_what_has_merely_expired(
    catalogue: satchel.Catalogue, clock: Clock, name: str
) -> None:
    new, config = EDITS[name]
    catalogue.persist(SHANGHAI, section(EXISTING))
    clock.advance(2 * HOUR)
    catalogue.persist(SHANGHAI, edit(new, config))
    assert text(loaded(catalogue)) == text(satchel.json.edit(stripped(EXISTING), new, config))


def test_what_an_edit_brings_with_storage_is_an_entity(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SHANGHAI, section(EXISTING))
    new = {"id": "c", **storage("cuisine:c", "country")}
    receipt = catalogue.persist(SHANGHAI, edit(new, {"operation": "append", "target_path": "items"}))
    assert receipt.saved == 1
    assert loaded(catalogue)["items"][-1] == {"id": "c"}
    (header,) = catalogue.sections(SHANGHAI)
    assert header.entity_count == 3
    entity = catalogue.entity("cuisine:c", SHANGHAI)
    assert entity is not None
    assert entity.scope == "country"


def test_entities_stay_entities_when_something_else_is_edited(
    catalogue: satchel.Catalogue, clock: Clock
) -> None:
    catalogue.persist(SHANGHAI, section(EXISTING))
    before = catalogue.entity("cuisine:a", SHANGHAI)
    catalogue.persist(SHANGHAI, edit({"title": "Drink"}, {"operation": "merge"}))
    (header,) = catalogue.sections(SHANGHAI)
    assert header.entity_count == 2
    assert catalogue.entity("cuisine:a", SHANGHAI) == before
    clock.advance(HOUR + 1)
    found = catalogue.load(SHANGHAI, "cuisine")
    assert found is not None
    assert found.expired == ["cuisine:a"]


def test_an_entity_that_is_edited_stays_an_entity(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SHANGHAI, section({"A": {"price": 1, **storage("cuisine:a")}}))
    catalogue.persist(SHANGHAI, edit({"A": {"price": 2}}, {"operation": "merge"}))
    (header,) = catalogue.sections(SHANGHAI)
    assert header.entity_count == 1
    entity = catalogue.entity("cuisine:a", SHANGHAI)
    assert entity is not None
    assert entity.content == {"price": 2}


def test_an_edit_of_a_section_that_is_not_there_begins_it(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SHANGHAI, edit([1, 2], {"operation": "append", "target_path": "items"}))
    assert loaded(catalogue) == {"items": [1, 2]}


@pytest.mark.parametrize(
    "config",
    [
        {"operation": "explode"},
        {"operation": 5},
        {"operation": "remove", "target_path": "items"},
        {"operation": "remove", "target_path": "items", "match": {}},
        {"operation": "append", "target_path": "title.deeper"},
        {"operation": "patch"},
    ],
)
def test_an_edit_that_fails_changes_nothing(
    store: satchel.Store, catalogue: satchel.Catalogue, config: Dict[str, Any]
) -> None:
    catalogue.persist(SHANGHAI, section(EXISTING))
    before = dump(store.path)  # type: ignore[arg-type]
    with pytest.raises(satchel.InvalidArgument):
        catalogue.persist(SHANGHAI, edit({"x": 1}, config))
    assert dump(store.path) == before  # type: ignore[arg-type]
