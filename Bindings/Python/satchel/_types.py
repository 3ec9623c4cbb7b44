"""Python's own types in documents: times, ids, decimals, bytes, sets and enums as JSON, and back.

The convention is that of the other languages: times as ISO 8601 in UTC with six digits of the second, so that
they sort as text, dates as YYYY-MM-DD, UUID and Decimal as text, bytes as base64, enums by value, sets as
sorted arrays.
"""

from __future__ import annotations

import base64
import binascii
import json as _json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any, Callable, Dict, NamedTuple, Optional, Type, TypeVar
from uuid import UUID

from satchel._numbers import BigNumber
from satchel.errors import InvalidArgument

__all__ = ["SCALAR_TYPES", "Conversion", "conversion_of", "register_type"]

_Own = TypeVar("_Own")


class Conversion(NamedTuple):
    """The conversion of values of a type to JSON values, and back."""

    to_json: Callable[[Any], Any]
    from_json: Callable[[Any], Any]


def _text_of_time(time: datetime) -> str:
    if time.tzinfo is None or time.utcoffset() is None:
        raise ValueError("a datetime without a time zone: make it aware, for example by timezone.utc")
    try:
        utc = time.astimezone(timezone.utc)
    except OverflowError:
        raise ValueError(f"{time!r} has no year in UTC") from None
    return utc.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _time_of(text: Any) -> datetime:
    text = _text(text)
    # Before Python 3.11 fromisoformat does not read the Z.
    time = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    if time.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return time.astimezone(timezone.utc)


def _text_of_decimal(number: Decimal) -> str:
    if not number.is_finite():
        raise ValueError(f"{number!r} is not finite")
    return str(number)


def _decimal_of(text: Any) -> Decimal:
    # A JSON number as well: an integer and a big number are exact.
    is_number = isinstance(text, (int, BigNumber)) and not isinstance(text, bool)
    try:
        number = Decimal(text if is_number else _text(text))
    except InvalidOperation:
        raise ValueError(f"{text!r} is not a decimal number") from None
    if not number.is_finite():
        raise ValueError(f"{text!r} is not finite")
    return number


def _bytes_of(text: Any) -> bytes:
    try:
        return base64.b64decode(_text(text), validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from error


def _big_number_of(number: Any) -> BigNumber:
    if isinstance(number, bool) or not isinstance(number, (int, float, BigNumber)):
        raise ValueError(f"{number!r} is not a number")
    return BigNumber(str(number))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a str")
    return value


def _text_of_bytes(data: Any) -> str:
    return base64.b64encode(bytes(data)).decode("ascii")


def _duration(seconds: Any) -> timedelta:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise ValueError(f"{seconds!r} is not a number of seconds")
    return timedelta(seconds=seconds)


_conversions: Dict[Type[Any], Conversion] = {
    datetime: Conversion(_text_of_time, _time_of),
    date: Conversion(date.isoformat, lambda text: date.fromisoformat(_text(text))),
    timedelta: Conversion(timedelta.total_seconds, _duration),
    UUID: Conversion(str, lambda text: UUID(_text(text))),
    Decimal: Conversion(_text_of_decimal, _decimal_of),
    # Written as the number that it is.
    BigNumber: Conversion(lambda number: number, _big_number_of),
    bytes: Conversion(_text_of_bytes, _bytes_of),
    bytearray: Conversion(_text_of_bytes, lambda text: bytearray(_bytes_of(text))),
    memoryview: Conversion(_text_of_bytes, lambda text: memoryview(_bytes_of(text))),
}
_sets = (set, frozenset)

#: The types that are stored as one value without members.
SCALAR_TYPES = frozenset(_conversions)


def register_type(
    kind: Type[_Own], to_json: Callable[[_Own], Any], from_json: Optional[Callable[[Any], _Own]] = None
) -> None:
    """Says how values of a type of your own are stored in documents of records and values of state.

    >>> satchel.register_type(Version, str, Version.parse)

    It holds for the whole process, for subclasses that have no conversion of their own, and for fields of
    dataclasses that are annotated with the type. Register each type once, before it is used.

    :param kind: the type; one that has a conversion already gets this one
    :param to_json: returns a value that JSON has, or one that has a conversion; raises ValueError for a value
        that cannot be stored
    :param from_json: makes a value of what ``to_json`` returned; raises ValueError for anything else. None
        calls ``kind`` with it
    :raises InvalidArgument: when ``kind`` is not a type, or is one that JSON has
    """
    if not isinstance(kind, type) or kind in (str, int, float, bool, type(None), dict, list, tuple):
        raise InvalidArgument(f"kind must be a type that JSON does not have, not {kind!r}")
    make: Callable[[Any], Any] = kind
    _conversions[kind] = Conversion(to_json, make if from_json is None else from_json)


def conversion_of(kind: Type[Any]) -> Optional[Conversion]:
    """The conversion of a type, or of the nearest of its base classes; None for other types."""
    found = _conversions.get(kind)
    if found is not None or issubclass(kind, Enum):
        return found
    return next((_conversions[base] for base in kind.__mro__ if base in _conversions), None)


def sorted_items(items: Any) -> Any:
    """The JSON values of a set in a stable order; those that JSON does not have are refused later."""

    def text(item: Any) -> bytes:
        written = _json.dumps(item, sort_keys=True, ensure_ascii=False, default=repr)
        return written.encode("utf-8", "surrogatepass")

    return sorted(items, key=text)


def is_set(value: Any) -> bool:
    """Whether a value is a set."""
    return isinstance(value, _sets)
