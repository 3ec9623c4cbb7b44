"""The state of one device of synced_stores.py: a list, a set, scores and values that all devices change.

Each item and each member is added once, by one edit, so that a lost one shows, and one that is there twice. A
score counts how often it was added to, and has a fraction of each device: where devices meet for the first
time, equal scores count as one.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import satchel
from journal import History, Journal

#: The bounds of scores, so far that no sum meets them.
FAR = 1e12


class StateEdits:
    """The state of a store, and its journal."""

    def __init__(self, store: satchel.Store, folder: Path, number: int, dice: random.Random) -> None:
        self.state = store.state
        self.items = self.state.list("items", synced=True)
        self.members = self.state.members("members", synced=True)
        self.scores = self.state.scores("scores", minimum=-FAR, maximum=FAR, synced=True)
        path = folder / f"{number}-state.journal"
        self.history, self.journal = History.read(path), Journal(path)
        self.number, self.dice = number, dice
        self.next = self.history.next_number
        #: Whether the shared score has the fraction of this device.
        self.has_added = any(edit.is_made for edit in self.history.of_row("scores/shared"))

    def edit(self) -> None:
        """One change, which survives a kill once it is written down as made."""
        number, token = self.next, f"{self.number}-{self.next}"
        kind = self.dice.choice(["items", "members", "scores", "scores", "own", "shared"])
        if kind in ("items", "members"):
            self._change_collection(kind, token)
        elif kind == "scores":
            key = self.dice.choice(["shared", f"own-{self.number}"]) if self.has_added else "shared"
            delta = 1 + (0 if self.has_added else 2.0 ** -(self.number + 2))
            self._begin(f"scores/{key}", str(delta))
            self.scores.add(key, delta)
        else:
            key = "shared" if kind == "shared" else f"own-{self.number}"
            self._begin(f"value/{key}", token)
            self.state.set(key, token, synced=True)
        self.state.flush()
        self.journal.write("made", number=number, is_effective=True)
        self.has_added = self.has_added or kind == "scores"

    def _change_collection(self, kind: str, token: str) -> None:
        """Adds, or takes out what somebody has added."""
        there: list[str] = self.items.values() if kind == "items" else sorted(self.members.values())
        if there and self.dice.random() < 0.4:
            gone = self.dice.choice(there)
            self._begin(f"{kind}/{gone}", None)
            (self.items.remove if kind == "items" else self.members.remove)(gone)
        else:
            self._begin(f"{kind}/{token}", token)
            (self.items.push if kind == "items" else self.members.add)(token)

    def _begin(self, name: str, value: str | None) -> None:
        self.journal.write("edit", number=self.next, rows={name: value}, conflicts=0)
        self.next += 1


def state_of(store: satchel.Store) -> dict[str, Any]:
    """All that is synchronized of a store's state."""
    state = store.state
    keys = state.keys()
    return {
        "items": [(each.value, each.pushed_at.timestamp()) for each in state.list("items").items()],
        "members": sorted(state.members("members").values()),
        "scores": state.scores("scores", minimum=-FAR, maximum=FAR).all(),
        "values": {key: state.get(key) for key in keys},
    }
