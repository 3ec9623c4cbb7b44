"""Records: the app's own documents, in collections.

>>> with satchel.open("app.satchel") as store:
...     courses = store.records("courses", indexes=["semester"])
...     courses.put("algebra", {"title": "Algebra", "semester": "autumn", "credits": 6})
...     for course in courses.list(where={"credits": {"gte": 5}}, order_by="title"):
...         print(course.id, course["title"])

A document is a dict, or an instance of a dataclass; bytes and str are JSON texts, and are kept byte for byte.
JSON has at most 512 levels here, and integers of 64 bits. What is read is the caller's own to change.

Each write is durable when its call returns. What an unwritable file cannot take goes to a spill file beside
it, and is taken in at the next opening, ``store.state.flush()`` or write; observers hear of it under the
subject "records" with the keys "@spilled" and "@replayed".

``where`` is a dict, of which all must hold: ``{path: value}``, or ``{path: {operator: value}}`` with the
operators eq, ne, lt, lte, gt, gte, in (a list or any other iterable), prefix, contains (a value in a list, a
text in a text) and exists. To compare with a list or a dict, use eq.
``{"any": [where, …]}``, ``{"all": [where, …]}`` and ``{"not": where}`` combine. A path is "a.b", or a JSON
Pointer; "@id", "@created", "@modified", "@revision" and "@sync_status" are the record's own. Numbers compare
with numbers only, texts by their UTF-8 bytes.

``order_by`` is a path, "-path" for descending, or a list of them: missing first, then None, False, True,
numbers, texts, lists, dicts; equal ones in the order of their arrival.
"""

from __future__ import annotations

import ctypes
import os
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Generic,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
)

from satchel import _abi, _encoding
from satchel._handle import Dependent, answer, check, json_answer, value_of
from satchel._library import library
from satchel._long_work import LongWork, hearing
from satchel._photo_arguments import whole
from satchel._record_arguments import (
    Index,
    Migration,
    MigrationStep,
    Relation,
    conflict_number,
    lend_declaration,
    lend_many,
    lend_query,
    lend_resolution,
    object_name,
    revision_number,
    steps_of,
)
from satchel._record_documents import lend_record, reader_of
from satchel._record_migration import opened
from satchel._record_values import (
    CollectionInfo,
    MirrorDifference,
    MirrorReport,
    Record,
    RecordConflict,
    RecordFailure,
    SyncProgress,
    SyncReport,
    conflict_from,
    record_of,
    report_from,
)
from satchel._remote_host import Failures
from satchel.errors import InvalidArgument
from satchel.remote import Remote
from satchel.values import record_from

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = [
    "CollectionInfo",
    "Index",
    "Migration",
    "MirrorDifference",
    "MirrorReport",
    "Record",
    "RecordConflict",
    "RecordFailure",
    "Records",
    "Relation",
    "SyncProgress",
    "SyncReport",
]

_Document = TypeVar("_Document")
_PAGE = 1000
# That resolve() was given no document, which None would not say.
_LEFT_OUT: Any = object()


