"""Reads a user's sync log from an S3 store, without the library under test."""

from __future__ import annotations

import urllib.parse
from typing import Any

import aws  # of Tests/Servers
import record_log


def read(store: dict[str, Any], prefix: str, collection: str) -> record_log.Log:
    """Reads the log from an S3 store.

    :param prefix: with the user
    :raises RuntimeError: when the store does not answer, or an object is missing
    """
    return record_log.fold(lambda name: _object(store, f"{prefix}{name}"), collection)


def _object(store: dict[str, Any], key: str) -> bytes:
    signer = aws.Key(store["access_key"], store["secret_key"])
    path = urllib.parse.quote(f"/{store['bucket']}/{key}")
    status, body = aws.request(store["endpoint"], "GET", path, signer, region=store["region"])
    if status != 200:
        raise RuntimeError(f"{key}: {status} {body[:200]!r}")
    return bytes(body)
