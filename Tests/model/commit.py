"""How a device of the model builds and writes the next head."""

from __future__ import annotations

import contextlib

import decisions
from device import Device, Steps, Upload, sealed
from remote import HEAD, PreconditionFailed, Request, UnknownOutcome
from sync_log import (
    FAN_IN,
    FULL_PACK,
    INLINE,
    Entry,
    Head,
    Pack,
    checksum,
    checksum_of,
    digest,
    is_dropped,
)

#: The maximum number of changes in one commit.
MAX_CHANGES = 4


def sendable(device: Device) -> list[str]:
    log = device.log
    found = []
    for id, record in sorted(log.records.items()):
        if record.pending is None or id in log.open:
            continue
        entry = log.shadow.get(id)
        if record.document is None and entry is None and record.base is None:
            # It was never sent, or its tombstone was dropped.
            device.world.fine |= record.seen
            record.pending = None
            continue
        if (entry and entry.envelope.checksum) == (record.base and record.base.checksum):
            found.append(id)
    return found


def upload(device: Device, packs: list[tuple[Pack, tuple[Entry, ...]]]) -> Steps:
    """Writes packs; returns whether all exist."""
    for pack, body in packs:
        for _ in range(4):
            try:
                yield Request("put", pack.name, "*", body)
                break
            except PreconditionFailed:
                break  # No other writer has this name: an earlier attempt wrote it.
            except UnknownOutcome:
                pass
        else:
            return False
    return True


def dated(device: Device, head: Head) -> Head:
    """Adds the time of the head that was read, and raises the horizon."""
    log, world = device.log, device.world
    number = head.number if world.mutant == "dates the new head" else log.position
    times = world.times.extended(head.times, number, device.later) if log.position else head.times
    horizon = max(head.horizon, min(world.times.horizon(times, device.earlier), log.position))
    return head._replace(times=times, horizon=horizon)


def compact(device: Device, head: Head, old: list[Pack], broken: list[Pack]) -> tuple[Head, list]:
    """Replaces adjacent packs by one with their live entries, from the shadow."""
    world = device.world

    def live(first: int, last: int) -> tuple[Entry, ...]:
        entries = [entry for entry in device.log.shadow.values() if first <= entry.sequence <= last]
        entries = [entry for entry in entries if not is_dropped(entry, head.horizon)]
        if world.mutant == "drops tombstones":
            entries = [entry for entry in entries if entry.envelope.document is not None]
        return tuple(sorted(entries, key=lambda entry: (entry.sequence, entry.envelope.id)))

    dirty = [pack for pack in old if len(live(pack.first, pack.last)) < pack.count]
    # Readers need a dropped tombstone while an earlier pack has what it deleted.
    bound = [pack for pack in dirty if pack.first <= head.horizon]

    def is_allowed(packs: list[Pack]) -> bool:
        if world.mutant == "drops in any order" or not any(pack in bound for pack in packs):
            return True
        return dirty[0].first >= packs[0].first

    chosen: list[Pack] = []
    for pack in old:
        chosen = [*chosen, pack] if pack.count < FULL_PACK else []
        if len(chosen) == FAN_IN and is_allowed(chosen):
            break
        chosen = chosen[-FAN_IN + 1 :]
    else:
        # A third of it is dead.
        chosen = [pack for pack in dirty if len(live(pack.first, pack.last)) * 3 <= pack.count * 2][:1]
    chosen = broken[:1] or chosen
    if not is_allowed(chosen):
        chosen = dirty[:1]
    if not chosen:
        return head, []
    first, last = chosen[0].first, chosen[-1].last
    body = live(first, last)
    packs = list(head.packs)
    at = packs.index(chosen[0])
    new = [Pack(device.new_name("c"), first, last, len(body), checksum_of(body))] if body else []
    packs[at : at + len(chosen)] = new
    world.compactions += 1
    retired = (*head.retired, *(pack.name for pack in chosen))
    return head._replace(packs=tuple(packs), retired=retired), [(pack, body) for pack in new]


