"""Records: the app's own documents, in collections.

>>> with satchel.open("app.satchel") as store:
...     courses = store.records("courses", indexes=["semester"])
...     courses.put("algebra", {"title": "Algebra", "semester": "autumn", "credits": 6})
...     for course in courses.list(where={"credits": {"gte": 5}}, order_by="title"):
...         print(course.id, course["title"])

A document is a dict, an instance of a dataclass, or a :class:`satchel.Record`, of which the document is
stored; bytes and str are JSON text, which is stored byte for byte. Inside, times, dates, UUIDs, decimals,
bytes, enums and sets become JSON by one convention, and types of your own as :func:`satchel.register_type`
says; the guide to records has the table.

JSON has at most 512 levels; numbers beyond 64 bits are kept (:class:`satchel.BigNumber`). Returned documents
are copies.

Each write is durable when its call returns. While the store's file cannot be written, writes are spooled to
its outbox file; the next opening, ``store.state.flush()`` or write drains it. Observers are notified
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
from functools import partial
from typing import Any, List, Optional, TypeVar, Union

from satchel import _abi, _encoding
from satchel._encoding import FilePath
from satchel._library import check, json_answer, library, scalar_answer
from satchel.errors import InvalidArgument
from satchel.records._collection import Collection
from satchel.records._declarations import Index, Migration, Relation
from satchel.records._values import (
    CollectionInfo,
    MirrorDifference,
    MirrorReport,
    NearbyRecord,
    Page,
    PutReport,
    QueryPlan,
    Record,
    RecordSearchHit,
    RejectedRecord,
    document_of,
)
from satchel.records._watch import LiveResult, Watch
from satchel.sync._conflicts import ConflictEntry, entries, lend_resolution, number_of
from satchel.values import record_from, records_from

__all__ = [
    "CollectionInfo",
    "Index",
    "LiveResult",
    "Migration",
    "MirrorDifference",
    "MirrorReport",
    "NearbyRecord",
    "Page",
    "PutReport",
    "QueryPlan",
    "Record",
    "RecordSearchHit",
    "Records",
    "RejectedRecord",
    "Relation",
    "Watch",
]

_Document = TypeVar("_Document")
# Tells a missing argument of resolve() from None.
_LEFT_OUT: Any = object()


class Records(Collection[_Document]):
    """One collection of a store; made by ``store.records(name)``.

    Closed by :meth:`close`, at the end of a ``with`` block, or with the store. The methods may be called on
    any thread, also concurrently; they release the GIL. Observers of the store are notified of changes under
    the subject "records", with keys such as "courses/algebra", or "courses" after many changes.

    All methods raise :class:`satchel.Closed` after closing; InvalidArgument for an invalid id; NewerStore
    after another process migrated the collection to a newer version; IOFailure and Damaged when the file
    cannot be read. Each call is atomic. Methods that write raise Conflict after ``redeclare=True`` dropped or
    replaced an index, a relation or the schema elsewhere: call ``store.records`` again.
    """

    __slots__ = ()

    def mirror(
        self,
        path: FilePath,
        prefer: Optional[str] = None,
        format: str = "plain",
        mode: str = "store_first",
        *,
        id_member: Optional[str] = None,
    ) -> MirrorReport:
        """Keeps a copy of the collection in one JSON file, replaced as a whole, until this is closed.

        An existing file is compared with the collection first. It is overwritten when this store wrote it
        last, or when it has no record that the store lacks. It is imported when the store has none that the
        file lacks, as when the collection is empty. Otherwise neither side is changed, unless ``prefer``
        names the side that wins.

        :param path: the file; its directory must exist
        :param prefer: the side that wins where both differ: "file": the store imports the file, and keeps the
            records that only the store has; "store": the file is quarantined in the same directory; None
            raises
        :param format: "plain": JSON as other programs write it, an object with the documents by id, or an
            array of objects that have their ids in a member; an existing file keeps its form. It has no
            revisions and times. "checksummed": with these, and a checksum
        :param mode: "store_first": a thread of the store writes the file once for commits in quick
            succession, when none came for half a second, and within about five seconds; ``store.flush()``,
            closing and :meth:`verify_mirror` complete it. "file_first": each commit writes the file before
        :param id_member: the member of the objects of a plain array that is the id; None for "id", "_id" or
            "uuid", the first of them that the file's first object has. A new file is an array when it is
            given, otherwise an object
        :returns: the number of imported records, and the path of the quarantined file
        :raises InvalidArgument: for a file that differs (the message counts and names the differences) or
            cannot be parsed (line, column and pointer), for a document that has another value where the array
            has the id, and in a batch; nothing is changed
        :raises ConstraintViolation: for a record of the file that violates the schema, a unique index or a
            relation; nothing is imported
        :raises NotFound, ReadOnly, Full, IOFailure: when the file cannot be written now. Later, observers
            are notified of "@mirror_failed", or of "@mirror_edited" when another program changed the file,
            which is then left alone; with "file_first" the write fails
        """
        _, file = _encoding.file_path(path, "path")
        options = _abi.MirrorOptions(
            prefer=0 if prefer is None else _encoding.choice(_abi.MIRROR_PREFER, prefer, "prefer"),
            mode=_encoding.choice(_abi.MIRROR_MODE, mode, "mode"),
            format=_encoding.choice(_abi.MIRROR_FORMAT, format, "format"),
        )
        if id_member is not None:
            if id_member == "" or format != "plain":
                raise InvalidArgument("id_member must not be empty, and belongs to the format 'plain'")
            options.id_member = _encoding.lend_text(id_member, "id_member")
        found = json_answer(
            library.satchel_records_mirror, self._pointer, _encoding.lend(file), ctypes.byref(options)
        )
        return record_from(MirrorReport, found)

    def verify_mirror(self) -> List[MirrorDifference]:
        """Compares the collection with its mirror.

        The file first gets what was committed since it was written, unless another program has changed it.

        :returns: one difference for each record that differs
        :raises InvalidArgument: without a mirror, or when it cannot be parsed (line and column)
        """
        found = json_answer(library.satchel_records_verify_mirror, self._pointer)
        return records_from(MirrorDifference, found)

    def rebuild(self, which: str) -> int:
        """Replaces one side of a mirror by the other, atomically.

        :param which: the side that is replaced, "mirror" or "store"; records that only it has are lost
        :returns: the number of records that differed
        :raises InvalidArgument: without a mirror; for "store" also when the file cannot be parsed
        :raises ConstraintViolation: for "store" when a record of the file violates schema, index or relation
        :raises NotFound: for "store" when the file does not exist
        """
        number = _encoding.choice(_abi.REBUILD, which, "which")
        return scalar_answer(ctypes.c_int64, library.satchel_records_rebuild, self._pointer, number)

    def clear(self) -> int:
        """Deletes all records, in one transaction; the deletions are synchronized, and the declaration stays.

        :returns: the number of deleted records
        :raises ConstraintViolation: when a record of another collection refers to one of them, and its
            relation restricts the deletion; nothing is changed
        """
        return scalar_answer(ctypes.c_int64, library.satchel_records_clear, self._pointer)

    def conflicts(self) -> List[ConflictEntry]:
        """The conflict log, oldest first: records that both sides changed, and remote versions that wait.

        :returns: those not yet resolved by :meth:`resolve`; their documents are dicts, also with ``of``
        """
        return entries(partial(json_answer, library.satchel_records_conflicts, self._pointer))

    def resolve(
        self,
        conflict: Union[ConflictEntry, int],
        keep: Optional[str] = None,
        *,
        document: Any = _LEFT_OUT,
    ) -> None:
        """Resolves a conflict.

        :param conflict: the conflict, or its ``id``
        :param keep: "local" or "remote"; "remote" only removes a conflict of the kind "lost". The decision is
            sent by the next synchronization
        :param document: the document to store instead, as in :meth:`put`; None deletes the record
        :raises NotFound: when it was resolved before
        :raises InvalidArgument: for neither or both of these; otherwise as :meth:`put`
        """
        if (keep is None) == (document is _LEFT_OUT):
            raise InvalidArgument("resolve takes either keep or document")
        document = document_of(document)
        if keep is None and document is not None:
            id = conflict.record if isinstance(conflict, ConflictEntry) else None
            document = self._read.checked(document, id or f"(conflict {conflict!r})")
        lent = lend_resolution(keep, document)
        check(library.satchel_records_resolve(self._pointer, number_of(conflict), lent))
