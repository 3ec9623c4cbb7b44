"""Bad input gives its error class, says where, and changes nothing."""

from __future__ import annotations

import errno
import pickle
import sqlite3
from pathlib import Path
from typing import Any, Callable, Dict, List, Type

import pytest
from helpers import SHANGHAI, dump, section, storage

import satchel
from satchel import errors

GOOD = section({"A": {"v": 1, **storage("cuisine:a")}})

BAD_LOCATIONS: Dict[str, Any] = {
    "none": None,
    "empty": {},
    "no JSON": "no JSON",
    "cut short": b'{"country_code": "CN"',
    "bad UTF-8": b'{"country_code": "\xff"}',
    "no object": ["CN"],
    "no key": {"locality": "Paris"},
    "half a coordinate": {"latitude": 1.0, "country_code": "CN"},
    "off the globe": {"latitude": 91, "longitude": 0},
    "a wrong type": {"country_code": 7},
    "NaN": {"latitude": float("nan"), "longitude": 0},
    "a key that is no text": {"country_code": "CN", 5: 5},
    "a lone surrogate": {"country_code": "CN", "locality": "\ud800"},
    "a duplicate key": b'{"country_code": "CN", "country_code": "JP"}',
}
BAD_SECTIONS: Dict[str, Any] = {
    "none": None,
    "a number": 5,
    "no JSON": "no JSON",
    "nothing": b"",
    "no object": [],
    "no name": {"content": {}},
    "an empty name": section({}, ""),
    "a name that is no text": {"section": 5, "content": {}},
    "a title that is no text": section({}, display_title=5),
    "an unknown action": section({}, action="destroy"),
    "an action that is no text": section({}, action=5),
    "an unknown operation": section({}, action="edit", config={"operation": "explode"}),
    "NaN": section({"x": [float("nan")]}),
    "a key that is no text": section({1: 1}),
    "a lone surrogate": section({"x": "\udc00"}),
    "an escaped lone surrogate": b'{"section": "a", "content": "\\ud800"}',
    "an exponent beyond 64 bits": b'{"section": "a", "content": 1e99999999999999999999}',
    "a NUL in a key": section({"\0": 1}),
    "duplicate keys": b'{"section": "a", "content": {"x": 1, "x": 1}}',
    "600 levels": b'{"section": "a", "content": ' + b"[" * 600 + b"]" * 600 + b"}",
    "more after it": b'{"section": "a", "content": 1} 2',
}


@pytest.fixture
def heard(store: satchel.Store) -> List[satchel.Change]:
    """Returns an observer's notifications, after one section was persisted."""
    store.catalogue.persist(SHANGHAI, GOOD)
    changes: List[satchel.Change] = []
    store.observe(changes.append)
    return changes


def refuses(store: satchel.Store, heard: List[satchel.Change], call: Callable[[], Any]) -> None:
    before = dump(Path(store.path))
    with pytest.raises(satchel.InvalidArgument) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert (caught.value.code, caught.value.status) == ("EINVALID", 1)
    assert str(caught.value)
    assert dump(Path(store.path)) == before
    assert heard == []


@pytest.mark.parametrize("bad", BAD_LOCATIONS)
def test_a_bad_location_is_refused_everywhere(
    store: satchel.Store, heard: List[satchel.Change], bad: str
) -> None:
    location, catalogue = BAD_LOCATIONS[bad], store.catalogue
    refuses(store, heard, lambda: catalogue.persist(location, GOOD))
    refuses(store, heard, lambda: catalogue.sections(location))
    refuses(store, heard, lambda: catalogue.load(location, "cuisine"))
    refuses(store, heard, lambda: catalogue.plan(location))
    refuses(store, heard, lambda: catalogue.has_cached(location))
    if location is not None:
        refuses(store, heard, lambda: catalogue.entity("cuisine:a", location))
        refuses(store, heard, lambda: catalogue.set_active_location(location))
        refuses(store, heard, lambda: catalogue.prune(expired=False, location=location))
    if not isinstance(location, (bytes, str)):
        delivery = {"location": location, "sections": [GOOD]}
        refuses(store, heard, lambda: catalogue.deliver(delivery))


