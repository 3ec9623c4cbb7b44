"""Every public method of the blocking classes has its asynchronous twin."""

from __future__ import annotations

import inspect
from typing import Any, Dict, Set

import pytest

import satchel
import satchel.aio

TWINS: Dict[type, type] = {
    satchel.Store: satchel.aio.Store,
    satchel.Catalogue: satchel.aio.Catalogue,
    satchel.Regions: satchel.aio.Regions,
    satchel.Region: satchel.aio.Region,
    satchel.Session: satchel.aio.Session,
    satchel.PhotoCatalogue: satchel.aio.PhotoCatalogue,
    satchel.photos.PhotoBackup: satchel.aio.PhotoBackup,
    satchel.Records: satchel.aio.Records,
    satchel.records.Watch: satchel.aio.Watch,
    satchel.Observer: satchel.aio.Observer,
    satchel.assets.Assets: satchel.aio.Assets,
    satchel.State: satchel.aio.State,
    satchel.state.StateList: satchel.aio.StateList,
    satchel.state.StateMembers: satchel.aio.StateMembers,
    satchel.state.Scores: satchel.aio.Scores,
    satchel.StoryLibrary: satchel.aio.StoryLibrary,
}
#: Methods that are not awaited: asynchronous iterators, and blocks.
NOT_AWAITED = {"iterate", "iterate_changes", "iterate_trash", "batch", "timeout", "changes"} | {
    name for name in dir(satchel.Records) if name.startswith("watch")
}


def public(kind: type) -> Set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def described(parameter: inspect.Parameter) -> Any:
    hint = str(parameter.annotation).replace('"', "'")
    return parameter.name, parameter.kind, parameter.default, hint


@pytest.mark.parametrize(("blocking", "twin"), TWINS.items(), ids=lambda kind: str(kind.__name__))
def test_each_method_has_a_twin(blocking: type, twin: type) -> None:
    assert public(blocking) <= public(twin)
    for name in sorted(public(blocking)):
        own, other = inspect.getattr_static(blocking, name), inspect.getattr_static(twin, name)
        if isinstance(own, property):
            assert isinstance(other, property) or inspect.iscoroutinefunction(other), name
            continue
        if name == "close":
            assert inspect.iscoroutinefunction(other)
            continue
        same = [list(map(described, inspect.signature(each).parameters.values())) for each in (own, other)]
        assert same[0] == same[1], name
        is_awaited = name not in NOT_AWAITED or (name == "changes" and blocking is not satchel.Store)
        assert inspect.iscoroutinefunction(other) == is_awaited, name
        assert other.__doc__, name


@pytest.mark.parametrize("twin", TWINS.values(), ids=lambda kind: str(kind.__name__))
def test_docstrings_say_that_callbacks_run_on_the_loop(twin: type) -> None:
    for name in sorted(public(twin)):
        method = inspect.getattr_static(twin, name)
        if not {"progress", "callback"} & set(getattr(method, "__annotations__", ())):
            continue
        text = " ".join((method.__doc__ or "").split())
        assert "this thread" not in text, name
        assert "on the thread" not in text, name
        # Others refer to such a method, or to the class.
        assert "on the event loop" in text or "as for :meth:" in text or "see :class:" in text, name


def test_the_docstrings_of_progress_and_changes_name_the_loop() -> None:
    for method in (satchel.aio.Store.sync, satchel.aio.Store.observe, satchel.aio.PhotoCatalogue.scan):
        assert ", on the event loop" in (method.__doc__ or "")
        assert "thread" not in (method.__doc__ or "")
    assert ", on this thread" in (satchel.Store.sync.__doc__ or "")


def test_no_class_is_left_out() -> None:
    assert {kind.__name__ for kind in TWINS.values()} == set(satchel.aio.__all__) - {
        "Changes",
        "Opening",
        "open",
    }


def test_opening_takes_the_same() -> None:
    both = [inspect.signature(each).parameters.values() for each in (satchel.open, satchel.aio.open)]
    assert list(map(described, both[0])) == list(map(described, both[1]))
