"""The fields of dataclasses, and the types of their values by their annotations."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import reprlib
import sys
import typing
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Dict, FrozenSet, List, Optional, Tuple, Union

from satchel._types import SCALAR_TYPES, conversion_of
from satchel.errors import InvalidArgument
from satchel.values import names_of

__all__ = [
    "ACCEPTED",
    "UNIONS",
    "dataclass_of",
    "field_names",
    "fields_of",
    "fitting",
    "hints_of",
    "is_dataclass_type",
    "item_hint",
    "known_members",
    "leaf_kind",
    "missing_field",
    "types_of",
    "with_article",
]

if sys.version_info >= (3, 10):
    from types import UnionType

    #: The origins of annotations that are unions.
    UNIONS: Any = (Union, UnionType)
else:
    UNIONS = (Union,)

_NONE = type(None)
#: The types of the values that a field with such an annotation may have; null is read as None anywhere.
ACCEPTED: Dict[Any, FrozenSet[Any]] = {
    bool: frozenset((bool, _NONE)),
    int: frozenset((int, _NONE)),
    float: frozenset((float, int, _NONE)),
    str: frozenset((str, _NONE)),
}


@functools.lru_cache(maxsize=1024)
def dataclass_of(hint: Any) -> Any:
    """The dataclass that an annotation names, perhaps as optional; None for other annotations."""
    if isinstance(hint, type):
        return hint if dataclasses.is_dataclass(hint) and conversion_of(hint) is None else None
    if typing.get_origin(hint) in UNIONS:
        kinds = [each for each in typing.get_args(hint) if each is not type(None)]
        return dataclass_of(kinds[0]) if len(kinds) == 1 else None
    return None


def is_dataclass_type(kind: Any) -> bool:
    """Whether a type is a dataclass whose instances are stored with its fields as members."""
    return dataclass_of(kind) is kind


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
def fields_of(kind: Any) -> List[Tuple[str, Any, bool, Optional[FrozenSet[Any]]]]:
    """Of each field that an instance is made with its name, annotation, whether it has a default, and types.

    The annotation is None where it says nothing of how a value is read; the types are those of ACCEPTED, and
    None for annotations that it does not have.
    """
    try:
        hints = typing.get_type_hints(kind)
    except Exception as error:
        raise InvalidArgument(f"the annotations of {kind.__name__}: {error}") from error
    missing = dataclasses.MISSING
    found = []
    for each in dataclasses.fields(kind):
        if each.init:
            hint = _telling(hints.get(each.name))
            has_default = each.default is not missing or each.default_factory is not missing
            found.append((each.name, hint, has_default, _accepted(hint)))
    return found


@functools.lru_cache(maxsize=256)
def hints_of(kind: Any) -> Dict[str, Any]:
    return {name: hint for name, hint, *_ in fields_of(kind)}


def _telling(hint: Any) -> Any:
    if hint is _NONE:
        return None
    kinds = [each for each in typing.get_args(hint) if each is not _NONE]
    if typing.get_origin(hint) in UNIONS and len(kinds) == 1 and _accepted(kinds[0]) is not None:
        # None fits any annotation.
        return kinds[0]
    return hint


def _accepted(hint: Any) -> Optional[FrozenSet[Any]]:
    return ACCEPTED.get(hint) if isinstance(hint, type) else None


def fitting(value: Any, hint: Any, place: str) -> Any:
    """A value of another type than those of ACCEPTED, when it fits such an annotation all the same.

    :raises ValueError: when it does not
    """
    if hint is int and isinstance(value, float) and value.is_integer():
        # As JSON Schema has it, 3.0 is an integer.
        return int(value)
    if isinstance(value, tuple(ACCEPTED[hint])) and (hint is bool or not isinstance(value, bool)):
        return value
    raise ValueError(f"{place}: {reprlib.repr(value)} is not {with_article(hint.__name__)}")


def with_article(name: str) -> str:
    """A name with the indefinite article."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def missing_field(
    kind: Any, path: List[str], *, reaches_lists: bool
) -> Optional[Tuple[int, Any, Optional[str]]]:
    """The first part of a path that is not a field of its dataclass.

    :param reaches_lists: whether the path leads to the items of lists by their positions
    :returns: its position, the dataclass, and the field that was probably meant; the position and the type of
        a value without members, where the path leads on from it; None when the path is valid, and where the
        annotations do not determine it
    """
    hint = kind
    for position, name in enumerate(path):
        found = dataclass_of(hint)
        if found is None:
            leaf = leaf_kind(hint)
            if leaf is not None:
                return position, leaf, None
            is_list = _list_item(hint) is not None
            if is_list and not (reaches_lists and _is_index(name)):
                return position, list, None
            hint = item_hint(hint)
            if hint is None:
                return None
        elif name not in names_of(found):
            # Only an error needs it.
            import difflib

            close = difflib.get_close_matches(name, names_of(found), 1)
            return position, found, close[0] if close else None
        else:
            hint = hints_of(found).get(name)
    return None


