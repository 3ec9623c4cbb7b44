"""Delivered content expires, is renewed, and is found by an id alone."""

from __future__ import annotations

import pytest
from helpers import HOUR, Clock, section, storage

import satchel
from satchel import places

TOWN = {"locality": "Shanghai", "country_code": "CN"}


def weather(hours: float = 1) -> satchel.SectionPayload:
    return section({"Now": {"t": 1, **storage("weather:now", "locality", hours)}}, "weather")


def test_a_source_that_answers_not_modified(catalogue: satchel.Catalogue, clock: Clock) -> None:
    start = clock()
    catalogue.persist(TOWN, weather(), etag="a")
    clock.advance(2 * HOUR)
    assert catalogue.plan(TOWN)["weather"].expired == ["weather:now"]
    assert catalogue.renew(TOWN, "weather") == 1
    plan = catalogue.plan(TOWN)["weather"]
    assert (plan.fresh, plan.etag, plan.fetched_at) == (["weather:now"], "a", clock())
    assert catalogue.renew(TOWN, etag="b", max_age=60) == 1
    [header] = catalogue.sections(TOWN)
    assert (header.etag, header.fetched_at, header.updated_at) == ("b", clock(), start)
    assert not header.stale
    clock.advance(60_000)
    assert catalogue.sections(TOWN)[0].stale
    [context] = catalogue.contexts(location=TOWN)
    assert (context.etag, context.created_at, context.updated_at) == ("b", start, start)
    assert catalogue.renew({"country_code": "CN"}) == 0
    assert catalogue.contexts(location={"country_code": "CN"}) == []
    for age in (-1, float("inf")):
        with pytest.raises(satchel.InvalidArgument, match="max_age"):
            catalogue.renew(TOWN, max_age=age)


def test_what_was_loaded_can_be_persisted(catalogue: satchel.Catalogue, clock: Clock) -> None:
    catalogue.persist(TOWN, weather())
    clock.advance(2 * HOUR)
    for storage_too in (True, False):
        loaded = catalogue.load(TOWN, "weather", allow_expired=True, storage=storage_too)
        assert loaded is not None
        assert ("_storage" in loaded.content["Now"]) == storage_too
        receipt = catalogue.persist(TOWN, section(loaded.content, "weather"))
        assert (receipt.updated, receipt.reused, receipt.inline, receipt.detached) == (0, 1, 0, [])
        assert [each.entity_count for each in catalogue.sections(TOWN)] == [1]
    assert catalogue.persist(TOWN, section({"Now": 1}, "weather")).detached == ["weather:now"]


def test_an_id_alone_leads_to_an_entity(catalogue: satchel.Catalogue, clock: Clock) -> None:
    catalogue.persist(TOWN, weather())
    entity = catalogue.entity("weather:now")
    assert entity is not None
    assert (entity.content, entity.location, entity.distance) == ({"t": 1}, TOWN, None)
    clock.advance(1)
    beijing = {"locality": "Beijing", "country_code": "CN"}
    catalogue.persist(beijing, weather())
    assert [each.location for each in catalogue.variants("weather:now")] == [beijing, TOWN]
    assert catalogue.variants("weather:none") == []
    assert catalogue.entity("weather:none") is None


def test_a_complete_delivery_is_all_there_is(catalogue: satchel.Catalogue) -> None:
    catalogue.deliver({"location": TOWN, "sections": [weather(), section({"n": 1}, "news")]}, etag="e")
    assert [each.etag for each in catalogue.sections(TOWN)] == ["e", "e"]
    catalogue.deliver({"location": TOWN, "sections": [weather()]}, complete=True)
    assert [each.section for each in catalogue.sections(TOWN)] == ["weather"]
    assert catalogue.contexts()[0].complete
    catalogue.deliver({"location": TOWN, "sections": [weather()]})
    assert not catalogue.contexts()[0].complete


def test_the_levels_as_a_list() -> None:
    assert places.levels() == ["coordinate", "sublocality", "locality", "adminarea", "country"]
    assert places.levels(TOWN) == ["locality", "country"]
    with pytest.raises(satchel.InvalidArgument):
        places.levels({})
