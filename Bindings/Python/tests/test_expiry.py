from __future__ import annotations

from dataclasses import replace
from typing import Any, Dict

import pytest
from helpers import HOUR, SHANGHAI, Clock, section, storage

import satchel

PUDONG = {**SHANGHAI, "sublocality": "Pudong"}


def two_lifetimes() -> Dict[str, Any]:
    return section(
        {
            "title": "Eat",
            "items": [
                {"name": "short", **storage("cuisine:short", hours=1)},
                {"note": "inline"},
                {"name": "long", **storage("cuisine:long", hours=48)},
            ],
        }
    )


def loaded(catalogue: satchel.Catalogue, **options: bool) -> satchel.Section:
    found = catalogue.load(SHANGHAI, "cuisine", **options)
    assert found is not None
    return found


def test_an_expired_entity_is_left_out_and_named(catalogue: satchel.Catalogue, clock: Clock) -> None:
    catalogue.persist(SHANGHAI, two_lifetimes())
    clock.advance(HOUR - 1)
    assert loaded(catalogue).expired == []
    clock.advance(2)
    now = loaded(catalogue)
    assert now.expired == ["cuisine:short"]
    assert now.missing == []
    assert now.content == {"title": "Eat", "items": [{"note": "inline"}, {"name": "long"}]}


def test_an_expired_entity_is_kept_on_request_and_still_named(
    catalogue: satchel.Catalogue, clock: Clock
) -> None:
    catalogue.persist(SHANGHAI, two_lifetimes())
    clock.advance(HOUR + 1)
    now = loaded(catalogue, allow_expired=True)
    assert now.expired == ["cuisine:short"]
    assert now.content == {"title": "Eat", "items": [{"name": "short"}, {"note": "inline"}, {"name": "long"}]}


def test_an_expired_entity_of_the_nested_form_is_left_out_with_its_key(
    catalogue: satchel.Catalogue, clock: Clock
) -> None:
    content = {"A": {"v": 1, **storage("cuisine:a", hours=1)}, "B": {"v": 2, **storage("cuisine:b")}}
    catalogue.persist(SHANGHAI, section(content))
    clock.advance(HOUR + 1)
    assert loaded(catalogue).content == {"B": {"v": 2}}


def test_the_default_lifetime_is_a_week_and_fractions_of_hours_count(
    catalogue: satchel.Catalogue, clock: Clock
) -> None:
    content = {"A": storage("cuisine:week"), "B": storage("cuisine:half", hours=0.5)}
    catalogue.persist(SHANGHAI, section(content))
    for entity_id, hours in (("cuisine:week", 168), ("cuisine:half", 0.5)):
        entity = catalogue.entity(entity_id, SHANGHAI)
        assert entity is not None
        assert entity.updated_at == clock.now
        assert entity.expires_at == clock.now + hours * HOUR


def test_an_expired_entity_is_kept_until_it_is_pruned(catalogue: satchel.Catalogue, clock: Clock) -> None:
    catalogue.persist(SHANGHAI, two_lifetimes())
    clock.advance(10_000 * HOUR)
    assert loaded(catalogue, allow_expired=True).content["items"][0] == {"name": "short"}
    assert catalogue.plan(SHANGHAI)["cuisine"].expired == ["cuisine:short", "cuisine:long"]


def test_the_plan_says_what_to_fetch(catalogue: satchel.Catalogue, clock: Clock) -> None:
    assert catalogue.plan(SHANGHAI) == {}
    catalogue.persist(SHANGHAI, two_lifetimes())
    start, both = clock(), ["cuisine:short", "cuisine:long"]
    plan = satchel.Plan(fresh=both, expired=[], missing=[], fetched_at=start, etag=None)
    assert catalogue.plan(SHANGHAI) == {"cuisine": plan}
    clock.advance(HOUR + 1)
    plan = replace(plan, fresh=["cuisine:long"], expired=["cuisine:short"])
    assert catalogue.plan(SHANGHAI) == {"cuisine": plan}
    catalogue.prune()
    plan = replace(plan, expired=[], missing=["cuisine:short"])
    assert catalogue.plan(SHANGHAI) == {"cuisine": plan}
    # A quarter of the town inherits the plan with the content.
    assert catalogue.plan(PUDONG) == {"cuisine": plan}
    assert loaded(catalogue).missing == ["cuisine:short"]


