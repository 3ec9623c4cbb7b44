"""Declarations of collections, and the migrations by functions of the host while one is opened."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, TypeVar, Union

from satchel import _abi, _callbacks, _encoding
from satchel._documents import encoded, lend_json, plain
from satchel._fields import types_of
from satchel._handles import Handle
from satchel._library import library
from satchel.errors import InvalidArgument, SatchelError
from satchel.values import dataclass

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = [
    "Index",
    "Migration",
    "MigrationStep",
    "Relation",
    "declared_types",
    "items_of",
    "lend_declaration",
    "lifetime",
    "migrating",
    "on_migrate",
    "opened",
    "paths_of",
    "steps_of",
    "versions",
]

_Result = TypeVar("_Result")

#: Takes a document of one version, and returns that of the next.
Step = Callable[[Dict[str, Any]], Any]


@dataclass(frozen=True)
class Index:
    """An index of the records by the value at ``path``, or by those at a list of paths.

    A path may also be ``"lines[*].sku"``, which every item of a list has, and ``"first(a)"``,
    ``"length(a)"``, ``"lower(a)"``, ``"year(a)"``, ``"month(a)"`` or ``"day(a)"``; ``"-"`` before one of
    several is its descending order. ``unique`` refuses records with the same values; null and missing ones
    do not count. ``where`` is the condition of the records in the index: queries with the same condition use
    it. ``type`` is that of the values at the one path, as in ``types`` of ``store.records``.
    """

    path: Union[str, Sequence[str]]
    unique: bool = False
    where: Optional[Mapping[str, Any]] = None
    type: Optional[Union[str, Mapping[str, Any]]] = None


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
    """A migration step: ``forward`` to the next version, and optionally ``back`` to the previous one.

    Both functions take a document and return it as the other version has it. With ``back`` an older app can
    open newer records.
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
    return [_step(each, f"migration {i}") for i, each in enumerate(items_of(migrations, "migrations"), 1)]


def _step(step: Any, name: str) -> Any:
    if isinstance(step, Migration):
        for function in (step.forward, step.back):
            if function is not None:
                _encoding.check_callable(function, name)
        return step
    if callable(step):
        return Migration(step)
    return [dict(each) if isinstance(each, Mapping) else each for each in items_of(step, name)]


def lifetime(ttl: Any) -> Optional[Union[int, str]]:
    """The form of ``ttl`` in a declaration: a path, or a number of seconds.

    :raises InvalidArgument: for a time that is no whole number of seconds, and for what is no time
    """
    if isinstance(ttl, timedelta):
        seconds = ttl.total_seconds()
        if not seconds.is_integer():
            raise InvalidArgument(f"ttl must be a whole number of seconds, not {seconds}")
        return int(seconds)
    if ttl is None or isinstance(ttl, str) or (isinstance(ttl, int) and not isinstance(ttl, bool)):
        return ttl
    raise InvalidArgument(f"ttl must be seconds, a timedelta or a path, not {type(ttl).__name__}")


def lend_declaration(
    name: Any,
    indexes: Any,
    relations: Any,
    schema: Any,
    version: Any,
    steps: Optional[List[Any]],
    on_conflict: Any,
    synced: Any,
    types: Optional[Mapping[str, Any]] = None,
    ttl: Optional[Union[int, str]] = None,
    **paths: Any,
) -> _abi.Bytes:
    """Encodes the declaration of a collection; None is left out.

    :param steps: of :func:`steps_of`
    :param paths: lists of paths, by the name of the member
    """
    if not isinstance(name, str):
        raise InvalidArgument(f"name must be a str, not {type(name).__name__}")
    declared: Dict[str, Any] = {"name": name, **versions(version, steps)}
    if indexes is not None:
        declared["indexes"] = [_index(each) for each in items_of(indexes, "indexes")]
    if relations is not None:
        declared["relations"] = _relations(relations)
    if schema is not None:
        if not isinstance(schema, (bool, Mapping)):
            raise InvalidArgument(f"schema must be a dict, not {type(schema).__name__}")
        declared["schema"] = dict(schema) if isinstance(schema, Mapping) else schema
    if on_conflict is not None:
        _encoding.choice(_abi.CONFLICT_POLICY, on_conflict, "on_conflict")
        declared["on_conflict"] = on_conflict
    if synced is not None:
        declared["synced"] = bool(synced)
    if ttl is not None:
        declared["ttl"] = ttl
    if types is not None:
        declared["types"] = {
            path: dict(kind) if isinstance(kind, Mapping) else kind for path, kind in types.items()
        }
    for member, listed in paths.items():
        if listed is not None:
            declared[member] = [_path(each, member) for each in items_of(listed, member)]
    return lend_json(declared, "the declaration")


def versions(version: Any, steps: Optional[List[Any]]) -> Dict[str, Any]:
    """The part of a declaration with its version; None is left out."""
    declared: Dict[str, Any] = {}
    if version is not None:
        declared["version"] = _encoding.whole(version, "version", 1, 2**31 - 1)
    if steps is not None:
        declared["migrations"] = [_declared(each) for each in steps]
    return declared


