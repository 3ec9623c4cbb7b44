"""The values of the model of the sync log: entries, packs, heads, and what they contain together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

#: Small, so that every path runs with a few entries: inline ones, merged packs, entries of a full pack.
INLINE, FAN_IN, FULL_PACK = 2, 3, 6
#: The maximum number of pairs in `Head.times`.
MAX_TIMES = 16

Document = tuple[tuple[str, str], ...]


class Violation(Exception):
    """A rule that a schedule has broken; its message begins with the rule's number in checks.py."""


def checksum(*values: object) -> str:
    return hashlib.blake2b(repr(values).encode(), digest_size=8).hexdigest()


class Version(NamedTuple):
    writer: str
    n: int
    checksum: str


Vector = tuple[Version, ...]


class Envelope(NamedTuple):
    id: str
    #: None for a tombstone.
    document: Document | None
    modified: int
    writer: str
    #: The writer's own number of the change.
    n: int
    #: The versions that it was built on: the latest version of each writer.
    ancestors: Vector
    checksum: str
    #: Ghost, which the protocol never reads: the edits that its writer had seen.
    seen: frozenset[str]

    @property
    def version(self) -> Version:
        return Version(self.writer, self.n, self.checksum)


class Entry(NamedTuple):
    #: 0 in a segment, where the pack's reference has the sequence.
    sequence: int
    envelope: Envelope


class Pack(NamedTuple):
    name: str
    first: int
    last: int
    count: int
    checksum: str


class Head(NamedTuple):
    log: str
    number: int
    id: str
    packs: tuple[Pack, ...] = ()
    inline_from: int = 1
    inline: tuple[Entry, ...] = ()
    digest: int = 0
    count: int = 0
    fence: int = 0
    retired: tuple[str, ...] = ()
    #: Pairs (number of a head, a time at which it existed), ascending in both.
    times: tuple[tuple[int, int], ...] = ()
    #: Tombstones up to this sequence are not part of the fold.
    horizon: int = 0
    is_closed: bool = False
    #: Ghosts: the head that it was made from, and why it may be written over none, or over a closed one.
    parent: str | None = None
    consent: str = ""

    @property
    def epoch(self) -> int:
        return int(self.log.split(".")[0])


Fold = dict[str, Entry]


def add_versions(vector: Iterable[Version], more: Iterable[Version], limit: int) -> Vector:
    """The latest version of each writer, those that were added last if there are more than the limit."""
    versions = {version.writer: version for version in vector}
    for version in more:
        known = versions.get(version.writer)
        if known is None or known.n < version.n:
            versions.pop(version.writer, None)
            versions[version.writer] = version
    return tuple(versions.values())[-limit:]


def includes(vector: Vector, envelope: Envelope) -> bool:
    return any(v.writer == envelope.writer and (v.n > envelope.n or v == envelope.version) for v in vector)


def is_built_on(one: Envelope, other: Envelope) -> bool:
    return includes(one.ancestors, other)


def is_fork(one: Envelope, other: Envelope, limit: int) -> bool:
    """Whether a later entry of the same log was certainly not built on another one.

    A full vector without the other's writer shows nothing: then the sequence decides.
    """
    return not is_built_on(one, other) and not is_undecidable(one, other, limit)


def is_undecidable(one: Envelope, other: Envelope, limit: int) -> bool:
    """Whether a full vector may have lost the other's writer."""
    return len(one.ancestors) >= limit and all(v.writer != other.writer for v in one.ancestors)


def digest(envelopes: Iterable[Envelope]) -> int:
    total = 0
    for envelope in envelopes:
        total ^= int(checksum(envelope.id, envelope.checksum), 16)
    return total


def checksum_of(entries: Iterable[Entry]) -> str:
    return checksum(tuple((entry.sequence, entry.envelope.checksum) for entry in entries))


def is_dropped(entry: Entry, horizon: int) -> bool:
    return entry.envelope.document is None and entry.sequence <= horizon


def latest(entries: Iterable[Entry], horizon: int) -> Fold:
    """The entry of each id with the greatest sequence, without the tombstones up to the horizon."""
    found: Fold = {}
    for entry in entries:
        known = found.get(entry.envelope.id)
        if known is None or known.sequence < entry.sequence:
            found[entry.envelope.id] = entry
    return {id: entry for id, entry in found.items() if not is_dropped(entry, horizon)}


def entries_of(pack: Pack, body: Iterable[Entry]) -> list[Entry]:
    return [Entry(entry.sequence or pack.last, entry.envelope) for entry in body]


def fold(head: Head, objects: dict) -> Fold:
    """The entries of a head, read from the objects that it names."""
    entries = list(head.inline)
    for pack in head.packs:
        if pack.name not in objects:
            raise Violation(f"S2: head {head.number} names {pack.name}, which does not exist")
        entries += entries_of(pack, objects[pack.name][0])
    return latest(entries, head.horizon)


class Times(NamedTuple):
    """How heads date themselves, in the time of a schedule."""

    retention: int
    interval: int

    def extended(
        self, times: tuple[tuple[int, int], ...], number: int, time: int
    ) -> tuple[tuple[int, int], ...]:
        """Adds the time of the head that was read. Later times are wrong: it is not older than their heads.

        The last pair is the latest head's; those before it are an interval apart.
        """
        kept = [pair for pair in times if pair[1] <= time]
        if len(kept) > 1 and kept[-1][1] < kept[-2][1] + self.interval:
            kept.pop()
        return (*kept, (number, time))[-MAX_TIMES:]

    def horizon(self, times: tuple[tuple[int, int], ...], now: int) -> int:
        return max((number for number, time in times if time < now - self.retention), default=0)
