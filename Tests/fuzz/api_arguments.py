"""Random arguments for the functions of the C interface, by the types of the binding's table and by the
roles below: valid, nearly valid and invalid ones.

Paths are relative, to the slice's own folder, and each role has a folder of its own there: a mutated path
leads nowhere else, and nothing but the library writes to a store.
"""

from __future__ import annotations

import ctypes
import random
from collections import defaultdict
from collections.abc import Callable
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_uint32, c_uint64, c_void_p  # noqa: E501
from typing import Any

import api_documents as documents
from api_documents import choosing, encoded
from satchel import _abi
from satchel._abi import FUNCTIONS, Bytes

#: What the handles, bytes and paths of a function are, in the order of its arguments.
ROLES = {
    "satchel_store_open": "stores",
    "satchel_store_close": "store",
    "satchel_store_info": "store",
    "satchel_store_check": "store",
    "satchel_store_is_read_only": "store",
    "satchel_store_observe": "store",
    "satchel_observer_free": "observer",
    "satchel_json_check": "tree",
    "satchel_json_edit": "tree value edit",
    "satchel_json_merge": "tree tree",
    "satchel_json_merge_patch": "tree tree",
    "satchel_json_patch": "tree patch",
    "satchel_json_value_at": "tree path",
    "satchel_place_normalize": "text",
    "satchel_place_key": "location scope",
    "satchel_place_most_specific_level": "location",
    "satchel_place_level_of_scope": "scope",
    "satchel_place_entity_id": "section_name text",
    "satchel_place_section_of": "entity",
    "satchel_catalogue_persist": "store location section",
    "satchel_catalogue_deliver": "store delivery",
    "satchel_catalogue_sections": "store location",
    "satchel_catalogue_load": "store location section_name",
    "satchel_catalogue_plan": "store location",
    "satchel_catalogue_has_cached": "store location",
    "satchel_catalogue_entity": "store entity location",
    "satchel_catalogue_set_active_location": "store location",
    "satchel_catalogue_active_location": "store",
    "satchel_catalogue_prune": "store",
    "satchel_session_new": "store",
    "satchel_session_show": "session location",
    "satchel_session_handle": "session section",
    "satchel_session_load": "session section_name",
    "satchel_session_fail": "session section_name text",
    "satchel_session_set_order": "session names",
    "satchel_session_state": "session",
    "satchel_session_free": "session",
    "satchel_story_check": "story",
    "satchel_story_describe": "story",
    "satchel_story_segment": "story segment",
    "satchel_story_path_count": "story",
    "satchel_story_graph": "story",
    "satchel_story_diff": "story story",
    "satchel_story_from_twee": "twee story_id",
    "satchel_stories_open": "store story_folder",
    "satchel_stories_refresh": "stories_handle",
    "satchel_stories_load_all": "stories_handle",
    "satchel_stories_select": "stories_handle story_query",
    "satchel_stories_facets": "stories_handle",
    "satchel_stories_story": "stories_handle story_id",
    "satchel_stories_segment": "stories_handle story_id segment",
    "satchel_stories_mark_purchased": "stories_handle story_id",
    "satchel_stories_preload": "stories_handle",
    "satchel_stories_clear_cache": "stories_handle",
    "satchel_stories_free": "stories_handle",
    "satchel_remote_directory": "remotes",
    "satchel_remote_s3": "s3",
    "satchel_remote_answer_body": "answer text",
    "satchel_remote_answer_etag": "answer text",
    "satchel_remote_answer_metadata": "answer text",
    "satchel_remote_answer_size": "answer",
    "satchel_remote_answer_message": "answer text",
    "satchel_remote_callbacks": "",
    "satchel_remote_probe": "remote prefix",
    "satchel_remote_free": "remote",
    "satchel_photos_open": "store photo_folder",
    "satchel_photos_upsert": "photos photo_rows",
    "satchel_photos_get": "photos md5",
    "satchel_photos_delete": "photos md5s",
    "satchel_photos_query": "photos photo_query",
    "satchel_photos_count": "photos photo_query",
    "satchel_photos_status": "photos",
    "satchel_photos_modified_shards": "photos",
    "satchel_photos_changes": "photos after",
    "satchel_photos_export_shard": "photos",
    "satchel_photos_import_shard": "photos shard_file",
    "satchel_photos_export_directory": "photos exports",
    "satchel_photos_import_directory": "photos exports",
    "satchel_photos_set_local": "photos md5 local",
    "satchel_photos_star": "photos md5",
    "satchel_photos_backup_queue": "photos md5",
    "satchel_photos_backup_claim": "photos",
    "satchel_photos_backup_done": "photos md5",
    "satchel_photos_backup_failed": "photos md5 text",
    "satchel_photos_scan": "photos",
    "satchel_photos_sync": "photos remote user",
    "satchel_photos_verify": "photos remote user",
    "satchel_photos_unlink": "photos",
    "satchel_photos_conflicts": "photos",
    "satchel_photos_reapply": "photos",
    "satchel_photos_dismiss": "photos",
    "satchel_photos_free": "photos",
    "satchel_store_begin": "store",
    "satchel_store_commit": "store",
    "satchel_store_rollback": "store",
    "satchel_store_batch": "store",
    "satchel_store_enter": "store",
    "satchel_store_leave": "store",
    "satchel_store_backup": "store backups",
    "satchel_store_backup_rotate": "store rotated",
    "satchel_restore": "backups stores",
    "satchel_recover": "damaged recovered",
    "satchel_record_answer_document": "answer record",
    "satchel_record_answer_message": "answer text",
    "satchel_records_open": "store declaration",
    "satchel_store_collections": "store",
    "satchel_records_put": "records identifier record",
    "satchel_records_put_many": "records record_list",
    "satchel_records_get": "records identifier",
    "satchel_records_record": "records identifier",
    "satchel_records_delete": "records identifier",
    "satchel_records_list": "records record_query",
    "satchel_records_count": "records record_query",
    "satchel_records_mirror": "records mirrors",
    "satchel_records_verify_mirror": "records",
    "satchel_records_rebuild": "records",
    "satchel_records_sync": "records remote user",
    "satchel_records_unlink": "records",
    "satchel_records_conflicts": "records",
    "satchel_records_resolve": "records resolution",
    "satchel_records_free": "records",
    "satchel_state_configure": "store",
    "satchel_state_set_key": "store key",
    "satchel_state_rotate_key": "store key",
    "satchel_state_set": "store name value",
    "satchel_state_get": "store name",
    "satchel_state_remove": "store name",
    "satchel_state_keys": "store text",
    "satchel_state_flush": "store",
    "satchel_state_list_push": "store name value",
    "satchel_state_list_items": "store name",
    "satchel_state_list_remove": "store name value",
    "satchel_state_list_clear": "store name",
    "satchel_state_member_add": "store name value",
    "satchel_state_member_remove": "store name value",
    "satchel_state_members": "store name",
    "satchel_state_score_add": "store name name",
    "satchel_state_scores": "store name",
}

