"""The header is the contract: the table, the structs, the map and the library have to agree with it."""

from __future__ import annotations

import ctypes
import re
import subprocess
from typing import Any, Dict, List, Tuple

import pytest
from helpers import ROOT

import satchel
from satchel import _abi, _functions, errors
from satchel._library import library

HEADER = re.sub(r"/\*.*?\*/", "", (ROOT / "Include/satchel.h").read_text(encoding="utf-8"), flags=re.DOTALL)

SCALARS: Dict[str, Any] = {
    "void": None,
    "bool": ctypes.c_bool,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "char *": ctypes.c_char_p,
    "void *": ctypes.c_void_p,
    "satchel_status": ctypes.c_int,
    "satchel_reuse": ctypes.c_int,
    "satchel_story_source": ctypes.c_int,
    "satchel_report_format": ctypes.c_int,
    "satchel_graph_format": ctypes.c_int,
    "satchel_conflict_policy": ctypes.c_int,
    "satchel_first_sync": ctypes.c_int,
    "satchel_remote_result": ctypes.c_int,
    "satchel_mirror_mode": ctypes.c_int,
    "satchel_mirror_format": ctypes.c_int,
    "satchel_mirror_prefer": ctypes.c_int,
    "satchel_rebuild": ctypes.c_int,
    "satchel_state_kind": ctypes.c_int,
    "satchel_bytes": _abi.Bytes,
    "satchel_store *": ctypes.c_void_p,
    "satchel_observer *": ctypes.c_void_p,
    "satchel_interrupt *": ctypes.c_void_p,
    "satchel_session *": ctypes.c_void_p,
    "satchel_clock": _abi.Clock,
    "satchel_change_callback": _abi.ChangeCallback,
    "satchel_records_watch_callback": _abi.WatchCallback,
    "satchel_json_callback": _abi.JSONCallback,
    "satchel_session_callback": _abi.SessionCallback,
    "satchel_progress_callback": _abi.ProgressCallback,
    "satchel_interrupt_check": _abi.InterruptCheck,
    "satchel_stories *": ctypes.c_void_p,
    "satchel_story *": ctypes.c_void_p,
    "satchel_photos *": ctypes.c_void_p,
    "satchel_remote *": ctypes.c_void_p,
    "satchel_remote_answer *": ctypes.c_void_p,
    "satchel_records *": ctypes.c_void_p,
    "satchel_record_answer *": ctypes.c_void_p,
    "satchel_record_migration": _abi.RecordMigration,
    "bool *": ctypes.POINTER(ctypes.c_bool),
    "double *": ctypes.POINTER(ctypes.c_double),
    "int64_t *": ctypes.POINTER(ctypes.c_int64),
    "uint32_t *": ctypes.POINTER(ctypes.c_uint32),
    "satchel_buffer *": ctypes.POINTER(_abi.Buffer),
    "size_t *": ctypes.POINTER(ctypes.c_size_t),
    "satchel_store **": ctypes.POINTER(ctypes.c_void_p),
    "satchel_observer **": ctypes.POINTER(ctypes.c_void_p),
    "satchel_session **": ctypes.POINTER(ctypes.c_void_p),
    "satchel_stories **": ctypes.POINTER(ctypes.c_void_p),
    "satchel_story **": ctypes.POINTER(ctypes.c_void_p),
    "satchel_photos **": ctypes.POINTER(ctypes.c_void_p),
    "satchel_remote **": ctypes.POINTER(ctypes.c_void_p),
    "satchel_records **": ctypes.POINTER(ctypes.c_void_p),
    "satchel_interrupt **": ctypes.POINTER(ctypes.c_void_p),
    "satchel_open_options *": ctypes.POINTER(_abi.OpenOptions),
    "satchel_interrupt_options *": ctypes.POINTER(_abi.InterruptOptions),
    "satchel_persist_options *": ctypes.POINTER(_abi.PersistOptions),
    "satchel_read_options *": ctypes.POINTER(_abi.ReadOptions),
    "satchel_search_options *": ctypes.POINTER(_abi.SearchOptions),
    "satchel_prune_options *": ctypes.POINTER(_abi.PruneOptions),
    "satchel_story_check_options *": ctypes.POINTER(_abi.StoryCheckOptions),
    "satchel_remote_operations *": ctypes.POINTER(_abi.RemoteOperations),
    "satchel_scan_options *": ctypes.POINTER(_abi.ScanOptions),
    "satchel_photo_backup_options *": ctypes.POINTER(_abi.PhotoBackupOptions),
    "satchel_sync_options *": ctypes.POINTER(_abi.SyncOptions),
    "satchel_store_sync_options *": ctypes.POINTER(_abi.StoreSyncOptions),
    "satchel_verify_options *": ctypes.POINTER(_abi.VerifyOptions),
    "satchel_records_options *": ctypes.POINTER(_abi.RecordsOptions),
    "satchel_mirror_options *": ctypes.POINTER(_abi.MirrorOptions),
    "satchel_state_options *": ctypes.POINTER(_abi.StateOptions),
    "satchel_state_list_options *": ctypes.POINTER(_abi.StateListOptions),
    "satchel_state_score_options *": ctypes.POINTER(_abi.StateScoreOptions),
}
STRUCTS = {
    "satchel_bytes": _abi.Bytes,
    "satchel_buffer": _abi.Buffer,
    "satchel_open_options": _abi.OpenOptions,
    "satchel_interrupt_options": _abi.InterruptOptions,
    "satchel_persist_options": _abi.PersistOptions,
    "satchel_read_options": _abi.ReadOptions,
    "satchel_search_options": _abi.SearchOptions,
    "satchel_prune_options": _abi.PruneOptions,
    "satchel_story_check_options": _abi.StoryCheckOptions,
    "satchel_remote_operations": _abi.RemoteOperations,
    "satchel_scan_options": _abi.ScanOptions,
    "satchel_photo_backup_options": _abi.PhotoBackupOptions,
    "satchel_sync_options": _abi.SyncOptions,
    "satchel_store_sync_options": _abi.StoreSyncOptions,
    "satchel_verify_options": _abi.VerifyOptions,
    "satchel_records_options": _abi.RecordsOptions,
    "satchel_mirror_options": _abi.MirrorOptions,
    "satchel_state_options": _abi.StateOptions,
    "satchel_state_list_options": _abi.StateListOptions,
    "satchel_state_score_options": _abi.StateScoreOptions,
}


