"""The fields of dataclasses, and what their annotations say of the values."""

from __future__ import annotations

import collections.abc
import dataclasses
import difflib
import functools
import sys
import typing
from typing import Any, Dict, FrozenSet, List, Optional, Tuple, Union

from satchel import _encoding
from satchel._types import conversion_of
from satchel.errors import InvalidArgument
from satchel.values import names_of

__all__ = [
    "UNIONS",
    "dataclass_of",
    "field_names",
    "fields_of",
    "hints_of",
    "item_hint",
    "missing_field",
]

if sys.version_info >= (3, 10):
    from types import UnionType

    #: The origins of annotations that are unions.
    UNIONS: Any = (Union, UnionType)
else:
    UNIONS = (Union,)


@functools.lru_cache(maxsize=1024)
def dataclass_of(hint: Any) -> Any:
    """The dataclass that an annotation names, perhaps as optional; None for other annotations."""
    if isinstance(hint, type):
        return hint if dataclasses.is_dataclass(hint) and conversion_of(hint) is None else None
    if typing.get_origin(hint) in UNIONS:
        kinds = [each for each in typing.get_args(hint) if each is not type(None)]
        return dataclass_of(kinds[0]) if len(kinds) == 1 else None
    return None


@functools.lru_cache(maxsize=1024)
def item_hint(hint: Any) -> Any:
    """The annotation of the items of a list or the values of a dict; None for other annotations."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in UNIONS:
        kinds = [each for each in arguments if each is not type(None)]
        return item_hint(kinds[0]) if len(kinds) == 1 else None
    if origin in (list, collections.abc.Sequence, collections.abc.Iterable) and arguments:
        return arguments[0]
    if origin is tuple and arguments[1:] == (...,):
        return arguments[0]
    return arguments[1] if origin in (dict, collections.abc.Mapping) and len(arguments) == 2 else None


@functools.lru_cache(maxsize=256)
def field_names(kind: Any) -> FrozenSet[str]:
    return frozenset(names_of(kind))


@functools.lru_cache(maxsize=256)
def fields_of(kind: Any) -> List[Tuple[str, Any, bool]]:
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


@functools.lru_cache(maxsize=256)
def hints_of(kind: Any) -> Dict[str, Any]:
    return {name: hint for name, hint, _ in fields_of(kind)}


def _telling(hint: Any) -> Any:
    return None if isinstance(hint, type) and hint in _encoding.SCALARS else hint


def missing_field(kind: Any, path: List[str]) -> Optional[Tuple[int, Any, Optional[str]]]:
    """The first part of a path that is no field of its dataclass.

    :returns: its position, the dataclass, and the field that was probably meant; None when there is none, and
        where the annotations do not tell
    """
    hint = kind
    for position, name in enumerate(path):
        found = dataclass_of(hint)
        if found is None:
            hint = item_hint(hint)
            if hint is None:
                return None
        elif name not in names_of(found):
            close = difflib.get_close_matches(name, names_of(found), 1)
            return position, found, close[0] if close else None
        else:
            hint = hints_of(found).get(name)
    return None
