"""The host's side of the C interface in the fuzzer: callbacks, and the contexts that the library is lent.

A context is a number. The library must release it exactly once, and must not call back with it afterwards;
what breaks this is a fault. Faults end the slice.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from ctypes import byref, c_size_t, c_void_p, create_string_buffer, memset, string_at
from typing import Any

from satchel import _abi
from satchel._abi import REMOTE_RESULT, Bytes

#: Times of a broken clock.
STRANGE_TIMES = [0, -1, 2**63 - 1, -(2**63), 10**15]


def read(lent: Bytes) -> bytes:
    """The bytes that the library lends to a callback."""
    return string_at(c_void_p.from_buffer(lent).value, lent.size) if lent.size else b""


def lend(data: bytes) -> Bytes:
    return Bytes(data, len(data))


class Host:
    """Callbacks of every kind, and what they may do.

    :param call: calls a function of the library from within a callback: its name, and the context
    :param fault: notes that the library broke its contract
    """

    def __init__(
        self, library: Any, seed: int, call: Callable[[str, int], None], fault: Callable[[str], None]
    ):
        self._library, self._call, self._fault = library, call, fault
        self._dice = random.Random(seed)
        self._lock = threading.Lock()
        self._next = 1
        self._live: set[int] = set()
        self._objects: dict[bytes, tuple[bytes, bytes, bytes]] = {}
        #: Answers of callbacks that have returned, mostly.
        self.answers: list[int] = [1]
        #: Numbers of batches that were open.
        self.batches: list[int] = [0]
        # ctypes keeps no reference: these objects live as long as the process.
        self.callbacks = {
            _abi.Release: _abi.Release(self._release),
            _abi.Clock: _abi.Clock(self._clock),
            _abi.ChangeCallback: _abi.ChangeCallback(self._change),
            _abi.RecordsWatchCallback: _abi.RecordsWatchCallback(self._result),
            _abi.SessionCallback: _abi.SessionCallback(self._change),
            _abi.ProgressCallback: _abi.ProgressCallback(self._progress),
            _abi.JSONCallback: _abi.JSONCallback(self._member),
            _abi.InterruptCheck: _abi.InterruptCheck(self._must_stop),
            _abi.RecordMigration: _abi.RecordMigration(self._migrate),
            _abi.RemoteCredentialsCallback: _abi.RemoteCredentialsCallback(self._credentials),
            _abi.RemoteGet: _abi.RemoteGet(self._get),
            _abi.RemotePut: _abi.RemotePut(self._put),
            _abi.RemoteHead: _abi.RemoteHead(self._head),
            _abi.RemoteRemove: _abi.RemoteRemove(self._remove),
            _abi.RemoteList: _abi.RemoteList(self._list),
            _abi.AssetSource: _abi.AssetSource(self._source),
            _abi.AssetVariant: _abi.AssetVariant(self._variant),
            _abi.PhotoThumbnail: _abi.PhotoThumbnail(self._thumbnail),
        }
        # ChangeCallback and SessionCallback are one type to ctypes; so are AssetFetch and RemoteHead.
        self.fetch = _abi.AssetFetch(self._fetch)
        self.content = _abi.SourceContent(self._content)

    def context(self, is_released: bool) -> int:
        """A new context. One that has no release function is never released."""
        with self._lock:
            self._next += 1
            if is_released:
                self._live.add(self._next)
            return self._next * 2 + is_released

    def _is_gone(self, context: int | None) -> bool:
        return context is not None and context % 2 == 1 and context // 2 not in self._live

    def _seen(self, context: int | None, data: bytes = b"{}") -> None:
        with self._lock:
            if self._is_gone(context):
                self._fault(f"a callback got the context {context} after its release")
        try:
            json.loads(data)
        except ValueError as error:
            self._fault(f"a callback got what is no JSON: {error}: {data[:300]!r}")

    def _chance(self, probability: float) -> bool:
        with self._lock:
            return self._dice.random() < probability

    def _release(self, context: int | None) -> None:
        with self._lock:
            if context is None or self._is_gone(context):
                self._fault(f"the context {context} was released twice")
            else:
                self._live.discard(context // 2)

    def _clock(self, context: int | None) -> int:
        self._seen(context)
        if context is not None and context // 2 % 8 == 0:
            return STRANGE_TIMES[context // 16 % len(STRANGE_TIMES)]
        return int(time.time() * 1000) + (context or 0) * 1000

    def _result(self, context: int | None, status: int, message: Bytes) -> None:
        self._seen(context)
        if (status == 0) != (not read(message)):
            self._fault(f"a live query said {status} with the message {read(message)!r}")
        if self._chance(0.3):
            self._call("change", context or 0)

    def _change(self, context: int | None, change: Bytes) -> None:
        self._seen(context, read(change))
        if self._chance(0.3):
            self._call("change", context or 0)

    def _progress(self, context: int | None, progress: Bytes) -> bool:
        self._seen(None, read(progress))
        if self._chance(0.1):
            self._call("progress", context or 0)
        return not self._chance(0.05)

    def _member(self, context: int | None, key: Bytes, value: Bytes) -> bool:
        read(key).decode()
        self._seen(context, read(value))
        return not self._chance(0.1)

    def _must_stop(self, context: int | None) -> bool:
        self._seen(context)
        return self._chance(0.3)

    def _migrate(self, context: int | None, _from: int, _to: int, record: Bytes, answer: int | None) -> bool:
        data = read(record)
        self._seen(None, data)
        document = json.loads(data)["document"] | {"migrated": True}
        if self._chance(0.1):
            document = [document]
        self._call_answer("satchel_record_answer_document", answer, json.dumps(document).encode())
        self._call_answer("satchel_record_answer_message", answer, b"no")
        return not self._chance(0.1)

    def _call_answer(self, name: str, answer: int | None, data: bytes) -> None:
        getattr(self._library, name)(answer, lend(data))
        self.answers = [*self.answers[-9:], answer or 0]

    def _answer(self, answer: int | None, body: bytes = b"", etag: bytes = b"", metadata: bytes = b"") -> int:
        """Answers with an object, or with something a good store would not say."""
        if self._chance(0.02):
            body = body[: len(body) // 2]
        self._call_answer("satchel_remote_answer_body", answer, body)
        self._call_answer("satchel_remote_answer_etag", answer, etag)
        self._call_answer("satchel_remote_answer_metadata", answer, metadata)
        self._library.satchel_remote_answer_size(answer, len(body) if self._chance(0.98) else -1)
        return REMOTE_RESULT["ok"]

    def _failure(self, answer: int | None) -> int | None:
        """A failure of the store, now and then."""
        if not self._chance(0.04):
            return None
        self._call_answer("satchel_remote_answer_message", answer, b"the store has no mind to")
        with self._lock:
            return self._dice.choice([*REMOTE_RESULT.values(), 99, -1])

    def _credentials(self, context: int | None, answer: int | None) -> int:
        self._seen(context)
        return self._answer(answer, b'{"access_key": "a", "secret_key": "b"}')

    def _get(self, context: int | None, key: Bytes, if_none_match: Bytes, answer: int | None) -> int:
        self._seen(context)
        failure = self._failure(answer)
        if failure is not None:
            return failure
        found = self._objects.get(read(key))
        if not found:
            return REMOTE_RESULT["not_found"]
        if found[1] == read(if_none_match):
            return REMOTE_RESULT["not_modified"]
        return self._answer(answer, *found)

    def _put(
        self, context: int | None, key: Bytes, body: Bytes, if_match: Bytes, if_absent: bool, metadata: Bytes,
        answer: int | None,
    ) -> int:  # fmt: skip
        self._seen(context)
        failure = self._failure(answer)
        if failure is not None:
            return failure
        name, match = read(key), read(if_match)
        with self._lock:
            found = self._objects.get(name)
            if (if_absent and found) or (match and (not found or found[1] != match)):
                return REMOTE_RESULT["precondition_failed"]
            self._next += 1
            self._objects[name] = (read(body), b"%d" % self._next, read(metadata))
            made = self._objects[name]
        return self._answer(answer, b"", made[1])

    def _head(self, context: int | None, key: Bytes, answer: int | None) -> int:
        self._seen(context)
        found = self._objects.get(read(key))
        return self._answer(answer, *found) if found else REMOTE_RESULT["not_found"]

    def _remove(self, context: int | None, key: Bytes, if_match: Bytes, _answer: int | None) -> int:
        self._seen(context)
        name, match = read(key), read(if_match)
        with self._lock:
            found = self._objects.get(name)
            if match and (not found or found[1] != match):
                return REMOTE_RESULT["precondition_failed"]
            self._objects.pop(name, None)
        return REMOTE_RESULT["ok"]

    def _source(self, context: int | None, buffer: int | None, capacity: int) -> int:
        self._seen(context)
        if self._chance(0.5):
            return 0 if self._chance(0.8) else -1
        count = capacity if self._chance(0.5) else 10
        memset(buffer or 0, 7, count)
        return count if self._chance(0.95) else 2**63 - 1

    def _append(self, writer: int | None) -> None:
        data = b"a" * 30000
        while self._chance(0.6):
            self._library.satchel_asset_writer_append(writer, lend(data))
        self._call_answer("satchel_asset_writer_message", writer, b"no mind to")

    def _fetch(self, context: int | None, request: Bytes, writer: int | None) -> int:
        self._seen(context, read(request))
        self._append(writer)
        self._call_answer("satchel_asset_writer_etag", writer, b"v1")
        if self._chance(0.2):
            self._call("progress", context or 0)
        return 0 if self._chance(0.7) else self._dice.choice([*REMOTE_RESULT.values(), 99, -1])

    def _content(self, context: int | None, request: Bytes, answer: int | None) -> int:
        self._seen(context, read(request))
        body = b'{"section": "s", "content": {"a": 1}}' if self._chance(0.9) else b"{"
        self._call_answer("satchel_source_answer_body", answer, body)
        self._call_answer("satchel_source_answer_etag", answer, b"v1")
        self._call_answer("satchel_source_answer_message", answer, b"no mind to")
        self._library.satchel_source_answer_max_age(answer, self._dice.choice([-1, 0, 60, 2**63 - 1]))
        self._library.satchel_source_answer_retry_after(answer, self._dice.choice([-1, 0, 60, 2**63 - 1]))
        self._library.satchel_source_answer_complete(answer, self._chance(0.5))
        return 0 if self._chance(0.7) else self._dice.choice([*REMOTE_RESULT.values(), 99, -1])

    def _variant(self, context: int | None, reader: int | None, writer: int | None) -> bool:
        self._seen(context)
        room, count = create_string_buffer(100), c_size_t()
        if self._library.satchel_asset_reader_read(reader, 0, room, 100, byref(count)):
            self._fault("the reader of a variant cannot be read")
        self._append(writer)
        self._call_answer("satchel_asset_writer_type", writer, b"image/png")
        return self._chance(0.8)

    def _thumbnail(self, context: int | None, path: bytes, edge: int, writer: int | None) -> bool:
        self._seen(context)
        if not path or edge < 1:
            self._fault(f"a thumbnail of {edge} pixels was asked for of {path!r}")
        self._append(writer)
        return self._chance(0.8)

    def _list(self, context: int | None, prefix: Bytes, after: Bytes, limit: int, answer: int | None) -> int:
        self._seen(context)
        begin, last = read(prefix), read(after)
        with self._lock:
            names = sorted(name for name in self._objects if name.startswith(begin) and name > last)
            found = [(name, *self._objects[name]) for name in names[:limit]]
        entries = [
            {"key": name.decode(), "size": len(body), "etag": etag.decode()} for name, body, etag, _ in found
        ]
        body = json.dumps({"entries": entries, "has_more": len(names) > limit}).encode()
        return self._answer(answer, body)
