"""Reads the remote copy of a collection from an S3 store, without the library under test."""

from __future__ import annotations

import json
import urllib.parse
from dataclasses import dataclass
from typing import Any

import aws  # of Tests/Servers

MEMBERS = ["format", "id", "version", "revision", "created", "modified", "deleted", "writer", "ancestors"]
PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."


@dataclass
class Envelope:
    """An object of the remote copy."""

    members: dict[str, Any]
    #: The document as it is spelled there; None where it was deleted.
    text: str | None


def read(store: dict[str, Any], prefix: str, ids: list[str]) -> dict[str, Envelope]:
    """The records that there are objects of, by their ids.

    :param prefix: with user and collection
    :raises RuntimeError: when the store does not answer
    """
    signer = aws.Key(store["access_key"], store["secret_key"])
    found = {}
    for id in ids:
        path = urllib.parse.quote(f"/{store['bucket']}/{prefix}{spelled(id)}.json")
        status, body = aws.request(store["endpoint"], "GET", path, signer, region=store["region"])
        if status not in (200, 404):
            raise RuntimeError(f"{id}: {status} {body[:200]!r}")
        if status == 200:
            content = body.decode()
            _, mark, rest = content.partition(',"document":')
            found[id] = Envelope(json.loads(content), rest[:-1] if mark else None)
    return found


def spelled(id: str) -> str:
    """As the guide says, for ids that do not begin with a dot."""
    return "".join(chr(byte) if chr(byte) in PLAIN else f"%{byte:02X}" for byte in id.encode())


def faults(remote: dict[str, Envelope], devices: int) -> list[str]:
    """What contradicts itself in a remote copy."""
    found = []
    for id, envelope in remote.items():
        members = envelope.members
        wanted = MEMBERS if members["deleted"] else [*MEMBERS, "document"]
        if list(members) != wanted:
            found.append(f"{id} has the members {list(members)}")
        if members["id"] != id:
            found.append(f"the object of {id} is {members['id']}'s")
        if members["revision"] < 1 or members["created"] > members["modified"]:
            found.append(f"{id} has revision {members['revision']} and times that are none")
    writers = {envelope.members["writer"] for envelope in remote.values()}
    if not 1 <= len(writers) <= devices:
        found.append(f"{devices} devices are {len(writers)} writers")
    return found