#: The kinds of handles, and how many of each may be open at once.
KINDS = {"store": 8, "observer": 6, "session": 6, "stories_handle": 4, "remote": 6, "photos": 6, "records": 12}
MAKERS = {
    "satchel_store_open": "store",
    "satchel_store_observe": "observer",
    "satchel_session_new": "session",
    "satchel_stories_open": "stories_handle",
    "satchel_remote_directory": "remote",
    "satchel_remote_s3": "remote",
    "satchel_remote_callbacks": "remote",
    "satchel_photos_open": "photos",
    "satchel_records_open": "records",
}
ENDERS = {
    "satchel_store_close", "satchel_observer_free", "satchel_session_free", "satchel_stories_free",
    "satchel_remote_free", "satchel_photos_free", "satchel_records_free",
}  # fmt: skip

#: Paths, by role: names in a folder that has the role's name.
PATHS = {
    "stores": ["a", "a", "a", "b", "b", "b", "c", "c", ":memory:", "../damaged/cut", "../damaged/flipped"],
    "backups": ["a", "b"],
    "rotated": [""],
    "damaged": ["../stores/a", "../stores/b", "../backups/a", "cut", "flipped", "text"],
    "recovered": [str(number) for number in range(30)],
    "exports": ["a", "b"],
    "mirrors": ["a.json", "b.json"],
    "remotes": ["a", "b"],
    "photo_folder": ["", "more"],
    "story_folder": [""],
}

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
    "scope": lambda dice: dice.choice(documents.SCOPES).encode(),
    "section_name": lambda dice: dice.choice(documents.SECTIONS).encode(),
    "entity": lambda dice: f"{dice.choice(documents.SECTIONS)}:{dice.randrange(6)}".encode(),
    "section": _json(documents.section),
    "delivery": _json(documents.delivery),
    "names": lambda dice: encoded(dice.sample(documents.SECTIONS, 2)),
    "story": lambda dice: dice.choice([*documents.STORIES, documents.TWEE]),
    "twee": lambda dice: documents.TWEE,
    "segment": choosing("", "start", "Water", "segment_1"),
    "story_id": choosing("", "thor-the-bride", "frau-holle", "urashima-taro", "The Well", "../x"),
    "story_query": _json(documents.story_query),
    "s3": _json(documents.s3),
    "prefix": choosing("", "probe/", "/"),
    "photo_rows": _json(documents.photos),
    "md5": lambda dice: dice.choice(documents.MD5S).encode(),
    "md5s": lambda dice: encoded(dice.sample(documents.MD5S, 3)),
    "photo_query": _json(documents.photo_query),
    "after": lambda dice: dice.choice([b"", documents.MD5S[0].encode()]),
    "local": _json(documents.local),
    "user": choosing("me", "you", "a.b-c_D"),
    "declaration": _json(documents.declaration),
    "identifier": lambda dice: documents.identifier(dice).encode(),
    "record": _json(documents.record),
    "record_list": _json(documents.records),
    "record_query": _json(documents.record_query),
    "resolution": _json(documents.resolution),
    "name": choosing("theme", "recent", "é", "n" * 255),
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
    """What an options struct points to, with room for fields of a newer header."""

    def __init__(self, kind: type[Structure]):
        self.room = ctypes.create_string_buffer(1100)
        self.value = kind.from_buffer(self.room)


