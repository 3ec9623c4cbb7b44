"""The C interface, satchel.h, in ctypes: its structs, its callbacks, and a table of all its functions.

The tests compare this file with the header, with the map of exported symbols and with the library.
"""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
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
from typing import Any, Dict, Tuple

SONAME = "libsatchel.so.0"

REUSE = {"unless_changed": 0, "until_expiry": 1}
STORY_SOURCE = {"automatic": 0, "json": 1, "twee": 2}
REPORT_FORMAT = {"json": 0, "sarif": 1, "text": 2}
GRAPH_FORMAT = {"dot": 0, "mermaid": 1}
CONFLICT_POLICY = {"remote_wins": 1, "local_wins": 2, "newest_wins": 3, "merge": 4, "ask": 5}
MIRROR_MODE = {"store_first": 0, "file_first": 1}
MIRROR_PREFER = {"file": 1, "store": 2}
REBUILD = {"mirror": 0, "store": 1}
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
SessionCallback = CFUNCTYPE(None, c_void_p, Bytes)
ProgressCallback = CFUNCTYPE(c_bool, c_void_p, Bytes)
RemoteGet = CFUNCTYPE(c_int, c_void_p, Bytes, Bytes, c_void_p)
RemotePut = CFUNCTYPE(c_int, c_void_p, Bytes, Bytes, Bytes, c_bool, Bytes, c_void_p)
RemoteHead = CFUNCTYPE(c_int, c_void_p, Bytes, c_void_p)
RemoteRemove = CFUNCTYPE(c_int, c_void_p, Bytes, Bytes, c_void_p)
RemoteList = CFUNCTYPE(c_int, c_void_p, Bytes, Bytes, c_int32, c_void_p)
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
    )


class PersistOptions(_Sized):
    """``satchel_persist_options``."""

    _fields_ = (("size", c_size_t), ("reuse", c_int))


class ReadOptions(_Sized):
    """``satchel_read_options``."""

    _fields_ = (("size", c_size_t), ("union_contexts", c_bool), ("allow_expired", c_bool))


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

    _fields_ = (("size", c_size_t), ("prefer", c_int), ("mode", c_int))


class RecordSyncOptions(_Sized):
    """``satchel_record_sync_options``."""

    _fields_ = SyncOptions._fields_


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


_out = POINTER(Buffer)
_handle_out = POINTER(c_void_p)
_number_out = POINTER(c_int64)
_persist = POINTER(PersistOptions)
_read = POINTER(ReadOptions)
_flag_out = POINTER(c_bool)
_list = POINTER(StateListOptions)

