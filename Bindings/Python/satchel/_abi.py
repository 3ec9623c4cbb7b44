"""The C interface, satchel.h, in ctypes: its enumerations, callbacks and structs.

Its functions are in :mod:`satchel._functions`. The tests compare both with the header.
"""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    Structure,
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
    sizeof,
)
from typing import Any

SONAME = "libsatchel.so.0"

REUSE = {"unless_changed": 0, "until_expiry": 1}
STORY_SOURCE = {"automatic": 0, "json": 1, "twee": 2}
REPORT_FORMAT = {"json": 0, "sarif": 1, "text": 2}
GRAPH_FORMAT = {"dot": 0, "mermaid": 1}
CONFLICT_POLICY = {"remote_wins": 1, "local_wins": 2, "newest_wins": 3, "merge": 4, "ask": 5}
MIRROR_MODE = {"store_first": 0, "file_first": 1}
MIRROR_FORMAT = {"plain": 0, "checksummed": 1}
MIRROR_PREFER = {"file": 1, "store": 2}
REBUILD = {"mirror": 0, "store": 1}
STATE_KIND = {"value": 0, "list": 1, "set": 2, "scores": 3}
REMOTE_RESULT = {
    "ok": 0,
    "not_modified": 1,
    "not_found": 2,
    "precondition_failed": 3,
    "unknown": 4,
    "transient": 5,
    "denied": 6,
    "failed": 7,
}


class Bytes(Structure):
    """``satchel_bytes``: bytes lent for the length of one call; ``Bytes(b"…", size)`` copies nothing."""

    _fields_ = (("data", c_char_p), ("size", c_size_t))


class Buffer(Structure):
    """``satchel_buffer``: bytes that the library made and the caller frees.

    Reading ``data`` copies the bytes before the first NUL: all of them, if there are ``size``.
    """

    _fields_ = (("data", c_char_p), ("size", c_size_t))


Release = CFUNCTYPE(None, c_void_p)
Clock = CFUNCTYPE(c_int64, c_void_p)
ChangeCallback = CFUNCTYPE(None, c_void_p, Bytes)
WatchCallback = CFUNCTYPE(None, c_void_p, c_int, Bytes)
JSONCallback = CFUNCTYPE(c_bool, c_void_p, Bytes, Bytes)
SessionCallback = CFUNCTYPE(None, c_void_p, Bytes)
ProgressCallback = CFUNCTYPE(c_bool, c_void_p, Bytes)
RemoteGet = CFUNCTYPE(c_int, c_void_p, Bytes, Bytes, c_void_p)
RemotePut = CFUNCTYPE(c_int, c_void_p, Bytes, Bytes, Bytes, c_bool, Bytes, c_void_p)
RemoteHead = CFUNCTYPE(c_int, c_void_p, Bytes, c_void_p)
RemoteRemove = CFUNCTYPE(c_int, c_void_p, Bytes, Bytes, c_void_p)
RemoteList = CFUNCTYPE(c_int, c_void_p, Bytes, Bytes, c_int32, c_void_p)
InterruptCheck = CFUNCTYPE(c_bool, c_void_p)
RecordMigration = CFUNCTYPE(c_bool, c_void_p, c_int32, c_int32, Bytes, c_void_p)


class _Sized(Structure):
    """The base of the structs that begin with their size, which is set."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=sizeof(self), **fields)


class OpenOptions(_Sized):
    """``satchel_open_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("read_only", c_bool),
        ("quarantine", c_bool),
        ("relaxed_durability", c_bool),
        ("busy_timeout_ms", c_uint32),
        ("clock", Clock),
        ("clock_context", c_void_p),
        ("clock_release", Release),
        ("query_timeout_ms", c_uint32),
    )


class InterruptOptions(_Sized):
    """``satchel_interrupt_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("timeout_ms", c_int64),
        ("check", InterruptCheck),
        ("context", c_void_p),
        ("release", Release),
    )


class PersistOptions(_Sized):
    """``satchel_persist_options``."""

    _fields_ = (("size", c_size_t), ("reuse", c_int), ("complete", c_bool))


class ReadOptions(_Sized):
    """``satchel_read_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("inherit", c_bool),
        ("allow_expired", c_bool),
        ("nearby", c_double),
    )


class SearchOptions(_Sized):
    """``satchel_search_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("limit", c_int32),
        ("allow_expired", c_bool),
        ("nearby", c_double),
    )


class PruneOptions(_Sized):
    """``satchel_prune_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("expired", c_bool),
        ("unreferenced", c_bool),
        ("section", Bytes),
        ("scope", Bytes),
        ("location", Bytes),
        ("contexts_unused_for_ms", c_int64),
        ("max_bytes", c_int64),
    )


class StoryCheckOptions(_Sized):
    """``satchel_story_check_options``."""

    _fields_ = (("size", c_size_t), ("source", c_int), ("format", c_int), ("name", Bytes))


class RemoteOperations(_Sized):
    """``satchel_remote_operations``."""

    _fields_ = (
        ("size", c_size_t),
        ("get", RemoteGet),
        ("put", RemotePut),
        ("head", RemoteHead),
        ("remove", RemoteRemove),
        ("list", RemoteList),
        ("identity", Bytes),
    )


class ScanOptions(_Sized):
    """``satchel_scan_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("delete_missing", c_bool),
        ("force_rehash", c_bool),
        ("time_zone_offset", c_int32),
        ("parallel", c_int32),
        ("progress", ProgressCallback),
        ("context", c_void_p),
    )


class SyncOptions(_Sized):
    """``satchel_sync_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("on_conflict", c_int),
        ("dry_run", c_bool),
        ("allow_unsafe_remote", c_bool),
        ("parallel", c_int32),
        ("progress", ProgressCallback),
        ("context", c_void_p),
        ("first", c_int),
        ("recreate", c_bool),
    )


class StoreSyncOptions(_Sized):
    """``satchel_store_sync_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("dry_run", c_bool),
        ("accept_loss", c_bool),
        ("verify", c_bool),
        ("purge", c_bool),
        ("parallel", c_int32),
        ("progress", ProgressCallback),
        ("context", c_void_p),
        ("key", Bytes),
        ("first", c_int),
        ("recreate", c_bool),
    )


class VerifyOptions(_Sized):
    """``satchel_verify_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("repair", c_bool),
        ("allow_unsafe_remote", c_bool),
        ("parallel", c_int32),
        ("progress", ProgressCallback),
        ("context", c_void_p),
    )


class PhotoBackupOptions(_Sized):
    """``satchel_photo_backup_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("queue_missing", c_bool),
        ("parallel", c_int32),
        ("progress", ProgressCallback),
        ("context", c_void_p),
    )


class RecordsOptions(_Sized):
    """``satchel_records_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("migrate", RecordMigration),
        ("context", c_void_p),
        ("redeclare", c_bool),
    )


class MirrorOptions(_Sized):
    """``satchel_mirror_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("prefer", c_int),
        ("mode", c_int),
        ("format", c_int),
        ("id_member", Bytes),
    )


class StateOptions(_Sized):
    """``satchel_state_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("save_delay_ms", c_uint32),
        ("max_pending", c_uint32),
        ("max_delay_ms", c_uint32),
    )


class StateListOptions(_Sized):
    """``satchel_state_list_options``."""

    _fields_ = (("size", c_size_t), ("limit", c_uint32), ("max_age_ms", c_uint64), ("unique", c_bool))


class StateScoreOptions(_Sized):
    """``satchel_state_score_options``."""

    _fields_ = (("size", c_size_t), ("minimum", c_double), ("maximum", c_double))
