"""The documents of a collection: writing, reading and querying them."""

from __future__ import annotations

import ctypes
import warnings as _warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Generic,
    List,
    Literal,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
    overload,
)

from satchel import _encoding
from satchel._abi import Bytes
from satchel._documents import Reader, lend_json, lend_record, text_of
from satchel._handles import Dependent
from satchel._library import answer, json_answer, library, scalar_answer, value_of
from satchel.errors import Conflict, InvalidArgument, NotFound, SchemaWarning
from satchel.records._declarations import (
    Index,
    MigrationStep,
    Relation,
    items_of,
    lend_declaration,
    opened,
    steps_of,
)
from satchel.records._queries import lend_query
from satchel.records._values import PutReport, Record, put_report_from, record_of
from satchel.records._watch import Watch

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = ["Collection"]

_Document = TypeVar("_Document")
_LARGEST = 2**63 - 1
_ANY_REVISION = -1
# The number of records that iterate() reads at once.
_PORTION = 500


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
        sensitive: Optional[Iterable[str]] = None,
    ) -> None:
        """Use ``store.records``."""
        steps = steps_of(migrations)
        lent = lend_declaration(
            name, indexes, relations, schema, version, steps, on_conflict, synced, sensitive
        )
        self._name = name
        self._store = store
        self._read: Reader[_Document] = Reader(of, name)
        super().__init__(
            opened(store, lent, steps, bool(redeclare)), store._owner, library.satchel_records_free
        )
        store._adopt(self)
        if schema is not None:
            self._issue_warnings()

    @property
    def name(self) -> str:
        """The collection's name."""
        return self._name

    def _issue_warnings(self) -> None:
        try:
            for warning in self.warnings:
                # At the caller of store.records.
                _warnings.warn(f"{self._name}: schema: {warning}", SchemaWarning, stacklevel=4)
        except SchemaWarning:
            self.close()
            raise

    @property
    def warnings(self) -> List[str]:
        """The keywords of the collection's schema that have no effect.

        They are no keywords of draft 2020-12, probably misspelled: "/properties/n/minimun: unknown keyword,
        without effect: did you mean "minimum"?". Given a schema, ``store.records`` issues a
        :class:`satchel.SchemaWarning` for each.
        """
        found: List[str] = json_answer(library.satchel_records_warnings, self._pointer)
        return found

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

    @overload
    def put_many(
        self,
        documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]],
        *,
        skip_rejected: Literal[False] = False,
    ) -> int: ...

    @overload
    def put_many(
        self,
        documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]],
        *,
        skip_rejected: Literal[True],
    ) -> PutReport: ...

    def put_many(
        self,
        documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]],
        *,
        skip_rejected: bool = False,
    ) -> Union[int, PutReport]:
        """Writes many records in one transaction, all or none; see :meth:`put`.

        :param documents: a dict of documents by id, or an iterable of pairs (id, document)
        :param skip_rejected: whether to write the valid records and report the others, instead of raising for
            the first of them. A record that refers to a missing one is reported, and so are those that refer
            to it; in a batch, references are checked at its end. Never spooled
        :returns: the number of records; 0 when the write was spooled. With ``skip_rejected`` a
            :class:`satchel.records.PutReport`
        :raises InvalidArgument: also for an item that is not a pair, and for a value that JSON cannot
            represent; otherwise as :meth:`put`. The message names the record
        """
        lent = _lend_many(self._kept(documents))
        if skip_rejected:
            return put_report_from(json_answer(library.satchel_records_put_valid, self._pointer, lent))
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

    def update(self, id: str, patch: Mapping[str, Any], *, if_revision: Optional[int] = None) -> int:
        """Changes members of a record's document by a JSON Merge Patch (RFC 7396), in one transaction.

        :param id: of the record
        :param patch: the members that change; None removes one, a dict changes the members of a dict
        :param if_revision: the revision that the record must have
        :returns: its new revision; 0 when the change was spooled
        :raises NotFound: when the record does not exist; otherwise as :meth:`put`
        """
        if not isinstance(patch, Mapping):
            raise InvalidArgument(f"patch must be a dict, not {type(patch).__name__}")
        lent = _encoding.lend_text(id, "id"), lend_record(dict(patch), "patch"), _revision(if_revision)
        return scalar_answer(ctypes.c_int64, library.satchel_records_update, self._pointer, *lent)

    def delete_many(self, ids: Iterable[str]) -> int:
        """Deletes records, and applies ``on_delete`` of the relations to them, in one transaction.

        :param ids: of the records, which may refer to each other; missing ones are ignored
        :returns: the number of records that existed; 0 when the deletion was spooled
        :raises ConstraintViolation: when a relation restricts it, and nothing is deleted
        """
        lent = lend_json(_ids(ids), "ids")
        return scalar_answer(ctypes.c_int64, library.satchel_records_delete_many, self._pointer, lent)

    def get_many(self, ids: Iterable[str]) -> Dict[str, _Document]:
        """The documents of records, by id, in the order of ``ids``; missing ones are left out.

        :param ids: of the records
        """
        wanted = _ids(ids)
        found = {each.id: each.document for each in self._by_id(wanted)}
        return {id: found[id] for id in wanted if id in found}

    def iterate(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
    ) -> Iterator[Record[_Document]]:
        """The records that match, read in portions: only their ids are held in memory.

        The ids are those of one snapshot; each record is read when its turn comes, and one that was deleted
        until then is left out. ``where`` and ``order_by`` are those of :meth:`list`.
        """
        return self._portions(self.ids(where, order_by))

    def _portions(self, ids: List[str]) -> Iterator[Record[_Document]]:
        for first in range(0, len(ids), _PORTION):
            portion = ids[first : first + _PORTION]
            found = {each.id: each for each in self._by_id(portion)}
            yield from (found[id] for id in portion if id in found)

    def _by_id(self, ids: List[str]) -> List[Record[_Document]]:
        return self.list({"@id": {"in": ids}}) if ids else []

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
        lent = lend_query(where, order_by, limit, offset)
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
        lent = lend_query(where, order_by, limit, offset, documents=False)
        return [each["id"] for each in json_answer(library.satchel_records_list, self._pointer, lent)]

    def count(self, where: Optional[Mapping[str, Any]] = None) -> int:
        """The number of records that match; by default all, in constant time.

        :param where: as in :meth:`list`
        """
        return scalar_answer(
            ctypes.c_int64, library.satchel_records_count, self._pointer, lend_query(where)
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
        lent = lend_query(where, order_by, limit, offset)
        return Watch(self._store, self._pointer, lent, self._read)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.text(id) is not None

    def __getitem__(self, id: str) -> _Document:
        """The document of a record, as :meth:`get`.

        :raises NotFound: a KeyError, when the record does not exist
        """
        document = self.get(id)
        if document is None:
            raise NotFound(f"{self._name}/{id}: there is no such record")
        return document

    def __iter__(self) -> Iterator[Record[_Document]]:
        """All records, as :meth:`iterate`."""
        return self.iterate()

    def __len__(self) -> int:
        """The number of records."""
        return self.count()

    def __bool__(self) -> bool:
        # An empty collection is still true.
        return True

    @property
    def _pointer(self) -> int:
        return self._handle.pointer

    def __repr__(self) -> str:
        return f"<satchel.Records {self._name!r}{', closed' if self.closed else ''}>"


def _revision(revision: Any) -> int:
    return _ANY_REVISION if revision is None else _encoding.whole(revision, "if_revision", 0, _LARGEST)


def _ids(ids: Any) -> List[str]:
    names = items_of(ids, "ids")
    for name in names:
        if not isinstance(name, str):
            raise InvalidArgument(f"ids must be strings, not {type(name).__name__}")
    return names


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
