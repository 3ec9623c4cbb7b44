from __future__ import annotations

import gc
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, List, Tuple

import pytest
from helpers import SHANGHAI, eventually, section, storage

import satchel
from satchel import _callbacks

GOOD = section({"A": {"v": 1, **storage("cuisine:a")}})
WRITER = """
import sys, satchel
with satchel.open(sys.argv[1]) as store:
    store.catalogue.persist({location!r}, {section!r})
"""


def heard_from(store: satchel.Store) -> List[Tuple[satchel.Change, str]]:
    """The notifications of an observer, and their threads."""
    heard: List[Tuple[satchel.Change, str]] = []
    store.observe(lambda change: heard.append((change, threading.current_thread().name)))
    return heard


def test_a_change_of_ones_own_is_heard_before_the_call_returns(store: satchel.Store) -> None:
    heard = heard_from(store)
    store.catalogue.persist(SHANGHAI, GOOD)
    ((change, thread),) = heard
    assert change.subject == "catalogue"
    assert {"cuisine", "cuisine:a"} <= set(change.keys)
    assert change.place == satchel.places.key(SHANGHAI, "locality")
    assert change.own is True
    assert thread == threading.current_thread().name
    store.catalogue.persist(SHANGHAI, section({"B": storage("cuisine:b")}))
    assert heard[1][0].revision > change.revision
    assert "cuisine:b" in heard[1][0].keys


def test_observers_of_sections_and_entities_are_notified_separately(store: satchel.Store) -> None:
    heard = heard_from(store)
    store.catalogue.persist(SHANGHAI, section({"A": storage("cuisine")}))
    change = heard[0][0]
    assert (change.keys, change.section_count) == (["cuisine", "cuisine"], 1)
    assert (change.sections, change.entities) == (["cuisine"], ["cuisine"])
    assert (change.records, change.state, change.photos, change.stories) == ([], [], [], [])
    assert (change.concerns_all, change.event) == (False, None)


@pytest.mark.parametrize(
    ("subject", "keys", "count", "found"),
    [
        ("catalogue", ["*"], 0, ("concerns_all", True)),
        ("catalogue", ["*"], 1, ("sections", ["*"])),
        ("stories", ["@spooled"], 0, ("stories", ["@spooled"])),
        ("photos", ["shard:0", "shard:f"], 0, ("shards", [0, 15])),
        ("photos", ["shard:0", "shard:f"], 0, ("photos", [])),
        ("records", ["@spooled"], 0, ("event", "@spooled")),
        ("records", ["@spooled"], 0, ("records", [])),
        ("records", ["a", "b/c/d"], 0, ("records", [("a", None), ("b", "c/d")])),
        ("state", ["@unsaved"], 0, ("state", [])),
        ("state", ["set/a/b"], 0, ("state", [("set", "a/b")])),
    ],
)
def test_changes_are_read_by_subject(
    subject: str, keys: List[str], count: int, found: Tuple[str, Any]
) -> None:
    change = satchel.Change(subject, keys, count, None, True, 1)
    assert getattr(change, found[0]) == found[1]


def test_reading_is_no_change(store: satchel.Store) -> None:
    store.catalogue.persist(SHANGHAI, GOOD)
    heard = heard_from(store)
    store.catalogue.sections(SHANGHAI)
    store.catalogue.load(SHANGHAI, "cuisine")
    store.catalogue.plan(SHANGHAI)
    assert heard == []


def test_a_change_of_another_process_is_heard(store: satchel.Store, path: Path) -> None:
    heard = heard_from(store)
    script = WRITER.format(location=SHANGHAI, section=GOOD)
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)
    assert eventually(lambda: bool(heard))
    change, thread = heard[0]
    assert {"cuisine", "cuisine:a"} <= set(change.keys)
    assert change.own is False
    assert thread != threading.main_thread().name
    assert len(store.catalogue.sections(SHANGHAI)) == 1


def test_a_change_of_another_handle_is_heard(store: satchel.Store, path: Path) -> None:
    heard = heard_from(store)
    with satchel.open(path) as other:
        others = heard_from(other)
        other.catalogue.persist(SHANGHAI, GOOD)
        assert [change.own for change, _ in others] == [True]
        assert eventually(lambda: bool(heard))
    assert [change.own for change, _ in heard] == [False]


def test_every_observer_hears_until_it_is_closed(store: satchel.Store) -> None:
    first: List[satchel.Change] = []
    second: List[satchel.Change] = []
    observer = store.observe(first.append)
    with store.observe(second.append) as other:
        store.catalogue.persist(SHANGHAI, GOOD)
        assert not other.closed
    observer.close()
    observer.close()
    assert observer.closed
    store.catalogue.persist(SHANGHAI, section({}))
    assert (len(first), len(second)) == (1, 1)


def test_an_observer_that_no_one_holds_goes_on(store: satchel.Store) -> None:
    heard: List[satchel.Change] = []
    store.observe(heard.append)
    gc.collect()
    store.catalogue.persist(SHANGHAI, GOOD)
    assert len(heard) == 1


def test_a_callback_may_use_the_store_and_end_its_own_subscription(store: satchel.Store) -> None:
    counts: List[int] = []
    before = _callbacks.registered_count()

    def once(change: satchel.Change) -> None:
        counts.append(len(store.catalogue.sections(SHANGHAI)))
        observer.close()

    observer = store.observe(once)
    store.catalogue.persist(SHANGHAI, GOOD)
    store.catalogue.persist(SHANGHAI, section({}))
    assert counts == [1]
    assert observer.closed
    assert eventually(lambda: _callbacks.registered_count() == before)


def test_what_a_callback_raises_is_reported_and_breaks_nothing(
    store: satchel.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: List[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: reported.append(unraisable.exc_type))
    heard: List[satchel.Change] = []

    def fails(change: satchel.Change) -> None:
        raise ZeroDivisionError

    store.observe(fails)
    store.observe(heard.append)
    assert store.catalogue.persist(SHANGHAI, GOOD).saved == 1
    assert reported == [ZeroDivisionError]
    assert len(heard) == 1


def test_a_store_cannot_be_closed_from_its_own_callback(
    store: satchel.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: List[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: reported.append(unraisable.exc_type))
    store.observe(lambda change: store.close())
    store.catalogue.persist(SHANGHAI, GOOD)
    assert reported == [satchel.Busy]
    assert not store.closed


@pytest.mark.parametrize("callback", [None, 5, "print"])
def test_a_callback_must_be_callable(store: satchel.Store, callback: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        store.observe(callback)
