"""JSON values: edits as a backend sends them, the two standard patches, paths.

Values are Python's: dict, list, tuple, str, int, float, bool, None. A str is a JSON string here; bytes,
bytearray and memoryview are JSON texts, read by the library's strict rules: at most 512 levels, no
duplicate keys, no lone surrogates. Integers stay integers, of any size; a number beyond the range of a float
is a :class:`satchel.BigNumber`.

A path is dot-separated keys ("cards.items"), or a JSON Pointer (RFC 6901) when it begins with "/"; the
empty path is the whole value.

All functions are pure and safe on any thread; they raise :class:`satchel.InvalidArgument` for what is
not as described, and name the place.
"""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Union

from satchel import _encoding
from satchel._encoding import Encoded
from satchel._library import check as _check
from satchel._library import json_answer, library

__all__ = ["check", "edit", "equal", "merge", "merge_patch", "patch", "value_at"]


def check(text: Encoded) -> None:
    """Checks that a string is valid JSON.

    :param text: str, or bytes of UTF-8
    :raises InvalidArgument: with line, column and JSON Pointer, when it is not
    """
    _check(library.satchel_json_check(_encoding.lend_document(text, "text")))


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON value.

    Type and value count: 1 and 1.0 differ, as do 1 and True. The order of members does not, nor do white
    space and the encodings of strings and numbers in texts.

    :param one: any JSON value
    :param other: any JSON value
    """
    answer = ctypes.c_bool()
    _check(
        library.satchel_json_equal(
            _encoding.lend_value(one, "one"), _encoding.lend_value(other, "other"), ctypes.byref(answer)
        )
    )
    return answer.value


def edit(existing: Any, new: Any, config: Optional[Union[Dict[str, Any], bytes]] = None) -> Any:
    """Applies an edit; neither argument is changed.

    :param existing: the value to edit
    :param new: the new value
    :param config: ``operation``: "merge" (default), "append", "remove", "merge_patch" or "patch";
        ``target_path``: where in ``existing``; ``match``: for "remove", a non-empty dict
    :returns: the edited value
    :raises InvalidArgument: for an unknown operation, a missing or empty match, or a path that runs
        through something that is not an object
    """
    return json_answer(
        library.satchel_json_edit,
        _encoding.lend_value(existing, "existing"),
        _encoding.lend_value(new, "new"),
        _encoding.NOTHING if config is None else _encoding.lend_value(config, "config"),
    )


def merge(existing: Any, new: Any) -> Any:
    """Deep merge: objects merge, new values win, None is stored, anything else is replaced.

    :param existing: the value to change; it is copied
    :param new: the value to merge into it
    :returns: the merged value
    """
    return json_answer(
        library.satchel_json_merge,
        _encoding.lend_value(existing, "existing"),
        _encoding.lend_value(new, "new"),
    )


def merge_patch(target: Any, patch: Any) -> Any:
    """JSON Merge Patch, RFC 7396: as :func:`merge`, but None removes.

    :param target: the value to change; it is copied
    :param patch: the merge patch
    :returns: the patched value
    """
    return json_answer(
        library.satchel_json_merge_patch,
        _encoding.lend_value(target, "target"),
        _encoding.lend_value(patch, "patch"),
    )


def patch(target: Any, operations: Any) -> Any:
    """JSON Patch, RFC 6902: all operations or none.

    :param target: the value to change; it is copied
    :param operations: a list of operations
    :returns: the patched value
    :raises InvalidArgument: for an operation that is invalid, or that fails on the target
    """
    return json_answer(
        library.satchel_json_patch,
        _encoding.lend_value(target, "target"),
        _encoding.lend_value(operations, "operations"),
    )


def value_at(value: Any, path: str) -> Any:
    """The value at a path.

    :param value: any JSON value
    :param path: dot-separated keys, or a JSON Pointer
    :returns: None when the path leads to nothing (and when it leads to null)
    :raises InvalidArgument: when it runs through a scalar
    """
    return json_answer(
        library.satchel_json_value_at,
        _encoding.lend_value(value, "value"),
        _encoding.lend_text(path, "path"),
    )