def _path(path: Any, member: str) -> str:
    if not isinstance(path, str):
        raise InvalidArgument(f"{member}: a path must be a str, not {type(path).__name__}")
    return path


def _declared(step: Any) -> Any:
    if not isinstance(step, Migration):
        return step
    return "callback" if step.back is None else {"callback": {"inverse": True}}


def items_of(values: Any, name: str) -> List[Any]:
    """The items of an argument that must be a list or another iterable, but no text and no dict."""
    if isinstance(values, (str, bytes, bytearray, Mapping)) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{name} must be a list, not {type(values).__name__}")
    return list(values)


def paths_of(indexes: Any, relations: Any) -> List[Any]:
    """The paths of declared indexes and relations; those that are invalid are refused later."""
    paths = list(relations) if isinstance(relations, Mapping) else []
    for index in indexes or []:
        path: Any = index
        if isinstance(index, Index):
            path = index.path
        elif isinstance(index, Mapping):
            path = index.get("path", index.get("paths"))
        several = path if isinstance(path, (list, tuple)) else [path]
        paths += [each[1:] if isinstance(each, str) and each[:1] == "-" else each for each in several]
    return paths


def declared_types(types: Any, of: Any, relations: Any, sensitive: Any) -> Optional[Dict[str, Any]]:
    """The types of the paths: those of a dataclass, and declared ones, which count where both have one."""
    if types is not None and not isinstance(types, Mapping):
        raise InvalidArgument(f"types must be a dict, not {type(types).__name__}")
    known = types_of(of) if of is not None else {}
    for path in [*(relations or ()), *(sensitive or ())]:
        for each in list(known):
            # Ids and encrypted fields have no type.
            if isinstance(path, str) and (each + ".").startswith(_dotted(path) + "."):
                del known[each]
    known = {path: kind for path, kind in known.items() if path not in map(_dotted, types or ())}
    known.update(types or {})
    return known if known or types is not None else None


def _dotted(path: str) -> str:
    return path[1:].replace("/", ".") if path[:1] == "/" else path


def _index(index: Any) -> Any:
    if isinstance(index, Index):
        several = isinstance(index.path, (list, tuple))
        declared: Dict[str, Any] = {"paths" if several else "path": index.path, "unique": bool(index.unique)}
        if index.where is not None:
            declared["where"] = dict(index.where)
        if index.type is not None:
            declared["type"] = dict(index.type) if isinstance(index.type, Mapping) else index.type
        return declared
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


def opened(store: Store, declaration: _abi.Bytes, steps: Optional[List[Any]], redeclare: bool) -> Handle:
    """Opens a collection; see :func:`migrating`.

    :param redeclare: whether what is not declared is dropped
    """

    def call(context: int) -> Handle:
        options = _abi.RecordsOptions(migrate=on_migrate, context=context, redeclare=redeclare)
        return Handle.made_by(
            "collection", library.satchel_records_open, store._pointer, declaration, ctypes.byref(options)
        )

    return migrating(store, steps, call)


def migrating(store: Store, steps: Optional[List[Any]], call: Callable[[int], _Result]) -> _Result:
    """The result of a call that migrates by :data:`on_migrate`.

    :param steps: the migrations, of which the functions are called meanwhile
    :param call: gets the context of the callback
    :raises SatchelError: the exception of a function is its cause
    """
    run = _Run(steps or [], store._owner)
    context = _callbacks.register(run.migrate, store._owner)
    try:
        return call(context)
    except SatchelError as error:
        if run.raised is None:
            raise
        if not isinstance(run.raised, Exception):
            # KeyboardInterrupt and the like are not errors of the call.
            raise run.raised from None
        raise error from run.raised
    finally:
        _callbacks.release(context)


class _Run:
    """The functions of one opening, and their exceptions."""

    def __init__(self, steps: List[Any], owner: int) -> None:
        self._steps = steps
        self._owner = owner
        self.raised: Optional[BaseException] = None

    def migrate(self, start: int, to: int, record: Any, answer: int) -> bool:
        """Migrates one record, for C; whether it could."""
        try:
            document = self._migrated(start, to, record["document"])
            text = encoded(document, f"what the migration from {start} to {to} returned")
        except BaseException as error:
            self.raised = error
            _callbacks.describe(error, library.satchel_record_answer_message, answer)
            return False
        library.satchel_record_answer_document(answer, _encoding.lend(text))
        return True

    def _migrated(self, start: int, to: int, document: Any) -> Any:
        place = min(start, to) - 1
        step = self._steps[place] if 0 <= place < len(self._steps) else None
        function = None
        if isinstance(step, Migration):
            function = step.forward if to > start else step.back
        if function is None:
            raise LookupError(f"no function migrates from version {start} to {to}")
        with _callbacks.entered(self._owner):
            migrated = function(document)
        if migrated is None:
            raise TypeError("a migration must return the document, not None")
        return migrated


def _migrate(context: Optional[int], start: int, to: int, record: Any, answer: int) -> bool:
    # No exception may cross C; it means that the record could not be migrated.
    try:
        function, _ = _callbacks.lookup(context)
        if function is None:
            return False
        return bool(function(start, to, _callbacks.json_of(record), answer))
    except BaseException:
        return False


on_migrate = _abi.RecordMigration(_migrate)
