"""The queries of a collection as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Dict, List, Tuple

from satchel import _encoding
from satchel._abi import Bytes
from satchel._documents import is_dataclass, lend_json
from satchel._fields import is_dataclass_type, missing_field
from satchel._numbers import BigNumber
from satchel.errors import InvalidArgument
from satchel.records._declarations import items_of

__all__ = ["Paths", "check_members", "check_path", "lend_condition", "lend_live", "lend_query"]

_LARGEST = 2**63 - 1
_COMPUTED = re.compile(r"(first|length|lower|year|month|day)\((.*)\)", re.DOTALL)


class Paths:
    """The paths of a collection's documents, as far as its handle knows them.

    :param of: the dataclass of the documents, whose fields the paths must lead to, or None
    :param types: those that are declared
    """

    __slots__ = ("_decimals", "of")

    def __init__(self, of: Any, types: Mapping[str, Any]) -> None:
        self.of = of
        self._decimals = {tuple(_parts(path)) for path, kind in types.items() if kind == "decimal"}

    def check(self, path: Any) -> None:
        """As :func:`check_path`."""
        check_path(path, self.of)

    def check_comparable(self, path: Any, operand: Any) -> None:
        """Refuses a range of decimals where they are compared as text."""
        is_decimal = isinstance(operand, Decimal) and not isinstance(operand, BigNumber)
        if is_decimal and isinstance(path, str) and tuple(_parts(path)) not in self._decimals:
            raise InvalidArgument(
                f'"{path}": decimals are stored as text, of which "10" is less than "9.5": a range of them '
                f'would be wrong; declare what the values are: types={{"{path}": "decimal"}}'
            )


def lend_query(
    where: Any, order_by: Any = None, limit: Any = None, offset: Any = None, *, known: Paths, **more: Any
) -> Bytes:
    """Encodes a query; None is left out.

    :param known: of the collection
    """
    # An empty query selects everything.
    query = _query(where, order_by, limit, offset, known, more)
    return lend_json(query, "query") if query else _encoding.NOTHING


def lend_live(kind: str, where: Any, limit: Any = None, *, known: Paths, **more: Any) -> Bytes:
    """Encodes the query of a live query for groups or hits.

    :param kind: "groups", "search" or "near"
    :param known: of the collection
    """
    return lend_json({kind: _query(where, None, limit, None, known, more)}, "query")


def _query(
    where: Any, order_by: Any, limit: Any, offset: Any, known: Paths, more: Mapping[str, Any]
) -> Dict[str, Any]:
    query: Dict[str, Any] = {name: value for name, value in more.items() if value is not None}
    if where is not None:
        query["where"] = _filter(where, known)
    if order_by is not None:
        query["order_by"] = order_by if isinstance(order_by, str) else items_of(order_by, "order_by")
        ordered = query["order_by"]
        for path in [ordered] if isinstance(ordered, str) else ordered:
            _check_order(path, known.of)
    for name, number in (("limit", limit), ("offset", offset)):
        if number is not None:
            query[name] = _encoding.whole(number, name, 0, _LARGEST)
    return query


def lend_condition(where: Any, paths: Paths) -> Bytes:
    """Encodes the condition of a write; None means all records."""
    return _encoding.NOTHING if where is None else lend_json(_filter(where, paths), "where")


def check_path(path: Any, of: Any, *, is_member: bool = False) -> None:
    """Refuses a path that does not lead to a field of a dataclass.

    :param is_member: whether it is that of a given member, of which the type is checked elsewhere
    :raises InvalidArgument: with the path that was probably meant
    """
    if of is None or not isinstance(path, str) or path[:1] in ("", "@"):
        return None
    computed = _COMPUTED.fullmatch(path)
    if computed:
        return check_path(computed[2], of)
    is_pointer = path.startswith("/")
    # An item of a list is like any other.
    parts = _parts(path if is_pointer else path.replace("[*]", ".0"))
    found = missing_field(of, parts, reaches_lists=is_pointer or "[*]" in path)
    if found is None:
        return None
    position, kind, likely = found
    if is_member and not is_dataclass_type(kind):
        return None
    if not is_dataclass_type(kind):
        owner, member = parts[position - 1], parts[position]
        reason = f'"{owner}" is of type {kind.__name__}, which has no "{member}"'
        raise InvalidArgument(f'"{path}": {reason}')
    text = ""
    if likely is not None:
        meant = [*parts[:position], likely, *parts[position + 1 :]]
        escaped = [part.replace("~", "~0").replace("/", "~1") for part in meant]
        text = f': did you mean "{"/" + "/".join(escaped) if is_pointer else ".".join(meant)}"?'
    raise InvalidArgument(f'"{path}": {kind.__name__} has no field "{parts[position]}"{text}')


def _parts(path: str) -> List[str]:
    if path.startswith("/"):
        return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    return path.split(".")


def check_members(patch: Mapping[str, Any], of: Any) -> None:
    """Refuses a patch with members that are no fields of a dataclass, as :func:`check_path`."""
    waiting = [("", patch)]
    while waiting:
        place, members = waiting.pop()
        for name, value in members.items():
            path = f"{place}/{name.replace('~', '~0').replace('/', '~1')}"
            check_path(path, of, is_member=True)
            if isinstance(value, Mapping):
                waiting.append((path, value))


def _check_order(path: Any, of: Any) -> None:
    if not isinstance(path, str):
        return
    bare = path[1:] if path[:1] == "-" else path
    try:
        check_path(bare, of)
    except InvalidArgument as error:
        # As in SQL: "written desc".
        name, _, direction = bare.rpartition(" ")
        if direction.lower() not in ("asc", "desc"):
            raise
        check_path(name.rstrip(), of)
        meant = ("-" if direction.lower() == "desc" else "") + name.rstrip()
        text = f'"{path}": {of.__name__} has no field "{bare}": did you mean "{meant}"?'
        raise InvalidArgument(text) from error


def _filter(where: Any, paths: Paths) -> Any:
    try:
        return _condition(where, paths)
    except RecursionError:
        raise InvalidArgument("where has too many levels, or contains itself") from None


def _condition(where: Any, paths: Paths) -> Any:
    if not isinstance(where, Mapping):
        raise InvalidArgument(f"a condition must be a dict, not {type(where).__name__}")
    return dict(_term(name, value, paths) for name, value in where.items())


def _term(name: Any, value: Any, paths: Paths) -> Tuple[Any, Any]:
    if name in ("any", "all") and not isinstance(value, Mapping):
        return name, [_condition(each, paths) for each in items_of(value, name)]
    if name == "not" and isinstance(value, Mapping):
        return name, _condition(value, paths)
    paths.check(name)
    if is_dataclass(value):
        # Otherwise its fields would be read as operators.
        return name, {"eq": value}
    if isinstance(value, Mapping):
        return name, {
            operator: _operand(name, operator, operand, paths) for operator, operand in value.items()
        }
    return name, value


def _operand(path: Any, operator: Any, operand: Any, paths: Paths) -> Any:
    if operator in ("lt", "lte", "gt", "gte"):
        paths.check_comparable(path, operand)
    if operator == "in" and not isinstance(operand, (str, bytes, Mapping)) and isinstance(operand, Iterable):
        # A set, a range, the keys of a dict.
        return list(operand)
    return operand
