from __future__ import annotations

import unicodedata
from typing import Any, Dict

import pytest
from helpers import SHANGHAI, SINGAPORE
from hypothesis import given
from hypothesis import strategies as st

import satchel
from satchel import places

LEVELS = ("coordinate", "sublocality", "locality", "adminarea", "country")


def test_normalizing_as_in_the_vectors(vectors: Dict[str, Any]) -> None:
    for given_text, expected in vectors["places"]["normalize"]:
        assert places.normalize(given_text) == expected, given_text


def test_entity_ids_as_in_the_vectors(vectors: Dict[str, Any]) -> None:
    for section, label, expected in vectors["places"]["entity_id"]:
        assert places.entity_id(section, label) == expected
    for entity_id, expected in vectors["places"]["section_of"]:
        assert places.section_of(entity_id) == expected


def test_keys_and_levels_as_in_the_vectors(vectors: Dict[str, Any]) -> None:
    for case in vectors["places"]["locations"]:
        assert places.most_specific_level(case["location"]) == case["most_specific"]
        for level, expected in case["keys"].items():
            assert places.key(case["location"], level) == expected, (case, level)


def test_scopes_as_in_the_vectors(vectors: Dict[str, Any]) -> None:
    for scope, expected in vectors["places"]["level_of_scope"]:
        assert places.level_of_scope(scope) == expected


def test_invalid_locations_of_the_vectors_are_refused(vectors: Dict[str, Any]) -> None:
    for location in vectors["places"]["invalid_locations"]:
        with pytest.raises(satchel.InvalidArgument):
            places.most_specific_level(location)
        for level in LEVELS:
            with pytest.raises(satchel.InvalidArgument):
                places.key(location, level)


@pytest.mark.parametrize(
    "location",
    [
        None,
        [],
        "",
        b"",
        "no JSON",
        '"text"',
        {"latitude": 1, "longitude": 181},
        {"latitude": -90.0001, "longitude": 0},
        {"longitude": 1, "country_code": "fr"},
        {"latitude": "1", "longitude": "1"},
        {"latitude": True, "longitude": False},
        {"locality": ["Paris"], "country_code": "fr"},
        {"country_code": "  "},
        b'{"latitude": 1e400, "longitude": 0}',
    ],
)
def test_an_invalid_location_is_refused(location: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        places.key(location, "country")


@pytest.mark.parametrize("level", ["", "city", "global", "country\0"])
def test_an_unknown_level_is_refused(level: str) -> None:
    with pytest.raises(satchel.InvalidArgument):
        places.key(SHANGHAI, level)


def test_a_missing_parent_leaves_an_empty_component() -> None:
    assert places.key(SINGAPORE, "locality") == "sg__singapore"
    assert places.key(SINGAPORE, "adminarea") is None


def test_null_is_as_good_as_absent_and_other_keys_are_ignored() -> None:
    location = {**SINGAPORE, "latitude": None, "longitude": None, "admin_area": None, "mood": [1]}
    assert places.most_specific_level(location) == "locality"


@pytest.mark.parametrize(
    ("latitude", "longitude", "key"),
    [
        (10, -0.1, "10.0_-0.1"),
        (-0.00001, 180, "0.0_180.0"),
        (-0.0, 0.0, "0.0_0.0"),
        (90, -180, "90.0_0.0"),
        (1.00004, 1.00006, "1.0_1.0001"),
        (-33.86788, 151.20732, "-33.8679_151.2073"),
    ],
)
def test_coordinates_are_rounded_to_four_decimals(latitude: float, longitude: float, key: str) -> None:
    location = {"latitude": latitude, "longitude": longitude}
    assert places.key(location, "coordinate") == key
    assert places.key(location, "country") is None


@given(st.text())
def test_normalizing_is_idempotent_and_forms_do_not_matter(text: str) -> None:
    once = places.normalize(text)
    assert once is None or places.normalize(once) == once
    for form in ("NFC", "NFD"):
        assert places.normalize(unicodedata.normalize(form, text)) == once  # type: ignore[arg-type]
    if once is not None:
        assert once == unicodedata.normalize("NFC", once)
        assert "," not in once
        assert not any(letter.isspace() for letter in once)


@given(st.text(), st.text())
def test_what_an_entity_id_was_made_of_can_be_found_again(section: str, label: str) -> None:
    made = places.entity_id(section, label)
    assert made.startswith(section + ":")
    if section and ":" not in section:
        assert places.section_of(made) == section
