"""An object store in a folder, which can lose things, belong to an attacker, and fail or kill at any request.

The objects are files, so that a process that is killed leaves what it has written. One process uses the
folder at a time.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from satchel.remote import (
    NOT_MODIFIED,
    Callbacks,
    NotModified,
    PreconditionFailed,
    RemoteEntry,
    RemoteHead,
    RemoteObject,
    RemotePage,
    UnknownOutcome,
)

Value = TypeVar("Value")

#: The identity that all devices know the bucket by.
IDENTITY = "schedules"


class Bucket:
    """The objects, without faults."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / quote(key, safe="")

    def names(self) -> list[str]:
        return sorted(unquote(name) for name in os.listdir(self.folder))

    def read(self, key: str) -> RemoteObject:
        """
        :raises FileNotFoundError: when the object does not exist
        """
        line, _, body = self._path(key).read_bytes().partition(b"\n")
        header = json.loads(line)
        return RemoteObject(body, header["etag"], header["metadata"])

    def write(self, key: str, body: bytes, metadata: dict[str, str] | None = None) -> str:
        etag = uuid.uuid4().hex
        line = json.dumps({"etag": etag, "metadata": metadata or {}}).encode()
        incoming = self.folder.with_suffix(".incoming")
        incoming.write_bytes(line + b"\n" + body)
        incoming.rename(self._path(key))
        return etag

    def delete(self, key: str) -> None:
        self._path(key).unlink(missing_ok=True)

    def snapshot(self) -> dict[str, bytes]:
        return {name: (self.folder / name).read_bytes() for name in os.listdir(self.folder)}

    def put_back(self, snapshot: dict[str, bytes]) -> None:
        for name in os.listdir(self.folder):
            (self.folder / name).unlink()
        for name, content in snapshot.items():
            (self.folder / name).write_bytes(content)


class Line:
    """The way to a bucket: what happens to each request is chance.

    :param rate: the share of requests that fail in some way
    :param kill_at: the request at which this process kills itself, from 1; None for never
    """

    FAULTS = ("lost before", "lost after", "stale", "missing", "cut")

    def __init__(self, bucket: Bucket, seed: int, rate: float = 0.0, kill_at: int | None = None) -> None:
        self.bucket = bucket
        self.dice = random.Random(seed)
        self.rate = rate
        self.kill_at = kill_at
        self.requests = 0
        self.lock = threading.Lock()
        #: Earlier versions of the head, which a stale read returns.
        self.past: list[RemoteObject] = []

    def remote(self) -> Callbacks:
        return Callbacks(self.get, self.put, self.head, self.delete, self.list, identity=IDENTITY)

    def _request(self, act: Callable[[str], Value]) -> Value:
        with self.lock:
            self.requests += 1
            fault = self.dice.choice(self.FAULTS) if self.dice.random() < self.rate else ""
            kill = self.requests == self.kill_at
            if kill and self.dice.random() < 0.5:
                os.kill(os.getpid(), signal.SIGKILL)
            if fault == "lost before":
                raise UnknownOutcome("the request was lost")
            answer = act(fault)
            if kill:
                os.kill(os.getpid(), signal.SIGKILL)
            if fault == "lost after":
                raise UnknownOutcome("the answer was lost")
            return answer

    def get(self, key: str, if_none_match: str | None = None) -> RemoteObject | NotModified:
        def act(fault: str) -> RemoteObject | NotModified:
            if fault == "missing":
                raise KeyError(key)
            found = self.bucket.read(key)
            if key.endswith("/head"):
                self.past.append(found)
                if fault == "stale":
                    found = self.dice.choice(self.past[-4:])
            if found.etag == if_none_match:
                return NOT_MODIFIED
            if fault == "cut":
                return RemoteObject(found.body[: len(found.body) // 2], found.etag, found.metadata)
            return found

        return self._request(act)

    def put(
        self,
        key: str,
        body: bytes,
        if_match: str | None = None,
        if_absent: bool = False,
        metadata: dict[str, str] | None = None,
    ) -> str:
        def act(fault: str) -> str:
            self._expect(key, if_match, if_absent)
            return self.bucket.write(key, bytes(body), metadata)

        return self._request(act)

    def head(self, key: str) -> RemoteHead:
        def act(fault: str) -> RemoteHead:
            found = self.bucket.read(key)
            return RemoteHead(len(found.body), found.etag, found.metadata)

        return self._request(act)

    def delete(self, key: str, if_match: str | None = None) -> None:
        def act(fault: str) -> None:
            self._expect(key, if_match, False)
            self.bucket.delete(key)

        self._request(act)

    def list(self, prefix: str, after: str | None = None, limit: int = 1000) -> RemotePage:
        def act(fault: str) -> RemotePage:
            keys = [key for key in self.bucket.names() if key.startswith(prefix) and key > (after or "")]
            found = [(key, self.bucket.read(key)) for key in keys[:limit]]
            entries = [RemoteEntry(key, len(each.body), each.etag) for key, each in found]
            return RemotePage(entries, has_more=len(keys) > limit)

        return self._request(act)

    def _expect(self, key: str, etag: str | None, if_absent: bool) -> None:
        if etag is None and not if_absent:
            return
        try:
            found: Any = self.bucket.read(key).etag
        except FileNotFoundError:
            found = None
        if found is not None if if_absent else found != etag:
            raise PreconditionFailed(f"{key} is another")
