"""Documents of records and values of state: dicts, dataclasses and the types of Python as JSON, and back.

JSON text is passed on as it is.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import itertools
import typing
import warnings
from enum import Enum
from typing import (
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    List,
    Optional,
    Type,
    TypeVar,
)

from satchel import _encoding
from satchel._abi import Bytes
from satchel._fields import (
    ACCEPTED,
    UNIONS,
    dataclass_of,
    fields_of,
    fitting,
    item_hint,
    with_article,
)
from satchel._library import check, json_answer, library
from satchel._types import conversion_of, is_set, sorted_items
from satchel.errors import InvalidArgument, LargeStringWarning
from satchel.values import names_of

__all__ = [
    "Reader",
    "encoded",
    "is_dataclass",
    "lend_json",
    "lend_record",
    "plain",
    "read_value",
    "text_of",
    "warn_of_large_strings",
]

_Document = TypeVar("_Document")
# Types that hold JSON text; in the second, str does as well.
_JSON = (bytes, bytearray, memoryview)
_JSON_OR_TEXT = (str, *_JSON)
#: The library has no warnings for documents up to this size, in bytes.
_LARGE = 1 << 20


def lend_record(document: Any, name: str) -> Bytes:
    """A document for one call; a str is JSON already here."""
    return _encoding.lend_document(document, name) if isinstance(document, str) else lend_json(document, name)


def lend_json(value: Any, name: str) -> Bytes:
    """Any value for one call, with dataclasses and enums anywhere in it; bytes are JSON already."""
    if isinstance(value, _JSON):
        return _encoding.lend_value(value, name)
    return _encoding.lend(encoded(value, name))


def warn_of_large_strings(written: Bytes, name: str) -> None:
    """Issues the warnings of this thread's last write.

    :param written: the documents; there are no warnings for small ones, and the library is not asked
    :param name: of what was written
    """
    if written.size <= _LARGE:
        return
    for each in json_answer(library.satchel_put_warnings):
        # At the caller of the method that writes.
        warnings.warn(f"{name}: {each['pointer']}: {each['reason']}", LargeStringWarning, stacklevel=3)


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
            # A value of JSON's types only is walked once, unless encoding fails.
            if not isinstance(error.__cause__, TypeError):
                raise
    return _encoding.encoded(plain(value, name), name)


def is_dataclass(value: Any) -> bool:
    """Whether a value is an instance of a dataclass."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def plain(value: Any, name: str) -> Any:
    """A value with dicts for its dataclasses, and JSON's types for those of :mod:`satchel._types`."""
    try:
        return _plain(value, "", name)
    except RecursionError:
        raise InvalidArgument(f"{name} has too many levels, or contains itself") from None


def _plain(value: Any, pointer: str, name: str) -> Any:
    if type(value) in _encoding.SCALARS:
        return value
    conversion = conversion_of(type(value))
    if conversion is not None:
        try:
            found = conversion.to_json(value)
        except Exception as error:
            # Also exceptions of the app's own conversions, which do not know the place.
            raise InvalidArgument(f"{name} at {pointer or 'its root'}: {error}") from error
        # A conversion may return its own type, as one of a subclass of str does.
        return found if type(found) is type(value) else _plain(found, pointer, name)
    if isinstance(value, Enum):
        return _plain(value.value, pointer, name)
    if is_dataclass(value):
        return {
            member: _plain(getattr(value, member), f"{pointer}/{member}", name)
            for member in names_of(type(value))
        }
    if isinstance(value, dict):
        return {key: _plain(child, f"{pointer}/{key}", name) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(child, f"{pointer}/{index}", name) for index, child in enumerate(value)]
    if is_set(value):
        return sorted_items(_plain(child, f"{pointer}/-", name) for child in value)
    return value