def test_the_same_content_again_renews_its_expiry(catalogue: satchel.Catalogue, clock: Clock) -> None:
    catalogue.persist(SHANGHAI, two_lifetimes())
    clock.advance(2 * HOUR)
    receipt = catalogue.persist(SHANGHAI, two_lifetimes())
    assert (receipt.saved, receipt.updated, receipt.reused) == (0, 0, 2)
    assert receipt.shared_bytes > 0
    assert loaded(catalogue).expired == []
    entity = catalogue.entity("cuisine:short", SHANGHAI)
    assert entity is not None
    assert entity.expires_at == clock.now + HOUR


def test_changed_content_is_updated_and_still_counts_as_one_copy(catalogue: satchel.Catalogue) -> None:
    def sent(price: int) -> Dict[str, Any]:
        return section({"A": {"price": price, **storage("cuisine:a")}})

    assert catalogue.persist(SHANGHAI, sent(1)).saved == 1
    receipt = catalogue.persist(PUDONG, sent(2))
    assert (receipt.saved, receipt.updated, receipt.reused) == (0, 1, 0)
    # One copy: the city sees what its quarter was sent.
    assert loaded(catalogue).content == {"A": {"price": 2}}


def test_reuse_until_expiry_keeps_a_fresh_copy_untouched(catalogue: satchel.Catalogue, clock: Clock) -> None:
    def sent(price: int) -> Dict[str, Any]:
        return section({"A": {"price": price, **storage("cuisine:a", hours=1)}})

    catalogue.persist(SHANGHAI, sent(1))
    expires_at = clock.now + HOUR
    clock.advance(HOUR // 2)
    receipt = catalogue.persist(SHANGHAI, sent(2), reuse="until_expiry")
    assert (receipt.saved, receipt.updated, receipt.reused) == (0, 0, 1)
    entity = catalogue.entity("cuisine:a", SHANGHAI)
    assert entity is not None
    assert (entity.content, entity.expires_at) == ({"price": 1}, expires_at)
    clock.advance(HOUR)
    receipt = catalogue.persist(SHANGHAI, sent(3), reuse="until_expiry")
    assert (receipt.saved, receipt.updated, receipt.reused) == (0, 1, 0)
    assert loaded(catalogue).content == {"A": {"price": 3}}


def test_a_delivery_can_be_reused_until_expiry_too(catalogue: satchel.Catalogue) -> None:
    first = section({"A": {"price": 1, **storage("cuisine:a")}})
    second = section({"A": {"price": 2, **storage("cuisine:a")}})
    catalogue.deliver({"location": SHANGHAI, "sections": [first]})
    (receipt,) = catalogue.deliver({"location": SHANGHAI, "sections": [second]}, reuse="until_expiry")
    assert receipt.reused == 1
    assert loaded(catalogue).content == {"A": {"price": 1}}


@pytest.mark.parametrize("reuse", ["", "never", None, 0])
def test_an_unknown_way_to_reuse_is_refused(catalogue: satchel.Catalogue, reuse: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        catalogue.persist(SHANGHAI, two_lifetimes(), reuse=reuse)
    assert catalogue.sections(SHANGHAI) == []


def test_a_clock_that_jumps_backwards_loses_nothing(catalogue: satchel.Catalogue, clock: Clock) -> None:
    catalogue.persist(SHANGHAI, two_lifetimes())
    clock.advance(-1000 * HOUR)
    catalogue.prune()
    assert loaded(catalogue).content["items"] == [{"name": "short"}, {"note": "inline"}, {"name": "long"}]
    receipt = catalogue.persist(SHANGHAI, two_lifetimes())
    assert receipt.reused == 2
    assert loaded(catalogue).expired == []
