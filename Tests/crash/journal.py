"""The journal of a device: what it is about to do and has done, in a file that survives kill -9.

Each record is one line of JSON, on the disk before anything goes on. The order of lines is that of events.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Edit:
    """A call that changes rows or records: what they are then by MD5 or id, None for deleted ones."""

    number: int
    rows: dict[str, str | None]
    time: float
    place: int
    #: How many conflicts there had been by then.
    conflicts: int
    #: All that its line says.
    told: dict[str, Any]
    is_made: bool = False
    #: When its call had returned.
    made: float = math.inf
    #: Whether it changed something that a sync can send.
    is_effective: bool = False


@dataclass
class Sync:
    """A call that synchronizes. It covers the edits that had been made when it began."""

    covers: int
    began: float
    ended: float | None = None
    #: The position of its end in the journal.
    place: int = 0
    conflicts: int = 0
    #: The failed parts, by shard or id.
    failed: dict[str, str] = field(default_factory=dict)
    error: str | None = None
    is_done: bool = False
    #: All that the line of its end says.
    told: dict[str, Any] = field(default_factory=dict)


class Journal:
    """Writes; for any thread."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            # The end of a line that was cut.
            os.write(self._file, b"\n")

    def write(self, kind: str, **more: Any) -> None:
        with self._lock:
            line = json.dumps({"kind": kind, "time": time.monotonic(), **more}) + "\n"
            os.write(self._file, line.encode())
            os.fsync(self._file)


@dataclass
class History:
    """The actions of a device, from its journal."""

    edits: list[Edit] = field(default_factory=list)
    syncs: list[Sync] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> History:
        history = cls()
        lines = path.read_bytes().splitlines() if path.exists() else []
        for place, line in enumerate(lines):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            history._add(record, place)
        return history

    @property
    def next_number(self) -> int:
        return len(self.edits)

    def of_row(self, md5: str) -> list[Edit]:
        return [edit for edit in self.edits if md5 in edit.rows]

    def _add(self, record: dict[str, Any], place: int) -> None:
        kind, when = record["kind"], record["time"]
        if kind == "edit":
            number = record["number"]
            if number != len(self.edits):
                raise RuntimeError(f"the journal has edit {number} behind {len(self.edits)} others")
            self.edits.append(Edit(number, record["rows"], when, place, record["conflicts"], record))
        elif kind == "made":
            edit = self.edits[record["number"]]
            edit.is_made, edit.made, edit.is_effective = True, when, record["is_effective"]
        elif kind == "sync":
            self.syncs.append(Sync(record["covers"], when))
        else:
            sync = self.syncs[-1]
            sync.ended, sync.place, sync.told = when, place, record
            if kind == "done":
                sync.is_done, sync.conflicts = True, record["conflicts"]
                sync.failed = record["failed"]
            else:
                sync.error = record["error"]
