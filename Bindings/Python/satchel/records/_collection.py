"""The documents of a collection: writing them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Optional, Tuple, TypeVar, Union, overload

from satchel import _encoding
from satchel._abi import Bytes
from satchel._documents import (
    is_dataclass,
    lend_json,
    lend_record,
    plain,
    text_of,
    warn_of_large_strings,
)
from satchel._library import answer, check, json_answer, library, scalar_answer
from satchel.errors import InvalidArgument
from satchel.records._queries import check_members, check_path, lend_condition
from satchel.records._reading import ids_of
from satchel.records._searching import SearchingCollection
from satchel.records._values import PutReport, document_of, put_report_from

__all__ = ["Collection"]

_Document = TypeVar("_Document")
_LARGEST = 2**63 - 1
_ANY_REVISION = -1


class Collection(SearchingCollection[_Document]):
    """The part of :class:`satchel.Records` that writes, reads and queries documents."""

    __slots__ = ()

    def put(
        self,
        id: str,
        document: Union[_Document, Any],
        *,
        if_revision: Optional[int] = None,
        deferred: bool = False,
        replace: bool = False,
    ) -> int:
        """Writes a record durably: inserts it, or replaces the stored one.

        With ``deferred`` it is written later: with the tenth deferred put of the store, within five seconds,
        by ``store.flush()``, or when the store is closed. When this returns, nothing is durable: a kill of
        the process loses the record. Deferred puts are written in order, in one transaction. All other calls
        for records of the same store, also those that read, first write what is deferred; so they see it, and
        may wait for a batch of another thread. In a batch it is an ordinary put. One that the store cannot
        take later is spooled; for one that violates a unique index or a relation, which is kept among the
        rejected writes, observers are notified of "@rejected".

        :param id: 1 to 255 bytes of UTF-8 without control characters
        :param document: a dict or a dataclass, copied; a :class:`satchel.Record`, of which the document is
            written; or the text of a JSON object, in bytes or str
        :param if_revision: the revision that the record must have, 0 when it must not exist
        :param deferred: whether it may be written later; not with ``if_revision``
        :param replace: whether an instance of a dataclass is the whole document. Otherwise the members of the
            stored document that its class does not have are kept, also inside of other dataclasses, lists and
            dicts: a newer version of the app may have written them. A dict is always the whole document
        :returns: its new revision, from 1; 0 when the write was spooled or deferred
        :raises ConstraintViolation: when it violates the schema, a unique index or a relation; the message
            names collection, id and JSON Pointer
        :raises Conflict: when the record has another revision than ``if_revision``
        :raises InvalidArgument: for a value that JSON cannot represent, with its JSON Pointer. For a
            collection opened ``of`` a dataclass also for an instance of another class, for one with a number,
            str or bool where its field has another of these types, and for a dict that the dataclass cannot
            be read from; JSON text is not checked
        :raises Full, ReadOnly, IOFailure, Damaged, Busy: when it cannot be spooled either. Writes in a
            batch, in memory and in a store opened read-only are never spooled

        A :class:`satchel.LargeStringWarning` is issued for each string of more than 1 MiB, except for a
        deferred put: such content should be an asset.
        """
        if deferred and if_revision is not None:
            raise InvalidArgument("a put with if_revision cannot be deferred")
        lent_id = _encoding.lend_text(id, "id")
        document = self._read.checked(document_of(document), id)
        kind = type(document)
        # A dict is the most frequent document.
        is_whole = replace or kind is dict or not is_dataclass(document)
        pointer = self._handle.pointer if is_whole else self._writer(kind)
        lent = lent_id, lend_record(document, "document")
        if deferred:
            check(library.satchel_records_put_deferred(pointer, *lent))
            return 0
        revision = scalar_answer(
            ctypes.c_int64, library.satchel_records_put, pointer, *lent, _revision(if_revision)
        )
        warn_of_large_strings(lent[1], f"{self._name}/{id}")
        return revision

    @overload
    def put_many(
        self,
        documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]],
        *,
        skip_rejected: Literal[False] = False,
        replace: bool = False,
    ) -> int: ...

    @overload
    def put_many(
        self,
        documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]],
        *,
        skip_rejected: Literal[True],
        replace: bool = False,
    ) -> PutReport: ...

    def put_many(
        self,
        documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]],
        *,
        skip_rejected: bool = False,
        replace: bool = False,
    ) -> Union[int, PutReport]:
        """Writes many records in one transaction, all or none; see :meth:`put`.

        :param documents: a dict of documents by id, or an iterable of pairs (id, document)
        :param skip_rejected: whether to write the valid records and report the others, instead of raising for
            the first of them. A record that refers to a missing one is reported, and so are those that refer
            to it; in a batch, references are checked at its end. Never spooled
        :param replace: as for :meth:`put`
        :returns: the number of records; 0 when the write was spooled. With ``skip_rejected`` a
            :class:`satchel.records.PutReport`
        :raises InvalidArgument: also for an item that is not a pair, and for a value that JSON cannot
            represent; otherwise as :meth:`put`. The message names the record
        """
        pairs = list(self._checked(documents))
        found = {type(document): None for _, document in pairs if is_dataclass(document)}
        kinds = () if replace else tuple(found)
        pointer = self._writer(*kinds) if kinds else self._pointer
        lent = _lend_many(pairs, kinds)
        result: Union[int, PutReport]
        if skip_rejected:
            result = put_report_from(json_answer(library.satchel_records_put_valid, pointer, lent))
        else:
            result = scalar_answer(ctypes.c_int64, library.satchel_records_put_many, pointer, lent)
        warn_of_large_strings(lent, self._name)
        return result

    def _checked(self, documents: Any) -> Iterable[Tuple[str, Any]]:
        """Pairs of documents that can be read again."""
        pairs = documents.items() if isinstance(documents, Mapping) else documents
        if isinstance(pairs, (str, bytes, bytearray)) or not isinstance(pairs, Iterable):
            raise InvalidArgument(f"documents must be a dict or pairs, not {type(documents).__name__}")
        return map(self._checked_pair, pairs)

    def _checked_pair(self, pair: Any) -> Tuple[str, Any]:
        id, document = _pair_of(pair)
        return id, self._read.checked(document_of(document), id)

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
        :param patch: the members that change; None removes one, a dict changes the members of a dict. For a
            collection opened ``of`` a dataclass they are its fields: others are changed through a collection
            that was opened without
        :param if_revision: the revision that the record must have
        :returns: its new revision; 0 when the change was spooled
        :raises NotFound: when the record does not exist; otherwise as :meth:`put`
        :raises InvalidArgument: for a member that the dataclass does not have; the message names the one that
            was probably meant. Also when the dataclass could not be read from the changed document
        """
        if not isinstance(patch, Mapping):
            raise InvalidArgument(f"patch must be a dict, not {type(patch).__name__}")
        patch = dict(patch)
        lent = _encoding.lend_text(id, "id"), lend_record(patch, "patch"), _revision(if_revision)
        if self._read.kind is not None:
            patch = plain(patch, "patch")
            check_members(patch, self._read.kind)
            self._read.check_patch(patch, id)
        revision = scalar_answer(ctypes.c_int64, library.satchel_records_update, self._pointer, *lent)
        warn_of_large_strings(lent[1], f"{self._name}/{id}")
        return revision

    def update_where(self, where: Optional[Mapping[str, Any]], patch: Mapping[str, Any]) -> int:
        """Changes members of all documents that match, as :meth:`update`, in one transaction; never spooled.

        :param where: as in :meth:`list`; None for all records
        :param patch: as for :meth:`update`
        :returns: the number of records that match
        :raises InvalidArgument: as :meth:`update`; nothing is changed then
        """
        if not isinstance(patch, Mapping):
            raise InvalidArgument(f"patch must be a dict, not {type(patch).__name__}")
        patch = dict(patch)
        if self._read.kind is not None:
            patch = plain(patch, "patch")
            check_members(patch, self._read.kind)
            self._read.check_patch(patch, "(all that match)")
        lent = lend_condition(where, self._paths), lend_record(patch, "patch")
        return scalar_answer(ctypes.c_int64, library.satchel_records_update_where, self._pointer, *lent)

    def delete_where(self, where: Optional[Mapping[str, Any]]) -> int:
        """Deletes all records that match, and applies ``on_delete`` of the relations to them; never spooled.

        :param where: as in :meth:`list`; None for all records, which :meth:`Records.clear` deletes faster
        :returns: the number of records that match
        :raises ConstraintViolation: when a relation restricts it, and nothing is deleted
        """
        lent = lend_condition(where, self._paths)
        return scalar_answer(ctypes.c_int64, library.satchel_records_delete_where, self._pointer, lent)

    def upsert(self, path: str, document: Union[_Document, Any], *, id: Optional[str] = None) -> str:
        """Writes the record that has the same value at a unique path, or a new one; never spooled.

        >>> contacts = store.records("contacts", indexes=[{"path": "email", "unique": True}])
        >>> contacts.upsert("email", {"email": "ada@example.com", "name": "Ada"})

        :param path: of a unique index
        :param document: with a number, a str or a bool there; replaces the stored document, except for the
            members that its dataclass does not have
        :param id: of a new record; None for a random UUID
        :returns: the id of the record
        :raises InvalidArgument: for a path without a unique index, and a document without a value there
        :raises Conflict: when another record has the ``id``; otherwise as :meth:`put`
        """
        check_path(path, self._read.kind)
        document = self._read.checked(document_of(document), id or "(new)")
        pointer = self._writer(type(document)) if is_dataclass(document) else self._pointer
        lent = lend_record(document, "document")
        found = answer(
            library.satchel_records_upsert,
            pointer,
            _encoding.lend_text(path, "path"),
            lent,
            _encoding.NOTHING if id is None else _encoding.lend_text(id, "id"),
            None,
        )
        warn_of_large_strings(lent, self._name)
        return (found or b"").decode()

    def delete_many(self, ids: Iterable[str]) -> int:
        """Deletes records, and applies ``on_delete`` of the relations to them, in one transaction.

        :param ids: of the records, which may refer to each other; missing ones are ignored
        :returns: the number of records that existed; 0 when the deletion was spooled
        :raises ConstraintViolation: when a relation restricts it, and nothing is deleted
        """
        lent = lend_json(ids_of(ids), "ids")
        return scalar_answer(ctypes.c_int64, library.satchel_records_delete_many, self._pointer, lent)