@pytest.mark.parametrize("bad", BAD_SECTIONS)
def test_a_bad_section_is_refused(store: satchel.Store, heard: List[satchel.Change], bad: str) -> None:
    refuses(store, heard, lambda: store.catalogue.persist(SHANGHAI, BAD_SECTIONS[bad]))
    if not isinstance(BAD_SECTIONS[bad], (bytes, str)):
        # In one transaction: the sections before the bad one are not taken either.
        delivery = {"location": SHANGHAI, "sections": [section({"new": 1}, "new"), BAD_SECTIONS[bad]]}
        refuses(store, heard, lambda: store.catalogue.deliver(delivery))


@pytest.mark.parametrize(
    "delivery",
    [{}, [], {"location": SHANGHAI}, {"sections": []}, {"location": SHANGHAI, "sections": {}}, "no JSON"],
)
def test_a_bad_delivery_is_refused(store: satchel.Store, heard: List[satchel.Change], delivery: Any) -> None:
    refuses(store, heard, lambda: store.catalogue.deliver(delivery))


@pytest.mark.parametrize("name", [None, 5, b"cuisine", "\ud800"])
def test_a_name_must_be_a_text(store: satchel.Store, heard: List[satchel.Change], name: Any) -> None:
    refuses(store, heard, lambda: store.catalogue.load(SHANGHAI, name))
    refuses(store, heard, lambda: store.catalogue.entity(name, SHANGHAI))


@pytest.mark.parametrize("name", ["", "none", "\0", "x" * 100_000, "'; DROP TABLE entity; --", "\uffff"])
def test_an_unknown_name_finds_nothing(store: satchel.Store, name: str) -> None:
    store.catalogue.persist(SHANGHAI, GOOD)
    assert store.catalogue.load(SHANGHAI, name) is None
    assert store.catalogue.entity(name, SHANGHAI) is None


def test_the_message_names_the_place(store: satchel.Store) -> None:
    text = b'{"section": "a", "content": {"list": [1, 1e99999999999999999999]}}'
    with pytest.raises(satchel.InvalidArgument, match="/content/list/1"):
        store.catalogue.persist(SHANGHAI, text)


BUILT_IN: Dict[Type[satchel.SatchelError], Type[BaseException]] = {
    satchel.InvalidArgument: ValueError,
    satchel.NotFound: KeyError,
    satchel.Busy: TimeoutError,
    satchel.TimedOut: TimeoutError,
    satchel.Damaged: OSError,
    satchel.ForeignFile: ValueError,
    satchel.NewerStore: RuntimeError,
    satchel.ReadOnly: PermissionError,
    satchel.Full: OSError,
    satchel.IOFailure: OSError,
    satchel.Closed: ValueError,
    satchel.Cancelled: Exception,
    satchel.OutOfMemory: MemoryError,
    satchel.InternalError: RuntimeError,
    satchel.Conflict: RuntimeError,
    satchel.ConstraintViolation: ValueError,
    satchel.Unauthorized: PermissionError,
    satchel.Unavailable: ConnectionError,
}


def test_an_error_is_also_the_built_in_that_it_means() -> None:
    assert set(BUILT_IN) == set(errors.BY_STATUS.values())
    for kind, built_in in BUILT_IN.items():
        error = errors.error_for(kind.status, "", "what 'happened'")
        assert type(error) is kind
        assert isinstance(error, built_in)
        assert str(error) == "what 'happened'"
        copied = pickle.loads(pickle.dumps(error))
        assert (type(copied), str(copied)) == (kind, str(error))


def test_errors_of_the_operating_system_have_a_number() -> None:
    assert satchel.Full("x").errno == errno.ENOSPC
    assert satchel.ReadOnly("x").errno == errno.EROFS
    assert satchel.Unauthorized("x").errno == errno.EACCES
    assert satchel.Unavailable("x").errno == errno.EHOSTUNREACH


def test_a_status_of_a_newer_library_is_an_error_too() -> None:
    error = errors.error_for(99, "SATCHEL_ENEW", "something new")
    assert type(error) is satchel.SatchelError
    assert (error.status, error.code, str(error)) == (99, "ENEW", "something new")
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.status, copied.code) == (99, "ENEW")


def test_a_store_that_is_written_to_by_another_for_long_is_busy(path: Path) -> None:
    with satchel.open(path, busy_timeout=0.05) as store:
        other = sqlite3.connect(path)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(satchel.Busy):
            store.catalogue.persist(SHANGHAI, GOOD)
        # Reading does not wait.
        assert store.catalogue.sections(SHANGHAI) == []
        other.rollback()
        other.close()
        assert store.catalogue.persist(SHANGHAI, GOOD).saved == 1
