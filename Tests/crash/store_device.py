"""One device of synced_stores.py: edits records, photos and state, and synchronizes, until it is killed.

Usage: store_device.py OPTIONS, a JSON object: folder, number, seed, policy, user, prefix, endpoint, and mode:
"live" until killed, "companion" to synchronize the same store from another process until killed, "fill" to
make what is only there, "sync" to decide what is asked, synchronize once, and say what came of it.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import satchel
from device import Album
from record_device import RecordDevice
from state_edits import StateEdits


class StoreDevice(RecordDevice):
    """A store of records, photos and state, with a journal each."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self.album = Album(self.store, self.folder, self.number, self.dice, self.policy)
        self.app_state = StateEdits(self.store, self.folder, self.number, self.dice)

    def fill(self) -> None:
        """Makes what is only there, and binds the catalogue: ``store.sync`` includes it from then on."""
        if self.number == 0:
            super().fill()
            self.album.fill()
        self.album.begin_sync()
        self.album.end_sync(self.album.photos.sync(self.remote, self.user))

    def edit(self) -> None:
        edits = [super().edit, super().edit, self.app_state.edit]
        # With many changed shards a synchronization has more requests than its process.
        if self.album.unsent < 2:
            edits.append(self.album.edit)
        self.dice.choice(edits)()

    def sync(self) -> satchel.StoreSyncReport | None:
        self.album.begin_sync()
        report = super().sync()
        self.album.end_sync(report.photos if report else None)
        return report

    def is_at_rest(self) -> bool:
        return self.album.photos.status().changes == 0


def main(options: dict[str, Any]) -> None:
    mode = options["mode"]
    if mode == "companion":
        RecordDevice(options, "-companion").sync_for_ever(random.Random(options["seed"]))
    device = StoreDevice(options)
    device.verify()
    {"live": device.live, "fill": device.fill, "sync": device.sync_once}[mode]()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