class Records(Dependent, Generic[_Document]):
    """One collection of a store; made by ``store.records(name)``.

    Ends with :meth:`close`, at the end of a ``with`` block, or with the store. The methods may be called on
    any thread, also at once; other threads run while they wait for the disk. Observers of the store hear of
    changes under the subject "records", with keys such as "courses/algebra", or "courses" when much has
    changed.

    All methods raise :class:`satchel.Closed` after the end; InvalidArgument for an id that is none, and
    NewerStore after another process took the collection to a newer version; IOFailure and Damaged when the
    file cannot be read. All that is written by one call is written, or nothing. Methods that write raise
    InvalidArgument after ``redeclare=True`` dropped or replaced something elsewhere: ``store.records`` again.
    """

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
    ) -> None:
        """As ``store.records``, which is the way to make one."""
        steps = steps_of(migrations)
        lent = lend_declaration(name, indexes, relations, schema, version, steps)
        self._name = name
        self._store = store
        self._read = reader_of(of, name)
        super().__init__(
            opened(store, lent, steps, bool(redeclare)), store._owner, library.satchel_records_free
        )
        store._adopt(self)

    @property
    def name(self) -> str:
        """The collection's name."""
        return self._name

    def put(self, id: str, document: Union[_Document, Any], *, if_revision: Optional[int] = None) -> int:
        """Writes a record, durably: a new one, or in place of the one that is there.

        :param id: 1 to 255 bytes of UTF-8 without control characters
        :param document: a dict or a dataclass, copied; or the text of a JSON object, in bytes or str
        :param if_revision: the revision that the record must have, 0 when there must be none
        :returns: its new revision, from 1; 0 when it went to the spill file
        :raises InvalidArgument: when it violates the schema, a unique index or a relation, naming
            collection, id and JSON Pointer; for what JSON cannot hold, with its place; for another revision
        :raises Full, ReadOnly, IOFailure, Damaged, Busy: when the spill file could not take it either. In a
            batch, in memory and in a store opened to read only there is none
        """
        out = ctypes.c_int64()
        lent = _encoding.lend_text(id, "id"), lend_record(document, "document"), revision_number(if_revision)
        check(library.satchel_records_put(self._handle.pointer, *lent, ctypes.byref(out)))
        return out.value

    def put_many(
        self, documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]]
    ) -> int:
        """Writes many records in one transaction, all or none; see :meth:`put`.

        :param documents: a dict of documents by their ids, or pairs of both, which may come from a generator
        :returns: how many; 0 when they went to the spill file
        :raises InvalidArgument: also for what is no pair; as :meth:`put` raises else
        """
        out = ctypes.c_int64()
        check(library.satchel_records_put_many(self._pointer, lend_many(documents), ctypes.byref(out)))
        return out.value

    def get(self, id: str) -> Optional[_Document]:
        """A record's document: a dict, or what the collection was opened ``of``.

        :returns: an object of the caller's own; None when there is no such record
        :raises InvalidArgument: for a document that is no such dataclass, naming record and JSON Pointer
        """
        data = answer(library.satchel_records_get, self._handle.pointer, _encoding.lend_text(id, "id"))
        return None if data is None else self._read(value_of(data), id)

    def text(self, id: str) -> Optional[bytes]:
        """A record's document in JSON, UTF-8, byte for byte as it was given; None when there is none."""
        return answer(library.satchel_records_get, self._handle.pointer, _encoding.lend_text(id, "id"))

    def record(self, id: str) -> Optional[Record[_Document]]:
        """A record with what is known of it, else as :meth:`get`; None when there is no such record."""
        found = json_answer(library.satchel_records_record, self._pointer, _encoding.lend_text(id, "id"))
        return None if found is None else record_of(found, self._read)

    def delete(self, id: str, *, if_revision: Optional[int] = None) -> bool:
        """Deletes a record, and what its relations say, in one transaction.

        :param id: of the record; that there is none is fine
        :param if_revision: the revision that the record must have
        :returns: whether there was one; True when that went to the spill file, and is not known yet
        :raises InvalidArgument: when a relation restricts it, naming the record that refers to it; and for
            another revision. What else is raised is as in :meth:`put`
        """
        out = ctypes.c_bool()
        lent = _encoding.lend_text(id, "id"), revision_number(if_revision)
        check(library.satchel_records_delete(self._pointer, *lent, ctypes.byref(out)))
        return out.value

    def list(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> List[Record[_Document]]:
        """The records that fit, see :mod:`satchel.records`; all in the order of their arrival by default.

        They are of one state, whatever others write meanwhile, and are all in memory at once: for more than
        that, ask with ``limit``.

        :param where: what they fit, such as ``{"credits": {"gte": 5}}``
        :param order_by: a path, "-path" for descending, or several
        :param limit: at most so many
        :param offset: passes over so many
        :raises InvalidArgument: for an operator or a path that is none, and as in :meth:`get`
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
        """As :meth:`list`, of the records only the ids."""
        lent = lend_query(where, order_by, limit, offset, documents=False)
        return [each["id"] for each in json_answer(library.satchel_records_list, self._pointer, lent)]

    def count(self, where: Optional[Mapping[str, Any]] = None) -> int:
        """How many records fit, see :meth:`list`; all by default, which costs the same for any number."""
        out = ctypes.c_int64()
        check(library.satchel_records_count(self._pointer, lend_query(where), ctypes.byref(out)))
        return out.value

    def mirror(
        self,
        path: Union[str, os.PathLike[str]],
        prefer: Optional[str] = None,
        *,
        mode: str = "store_first",
    ) -> MirrorReport:
        """Keeps the collection also as one JSON file, replaced as a whole at each commit, until it is closed.

        A file that is there is compared with the collection first. It is written when it is the one that this
        store wrote last, or has nothing that the store lacks. Otherwise neither side is changed, unless
        ``prefer`` says which one wins.

        :param path: the file; its directory must exist
        :param prefer: what wins where both differ: "file": the store takes what the file has, and keeps what
            only the store has; "store": the file is written, and kept as it was beside the new one; None
            refuses
        :param mode: which side is written first: "store_first", or "file_first": then the store takes what it
            lacks, when the file lacks nothing that the store has
        :returns: how many records the store took, and where the file is that was set aside
        :raises InvalidArgument: for a file that differs (the message counts and names the differences) or
            cannot be understood (line and column), and in a batch; nothing is changed
        :raises NotFound, ReadOnly, Full, IOFailure: when the file cannot be written now. Later, observers
            hear "@mirror_failed", or "@mirror_edited" when somebody else has changed the file, which is left
            alone then; with "file_first" the write fails
        """
        _, file = _encoding.file_path(path, "path")
        options = _abi.MirrorOptions(size=ctypes.sizeof(_abi.MirrorOptions))
        if prefer is not None:
            options.prefer = _encoding.choice(_abi.MIRROR_PREFER, prefer, "prefer")
        options.mode = _encoding.choice(_abi.MIRROR_MODE, mode, "mode")
        found = json_answer(
            library.satchel_records_mirror, self._pointer, _encoding.lend(file), ctypes.byref(options)
        )
        return record_from(MirrorReport, found)

    def verify_mirror(self) -> List[MirrorDifference]:
        """Compares the collection with its mirror.

        :returns: a difference for each record that is not the same; [] when all are
        :raises InvalidArgument: without a mirror, or when it cannot be understood (line and column)
        """
        found = json_answer(library.satchel_records_verify_mirror, self._pointer)
        return [record_from(MirrorDifference, each) for each in found]

    def rebuild(self, which: str) -> int:
        """Makes one side of a mirror anew from the other, as a whole or not at all.

        :param which: the side that is made anew, "mirror" or "store"; what only that side has is lost
        :returns: how many records differed
        :raises InvalidArgument: without a mirror; for "store" also when the file cannot be understood, or
            has what the collection does not take
        :raises NotFound: for "store" when there is no file
        """
        out = ctypes.c_int64()
        number = _encoding.choice(_abi.REBUILD, which, "which")
        check(library.satchel_records_rebuild(self._pointer, number, ctypes.byref(out)))
        return out.value

    def sync(
        self,
        remote: Remote,
        user: str,
        strategy: str = "newest_wins",
        progress: Optional[Callable[[SyncProgress], object]] = None,
        dry_run: bool = False,
        *,
        parallel: Optional[int] = None,
        accepts_unconditional: bool = False,
    ) -> SyncReport:
        """Brings the collection and its master copy into agreement. Deletions travel.

        :param remote: where the master copy is
        :param user: whose records: letters of ASCII, digits, ".", "_" and "-", at most 128
        :param strategy: what happens where both sides changed a record: "newest_wins", "remote_wins",
            "local_wins"; "merge": field by field against what both last agreed on, where both changed the
            same field the newest, and an edit outlives a deletion; "ask": kept as a conflict with both
            versions until :meth:`resolve`
        :param progress: hears a :class:`SyncProgress`, on this thread; when it returns False this raises
            Cancelled. What it raises ends the work, too, and is raised here
        :param dry_run: tells what would move, and moves nothing
        :param parallel: records that move at once, 1 to 16; None for 4
        :param accepts_unconditional: takes a store that ignores conditions, where two devices that
            synchronise at once may overwrite each other
        :returns: in ``failed`` the records that failed; they stay pending, and the others went on
        :raises InvalidArgument: for a user that is none, for a store that ignores conditions, and in a batch
        :raises ForeignFile: when the records agree with those of another user: :meth:`unlink`
        :raises Busy: when the store does not answer
        :raises Cancelled: when ``progress`` said so
        """
        if not isinstance(remote, Remote):
            raise InvalidArgument(f"remote must be of satchel.remote, not {type(remote).__name__}")
        self._store._refuse_in_batch("a collection cannot be synchronised in a batch")
        options = _abi.RecordSyncOptions(size=ctypes.sizeof(_abi.RecordSyncOptions))
        options.strategy = _encoding.choice(_abi.SYNC_STRATEGY, strategy, "strategy")
        options.dry_run = bool(dry_run)
        options.accepts_unconditional = bool(accepts_unconditional)
        options.parallel = 0 if parallel is None else whole(parallel, "parallel", 1, 16)
        lent = _encoding.lend_text(user, "user")
        pointer, store = self._pointer, remote._pointer
        subject = (self._store._owner, "records", self._name)
        work = LongWork(self._store._owner, hearing(SyncProgress, progress), subject)
        failures = Failures(self._store._owner, work.fail, subject)

        def call(on_progress: Any, context: int) -> Any:
            options.progress, options.context = on_progress, context
            return json_answer(library.satchel_records_sync, pointer, store, lent, ctypes.byref(options))

        answered = remote._at_work(work, call, failures)
        return report_from(answered, lambda id: failures.under(object_name(self._name, id)))

    def unlink(self) -> None:
        """Forgets the agreement with a master copy.

        The next synchronisation, with this one or another, counts every record as added here. Nothing is
        deleted on either side.
        """
        check(library.satchel_records_unlink(self._pointer))

    def conflicts(self) -> List[RecordConflict]:
        """Records that both sides changed, and what became of them; the oldest first.

        :returns: those that :meth:`resolve` has not ended, with dicts for documents whatever the collection
            is ``of``
        """
        found: List[RecordConflict] = []
        after: Optional[int] = 0
        while after is not None:
            page = json_answer(library.satchel_records_conflicts, self._pointer, after, _PAGE)
            found.extend(map(conflict_from, page["conflicts"]))
            after = None if page["next"] is None else int(page["next"])
        return found

    def resolve(
        self,
        conflict: Union[RecordConflict, int],
        keep: Optional[str] = None,
        *,
        document: Any = _LEFT_OUT,
    ) -> None:
        """Ends a conflict.

        :param conflict: it, or its ``id``
        :param keep: "local" or "remote"; for one that is "lost", "remote" only forgets it
        :param document: what to keep instead, as in :meth:`put`; None deletes the record
        :raises NotFound: when it was resolved before
        :raises InvalidArgument: for neither or both of these, and as in :meth:`put`
        """
        if (keep is None) == (document is _LEFT_OUT):
            raise InvalidArgument("resolve takes either keep or document")
        lent = lend_resolution(keep, document)
        check(library.satchel_records_resolve(self._pointer, conflict_number(conflict), lent))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.text(id) is not None

    @property
    def _pointer(self) -> int:
        return self._handle.pointer

    def __repr__(self) -> str:
        return f"<satchel.Records {self._name!r}{', closed' if self.closed else ''}>"