def types_of(kind: Any) -> Dict[str, str]:
    """The types of the paths of a dataclass whose values are times or decimals, for the declaration."""
    types: Dict[str, str] = {}

    def visit(kind: Any, place: str, outer: Tuple[Any, ...]) -> None:
        for name, hint in hints_of(kind).items():
            found = dataclass_of(hint)
            if found is None:
                known = _TYPES.get(leaf_kind(hint))
                if known is not None:
                    types[place + name] = known
            elif found not in outer:
                visit(found, f"{place}{name}.", (*outer, found))

    if dataclass_of(kind) is not None:
        visit(kind, "", (kind,))
    return types


_TYPES = {datetime: "time", date: "time", Decimal: "decimal"}


def leaf_kind(hint: Any) -> Any:
    """The type that an annotation names, perhaps as optional, if its values have no members, or None."""
    if typing.get_origin(hint) in UNIONS:
        kinds = [each for each in typing.get_args(hint) if each is not _NONE]
        return leaf_kind(kinds[0]) if len(kinds) == 1 else None
    if not isinstance(hint, type) or typing.get_args(hint):
        return None
    return hint if hint in ACCEPTED or hint in SCALAR_TYPES or issubclass(hint, Enum) else None


def _list_item(hint: Any) -> Any:
    """The annotation of the items of a list; None for other annotations, those of dicts as well."""
    if typing.get_origin(hint) in UNIONS:
        kinds = [each for each in typing.get_args(hint) if each is not _NONE]
        return _list_item(kinds[0]) if len(kinds) == 1 else None
    return None if typing.get_origin(hint) in (dict, collections.abc.Mapping) else item_hint(hint)


def _is_index(name: str) -> bool:
    return name.isascii() and name.isdigit()


@functools.lru_cache(maxsize=256)
def known_members(kinds: Tuple[Any, ...]) -> str:
    """The members of dataclasses and of those in their fields as JSON, for satchel_records_typed()."""
    import json

    types: List[Dict[str, Any]] = []
    numbers: Dict[Any, int] = {}

    def number_of(kind: Any) -> int:
        if kind not in numbers:
            numbers[kind] = len(types)
            types.append({})
        return numbers[kind]

    def member_of(hint: Any) -> Any:
        found = dataclass_of(hint)
        if found is not None:
            return number_of(found)
        inner = item_hint(hint)
        member = None if inner is None else member_of(inner)
        return None if member is None else [member]

    for kind in kinds:
        number_of(kind)
    # Members lead to further types.
    done = 0
    while done < len(types):
        kind = list(numbers)[done]
        done += 1
        try:
            hints = hints_of(kind)
        except InvalidArgument:
            # Names that are local to a function cannot be found: the fields are written as a whole.
            hints = {}
        types[numbers[kind]] = {name: member_of(hints.get(name)) for name in names_of(kind)}
    return json.dumps(types)
