"""A sync of the model: look, pull, resolve, decide, send. Requests are yielded."""

from __future__ import annotations

import contextlib

import decisions
from commit import commit, prepare, sendable, upload
from device import Busy, Device, Steps, Stopped
from remote import HEAD, NotFound, PreconditionFailed, Request, UnknownOutcome
from sync_log import (
    Entry,
    Head,
    Pack,
    Violation,
    checksum,
    checksum_of,
    digest,
    entries_of,
    is_dropped,
)

ROUNDS = 8


def sync(device: Device, *, sweeps: bool = False) -> Steps:
    """One sync; returns "sent" or "quiet"."""
    log, world, has_sent = device.log, device.world, False
    for attempt in range(ROUNDS):
        if not (yield from look(device, attempt)):
            continue
        if log.upload:
            if log.upload.base == log.etag and world.mutant != "new bytes":
                # The same bytes under the same condition.
                has_sent |= yield from commit(device)
                continue
            decisions.resolve_upload(device)
        yield Request("local")
        decisions.decide_all(device)
        garbage: list[str] = []
        broken: list[Pack] = []
        if sweeps and log.head:
            listed = yield Request("list")
            named = {pack.name for pack in log.head.packs} | set(log.head.retired)
            own = {log.segment[1].name} if log.segment else set()
            garbage = [name for name in listed if name not in named | own]
            broken = [pack for pack in log.head.packs if pack.name not in listed]
            sweeps = False
        if not sendable(device) and not garbage and not broken:
            return "sent" if has_sent else "quiet"
        if not (yield from prepare(device, garbage, broken)):
            continue
        if (yield from commit(device)):
            has_sent = True
        else:
            world.races += 1
    raise Busy


# LOOK


def look(device: Device, attempt: int) -> Steps:
    """Reads the head; returns whether the shadow is up to date with it."""
    log, world = device.log, device.world
    try:
        answer = yield Request("get", HEAD, log.etag)
    except NotFound:
        answer = yield from get_again(device)
        if answer is None:
            if log.name is None:
                return True
            yield from create(device)
            return False
    if answer is None:
        return True
    head, etag = answer
    if head.is_closed and world.mutant != "over closed":
        yield from meet_closed(device, head, etag)
        return False
    if is_older(device, head) and world.mutant != "believes old":
        # A stale answer, or a remote that has returned to an earlier state: a conditional write decides.
        if attempt >= 3:
            yield from take_over(device, head, etag)
        return False
    return (yield from pull(device, head, etag))


def get_again(device: Device) -> Steps:
    for _ in range(3):
        try:
            return (yield Request("get", HEAD))
        except NotFound:
            pass
    return None


def is_older(device: Device, head: Head) -> bool:
    log = device.log
    if log.name is None:
        return False
    return head.number < log.position if head.log == log.name else head.epoch <= log.epoch


def new_log(device: Device, other: int = 0) -> str:
    device.names += 1
    return f"{max(device.log.epoch, other) + 1}.{checksum(device.name, device.world.tick, device.names)}"


def empty_head(device: Device, log: str, number: int) -> Head:
    """The first head of a log. What the remote has else may be garbage of others: its fence is its number."""
    device.names += 1
    id = checksum(device.name, device.names, number)
    return Head(log, number, id, inline_from=number + 1, fence=number)


def try_put(head: Head, condition: str) -> Steps:
    with contextlib.suppress(PreconditionFailed, UnknownOutcome):
        yield Request("put", HEAD, condition, head)


def create(device: Device) -> Steps:
    """The head is lost, or seems to be. An empty remote is recreated by the host's consent only."""
    log = device.log
    if not device.recreates and device.world.mutant != "creates in empty" and not (yield Request("list")):
        raise Stopped("the remote is empty")
    head = empty_head(device, new_log(device), log.position + 1)
    may_create = device.recreates or device.has_listed_objects
    yield from try_put(head._replace(consent="recreate" if may_create else ""), "*")


def take_over(device: Device, head: Head, etag: str) -> Steps:
    """Writes an older head again in a new epoch, so that all devices join it."""
    number = max(device.log.position, head.number) + 1
    name = new_log(device, head.epoch)
    new = head._replace(log=name, number=number, id=checksum(name, "older"), parent=head.id)
    yield from try_put(new, etag)