class Reader(Generic[_Document]):
    """Converts JSON objects to documents: to instances of a dataclass, or dicts.

    :param kind: a dataclass; None leaves dicts
    :param collection: its name, for messages
    :raises InvalidArgument: for anything else, and for annotations that cannot be understood
    """

    __slots__ = ("_collection", "kind")

    def __init__(self, kind: Optional[Type[_Document]], collection: str) -> None:
        if kind is not None:
            if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
                raise InvalidArgument(f"of must be a dataclass, not {kind!r}")
            # Annotation errors are raised now.
            fields_of(kind)
        self.kind: Any = kind
        self._collection = collection

    def __call__(self, document: Dict[str, Any], id: str) -> _Document:
        if self.kind is None:
            return typing.cast(_Document, document)
        try:
            made: _Document = _made(self.kind, document, "")
        except Exception as error:
            # Also exceptions of the class itself, which does not know the record.
            raise self._misfit(id, error) from error
        return made

    def checked(self, document: Any, id: str) -> Any:
        """A document to write, of a kind that can be read again; JSON text is not looked into.

        :raises InvalidArgument: for an instance of another class, and for a dict that cannot be read
        """
        if self.kind is None or isinstance(document, _JSON_OR_TEXT):
            return document
        if isinstance(document, self.kind):
            self._check_scalars(document, id)
            return document
        if not isinstance(document, dict) and conversion_of(type(document)) is None:
            name = type(document).__name__
            raise InvalidArgument(f"{self._collection}/{id}: {name}, not {self.kind.__name__}")
        members = plain(document, f"{self._collection}/{id}")
        try:
            _made(self.kind, members, "")
        except Exception as error:
            raise self._misfit(id, error) from error
        return members

    def check_patch(self, patch: Any, id: str) -> None:
        """Refuses a patch after which the document could not be read.

        :param patch: a dict of JSON values, with members of the dataclass only
        """
        try:
            _check_patch(self.kind, patch, "")
        except Exception as error:
            raise self._misfit(id, error) from error

    def _check_scalars(self, instance: Any, id: str) -> None:
        for name, hint, _, accepted in fields_of(self.kind):
            value = getattr(instance, name)
            if accepted is not None and type(value) not in accepted:
                try:
                    fitting(value, hint, f"/{name}")
                except ValueError as error:
                    raise self._misfit(id, error) from error

    def _misfit(self, id: str, error: Exception) -> InvalidArgument:
        kind = with_article(self.kind.__name__)
        return InvalidArgument(f"{self._collection}/{id} is not {kind}: {error}")


def _made(kind: Any, members: Any, place: str) -> Any:
    """An instance of a dataclass; members that it does not have are left out."""
    if not isinstance(members, dict):
        raise ValueError(f"{place or 'its root'} is not an object")
    given: Dict[str, Any] = {}
    for name, hint, has_default, accepted in fields_of(kind):
        if name in members:
            value = members[name]
            if accepted is None:
                if hint is not None:
                    value = read_value(value, hint, f"{place}/{name}")
            elif type(value) not in accepted:
                value = fitting(value, hint, f"{place}/{name}")
            given[name] = value
        elif not has_default:
            raise ValueError(f"{place}/{name} is missing")
    return kind(**given)


def _check_patch(kind: Any, patch: Any, place: str) -> None:
    for name, hint, has_default, _ in fields_of(kind):
        if name not in patch:
            continue
        value, inner = patch[name], dataclass_of(hint)
        if value is None and not has_default:
            raise ValueError(f"{place}/{name} is missing")
        if isinstance(value, dict) and inner is not None:
            _check_patch(inner, value, f"{place}/{name}")
        elif not isinstance(value, dict) or item_hint(hint) is None:
            read_value(value, hint, f"{place}/{name}")


def read_value(value: Any, hint: Any, place: str) -> Any:
    """A value converted to the type of its annotation, as far as that is known."""
    if value is None:
        return None
    if isinstance(hint, type):
        accepted = ACCEPTED.get(hint)
        if accepted is not None:
            return value if type(value) in accepted else fitting(value, hint, place)
        conversion = conversion_of(hint)
        if conversion is not None:
            return _converted(conversion.from_json, value, place)
        if dataclasses.is_dataclass(hint):
            return _made(hint, value, place)
        if issubclass(hint, Enum):
            return _converted(hint, value, place)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if not arguments:
        bare = next((kind for kind in (tuple, set, frozenset) if kind in (hint, origin)), None)
        return bare(value) if isinstance(value, list) and bare is not None else value
    if origin in UNIONS:
        kinds = [each for each in arguments if each is not type(None)]
        # The value does not determine which of several types is meant.
        return read_value(value, kinds[0], place) if len(kinds) == 1 else value
    if isinstance(value, list):
        return _read_items(value, origin, arguments, place)
    if isinstance(value, dict) and origin in (dict, collections.abc.Mapping):
        return {key: read_value(child, arguments[1], f"{place}/{key}") for key, child in value.items()}
    return value


def _read_items(value: List[Any], origin: Any, arguments: Any, place: str) -> Any:
    def read(hints: Iterable[Any]) -> List[Any]:
        return [
            read_value(each, hint, f"{place}/{index}") for index, (each, hint) in enumerate(zip(value, hints))
        ]

    if origin is tuple:
        kinds = arguments[:1] * len(value) if arguments[1:] == (...,) else arguments
        if len(kinds) != len(value):
            raise ValueError(f"{place} has {len(value)} items, not {len(kinds)}")
        return tuple(read(kinds))
    items = itertools.repeat(arguments[0])
    if origin in (set, frozenset, collections.abc.Set, collections.abc.MutableSet):
        return frozenset(read(items)) if origin is frozenset else set(read(items))
    if origin in (list, collections.abc.Sequence, collections.abc.Iterable):
        return read(items)
    return value


def _converted(convert: Callable[[Any], Any], value: Any, place: str) -> Any:
    try:
        return convert(value)
    except Exception as error:
        # Also exceptions of the app's own conversions, which do not know the place.
        raise ValueError(f"{place}: {error}") from error
