from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any, Callable, Dict, List

import pytest
from helpers import SHANGHAI, SINGAPORE, eventually, section, storage

import satchel


def sent(name: str) -> Dict[str, Any]:
    return section({"A": {"v": name, **storage(f"{name}:a")}}, name)


def states(session: satchel.Session) -> Dict[str, str]:
    return {each.section: each.state for each in session.state().sections}


def loaded(session: satchel.Session, name: str) -> Callable[[], bool]:
    return lambda: states(session)[name] == "loaded"


def test_a_section_goes_from_placeholder_to_loaded(catalogue: satchel.Catalogue) -> None:
    for name in ("one", "two"):
        catalogue.persist(SHANGHAI, sent(name))
    heard: List[Any] = []
    with catalogue.session(
        lambda event: heard.append((event["event"], threading.current_thread().name))
    ) as session:
        session.show(SHANGHAI)
        assert states(session) == {"one": "placeholder", "two": "placeholder"}
        assert [event for event, _ in heard] == ["sections", "refresh"]
        placeholder = session.state().sections[0]
        assert (placeholder.display_title, placeholder.entity_count) == ("One", 1)
        heard.clear()
        session.load("one")
        assert eventually(loaded(session, "one"))
        assert states(session)["two"] == "placeholder"
        assert eventually(lambda: bool(heard))
        event, thread = heard[-1]
        assert event == "section"
        assert thread != threading.main_thread().name
        state = session.state()
        assert state.location == SHANGHAI
        assert state.level == "locality"
        assert state.sections[0].content == {"A": {"v": "one"}}
        assert (state.sections[0].missing, state.sections[0].expired) == ([], [])


def test_what_arrives_is_persisted_and_shown(catalogue: satchel.Catalogue) -> None:
    heard: List[Dict[str, Any]] = []
    with catalogue.session(heard.append) as session:
        session.show(SHANGHAI)
        assert session.state().sections == []
        heard.clear()
        receipt = session.handle(sent("one"))
        assert receipt.saved == 1
        assert eventually(loaded(session, "one"))
        assert heard
        assert session.state().sections[0].content == {"A": {"v": "one"}}
    assert catalogue.has_cached(SHANGHAI) == "exact"
    assert catalogue.active_location() == SHANGHAI


def test_a_section_that_could_not_be_fetched_has_failed(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SHANGHAI, sent("one"))
    with catalogue.session() as session:
        session.show(SHANGHAI)
        session.fail("one", "no network: 小")
        (shown,) = session.state().sections
        assert (shown.state, shown.error) == ("failed", "no network: 小")
        session.handle(sent("one"))
        assert eventually(loaded(session, "one"))
        session.fail("one", "again")
        (shown,) = session.state().sections
        assert (shown.state, shown.error, shown.refreshing) == ("loaded", "again", False)
        assert shown.content == {"A": {"v": "one"}}


def test_sections_can_be_put_into_an_order(catalogue: satchel.Catalogue) -> None:
    for name in ("one", "two", "three"):
        catalogue.persist(SHANGHAI, sent(name))
    with catalogue.session() as session:
        session.show(SHANGHAI)
        session.set_order(["three", "unknown"])
        assert list(states(session)) == ["three", "one", "two"]
        for bad in ("three", [5], [None]):
            with pytest.raises(satchel.InvalidArgument):
                session.set_order(bad)  # type: ignore[arg-type]
        assert list(states(session)) == ["three", "one", "two"]


def test_another_location_replaces_what_is_shown(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SHANGHAI, sent("one"))
    catalogue.persist(SINGAPORE, sent("two"))
    with catalogue.session() as session:
        session.show(SHANGHAI)
        session.show(SINGAPORE)
        assert states(session) == {"two": "placeholder"}
        session.show({"country_code": "ZZ"})
        assert states(session) == {}
        with pytest.raises(satchel.InvalidArgument):
            session.show({"locality": "Paris"})