def declared(declaration: str) -> Tuple[str, Any]:
    """The name and the ctypes type of a C declaration such as `const char *path`."""
    one_line = " ".join(declaration.split()).replace("const ", "")
    callback = re.fullmatch(r"(\w+) \(\*(\w+)\)\((.*)\)", one_line)
    if callback:
        result, name, arguments = callback.groups()
        kinds = [declared(each)[1] for each in parameters(arguments)]
        return name, ctypes.CFUNCTYPE(SCALARS[result], *kinds)
    kind, name = re.fullmatch(r"(.*?[ *])(\w+)", one_line).groups()  # type: ignore[union-attr]
    return name, SCALARS[kind.strip()]


def parameters(text: str) -> List[str]:
    """Splits at the commas that are not inside of parentheses."""
    return [] if text.strip() == "void" else re.split(r",(?![^(]*\))", text)


def functions_of_header() -> Dict[str, Tuple[Any, Tuple[Any, ...]]]:
    found = {}
    for result, name, arguments in re.findall(
        r"SATCHEL_API ([^;(]*?)(satchel_\w+)\((.*?)\);", HEADER, re.DOTALL
    ):
        kinds = tuple(declared(each)[1] for each in parameters(arguments))
        found[name] = (declared(f"{result}x")[1], kinds)
    return found


def test_the_table_has_every_function_of_the_header_with_its_types() -> None:
    header = functions_of_header()
    assert len(header) > 30
    assert header == _functions.FUNCTIONS


def test_the_map_exports_the_functions_of_the_header() -> None:
    exported = re.findall(r"(satchel_\w+);", (ROOT / "Include/satchel.map").read_text(encoding="utf-8"))
    assert sorted(exported) == sorted(_functions.FUNCTIONS)


def test_the_library_exports_the_functions_of_the_header_and_nothing_else() -> None:
    listing = subprocess.run(
        ["nm", "--dynamic", "--defined-only", library._name], check=True, capture_output=True, text=True
    ).stdout
    names = {line.split()[-1].split("@")[0] for line in listing.splitlines() if " A " not in line}
    assert names == set(_functions.FUNCTIONS)


@pytest.mark.parametrize("name", STRUCTS)
def test_a_struct_has_the_fields_of_the_header(name: str) -> None:
    body = re.search(rf"typedef struct {name} {{(.*?)}} {name};", HEADER, re.DOTALL)
    assert body is not None
    fields = [declared(each) for each in body.group(1).split(";") if each.strip()]
    if name in ("satchel_bytes", "satchel_buffer"):
        # One pointer to bytes, which ctypes reads best as the other kind.
        fields = [(field, None if field == "data" else kind) for field, kind in fields]
        ours = [(field, None if field == "data" else kind) for field, kind in STRUCTS[name]._fields_]
        assert ours == fields
    else:
        assert list(STRUCTS[name]._fields_) == fields


def test_there_is_an_error_class_for_every_status_of_the_header() -> None:
    statuses = {int(number): name for name, number in re.findall(r"SATCHEL_(E\w+) = (\d+)", HEADER)}
    assert {status: kind.code for status, kind in errors.BY_STATUS.items()} == statuses
    for status, name in statuses.items():
        assert library.satchel_status_name(status) == b"SATCHEL_" + name.encode()


WORDS = {
    "REUSE": _abi.REUSE,
    "STORY": _abi.STORY_SOURCE,
    "REPORT": _abi.REPORT_FORMAT,
    "GRAPH": _abi.GRAPH_FORMAT,
    "REMOTE": _abi.REMOTE_RESULT,
    "CONFLICT": {"default": 0, **_abi.CONFLICT_POLICY},
    "MIRROR": _abi.MIRROR_MODE,
    "FORMAT": _abi.MIRROR_FORMAT,
    "PREFER": {"none": 0, **_abi.MIRROR_PREFER},
    "REBUILD": _abi.REBUILD,
    "STATE": _abi.STATE_KIND,
}


@pytest.mark.parametrize("prefix", WORDS)
def test_a_word_has_the_number_of_the_header(prefix: str) -> None:
    numbers = re.findall(rf"SATCHEL_{prefix}_(\w+) = (\d+)", HEADER)
    assert {name.lower(): int(number) for name, number in numbers} == WORDS[prefix]


def test_the_package_has_the_version_of_the_header_and_the_library() -> None:
    version = re.search(r'SATCHEL_VERSION_STRING "(.*?)"', HEADER)
    assert version is not None
    assert satchel.__version__ == version.group(1) == satchel.library_version()
    assert f"libsatchel.so.{version.group(1).split('.')[0]}" == _abi.SONAME
