"""A user's sync log, read without the library under test."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

MEMBERS = [
    "format", "collection", "id", "version", "n", "revision", "created", "modified", "deleted", "writer",
    "ancestors",
]  # fmt: skip


@dataclass
class Envelope:
    """A version in the log."""

    members: dict[str, Any]
    #: The document as it is written there; None where it was deleted.
    text: str | None


@dataclass
class Log:
    """The content of the head and its packs: the latest version of each record of a collection."""

    envelopes: dict[str, Envelope]
    faults: list[str]


def fold(get: Callable[[str], bytes], collection: str) -> Log:
    """Reads the log.

    :param get: reads an object of the user
    """
    body = get("head")
    line, _, inline = body.partition(b"\n")
    head = json.loads(line)
    faults: list[str] = []
    members, _, checksum = line.rpartition(b',"sha256":"')
    if checksum != hashlib.sha256(members + b"\n" + inline).hexdigest().encode() + b'"}':
        faults.append("the head has other bytes than its checksum says")
    latest: dict[str, tuple[int, bytes]] = {}
    last = 0
    for pack in head["packs"]:
        name = pack["name"]
        if not last < pack["from"] <= pack["to"] < head["inline_from"]:
            faults.append(f"{name} is from {pack['from']} to {pack['to']}, after {last}")
        last = pack["to"]
        data = get(f"p/{name}")
        if hashlib.sha256(data).hexdigest() != pack["sha256"] or len(data) != pack["bytes"]:
            faults.append(f"{name} has other bytes than the head says")
        frames = list(_frames(data, pack["seq"]))
        if len(frames) != pack["entries"]:
            faults.append(f"{name} has {len(frames)} entries, not {pack['entries']}")
        _fold(latest, frames)
    _fold(latest, list(_frames(inline, head["number"])))
    if len(latest) != head["count"]:
        faults.append(f"the log has {len(latest)} records, its head counts {head['count']}")
    envelopes = {}
    for _, content in latest.values():
        members = json.loads(content)
        if members["collection"] == collection:
            _, mark, rest = content.decode().partition(',"document":')
            envelopes[members["id"]] = Envelope(members, rest[:-1] if mark else None)
    return Log(envelopes, faults)


def _frames(data: bytes, sequence: int) -> Iterator[tuple[int, bytes]]:
    """The sequences and envelopes of a pack; the sequence 0 is that of the pack."""
    while data:
        line, _, data = data.partition(b"\n")
        number, length = map(int, line.split())
        yield number or sequence, data[:length]
        data = data[length + 1 :]


def _fold(latest: dict[str, tuple[int, bytes]], frames: list[tuple[int, bytes]]) -> None:
    for number, content in frames:
        members = json.loads(content)
        name = f"{members['collection']}/{members['id']}"
        if name not in latest or latest[name][0] <= number:
            latest[name] = (number, content)


def faults(log: Log, devices: int) -> list[str]:
    """Returns the contradictions in a log."""
    found = list(log.faults)
    for id, envelope in log.envelopes.items():
        members = envelope.members
        wanted = MEMBERS if members["deleted"] else [*MEMBERS, "document"]
        if list(members) != wanted:
            found.append(f"{id} has the members {list(members)}")
        if members["revision"] < 1 or members["created"] > members["modified"]:
            found.append(f"{id} has revision {members['revision']} and times that are none")
    writers = {envelope.members["writer"] for envelope in log.envelopes.values()}
    if not 1 <= len(writers) <= devices:
        found.append(f"{devices} devices are {len(writers)} writers")
    return found
