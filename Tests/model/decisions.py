"""Applies the entries of a head to what a device keeps, without requests."""

from __future__ import annotations

from device import Device, Record
from sync_log import (
    Entry,
    Envelope,
    Head,
    Violation,
    includes,
    is_built_on,
    is_dropped,
    is_fork,
    is_undecidable,
)

# RESOLVE


def resolve_upload(device: Device) -> None:
    """Another head replaced the one that the upload was made for: it was written before, or never will be."""
    log, world = device.log, device.world
    for id, record in log.records.items():
        if not record.in_flight:
            continue
        sequence, sent = record.in_flight
        record.in_flight = None
        entry = log.shadow.get(id)
        if entry and world.mutant != "no intent":
            remote = entry.envelope
            if remote.checksum == sent.checksum or is_built_on(remote, sent):
                confirm(device, record, sequence, sent)
                continue
            if not is_fork(remote, sent, world.max_writers):
                world.unsure |= sent.seen
        # It may have been deleted, and the tombstone dropped, since this device has read a head.
        world.unsure |= sent.seen if log.head and log.head.horizon else set()
    log.upload = None


def confirm(device: Device, record: Record, sequence: int, sent: Envelope) -> None:
    record.ancestors = device.union(device.ancestors(record), sent)
    record.base = sent
    if record.pending == sequence or device.world.mutant == "confirms all":
        record.pending = None


# PULL


def join(device: Device, shadow: dict[str, Entry]) -> None:
    """All was read of another log, or of one that lost something: what it lacks is sent again."""
    if device.world.mutant == "no renewal":
        return
    for id, record in device.log.records.items():
        entry = shadow.get(id)
        base = record.base
        if base and not (
            entry and (entry.envelope.checksum == base.checksum or is_built_on(entry.envelope, base))
        ):
            device.world.unsure |= record.seen  # Another device may bring what was built on it.
            record.ancestors = device.ancestors(record)
            record.base = None
            record.pending = record.pending or device.next_sequence()


def rejoin(device: Device, shadow: dict[str, Entry]) -> None:
    """All was read of the same log, by a device that was below the horizon: tombstones may have been dropped.

    The sequence shows what was built on what, even where a dropped tombstone has ended a line of versions.
    """
    for id, record in device.log.records.items():
        entry, base = shadow.get(id), record.base
        if base and not (
            entry and (entry.envelope.checksum == base.checksum or is_built_on(entry.envelope, base))
        ):
            forget_base(device, id, record, entry)


def drop_tombstones(device: Device, before: dict[str, Entry], head: Head, shadow: dict[str, Entry]) -> None:
    """A device that has read the tombstones up to the horizon drops them, and its bases of them."""
    log = device.log
    for id, old in before.items():
        if not is_dropped(old, head.horizon) or device.world.mutant == "keeps base":
            continue
        record, base = log.record(id), log.record(id).base
        if log.open.get(id) == old.envelope.checksum:
            del log.open[id]
        if base is None:
            continue
        if base.checksum == old.envelope.checksum:
            record.ancestors = device.ancestors(record) if record.pending else ()
            record.base = None
        elif not is_built_on(base, old.envelope):
            forget_base(device, id, record, shadow.get(id))


def forget_base(device: Device, id: str, record: Record, entry: Entry | None) -> None:
    """The base was deleted. Without an entry unchanged content is deleted, and changed content is sent."""
    device.log.open.pop(id, None)
    record.ancestors = device.ancestors(record) if record.pending else ()
    record.base = None
    if entry is None and record.pending is None:
        device.world.note(device.name, "deletes below the horizon", id)
        record.document, record.seen, record.modified = None, frozenset(), 0


# DECIDE


