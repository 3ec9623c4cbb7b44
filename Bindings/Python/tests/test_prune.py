from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, Dict

import pytest
from helpers import HOUR, SHANGHAI, SINGAPORE, SPRINGFIELD_ILLINOIS, Clock, section, storage

import satchel


def sent(name: str, hours: float = 168, scope: str = "locality", size: int = 1) -> Dict[str, Any]:
    return section({"A": {"v": name * size, **storage(f"{name}:a", scope, hours)}}, name)


def missing(catalogue: satchel.Catalogue, location: Dict[str, Any], name: str) -> bool:
    found = catalogue.load(location, name, allow_expired=True)
    assert found is not None
    return found.missing == [f"{name}:a"]


def test_what_has_expired_goes_and_nothing_else(catalogue: satchel.Catalogue, clock: Clock) -> None:
    catalogue.persist(SHANGHAI, sent("short", hours=1))
    catalogue.persist(SHANGHAI, sent("long"))
    assert catalogue.prune().entities == 0
    clock.advance(HOUR + 1)
    receipt = catalogue.prune()
    assert (receipt.entities, receipt.contexts) == (1, 0)
    assert receipt.bytes > 0
    assert missing(catalogue, SHANGHAI, "short")
    assert not missing(catalogue, SHANGHAI, "long")
    assert catalogue.prune().entities == 0


def test_what_was_pruned_is_whole_again_when_it_is_delivered_again(
    catalogue: satchel.Catalogue, clock: Clock
) -> None:
    catalogue.persist(SHANGHAI, sent("short", hours=1))
    clock.advance(HOUR + 1)
    catalogue.prune()
    receipt = catalogue.persist(SHANGHAI, sent("short", hours=1))
    assert receipt.saved == 1
    found = catalogue.load(SHANGHAI, "short")
    assert found is not None
    assert (found.content, found.missing) == ({"A": {"v": "short"}}, [])


def test_nothing_goes_when_nothing_is_named(catalogue: satchel.Catalogue, clock: Clock) -> None:
    catalogue.persist(SHANGHAI, sent("short", hours=1))
    clock.advance(HOUR + 1)
    receipt = catalogue.prune(expired=False)
    assert (receipt.entities, receipt.contexts, receipt.bytes) == (0, 0, 0)
    assert not missing(catalogue, SHANGHAI, "short")


def test_expired_can_be_narrowed(catalogue: satchel.Catalogue, clock: Clock) -> None:
    for location, name, scope in (
        (SHANGHAI, "one", "locality"),
        (SHANGHAI, "two", "country"),
        (SINGAPORE, "three", "locality"),
    ):
        catalogue.persist(location, sent(name, 1, scope))
    clock.advance(HOUR + 1)
    assert catalogue.prune(section="one", scope="country").entities == 0
    assert catalogue.prune(section="one").entities == 1
    assert missing(catalogue, SHANGHAI, "one")
    assert catalogue.prune(scope="COUNTRY").entities == 1
    assert missing(catalogue, SHANGHAI, "two")
    assert catalogue.prune(location=SHANGHAI).entities == 0
    assert catalogue.prune(location=SINGAPORE).entities == 1
    assert missing(catalogue, SINGAPORE, "three")


def test_everything_that_the_narrowing_names_goes_when_neither_is_asked_for(
    catalogue: satchel.Catalogue,
) -> None:
    for location in (SHANGHAI, SINGAPORE):
        for name in ("one", "two"):
            catalogue.persist(location, sent(name))
    assert catalogue.prune(expired=False, section="one", location=SINGAPORE).entities == 1
    assert catalogue.entity("one:a", SINGAPORE) is None
    assert not missing(catalogue, SHANGHAI, "one")
    assert catalogue.prune(expired=False, section="two").entities == 2
    for location in (SHANGHAI, SINGAPORE):
        assert catalogue.entity("two:a", location) is None
    assert catalogue.entity("one:a", SHANGHAI) is not None


def test_what_no_section_refers_to_any_more_goes_on_request(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SHANGHAI, section({"A": storage("x:a"), "B": storage("x:b")}, "x"))
    catalogue.persist(SHANGHAI, section({"B": storage("x:b")}, "x"))
    assert catalogue.entity("x:a", SHANGHAI) is not None
    assert catalogue.prune().entities == 0
    assert catalogue.prune(expired=False, unreferenced=True).entities == 1
    assert catalogue.entity("x:a", SHANGHAI) is None
    assert catalogue.entity("x:b", SHANGHAI) is not None


