"""Python values that are not JSON are refused, and the message says where; nothing is changed silently."""

from __future__ import annotations

import collections
import copy
import decimal
import enum
import pickle
from typing import Any

import pytest

import satchel
from satchel import BigNumber

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
        ([0, 10**5000], "/1.*digits"),
        ([object()], "/0.*object"),
        (CIRCULAR, "contains itself"),
        (DEEP, "levels"),
    ],
)
def test_a_value_that_is_not_json_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(satchel.InvalidArgument, match=message):
        satchel.json.merge({}, value)


BIG = [
    2**63,
    -(2**63) - 1,
    10**4000,
    BigNumber("1e400"),
    BigNumber("-1.50E+0400"),
    BigNumber("1e9223372036854775000"),
]


@pytest.mark.parametrize("number", BIG, ids=lambda number: str(number)[:20])
def test_numbers_beyond_64_bits_survive(number: Any) -> None:
    read = satchel.json.merge({}, {"a": [{"b/": number}, "x"], "c": (1.5, number)})
    assert read == {"a": [{"b/": number}, "x"], "c": [1.5, number]}
    found = read["a"][0]["b/"]
    assert type(found) is type(number)
    assert str(found) == str(number)
    assert satchel.json.equal(read["c"], [1.5, number])


def test_an_integer_of_more_digits_than_python_converts_is_read_and_written_as_a_big_number() -> None:
    digits = "7" * 5000
    read = satchel.json.merge(b"{}", b'{"a": ' + digits.encode() + b', "b": 0.5}')
    assert read["b"] == 0.5
    assert isinstance(read["a"], BigNumber)
    assert read["a"].text == digits
    assert satchel.json.merge({}, read) == read


@pytest.mark.parametrize("text", ["", "nan", "Infinity", "01", "1e", "1_0", " 1", "1e5\n", "\uff11", None, 1])
def test_a_big_number_is_a_json_number(text: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        BigNumber(text)


def test_a_big_number_is_a_decimal() -> None:
    number = BigNumber("1e400")
    assert number == 10**400 == decimal.Decimal("1e400")
    assert number > 1.7e308
    assert pickle.loads(pickle.dumps(number)).text == copy.deepcopy(number).text == "1e400"
    assert repr(number) == "BigNumber('1e400')"
    assert BigNumber("-1e9223372036854775000") == decimal.Decimal("-Infinity")


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