def decide_all(device: Device) -> None:
    log = device.log
    for id in sorted(set(log.records) | set(log.shadow)):
        entry, record = log.shadow.get(id), log.record(id)
        if entry is None:
            continue
        remote, base = entry.envelope, record.base
        if base and remote.checksum == base.checksum:
            continue
        is_older = includes(device.ancestors(record), remote)
        if is_older and device.world.mutant != "older as other":
            # The remote lost what was built on it: the local content is sent again.
            record.pending = record.pending or device.next_sequence()
            keep(device, record, remote)
            continue
        if log.open.get(id) == remote.checksum:
            continue
        log.open.pop(id, None)
        if is_older:
            raise Violation(f"S13: {device.name} decides about {id} against a version that it was built on")
        decide(device, id, record, remote)


def apply(device: Device, record: Record, remote: Envelope) -> None:
    record.document, record.modified, record.seen = remote.document, remote.modified, remote.seen
    record.pending, record.base, record.ancestors = None, remote, device.union((), remote)


def keep(device: Device, record: Record, remote: Envelope) -> None:
    record.ancestors = device.union(device.ancestors(record), remote)
    record.base = remote
    record.seen |= remote.seen


def decide(device: Device, id: str, record: Record, remote: Envelope) -> None:
    world, base = device.world, record.base
    if record.document == remote.document:
        world.fine |= record.seen - remote.seen
        return apply(device, record, remote)
    if record.pending is None:
        if not (base and forks(device, remote, base)):
            if base and world.has_lost and is_undecidable(remote, base, world.max_writers):
                # The remote may have lost the base. Where each lost entry was replaced since, the digest
                # fits, and nothing shows it.
                world.fine |= record.seen - remote.seen
            return apply(device, record, remote)
        # The remote lost what was synced, and others built on something older: both sides count as changed.
        if not world.has_lost:
            raise Violation(f"S9: a fork of {id} in a remote that has lost nothing")
        base = None
    if base and record.document == base.document:
        world.fine |= record.seen - remote.seen
        return apply(device, record, remote)
    if base and remote.document == base.document:
        return keep(device, record, remote)
    own = {edit for edit in remote.seen if edit.startswith(device.name + ".")} - (
        base.seen if base else frozenset()
    )
    if own - world.unsure and remote.writer == device.name and not world.has_lost:
        raise Violation(f"S6: {device.name} meets its own change of {id} as a conflict")
    if device.policy == "ask":
        record.pending = record.pending or device.next_sequence()
        device.log.open[id] = remote.checksum
        return None
    is_newer = (record.modified, record.document or ()) > (remote.modified, remote.document or ())
    policy = device.policy
    if policy == "newest":
        policy = "local" if is_newer else "remote"
    if policy == "merge" and record.document is not None and remote.document is not None:
        return merge(device, record, base, remote)
    if policy == "local" or (policy == "merge" and remote.document is None):
        record.pending = record.pending or device.next_sequence()
        return keep(device, record, remote)
    device.conflicts |= record.seen - remote.seen
    return apply(device, record, remote)


def forks(device: Device, remote: Envelope, base: Envelope) -> bool:
    match device.world.mutant:
        case "applies forks" | "no renewal":
            return False
        case "vector only":
            return not is_built_on(remote, base)
    return is_fork(remote, base, device.world.max_writers)


def merge(device: Device, record: Record, base: Envelope | None, remote: Envelope) -> None:
    is_newer = (record.modified, record.document or ()) > (remote.modified, remote.document or ())
    before = dict(base.document or ()) if base else {}
    local, other = dict(record.document or ()), dict(remote.document or ())
    merged: dict[str, str] = {}
    for name in sorted({*local, *other}):
        mine, theirs, old = local.get(name), other.get(name), before.get(name)
        if mine == theirs or theirs == old:
            value = mine
        elif mine == old:
            value = theirs
        else:
            value = mine if is_newer else theirs
            if not is_newer:
                device.conflicts |= record.seen - remote.seen
        if value:
            merged[name] = value
    keep(device, record, remote)
    record.document = tuple(sorted(merged.items()))
    record.modified = max(record.modified, remote.modified)
    record.pending = device.next_sequence()
    if record.document == remote.document:
        apply(device, record, remote)
