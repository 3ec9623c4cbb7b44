"""Documents of records and values of state: dicts, dataclasses and enums as JSON, and back.

JSON text is passed on as it is.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import sys
import typing
from enum import Enum
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, TypeVar, Union

from satchel import _encoding
from satchel._abi import Bytes
from satchel._library import check, library
from satchel.errors import InvalidArgument
from satchel.values import names_of

__all__ = ["encoded", "is_dataclass", "lend_json", "lend_record", "plain", "reader_of", "text_of"]

_Document = TypeVar("_Document")
# Types that hold JSON text; in the second, str does as well.
_JSON = (bytes, bytearray, memoryview)
_JSON_OR_TEXT = (str, *_JSON)

if sys.version_info >= (3, 10):
    from types import UnionType

    _UNIONS: Any = (Union, UnionType)
else:
    _UNIONS = (Union,)


def lend_record(document: Any, name: str) -> Bytes:
    """A document for one call; a str is JSON already here."""
    return _encoding.lend_document(document, name) if isinstance(document, str) else lend_json(document, name)


def lend_json(value: Any, name: str) -> Bytes:
    """Any value for one call, with dataclasses and enums anywhere in it; bytes are JSON already."""
    if isinstance(value, _JSON):
        return _encoding.lend_value(value, name)
    return _encoding.lend(encoded(value, name))


def text_of(document: Any, name: str) -> bytes:
    """A document as JSON, to be embedded in a larger text; JSON text must be a single value."""
    if not isinstance(document, _JSON_OR_TEXT):
        return encoded(document, name)
    lent = lend_record(document, name)
    check(library.satchel_json_check(lent))
    return lent.data or b""


def encoded(value: Any, name: str) -> bytes:
    """A value as JSON.

    :raises InvalidArgument: with the JSON Pointer of a value that JSON cannot represent
    """
    # A dict is the most frequent document, and its type is checked faster.
    if type(value) is dict or not is_dataclass(value):
        try:
            return _encoding.encoded(value, name)
        except InvalidArgument as error:
            # A value without dataclasses and enums is walked only once, unless encoding fails.
            if not isinstance(error.__cause__, TypeError):
                raise
    return _encoding.encoded(plain(value, name), name)


def is_dataclass(value: Any) -> bool:
    """Whether a value is an instance of a dataclass."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def plain(value: Any, name: str) -> Any:
    """A value with dicts for its dataclasses, and values for its enums; all else is unchanged."""
    try:
        return _plain(value)
    except RecursionError:
        raise InvalidArgument(f"{name} has too many levels, or contains itself") from None


def _plain(value: Any) -> Any:
    if type(value) in _encoding.SCALARS:
        return value
    if isinstance(value, Enum):
        return _plain(value.value)
    if is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in names_of(type(value))}
    if isinstance(value, dict):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(child) for child in value]
    return value


def reader_of(kind: Optional[Type[_Document]], collection: str) -> Callable[[Dict[str, Any], str], _Document]:
    """The function that converts a JSON object to a document.

    :param kind: a dataclass; None leaves dicts
    :param collection: its name, for messages
    :raises InvalidArgument: for anything else, and for annotations that cannot be understood
    """
    if kind is None:
        return typing.cast(Callable[[Dict[str, Any], str], _Document], _as_it_is)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise InvalidArgument(f"of must be a dataclass, not {kind!r}")
    # Annotation errors are raised now.
    _fields(kind)

    def read(document: Dict[str, Any], id: str) -> _Document:
        try:
            made: _Document = _made(kind, document, "")
        except Exception as error:
            # Also exceptions of the class itself, which does not know the record.
            raise InvalidArgument(f"{collection}/{id} is not a {kind.__name__}: {error}") from error
        return made

    return read


def _as_it_is(document: Dict[str, Any], id: str) -> Dict[str, Any]:
    return document


@functools.lru_cache(maxsize=256)
def _fields(kind: Any) -> List[Tuple[str, Any, bool]]:
    """Of each field that an instance is made with its name, its annotation, and whether it has a default.

    The annotation is None where it says nothing of how a value is read.
    """
    try:
        hints = typing.get_type_hints(kind)
    except Exception as error:
        raise InvalidArgument(f"the annotations of {kind.__name__}: {error}") from error
    missing = dataclasses.MISSING
    return [
        (
            each.name,
            _telling(hints.get(each.name)),
            each.default is not missing or each.default_factory is not missing,
        )
        for each in dataclasses.fields(kind)
        if each.init
    ]


def _telling(hint: Any) -> Any:
    return None if isinstance(hint, type) and hint in _encoding.SCALARS else hint


def _made(kind: Any, members: Any, place: str) -> Any:
    """An instance of a dataclass; members that it does not have are left out."""
    if not isinstance(members, dict):
        raise ValueError(f"{place or 'its root'} is not an object")
    given: Dict[str, Any] = {}
    for name, hint, has_default in _fields(kind):
        if name in members:
            given[name] = members[name] if hint is None else _read(members[name], hint, f"{place}/{name}")
        elif not has_default:
            raise ValueError(f"{place}/{name} is missing")
    return kind(**given)


def _read(value: Any, hint: Any, place: str) -> Any:
    """A value as its annotation says, as far as that names dataclasses and enums."""
    if value is None:
        return None
    if isinstance(hint, type):
        if dataclasses.is_dataclass(hint):
            return _made(hint, value, place)
        if issubclass(hint, Enum):
            return _member(hint, value, place)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if not arguments:
        return tuple(value) if isinstance(value, list) and tuple in (hint, origin) else value
    if origin in _UNIONS:
        kinds = [each for each in arguments if each is not type(None)]
        # Which one of several, the value does not say.
        return _read(value, kinds[0], place) if len(kinds) == 1 else value
    if isinstance(value, list):
        return _read_items(value, origin, arguments, place)
    if isinstance(value, dict) and origin in (dict, collections.abc.Mapping):
        return {key: _read(child, arguments[1], f"{place}/{key}") for key, child in value.items()}
    return value


def _read_items(value: List[Any], origin: Any, arguments: Any, place: str) -> Any:
    if origin is tuple:
        kinds = arguments[:1] * len(value) if arguments[1:] == (...,) else arguments
        if len(kinds) != len(value):
            raise ValueError(f"{place} has {len(value)} items, not {len(kinds)}")
        return tuple(_read(each, kind, f"{place}/{i}") for i, (each, kind) in enumerate(zip(value, kinds)))
    if origin in (list, collections.abc.Sequence, collections.abc.Iterable):
        return [_read(each, arguments[0], f"{place}/{i}") for i, each in enumerate(value)]
    return value


def _member(kind: Any, value: Any, place: str) -> Any:
    try:
        return kind(value)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
