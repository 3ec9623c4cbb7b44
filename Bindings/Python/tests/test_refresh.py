"""Refreshing the catalogue from a source of the host."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, Dict, List

import pytest
from helpers import SHANGHAI

import satchel
import satchel.aio
from satchel import ContentRequest, Fetched, Retry, Store
from satchel.remote import NOT_MODIFIED

#: The time of the store's clock in Unix milliseconds.
CLOCK = 1_704_067_200_000


def section(value: int, hours: int = 1) -> Dict[str, Any]:
    tag = {"entity_id": "weather:now", "scope": "locality", "ttl_hours": hours}
    return {"section": "weather", "content": {"now": {"t": value, "_storage": tag}}}


def test_a_report_says_what_was_stored_and_what_was_not(store: Store) -> None:
    asked: List[ContentRequest] = []

    def source(request: ContentRequest) -> Any:
        asked.append(request)
        return Fetched(section(len(asked)), etag="a", max_age=60) if len(asked) == 1 else NOT_MODIFIED

    catalogue = store.catalogue
    report = catalogue.refresh(SHANGHAI, source=source)
    assert report.refreshed == ["weather"]
    assert report.requests == 1
    assert report.bytes > 0
    assert [each.reason for each in catalogue.refresh(SHANGHAI, source=source).skipped] == ["fresh"]
    forced = catalogue.refresh(SHANGHAI, ["weather"], source=source, force=True)
    assert forced.unchanged == ["weather"]
    assert asked[1].etag == "a"
    assert asked[1].section == "weather"
    network = catalogue.refresh(SHANGHAI, source=source, force=True, network=lambda: "none")
    assert [(each.section, each.reason) for each in network.skipped] == [(None, "network")]


def test_a_failure_has_the_exception_and_the_time_of_the_next_request(store: Store) -> None:
    def source(request: ContentRequest) -> Any:
        raise Retry(120, "maintenance")

    report = store.catalogue.refresh(SHANGHAI, ["weather"], source=source)
    (failure,) = report.failed
    assert failure.section == "weather"
    assert "maintenance" in failure.message
    assert isinstance(failure.error, Retry)
    assert failure.retry_at >= CLOCK + 120_000
    assert store.catalogue.refresh(SHANGHAI, ["weather"], source=source, force=True).requests == 0
    with pytest.raises(satchel.Unavailable, match="not to be asked yet"):
        store.catalogue.load_from(SHANGHAI, "weather", source=source)


def test_a_load_returns_what_is_stored_and_notifies_of_the_answer(store: Store) -> None:
    catalogue = store.catalogue
    found = catalogue.load_from(SHANGHAI, "weather", source=lambda _: section(1))
    assert found is not None
    assert found.content["now"]["t"] == 1
    changed = threading.Event()
    with store.observe(lambda _: changed.set()):
        later = catalogue.load_from(
            SHANGHAI, "weather", source=lambda _: section(2), force=True, network=lambda: "free"
        )
        assert later is not None
        assert later.content["now"]["t"] == 1
        assert changed.wait(60)
    loaded = catalogue.load(SHANGHAI, "weather")
    assert loaded is not None
    assert loaded.content["now"]["t"] == 2


def test_a_session_with_a_source_shows_its_answers(store: Store) -> None:
    answers = iter([section(1), section(2)])
    reached = threading.Event()

    def hear(event: Dict[str, Any]) -> None:
        reached.set()

    with store.catalogue.session(hear, source=lambda _: next(answers), network=lambda: "free") as session:

        def wait_for(value: int) -> None:
            for _ in range(6000):
                state = session.state()
                shown = [each.content["now"]["t"] for each in state.sections if each.state == "loaded"]
                if shown == [value] and not state.refreshing:
                    assert state.error is None
                    return
                reached.wait(0.01)
                reached.clear()
            raise AssertionError(f"{value} was never shown: {session.state()}")

        session.show(SHANGHAI)
        session.load("weather")
        wait_for(1)
        session.refresh()
        wait_for(2)


def test_an_asynchronous_store_awaits_the_source(tmp_path: Path) -> None:
    async def run() -> None:
        async with satchel.aio.open(tmp_path / "app.satchel") as store:

            async def source(request: ContentRequest) -> Any:
                await asyncio.sleep(0)
                return section(1)

            report = await store.catalogue.refresh(SHANGHAI, source=source)
            assert report.refreshed == ["weather"]

    asyncio.run(run())
