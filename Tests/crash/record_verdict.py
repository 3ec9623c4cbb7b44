"""Whether what synced_stores.py left behind is what it has to be: each rule gives what breaks it.

A value is acknowledged by the first sync that began after its edit was made and ended well, its record
included, when by then its device had not begun another edit of it, and had not logged it as lost, nor was it
to be decided. An edit that has read what it replaces says so: a value that was seen and replaced is gone for
good, while one that was replaced unseen has to be found elsewhere, as the strategy promises.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import documents
from documents import is_merged, own_ids, shared_ids
from journal import Edit, History
from record_device import possible_texts
from record_log import Envelope
from satchel.sync import ConflictEntry

#: Seconds in which two clocks that count milliseconds may say the same.
TICK = 0.002


@dataclass
class Left:
    """The content of a device in the end."""

    number: int
    history: History
    texts: dict[str, str]
    conflicts: list[ConflictEntry]
    faults: list[str]

    @property
    def lost(self) -> list[ConflictEntry]:
        return [each for each in self.conflicts if each.side == "local"]


@dataclass
class Claim:
    """An edit that gave something a value, None when that was taken out or deleted."""

    device: int
    edit: Edit
    id: str
    value: str | None
    #: The values that it replaced, knowing them.
    seen: list[str | None]
    acknowledged: float = math.inf
    is_logged: bool = False

    @property
    def is_deletion(self) -> bool:
        return self.id in self.edit.rows and self.edit.rows[self.id] is None

    @property
    def is_settled(self) -> bool:
        """Whether the record was as it had been agreed, when it was edited."""
        return self.id in self.edit.told["settled"]

    def __str__(self) -> str:
        return f"edit {self.edit.number} of device {self.device} ({self.value or 'none'!r})"


@dataclass
class Contest:
    """All edits of one value, and what came of them."""

    name: str
    id: str
    strategy: str
    claims: list[Claim]
    #: The value in the end.
    value: str | None
    origins: list[Claim] = field(init=False)

    def __post_init__(self) -> None:
        self.origins = [claim for claim in self.claims if claim.value == self.value]

    @property
    def may_come_back(self) -> bool:
        """Whether fields can be again what they were: an edit outlives a deletion, with all its document."""
        return self.strategy == "merge" and self.id not in documents.lasting_ids()


def contests(strategy: str, devices: list[Left], remote: dict[str, Envelope]) -> list[Contest]:
    """Of the records that all edit."""
    found = []
    for id in shared_ids():
        envelope = remote.get(id)
        final = documents.values(strategy, id, envelope.members.get("document") if envelope else None)
        for name, value in final.items():
            claims = [claim for left in devices for claim in _claims(strategy, left, id, name)]
            found.append(Contest(name, id, strategy, claims, value))
    return found


def _claims(strategy: str, left: Left, id: str, name: str) -> list[Claim]:
    """All edits by a device, in order, but for those that changed nothing."""
    logged = [documents.values(strategy, id, each.local)[name] if each.record == id else math.inf
              for each in left.lost]  # fmt: skip
    found = []
    for edit in left.history.edits:
        if name in edit.told["values"] and (edit.is_effective or not edit.is_made):
            claim = Claim(left.number, edit, id, edit.told["values"][name], edit.told["seen"][name])
            claim.is_logged = claim.value in logged
            found.append(claim)
    for sync in left.history.syncs:
        # All that the device had begun by then, so that the last of it decides.
        begun = [claim for claim in found if claim.edit.place < sync.place]
        if not sync.is_done or not begun or id in sync.failed or id in sync.told["waiting"]:
            continue
        last = begun[-1]
        is_covered = last.edit.is_made and last.edit.number <= sync.covers
        if is_covered and last.value not in logged[: sync.conflicts]:
            last.acknowledged = min(last.acknowledged, sync.ended or math.inf)
    return found


# Rules for every strategy


def changed_own(devices: list[Left], remote: dict[str, Envelope]) -> Iterator[str]:
    """Records that one device alone edits, and that are not as it left them."""
    for left in devices:
        for id in own_ids(left.number):
            text = remote[id].text if id in remote else None
            possible = possible_texts(left.history.of_row(id), id)
            if text not in possible:
                yield f"{id} is {text!r}, and device {left.number} has made it {possible!r}"
    for left in devices:
        for conflict in left.conflicts:
            if conflict.record not in shared_ids():
                yield f"device {left.number} has a conflict about {conflict.record}"


def went_back(devices: list[Left]) -> Iterator[str]:
    """Records of others that a device has seen newer before."""
    for left in devices:
        known: dict[str, float] = {}
        for sync in left.history.syncs:
            for id, number in sync.told.get("others", {}).items():
                if number < known.get(id, 0):
                    yield f"{id} was of edit {known[id]} for device {left.number}, and then of edit {number}"
                known[id] = number


def of_nobody(found: list[Contest], devices: list[Left], remote: dict[str, Envelope]) -> Iterator[str]:
    """Values that no edit has given, documents that none has spelled so, and others that are touched."""
    for contest in found:
        made = [claim for claim in contest.claims if claim.edit.is_made and claim.value is not None]
        if not contest.origins and (contest.value is not None or made):
            yield f"{contest.name}: no device has made it {contest.value!r}"
    edits = [edit for left in devices for edit in left.history.edits]
    written = {text for edit in edits for text in edit.rows.values()}
    # The document of a decision is kept by what it says.
    decisions = [edit for edit in edits if "decision" in edit.told]
    decided = [json.loads(text) for edit in decisions for text in edit.rows.values() if text]
    for contest in found:
        envelope = remote.get(contest.id)
        if envelope is None or envelope.text is None or is_merged(contest.strategy, contest.id):
            continue
        if envelope.text not in written and envelope.members["document"] not in decided:
            yield f"{contest.id}: no device has written it as {envelope.text!r}"
    for id in documents.other_ids():
        if id not in remote or remote[id].members.get("document") != {"by": id}:
            yield f"{id} is gone, or another, and no device has touched it"


def come_back(found: list[Contest]) -> Iterator[str]:
    """Values that somebody had seen and replaced."""
    for contest in found:
        if contest.value is None or contest.may_come_back:
            continue
        for claim in contest.claims:
            if claim.edit.is_made and contest.value in claim.seen and claim.value != contest.value:
                yield f"{contest.name}: it is {contest.value!r}, which {claim} has seen and replaced"


def broken_promises(found: list[Contest]) -> Iterator[str]:
    """Values that were in the remote when a later edit was made, which was acknowledged and is lost."""
    for contest in found:
        if contest.may_come_back:
            continue
        lost = [_replaced_by(origin, contest.claims) for origin in contest.origins]
        if lost and None not in lost:
            yield f"{contest.name}: it is {contest.value!r}, and {lost[-1]} was acknowledged and is lost"


def _replaced_by(origin: Claim, others: list[Claim]) -> Claim | None:
    for other in others:
        # To keep what the remote had is no change to it; of two deletions either one is that.
        decision = other.edit.told.get("decision")
        keeps = decision == "remote" or (decision == "local" and set(other.seen) == {other.value})
        if other.acknowledged == math.inf or other.value == origin.value or keeps or _undoes(other, others):
            continue
        is_later = other.edit.number > origin.edit.number
        if is_later if other.device == origin.device else other.edit.time > origin.acknowledged:
            return other
    return None


def _undoes(claim: Claim, claims: list[Claim]) -> bool:
    """Whether it takes out what its device alone had added and not yet sent: no change to the remote."""
    own = [each for each in claims if each.device == claim.device and each.edit.number < claim.edit.number]
    sent = [each.edit.number for each in own if each.acknowledged < math.inf]
    unsent = [each for each in own if each.edit.number > max(sent, default=-1)]
    return claim.value is None and bool(unsent) and set(unsent[0].seen) == {None}


def vanished(found: list[Contest]) -> Iterator[str]:
    """Values that are nowhere, and that no device that had seen them has replaced."""
    for contest in found:
        seen = {value for claim in contest.claims for value in claim.seen}
        for claim in contest.claims:
            if not claim.edit.is_made or claim.value in (contest.value, *seen) or claim.is_logged:
                continue
            if claim.value is None and (contest.strategy == "merge" or not claim.is_settled):
                # Nothing is left of a field that was taken out; and what the remote never had is no change.
                continue
            if not _may_be_replaced(claim, contest):
                yield f"{contest.name}: {claim} has vanished; it is {contest.value!r}"


def _may_be_replaced(claim: Claim, contest: Contest) -> bool:
    """Whether the strategy lets somebody replace in the remote what he has not seen."""
    others = [other for other in contest.claims if other.device != claim.device]
    if contest.strategy in ("remote_wins", "ask"):
        return False
    if contest.strategy == "newest_wins":
        return any(other.edit.made >= claim.edit.time - TICK for other in others)
    # In a merge an edit outlives a deletion.
    return any(contest.strategy != "merge" or not other.is_deletion for other in others)


# Rules of one strategy


def lost_to_deletions(devices: list[Left]) -> Iterator[str]:
    """With merge: edits that are said to have given way to a deletion."""
    for left in devices:
        for conflict in left.lost:
            if conflict.local is not None and conflict.remote is None:
                yield f"{conflict.record}: {conflict.local} of device {left.number}"


def older_than_lost(found: list[Contest]) -> Iterator[str]:
    """With newest_wins: values that are older than another that was made."""
    for contest in found:
        seen = {value for claim in contest.claims for value in claim.seen if value is not None}
        for claim in contest.claims:
            if not claim.edit.is_made or not contest.origins or claim.value in (contest.value, *seen):
                # A value that was seen and replaced does not count any more: its replacement is later.
                continue
            if claim.value is None and (
                not claim.is_settled
                # A record that was deleted in the common ancestor, and is deleted again, was not changed.
                or any(None in origin.seen for origin in contest.origins)
                or _was_deleted(contest)
                # Two deletions are one: the time of the one that was sent first counts.
                or any(other is not claim and other.value is None for other in contest.claims)
            ):
                continue
            if all(claim.edit.time > origin.edit.made + TICK for origin in contest.origins):
                yield f"{contest.name}: it is {contest.value!r}, and {claim} was made later"


def _was_deleted(contest: Contest) -> bool:
    """Whether what the value replaced was also deleted: over that the value may have been sent.

    Then a record that was put and deleted again is for its device as it was in the common ancestor.
    """
    seen = {value for origin in contest.origins for value in origin.seen}
    return any(claim.value is None and seen.intersection(claim.seen) for claim in contest.claims)
