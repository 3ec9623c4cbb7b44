"""Declarations and queries as JSON for the library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, Dict, List, Optional, Tuple, Union
from urllib.parse import quote

from satchel import _encoding
from satchel._abi import Bytes
from satchel._dataclasses import dataclass
from satchel._photo_arguments import whole
from satchel._record_documents import is_dataclass, lend_json, plain, text_of
from satchel._record_values import RecordConflict
from satchel.errors import InvalidArgument

__all__ = [
    "Index",
    "Migration",
    "MigrationStep",
    "Relation",
    "conflict_number",
    "lend_declaration",
    "lend_many",
    "lend_query",
    "lend_resolution",
    "object_name",
    "revision_number",
    "steps_of",
]

_LARGEST = 2**63 - 1
_ANY_REVISION = -1

#: Takes a document of one version, and returns that of the next.
Step = Callable[[Dict[str, Any]], Any]


@dataclass(frozen=True)
class Index:
    """An index of the records by the value at ``path``, optionally unique.

    A unique index ignores null and missing values.
    """

    path: str
    unique: bool = False


@dataclass(frozen=True)
class Relation:
    """The target of a field: a record of ``collection`` by its id, or ``many`` of them by a list of ids.

    ``on_delete`` says what happens to this record when that one is deleted: "restrict" refuses the
    deletion, "cascade" deletes this record too, "nullify" removes the id.
    """

    collection: str
    on_delete: str = "restrict"
    many: bool = False


@dataclass(frozen=True)
class Migration:
    """A migration step with an optional inverse, with which an older app can open newer records.

    Both functions take a document and return it as the other version has it.
    """

    forward: Step
    back: Optional[Step] = None


#: A step between two versions: a list of declared changes, or a function.
MigrationStep = Union[Sequence[Mapping[str, Any]], Step, Migration]


def steps_of(migrations: Any) -> Optional[List[Any]]:
    """The migrations as a list; functions become a :class:`Migration`, None stays None.

    :raises InvalidArgument: for what is neither a function nor a list of changes
    """
    if migrations is None:
        return None
    return [_step(each, f"migration {i}") for i, each in enumerate(_items(migrations, "migrations"), 1)]


def _step(step: Any, name: str) -> Any:
    if isinstance(step, Migration):
        for function in (step.forward, step.back):
            if function is not None and not callable(function):
                raise InvalidArgument(f"{name} must be callable, not {type(function).__name__}")
        return step
    if callable(step):
        return Migration(step)
    return [dict(each) if isinstance(each, Mapping) else each for each in _items(step, name)]


def lend_declaration(
    name: Any, indexes: Any, relations: Any, schema: Any, version: Any, steps: Optional[List[Any]]
) -> Bytes:
    """Encodes the declaration of a collection; None is left out.

    :param steps: of :func:`steps_of`
    """
    if not isinstance(name, str):
        raise InvalidArgument(f"name must be a str, not {type(name).__name__}")
    declared: Dict[str, Any] = {"name": name}
    if indexes is not None:
        declared["indexes"] = [_index(each) for each in _items(indexes, "indexes")]
    if relations is not None:
        declared["relations"] = _relations(relations)
    if schema is not None:
        if not isinstance(schema, (bool, Mapping)):
            raise InvalidArgument(f"schema must be a dict, not {type(schema).__name__}")
        declared["schema"] = dict(schema) if isinstance(schema, Mapping) else schema
    if version is not None:
        declared["version"] = whole(version, "version", 1, 2**31 - 1)
    if steps is not None:
        declared["migrations"] = [_declared(each) for each in steps]
    return lend_json(declared, "the declaration")


def _declared(step: Any) -> Any:
    if not isinstance(step, Migration):
        return step
    return "callback" if step.back is None else {"callback": {"inverse": True}}


def _items(values: Any, name: str) -> List[Any]:
    if isinstance(values, (str, bytes, bytearray, Mapping)) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{name} must be a list, not {type(values).__name__}")
    return list(values)


def _index(index: Any) -> Any:
    if isinstance(index, Index):
        return {"path": index.path, "unique": bool(index.unique)}
    return dict(index) if isinstance(index, Mapping) else index


def _relations(relations: Any) -> Dict[str, Any]:
    if not isinstance(relations, Mapping):
        raise InvalidArgument(f"relations must be a dict, not {type(relations).__name__}")
    return {path: _relation(relation, path) for path, relation in relations.items()}


def _relation(relation: Any, path: Any) -> Any:
    if isinstance(relation, str):
        return {"collection": relation}
    if isinstance(relation, Relation):
        return plain(relation, f"the relation of {path!r}")
    return dict(relation) if isinstance(relation, Mapping) else relation


def lend_query(where: Any, order_by: Any = None, limit: Any = None, offset: Any = None, **more: Any) -> Bytes:
    """Encodes the given parts of a query; an empty query selects everything."""
    query: Dict[str, Any] = dict(more)
    if where is not None:
        query["where"] = _filter(where)
    if order_by is not None:
        query["order_by"] = order_by if isinstance(order_by, str) else _items(order_by, "order_by")
    for name, number in (("limit", limit), ("offset", offset)):
        if number is not None:
            query[name] = whole(number, name, 0, _LARGEST)
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
        return name, [_condition(each) for each in _items(value, name)]
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


def lend_many(documents: Any) -> Bytes:
    """Documents with their ids, for one call."""
    if isinstance(documents, Mapping):
        documents = documents.items()
    if isinstance(documents, (str, bytes, bytearray)) or not isinstance(documents, Iterable):
        raise InvalidArgument(f"documents must be a dict or pairs, not {type(documents).__name__}")
    return _encoding.lend(b"[%b]" % b",".join(map(_entry, documents)))


def _entry(pair: Any) -> bytes:
    try:
        id, document = pair
    except (TypeError, ValueError):
        raise InvalidArgument(f"documents must be pairs of id and document, not {pair!r}") from None
    if not isinstance(id, str):
        raise InvalidArgument(f"id must be a str, not {type(id).__name__}")
    text = text_of(document, f"the document of {id!r}")
    return b'{"id":%b,"document":%b}' % (_encoding.encoded(id, "id"), text)


def lend_resolution(keep: Any, document: Any) -> Bytes:
    """Encodes the resolution of a conflict; ``document`` is used when ``keep`` is None."""
    if keep is not None:
        return lend_json({"keep": keep}, "keep")
    return _encoding.lend(b'{"document":%b}' % text_of(document, "document"))


def conflict_number(conflict: Any) -> int:
    """The number of a conflict."""
    id = conflict.id if isinstance(conflict, RecordConflict) else conflict
    return whole(id, "conflict", -_LARGEST - 1, _LARGEST)


def revision_number(revision: Any) -> int:
    """The expected revision as its C value."""
    return _ANY_REVISION if revision is None else whole(revision, "if_revision", 0, _LARGEST)


def object_name(collection: str, id: str) -> str:
    """The last part of the key of a record's object."""
    name = quote(id, safe="").replace("~", "%7E")
    if name.startswith("."):
        name = "%2E" + name[1:]
    return f"/{collection}/{name}.json"