def prepare(device: Device, garbage: list[str], broken: list[Pack]) -> Steps:
    """Uploads what the next head names, and records the head; returns whether it may be written."""
    log, world = device.log, device.world
    present, number = log.head, (log.head.number if log.head else 0) + 1
    changes = {id: sealed(device, id, log.records[id]) for id in sendable(device)[:MAX_CHANGES]}
    envelopes = [envelope for _, envelope in changes.values()]
    device.names += 1
    head = present or Head(f"{log.epoch + 1}.{checksum(device.name, world.tick, device.names)}", 0, "")
    head = head._replace(
        number=number,
        retired=(),
        is_closed=False,
        parent=present.id if present else None,
        consent="" if log.name else "new",
    )
    head = dated(device, head)
    old = list(head.packs)
    uploads: list[tuple[Pack, tuple[Entry, ...]]] = []
    segment = None
    if len(head.inline) + len(envelopes) > INLINE and head.inline:
        body = head.inline
        pack = Pack(device.new_name("p"), head.inline_from, number - 1, len(body), checksum_of(body))
        head = head._replace(packs=(*head.packs, pack), inline=(), inline_from=number)
        uploads.append((pack, body))
    if len(envelopes) > INLINE:
        body = tuple(Entry(0, envelope) for envelope in envelopes)
        code, known = checksum_of(body), log.segment
        if known and known[0] == code and (known[2] == head.fence or world.mutant == "ignores fence"):
            pack = known[1]
        else:
            pack = Pack(device.new_name("s"), number, number, len(body), code)
            uploads.append((pack, body))
            segment = (code, pack, head.fence)
        pack = pack._replace(first=head.inline_from, last=number)
        head = head._replace(packs=(*head.packs, pack), inline_from=number + 1)
    else:
        head = head._replace(inline=(*head.inline, *(Entry(number, envelope) for envelope in envelopes)))
    head, rewritten = compact(device, head, old, broken)
    uploads += rewritten
    if world.mutant != "head first" and not (yield from upload(device, uploads)):
        return False
    log.segment = segment or log.segment
    # One transaction: nothing may have changed that the envelopes were made of.
    for id, (_, envelope) in changes.items():
        if device.ancestors(log.records[id]) != envelope.ancestors:
            return False
    after = {id: entry.envelope for id, entry in log.shadow.items() if not is_dropped(entry, head.horizon)}
    after |= {envelope.id: envelope for envelope in envelopes}
    if world.mutant == "drops tombstones" and rewritten:
        kept = {entry.envelope.id for pack, body in rewritten for entry in body}
        span = [(pack.first, pack.last) for pack, _ in rewritten]
        gone = {
            id
            for id, entry in log.shadow.items()
            if id in after
            and after[id] == entry.envelope
            and id not in kept
            and any(first <= entry.sequence <= last for first, last in span)
        }
        after = {id: envelope for id, envelope in after.items() if id not in gone}
    is_sweep = bool(garbage)
    head = head._replace(
        id=checksum(device.name, device.names, number, world.tick),
        digest=digest(after.values()),
        count=len(after),
        fence=number if is_sweep and world.mutant != "no fence" else head.fence,
    )
    if world.mutant == "no fence" and is_sweep and not envelopes and not rewritten:
        yield from delete(garbage)
        return False
    for id, change in changes.items():
        log.records[id].in_flight = change
    retired = list(present.retired) if present else []
    postponed = uploads if world.mutant == "head first" else []
    log.upload = Upload(log.etag, head, retired + garbage, is_sweep, postponed)
    return True


def delete(names: list[str]) -> Steps:
    for name in names:
        with contextlib.suppress(UnknownOutcome):
            yield Request("delete", name)


def commit(device: Device) -> Steps:
    """Writes the head of the upload under its condition; returns whether it is known to be written."""
    log, world, pending = device.log, device.world, device.log.upload
    assert pending
    condition = pending.base or "*"
    try:
        etag = yield Request("put", HEAD, None if world.mutant == "no condition" else condition, pending.head)
    except (PreconditionFailed, UnknownOutcome):
        return False  # A failed condition may be the answer to an own earlier attempt.
    yield from upload(device, pending.postponed)
    # One transaction.
    head, before = pending.head, dict(log.shadow)
    for id, record in log.records.items():
        if record.in_flight:
            sequence, sent = record.in_flight
            decisions.confirm(device, record, sequence, sent)
            record.in_flight = None
            log.shadow[id] = Entry(head.number, sent)
    log.shadow = {id: entry for id, entry in log.shadow.items() if not is_dropped(entry, head.horizon)}
    decisions.drop_tombstones(device, before, head, log.shadow)
    log.head, log.etag, log.position, log.name = head, etag, head.number, head.log
    log.upload = log.segment = None
    world.commits += 1
    world.check_shadow(device)
    yield from delete(pending.deletes)
    return True
