"""Random arguments for the functions of the C interface, by the types of the binding's table and by the
roles of api_roles.py: valid, nearly valid and invalid ones.

Paths are relative, to the slice's own folder, and each role has a folder of its own there: a mutated path
leads nowhere else, and nothing but the library writes to a store.
"""

from __future__ import annotations

import ctypes
import random
from collections import defaultdict
from collections.abc import Callable
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_bool,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

import api_documents as documents
import api_records as records
from api_documents import choosing, encoded
from api_roles import KINDS, MAY_BE_NULL, PATHS, ROLES
from satchel import _abi
from satchel._abi import FUNCTIONS, Bytes

Text = Callable[[random.Random], bytes]


def _json(make: Callable[[random.Random], object]) -> Text:
    return lambda dice: encoded(make(dice))


#: Bytes, by role.
TEXTS: dict[str, Text] = {
    "tree": _json(documents.tree),
    "value": _json(documents.value),
    "edit": _json(documents.edit),
    "patch": _json(documents.patch),
    "path": lambda dice: documents.path(dice).encode(),
    "text": choosing("São Paulo", "", "chinese cuisine", "r", "…"),
    "location": _json(documents.location),
    "ids": lambda dice: encoded([documents.identifier(dice) for _ in range(dice.randrange(4))]),
    "scope": lambda dice: dice.choice(documents.SCOPES).encode(),
    "section_name": lambda dice: dice.choice(documents.SECTIONS).encode(),
    "entity": lambda dice: f"{dice.choice(documents.SECTIONS)}:{dice.randrange(6)}".encode(),
    "section": _json(documents.section),
    "delivery": _json(documents.delivery),
    "names": lambda dice: encoded(dice.sample(documents.SECTIONS, 2)),
    "story": lambda dice: dice.choice([*documents.STORIES, documents.TWEE]),
    "twee": lambda dice: documents.TWEE,
    "segment": choosing("", "Start", "the-well", "the-empty-hand", "the-beach", "Water"),
    "story_id": choosing("", "thor-the-bride", "frau-holle", "urashima-taro", "The Well", "../x"),
    "language": choosing("", "de"),
    "library_name": choosing("", "", "tales", "a/b", "n" * 129),
    "story_query": _json(documents.story_query),
    "reading": choosing(
        "", "{}", '{"reader":"Mia"}', '{"reader":"Mia","slot":"2","data":[1]}', '{"slot":7}', '{"data":null}'
    ),
    "s3": _json(documents.s3),
    "prefix": choosing("", "probe/", "/"),
    "object": choosing("a", "a", "own/b", "", "../c", "d" * 1025),
    "metadata": choosing("", "{}", '{"kind": "test"}', '{"Kind": 1}', "[]"),
    "photo_rows": _json(documents.photos),
    "md5": lambda dice: dice.choice(documents.MD5S).encode(),
    "md5s": lambda dice: encoded(dice.sample(documents.MD5S, 3)),
    "photo_group": lambda dice: dice.choice([b"month", b"day", b"camera", b"folder", b"year"]),
    "photo_query": _json(documents.photo_query),
    "after": lambda dice: dice.choice([b"", documents.MD5S[0].encode()]),
    "local": _json(documents.local),
    "identity": choosing("https://objects.example/box"),
    "user": choosing("me", "me", "me", "a.b-c_D"),
    "declaration": _json(records.declaration),
    "state_declaration": _json(documents.state_declaration),
    "identifier": lambda dice: documents.identifier(dice).encode(),
    "record": _json(records.record),
    "record_list": _json(records.records),
    "known_members": _json(
        lambda chance: [{"title": None, "rooms": [chance.randrange(3)]}, {"n": None, "a": 1}]
    ),
    "record_query": _json(records.record_query),
    "record_live_query": _json(records.record_live_query),
    "record_condition": _json(records.record_condition),
    "record_groups": _json(records.record_groups),
    "record_near": _json(records.record_near),
    "record_search": _json(records.record_search),
    "unique_path": choosing("level", "title", "/a", "a desc", ""),
    "resolution": _json(records.resolution),
    "collection": lambda dice: dice.choice(documents.COLLECTIONS).encode(),
    "bounds": _json(documents.bounds),
    "name": choosing("theme", "recent", "é", "n" * 255),
    "media_type": choosing("", "image/png", "t" * 256, "a\nb"),
    "asset": _json(documents.asset),
    "region_name": choosing("trip", "trip", "city", "", "n" * 129),
    "region": _json(documents.region),
    "asset_paths": choosing("[]", '["/*/picture"]', '["/a/b", "/*"]', '["a"]'),
    "base_url": choosing("http://127.0.0.1:1", "http://localhost:1/a?b", "ftp://a", "http://a:b@c", ""),
    "source_options": choosing(
        "", "{}", '{"headers": {"A": "b"}, "timeouts": {"connect": 100}}', '{"max_size": 1}', '{"x": 1}'
    ),
    "content_request": choosing(
        '{"location": {"country_code": "NO"}, "section": "s", "etag": "v1"}',
        '{"location": {"latitude": 1, "longitude": 2}, "entities": ["s:1"]}',
        '{"location": {}}',
        "{",
    ),
    "asset_list": _json(lambda dice: [documents.asset(dice) for _ in range(dice.randrange(4))]),
    "key": choosing("k" * 32, "k" * 32, "l" * 32),
}

