"""Places whose keys look alike are kept apart, and each sees its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Optional

import pytest
from helpers import SHANGHAI, SINGAPORE, SPRINGFIELD_ILLINOIS, SPRINGFIELD_MISSOURI, Clock, section, storage

import satchel
from satchel import places


def dish(value: Any, scope: str = "locality") -> Dict[str, Any]:
    return section({"A": {"value": value, **storage("cuisine:a", scope)}})


def value_at(catalogue: satchel.Catalogue, location: Dict[str, Any]) -> Optional[Any]:
    found = catalogue.load(location, "cuisine")
    return None if found is None else found.content["A"]["value"]


def test_two_places_with_the_same_text_never_collide(
    catalogue: satchel.Catalogue, vectors: Dict[str, Any]
) -> None:
    for first, second, key in vectors["places"]["distinct_places_same_text"]:
        assert places.key(first, "locality") == places.key(second, "locality") == key
        catalogue.persist(first, dish("first"))
        assert catalogue.has_cached(first) == "exact"
        assert catalogue.has_cached(second) is None
        assert catalogue.entity("cuisine:a", second) is None
        receipt = catalogue.persist(second, dish("second"))
        assert receipt.saved == 1
        assert value_at(catalogue, first) == "first"
        assert value_at(catalogue, second) == "second"


def test_springfield_is_a_city_in_illinois_and_one_in_missouri(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SPRINGFIELD_ILLINOIS, dish("horseshoe"))
    catalogue.persist(SPRINGFIELD_MISSOURI, dish("cashew chicken"))
    for location, value in ((SPRINGFIELD_ILLINOIS, "horseshoe"), (SPRINGFIELD_MISSOURI, "cashew chicken")):
        assert value_at(catalogue, location) == value
        entity = catalogue.entity("cuisine:a", location)
        assert entity is not None
        assert entity.content == {"value": value}
    # A quarter of one of them inherits from its own city.
    assert value_at(catalogue, {**SPRINGFIELD_ILLINOIS, "sublocality": "Enos Park"}) == "horseshoe"


def test_a_city_without_an_admin_area_has_a_place_of_its_own(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SINGAPORE, dish("laksa"))
    (header,) = catalogue.sections(SINGAPORE)
    assert header.level == "locality"
    assert value_at(catalogue, {**SINGAPORE, "sublocality": "Tiong Bahru"}) == "laksa"
    # With an admin area its key is another one; knowing more does not find less.
    central = {**SINGAPORE, "admin_area": "Central Singapore"}
    assert value_at(catalogue, central) == "laksa"
    assert catalogue.load(central, "cuisine", nearby=0) is None


def test_an_entity_of_a_level_that_the_location_lacks_is_returned(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SINGAPORE, dish("satay", "adminarea"))
    assert value_at(catalogue, SINGAPORE) == "satay"


def test_letter_case_and_marks_of_a_location_do_not_matter(catalogue: satchel.Catalogue) -> None:
    catalogue.persist({"locality": "São Paulo", "country_code": "BR"}, dish("feijoada"))
    same = {"locality": " sao  PAULO ", "country_code": "br"}
    assert catalogue.has_cached(same) == "exact"
    assert value_at(catalogue, same) == "feijoada"


def test_coordinate_entities_are_shared_within_the_rounded_coordinate_only(
    catalogue: satchel.Catalogue,
) -> None:
    here = {**SHANGHAI, "latitude": 31.23041, "longitude": 121.47371}
    catalogue.persist(here, dish("corner", "coordinate"))
    assert value_at(catalogue, {**here, "latitude": 31.23043}) == "corner"
    beside = {**here, "latitude": 31.2310}
    assert catalogue.load(beside, "cuisine", nearby=0) is None
    assert catalogue.has_cached(beside, nearby=0) is None
    # Read from beside, its coordinate is resolved to that of the delivery.
    [header] = catalogue.sections(beside)
    assert header.resolved["coordinate"].location == here


def test_the_most_specific_variant_of_an_entity_covers(catalogue: satchel.Catalogue) -> None:
    for scope in ("global", "country", "locality"):
        catalogue.persist(SHANGHAI, section({"A": {"v": scope, **storage("cuisine:a", scope)}}, scope))
    for location, scope in (
        (SHANGHAI, "locality"),
        ({**SHANGHAI, "locality": "Suzhou", "admin_area": "Jiangsu"}, "country"),
        (SPRINGFIELD_ILLINOIS, "global"),
    ):
        entity = catalogue.entity("cuisine:a", location)
        assert entity is not None
        assert (entity.scope, entity.content) == (scope, {"v": scope})


def test_the_context_that_was_updated_last_serves_of_several(
    catalogue: satchel.Catalogue, clock: Clock
) -> None:
    def sent(number: int) -> Dict[str, Any]:
        return section({"items": [{"v": number, **storage(f"cuisine:{number}", "country")}]})

    other = {**SHANGHAI, "locality": "Beijing", "admin_area": "Beijing"}
    catalogue.persist(SHANGHAI, sent(1))
    clock.advance(1000)
    catalogue.persist(other, sent(2))
    anywhere = {"country_code": "CN", "admin_area": "Yunnan"}
    for update, expected in ((None, 2), (SHANGHAI, 1), (other, 2)):
        if update is not None:
            clock.advance(1000)
            catalogue.persist(update, {**sent(expected), "display_title": str(clock())})
        found = catalogue.load(anywhere, "cuisine")
        assert found is not None
        assert found.content == {"items": [{"v": expected}]}
        assert found.level == "country"


def test_each_section_is_inherited_from_the_most_specific_place_that_has_it(
    catalogue: satchel.Catalogue, clock: Clock
) -> None:
    def named(name: str, value: str) -> Dict[str, Any]:
        return section({"A": {"v": value, **storage(f"{name}:{value}", "country")}}, name)

    beijing = {**SHANGHAI, "locality": "Beijing", "admin_area": "Beijing"}
    catalogue.persist(beijing, named("food", "far"))
    catalogue.persist(beijing, named("music", "far"))
    clock.advance(1000)
    catalogue.persist(SHANGHAI, named("food", "near"))
    quarter = {**SHANGHAI, "sublocality": "Pudong"}
    levels = {header.section: header.level for header in catalogue.sections(quarter)}
    assert levels == {"food": "locality", "music": "country"}
    for name, value in (("food", "near"), ("music", "far")):
        found = catalogue.load(quarter, name)
        assert found is not None
        assert found.content == {"A": {"v": value}}
    assert [header.section for header in catalogue.sections(SHANGHAI, inherit=False)] == ["food"]
    assert list(catalogue.plan(SHANGHAI)) == ["food", "music"]
    assert list(catalogue.plan(SHANGHAI, inherit=False)) == ["food"]
    assert catalogue.load(SHANGHAI, "music", inherit=False) is None
    # A complete delivery says that there is no music in Shanghai.
    food = named("food", "near")
    catalogue.deliver({"location": SHANGHAI, "sections": [food]}, complete=True)
    assert [header.section for header in catalogue.sections(SHANGHAI)] == ["food"]
    assert catalogue.load(SHANGHAI, "music") is None


def test_the_active_location_is_remembered_across_reopening(path: Path) -> None:
    location = {**SHANGHAI, "latitude": 31.2304, "longitude": 121.4737}
    with satchel.open(path) as store:
        assert store.catalogue.active_location() is None
        store.catalogue.set_active_location(location)
    with satchel.open(path) as store:
        assert store.catalogue.active_location() == location
        with pytest.raises(satchel.InvalidArgument):
            store.catalogue.set_active_location({"locality": "Paris"})
        assert store.catalogue.active_location() == location
        store.catalogue.set_active_location(None)
        assert store.catalogue.active_location() is None
    with satchel.open(path) as store:
        assert store.catalogue.active_location() is None
