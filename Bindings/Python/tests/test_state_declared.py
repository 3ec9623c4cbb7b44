"""State: declared defaults, versions and migrations."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import pytest

import satchel

RENAME = [{"rename": {"from": "/colours", "to": "/theme"}}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "app.satchel"


def doubled(values: Dict[str, Any]) -> Dict[str, Any]:
    return {**values, "size": values["size"] * 2}


def halved(values: Dict[str, Any]) -> Dict[str, Any]:
    return {**values, "size": values["size"] // 2}


def test_defaults_are_read_and_not_stored(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.declare({"theme": "light", "reader": {"size": 12}})
        store.state.declare({"font": "serif"})
        assert store.state.get("theme") == "light"
        assert store.state.get("reader") == {"size": 12}
        assert store.state.get("font", "sans") == "serif"
        assert store.state.get("other", 1) == 1
        assert store.state.keys() == []
        with pytest.raises(satchel.InvalidArgument, match="state/font: another default"):
            store.state.declare({"font": "sans"})
    with satchel.open(path) as store:
        assert store.state.get("theme") is None


def test_values_are_migrated_by_steps_and_functions_and_back(path: Path) -> None:
    steps = [RENAME, satchel.records.Migration(doubled, halved)]
    with satchel.open(path) as store:
        store.state.set("colours", "dark")
        store.state.set("size", 12)
        store.state.declare(version=3, migrations=steps)
        assert store.state.get("theme") == "dark"
        assert store.state.get("size") == 24
        store.state.declare(version=3, migrations=steps)
        assert store.state.get("size") == 24
        store.state.declare(version=1, migrations=steps)
        assert store.state.keys() == ["colours", "size"]
        assert store.state.get("size") == 12
    assert len(list(path.parent.glob("app.satchel.before-state-*"))) == 2


def test_an_older_app_without_the_function_gets_an_error(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set("size", 12)
        store.state.declare(version=2, migrations=[doubled])
        with pytest.raises(satchel.NewerStore, match="have version 2, and cannot be migrated back to 1"):
            store.state.declare(version=1)


def test_what_a_function_raises_is_the_cause_and_changes_nothing(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set("width", 12)
        with pytest.raises(satchel.InvalidArgument, match="state: ") as raised:
            store.state.declare({"font": "serif"}, version=2, migrations=[doubled])
        assert isinstance(raised.value.__cause__, KeyError)
        assert store.state.keys() == ["width"]
        assert store.state.get("font") is None
        with store.batch(), pytest.raises(satchel.InvalidArgument, match="transaction"):
            store.state.declare(version=2, migrations=[RENAME])
        store.state.declare(version=2, migrations=[RENAME])
    assert len(list(path.parent.glob("app.satchel.before-state-*"))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"version": 0}, "version"),
        ({"version": 2**31}, "version"),
        ({"version": 2, "migrations": "rename"}, "migrations"),
        ({"version": 2, "migrations": [[{"renam": {}}]]}, "/migrations/0/0/renam: unknown step"),
        ({"defaults": {"": 1}}, "key"),
        ({"defaults": {"a": float("nan")}}, "defaults/a"),
    ],
)
def test_invalid_declarations(path: Path, arguments: Dict[str, Any], message: str) -> None:
    with satchel.open(path) as store, pytest.raises(satchel.InvalidArgument, match=message):
        store.state.declare(**arguments)