def rebuild(device: Device, head: Head, etag: str, entries: list[Entry]) -> Steps:
    """Writes what can be read, and what is here, as a new log."""
    number = max(device.log.position, head.number)
    body = tuple(entries)
    pack = Pack(device.new_name("r"), 1, number, len(body), checksum_of(body))
    if not (yield from upload(device, [(pack, body)])):
        return
    new = empty_head(device, new_log(device, head.epoch), number + 1)
    envelopes = [entry.envelope for entry in body]
    yield from try_put(
        new._replace(packs=(pack,), digest=digest(envelopes), count=len(body), parent=head.id), etag
    )


# Closed accounts


def meet_closed(device: Device, head: Head, etag: str) -> Steps:
    """An account's end: a new log begins over it by the host's consent only."""
    if not device.is_first_upload:
        raise Stopped("the account is closed")
    number = max(device.log.position, head.number) + 1
    new = empty_head(device, new_log(device, head.epoch), number)
    yield from try_put(new._replace(parent=head.id, consent="first"), etag)


def close_account(device: Device) -> Steps:
    """Ends an account. What is deleted was listed before a closed head was written by its condition.

    A listing after it could name the packs of the log that another device has begun since.
    """
    lists_first = device.world.mutant != "lists after closing"
    for _ in range(ROUNDS):
        answer = yield from get_again(device)
        if answer is None:
            return "closed"
        head, etag = answer
        listed = (yield Request("list")) if lists_first else []
        if head.is_closed and lists_first and not listed:
            return "closed"
        number = max(device.log.position, head.number) + 1
        new = empty_head(device, new_log(device, head.epoch), number)
        try:
            yield Request("put", HEAD, etag, new._replace(is_closed=True, parent=head.id))
        except (PreconditionFailed, UnknownOutcome):
            continue
        for name in listed if lists_first else (yield Request("list")):
            with contextlib.suppress(UnknownOutcome):
                yield Request("delete", name)
        if not lists_first:
            return "closed"
    raise Busy


# PULL


def fetch(pack: Pack) -> Steps:
    for _ in range(4):
        try:
            body = (yield Request("get", pack.name))[0]
        except (NotFound, UnknownOutcome):
            continue
        if checksum_of(body) == pack.checksum:
            return body
    return None


def read(device: Device, head: Head, position: int) -> Steps:
    """The entries after a position, in ascending order, and whether all packs could be read."""
    found, is_whole = [], True
    for pack in head.packs:
        if pack.last <= position:
            continue
        if device.world.mutant == "skips straddling packs" and pack.first <= position:
            continue
        body = yield from fetch(pack)
        if body is None:
            is_whole = False
        else:
            found += entries_of(pack, body)
    found += head.inline
    entries = [entry for entry in found if entry.sequence > position]
    return sorted(entries, key=lambda entry: entry.sequence), is_whole


def pull(device: Device, head: Head, etag: str) -> Steps:
    """Brings the shadow to the fold of a head; returns whether it is there."""
    log, world = device.log, device.world
    is_other = head.log != log.name
    is_below = not is_other and log.position < head.horizon and world.mutant != "goes on below"
    for is_again in (False, True):
        is_whole = is_other or is_below or is_again or log.has_diverged
        entries, is_complete = yield from read(device, head, 0 if is_whole else log.position)
        before = {} if is_whole else log.shadow
        shadow = {**before, **{entry.envelope.id: entry for entry in entries}}
        if not is_complete:
            if device.accepts_loss and log.etag != etag:
                survivors = {**({} if is_other else log.shadow), **shadow}
                yield from rebuild(
                    device, head, etag, sorted(survivors.values(), key=lambda entry: entry.sequence)
                )
            return False
        # From here on it is one transaction.
        shadow = {id: entry for id, entry in shadow.items() if not is_dropped(entry, head.horizon)}
        if digest(entry.envelope for entry in shadow.values()) == head.digest and len(shadow) == head.count:
            break
        if not world.has_lost:
            raise Violation(f"S5: the digest of head {head.number} does not fit {device.name}")
        # Entries that the log has lost were not deleted, even if the device comes below the horizon before it
        # has read all of it.
        log.has_diverged = log.has_diverged or not is_whole
    else:
        raise Violation(f"S5: the digest of head {head.number} does not fit what it names")
    if is_other or is_again or log.has_diverged:
        decisions.join(device, shadow)
        log.has_diverged = False
    elif is_below:
        decisions.rejoin(device, shadow)
    else:
        decisions.drop_tombstones(device, before, head, shadow)
    log.shadow, log.position, log.etag, log.head, log.name = shadow, head.number, etag, head, head.log
    world.check_shadow(device)
    return True
