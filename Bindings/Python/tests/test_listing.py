"""Listing and deleting; members of a section that the library does not know."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import HOUR, Clock, section, storage

import satchel

LYON = {"country_code": "FR", "admin_area": "ARA", "locality": "Lyon"}
FRANCE = {"country_code": "FR"}


def fill(catalogue: satchel.Catalogue, clock: Clock) -> None:
    both = {"A": {"v": 1, **storage("food:a", "locality")}, "B": {"v": 2, **storage("food:b", "global")}}
    catalogue.persist(LYON, section(both, "food"))
    clock.advance(HOUR)
    food = section({"B": {"v": 3, **storage("food:b", "country")}}, "food")
    catalogue.deliver({"location": FRANCE, "sections": [food, section({"note": 1}, "tips")]}, complete=True)


def test_contexts(catalogue: satchel.Catalogue, clock: Clock) -> None:
    fill(catalogue, clock)
    france, lyon = catalogue.contexts()
    assert (france.location, france.level, france.sections, france.entities) == (FRANCE, "country", 2, 1)
    assert (lyon.location, lyon.level, lyon.sections, lyon.entities) == (LYON, "locality", 1, 2)
    assert (france.complete, lyon.complete) == (True, False)
    assert lyon.bytes == 2 * len('{"v": 1}') or lyon.bytes == 2 * len('{"v":1}')
    assert france.updated_at - lyon.updated_at == HOUR
    assert catalogue.contexts("LOCALITY") == [lyon]
    assert catalogue.contexts(level="sublocality") == []
    for level in ("village", ""):
        with pytest.raises(satchel.InvalidArgument):
            catalogue.contexts(level)


def test_entities(catalogue: satchel.Catalogue, clock: Clock) -> None:
    fill(catalogue, clock)
    found = catalogue.entities("food")
    assert [(each.entity_id, each.scope, each.place) for each in found] == [
        ("food:a", "locality", "fr_ara_lyon"),
        ("food:b", "global", None),
        ("food:b", "country", "fr"),
    ]
    assert [each.references for each in found] == [1, 1, 1]
    assert found[0].expires_at - found[0].created_at == 168 * HOUR
    # One that no section refers to any more belongs to the section that its id names.
    catalogue.persist(LYON, section({"note": 1}, "food"))
    assert [each.references for each in catalogue.entities("food")] == [0, 0, 1]
    assert catalogue.entities("sights") == []


def test_an_entity_knows_when_and_where_it_was_delivered(catalogue: satchel.Catalogue, clock: Clock) -> None:
    start = clock()
    fill(catalogue, clock)
    entity = catalogue.entity("food:b", {"country_code": "DE"})
    assert entity is not None
    assert (entity.content, entity.source) == ({"v": 2}, LYON)
    assert entity.created_at == entity.updated_at == start
    clock.advance(HOUR)
    germany = {"country_code": "DE"}
    catalogue.persist(germany, section({"B": {"v": 4, **storage("food:b", "global")}}, "food"))
    entity = catalogue.entity("food:b", germany)
    assert entity is not None
    assert (entity.created_at, entity.updated_at, entity.source) == (start, start + 2 * HOUR, germany)
    catalogue.delete_context(germany)
    entity = catalogue.entity("food:b", germany)
    assert entity is not None
    assert entity.source is None


def test_deleting_an_entity_deletes_all_its_variants(catalogue: satchel.Catalogue, clock: Clock) -> None:
    fill(catalogue, clock)
    catalogue.search("b")
    receipt = catalogue.delete_entity("food:b")
    assert (receipt.entities, receipt.contexts) == (2, 0)
    assert catalogue.entity("food:b", LYON) is None
    assert catalogue.search("b") == []
    loaded = catalogue.load(LYON, "food")
    assert loaded is not None
    assert (loaded.content, loaded.missing) == ({"A": {"v": 1}}, ["food:b"])
    assert "food:b" not in [each.entity_id for each in catalogue.entities("food")]
    assert catalogue.delete_entity("food:b").entities == 0
    assert catalogue.delete_entity("food:none").entities == 0
    fill(catalogue, clock)
    assert catalogue.entity("food:b", LYON) is not None


def test_deleting_a_context(store: satchel.Store, clock: Clock) -> None:
    catalogue = store.catalogue
    fill(catalogue, clock)
    receipt = catalogue.delete_context(LYON)
    assert (receipt.entities, receipt.contexts) == (2, 1)
    assert [each.location for each in catalogue.contexts()] == [FRANCE]
    assert [header.level for header in catalogue.sections(LYON)] == ["country"]
    assert catalogue.delete_context(LYON).contexts == 0
    assert store.check() == []


def test_statistics(store: satchel.Store, clock: Clock) -> None:
    fill(store.catalogue, clock)
    statistics = store.statistics()
    [catalogue] = [each for each in statistics["subjects"] if each["name"] == "catalogue"]
    assert catalogue["counts"] == {"places": 2, "entities": 3}
    assert statistics["file_bytes"] > 0
    nothing = dict.fromkeys(("regions", "pinned_sections", "pinned_entities", "pinned_bytes"), 0)
    nothing |= {"pinned_asset_bytes": 0, "requests": 0, "failed_requests": 0}
    assert statistics["catalogue"] == {**nothing, "oldest_fetched_at": clock.now - HOUR}


def test_statistics_of_regions_and_requests(store: satchel.Store, clock: Clock) -> None:
    def broken(request: satchel.ContentRequest) -> satchel.Fetched:
        raise satchel.Retry(120, "maintenance")

    fill(store.catalogue, clock)
    trip = store.catalogue.regions.create("trip", [LYON])
    store.catalogue.refresh(FRANCE, ["tips"], source=broken, force=True)
    found = store.statistics()["catalogue"]
    assert (found["regions"], found["pinned_sections"], found["pinned_entities"]) == (1, 1, 2)
    assert found["pinned_bytes"] == trip.summary().size.bytes > 0
    assert (found["requests"], found["failed_requests"], found["pinned_asset_bytes"]) == (1, 1, 0)


def test_other_members_of_a_section_are_kept(catalogue: satchel.Catalogue) -> None:
    sent = {
        "section": "food",
        "displayTitle": "Food",
        "action": "replace",
        "render": {"columns": 2},
        "version": 1.50,
        "content": {"A": {"v": 1, **storage("food:a", "locality")}},
    }
    catalogue.persist(LYON, sent)
    [header] = catalogue.sections(LYON)
    assert (header.display_title, header.extra) == ("Food", {"render": {"columns": 2}, "version": 1.5})
    loaded = catalogue.load(LYON, "food")
    assert loaded is not None
    assert (loaded.display_title, loaded.extra) == ("Food", header.extra)
    # An edit keeps them, and adds its own; replacing does not.
    edit = {"section": "food", "action": "edit", "content": {"B": 1}, "render": {"rows": 1}}
    catalogue.persist(LYON, edit)
    [header] = catalogue.sections(LYON)
    assert header.extra == {"render": {"columns": 2, "rows": 1}, "version": 1.5}
    catalogue.persist(LYON, section({}, "food"))
    assert catalogue.sections(LYON)[0].extra == {}
    both = {"section": "food", "display_title": "One", "displayTitle": "Other", "content": {}}
    catalogue.persist(LYON, both)
    assert catalogue.sections(LYON)[0].display_title == "One"
    with pytest.raises(satchel.InvalidArgument, match="/displayTitle"):
        catalogue.persist(LYON, {"section": "food", "displayTitle": 1, "content": {}})


def test_null_is_the_default_time_to_live(catalogue: satchel.Catalogue, clock: Clock) -> None:
    tag = {"entity_id": "food:a", "scope": "locality", "ttl_hours": None}
    receipt = catalogue.persist(LYON, section({"A": {"_storage": tag}}, "food"))
    assert (receipt.saved, receipt.problems) == (1, [])
    entity = catalogue.entity("food:a", LYON)
    assert entity is not None
    assert entity.expires_at == clock() + 168 * HOUR


@pytest.mark.parametrize(
    ("config", "pointer"),
    [
        ({"operation": "remove", "match": {}}, "/config/match"),
        ({"operation": "remove", "match": 1}, "/config/match"),
        ({"operation": "remove"}, "/config/match"),
        ({"operation": "twist"}, "/config/operation"),
        ({"target_path": 1}, "/config/target_path"),
    ],
)
def test_refused_edits_name_the_member(catalogue: satchel.Catalogue, config: Any, pointer: str) -> None:
    edit = {"section": "food", "action": "edit", "config": config, "content": {}}
    with pytest.raises(satchel.InvalidArgument, match=f"at {pointer}:"):
        catalogue.persist(LYON, edit)
    with pytest.raises(satchel.InvalidArgument, match=f"at /sections/0{pointer}:"):
        catalogue.deliver({"location": LYON, "sections": [edit]})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": [1, {"c": None}]}, {"b": [1, {"c": None}], "a": 1}, True),
        (b'{"a":1.50,"b":"\\u0041"}', b' { "b" : "A", "a" : 15e-1 } ', True),
        (1, 1.0, False),
        (1, True, False),
        ("1", 1, False),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1, "b": 1}, False),
        ({str(key): key for key in range(100)}, {str(key): key for key in reversed(range(100))}, True),
        (None, False, False),
    ],
)
def test_equality_of_json(one: Any, other: Any, same: bool) -> None:
    assert satchel.json.equal(one, other) is same
    assert satchel.json.equal(other, one) is same


@pytest.mark.parametrize("empty", [b"", bytearray(), memoryview(b"")])
def test_an_empty_text_is_no_json(catalogue: satchel.Catalogue, empty: Any) -> None:
    calls = [
        lambda: satchel.json.check(empty),
        lambda: satchel.json.equal(empty, empty),
        lambda: satchel.json.merge(empty, 1),
        lambda: satchel.json.merge(1, empty),
        lambda: satchel.json.merge_patch(empty, {}),
        lambda: satchel.json.patch(empty, []),
        lambda: satchel.json.edit(empty, 1),
        lambda: satchel.json.value_at(empty, ""),
        lambda: catalogue.persist(LYON, empty),
        lambda: catalogue.persist(empty, section({}, "food")),
        lambda: catalogue.deliver(empty),
        lambda: catalogue.sections(empty),
    ]
    for call in calls:
        with pytest.raises(satchel.InvalidArgument, match="line 1, column 1"):
            call()


TEXTS = [
    (b'{"a": [1, }', r"line 1, column 11, at /a/1: "),
    (b'{"a": {"b": 1, "b": 2}}', r"line 1, column 16, at /a/b: "),
    (b'{"a":\n "\xff"}', r"line 2, column 3, at /a: "),
    (b'{"a": 1e9999999999999999999}', r"line 1, column 7, at /a: "),
]


@pytest.mark.parametrize(("text", "message"), TEXTS)
def test_all_readers_name_the_same_place(catalogue: satchel.Catalogue, text: bytes, message: str) -> None:
    calls = [
        lambda: satchel.json.check(text),
        lambda: satchel.json.equal(text, text),
        lambda: satchel.json.merge(text, 1),
        lambda: satchel.json.value_at(text, "a"),
        lambda: catalogue.persist(LYON, text),
        lambda: catalogue.deliver(text),
        lambda: catalogue.sections(text),
        lambda: catalogue.set_active_location(text),
        lambda: satchel.places.key(text, "country"),
    ]
    found = []
    for call in calls:
        with pytest.raises(satchel.InvalidArgument, match=message) as caught:
            call()
        found.append(str(caught.value).split(": ", 1)[1])
    assert len(set(found)) == 1, found
