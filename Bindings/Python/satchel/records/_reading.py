"""The documents of a collection: reading and querying them."""

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
    Optional,
    Set,
    Type,
    TypeVar,
    Union,
)

from satchel import _encoding
from satchel._documents import Reader
from satchel._fields import known_members
from satchel._handles import Dependent, Handle
from satchel._html import Rows, escaped, html_of_some
from satchel._library import answer, json_answer, library, scalar_answer, value_of
from satchel.errors import InvalidArgument, NotFound, QueryWarning, SatchelError, SchemaWarning
from satchel.records._declarations import (
    Index,
    MigrationStep,
    Relation,
    declared_types,
    items_of,
    lend_declaration,
    lifetime,
    opened,
    paths_of,
    steps_of,
)
from satchel.records._queries import Paths, check_path, lend_query
from satchel.records._values import Record, record_of
from satchel.records._watch import LiveResult, Watch

if TYPE_CHECKING:
    from datetime import timedelta

    from satchel.store import Store

__all__ = ["ReadableCollection", "ids_of", "included_paths"]

_Document = TypeVar("_Document")
# The number of records that iterate() reads at once.
_PORTION = 500
# The number of records that notebooks show of a collection.
_SHOWN = 10


class ReadableCollection(Dependent, Generic[_Document]):
    """The part of :class:`satchel.Records` that reads and queries documents."""

    __slots__ = ("_name", "_paths", "_read", "_store", "_typed", "_warned")

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
        types: Optional[Mapping[str, Union[str, Mapping[str, Any]]]] = None,
        search: Optional[Iterable[str]] = None,
        positions: Optional[Iterable[str]] = None,
        ttl: Optional[Union[int, timedelta, str]] = None,
    ) -> None:
        """Use ``store.records``."""
        steps = steps_of(migrations)
        # By the dataclasses whose instances were written.
        self._typed: Dict[Any, Handle] = {}
        self._name = name
        self._store = store
        self._read: Reader[_Document] = Reader(of, name)
        indexes = None if indexes is None else items_of(indexes, "indexes")
        search = None if search is None else items_of(search, "search")
        positions = None if positions is None else items_of(positions, "positions")
        for path in [*paths_of(indexes, relations), *(search or []), *(positions or []), ttl]:
            check_path(path, of)
        sensitive = None if sensitive is None else items_of(sensitive, "sensitive")
        known = declared_types(types, of, relations, sensitive)
        self._paths = Paths(of, known or {})
        # The warnings that were issued, and the orders and groups of queries that were looked at for them.
        self._warned: Set[Any] = set()
        lent = lend_declaration(
            name,
            indexes,
            relations,
            schema,
            version,
            steps,
            on_conflict,
            synced,
            known,
            lifetime(ttl),
            sensitive=sensitive,
            search=search,
            positions=positions,
        )
        super().__init__(
            opened(store, lent, steps, bool(redeclare)), store._owner, library.satchel_records_free
        )
        store._adopt(self)
        if schema is not None or steps:
            self._issue_warnings()

    @property
    def name(self) -> str:
        """The collection's name."""
        return self._name

    def _issue_warnings(self) -> None:
        try:
            for warning in self.warnings:
                # At the caller of store.records.
                place = "" if warning.startswith("migration ") else "schema: "
                _warnings.warn(f"{self._name}: {place}{warning}", SchemaWarning, stacklevel=4)
        except SchemaWarning:
            self.close()
            raise

    @property
    def warnings(self) -> List[str]:
        """Warnings of what is probably wrong with the declaration.

        A keyword of the schema that has no effect, because draft 2020-12 does not define it:
        "/properties/n/minimun: unknown keyword, without effect: did you mean "minimum"?"; and a step of the
        migration that opening the collection has run which found no value in any record. ``store.records``
        issues a :class:`satchel.SchemaWarning` for each. Paths of queries that have looked at all records,
        and that none had, follow them: "query: no record has "titel": did you mean "title"?"; queries issue a
        :class:`satchel.QueryWarning` for each.
        """
        found: List[str] = json_answer(library.satchel_records_warnings, self._pointer)
        return found

    def get(self, id: str) -> Optional[_Document]:
        """A record's document: a dict, or what the collection was opened ``of``.

        :param id: of the record
        :returns: a copy; None when the record does not exist
        :raises InvalidArgument: for a document that does not fit the dataclass: a member is missing, or its
            value is not of the field's type, also int, float, str or bool. An int fits float, 3.0 fits int,
            and null fits any type. The message names record and JSON Pointer
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

    def get_many(self, ids: Iterable[str]) -> Dict[str, _Document]:
        """The documents of records, by id, in the order of ``ids``; missing ones are left out.

        :param ids: of the records
        """
        wanted = ids_of(ids)
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
        *,
        nulls: Optional[str] = None,
        select: Optional[Iterable[str]] = None,
        include: Optional[Iterable[str]] = None,
    ) -> List[Record[_Document]]:
        """The records that match, see :mod:`satchel.records`; by default all, in the order of insertion.

        They are read from one snapshot, and all are held in memory: use ``limit`` for large results.

        :param where: conditions, such as ``{"credits": {"gte": 5}}``
        :param order_by: a path, "-path" for descending, or several
        :param limit: the maximum number of records
        :param offset: the number of records to skip; :meth:`page` goes on after a record instead
        :param nulls: "first" or "last": where missing and null values sort, whatever the direction is; by
            default before all others in ascending order, and after them in descending order
        :param select: the paths of the values that the documents have; for a collection that was not opened
            ``of`` a dataclass
        :param include: the paths of declared relations: ``record.included[path]`` is the related
            :class:`satchel.records.Record`, or None, or a list of them where the relation is to many, in the
            order of their ids; ids without a record are left out. Each related record is read once, in the
            same snapshot
        :raises InvalidArgument: for an invalid operator or path, also for one that ends like the syntax of
            another library ("due desc", "due__gt"), and as in :meth:`get`; for a path to what no
            document can have: the dataclass that the collection was opened ``of`` has no such field, or the
            schema forbids it. The message names the one that was probably meant
        """
        lent = lend_query(
            where,
            order_by,
            limit,
            offset,
            known=self._paths,
            nulls=nulls,
            select=self._selected(select),
            include=included_paths(include),
        )
        found = json_answer(library.satchel_records_list, self._pointer, lent)
        self._warn(found, order_by)
        return Rows([record_of(each, self._read) for each in found])

    def _warn(self, found: Any, paths: Any = None, *, level: int = 3) -> None:
        """Issues the warnings of paths that no record has, after a query that finds nothing or is new."""
        shape = repr((paths,))
        if self._paths.of is not None or (found and shape in self._warned):
            return
        self._warned.add(shape)
        for warning in self.warnings:
            if warning.startswith("query: ") and warning not in self._warned:
                self._warned.add(warning)
                _warnings.warn(f"{self._name}: {warning}", QueryWarning, stacklevel=level)

    def _selected(self, select: Any) -> Optional[List[Any]]:
        if select is None:
            return None
        if self._read.kind is not None:
            kind = self._read.kind.__name__
            raise InvalidArgument(f"select: the documents are of type {kind}, which has all of its fields")
        return items_of(select, "select")

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
        lent = lend_query(where, order_by, limit, offset, known=self._paths, documents=False)
        found = json_answer(library.satchel_records_list, self._pointer, lent)
        self._warn(found, order_by)
        return [each["id"] for each in found]

    def count(self, where: Optional[Mapping[str, Any]] = None) -> int:
        """The number of records that match; by default all, in constant time.

        :param where: as in :meth:`list`
        """
        lent = lend_query(where, known=self._paths)
        number = scalar_answer(ctypes.c_int64, library.satchel_records_count, self._pointer, lent)
        if where:
            self._warn(number)
        return number

    def watch(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> Watch[LiveResult[Record[_Document]]]:
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
        lent = lend_query(where, order_by, limit, offset, known=self._paths)
        return Watch(self._store, self._pointer, lent, self._live_result)

    def _live_result(self, found: Dict[str, Any]) -> LiveResult[Record[_Document]]:
        return LiveResult([record_of(each, self._read) for each in found.pop("records")], **found)

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

    def _writer(self, *kinds: Any) -> int:
        """The pointer of a handle that keeps the stored members that dataclasses do not have."""
        pointer = self._handle.pointer
        handle = self._typed.get(kinds)
        if handle is None:
            lent = _encoding.lend(known_members(kinds).encode())
            made = Handle.made_by("collection", library.satchel_records_typed, pointer, lent)
            # Another thread may have made one.
            handle = self._typed.setdefault(kinds, made)
            if handle is not made:
                self._let_go(made)
            if self.closed:
                self.close()
        return handle.pointer

    def close(self) -> None:
        """Closes it; closing again does nothing. Waits for its calls on other threads.

        Called from a callback of its store, for which it would wait, it closes on another thread.
        """
        super().close()
        for handle in list(self._typed.values()):
            self._let_go(handle)

    def __repr__(self) -> str:
        return f"<satchel.Records {self._name!r}{', closed' if self.closed else ''}>"

    def _repr_html_(self) -> str:
        try:
            count, shown = self.count(), self.list(limit=_SHOWN)
        except SatchelError as error:
            # Closed, for example: notebooks show it all the same.
            return f"<p>{escaped(repr(self))}: {escaped(str(error))}</p>"
        title = f"<p>{escaped(self._name)}: {count} record{'' if count == 1 else 's'}</p>"
        return title + html_of_some(shown, count)


def included_paths(include: Any) -> Optional[List[Any]]:
    """The paths of the relations that a query includes."""
    return None if include is None else items_of(include, "include")


def ids_of(ids: Any) -> List[str]:
    """The ids of an iterable of them."""
    names = items_of(ids, "ids")
    for name in names:
        if not isinstance(name, str):
            raise InvalidArgument(f"ids must be strings, not {type(name).__name__}")
    return names
