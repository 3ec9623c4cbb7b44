"""Records: the app's own documents, in collections.

>>> with satchel.open("app.satchel") as store:
...     courses = store.records("courses", indexes=["semester"])
...     courses.put("algebra", {"title": "Algebra", "semester": "autumn", "credits": 6})
...     for course in courses.list(where={"credits": {"gte": 5}}, order_by="title"):
...         print(course.id, course["title"])

A document is a dict, or an instance of a dataclass; bytes and str are JSON text, which is stored byte for
byte. JSON has at most 512 levels and integers of 64 bits. Returned documents are copies.

Each write is durable when its call returns. While the store's file cannot be written, writes are spooled to
an outbox file beside it; the next opening, ``store.state.flush()`` or write drains it. Observers are notified
under the subject "records" with the keys "@spooled" and "@drained".

``where`` is a dict whose conditions must all hold: ``{path: value}``, or ``{path: {operator: value}}`` with
the operators eq, ne, lt, lte, gt, gte, in (a list or any other iterable), prefix, contains (an item of a
list, a substring of a string) and exists. To compare with a list or a dict, use eq.
``{"any": [where, …]}``, ``{"all": [where, …]}`` and ``{"not": where}`` combine. A path is "a.b", or a JSON
Pointer; "@id", "@created", "@modified", "@revision" and "@sync_status" are metadata of the record.
Numbers compare with numbers only, strings by their UTF-8 bytes.

``order_by`` is a path, "-path" for descending, or a list of them: missing values first, then None, False,
True, numbers, strings, lists, dicts; equal ones in the order in which the records were added.
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
from satchel._long_work import LongWork, progress_callback
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
# Tells a missing argument of resolve() from None.
_LEFT_OUT: Any = object()


class Records(Dependent, Generic[_Document]):
    """One collection of a store; made by ``store.records(name)``.

    Closed by :meth:`close`, at the end of a ``with`` block, or with the store. The methods may be called on
    any thread, also concurrently; they release the GIL. Observers of the store are notified of changes under
    the subject "records", with keys such as "courses/algebra", or "courses" after many changes.

    All methods raise :class:`satchel.Closed` after closing; InvalidArgument for an invalid id; NewerStore
    after another process migrated the collection to a newer version; IOFailure and Damaged when the file
    cannot be read. Each call is atomic. Methods that write raise Conflict after ``redeclare=True`` dropped or
    replaced an index, a relation or the schema elsewhere: call ``store.records`` again.
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
        """Use ``store.records``."""
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
        out = ctypes.c_int64()
        lent = _encoding.lend_text(id, "id"), lend_record(document, "document"), revision_number(if_revision)
        check(library.satchel_records_put(self._handle.pointer, *lent, ctypes.byref(out)))
        return out.value

    def put_many(
        self, documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]]
    ) -> int:
        """Writes many records in one transaction, all or none; see :meth:`put`.

        :param documents: a dict of documents by id, or an iterable of pairs (id, document)
        :returns: the number of records; 0 when the write was spooled
        :raises InvalidArgument: also for an item that is not a pair; otherwise as :meth:`put`
        """
        out = ctypes.c_int64()
        check(library.satchel_records_put_many(self._pointer, lend_many(documents), ctypes.byref(out)))
        return out.value

    def get(self, id: str) -> Optional[_Document]:
        """A record's document: a dict, or what the collection was opened ``of``.

        :returns: a copy; None when the record does not exist
        :raises InvalidArgument: for a document that does not fit the dataclass; the message names record and
            JSON Pointer
        """
        data = answer(library.satchel_records_get, self._handle.pointer, _encoding.lend_text(id, "id"))
        return None if data is None else self._read(value_of(data), id)

    def text(self, id: str) -> Optional[bytes]:
        """A record's document as JSON in UTF-8, byte for byte as written; None when it does not exist."""
        return answer(library.satchel_records_get, self._handle.pointer, _encoding.lend_text(id, "id"))

    def record(self, id: str) -> Optional[Record[_Document]]:
        """A record with its metadata, otherwise as :meth:`get`; None when it does not exist."""
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
        """As :meth:`list`, but only the ids."""
        lent = lend_query(where, order_by, limit, offset, documents=False)
        return [each["id"] for each in json_answer(library.satchel_records_list, self._pointer, lent)]

    def count(self, where: Optional[Mapping[str, Any]] = None) -> int:
        """The number of records that match, see :meth:`list`; by default all, in constant time."""
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
        """Keeps a copy of the collection in one JSON file, replaced at each commit, until this is closed.

        An existing file is compared with the collection first. It is overwritten when this store wrote it
        last, or when it has no record that the store lacks. Otherwise neither side is changed, unless
        ``prefer`` names the side that wins.

        :param path: the file; its directory must exist
        :param prefer: the side that wins where both differ: "file": the store imports the file, and keeps the
            records that only the store has; "store": the file is quarantined beside the new one; None raises
        :param mode: the side that is written first: "store_first", or "file_first", with which the store
            imports the records that it lacks, when the file lacks none
        :returns: the number of imported records, and the path of the quarantined file
        :raises InvalidArgument: for a file that differs (the message counts and names the differences) or
            cannot be parsed (line and column), and in a batch; nothing is changed
        :raises NotFound, ReadOnly, Full, IOFailure: when the file cannot be written now. Later, observers
            are notified of "@mirror_failed", or of "@mirror_edited" when another program changed the file,
            which is then left alone; with "file_first" the write fails
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

        :returns: one difference for each record that differs
        :raises InvalidArgument: without a mirror, or when it cannot be parsed (line and column)
        """
        found = json_answer(library.satchel_records_verify_mirror, self._pointer)
        return [record_from(MirrorDifference, each) for each in found]

    def rebuild(self, which: str) -> int:
        """Replaces one side of a mirror by the other, atomically.

        :param which: the side that is replaced, "mirror" or "store"; records that only it has are lost
        :returns: the number of records that differed
        :raises InvalidArgument: without a mirror; for "store" also when the file cannot be parsed
        :raises ConstraintViolation: for "store" when a record of the file violates schema, index or relation
        :raises NotFound: for "store" when the file does not exist
        """
        out = ctypes.c_int64()
        number = _encoding.choice(_abi.REBUILD, which, "which")
        check(library.satchel_records_rebuild(self._pointer, number, ctypes.byref(out)))
        return out.value

    def sync(
        self,
        remote: Remote,
        user: str,
        on_conflict: str = "newest_wins",
        progress: Optional[Callable[[SyncProgress], object]] = None,
        dry_run: bool = False,
        *,
        parallel: Optional[int] = None,
        allow_unsafe_remote: bool = False,
    ) -> SyncReport:
        """Synchronises the collection with the remote copy, deletions included.

        :param remote: the object store with the remote copy
        :param user: the owner of the records: ASCII letters, digits, ".", "_" and "-", at most 128
        :param on_conflict: decides where both sides changed a record: "newest_wins", "remote_wins",
            "local_wins"; "merge": field by field, compared with the version synchronised last; where both
            changed the same field, the newest, and an edit outlives a deletion; "ask": both versions are kept
            as a conflict until :meth:`resolve`
        :param progress: receives a :class:`SyncProgress`, on this thread; returning False cancels. An
            exception in it cancels too, and is raised here
        :param dry_run: reports what would be transferred, without transferring it
        :param parallel: concurrent transfers, 1 to 16; None for 4
        :param allow_unsafe_remote: accepts a remote without conditional writes, where two devices that
            synchronise at the same time may overwrite each other
        :returns: in ``failed`` the records that failed; they stay pending, and the others are synchronised
        :raises InvalidArgument: for an invalid user, for a remote without conditional writes, and in a batch
        :raises ForeignFile: when the records were synchronised as another user: :meth:`detach`
        :raises Unauthorized: when the remote rejects the credentials
        :raises Unavailable: when the remote cannot be reached
        :raises Cancelled: when ``progress`` returned False
        """
        if not isinstance(remote, Remote):
            raise InvalidArgument(f"remote must be of satchel.remote, not {type(remote).__name__}")
        self._store._refuse_in_batch("a collection cannot be synchronised in a batch")
        options = _abi.RecordSyncOptions(size=ctypes.sizeof(_abi.RecordSyncOptions))
        options.on_conflict = _encoding.choice(_abi.CONFLICT_POLICY, on_conflict, "on_conflict")
        options.dry_run = bool(dry_run)
        options.allow_unsafe_remote = bool(allow_unsafe_remote)
        options.parallel = 0 if parallel is None else whole(parallel, "parallel", 1, 16)
        lent = _encoding.lend_text(user, "user")
        pointer, store = self._pointer, remote._pointer
        subject = (self._store._owner, "records", self._name)
        work = LongWork(self._store._owner, progress_callback(SyncProgress, progress), subject)
        failures = Failures(self._store._owner, work.fail, subject)

        def call(on_progress: Any, context: int) -> Any:
            options.progress, options.context = on_progress, context
            return json_answer(library.satchel_records_sync, pointer, store, lent, ctypes.byref(options))

        answered = remote._at_work(work, call, failures)
        return report_from(answered, lambda id: failures.under(object_name(self._name, id)))

    def detach(self) -> None:
        """Forgets the remote copy, and what was synchronised with it.

        The next synchronisation, with the same or another remote, treats every record as added locally.
        Nothing is deleted on either side.
        """
        check(library.satchel_records_detach(self._pointer))

    def conflicts(self) -> List[RecordConflict]:
        """The conflict log: records that both sides changed, oldest first.

        :returns: those not yet resolved by :meth:`resolve`; their documents are dicts, also with ``of``
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
        """Resolves a conflict.

        :param conflict: the conflict, or its ``id``
        :param keep: "local" or "remote"; "remote" only removes a conflict of the kind "lost"
        :param document: the document to store instead, as in :meth:`put`; None deletes the record
        :raises NotFound: when it was resolved before
        :raises InvalidArgument: for neither or both of these; otherwise as :meth:`put`
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
