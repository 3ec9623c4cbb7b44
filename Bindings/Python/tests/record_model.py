"""Records as a plain program would keep them: a dict of documents, searched from end to end."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

MISSING = object()
Documents = Mapping[str, Dict[str, Any]]


def value_at(document: Any, path: str) -> Any:
    """The value at a path, MISSING when the path leads to nothing: in a list only a pointer leads on."""
    is_pointer = path.startswith("/")
    for key in path[1:].split("/") if is_pointer else path.split("."):
        if isinstance(document, dict) and key in document:
            document = document[key]
        elif isinstance(document, list) and is_pointer and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        else:
            return MISSING
    return document


def kind(value: Any) -> int:
    """The position of a value in an order, by its kind."""
    if value is MISSING:
        return 0
    if value is None:
        return 1
    if isinstance(value, bool):
        return 3 if value else 2
    if isinstance(value, (int, float, Decimal)):
        return 4
    return {str: 5, list: 6, dict: 7}[type(value)]


def equal(one: Any, other: Any) -> bool:
    if kind(one) != kind(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return bool(one == other)


def below(one: Any, other: Any) -> bool:
    """Whether one number or text is less than another; different kinds cannot be compared."""
    if isinstance(one, str):
        return one.encode() < other.encode()
    return bool(one < other)


def satisfies(value: Any, operator: str, operand: Any) -> bool:
    if operator == "exists":
        return (value is not MISSING) is operand
    if operator == "ne":
        return not equal(value, operand)
    if value is MISSING:
        return False
    if operator == "eq":
        return equal(value, operand)
    if operator == "in":
        return any(equal(value, each) for each in operand)
    if operator == "prefix":
        return isinstance(value, str) and value.startswith(operand)
    if operator == "contains":
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, list) and any(equal(each, operand) for each in value)
    if kind(value) != kind(operand) or kind(value) not in (4, 5):
        return False
    if operator in ("lt", "gte"):
        return below(value, operand) is (operator == "lt")
    return below(operand, value) is (operator == "gt")


def fits(document: Dict[str, Any], where: Mapping[str, Any]) -> bool:
    for name, value in where.items():
        if name == "any":
            holds = any(fits(document, each) for each in value)
        elif name == "all":
            holds = all(fits(document, each) for each in value)
        elif name == "not":
            holds = not fits(document, value)
        elif isinstance(value, dict):
            found = value_at(document, name)
            holds = all(satisfies(found, operator, operand) for operator, operand in value.items())
        else:
            holds = satisfies(value_at(document, name), "eq", value)
        if not holds:
            return False
    return True


class Ordered:
    """A value by which records are sorted."""

    def __init__(self, value: Any) -> None:
        self.rank = kind(value)
        # Lists and dicts are among themselves equal.
        self.value = value.encode() if isinstance(value, str) else value if self.rank == 4 else 0

    def __lt__(self, other: Ordered) -> bool:
        if self.rank != other.rank:
            return self.rank < other.rank
        return bool(self.value < other.value)


def listed(
    documents: Documents,
    where: Optional[Mapping[str, Any]] = None,
    order_by: Union[str, Sequence[str]] = (),
    limit: Optional[int] = None,
    offset: int = 0,
) -> List[Tuple[str, Dict[str, Any]]]:
    """The documents that fit, in their order; a dict's own order is that of arrival."""
    found = [(id, each) for id, each in documents.items() if where is None or fits(each, where)]
    for path in reversed([order_by] if isinstance(order_by, str) else list(order_by)):
        descending = path.startswith("-")
        name = path[1:] if descending else path

        def key(pair: Tuple[str, Dict[str, Any]], name: str = name) -> Ordered:
            return Ordered(value_at(pair[1], name))

        # Sorting in reverse keeps those that are equal in their order, too.
        found.sort(key=key, reverse=descending)
    return found[offset:] if limit is None else found[offset : offset + limit]
