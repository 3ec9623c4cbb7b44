"""The rules that each schedule keeps.

S1 chain: a head replaces the one that it was made from
S2 reachable: what a head names exists
S3 fold: the digest is that of the entries; only tombstones up to the horizon disappear, and nothing returns
S4 seen: an entry was built on the one that it replaces, and is sent once
S5 shadow: at a position a device has exactly the entries of the head
S6 nothing is lost: every edit is in the remote or in the conflicts of a device, and none meets itself
S7 rest: in the end all devices have the same, and a sync is one request
S8 garbage: in the end only what the head names is left
S9 forks: in a remote that has lost nothing there are none
S10 horizon: no device that was away for less than the retention is below it; at last it passes all tombstones
S11 closed: a closed head is replaced only by the host's consent
S12 empty: nothing is created in an empty remote without the host's consent
S13 older: a version that local content was built on is never decided against it
"""

from __future__ import annotations

from collections import defaultdict

from sync_log import Fold, Head, Violation, digest, fold


class HeadChecks:
    """The contents of the heads of a schedule, by their names: ghosts, which the protocol never reads."""

    def __init__(self) -> None:
        self.folds: dict[tuple[str, int, str], Fold | None] = {}
        #: When the head of each number was written.
        self.written: dict[tuple[str, int], int] = {}
        #: The edits before tombstones that were dropped, by id.
        self.dropped: defaultdict[str, frozenset[str]] = defaultdict(frozenset)

    @staticmethod
    def name(head: Head) -> tuple[str, int, str]:
        return head.log, head.number, head.id

    def check_consent(self, new: Head, old: Head | None) -> None:
        """Of a head that is written over a closed one, or where none is."""
        if old and old.is_closed and not new.is_closed and new.consent != "first":
            raise Violation(f"S11: head {new.number} is written over a closed account")
        if old is None and not new.consent:
            raise Violation("S12: a head is created in an empty remote")

    def check(self, new: Head, old: Head | None, writer: str, objects: dict, unsure: set[str]) -> None:
        """Of a head that is about to be written, in a remote that has lost nothing."""
        if old and new.parent != old.id:
            raise Violation(f"S1: head {new.number} of {writer} was not made from head {old.number}")
        after = fold(new, objects)
        before = (self.folds[self.name(old)] or {}) if old and not old.is_closed and not new.is_closed else {}
        if old is None or old.log != new.log:
            self.dropped.clear()
        if digest(entry.envelope for entry in after.values()) != new.digest or len(after) != new.count:
            raise Violation(f"S3: the digest of head {new.number} is not that of its entries")
        for id, entry in before.items():
            if id not in after:
                if entry.envelope.document is not None or entry.sequence > new.horizon:
                    raise Violation(f"S3: {id} has disappeared with head {new.number}")
                self.dropped[id] |= entry.envelope.seen
        for id in after:
            self._check_entry(id, before, after, new, writer, unsure)
        self.folds[self.name(new)] = after

    def _check_entry(
        self, id: str, before: Fold, after: Fold, new: Head, writer: str, unsure: set[str]
    ) -> None:
        old, entry = before.get(id), after[id]
        seen = entry.envelope.seen
        if old is None:
            if id in self.dropped and seen <= self.dropped[id] and not seen & unsure:
                raise Violation(f"S3: {writer} brings {id} back, whose tombstone was dropped")
            return
        if old.envelope.checksum == entry.envelope.checksum:
            return
        if entry.sequence <= old.sequence:
            raise Violation(f"S3: {id} goes back with head {new.number}")
        if not old.envelope.seen <= seen:
            raise Violation(f"S4: {writer} replaces a {id} that it has not seen")
        if old.envelope.seen == seen and not seen & unsure:
            raise Violation(f"S4: {writer} sends {id} twice")

    def check_horizon(self, new: Head, old: Head | None, tick: int, retention: int) -> None:
        """Of a head whose writers have each a right clock."""
        known = old.horizon if old and old.log == new.log else 0
        if new.horizon < known or new.horizon >= new.number:
            raise Violation(f"S10: the horizon goes from {known} to {new.horizon} with head {new.number}")
        if new.horizon > known and self.written.get((new.log, new.horizon), 0) > tick - retention:
            raise Violation(
                f"S10: the horizon passes a head that is {tick - self.written[new.log, new.horizon]} old"
            )
