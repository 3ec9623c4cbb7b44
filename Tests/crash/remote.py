"""Reads the remote copy of a photo catalogue from an S3 store, without the library under test."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import urllib.parse
from dataclasses import dataclass
from typing import Any

import aws  # of Tests/Servers

SHARDS = "0123456789abcdef"


@dataclass
class Remote:
    """The manifest, the bytes of each shard, and their rows."""

    manifest: dict[str, Any]
    shards: dict[str, bytes]
    rows: dict[str, list[str]]


def read(store: dict[str, Any], prefix: str, user: str) -> Remote:
    """:raises RuntimeError: when there is no manifest, or the store does not answer"""
    manifest = _get(store, f"{prefix}catalogs/{user}/manifest.json")
    if manifest is None:
        raise RuntimeError("the remote copy has no manifest")
    shards = {shard: _get(store, f"{prefix}catalogs/{user}/shards/{shard}.csv") or b"" for shard in SHARDS}
    rows: dict[str, list[str]] = {}
    for content in shards.values():
        for row in csv.reader(io.StringIO(content.decode(), newline="")):
            rows[row[0]] = row
    return Remote(json.loads(manifest), shards, rows)


def faults(remote: Remote) -> list[str]:
    """Returns the contradictions in a remote copy."""
    found = []
    for shard, content in remote.shards.items():
        announced = remote.manifest["shard-checksums"].get(shard, hashlib.sha256(b"").hexdigest())
        if hashlib.sha256(content).hexdigest() != announced:
            found.append(f"shard {shard} has not the SHA-256 that the manifest says")
        keys = [row[0] for row in csv.reader(io.StringIO(content.decode(), newline=""))]
        if any(key[0] != shard for key in keys):
            found.append(f"shard {shard} has rows of others")
        if keys != sorted(set(keys)):
            found.append(f"shard {shard} is not sorted, or has a row twice")
    if remote.manifest["photo-count"] != len(remote.rows):
        found.append(f"the manifest counts {remote.manifest['photo-count']} photos of {len(remote.rows)}")
    return found


def _get(store: dict[str, Any], key: str) -> bytes | None:
    signer = aws.Key(store["access_key"], store["secret_key"])
    path = f"/{store['bucket']}/{urllib.parse.quote(key)}"
    status, body = aws.request(store["endpoint"], "GET", path, signer, region=store["region"])
    if status == 404:
        return None
    if status != 200:
        raise RuntimeError(f"{key}: {status} {body[:200]!r}")
    return body