_SMALL = [0, 1, 2, 3, 4, 5, 1, 2, 3, -1, 2**31 - 1]
#: Numbers by type: the small ones are enums, shards, limits, ids of conflicts, and revisions.
NUMBERS: dict[Any, list[Any]] = {
    c_bool: [False, True],
    c_int: [0, 0, 1, 1, 2, 3, 4, 5, -1, 2**31 - 1],
    c_int32: [*_SMALL, 15, 16, -(2**31)],
    c_int64: [-1, -1, -1, -1, *_SMALL, 100, 2**63 - 1, -(2**63)],
    c_uint32: [0, 1, 20, 50, 100, 2**32 - 1],
    c_uint64: [0, 1, 60000, 2**64 - 1],
    c_double: [0.0, 0.1, -0.5, 1.0, -1.0, 1e308, float("nan"), float("inf")],
}


class Options:
    """The memory of an options struct, with room for fields of a newer header."""

    def __init__(self, kind: type[Structure]):
        self.room = ctypes.create_string_buffer(1100)
        self.value = kind.from_buffer(self.room)


class Arguments:
    """The arguments of one call, and what they keep alive.

    :param handles: handles that are open, by kind; under ``closed``, handles that were closed, and under
        ``stale kind``, those that are open while their store is closed
    :param seen: bytes that the library made, by role, which are arguments again
    """

    def __init__(
        self, dice: random.Random, host: Any, handles: dict[str, list[int]], seen: dict[str, list[bytes]]
    ):
        self._dice, self._host, self._handles, self._seen = dice, host, handles, seen
        self.values: list[Any] = []
        self.outs: list[Any] = []
        self.used: list[tuple[str, int | None]] = []
        #: Whether a handle cannot be one that is open.
        self.has_bad_handle = False

    def fill(self, name: str) -> None:
        roles = iter(ROLES.get(name, "").split())
        kinds = FUNCTIONS[name][1]
        has_release = _abi.Release in kinds
        after_callback = False
        for index, kind in enumerate(kinds):
            if kind is c_void_p and (after_callback or name == "satchel_remote_callbacks"):
                self.values.append(self._host.context(has_release))
            elif kind is c_size_t:
                self.values.append(self._dice.choice([0, 1, 100, 1000, 2**63 + 7]))
            elif kind is c_void_p and name == "satchel_asset_reader_read" and index > 0:
                room = ctypes.create_string_buffer(1000)
                self.outs.append((None, room))
                self.values.append(self._dice.choice([ctypes.addressof(room)] * 9 + [None]))
            elif kind is c_void_p:
                self.values.append(self._handle(next(roles), may_be_null=(name, index) in MAY_BE_NULL))
            elif kind is Bytes:
                self.values.append(self._bytes(next(roles)))
            elif kind is c_char_p:
                self.values.append(self._path(next(roles)))
            elif name == "satchel_store_enter":
                self.values.append(self._dice.choice(self._host.batches))
            elif kind in NUMBERS:
                self.values.append(self._dice.choice(NUMBERS[kind]))
            elif kind in self._host.callbacks:
                # To ctypes they are one type.
                functions = {
                    ("satchel_assets_fetch", 2): self._host.fetch,
                    ("satchel_source_new", 0): self._host.content,
                    ("satchel_source_new", 1): self._host.fetch,
                }
                self.values.append(functions.get((name, index)) or self._callback(kind))
            elif isinstance(kind._type_, type(Structure)) and kind is not POINTER(_abi.Buffer):
                self.values.append(self._options(kind._type_))
            else:
                self.values.append(self._out(kind, name))
            after_callback = kind in self._host.callbacks
            if index == len(kinds) - 1 and next(roles, None):
                raise AssertionError(f"{name} has roles without an argument")

    def _handle(self, role: str, may_be_null: bool) -> int | None:
        handle: int | None
        if role == "answer":  # those of callbacks are called by the host; all others go nowhere
            return self._dice.choice([None, *self._host.answers, *self._handles["store"]])
        chance = self._dice.random()
        if chance < 0.01:
            handle = None
        elif chance < 0.02:
            handle = self._dice.choice([1, 8, 2**32, 2**63, 2**64 - 1, self._dice.randrange(2**64)])
        elif chance < 0.04 and self._handles["closed"]:
            handle = self._dice.choice(self._handles["closed"])
        elif chance < 0.07 and self._handles[f"stale {role}"]:
            handle = self._dice.choice(self._handles[f"stale {role}"])
            self.used.append((f"stale {role}", handle))
            return handle
        elif chance < 0.08:
            others = [each for kind in KINDS if kind != role for each in self._handles[kind]]
            handle = self._dice.choice(others or [None])
        else:
            handle = self._dice.choice(self._handles[role] or [None])
            self.used.append((role, handle))
            if handle is not None:
                return handle
        if handle is not None or not may_be_null:
            self.has_bad_handle = True
        return handle

    def _bytes(self, role: str) -> Bytes:
        data = self._path(role) or b"" if role in PATHS else self._text(role)
        chance = self._dice.random()
        if chance < 0.98:
            return Bytes(data, len(data))
        return self._dice.choice([Bytes(None, 0), Bytes(None, 5), Bytes(data, 0), Bytes(data, 2**63 + 7)])

    def _text(self, role: str) -> bytes:
        if self._seen[role] and self._dice.random() < 0.7:
            data = self._dice.choice(self._seen[role])
        else:
            data = TEXTS[role](self._dice) if role in TEXTS else b""
        if self._dice.random() < 0.1:
            return documents.mutated(self._dice, data)
        return data

    def _path(self, role: str) -> bytes | None:
        name = self._dice.choice(PATHS[role]).encode()
        if name == b":memory:":
            return name
        chance = self._dice.random()
        if chance < 0.01:
            return None
        if chance < 0.05:
            wrong = documents.mutated(self._dice, b"odd-" + name.replace(b"/", b"_"))
            name = b"odd-" + wrong.replace(b"/", b"_").replace(b"\0", b"_").replace(b"..", b"__")
            if self._dice.random() < 0.1:
                name = b"missing/" + name
        return role.encode() + b"/" + name

    def _callback(self, kind: Any) -> Any:
        return kind() if self._dice.random() < 0.1 else self._host.callbacks[kind]

    def _options(self, kind: type[Structure]) -> Any:
        needs_all = kind in (_abi.OpenOptions, _abi.RemoteOperations)
        # Rarely for stores: a write waits several times the default of 5 s while another handle has a batch.
        if self._dice.random() < (0.01 if needs_all else 0.3):
            return None
        options = Options(kind)
        has_release = any(name.endswith("_release") for name, *_ in kind._fields_)
        for name, field, *_ in kind._fields_:
            if field is c_void_p:
                setattr(options.value, name, self._host.context(has_release))
            elif field is Bytes:
                lent = self._option_bytes(name)
                setattr(options.value, name, lent)
                self.outs.append((None, lent))
            elif field in NUMBERS and self._dice.random() < 0.2:
                setattr(options.value, name, self._dice.choice(NUMBERS[field]))
            elif field in self._host.callbacks and self._dice.random() < (0.98 if needs_all else 0.8):
                setattr(options.value, name, self._host.callbacks[field])
        options.value.size = size = ctypes.sizeof(kind)
        if isinstance(options.value, _abi.OpenOptions):
            options.value.busy_timeout_ms = self._dice.choice([20, 50, 100])
        if self._dice.random() < 0.05:
            options.value.size = self._dice.choice([0, 7, 8, size - 1, size + 1, 1024, 1025, 2**63])
            if self._dice.random() < 0.3:
                options.room[size + 1] = 1
        self.outs.append((None, options))
        return byref(options.value)

    def _option_bytes(self, name: str) -> Bytes:
        roles = {"section": "section_name", "name": "text", "id_member": "name"}
        is_given = self._dice.random() < (0.9 if name == "identity" else 0.4)
        return self._bytes(roles.get(name, name)) if is_given else Bytes(None, 0)

    def _out(self, kind: Any, name: str) -> Any:
        if self._dice.random() < 0.03:
            return None
        out = kind._type_()
        if name == "satchel_buffer_free":
            out.data, out.size = None, 0
        elif kind is POINTER(_abi.Buffer):
            out.data, out.size = b"nonsense", 77  # what a failed call has to empty
        elif kind is not POINTER(c_double):
            out.value = 1
        self.outs.append((kind, out))
        return byref(out)


def new_handles() -> dict[str, list[int]]:
    return defaultdict(list)
