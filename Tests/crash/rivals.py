"""Edits of the same records by two devices, and the promises of each strategy, worked out independently.

Both have a common ancestor; then each has changed it in peace, at times that are known.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

BASE, EARLY, LATE = 1_704_067_200_000, 1_704_067_260_000, 1_704_067_320_000
STRATEGIES = ["newest_wins", "merge", "remote_wins", "local_wins", "ask"]


@dataclass(frozen=True)
class Version:
    """A document as it is spelled, None when it is deleted or was not there; and when it was made."""

    text: str | None
    time: int

    @property
    def value(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = None if self.text is None else json.loads(self.text)
        return found

    @property
    def rank(self) -> tuple[int, bytes]:
        return self.time, (self.text or "").encode()


@dataclass(frozen=True)
class Rivalry:
    """A record: the common ancestor, and each device's edit of it; None where a device did not edit it."""

    id: str
    base: str | None
    changes: tuple[Version | None, Version | None]

    def version(self, device: int) -> Version:
        return self.changes[device] or Version(self.base, BASE)

    @property
    def is_contested(self) -> bool:
        """Whether both have changed it, and not to the same."""
        return None not in self.changes and self.version(0).text != self.version(1).text


@dataclass(frozen=True)
class Outcome:
    """Returns a record's outcome, by its document."""

    value: dict[str, Any] | None
    #: How it is spelled, where that is one of the versions and not put together.
    text: str | None
    #: The device whose version gave way and is kept as lost, if one is.
    loser: int | None = None
    is_open: bool = False


def rivalries() -> list[Rivalry]:
    """All that two can do to a record: each edit and each deletion against each, whichever is later."""
    base = '{"a":1, "b":1,"o":{"x":1,"y":1},"l":[1],"gone":1}'
    edits = [
        '{"a":2,"b":1,"o":{"x":2,"y":1},"l":[1],"gone":1}',
        '{"a":3, "b":2,"o":{"x":1,"y":3},"l":[1,3]}',
    ]
    none = None
    kinds: dict[str, tuple[str | None, tuple[str | None, str | None]]] = {
        "edit-edit": (base, (edits[0], edits[1])),
        "edit-delete": (base, (edits[0], none)),
        "delete-edit": (base, (none, edits[1])),
        "delete-delete": (base, (none, none)),
        "same-same": (base, (edits[0], edits[0])),
        "add-add": (none, ('{"n":1,"mine":"ü"}', '{"n":2,"other":"\\u00fc"}')),
    }
    orders = {"first later": (LATE, EARLY), "second later": (EARLY, LATE), "at once": (LATE, LATE)}
    found = []
    for kind, (agreed, (first, second)) in kinds.items():
        for name, times in orders.items():
            changes = Version(first, times[0]), Version(second, times[1])
            found.append(Rivalry(f"{kind} {name}", agreed, changes))
    for device in range(2):
        for name, (agreed, text) in {
            "edited": (base, edits[device]), "deleted": (base, none), "added": (none, edits[device]),
        }.items():  # fmt: skip
            change = Version(text, EARLY)
            alone = (change, None) if device == 0 else (None, change)
            found.append(Rivalry(f"{name} by {device}", agreed, alone))
    return found


def promised(rivalry: Rivalry, strategy: str, first: int) -> Outcome:
    """Returns the outcome when one device synchronizes first, and then the other."""
    second = 1 - first
    theirs, ours = rivalry.version(first), rivalry.version(second)
    if not rivalry.is_contested:
        changed = rivalry.changes[0] or rivalry.changes[1] or Version(rivalry.base, BASE)
        return _of(changed)
    if strategy == "remote_wins":
        return _of(theirs, loser=second)
    if strategy == "local_wins":
        return _of(ours, loser=first)
    if strategy == "ask":
        return _of(theirs, is_open=True)
    if strategy == "newest_wins":
        return _of(ours, loser=first) if ours.rank > theirs.rank else _of(theirs, loser=second)
    return _merged(rivalry, theirs, ours, second)


def _of(version: Version, **more: Any) -> Outcome:
    return Outcome(version.value, version.text, **more)


def _merged(rivalry: Rivalry, theirs: Version, ours: Version, second: int) -> Outcome:
    """The second one merges; an edit outlives a deletion."""
    if ours.value is None:
        return _of(theirs, loser=second)
    if theirs.value is None:
        return _of(ours, loser=1 - second)
    is_ours = ours.rank > theirs.rank
    newer, older = (ours, theirs) if is_ours else (theirs, ours)
    base = json.loads(rivalry.base) if rivalry.base else {}
    overridden: list[str] = []
    value = _fields(base, older.value or {}, newer.value or {}, overridden)
    loser = 1 - second if is_ours else second
    return Outcome(value, None, loser=loser if overridden else None)


def _fields(
    base: dict[str, Any], older: dict[str, Any], newer: dict[str, Any], overridden: list[str]
) -> dict[str, Any]:
    merged = {}
    for key in {*older, *newer}:
        was, old, new = (each.get(key) for each in (base, older, newer))
        if old in (new, was):
            value = new
        elif new == was:
            value = old
        elif isinstance(old, dict) and isinstance(new, dict):
            value = _fields(was if isinstance(was, dict) else {}, old, new, overridden)
        else:
            overridden.append(key)
            value = new
        if value is not None:
            merged[key] = value
    return merged
