"""Whether the state that synced_stores.py left is what it has to be: each rule gives what breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from journal import Edit, History

State = dict[str, Any]


@dataclass
class LeftState:
    """The content of a device in the end."""

    number: int
    history: History
    state: State


def different(devices: list[LeftState]) -> Iterator[str]:
    first = devices[0].state
    for left in devices[1:]:
        for name in first:
            if left.state[name] != first[name]:
                yield f"device {left.number} has {name} {left.state[name]}, device 0 {first[name]}"


def lost(devices: list[LeftState]) -> Iterator[str]:
    """Finds tokens that were added and are gone, were removed and are there, occur twice, or are unknown."""
    edits = [edit for left in devices for edit in left.history.edits]
    state = devices[0].state
    for kind, found in {"items": [value for value, _ in state["items"]], "members": state["members"]}.items():
        added, gone, perhaps = _changes(edits, kind)
        there = Counter(found)
        for token, count in there.items():
            if count > 1:
                yield f"{kind}: {token} is there {count} times"
            if token not in added:
                yield f"{kind}: no device has added {token}"
            if token in gone:
                yield f"{kind}: {token} was taken out and is there"
        for token, edit in added.items():
            if edit.is_made and token not in there and token not in gone | perhaps:
                yield f"{kind}: {token} was added and is gone"


def _changes(edits: list[Edit], kind: str) -> tuple[dict[str, Edit], set[str], set[str]]:
    """Returns the tokens that were added, were removed, and were perhaps removed."""
    added: dict[str, Edit] = {}
    gone, perhaps = set(), set()
    for edit in edits:
        [(name, value)] = edit.rows.items()
        what, _, token = name.partition("/")
        if what != kind:
            continue
        if value is not None:
            added[token] = edit
        else:
            (gone if edit.is_made else perhaps).add(token)
    return added, gone, perhaps


def miscounted(devices: list[LeftState]) -> Iterator[str]:
    """Scores that are not the sum of what all have added."""
    scores = devices[0].state["scores"]
    for key in ["shared", *(f"own-{left.number}" for left in devices)]:
        edits = [edit for left in devices for edit in left.history.of_row(f"scores/{key}")]
        deltas = [(float(edit.rows[f"scores/{key}"] or 0), edit.is_made) for edit in edits]
        least, most = sum(delta for delta, is_made in deltas if is_made), sum(delta for delta, _ in deltas)
        if not least <= scores.get(key, 0) <= most:
            yield f"score {key} is {scores.get(key, 0)}, and {least} to {most} were added"


def replaced(devices: list[LeftState]) -> Iterator[str]:
    """Values that are not the newest."""
    values = devices[0].state["values"]
    for left in devices:
        own = left.history.of_row(f"value/own-{left.number}")
        made = [place for place, edit in enumerate(own) if edit.is_made]
        possible = [edit.rows[f"value/own-{left.number}"] for edit in own[made[-1] if made else 0 :]]
        found = values.get(f"own-{left.number}")
        if found not in (possible if made else [None, *possible]):
            yield f"value own-{left.number} is {found!r}, and was made {possible!r}"
    edits = [edit for left in devices for edit in left.history.of_row("value/shared")]
    origins = [edit for edit in edits if edit.rows["value/shared"] == values.get("shared")]
    made_edits = [edit for edit in edits if edit.is_made]
    if not origins and (made_edits or values.get("shared") is not None):
        yield f"value shared is {values.get('shared')!r}, of no device"
    for origin in origins:
        newer = [edit for edit in made_edits if edit.time > origin.made]
        if newer:
            yield f"value shared is {values['shared']!r}, and {newer[-1].rows} was made later"