@pytest.mark.parametrize("unused_for", [timedelta(days=30), 30 * 24 * HOUR, 30.0 * 24 * HOUR])
def test_places_that_no_one_used_go_with_what_only_they_refer_to(
    catalogue: satchel.Catalogue, clock: Clock, unused_for: Any
) -> None:
    month = 30 * 24 * HOUR
    for location in (SHANGHAI, SINGAPORE, SPRINGFIELD_ILLINOIS):
        catalogue.persist(location, section({"A": storage("x:own"), "B": storage("x:all", "global")}, "x"))
    catalogue.set_active_location(SPRINGFIELD_ILLINOIS)
    clock.advance(month - HOUR)
    assert catalogue.prune(expired=False, contexts_unused_for=unused_for).contexts == 0
    assert catalogue.load(SINGAPORE, "x", allow_expired=True) is not None
    clock.advance(2 * HOUR)
    receipt = catalogue.prune(expired=False, contexts_unused_for=unused_for)
    # Singapore was read, Springfield is where the person is.
    assert (receipt.contexts, receipt.entities) == (1, 1)
    assert catalogue.has_cached(SHANGHAI) != "exact"
    assert catalogue.has_cached(SINGAPORE) == "exact"
    assert catalogue.has_cached(SPRINGFIELD_ILLINOIS) == "exact"
    assert catalogue.entity("x:all", SINGAPORE) is not None


def test_a_byte_budget_takes_the_least_recently_used_and_keeps_the_active_location(
    catalogue: satchel.Catalogue, clock: Clock
) -> None:
    locations = [{"locality": f"Town {number}", "country_code": "XX"} for number in range(10)]
    for number, location in enumerate(locations):
        clock.advance(1000)
        catalogue.persist(location, sent(f"s{number}", size=100_000))
    catalogue.set_active_location(locations[0])
    assert catalogue.prune(expired=False, max_bytes=10**9).contexts == 0
    clock.advance(1000)
    assert catalogue.load(locations[1], "s1") is not None
    receipt = catalogue.prune(expired=False, max_bytes=1_200_000)
    kept = [catalogue.has_cached(location) == "exact" for location in locations]
    assert receipt.contexts == kept.count(False) > 0
    assert receipt.bytes >= receipt.contexts * 200_000
    assert kept[0]
    assert kept[1]
    assert kept == [True, True, *sorted(kept[2:])]
    # Whole places of 200,000 bytes each, and no more of them than the budget asked for.
    assert kept.count(True) == 5
    assert receipt.over_budget == 0
    assert receipt.live_bytes is not None
    assert 1_000_000 < receipt.live_bytes <= 1_200_000
    receipt = catalogue.prune(expired=False, max_bytes=150_000)
    assert [catalogue.has_cached(location) == "exact" for location in locations] == [True] + [False] * 9
    assert receipt.live_bytes == 150_000 + receipt.over_budget
    assert receipt.over_budget > 50_000
    assert catalogue.prune().live_bytes is None


def test_the_file_really_shrinks(store: satchel.Store, path: Path, clock: Clock) -> None:
    big = {str(number): {"v": "x" * 10_000, **storage(f"x:{number}", hours=1)} for number in range(300)}
    store.catalogue.persist(SHANGHAI, section(big, "x"))
    before = store.info().file_bytes
    clock.advance(HOUR + 1)
    receipt = store.catalogue.prune()
    assert receipt.entities == 300
    assert receipt.bytes >= 3_000_000
    assert receipt.file_bytes >= 2_000_000
    assert store.info().file_bytes <= before - receipt.file_bytes
    assert path.stat().st_size <= before - 2_000_000


@pytest.mark.parametrize(
    "options",
    [
        {"section": ""},
        {"section": 5},
        {"scope": ""},
        {"scope": "galaxy"},
        {"location": {}},
        {"location": b""},
        {"location": "no JSON"},
        {"contexts_unused_for": -1},
        {"contexts_unused_for": timedelta(days=-1)},
        {"contexts_unused_for": float("nan")},
        {"contexts_unused_for": float("inf")},
        {"contexts_unused_for": "month"},
        {"contexts_unused_for": 2**63},
        {"max_bytes": -1},
        {"max_bytes": 1.5},
        {"max_bytes": 2**64},
    ],
)
def test_an_invalid_option_is_refused_and_takes_nothing(
    catalogue: satchel.Catalogue, clock: Clock, options: Dict[str, Any]
) -> None:
    catalogue.persist(SHANGHAI, sent("short", hours=1))
    clock.advance(HOUR + 1)
    with pytest.raises(satchel.InvalidArgument):
        catalogue.prune(**options)
    assert not missing(catalogue, SHANGHAI, "short")
