"""Records that expire, by a time in their documents or some time after their latest write."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Optional

import pytest

import satchel

START = 1_800_000_000_000


class FakeClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


@dataclass
class Offer:
    title: str
    end: Optional[datetime] = None


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def aging(clock):
    with satchel.open(":memory:", clock=clock) as store:
        yield store


def test_until_a_time_of_the_document(aging, clock):
    offers = aging.records("offers", of=Offer, ttl="end")
    end = datetime.fromtimestamp(START / 1000 + 60, timezone.utc)
    offers.put("soup", Offer("Soup", end))
    offers.put("bread", Offer("Bread"))
    assert len(offers) == 2
    clock.now += 59_999
    assert offers["soup"].title == "Soup"
    clock.now += 1
    assert "soup" not in offers
    assert [each.id for each in offers.list()] == ["bread"]
    assert offers.list(where={"title": "Soup"}) == []
    with pytest.raises(KeyError):
        offers["soup"]
    info = aging.collections()[0]
    assert (info.ttl, info.synced) == ("end", False)


def test_after_the_latest_write(aging, clock):
    cache = aging.records("cache", ttl=timedelta(minutes=1))
    assert aging.collections()[0].ttl == 60
    cache.put("a", {"n": 1})
    clock.now += 59_000
    cache.put("a", {"n": 2})
    clock.now += 59_000
    assert cache.get("a") == {"n": 2}
    clock.now += 1000
    assert cache.get("a") is None
    assert cache.put("a", {"n": 3}, if_revision=0) > 0


@pytest.mark.parametrize(
    ("ttl", "reason"),
    [
        (timedelta(seconds=0.5), "a whole number of seconds, not 0.5"),
        (timedelta(0), "/ttl: must be a path, or a number of seconds"),
        (True, "not bool"),
        (1.5, "not float"),
        ("ends", 'did you mean "end"'),
        ("title", "is declared as text"),
    ],
)
def test_what_is_refused(aging, ttl, reason):
    types = {"title": "text"}
    with pytest.raises(satchel.InvalidArgument, match=reason):
        aging.records("offers", of=Offer, ttl=ttl, types=types)


def test_a_collection_that_expires_is_not_synchronized(aging):
    with pytest.raises(satchel.InvalidArgument, match="declare it with synced=false"):
        aging.records("offers", ttl=60, synced=True)
    aging.records("offers", ttl=60)
    with pytest.raises(satchel.InvalidArgument, match="cascade or nullify"):
        aging.records("orders", relations={"offer": "offers"})
    aging.records("orders", relations={"offer": satchel.records.Relation("offers", "cascade")})
