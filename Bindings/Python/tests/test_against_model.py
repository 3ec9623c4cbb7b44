"""The library against the model, on what a backend sent for 266 towns of five countries."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from helpers import HOUR, Clock, portion_of, text
from model import Model

import satchel


def probes(location: Dict[str, Any]) -> Dict[str, Dict[str, Any]]:
    """A delivered location, and where else a person may be."""
    here = {key: value for key, value in location.items() if key not in ("latitude", "longitude")}
    return {
        "exact": location,
        "20 metres away": {**location, "latitude": location["latitude"] + 0.0002},
        "without coordinates": here,
        "a quarter of the town": {**here, "sublocality": "Harbour"},
        "another town of the region": {**here, "locality": "Nowhere"},
        "another region": {**here, "admin_area": "Elsewhere", "locality": "Nowhere"},
        "the same town's name in another region": {**here, "admin_area": "Elsewhere"},
        "the country": {"country_code": location["country_code"].lower()},
        "another country": {**here, "country_code": "ZZ"},
        "the sea": {"latitude": 0.5, "longitude": -30},
    }


PROBES = tuple(probes({"latitude": 0, "longitude": 0, "country_code": "XX"}))


@pytest.fixture(scope="module")
def world(deliveries: List[Dict[str, Any]]) -> Iterator[Tuple[satchel.Store, Model, Clock]]:
    """All deliveries, in a store and in the model, a second apart."""
    clock = Clock()
    model = Model(clock)
    with satchel.open(":memory:", clock=clock) as store:
        for delivery in deliveries:
            clock.advance(1000)
            store.catalogue.deliver(delivery)
            model.deliver(delivery)
        yield store, model, clock
        assert store.check() == []


def compare(catalogue: satchel.Catalogue, model: Model, location: Dict[str, Any]) -> int:
    """Compares all that can be asked for a location; gives how many sections there were."""
    headers = catalogue.sections(location, nearby=0)
    expected = model.headers(location)
    assert {
        header.section: {name: getattr(header, name) for name in expected[header.section]}
        for header in headers
    } == expected
    plans = {
        name: {state: sorted(getattr(plan, state)) for state in ("fresh", "expired", "missing")}
        for name, plan in catalogue.plan(location, nearby=0).items()
    }
    assert plans == model.plan(location)
    assert catalogue.has_cached(location, nearby=0) == model.has_cached(location)
    shown = [header.section for header in headers]
    for name in ("country", "region", "places", "here"):
        loaded = catalogue.load(location, name, nearby=0)
        if name not in shown:
            assert loaded is None, name
            continue
        assert loaded is not None, name
        assert loaded.level == expected[name]["level"]
        assert loaded.missing == []
        assert sorted(loaded.expired) == plans[name]["expired"]
        everything = catalogue.load(location, name, allow_expired=True, nearby=0)
        assert everything is not None
        assert text(everything.content) == text(model.content(location, name, allow_expired=True))
        if not loaded.expired:
            assert text(loaded.content) == text(model.content(location, name))
    return len(headers)


@pytest.mark.parametrize("where", PROBES)
def test_a_location_sees_what_the_model_sees(
    world: Tuple[satchel.Store, Model, Clock], deliveries: List[Dict[str, Any]], where: str
) -> None:
    store, model, _ = world
    compared = portion_of(deliveries, parts=45)
    seen = sum(compare(store.catalogue, model, probes(delivery["location"])[where]) for delivery in compared)
    # The model could be as blind as the library: say what each kind of place sees at all.
    assert seen >= len(compared)


def test_places_further_away_see_less_and_never_what_is_not_theirs(
    world: Tuple[satchel.Store, Model, Clock], deliveries: List[Dict[str, Any]]
) -> None:
    store, _, _ = world
    location = deliveries[0]["location"]
    seen = {
        where: [header.section for header in store.catalogue.sections(probe, nearby=0)]
        for where, probe in probes(location).items()
    }
    assert seen["exact"] == ["country", "region", "places", "here"]
    assert seen["20 metres away"] == ["country", "region", "places", "here"]
    assert seen["another town of the region"] == ["country", "region", "places"]
    assert "country" in seen["another region"]
    assert "region" not in seen["another region"]
    near = store.catalogue.load(probes(location)["20 metres away"], "here", nearby=0)
    assert near is not None
    # The note without `_storage` was for the exact place; the city's own entity is still there.
    assert len(near.content["items"]) == 1
    assert near.level == "locality"


@pytest.mark.parametrize("hours", portion_of([24, 168, 336, 720], parts=2))
def test_expiry_is_as_the_model_says(deliveries: List[Dict[str, Any]], hours: int) -> None:
    clock = Clock()
    model = Model(clock)
    with satchel.open(":memory:", clock=clock) as store:
        for delivery in deliveries[:20]:
            clock.advance(1000)
            store.catalogue.deliver(delivery)
            model.deliver(delivery)
        clock.advance(hours * HOUR + 1)
        for delivery in deliveries[:20]:
            for where in ("exact", "20 metres away", "another town of the region"):
                compare(store.catalogue, model, probes(delivery["location"])[where])
        assert any(plan.expired for plan in store.catalogue.plan(deliveries[0]["location"]).values())


@pytest.mark.parametrize("seed", portion_of(range(3), parts=3))
def test_a_screen_keeps_its_sections_while_a_delivery_streams_in(
    deliveries: List[Dict[str, Any]], seed: int, tmp_path: Path
) -> None:
    """Deliveries arrive in pieces, mixed with those of other places, and the app is started again."""
    chance = random.Random(seed)
    clock = Clock()
    model = Model(clock)
    waiting = [
        {"location": each["location"], "sections": list(each["sections"])}
        for each in chance.sample(deliveries, 25)
    ]
    path = tmp_path / "guide.satchel"
    store = satchel.open(path, clock=clock)
    while waiting:
        delivery = chance.choice(waiting)
        count = chance.randint(1, len(delivery["sections"]))
        piece = {**delivery, "sections": delivery["sections"][:count]}
        del delivery["sections"][:count]
        complete = not delivery["sections"] and chance.random() < 0.2
        before = {header.section for header in store.catalogue.sections(delivery["location"], nearby=0)}
        clock.advance(1000)
        store.catalogue.deliver(piece, complete=complete)
        model.deliver(piece, complete=complete)
        if not delivery["sections"]:
            waiting.remove(delivery)
        if chance.random() < 0.1:
            store.close()
            store = satchel.open(path, clock=clock)
        after = {header.section for header in store.catalogue.sections(delivery["location"], nearby=0)}
        assert complete or before <= after
        for probe in probes(delivery["location"]).values():
            compare(store.catalogue, model, probe)
    assert store.check() == []
    store.close()
