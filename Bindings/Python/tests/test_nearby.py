"""Levels that are resolved by distance."""

from __future__ import annotations

import math
import random
from typing import Any, Dict, List

import pytest
from helpers import section, storage

import satchel


def town(latitude: float, longitude: float, name: str) -> Dict[str, Any]:
    return {"latitude": latitude, "longitude": longitude, "locality": name, "country_code": "FR"}


PARIS = town(48.8566, 2.3522, "Paris")
ELEVEN_METRES_NORTH = {"latitude": 48.8567, "longitude": 2.3522}


@pytest.fixture
def paris(catalogue: satchel.Catalogue) -> satchel.Catalogue:
    catalogue.persist(
        PARIS,
        section(
            {
                "Bread": {"v": 1, **storage("food:bread", "locality")},
                "Here": {"v": 2, **storage("food:here", "coordinate")},
            },
            "food",
        ),
    )
    return catalogue


def test_what_is_shown_can_be_looked_up(paris: satchel.Catalogue) -> None:
    for entity_id in ("food:bread", "food:here"):
        assert paris.entity(entity_id, PARIS) is not None
    bread = paris.entity("food:bread", ELEVEN_METRES_NORTH)
    assert bread is not None
    assert bread.content == {"v": 1}
    here = paris.entity("food:here", ELEVEN_METRES_NORTH)
    assert here is not None
    assert here.location == PARIS
    assert here.distance is not None
    assert 11 < here.distance < 12
    assert paris.entity("food:bread", ELEVEN_METRES_NORTH, nearby=10) is None
    assert paris.entity("food:bread", ELEVEN_METRES_NORTH, nearby=0) is None
    with pytest.raises(satchel.InvalidArgument):
        paris.entity("food:bread", ELEVEN_METRES_NORTH, nearby=-1)


def test_eleven_metres_from_delivered_content_it_is_found(paris: satchel.Catalogue) -> None:
    [header] = paris.sections(ELEVEN_METRES_NORTH)
    assert (header.section, header.level, header.entity_count) == ("food", "coordinate", 2)
    assert list(header.resolved) == ["coordinate", "locality", "country"]
    location, metres_away = header.resolved["locality"]
    assert location == PARIS
    assert 11 < metres_away < 12
    loaded = paris.load(ELEVEN_METRES_NORTH, "food")
    assert loaded is not None
    assert loaded.content == {"Bread": {"v": 1}, "Here": {"v": 2}}
    assert loaded.resolved == header.resolved
    assert paris.plan(ELEVEN_METRES_NORTH)["food"].fresh == ["food:bread", "food:here"]
    assert paris.has_cached(ELEVEN_METRES_NORTH) == "inherited"
    with paris.session() as session:
        session.show(ELEVEN_METRES_NORTH)
        [shown] = session.state().sections
        assert shown.resolved == header.resolved
    [own] = paris.sections(PARIS)
    assert own.resolved == {}


@pytest.mark.parametrize("distance", [0, 11])
def test_not_beyond_the_distance(paris: satchel.Catalogue, distance: float) -> None:
    assert paris.sections(ELEVEN_METRES_NORTH, nearby=distance) == []
    assert paris.load(ELEVEN_METRES_NORTH, "food", nearby=distance) is None
    assert paris.plan(ELEVEN_METRES_NORTH, nearby=distance) == {}
    assert paris.has_cached(ELEVEN_METRES_NORTH, nearby=distance) is None


def test_a_user_far_away_finds_nothing(paris: satchel.Catalogue) -> None:
    lyon = {"latitude": 45.764, "longitude": 4.8357}
    assert paris.sections(lyon) == []
    assert paris.locate(45.764, 4.8357) == []
    [found] = paris.locate(45.764, 4.8357, within=400_000)
    assert found.location == PARIS
    assert 390_000 < found.distance < 394_000


@pytest.mark.parametrize(
    "arguments",
    [(91, 0), (0, 181), (math.nan, 0), (0, 0, -1), (0, 0, math.nan), ("0", 0), (0, None), (True, 0)],
)
def test_arguments_that_are_no_position(catalogue: satchel.Catalogue, arguments: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        catalogue.locate(*arguments)


@pytest.mark.parametrize("nearby", [-1, math.nan, "far", None])
def test_a_value_that_is_no_distance(catalogue: satchel.Catalogue, nearby: Any) -> None:
    with pytest.raises(satchel.InvalidArgument, match="nearby"):
        catalogue.sections(PARIS, nearby=nearby)


def metres(one: Dict[str, Any], latitude: float, longitude: float) -> float:
    """The distance on a sphere, by the law of cosines: another formula than the library's."""
    a, b = math.radians(one["latitude"]), math.radians(latitude)
    cosine = math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(
        math.radians(longitude - one["longitude"])
    )
    return 6_371_008.8 * math.acos(max(-1.0, min(1.0, cosine)))


def test_locate_lists_what_a_plain_scan_does(
    catalogue: satchel.Catalogue, deliveries: List[Dict[str, Any]]
) -> None:
    chance = random.Random(1)
    for delivery in deliveries:
        catalogue.deliver(delivery)
    places = {str(each["location"]): each["location"] for each in deliveries}.values()
    for delivery in chance.sample(deliveries, 40):
        latitude = delivery["location"]["latitude"] + chance.uniform(-0.2, 0.2)
        longitude = delivery["location"]["longitude"] + chance.uniform(-0.2, 0.2)
        found = catalogue.locate(latitude, longitude, within=60_000)
        expected = sorted(metres(each, latitude, longitude) for each in places)
        assert [near.distance for near in found] == sorted(near.distance for near in found)
        assert [near.distance for near in found] == pytest.approx(
            [distance for distance in expected if distance <= 60_000], abs=0.5
        )


def test_entities_near_a_point(paris: satchel.Catalogue) -> None:
    found = paris.near_entities(48.8567, 2.3522)
    assert [each.entity_id for each in found] == ["food:bread", "food:here"]
    assert [each.location for each in found] == [PARIS, PARIS]
    assert found[0].distance is not None
    assert 11 < found[0].distance < 12
    assert paris.near_entities(48.8567, 2.3522, within=11) == []
    assert paris.near_entities(48.8567, 2.3522, section="sights") == []
    with pytest.raises(satchel.InvalidArgument, match="within"):
        paris.near_entities(48.8567, 2.3522, within=-1)
    with pytest.raises(satchel.InvalidArgument):
        paris.near_entities(91, 0)


def test_a_name_in_another_language_hides_nothing(paris: satchel.Catalogue) -> None:
    for names in (
        {"locality": "Parigi", "country_code": "FR"},
        {"locality": "Parigi"},
        {"country_code": "FR"},
    ):
        loaded = paris.load({**ELEVEN_METRES_NORTH, **names}, "food")
        assert loaded is not None
        assert loaded.content == {"Bread": {"v": 1}, "Here": {"v": 2}}
    assert paris.load({**ELEVEN_METRES_NORTH, "country_code": "IT"}, "food") is None
