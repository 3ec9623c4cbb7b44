"""Arguments of the library: checks Python values, and encodes them for C.

Where the standard encoder would silently change a value (the key 1 becomes "1", NaN becomes a token that
is not JSON), the value is rejected; the message has its JSON Pointer.
"""

from __future__ import annotations

import json as _json
import math
import operator
import os
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from satchel._abi import Bytes
from satchel._numbers import BigNumber
from satchel.errors import InvalidArgument

#: JSON that is encoded already; str is encoded as UTF-8, the others are UTF-8.
Encoded = Union[str, bytes, bytearray, memoryview]
#: A JSON object, or the text of one.
Document = Union[Dict[str, Any], Encoded]
#: The path of a file or a directory.
FilePath = Union[str, "os.PathLike[str]"]
#: A timedelta, or milliseconds.
Duration = Union[timedelta, int, float]


class HasJSON:
    """A value that JSON does not have, and that is written as its ``json``: a reference to an asset."""

    __slots__ = ()

    @property
    def json(self) -> Dict[str, Any]:
        """The object that is written."""
        raise NotImplementedError


def _written(value: Any) -> Any:
    if isinstance(value, HasJSON):
        return value.json
    raise TypeError(f"{type(value).__name__} is not a JSON type")


_encode = _json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_written
).encode
_DEEPEST = 512
#: The types of values that have no others in them.
SCALARS = frozenset((str, int, float, bool, type(None), BigNumber))

NOTHING = Bytes(None, 0)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def lend(data: bytes) -> Bytes:
    """Bytes for one call, not copied; the struct keeps them alive."""
    return Bytes(data, len(data))


def lend_text(text: Any, name: str) -> Bytes:
    """A string argument.

    :param name: the argument's name, for the message
    :raises InvalidArgument: when it is not a str, or has a lone surrogate
    """
    if not isinstance(text, str):
        raise InvalidArgument(f"{name} must be a str, not {type(text).__name__}")
    data = _utf8(text, name)
    return Bytes(data, len(data))


def lend_value(value: Any, name: str) -> Bytes:
    """Any Python value as JSON; bytes, bytearray and memoryview are JSON already."""
    if isinstance(value, bytes):
        return lend(value)
    if isinstance(value, (bytearray, memoryview)):
        return lend(bytes(value))
    return lend(encoded(value, name))


def lend_key(key: Any) -> Bytes:
    """An encryption key, for one call; the library checks that it has 32 bytes."""
    if not isinstance(key, (bytes, bytearray, memoryview)):
        # Not its value: it may be a secret all the same.
        raise InvalidArgument(f"key must be bytes, not {type(key).__name__}")
    return lend(bytes(key))


def lend_document(value: Any, name: str) -> Bytes:
    """A dict as JSON; a str too is JSON already here."""
    if isinstance(value, str):
        return lend(_utf8(value, name))
    return lend_value(value, name)


def lend_given(values: Dict[str, Any], name: str) -> Bytes:
    """A dict without its members that are None, as JSON."""
    return lend_value({key: value for key, value in values.items() if value is not None}, name)