def test_a_session_that_has_ended_says_so(store: satchel.Store) -> None:
    heard: List[Dict[str, Any]] = []
    session = store.catalogue.session(heard.append)
    session.show(SHANGHAI)
    session.close()
    session.close()
    assert session.closed
    heard.clear()
    for call in (
        lambda: session.show(SHANGHAI),
        lambda: session.handle(sent("one")),
        lambda: session.load("one"),
        lambda: session.fail("one", ""),
        lambda: session.set_order([]),
        lambda: session.state(),
    ):
        with pytest.raises(satchel.Closed):
            call()
    store.catalogue.persist(SHANGHAI, sent("one"))
    assert heard == []


def test_a_session_ends_with_its_store(store: satchel.Store) -> None:
    session = store.catalogue.session()
    store.close()
    assert session.closed
    session.close()


def test_a_session_may_be_ended_by_its_own_callback(catalogue: satchel.Catalogue) -> None:
    events: List[str] = []

    def hear(event: Dict[str, Any]) -> None:
        events.append(event["event"])
        session.close()

    session = catalogue.session(hear)
    session.show(SHANGHAI)
    assert session.closed
    assert len(events) >= 1


def test_a_callback_must_be_callable(catalogue: satchel.Catalogue) -> None:
    with pytest.raises(satchel.InvalidArgument):
        catalogue.session(5)  # type: ignore[arg-type]


def test_a_commit_of_another_process_is_shown(catalogue: satchel.Catalogue, store: satchel.Store) -> None:
    program = (
        "import json, sys, satchel\n"
        "with satchel.open(sys.argv[1]) as store:\n"
        "    for place, section in json.loads(sys.argv[2]):\n"
        "        store.catalogue.persist(place, section)\n"
    )
    heard: List[Dict[str, Any]] = []
    catalogue.persist(SHANGHAI, sent("one"))
    with catalogue.session(heard.append) as session:
        session.show(SHANGHAI)
        session.load("one")
        assert eventually(loaded(session, "one"))
        heard.clear()
        new = section({"A": {"v": "new", **storage("one:a")}}, "one")
        sections = json.dumps([(SHANGHAI, new), (SHANGHAI, sent("two")), (SINGAPORE, sent("three"))])
        subprocess.run([sys.executable, "-c", program, str(store.path), sections], check=True, timeout=120)
        assert eventually(lambda: states(session) == {"one": "loaded", "two": "placeholder"})
        assert eventually(lambda: session.state().sections[0].content == {"A": {"v": "new"}})
        assert eventually(lambda: any(event.get("section") == "one" for event in heard))
    assert {event["state"] for event in heard if event.get("section") == "one"} == {"loaded"}


def test_a_section_says_when_it_was_fetched(catalogue: satchel.Catalogue) -> None:
    catalogue.persist(SHANGHAI, sent("one"))
    with catalogue.session() as session:
        session.show(SHANGHAI)
        session.fail("none", "offline")
        one, none = session.state().sections
        assert one.fetched_at == catalogue.sections(SHANGHAI)[0].fetched_at
        assert (one.refreshing, one.error) == (False, None)
        assert (none.state, none.fetched_at) == ("failed", None)


def test_a_session_finds_what_is_near(catalogue: satchel.Catalogue) -> None:
    catalogue.persist({**SHANGHAI, "latitude": 31.2, "longitude": 121.5}, sent("one"))
    beside = {"latitude": 31.21, "longitude": 121.5}
    with catalogue.session() as session:
        session.show(beside)
        assert states(session) == {"one": "placeholder"}
    with catalogue.session(nearby=0) as session:
        session.show(beside)
        assert states(session) == {}
    for bad in (-1, float("nan"), "far"):
        with pytest.raises(satchel.InvalidArgument):
            catalogue.session(nearby=bad)  # type: ignore[arg-type]
