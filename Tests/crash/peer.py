"""A device of orders.py: a process of its own that executes orders, a line of JSON each, and answers them.

Usage: peer.py FILE PREFIX
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import satchel

COLLECTION, USER = "notes", "ada"


class Peer:
    """A store with a clock that the test sets; the store follows it unless it goes back."""

    def __init__(self, path: str, prefix: str) -> None:
        self.now = 0
        self.store = satchel.open(path, clock=lambda: self.now)
        self.notes = self.store.records(COLLECTION)
        told = json.loads(os.environ["SATCHEL_TEST_S3"])
        self.remote = satchel.remote.S3(**told["store"], prefix=prefix)

    def write(self, id: str, text: str | None, now: int) -> None:
        self.now = now
        if text is None:
            self.notes.delete(id)
        else:
            self.notes.put(id, text.encode())

    def sync(self, strategy: str) -> dict[str, Any]:
        self.store.records(COLLECTION, on_conflict=strategy)
        report = self.store.sync(self.remote, USER)
        return {"is_quiet": report.unchanged, "failed": [str(each) for each in report.failed]}

    def texts(self) -> dict[str, str]:
        return {id: (self.notes.text(id) or b"").decode() for id in self.notes.ids()}

    def conflicts(self) -> list[dict[str, Any]]:
        names = ("id", "record", "kind", "side", "local", "remote", "base")
        return [{name: getattr(each, name) for name in names} for each in self.notes.conflicts()]

    def resolve(self, conflict: int, keep: str) -> None:
        self.notes.resolve(conflict, keep)

    def check(self) -> list[str]:
        return [str(each) for each in self.store.check()]


def main(path: str, prefix: str) -> None:
    peer = Peer(path, prefix)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(getattr(peer, name)(*arguments)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