def _utf8(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{name} has a lone surrogate at character {error.start}") from error


def choice(numbers: Dict[str, int], word: Any, name: str) -> int:
    """The C value of a choice.

    :param numbers: the accepted strings with their C values
    :param name: the argument's name, for the message
    """
    if not isinstance(word, str) or word not in numbers:
        raise InvalidArgument(f"{name} must be one of {', '.join(map(repr, numbers))}, not {word!r}")
    return numbers[word]


def check_callable(function: Any, name: str) -> None:
    """Refuses an argument that cannot be called."""
    if not callable(function):
        raise InvalidArgument(f"{name} must be callable, not {type(function).__name__}")


def whole(number: Any, name: str, minimum: int, maximum: int) -> int:
    """Checks that a number is a whole number within a range, and returns it as an int."""
    try:
        checked = None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        checked = None
    if checked is None or not minimum <= checked <= maximum:
        raise InvalidArgument(f"{name} must be an int from {minimum} to {maximum}, not {number!r}")
    return checked


def number(value: Any, name: str) -> float:
    """Checks that a value is a number, and returns it as a float."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise InvalidArgument(f"{name} must be a number, not {value!r}")


def whole_or_default(number: Any, name: str, minimum: int, maximum: int) -> int:
    """As :func:`whole`; None is 0, the default in C."""
    return 0 if number is None else whole(number, name, minimum, maximum)


def parallel(number: Any) -> int:
    """The C value of a degree of parallelism, 1 to 16; None is 0, the default."""
    return whole_or_default(number, "parallel", 1, 16)


def milliseconds(duration: Any, name: str, maximum: int) -> int:
    """A :data:`Duration` in whole milliseconds, rounded down."""
    if isinstance(duration, timedelta):
        duration = duration // timedelta(milliseconds=1)
    elif isinstance(duration, float) and math.isfinite(duration):
        duration = math.floor(duration)
    return whole(duration, name, 0, maximum)


def moment(time: Any, name: str) -> int:
    """A time as Unix milliseconds: a datetime with a time zone, or such a number already."""
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise InvalidArgument(f"{name} must have a time zone, such as timezone.utc")
        time = (time - _EPOCH) // timedelta(milliseconds=1)
    return whole(time, name, 0, 2**63 - 1)


def timeout(seconds: Any, name: str, minimum: int, maximum: int) -> int:
    """A timeout in seconds as whole milliseconds, rounded up.

    :param minimum: in milliseconds
    :param maximum: in milliseconds
    """
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if is_number and 0 <= seconds <= maximum / 1000:
        checked: int = math.ceil(seconds * 1000)
        if minimum <= checked <= maximum:
            return checked
    raise InvalidArgument(f"{name} must be from 0 to {maximum // 1000} seconds, not {seconds!r}")


def file_path(path: Any, name: str) -> Tuple[str, bytes]:
    """A path as text, and as the bytes that the library takes."""
    try:
        text = os.fspath(path)
    except TypeError:
        raise InvalidArgument(f"{name} must be a path, not {type(path).__name__}") from None
    if not isinstance(text, str):
        raise InvalidArgument(f"{name} must be a str or a path of str, not of bytes")
    try:
        file = text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} is not Unicode: {text!r}") from None
    if b"\0" in file:
        raise InvalidArgument(f"{name} has a NUL in it")
    return text, file


def encoded(value: Any, name: str) -> bytes:
    """Any Python value as JSON.

    :raises InvalidArgument: with the JSON Pointer of a value that JSON cannot represent
    """
    try:
        data = _encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        fault = _first_fault(value)
        if fault is None and isinstance(error, TypeError):
            # The standard encoder cannot write a number as it is.
            return _text_with_big_numbers(value).encode()
        pointer, reason = fault or ("", str(error))
        raise InvalidArgument(f"{name} at {pointer or 'its root'}: {reason}") from error
    if not _has_text_keys(value):
        pointer, reason = _first_fault(value) or ("", "a key that is not a str")
        raise InvalidArgument(f"{name} at {pointer or 'its root'}: {reason}")
    return data


def _text_with_big_numbers(value: Any) -> str:
    # Called for a value without a fault, of at most 512 levels.
    if isinstance(value, BigNumber):
        return value.text
    if isinstance(value, dict):
        # A generator would double the depth of the recursion.
        members = []
        for key, child in value.items():
            members.append(f"{_encode(key)}:{_text_with_big_numbers(child)}")
        return "{" + ",".join(members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text_with_big_numbers, value)) + "]"
    return _encode(value)


def _has_text_keys(value: Any) -> bool:
    # Called after encoding, which has shown that the value is a tree.
    waiting: List[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            for key, child in item.items():
                if type(key) is not str and not isinstance(key, str):
                    return False
                if type(child) not in SCALARS:
                    waiting.append(child)
        elif isinstance(item, (list, tuple)) and not SCALARS.issuperset(map(type, item)):
            waiting.extend(child for child in item if type(child) not in SCALARS)
    return True


def _first_fault(value: Any) -> Optional[Tuple[str, str]]:
    """Where a value is not JSON, as a JSON Pointer, and why. Only called when it is not."""
    waiting: List[Tuple[str, int, Any]] = [("", 0, value)]
    while waiting:
        pointer, depth, item = waiting.pop()
        reason = _fault(item)
        if reason is None and depth > _DEEPEST:
            reason = f"more than {_DEEPEST} levels, or a value that contains itself"
        if reason is not None:
            return pointer, reason
        waiting.extend((f"{pointer}/{step}", depth + 1, child) for step, child in _children(item))
    return None


def _children(item: Any) -> Iterator[Tuple[str, Any]]:
    if isinstance(item, dict):
        steps = ((key.replace("~", "~0").replace("/", "~1"), child) for key, child in item.items())
    elif isinstance(item, (list, tuple)):
        steps = ((str(index), child) for index, child in enumerate(item))
    else:
        return
    yield from reversed(list(steps))


def _fault(item: Any) -> Optional[str]:
    if item is None or isinstance(item, (list, tuple)):
        return None
    if isinstance(item, dict):
        texts = (_fault(key) if isinstance(key, str) else f"the key {key!r} is not a str" for key in item)
        return next((text for text in texts if text is not None), None)
    if isinstance(item, str):
        return "a lone surrogate" if any("\ud800" <= letter <= "\udfff" for letter in item) else None
    if isinstance(item, float) and not (float("-inf") < item < float("inf")):
        return f"{item!r} is not a JSON number"
    if isinstance(item, int):
        try:
            int.__repr__(item)
        except ValueError as error:
            return str(error)
    return (
        None
        if isinstance(item, (int, float, BigNumber, HasJSON))
        else f"{type(item).__name__} is not a JSON type"
    )
