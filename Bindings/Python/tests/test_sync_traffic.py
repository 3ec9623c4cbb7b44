"""The costs of a synchronization with a real S3 store: requests and bytes, as a proxy before it counts them.

Each count is compared with the report's, too. `make test-s3` runs these tests beside other stores.
"""

from __future__ import annotations

import json
import threading
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from helpers import Clock

import satchel
from satchel import StoreSyncReport
from satchel.remote import S3

Told = Dict[str, Any]
Request = Dict[str, Any]
USER = "ada"
COLLECTIONS = ["authors", "books", "courses", "loans", "notes", "readers"]


class Device:
    """A store with six collections and state."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self.clock = Clock()
        self.store = satchel.open(path, clock=self.clock)
        self.collections = [self.store.records(name) for name in COLLECTIONS]
        self.visits = self.store.state.list("visits", synced=True)
        self.score = self.store.state.scores("reading", maximum=1e9, synced=True)

    def documents(self) -> List[Dict[str, bytes]]:
        return [
            {record: text for record in each.ids() if (text := each.text(record)) is not None}
            for each in self.collections
        ]

    def state(self) -> Tuple[Any, ...]:
        return self.visits.values(), self.score.value("minutes"), self.store.state.get("theme")

    def change(self, count: int) -> None:
        """Small changes of all kinds: of records in every collection, and of the state."""
        self.clock.advance(1000)
        state = self.store.state
        state.set("theme", {"name": "dark", "by": self.name, "at": self.clock.now}, synced=True)
        self.visits.push(f"{self.name} at {self.clock.now}")
        self.score.add("minutes", 5)
        for each in range(count - 3):
            self.collections[each % 6].put(f"changed-{each}", {"by": self.name, "at": self.clock.now})


class Line:
    """The bucket behind the proxy, and what the proxy has seen of a synchronization."""

    def __init__(self, told: Told, prefix: str) -> None:
        self.admin: str = told["admin"]
        self.remote = S3(**{**told["store"], "endpoint": told["proxy"], "prefix": prefix})

    def ask(self, faults: List[Dict[str, Any]]) -> None:
        """Sets the faults of the next requests, and forgets those seen."""
        with urllib.request.urlopen(f"{self.admin}/?{urllib.parse.quote(json.dumps(faults))}", timeout=10):
            pass

    def seen(self) -> List[Request]:
        with urllib.request.urlopen(self.admin, timeout=10) as answer:
            found: List[Request] = json.load(answer)
            return found

    def sync(self, device: Device) -> Tuple[StoreSyncReport, List[Request]]:
        """Synchronizes, compares the report with what was seen, and returns both, without the probe."""
        self.ask([])
        report = device.store.sync(self.remote, USER)
        assert report.ok
        found = counted(self.seen())
        assert report.requests == len(found), [(each["method"], each["path"]) for each in found]
        assert report.bytes_up == sum(each["body_up"] for each in found)
        # A server's text about a failure is no content.
        assert report.bytes_down == sum(each["body_down"] for each in found if each["status"] < 300)
        # The probe of a store is once a month, and not counted.
        return report, [each for each in found if "condition-probe-" not in each["path"]]


def counted(seen: List[Request]) -> List[Request]:
    """Without the two requests that find out, once a remote, that a server expects ETags without quotes.

    They are in no report.
    """
    found: List[Request] = []
    for each in seen:
        if [(one["method"], one["status"]) for one in found[-2:]] == [("PUT", 412), ("HEAD", 200)]:
            del found[-2:]
        found.append(each)
    return found


@pytest.fixture
def line(told: Told, prefix: str) -> Iterator[Line]:
    line = Line(told, prefix)
    yield line
    line.ask([])
    line.remote.close()


@pytest.fixture
def pair(tmp_path: Path, line: Line) -> Iterator[List[Device]]:
    """Two devices that agree about 600 records and some state, each of which has written before."""
    pair = [Device(tmp_path / f"device-{each}.satchel") for each in range(2)]
    for each in pair[0].collections:
        each.put_many({f"r{number}": {"text": f"Text {number}. " * 20} for number in range(100)})
    for device in (*pair, *pair):
        device.change(9)
        line.sync(device)
    line.sync(pair[0])
    agree(pair)
    yield pair
    for device in pair:
        assert device.store.check() == []
        device.store.close()


def agree(pair: List[Device]) -> None:
    assert pair[0].documents() == pair[1].documents()
    assert pair[0].state() == pair[1].state()


def test_nothing_changed_is_one_request_of_less_than_a_kilobyte(pair: List[Device], line: Line) -> None:
    for device in pair:
        report, seen = line.sync(device)
        assert report.unchanged
        assert [(each["method"], each["status"]) for each in seen] == [("GET", 304)]
        assert (report.bytes_up, report.bytes_down) == (0, 0)
        # Heads included, of both directions.
        assert seen[0]["up"] + seen[0]["down"] <= 1000


def test_thirty_small_changes_are_two_requests(pair: List[Device], line: Line) -> None:
    one, other = pair
    for device, reader in ((one, other), (other, one)):
        device.change(30)
        report, seen = line.sync(device)
        assert [each["method"] for each in seen] == ["GET", "PUT"]
        assert report.records.uploaded + report.state.uploaded == 30
        # The entries of the last commits are sent again, as long as all are less than 16 KiB.
        assert seen[1]["up"] < 30_000
        report, seen = line.sync(reader)
        assert [each["method"] for each in seen] == ["GET"]
        assert report.records.downloaded + report.state.downloaded == 30
        agree(pair)


def test_ten_thousand_new_records_are_some_requests(pair: List[Device], line: Line) -> None:
    one, other = pair
    texts = {f"new-{each}": f"{each * 7919:08d} " * 25 for each in range(10_000)}
    one.collections[2].put_many({id: {"id": id, "text": text} for id, text in texts.items()})
    report, up = line.sync(one)
    assert report.records.uploaded == 10_000
    assert len(up) <= 12
    live = sum(len(text) for each in one.documents() for text in each.values())
    # Envelopes have some 200 bytes besides the document.
    assert report.bytes_up <= 1.5 * (live + 200 * 10_700)
    report, down = line.sync(other)
    assert report.records.downloaded == 10_000
    assert len(down) <= 12
    agree(pair)


def test_a_lost_race_is_three_more_requests_at_most(pair: List[Device], line: Line) -> None:
    one, other = pair
    one.change(12)
    other.change(7)
    # The second request of the one, which writes the head, waits until the other is done.
    line.ask([{"fault": "pass"}, {"fault": "hold"}])
    reports: List[StoreSyncReport] = []
    racing = threading.Thread(target=lambda: reports.append(one.store.sync(line.remote, USER)))
    racing.start()
    while len(line.seen()) < 2:
        assert racing.is_alive()
    assert [each["fault"] for each in line.seen()] == ["pass", "hold"]
    assert other.store.sync(line.remote, USER).requests == 2
    before = line.seen()
    assert [each["method"] for each in before] == ["GET", "PUT", "GET", "PUT"]
    line.ask([])
    racing.join()
    [report] = reports
    assert report.ok
    # The head that won is read, with a pack at most, and the second attempt made: 3 more than 2.
    after = [each["method"] for each in line.seen()]
    assert after in (["GET", "PUT"], ["GET", "GET", "PUT"])
    assert report.requests == 2 + len(after)
    line.sync(other)
    agree(pair)