class Arguments:
    """The arguments of one call, and what they keep alive.

    :param handles: handles that are open, by kind; of ``closed``, those that are not
    """

    def __init__(self, dice: random.Random, host: Any, handles: dict[str, list[int]], seen: dict[str, list[bytes]]):
        self._dice, self._host, self._handles, self._seen = dice, host, handles, seen
        self.values: list[Any] = []
        self.outs: list[Any] = []
        self.used: list[tuple[str, int | None]] = []
        #: Whether a handle cannot be one that is open.
        self.has_bad_handle = False
        #: Whether bytes or options are not as their role makes them.
        self.is_mutated = False

    def fill(self, name: str) -> None:
        roles = iter(ROLES.get(name, "").split())
        kinds = FUNCTIONS[name][1]
        has_release = _abi.Release in kinds
        after_callback = False
        for index, kind in enumerate(kinds):
            if kind is c_void_p and (after_callback or name == "satchel_remote_callbacks"):
                self.values.append(self._host.context(has_release))
            elif kind is c_void_p:
                self.values.append(self._handle(next(roles)))
            elif kind is Bytes:
                self.values.append(self._bytes(next(roles)))
            elif kind is c_char_p:
                self.values.append(self._path(next(roles)))
            elif kind in NUMBERS:
                self.values.append(self._dice.choice(NUMBERS[kind]))
            elif kind in self._host.callbacks:
                self.values.append(self._callback(kind))
            elif isinstance(kind._type_, type(Structure)) and kind is not POINTER(_abi.Buffer):
                self.values.append(self._options(kind._type_))
            else:
                self.values.append(self._out(kind, name))
            after_callback = kind in self._host.callbacks
            if index == len(kinds) - 1 and next(roles, None):
                raise AssertionError(f"{name} has roles without an argument")

    def _handle(self, role: str) -> int | None:
        handle: int | None
        if role == "answer":  # those of callbacks are called by the host; all others go nowhere
            return self._dice.choice([None, 1, 2**40 + 5, *self._handles["store"]])
        chance = self._dice.random()
        if chance < 0.01:
            handle = None
        elif chance < 0.02:
            handle = self._dice.choice([1, 8, 2**32, 2**63, 2**64 - 1, self._dice.randrange(2**64)])
        elif chance < 0.04 and self._handles["closed"]:
            handle = self._dice.choice(self._handles["closed"])
        elif chance < 0.05:
            others = [each for kind in KINDS if kind != role for each in self._handles[kind]]
            handle = self._dice.choice(others or [None])
        else:
            handle = self._dice.choice(self._handles[role] or [None])
            self.used.append((role, handle))
            if handle is not None:
                return handle
        self.has_bad_handle = True
        return handle

    def _bytes(self, role: str) -> Bytes:
        if role in PATHS:
            data = self._path(role) or b""
        else:
            data = self._text(role)
        chance = self._dice.random()
        if chance < 0.98:
            return Bytes(data, len(data))
        self.is_mutated = True
        return self._dice.choice([Bytes(None, 0), Bytes(None, 5), Bytes(data, 0), Bytes(data, 2**63 + 7)])

    def _text(self, role: str) -> bytes:
        if self._seen[role] and self._dice.random() < 0.7:
            data = self._dice.choice(self._seen[role])
        else:
            data = TEXTS[role](self._dice) if role in TEXTS else b""
        if self._dice.random() < 0.1:
            self.is_mutated = True
            return documents.mutated(self._dice, data)
        return data

    def _path(self, role: str) -> bytes | None:
        name = self._dice.choice(PATHS[role]).encode()
        if name == b":memory:":
            return name
        chance = self._dice.random()
        if chance < 0.01:
            self.is_mutated = True
            return None
        if chance < 0.05:
            self.is_mutated = True
            wrong = documents.mutated(self._dice, b"odd-" + name.replace(b"/", b"_"))
            name = b"odd-" + wrong.replace(b"/", b"_").replace(b"\0", b"_").replace(b"..", b"__")
            if self._dice.random() < 0.1:
                name = b"missing/" + name
        return role.encode() + b"/" + name

    def _callback(self, kind: Any) -> Any:
        return kind() if self._dice.random() < 0.1 else self._host.callbacks[kind]

    def _options(self, kind: type[Structure]) -> Any:
        needs_all = kind in (_abi.OpenOptions, _abi.RemoteOperations)
        if self._dice.random() < (0.03 if needs_all else 0.3):
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
            elif field in NUMBERS and self._dice.random() < 0.4:
                setattr(options.value, name, self._dice.choice(NUMBERS[field]))
            elif field in self._host.callbacks and self._dice.random() < (0.98 if needs_all else 0.8):
                setattr(options.value, name, self._host.callbacks[field])
        options.value.size = size = ctypes.sizeof(kind)
        if isinstance(options.value, _abi.OpenOptions):
            options.value.busy_timeout_ms = self._dice.choice([20, 50, 100])
        if self._dice.random() < 0.05:
            self.is_mutated = True
            options.value.size = self._dice.choice([0, 7, 8, size - 1, size + 1, 1024, 1025, 2**63])
            if self._dice.random() < 0.3:
                options.room[size + 1] = 1
        self.outs.append((None, options))
        return byref(options.value)

    def _option_bytes(self, name: str) -> Bytes:
        role = {"section": "section_name", "scope": "scope", "location": "location", "name": "text"}[name]
        return self._bytes(role) if self._dice.random() < 0.4 else Bytes(None, 0)

    def _out(self, kind: Any, name: str) -> Any:
        if self._dice.random() < 0.03:
            self.is_mutated = True
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
