"""Python values that are not JSON are refused, and the message says where; nothing is changed silently."""

from __future__ import annotations

import collections
import decimal
import enum
from typing import Any

import pytest

import satchel

CIRCULAR: Any = []
CIRCULAR.append(CIRCULAR)
DEEP: Any = 1
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1: 2}, "root.* key 1 "),
        ({"a": [{"b": {None: 1}}]}, "/a/0/b.* key None "),
        ({"a": {True: 1}}, "/a.* key True "),
        ([0, ({"b": {}}, [{1.5: 2}])], "/1/1/0.* key 1.5 "),
        (collections.OrderedDict([("a", collections.OrderedDict([(1, 2)]))]), "/a.* key 1 "),
        ({"a": {(1, 2): 1}}, "/a.* key "),
        ({"a": [1.0, float("nan")]}, "/a/1.*nan"),
        ([float("inf")], "/0.*inf"),
        ({"a/b~": "\ud800"}, "/a~1b~0.*surrogate"),
        ({"\udfff": 1}, "surrogate"),
        ({"a": {1, 2}}, "/a.*set"),
        ({"a": b"bytes"}, "/a.*bytes"),
        ([decimal.Decimal("0.1")], "/0.*Decimal"),
        ([0, 10**5000], "/1.*64 bits"),
        ([object()], "/0.*object"),
        (CIRCULAR, "contains itself"),
        (DEEP, "levels"),
    ],
)
def test_a_value_that_is_not_json_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(satchel.InvalidArgument, match=message):
        satchel.json.merge({}, value)


def test_an_integer_beyond_64_bits_is_refused() -> None:
    with pytest.raises(satchel.InvalidArgument):
        satchel.json.merge({}, {"a": 2**63})


def test_kinds_of_texts_numbers_and_dicts_are_taken() -> None:
    class Word(str):
        pass

    class Size(enum.IntEnum):
        LARGE = 3

    counted = collections.Counter({Word("a"): Size.LARGE})
    assert satchel.json.merge(None, [counted, {Word("b"): Word("c")}]) == [{"a": 3}, {"b": "c"}]


def test_tuples_are_arrays() -> None:
    assert satchel.json.merge(None, {"a": (1, (2,))}) == {"a": [1, [2]]}


@pytest.mark.parametrize("value", [None, 5, b"bytes", ["list"], "\ud800"])
def test_a_text_argument_must_be_a_text(value: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        satchel.json.value_at({}, value)
    with pytest.raises(satchel.InvalidArgument):
        satchel.places.level_of_scope(value)
    with pytest.raises(satchel.InvalidArgument):
        satchel.places.entity_id("section", value)
