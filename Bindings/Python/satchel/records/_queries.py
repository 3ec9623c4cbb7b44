"""The queries of a collection as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Dict, Tuple

from satchel import _encoding
from satchel._abi import Bytes
from satchel._documents import is_dataclass, lend_json
from satchel.errors import InvalidArgument
from satchel.records._declarations import items_of

__all__ = ["lend_query"]

_LARGEST = 2**63 - 1


def lend_query(
    where: Any, order_by: Any = None, limit: Any = None, offset: Any = None, **more: Any
) -> Bytes:
    """Encodes a query; None is left out."""
    # An empty query selects everything.
    query: Dict[str, Any] = dict(more)
    if where is not None:
        query["where"] = _filter(where)
    if order_by is not None:
        query["order_by"] = order_by if isinstance(order_by, str) else items_of(order_by, "order_by")
    for name, number in (("limit", limit), ("offset", offset)):
        if number is not None:
            query[name] = _encoding.whole(number, name, 0, _LARGEST)
    return lend_json(query, "query") if query else _encoding.NOTHING


def _filter(where: Any) -> Any:
    try:
        return _condition(where)
    except RecursionError:
        raise InvalidArgument("where has too many levels, or contains itself") from None


def _condition(where: Any) -> Any:
    if not isinstance(where, Mapping):
        raise InvalidArgument(f"a condition must be a dict, not {type(where).__name__}")
    return dict(_term(name, value) for name, value in where.items())


def _term(name: Any, value: Any) -> Tuple[Any, Any]:
    if name in ("any", "all") and not isinstance(value, Mapping):
        return name, [_condition(each) for each in items_of(value, name)]
    if name == "not" and isinstance(value, Mapping):
        return name, _condition(value)
    if is_dataclass(value):
        # Otherwise its fields would be read as operators.
        return name, {"eq": value}
    if isinstance(value, Mapping):
        return name, {operator: _operand(operator, operand) for operator, operand in value.items()}
    return name, value


def _operand(operator: Any, operand: Any) -> Any:
    if operator == "in" and not isinstance(operand, (str, bytes, Mapping)) and isinstance(operand, Iterable):
        # A set, a range, the keys of a dict.
        return list(operand)
    return operand