def _revision(revision: Any) -> int:
    return _ANY_REVISION if revision is None else _encoding.whole(revision, "if_revision", 0, _LARGEST)


def _lend_many(documents: Iterable[Tuple[str, Any]], kinds: Tuple[Any, ...]) -> Bytes:
    numbers = {kind: b',"type":%d' % number for number, kind in enumerate(kinds)}
    # Without types, there is nothing that a document is not the whole of.
    whole = b',"type":null' if kinds else b""
    return _encoding.lend(
        b"[%b]" % b",".join(_entry(*pair, numbers.get(type(pair[1]), whole)) for pair in documents)
    )


def _pair_of(pair: Any) -> Tuple[str, Any]:
    try:
        id, document = pair
        # A record, and any dict with two members, would be the pair of its names.
        is_pair = not isinstance(pair, Mapping)
    except (TypeError, ValueError):
        is_pair = False
    if not is_pair:
        raise InvalidArgument(f"documents must be pairs of id and document, not {pair!r}")
    if not isinstance(id, str):
        raise InvalidArgument(f"id must be a str, not {type(id).__name__}")
    return id, document


def _entry(id: str, document: Any, kind: bytes) -> bytes:
    text = text_of(document, f"the document of {id!r}")
    return b'{"id":%b,"document":%b%b}' % (_encoding.encoded(id, "id"), text, kind)
