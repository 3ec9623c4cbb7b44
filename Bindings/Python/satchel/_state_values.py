"""Arguments and results of the state."""

from __future__ import annotations

import json as _json
import math
from datetime import datetime, timedelta
from typing import Any, Union

from satchel import _encoding
from satchel._abi import Bytes
from satchel._dataclasses import dataclass
from satchel._photo_arguments import whole
from satchel._record_documents import lend_json
from satchel._record_values import moment
from satchel.errors import InvalidArgument

__all__ = ["Duration", "StateItem", "finite", "identity", "lend_key", "milliseconds"]

#: A timedelta, or milliseconds.
Duration = Union[timedelta, int, float]


@dataclass(frozen=True)
class StateItem:
    """An item of a list, and when it was pushed, in Unix milliseconds."""

    value: Any
    time: int

    @property
    def pushed_at(self) -> datetime:
        """``time`` in UTC."""
        return moment(self.time)


def milliseconds(duration: Any, name: str, most: int) -> int:
    """A duration as its C value; None is 0, the default."""
    if duration is None:
        return 0
    if isinstance(duration, timedelta):
        duration = duration // timedelta(milliseconds=1)
    elif isinstance(duration, float) and math.isfinite(duration):
        duration = math.floor(duration)
    # As short as it can be, and not the default.
    return max(1, whole(duration, name, 0, most))


def finite(number: Any, name: str) -> float:
    """A number that is one."""
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise InvalidArgument(f"{name} must be a number, not {number!r}")
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise InvalidArgument(f"{name} must be finite, not {value}")
    return value


def identity(value: Any) -> str:
    """A key that is equal for equal values, by the rules of the library: 1, 1.0 and True are distinct."""
    text = lend_json(value, "value").data or b""
    # Adding makes one zero of two.
    return _json.dumps(_json.loads(text, parse_float=lambda digits: float(digits) + 0.0), sort_keys=True)


def lend_key(key: Any) -> Bytes:
    """A key of encryption, for one call; that it has 32 bytes, the library says."""
    if not isinstance(key, (bytes, bytearray, memoryview)):
        # Not its value: it may be a secret all the same.
        raise InvalidArgument(f"key must be bytes, not {type(key).__name__}")
    return _encoding.lend(bytes(key))
