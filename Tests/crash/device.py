"""One device of photos.py: edits and synchronizes at the same time until it is killed.

It is also the photos of a device of synced_stores.py.

Usage: device.py OPTIONS, a JSON object: folder, number, seed, policy, user, prefix, and mode: "live" until
killed, "fill" to make many rows, "sync" to synchronize once and say what came of it.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from pathlib import Path
from typing import Any

import satchel
from journal import History, Journal
from life import Life

#: Rows that each device alone edits, that all edit, and that are only there.
OWN, SHARED, OTHERS = 48, 16, 6000
ENDINGS = (".jpg", ".heic", ', "two".jpg', " ü\n.png")


def md5(*words: object) -> str:
    return hashlib.md5("-".join(map(str, words)).encode()).hexdigest()


def own_rows(device: int) -> list[str]:
    return [md5("own", device, each) for each in range(OWN)]


def shared_rows() -> list[str]:
    return [md5("shared", each) for each in range(SHARED)]


def row(key: str, name: str, number: int) -> dict[str, Any]:
    """A row whose other columns follow from the edit's number, so that half a row would show."""
    return {
        "md5": key, "filename": name, "size": number, "photodate": 1_700_000_000 + number,
        "modified": -number, "width": number + 1, "height": None,
    }  # fmt: skip


class PhotoEdits:
    """Edits of one device's catalogue, in a journal."""

    photos: satchel.PhotoCatalogue
    number: int
    history: History
    journal: Journal
    dice: random.Random
    next: int
    made: int

    def fill(self) -> None:
        """Makes the rows that are only there."""
        self._change({md5("other", each): f"{each}.jpg" for each in range(OTHERS)})

    def edit(self) -> None:
        rows = shared_rows() if self.dice.random() < 0.25 else own_rows(self.number)
        if self.dice.random() < 0.3:
            self._change({self.dice.choice(rows): None})
        else:
            name = f"{self.number}-{self.next}{self.dice.choice(ENDINGS)}"
            self._change(dict.fromkeys(self.dice.sample(rows, self.dice.randint(1, 4)), name))

    def _change(self, rows: dict[str, str | None]) -> None:
        number = self.next
        self.journal.write("edit", number=number, rows=rows, conflicts=self.photos.status().conflicts)
        self.next += 1
        names = {key: name for key, name in rows.items() if name is not None}
        if names:
            made = [row(key, name, number) for key, name in names.items()]
            effective: bool | None = self.photos.upsert(made, batch=OTHERS) > 0
        else:
            effective = self._delete(next(iter(rows)))
        # A write that is not known to be a change counts as an edit during which its device was killed.
        if effective is not None:
            self.journal.write("made", number=number, is_effective=effective)
        self.made = number

    def _delete(self, key: str) -> bool | None:
        """Whether that is a change to the remote copy; None for a shared row that may not have come there."""
        if self.photos.delete(key) == 0:
            return False
        if key in own_rows(self.number):
            return True
        changes = {change.md5: change for change in self.photos.changes()}
        is_change = key in changes and changes[key].kind == "delete" and changes[key].base is not None
        return True if is_change else None


class Device(PhotoEdits, Life):
    """A store, its catalogue, its journal."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self.photos = satchel.open(self.path).photos(self.folder / f"photos-{self.number}")

    def sync(self) -> satchel.photos.SyncReport | None:
        """One synchronization; None when it failed as a whole."""
        self.journal.write("sync", covers=self.made)
        try:
            report = self.photos.sync(self.remote, self.user, self.policy)
        except satchel.SatchelError as error:
            self.journal.write("error", error=f"{error.code}: {error}")
            return None
        failed = {failure.shard: f"{failure.code}: {failure.message}" for failure in report.failed}
        self.journal.write("done", failed=failed, conflicts=self.photos.status().conflicts)
        return report

    def sync_once(self) -> None:
        report = self.sync()
        status = self.photos.status()
        is_quiet = report is not None and report.unchanged and report.ok and status.changes == 0
        print(json.dumps({"is_quiet": is_quiet, "changes": status.changes, "report": str(report)}))


class Album(PhotoEdits):
    """The catalogue of a store that synchronizes more than it (store_device.py)."""

    def __init__(
        self, store: satchel.Store, folder: Path, number: int, dice: random.Random, policy: str
    ) -> None:
        """:param policy: that of the records; photos know two"""
        declared = "merge" if policy == "merge" else "remote_wins"
        self.photos = store.photos(folder / f"photos-{number}", on_conflict=declared)
        path = folder / f"{number}-photos.journal"
        self.history, self.journal = History.read(path), Journal(path)
        self.number, self.dice = number, dice
        self.next = self.history.next_number
        self.made = self.next - 1
        self.covered = self.next

    @property
    def unsent(self) -> int:
        """Edits since the latest synchronization began, in this life."""
        return self.next - self.covered

    def begin_sync(self) -> None:
        self.covered = self.next
        self.journal.write("sync", covers=self.made)

    def end_sync(self, report: satchel.photos.SyncReport | None) -> None:
        """:param report: None when the synchronization failed as a whole"""
        if report is None:
            return self.journal.write("error", error="")
        failed = {failure.shard: f"{failure.code}: {failure.message}" for failure in report.failed}
        return self.journal.write("done", failed=failed, conflicts=self.photos.status().conflicts)


def main(options: dict[str, Any]) -> None:
    device = Device(options)
    {"live": device.live, "fill": device.fill, "sync": device.sync_once}[options["mode"]]()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
