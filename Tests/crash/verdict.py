"""Whether what photos.py left behind is what it has to be: each rule gives what breaks it.

An edit is acknowledged by the first sync that began after the edit was made and ended well, its shard
included, when no conflict log has it by then and its device had not begun another edit of the row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from device import OTHERS, md5, own_rows, row, shared_rows
from journal import Edit, History, Sync
from remote import Remote
from satchel.sync import ConflictEntry


@dataclass
class Left:
    """The content of a device in the end."""

    number: int
    history: History
    conflicts: list[ConflictEntry]
    shards: dict[str, bytes]
    faults: list[str]
    changes: int
    #: Those of another process with the same store.
    others: list[Sync] = field(default_factory=list)

    def under_way(self, time: float) -> list[float]:
        """When the synchronizations began that may have been under way."""
        own = [sync.began for sync in self.history.syncs if sync.began < time < (sync.ended or 0)]
        # One that was killed ended before the next began.
        ends = [later.began for later in self.others[1:]] + [math.inf]
        others = zip(self.others, ends, strict=True) if self.others else []
        return own + [sync.began for sync, end in others if sync.began < time < (sync.ended or end)]


@dataclass
class Claim:
    """An edit of a row, as far as it counts."""

    device: int
    edit: Edit
    value: str | None
    acknowledged: float = math.inf
    is_logged: bool = False
    #: When the newest version of the remote copy may have been read that the edit could replace.
    since: float = 0

    def __str__(self) -> str:
        return f"edit {self.edit.number} of device {self.device} ({self.value or 'deleted'!r})"


def claims(left: Left, key: str) -> list[Claim]:
    """All edits of a row by a device, in order, but for those that changed nothing."""
    found = []
    for edit in left.history.of_row(key):
        if edit.is_made and not edit.is_effective:
            continue
        claim = Claim(left.number, edit, edit.rows[key])
        claim.is_logged = _is_logged(left, claim, key, len(left.conflicts))
        claim.since = min([edit.time, *left.under_way(edit.time)])
        found.append(claim)
    for sync in left.history.syncs:
        # All that the device had begun by then, so that the last of it decides.
        begun = [claim for claim in found if claim.edit.place < sync.place]
        if not sync.is_done or not begun or str(int(key[0], 16)) in sync.failed:
            continue
        last = begun[-1]
        is_covered = last.edit.is_made and last.edit.number <= sync.covers
        if is_covered and not _is_logged(left, last, key, sync.conflicts):
            last.acknowledged = min(last.acknowledged, sync.ended or math.inf)
    return found


def _is_logged(left: Left, claim: Claim, key: str, count: int) -> bool:
    """Whether it is among the first conflicts of its device. Names are of one edit; deletions come later."""
    if claim.value is not None:
        logged = left.conflicts[:count]
        return any(each.md5 == key and each.local and each.local.filename == claim.value for each in logged)
    logged = left.conflicts[claim.edit.conflicts : count]
    return any(each.md5 == key and each.local is None for each in logged)


def broken_promises(devices: list[Left], remote: Remote) -> Iterator[str]:
    """Rows of the remote copy that no device wrote, or that an acknowledged edit had replaced."""
    for key in _keys(len(devices)):
        value = remote.rows[key][1] if key in remote.rows else None
        all_claims = [claim for left in devices for claim in claims(left, key)]
        origins = [claim for claim in all_claims if claim.value == value]
        lost = [_replaced_by(origin, all_claims) for origin in origins]
        if value is None:
            # As it was in the beginning.
            lost.append(next((claim for claim in all_claims if claim.acknowledged < math.inf), None))
        if not lost:
            yield f"row {key}: no device has written {value!r}"
        elif None not in lost:
            yield f"row {key}: it is {value or 'deleted'!r}, and {lost[-1]} was acknowledged and is lost"


def _replaced_by(origin: Claim, others: list[Claim]) -> Claim | None:
    """An acknowledged edit that came to the remote copy later than this one."""
    for other in others:
        if other is origin or other.acknowledged == math.inf:
            continue
        is_later = other.edit.number > origin.edit.number
        if is_later if other.device == origin.device else other.since > origin.acknowledged:
            return other
    return None


def vanished_edits(devices: list[Left], remote: Remote) -> Iterator[str]:
    """The latest edits that are neither in the remote copy nor acknowledged nor in the conflict log."""
    for left in devices:
        for key in [*own_rows(left.number), *shared_rows()]:
            value = remote.rows[key][1] if key in remote.rows else None
            found = claims(left, key)
            made = [each for each, claim in enumerate(found) if claim.edit.is_made]
            if not made:
                continue
            # The edit during which its device was killed may have been made, too.
            latest = found[made[-1] :]
            is_shared = key in shared_rows()
            if is_shared and len(latest) > 1:
                # Then it may also have come to the remote copy, and others may have replaced it there.
                continue
            if any(claim.value == value or claim.is_logged for claim in latest):
                continue
            if not is_shared or latest[0].acknowledged == math.inf:
                yield f"row {key}: {latest[0]} is gone; the row is {value or 'deleted'!r}"


def torn_rows(devices: list[Left], remote: Remote) -> Iterator[str]:
    """Rows that are not as their edit made them."""
    numbers = {(key, name): edit.number for left in devices for edit in left.history.edits
               for key, name in edit.rows.items()}  # fmt: skip
    for key, found in remote.rows.items():
        number = numbers.get((key, found[1]))
        if number is None:
            yield f"row {key} is of no device"
            continue
        columns = ["" if each is None else str(each) for each in row(key, found[1], number).values()]
        if found != [*columns, ""]:
            yield f"row {key} is {found}"
    if missing := {md5("other", each) for each in range(OTHERS)} - remote.rows.keys():
        yield f"{len(missing)} rows are gone that no device has touched"


def _keys(devices: int) -> list[str]:
    return [*(key for number in range(devices) for key in own_rows(number)), *shared_rows()]
