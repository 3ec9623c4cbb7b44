"""Numbers of JSON that Python's int and float do not hold, or would not write as they were."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any, Tuple, Type

from satchel.errors import InvalidArgument

__all__ = ["BigNumber", "float_of", "int_of"]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)


class BigNumber(Decimal):
    """A number of a document that is beyond the range of a float, such as 1e400, as it was written.

    Documents that are read have it where a float would be infinite; an integer is an ``int``, however large,
    unless it has more digits than ``sys.get_int_max_str_digits()``. It is a :class:`decimal.Decimal` of the
    same value, which other than any Decimal is written as a number: what is read is stored again as it was.
    (A number with an exponent of more than 18 digits, which Decimal does not have, is infinite as a Decimal.)

    >>> records.put("a", {"n": satchel.BigNumber("1e400")})

    :param text: any JSON number; one that a float holds is read again as such
    :raises InvalidArgument: for anything else, NaN and infinity included
    """

    text: str

    def __new__(cls, text: str) -> BigNumber:
        if not isinstance(text, str) or not _NUMBER.fullmatch(text):
            raise InvalidArgument(f"{text!r} is not the text of a JSON number")
        try:
            made = super().__new__(cls, text)
        except InvalidOperation:
            made = super().__new__(cls, "-Infinity" if text.startswith("-") else "Infinity")
        made.text = text
        return made

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"BigNumber({self.text!r})"

    def __reduce__(self) -> Tuple[Type[BigNumber], Tuple[str]]:
        return BigNumber, (self.text,)


def float_of(text: str) -> Any:
    """The value of a JSON number with a fraction or an exponent."""
    number = float(text)
    # Infinity less itself is not a number.
    return number if number - number == 0.0 else BigNumber(text)


def int_of(text: str) -> Any:
    """The value of a JSON number without fraction and exponent."""
    try:
        return int(text)
    except ValueError:
        # More digits than Python converts.
        return BigNumber(text)