#: Every function of the header: name, result type, parameter types. Handles are c_void_p.
FUNCTIONS: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "satchel_version": (c_char_p, ()),
    "satchel_status_name": (c_char_p, (c_int,)),
    "satchel_error_message": (c_char_p, ()),
    "satchel_buffer_free": (None, (_out,)),
    "satchel_store_open": (c_int, (c_char_p, POINTER(OpenOptions), _handle_out)),
    "satchel_store_close": (c_int, (c_void_p,)),
    "satchel_store_info": (c_int, (c_void_p, _out)),
    "satchel_store_check": (c_int, (c_void_p, _out)),
    "satchel_store_is_read_only": (c_int, (c_void_p, _flag_out)),
    "satchel_store_observe": (c_int, (c_void_p, ChangeCallback, c_void_p, Release, _handle_out)),
    "satchel_observer_free": (None, (c_void_p,)),
    "satchel_json_check": (c_int, (Bytes,)),
    "satchel_json_edit": (c_int, (Bytes, Bytes, Bytes, _out)),
    "satchel_json_merge": (c_int, (Bytes, Bytes, _out)),
    "satchel_json_merge_patch": (c_int, (Bytes, Bytes, _out)),
    "satchel_json_patch": (c_int, (Bytes, Bytes, _out)),
    "satchel_json_value_at": (c_int, (Bytes, Bytes, _out)),
    "satchel_json_get_text": (c_int, (Bytes, Bytes, _out)),
    "satchel_json_get_int64": (c_int, (Bytes, Bytes, POINTER(c_int64))),
    "satchel_json_get_double": (c_int, (Bytes, Bytes, POINTER(c_double))),
    "satchel_json_get_bool": (c_int, (Bytes, Bytes, POINTER(c_bool))),
    "satchel_json_count": (c_int, (Bytes, Bytes, POINTER(c_size_t))),
    "satchel_json_keys": (c_int, (Bytes, Bytes, _out)),
    "satchel_json_quote": (c_int, (Bytes, _out)),
    "satchel_place_normalize": (c_int, (Bytes, _out)),
    "satchel_place_key": (c_int, (Bytes, Bytes, _out)),
    "satchel_place_most_specific_level": (c_int, (Bytes, _out)),
    "satchel_place_level_of_scope": (c_int, (Bytes, _out)),
    "satchel_place_entity_id": (c_int, (Bytes, Bytes, _out)),
    "satchel_place_section_of": (c_int, (Bytes, _out)),
    "satchel_catalogue_persist": (c_int, (c_void_p, Bytes, Bytes, _persist, _out)),
    "satchel_catalogue_deliver": (c_int, (c_void_p, Bytes, _persist, _out)),
    "satchel_catalogue_sections": (c_int, (c_void_p, Bytes, _read, _out)),
    "satchel_catalogue_load": (c_int, (c_void_p, Bytes, Bytes, _read, _out)),
    "satchel_catalogue_plan": (c_int, (c_void_p, Bytes, _out)),
    "satchel_catalogue_has_cached": (c_int, (c_void_p, Bytes, _out)),
    "satchel_catalogue_entity": (c_int, (c_void_p, Bytes, Bytes, _out)),
    "satchel_catalogue_set_active_location": (c_int, (c_void_p, Bytes)),
    "satchel_catalogue_active_location": (c_int, (c_void_p, _out)),
    "satchel_catalogue_prune": (c_int, (c_void_p, POINTER(PruneOptions), _out)),
    "satchel_session_new": (c_int, (c_void_p, SessionCallback, c_void_p, Release, _handle_out)),
    "satchel_session_show": (c_int, (c_void_p, Bytes)),
    "satchel_session_handle": (c_int, (c_void_p, Bytes, _out)),
    "satchel_session_load": (c_int, (c_void_p, Bytes)),
    "satchel_session_fail": (c_int, (c_void_p, Bytes, Bytes)),
    "satchel_session_set_order": (c_int, (c_void_p, Bytes)),
    "satchel_session_state": (c_int, (c_void_p, _out)),
    "satchel_session_free": (None, (c_void_p,)),
    "satchel_story_check": (c_int, (Bytes, POINTER(StoryCheckOptions), _out)),
    "satchel_story_describe": (c_int, (Bytes, _out)),
    "satchel_story_segment": (c_int, (Bytes, Bytes, _out)),
    "satchel_story_path_count": (c_int, (Bytes, POINTER(c_int64), _out)),
    "satchel_story_graph": (c_int, (Bytes, c_int, _out)),
    "satchel_story_diff": (c_int, (Bytes, Bytes, _out)),
    "satchel_story_from_twee": (c_int, (Bytes, Bytes, _out)),
    "satchel_stories_open": (c_int, (c_void_p, Bytes, _handle_out)),
    "satchel_stories_refresh": (c_int, (c_void_p, _out)),
    "satchel_stories_load_all": (c_int, (c_void_p, c_bool, _out)),
    "satchel_stories_select": (c_int, (c_void_p, Bytes, _out)),
    "satchel_stories_facets": (c_int, (c_void_p, _out)),
    "satchel_stories_story": (c_int, (c_void_p, Bytes, c_bool, _out)),
    "satchel_stories_segment": (c_int, (c_void_p, Bytes, Bytes, _out)),
    "satchel_stories_mark_purchased": (c_int, (c_void_p, Bytes, c_bool)),
    "satchel_stories_preload": (c_int, (c_void_p,)),
    "satchel_stories_clear_cache": (c_int, (c_void_p,)),
    "satchel_stories_free": (None, (c_void_p,)),
    "satchel_remote_directory": (c_int, (Bytes, _handle_out)),
    "satchel_remote_s3": (c_int, (Bytes, _handle_out)),
    "satchel_remote_answer_body": (None, (c_void_p, Bytes)),
    "satchel_remote_answer_etag": (None, (c_void_p, Bytes)),
    "satchel_remote_answer_metadata": (None, (c_void_p, Bytes)),
    "satchel_remote_answer_size": (None, (c_void_p, c_int64)),
    "satchel_remote_answer_message": (None, (c_void_p, Bytes)),
    "satchel_remote_callbacks": (c_int, (POINTER(RemoteOperations), c_void_p, Release, _handle_out)),
    "satchel_remote_probe": (c_int, (c_void_p, Bytes, _out)),
    "satchel_remote_free": (None, (c_void_p,)),
    "satchel_photos_open": (c_int, (c_void_p, Bytes, _handle_out)),
    "satchel_photos_upsert": (c_int, (c_void_p, Bytes, _number_out)),
    "satchel_photos_get": (c_int, (c_void_p, Bytes, _out)),
    "satchel_photos_delete": (c_int, (c_void_p, Bytes, _number_out)),
    "satchel_photos_query": (c_int, (c_void_p, Bytes, _out)),
    "satchel_photos_count": (c_int, (c_void_p, Bytes, _number_out)),
    "satchel_photos_status": (c_int, (c_void_p, _out)),
    "satchel_photos_modified_shards": (c_int, (c_void_p, POINTER(c_uint32))),
    "satchel_photos_changes": (c_int, (c_void_p, Bytes, c_int32, _out)),
    "satchel_photos_export_shard": (c_int, (c_void_p, c_int32, _out)),
    "satchel_photos_import_shard": (c_int, (c_void_p, c_int32, Bytes, c_int, _out)),
    "satchel_photos_export_directory": (c_int, (c_void_p, Bytes, _out)),
    "satchel_photos_import_directory": (c_int, (c_void_p, Bytes, c_int, _out)),
    "satchel_photos_set_local": (c_int, (c_void_p, Bytes, Bytes)),
    "satchel_photos_star": (c_int, (c_void_p, Bytes, c_bool)),
    "satchel_photos_backup_queue": (c_int, (c_void_p, Bytes)),
    "satchel_photos_backup_claim": (c_int, (c_void_p, _out)),
    "satchel_photos_backup_done": (c_int, (c_void_p, Bytes)),
    "satchel_photos_backup_failed": (c_int, (c_void_p, Bytes, Bytes)),
    "satchel_photos_scan": (c_int, (c_void_p, POINTER(ScanOptions), _out)),
    "satchel_photos_sync": (c_int, (c_void_p, c_void_p, Bytes, POINTER(SyncOptions), _out)),
    "satchel_photos_verify": (c_int, (c_void_p, c_void_p, Bytes, POINTER(VerifyOptions), _out)),
    "satchel_photos_detach": (c_int, (c_void_p,)),
    "satchel_photos_conflicts": (c_int, (c_void_p, c_int64, c_int32, _out)),
    "satchel_photos_reapply": (c_int, (c_void_p, c_int64)),
    "satchel_photos_dismiss": (c_int, (c_void_p, c_int64)),
    "satchel_photos_free": (None, (c_void_p,)),
    "satchel_store_begin": (c_int, (c_void_p,)),
    "satchel_store_commit": (c_int, (c_void_p,)),
    "satchel_store_rollback": (c_int, (c_void_p,)),
    "satchel_store_batch": (c_int, (c_void_p, _number_out)),
    "satchel_store_enter": (c_int, (c_void_p, c_int64)),
    "satchel_store_leave": (c_int, (c_void_p,)),
    "satchel_store_backup": (c_int, (c_void_p, c_char_p, ProgressCallback, c_void_p, _out)),
    "satchel_store_backup_rotate": (c_int, (c_void_p, c_char_p, c_int32, _out)),
    "satchel_store_restore": (c_int, (c_char_p, c_char_p, _out)),
    "satchel_store_recover": (c_int, (c_char_p, c_char_p, _out)),
    "satchel_record_answer_document": (None, (c_void_p, Bytes)),
    "satchel_record_answer_message": (None, (c_void_p, Bytes)),
    "satchel_records_open": (c_int, (c_void_p, Bytes, POINTER(RecordsOptions), _handle_out)),
    "satchel_store_collections": (c_int, (c_void_p, _out)),
    "satchel_records_put": (c_int, (c_void_p, Bytes, Bytes, c_int64, _number_out)),
    "satchel_records_put_many": (c_int, (c_void_p, Bytes, _number_out)),
    "satchel_records_get": (c_int, (c_void_p, Bytes, _out)),
    "satchel_records_record": (c_int, (c_void_p, Bytes, _out)),
    "satchel_records_delete": (c_int, (c_void_p, Bytes, c_int64, _flag_out)),
    "satchel_records_list": (c_int, (c_void_p, Bytes, _out)),
    "satchel_records_count": (c_int, (c_void_p, Bytes, _number_out)),
    "satchel_records_mirror": (c_int, (c_void_p, Bytes, POINTER(MirrorOptions), _out)),
    "satchel_records_verify_mirror": (c_int, (c_void_p, _out)),
    "satchel_records_rebuild": (c_int, (c_void_p, c_int, _number_out)),
    "satchel_records_sync": (c_int, (c_void_p, c_void_p, Bytes, POINTER(RecordSyncOptions), _out)),
    "satchel_records_detach": (c_int, (c_void_p,)),
    "satchel_records_conflicts": (c_int, (c_void_p, c_int64, c_int32, _out)),
    "satchel_records_resolve": (c_int, (c_void_p, c_int64, Bytes)),
    "satchel_records_free": (None, (c_void_p,)),
    "satchel_state_configure": (c_int, (c_void_p, POINTER(StateOptions))),
    "satchel_state_set_key": (c_int, (c_void_p, Bytes)),
    "satchel_state_rotate_key": (c_int, (c_void_p, Bytes)),
    "satchel_state_set": (c_int, (c_void_p, Bytes, Bytes, c_bool)),
    "satchel_state_get": (c_int, (c_void_p, Bytes, _out)),
    "satchel_state_remove": (c_int, (c_void_p, Bytes)),
    "satchel_state_keys": (c_int, (c_void_p, Bytes, _out)),
    "satchel_state_flush": (c_int, (c_void_p, _flag_out)),
    "satchel_state_list_push": (c_int, (c_void_p, Bytes, Bytes, _list)),
    "satchel_state_list_items": (c_int, (c_void_p, Bytes, _list, _out)),
    "satchel_state_list_remove": (c_int, (c_void_p, Bytes, Bytes)),
    "satchel_state_list_clear": (c_int, (c_void_p, Bytes)),
    "satchel_state_member_add": (c_int, (c_void_p, Bytes, Bytes, _flag_out)),
    "satchel_state_member_remove": (c_int, (c_void_p, Bytes, Bytes, _flag_out)),
    "satchel_state_members": (c_int, (c_void_p, Bytes, _out)),
    "satchel_state_score_add": (
        c_int,
        (c_void_p, Bytes, Bytes, c_double, POINTER(StateScoreOptions), POINTER(c_double)),
    ),
    "satchel_state_scores": (c_int, (c_void_p, Bytes, _out)),
}
