"""The documents of a collection: writing, reading and querying them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Dict, Generic, List, Optional, Tuple, Type, TypeVar, Union

from satchel import _encoding
from satchel._abi import Bytes
from satchel._documents import Reader, is_dataclass, lend_json, lend_record, text_of
from satchel._handles import Dependent
from satchel._library import answer, json_answer, library, scalar_answer, value_of
from satchel.errors import Conflict, InvalidArgument
from satchel.records._declarations import (
    Index,
    MigrationStep,
    Relation,
    items_of,
    lend_declaration,
    opened,
    steps_of,
)
from satchel.records._values import Record, record_of
from satchel.records._watch import Watch

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = ["Collection"]

_Document = TypeVar("_Document")
_LARGEST = 2**63 - 1
_ANY_REVISION = -1


class Collection(Dependent, Generic[_Document]):
    """The part of :class:`satchel.Records` that writes, reads and queries documents."""

    __slots__ = ("_name", "_read", "_store")

    def __init__(
        self,
        store: Store,
        name: str,
        of: Optional[Type[_Document]],
        indexes: Optional[Iterable[Union[str, Index, Mapping[str, Any]]]],
        relations: Optional[Mapping[str, Union[str, Relation, Mapping[str, Any]]]],
        schema: Optional[Union[Mapping[str, Any], bool]],
        version: Optional[int],
        migrations: Optional[Sequence[MigrationStep]],
        redeclare: bool,
        on_conflict: Optional[str],
        synced: Optional[bool],
    ) -> None:
        """Use ``store.records``."""
        steps = steps_of(migrations)
        lent = lend_declaration(name, indexes, relations, schema, version, steps, on_conflict, synced)
        self._name = name
        self._store = store
        self._read: Reader[_Document] = Reader(of, name)
        super().__init__(
            opened(store, lent, steps, bool(redeclare)), store._owner, library.satchel_records_free
        )
        store._adopt(self)

    @property
    def name(self) -> str:
        """The collection's name."""
        return self._name

    def put(self, id: str, document: Union[_Document, Any], *, if_revision: Optional[int] = None) -> int:
        """Writes a record durably: inserts it, or replaces the stored one.

        :param id: 1 to 255 bytes of UTF-8 without control characters
        :param document: a dict or a dataclass, copied; or the text of a JSON object, in bytes or str
        :param if_revision: the revision that the record must have, 0 when it must not exist
        :returns: its new revision, from 1; 0 when the write was spooled
        :raises ConstraintViolation: when it violates the schema, a unique index or a relation; the message
            names collection, id and JSON Pointer
        :raises Conflict: when the record has another revision than ``if_revision``
        :raises InvalidArgument: for a value that JSON cannot represent, with its JSON Pointer
        :raises Full, ReadOnly, IOFailure, Damaged, Busy: when it cannot be spooled either. Writes in a
            batch, in memory and in a store opened read-only are never spooled
        """
        if self._read.may_keep(document):
            return self._put_keeping(id, document, if_revision)
        lent = _encoding.lend_text(id, "id"), lend_record(document, "document"), _revision(if_revision)
        return scalar_answer(ctypes.c_int64, library.satchel_records_put, self._handle.pointer, *lent)

    def _put_keeping(self, id: str, document: Any, if_revision: Optional[int]) -> int:
        """Writes an instance with the members of the stored record that its class does not have."""
        lent_id = _encoding.lend_text(id, "id")
        while True:
            stored = json_answer(library.satchel_records_record, self._pointer, lent_id)
            known = 0 if stored is None else stored["revision"]
            data = self._read.kept(document, stored and stored["document"], "document")
            expected = known if if_revision is None else _revision(if_revision)
            arguments = self._pointer, lent_id, _encoding.lend(data), expected
            try:
                return scalar_answer(ctypes.c_int64, library.satchel_records_put, *arguments)
            except Conflict:
                # Another thread or process was faster: what it has written may have such members, too.
                if if_revision is not None:
                    raise

    def put_many(
        self, documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]]
    ) -> int:
        """Writes many records in one transaction, all or none; see :meth:`put`.

        :param documents: a dict of documents by id, or an iterable of pairs (id, document)
        :returns: the number of records; 0 when the write was spooled
        :raises InvalidArgument: also for an item that is not a pair; otherwise as :meth:`put`
        """
        lent = _lend_many(self._kept(documents))
        return scalar_answer(ctypes.c_int64, library.satchel_records_put_many, self._pointer, lent)

    def _kept(self, documents: Any) -> Any:
        """Documents with the members of the stored ones that their class does not have."""
        if not self._read.may_keep_any:
            return documents
        pairs = documents.items() if isinstance(documents, Mapping) else documents
        if isinstance(pairs, (str, bytes, bytearray)) or not isinstance(pairs, Iterable):
            return documents
        return [self._kept_pair(pair) for pair in pairs]

    def _kept_pair(self, pair: Any) -> Any:
        if not (isinstance(pair, tuple) and len(pair) == 2 and self._read.may_keep(pair[1])):
            return pair
        id, document = pair
        stored = self.text(id)
        return id, self._read.kept(document, stored and value_of(stored), f"the document of {id!r}")

    def get(self, id: str) -> Optional[_Document]:
        """A record's document: a dict, or what the collection was opened ``of``.

        :param id: of the record
        :returns: a copy; None when the record does not exist
        :raises InvalidArgument: for a document that does not fit the dataclass; the message names record and
            JSON Pointer
        """
        data = answer(library.satchel_records_get, self._handle.pointer, _encoding.lend_text(id, "id"))
        return None if data is None else self._read(value_of(data), id)

    def text(self, id: str) -> Optional[bytes]:
        """A record's document as JSON in UTF-8, byte for byte as written.

        :param id: of the record
        :returns: None when the record does not exist
        """
        return answer(library.satchel_records_get, self._handle.pointer, _encoding.lend_text(id, "id"))

    def record(self, id: str) -> Optional[Record[_Document]]:
        """A record with its metadata, otherwise as :meth:`get`.

        :param id: of the record
        :returns: None when the record does not exist
        """
        found = json_answer(library.satchel_records_record, self._pointer, _encoding.lend_text(id, "id"))
        return None if found is None else record_of(found, self._read)

    def delete(self, id: str, *, if_revision: Optional[int] = None) -> bool:
        """Deletes a record, and applies ``on_delete`` of the relations to it, in one transaction.

        :param id: of the record; deleting a missing one does nothing
        :param if_revision: the revision that the record must have
        :returns: whether it existed; True when the deletion was spooled, and that is not known yet
        :raises ConstraintViolation: when a relation restricts it; the message names the referring record
        :raises Conflict: when the record has another revision than ``if_revision``; otherwise as :meth:`put`
        """
        lent = _encoding.lend_text(id, "id"), _revision(if_revision)
        return scalar_answer(ctypes.c_bool, library.satchel_records_delete, self._pointer, *lent)

    def list(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> List[Record[_Document]]:
        """The records that match, see :mod:`satchel.records`; by default all, in the order of insertion.

        They are read from one snapshot, and all are held in memory: use ``limit`` for large results.

        :param where: conditions, such as ``{"credits": {"gte": 5}}``
        :param order_by: a path, "-path" for descending, or several
        :param limit: the maximum number of records
        :param offset: the number of records to skip
        :raises InvalidArgument: for an invalid operator or path, and as in :meth:`get`
        """
        lent = _lend_query(where, order_by, limit, offset)
        found = json_answer(library.satchel_records_list, self._pointer, lent)
        return [record_of(each, self._read) for each in found]

    def ids(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> List[str]:
        """The ids of the records that match.

        ``where``, ``order_by``, ``limit`` and ``offset`` are those of :meth:`list`.
        """
        lent = _lend_query(where, order_by, limit, offset, documents=False)
        return [each["id"] for each in json_answer(library.satchel_records_list, self._pointer, lent)]

    def count(self, where: Optional[Mapping[str, Any]] = None) -> int:
        """The number of records that match; by default all, in constant time.

        :param where: as in :meth:`list`
        """
        return scalar_answer(
            ctypes.c_int64, library.satchel_records_count, self._pointer, _lend_query(where)
        )

    def watch(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> Watch[_Document]:
        """A live query: the records that match now, and again whenever a commit changes them.

        >>> with courses.watch(order_by="title", limit=20) as results:
        ...     for records in results:
        ...         show(records)

        A commit of this process or of another; results come at most once in 100 ms, always that of the last
        commit, and not when it is the same as before. The query runs again after each commit that changes the
        collection, on a thread of the library, at the cost of :meth:`list`.

        ``where``, ``order_by``, ``limit`` and ``offset`` are those of :meth:`list`.

        :returns: an iterator, for ``for`` and ``async for``; close it, or use it in a ``with`` block
        :raises InvalidArgument: for an invalid operator or path
        """
        lent = _lend_query(where, order_by, limit, offset)
        return Watch(self._store, self._pointer, lent, self._read)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.text(id) is not None

    @property
    def _pointer(self) -> int:
        return self._handle.pointer

    def __repr__(self) -> str:
        return f"<satchel.Records {self._name!r}{', closed' if self.closed else ''}>"


def _revision(revision: Any) -> int:
    return _ANY_REVISION if revision is None else _encoding.whole(revision, "if_revision", 0, _LARGEST)


def _lend_many(documents: Any) -> Bytes:
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


def _lend_query(
    where: Any, order_by: Any = None, limit: Any = None, offset: Any = None, **more: Any
) -> Bytes:
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
