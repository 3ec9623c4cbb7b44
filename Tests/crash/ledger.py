"""The content that a store must have after its process was killed: known from a journal in another file.

A line says what is about to be done, another that it was acknowledged. Writing them needs no sync: the
process is killed, not the machine.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Documents = dict[str, dict[str, Any] | None]
"""Records by id; None for one that is deleted."""

#: The situations that a run of some length has to have met.
KINDS = (
    *("put", "deferred", "delete", "batch", "state", "flush", "migrate", "backup", "mirror", "spooled"),
    *("picture", "pruned", "verified", "rotated", "beside"),
)


@dataclass
class Ledger:
    """The journal's sum."""

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: A change that was begun and not acknowledged: all of it may be there, or nothing.
    begun: Documents | None = None
    #: Puts that were deferred, in order: the first of them may be there, none without those before it.
    deferred: list[Documents] = field(default_factory=list)
    #: Numbers that were added to the state, in order, and how many of them are known to be durable.
    numbers: list[int] = field(default_factory=list)
    durable: int = 0
    #: The version that the records have, and the one that they may have.
    version: int = 1
    begun_version: int = 1
    next_number: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(cls, folder: Path) -> Ledger:
        ledger = cls()
        path = folder / "journal"
        for line in path.read_bytes().splitlines() if path.exists() else []:
            try:
                entry = json.loads(line)
            except ValueError:
                # Cut while it was written.
                continue
            ledger._add(entry)
        return ledger

    @property
    def acknowledged(self) -> int:
        return sum(self.counts.values())

    @property
    def told(self) -> str:
        return ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))

    def missing(self) -> list[str]:
        """Kinds that should have happened in a run this long, and did not."""
        return [kind for kind in KINDS if not self.counts[kind]] if self.acknowledged > 2000 else []

    def possible(self) -> list[dict[str, dict[str, Any]]]:
        """The states that the records may be in."""
        states = [self.documents]
        for change in self.deferred:
            states.append(merged(states[-1], change))
        # Any other change writes what is deferred first.
        return states if self.begun is None else [*states, merged(states[-1], self.begun)]

    def _add(self, entry: dict[str, Any]) -> None:
        kind = entry["kind"]
        self.counts.update(entry.get("counts", {}))
        self.next_number = max(self.next_number, entry.get("number", -1) + 1)
        if kind == "begin":
            self.begun = entry["documents"]
        elif kind == "end":
            self._settle()
            self.documents = merged(self.documents, self.begun or {})
            self.begun = None
            self.counts[entry["what"]] += 1
        elif kind == "defer":
            self.deferred.append(entry["documents"])
            self.counts["deferred"] += 1
        elif kind == "written":
            # By the store's flush, or by a call for records, which writes what is deferred first.
            self._settle()
        elif kind == "add":
            self.numbers.append(entry["number"])
            self.counts["state"] += 1
        elif kind == "flushed":
            self.durable = entry["count"]
            self.counts["flush"] += 1
        elif kind == "migrate":
            self.begun_version = entry["version"]
        elif kind == "migrated":
            self.version = self.begun_version = entry["version"]
            self.counts["migrate"] += 1
        elif kind == "seen":
            # The content that was found is the expected one from now on.
            self.documents, self.begun, self.deferred = entry["documents"], None, []
            self.numbers = entry["numbers"]
            self.durable = len(self.numbers)
            self.version = self.begun_version = entry["version"]
        else:
            self.counts[kind] += 1

    def _settle(self) -> None:
        for change in self.deferred:
            self.documents = merged(self.documents, change)
        self.deferred = []


def merged(documents: dict[str, dict[str, Any]], change: Documents) -> dict[str, dict[str, Any]]:
    return {key: value for key, value in {**documents, **change}.items() if value is not None}


class Journal:
    """Writes lines, each as a whole."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "journal"
        self._open()

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def write(self, kind: str, **more: Any) -> None:
        os.write(self._file, json.dumps({"kind": kind, **more}).encode() + b"\n")

    def begin_anew(self, ledger: Ledger, **seen: Any) -> None:
        """Replaces all lines by what they sum up to, and what the store was found to hold."""
        line = {"kind": "seen", "number": ledger.next_number - 1, "counts": ledger.counts, **seen}
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps(line) + "\n", encoding="utf-8")
        draft.rename(self._path)
        os.close(self._file)
        self._open()

    @property
    def size(self) -> int:
        return os.fstat(self._file).st_size
