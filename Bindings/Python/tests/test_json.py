from __future__ import annotations

import copy
from typing import Any, Dict

import pytest
from helpers import text

import satchel


def test_every_edit_of_the_vectors(vectors: Dict[str, Any]) -> None:
    cases = vectors["edits"]["cases"]
    assert len(cases) >= 16
    for case in cases:
        existing = copy.deepcopy(case["existing"])
        if case.get("error"):
            with pytest.raises(satchel.InvalidArgument):
                satchel.json.edit(existing, case["new"], case["config"])
        else:
            edited = satchel.json.edit(existing, case["new"], case["config"])
            assert text(edited) == text(case["result"]), case["name"]
        assert text(existing) == text(case["existing"]), case["name"]


def test_an_error_names_the_component_that_is_no_object() -> None:
    with pytest.raises(satchel.InvalidArgument, match="scalar_here"):
        satchel.json.edit(
            {"x": {"scalar_here": 5}}, 1, {"operation": "append", "target_path": "x.scalar_here.y"}
        )


def test_the_operations_have_names_of_their_own() -> None:
    assert satchel.json.merge({"a": {"b": 1}}, {"a": {"c": None}}) == {"a": {"b": 1, "c": None}}
    assert satchel.json.merge_patch({"a": {"b": 1}}, {"a": {"b": None}}) == {"a": {}}
    operations = [{"op": "move", "from": "/a", "path": "/b"}, {"op": "add", "path": "/c", "value": []}]
    assert satchel.json.patch({"a": 1}, operations) == {"b": 1, "c": []}


def test_a_patch_applies_all_of_its_operations_or_none() -> None:
    operations = [{"op": "remove", "path": "/a"}, {"op": "test", "path": "/b", "value": 1}]
    with pytest.raises(satchel.InvalidArgument):
        satchel.json.patch({"a": 1, "b": 2}, operations)


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"cards": {"items": [1, 2]}}, "cards.items", [1, 2]),
        ({"cards": {"items": [1, 2]}}, "/cards/items/1", 2),
        ({"a.b": {"c/d": {"~": "x"}}}, "/a.b/c~1d/~0", "x"),
        ({"a": 1}, "", {"a": 1}),
        ({"a": 1}, "b", None),
        ({"a": 1}, "b.c", None),
        ({"a": [1]}, "/a/7", None),
        ({"": 1}, "/", 1),
    ],
)
def test_the_value_at_a_path(value: Any, path: str, found: Any) -> None:
    assert satchel.json.value_at(value, path) == found


def test_a_path_through_a_scalar_is_an_error() -> None:
    with pytest.raises(satchel.InvalidArgument):
        satchel.json.value_at({"a": 5}, "a.b")


@pytest.mark.parametrize(
    "number",
    [0, -1, 2**53 + 1, 2**63 - 1, -(2**63), 0.1, -0.0, 1.0, 1e16, 1e300, 5e-324, 1.7976931348623157e308],
)
def test_numbers_survive(number: Any) -> None:
    (back,) = satchel.json.merge(None, [number])
    assert repr(back) == repr(number)


@pytest.mark.parametrize(
    "word", ["", "\0", "é", "e\u0301", "小籠包", "\U0001f35c", "\u2028", '\\"/\b\x7f', "\uffff"]
)
def test_texts_survive(word: str) -> None:
    assert satchel.json.merge(None, [word]) == [word]


def test_the_order_of_keys_survives() -> None:
    value = {"b": 1, "a": {"z": 1, "": 2, "é": 3}, "0": []}
    assert text(satchel.json.merge({}, value)) == text(value)


def test_bytes_are_json_and_str_is_a_string() -> None:
    assert satchel.json.merge(None, b'{"a": 1}') == {"a": 1}
    assert satchel.json.merge(None, bytearray(b"[1]")) == [1]
    assert satchel.json.merge(None, memoryview(b"[1]")) == [1]
    assert satchel.json.merge(None, '{"a": 1}') == '{"a": 1}'


@pytest.mark.parametrize("sound", [b"null", "[1, 2]", b' {"a": 1} \n', '"\\ud83c\\udf5c"'])
def test_sound_json_is_found_sound(sound: Any) -> None:
    satchel.json.check(sound)


BAD_TEXTS = {
    "nothing": b"",
    "cut short": b'{"a": [1',
    "more after it": b"1 2",
    "a duplicate key": b'{"a": 1, "a": 2}',
    "a duplicate key, escaped": b'{"a": 1, "\\u0061": 2}',
    "bad UTF-8": b'"\xff"',
    "an overlong form": b'"\xc0\xaf"',
    "a lone surrogate": b'"\\ud800"',
    "a raw surrogate": b'"\xed\xa0\x80"',
    "a NUL in a key": b'{"a\\u0000b": 1}',
    "an exponent beyond 64 bits": b"1e9223372036854775808",
    "NaN": b"NaN",
    "Infinity": b"-Infinity",
    "a byte-order mark": b"\xef\xbb\xbf1",
    "a control character": b'"\x01"',
    "a leading zero": b"01",
    "a comma too many": b"[1,]",
    "600 levels": b"[" * 600 + b"]" * 600,
    "a million levels": b"[" * 1_000_000,
}


@pytest.mark.parametrize("bad", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_what_is_not_json_is_refused(bad: bytes) -> None:
    with pytest.raises(satchel.InvalidArgument) as caught:
        satchel.json.check(bad)
    assert str(caught.value)


def test_an_error_names_line_column_and_pointer() -> None:
    with pytest.raises(satchel.InvalidArgument) as caught:
        satchel.json.check(b'{"a": {"list": [1,\n  tru]}}')
    message = str(caught.value)
    assert "line 2" in message
    assert "column" in message
    assert "/a/list/1" in message


def test_512_levels_are_taken() -> None:
    deepest = b"[" * 512 + b"]" * 512
    satchel.json.check(deepest)
    with pytest.raises(satchel.InvalidArgument):
        satchel.json.check(b"[" + deepest + b"]")
