"""A guide that was refreshed in 2100.

The clock of Ada's phone shows 2100 for a minute. In that minute the app refreshes what is on the screen,
with one section that the backend cannot send, and updates the trip. When the clock is right again, the
backend is not asked more often than before, and content gets old as it did before.
"""

from itertools import pairwise

import pytest
import satchel
from journey import DAY, HOUR, NEW_YEAR, YEAR, Clock
from trips import LYON, MADRID, PORTO, pictures, shown

TRIP = [MADRID, LYON]
#: The shortest times in milliseconds after the fourth failure and the next ones: half of 40 seconds, doubled.
SHORTEST = [20_000, 40_000, 80_000, 160_000, 320_000]


@pytest.mark.parametrize("opened", ["stays open", "is opened again", "is opened in 2100"])
def test_a_guide_gets_old_again_and_asks_no_more_often(device, backend, opened):
    clock = Clock()
    phone = device("phone", clock)
    with satchel.HTTPSource(f"{backend.url}/content") as source:

        def refresh(section):
            return phone.catalogue.refresh(PORTO, [section], source=source)

        def requests(section):
            return sum(each["query"].get("section") == [section] for each in backend.counts["seen"])

        backend.change(cache_control="max-age=3600")
        trip = phone.catalogue.regions.create("trip", TRIP)
        assert trip.download(source).state == "complete"
        assert refresh("cuisine").refreshed == ["cuisine"]
        files = pictures(phone, TRIP)

        # A minute in 2100: everything is old, and is fetched again. One section fails, again and again.
        if opened == "is opened in 2100":
            phone.close()
        clock.now = NEW_YEAR + 73 * YEAR
        if opened == "is opened in 2100":
            phone = device("phone", clock)
            trip = phone.catalogue.regions.get("trip")
        backend.change(version=2)
        broken = {"fault": "status", "code": 503, "section": "sights", "times": 100_000}
        backend.expect(broken)
        assert trip.state == "stale"
        assert refresh("cuisine").refreshed == ["cuisine"]
        assert trip.update(source).refreshed == 2 * len(TRIP)
        assert trip.state == "complete"
        for _ in range(2):
            [failed] = refresh("sights").failed
            assert failed.retry_at > clock.now
            clock.now = failed.retry_at
        assert refresh("sights").failed
        asked = requests("sights")
        assert asked == 3

        # It is right again. For ten minutes the app tries each second.
        clock.now = NEW_YEAR + HOUR
        if opened != "stays open":
            phone.close()
            phone = device("phone", clock)
            trip = phone.catalogue.regions.get("trip")
        times = []
        for _ in range(600):
            if refresh("sights").requests:
                times.append(clock.now)
            clock.wait(1_000)
        assert requests("sights") == asked + len(times)
        gaps = [later - sooner for sooner, later in pairwise(times)]
        assert 3 <= len(gaps) <= len(SHORTEST)
        assert all(gap >= shortest for gap, shortest in zip(gaps, SHORTEST, strict=False)), gaps
        # The third wait begins again when the clock is right.
        assert times[0] >= NEW_YEAR + HOUR + 10_000

        # Content that was fetched in 2100 is fresh for an hour, not until 2100, and expires after a day.
        assert refresh("cuisine").requests == 0
        assert trip.state == "complete"
        clock.wait(HOUR)
        assert refresh("cuisine").requests == 1
        assert phone.catalogue.load(PORTO, "cuisine").expired == []
        clock.wait(25 * HOUR)
        assert len(phone.catalogue.load(PORTO, "cuisine", allow_expired=True).expired) == 2
        assert trip.state == "stale"
        summary = trip.summary()
        assert summary.size.expired == 4 * len(TRIP)
        assert max(summary.created_at, summary.updated_at, summary.downloaded_at) <= clock.now
        backend.change(version=3, reset=True)
        assert trip.update(source).refreshed == 2 * len(TRIP)
        assert trip.state == "complete"
        assert {entity["version"] for each in shown(phone, TRIP).values() for entity in each.values()} == {3}
        assert pictures(phone, TRIP) == files
        assert phone.statistics()["catalogue"]["oldest_fetched_at"] <= clock.now
        clock.wait(2 * DAY)
        assert phone.check() == []
