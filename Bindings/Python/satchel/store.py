"""The store: one SQLite file that holds everything."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Optional,
    Type,
    TypeVar,
    Union,
    overload,
)

from satchel import _abi, _callbacks, _encoding
from satchel._blocks import query_timeout_of
from satchel._encoding import FilePath
from satchel._handles import Handle
from satchel._library import check, json_answer, library, scalar_answer
from satchel._upkeep import StoreUpkeep
from satchel.catalogue import Catalogue
from satchel.errors import InvalidArgument
from satchel.observer import Change, Observer
from satchel.values import record_from, records_from

# A program waits for its imports before its first screen: the modules of the other subjects are imported by
# the methods that need them.
if TYPE_CHECKING:
    from datetime import timedelta

    from satchel.assets import Assets
    from satchel.photos import PhotoCatalogue
    from satchel.records import CollectionInfo, Index, Records, Relation
    from satchel.records._declarations import MigrationStep
    from satchel.state import State
    from satchel.stories import StoryLibrary

__all__ = ["Store", "library_version", "open"]

_Document = TypeVar("_Document")


def library_version() -> str:
    """The version of the loaded shared library, "major.minor.patch"."""
    version: bytes = library.satchel_version()
    return version.decode("ascii")


def open(
    path: FilePath,
    clock: Optional[Callable[[], int]] = None,
    read_only: bool = False,
    *,
    quarantine: bool = False,
    durability: str = "full",
    busy_timeout: float = 5.0,
    query_timeout: Optional[float] = None,
) -> Store:
    """Opens a store, and creates the file when it does not exist.

    :param path: the file's path, or ":memory:" for a store that lives until it is closed
    :param clock: returns the time in Unix milliseconds, on any thread; None for the system's. Its
        exceptions go to ``sys.unraisablehook``, and the system's time is used
    :param read_only: opens without writing: the file must exist, and is not changed
    :param quarantine: renames a damaged, foreign or unreadable file (it is never deleted) and creates a new
        store; the new path is ``store.info().quarantined``
    :param durability: "full" syncs every commit; "relaxed": commits survive a crash of the process, but
        only those up to the last checkpoint survive a power failure
    :param busy_timeout: seconds that a call waits for another writer; 0 means one millisecond
    :param query_timeout: seconds that a list, count or search of any subject, ``statistics`` and
        ``check`` may take, before they raise :class:`satchel.TimedOut`; None for any time.
        :meth:`Store.timeout` sets it for a block
    :raises ForeignFile, Damaged, NewerStore: when the file is not a store that can be opened; it is left
        unchanged
    :raises NotFound: when the file (with ``read_only``) or its directory does not exist
    :raises ReadOnly, IOFailure, Busy, InvalidArgument: see their classes

    Open a store after ``fork``: in the child, one that was opened before is closed.
    """
    return Store(path, clock, read_only, quarantine, durability, busy_timeout, query_timeout)


class Store(StoreUpkeep):
    """An open store; made by :func:`satchel.open`, closed by :meth:`close` or a ``with`` block.

    Any number of threads may use it at once. A store that was not closed is closed when it is collected, with
    a ResourceWarning, or at exit; what :meth:`close` would raise then goes to ``sys.unraisablehook``.
    """

    def __init__(
        self,
        path: FilePath,
        clock: Optional[Callable[[], int]],
        read_only: bool,
        quarantine: bool,
        durability: str,
        busy_timeout: float,
        query_timeout: Optional[float] = None,
    ) -> None:
        """Use :func:`satchel.open`."""
        self._path, file = _encoding.file_path(path, "path")
        if clock is not None:
            _encoding.check_callable(clock, "clock")
        if durability not in ("full", "relaxed"):
            raise InvalidArgument(f"durability must be 'full' or 'relaxed', not {durability!r}")
        timeout = _encoding.timeout(busy_timeout, "busy_timeout", 0, 2**32 - 1)
        limit = 0 if query_timeout is None else query_timeout_of(query_timeout, "query_timeout")
        super().__init__()
        options = _abi.OpenOptions(
            read_only=bool(read_only),
            quarantine=bool(quarantine),
            relaxed_durability=durability == "relaxed",
            # 0 means the default in C; here it means the shortest timeout.
            busy_timeout_ms=max(1, timeout),
            query_timeout_ms=limit,
        )
        if clock is not None:
            options.clock = _callbacks.on_clock
            options.clock_context = _callbacks.register(clock, self._owner)
            options.clock_release = _callbacks.on_release
        self._begin(Handle.made_by("store", library.satchel_store_open, file, ctypes.byref(options)))

    @property
    def path(self) -> str:
        """The path, as passed to :func:`satchel.open`."""
        return self._path

    @property
    def read_only(self) -> bool:
        """Whether it was opened read-only."""
        return scalar_answer(ctypes.c_bool, library.satchel_store_is_read_only, self._pointer)

    @property
    def catalogue(self) -> Catalogue:
        """Content scoped to places."""
        return Catalogue(self)

    def stories(self, directory: FilePath, name: Optional[str] = None) -> StoryLibrary:
        """Opens the library of the stories in a directory; no story is read yet.

        :param directory: the directory's path
        :param name: the name under which the state keeps the reader's progress and purchases, the same on all
            devices of a user: 1 to 128 bytes without a slash; None for the last component of the directory's
            real path. Libraries with the same name share them
        :returns: a new object at each call; its index is kept in the store
        :raises NotFound: when the directory does not exist
        :raises InvalidArgument: when it is a file, and for an invalid name, also of the directory
        """
        from satchel.stories import StoryLibrary

        return StoryLibrary(self, directory, name)

    def photos(self, directory: FilePath, on_conflict: Optional[str] = None) -> PhotoCatalogue:
        """Opens the catalogue of the photos in a directory, and creates it when needed; no photo is read.

        :param directory: the directory's path; it need not exist
        :param on_conflict: declares what a synchronization does where both sides changed a shard:
            "remote_wins", the default of a new catalogue, or "merge"; see :meth:`PhotoCatalogue.sync`. It is
            stored with the catalogue; None keeps what is declared
        :returns: a new object at each call, over the same rows
        :raises NotFound: when the store is read-only and has no catalogue of it
        :raises InvalidArgument: for another policy
        :raises ReadOnly: for another policy than the declared one, when the store is read-only
        """
        from satchel.photos import PhotoCatalogue

        return PhotoCatalogue(self, directory, on_conflict)

    @overload
    def records(
        self,
        name: str,
        *,
        of: Type[_Document],
        indexes: Optional[Iterable[Union[str, Index, Mapping[str, Any]]]] = None,
        relations: Optional[Mapping[str, Union[str, Relation, Mapping[str, Any]]]] = None,
        schema: Optional[Union[Mapping[str, Any], bool]] = None,
        version: Optional[int] = None,
        migrations: Optional[Sequence[MigrationStep]] = None,
        redeclare: bool = False,
        on_conflict: Optional[str] = None,
        synced: Optional[bool] = None,
        sensitive: Optional[Iterable[str]] = None,
        types: Optional[Mapping[str, Union[str, Mapping[str, Any]]]] = None,
        search: Optional[Iterable[str]] = None,
        positions: Optional[Iterable[str]] = None,
        ttl: Optional[Union[int, timedelta, str]] = None,
    ) -> Records[_Document]: ...

    @overload
    def records(
        self,
        name: str,
        *,
        of: None = None,
        indexes: Optional[Iterable[Union[str, Index, Mapping[str, Any]]]] = None,
        relations: Optional[Mapping[str, Union[str, Relation, Mapping[str, Any]]]] = None,
        schema: Optional[Union[Mapping[str, Any], bool]] = None,
        version: Optional[int] = None,
        migrations: Optional[Sequence[MigrationStep]] = None,
        redeclare: bool = False,
        on_conflict: Optional[str] = None,
        synced: Optional[bool] = None,
        sensitive: Optional[Iterable[str]] = None,
        types: Optional[Mapping[str, Union[str, Mapping[str, Any]]]] = None,
        search: Optional[Iterable[str]] = None,
        positions: Optional[Iterable[str]] = None,
        ttl: Optional[Union[int, timedelta, str]] = None,
    ) -> Records[Dict[str, Any]]: ...

    def records(
        self,
        name: str,
        *,
        of: Optional[Type[Any]] = None,
        indexes: Optional[Iterable[Union[str, Index, Mapping[str, Any]]]] = None,
        relations: Optional[Mapping[str, Union[str, Relation, Mapping[str, Any]]]] = None,
        schema: Optional[Union[Mapping[str, Any], bool]] = None,
        version: Optional[int] = None,
        migrations: Optional[Sequence[MigrationStep]] = None,
        redeclare: bool = False,
        on_conflict: Optional[str] = None,
        synced: Optional[bool] = None,
        sensitive: Optional[Iterable[str]] = None,
        types: Optional[Mapping[str, Union[str, Mapping[str, Any]]]] = None,
        search: Optional[Iterable[str]] = None,
        positions: Optional[Iterable[str]] = None,
        ttl: Optional[Union[int, timedelta, str]] = None,
    ) -> Records[Any]:
        """Opens a collection of documents, and creates it when needed.

        Without a declaration it is opened unchanged. Otherwise the declared indexes, relations and schema are
        added to the stored ones, and none is removed. They apply to every handle of the collection from its
        next write on, in every process.

        :param name: a lower-case ASCII letter, then letters, digits and "_", at most 64
        :param of: a dataclass, the type of the documents; without it they are dicts
        :param indexes: paths to find records by: strings, or :class:`satchel.records.Index`
        :param relations: the target of each path: the name of a collection, or
            :class:`satchel.records.Relation`
        :param schema: a JSON Schema (2020-12) that every document must satisfy; an unknown keyword issues a
            :class:`satchel.SchemaWarning`
        :param version: of the documents, 1 by default. Records of another version are migrated, all in
            one transaction, after a backup in the store's directory
        :param migrations: from version 1 to 2, from 2 to 3 and so on; each a list of changes such as
            ``{"rename": {"from": "a", "to": "b"}}`` (also move, default, remove, convert), which have an
            inverse; or a function that takes a document, returns it in the next version, and must not use
            the store; or a :class:`satchel.records.Migration` of two functions
        :param redeclare: makes this the complete declaration: an index, a relation, a schema or a path of
            ``search`` or ``positions`` that is not declared is dropped, one that is declared differently is
            replaced. After a change of an index, a relation or the schema, open handles raise Conflict at
            their next write; they can still read
        :param on_conflict: decides about a record that was changed both here and remotely:
            "newest_wins" (the default of a new collection), "remote_wins", "local_wins"; "merge": field by
            field, compared with the version synchronized last; where both changed the same field, the
            newest, and an edit outlives a deletion; "ask": both versions are kept as a conflict until
            ``records.resolve()``. None keeps the stored one
        :param synced: whether :meth:`sync` includes the collection, True for a new one; None keeps what it is
        :param ttl: when records expire: the path of a time in the document (ISO 8601; never where it is None
            or missing), or the time after the latest write of a record, as seconds or a timedelta. An expired
            record is not found any more; it is deleted a minute later while a handle of the collection is
            open, or by a write a day later. Such a collection is not synchronized, and no relation that
            restricts deletions can refer to it
        :param sensitive: paths of fields that are stored encrypted (AES-256-GCM), with the key of
            ``store.state.set_key()``, added to the stored ones; existing records are encrypted at once. They
            cannot be indexed, queried or sorted by, and are synchronized only with an encrypted remote
        :param types: what the values at paths are, which decides how they are compared, sorted, grouped and
            unique: "time" (any ISO 8601 form is one instant), "decimal" ("2.50" equals 2.5), "number", or a
            text, ``{"type": "text", "fold": ["case", "accent"], "order": "unicode"}``, of which ``fold`` and
            ``order`` may be left out. Fields of ``of`` that are datetimes, dates or Decimals have a type
            without that
        :param search: paths of texts that :meth:`satchel.Records.search` finds, 1 to 8, added to the stored
            ones: strings, or lists and dicts of them
        :param positions: paths of positions that :meth:`satchel.Records.near` finds, 1 to 4, added to the
            stored ones
        :returns: a new handle at each call, over the same records
        :raises InvalidArgument: for an invalid declaration; for an index, a relation, a type or a schema that
            differs from the stored one, without ``redeclare``; for a migration that fails, naming the record:
            the exception of a function is the cause. Nothing is changed
        :raises ConstraintViolation: when the records violate a declared unique index or relation
        :raises NewerStore: when the records have a newer version, and a migration has no inverse
        """
        from satchel.records import Records

        return Records(
            self,
            name,
            of,
            indexes,
            relations,
            schema,
            version,
            migrations,
            redeclare,
            on_conflict,
            synced,
            sensitive,
            types,
            search,
            positions,
            ttl,
        )

    def collections(self) -> List[CollectionInfo]:
        """The collections of the store."""
        from satchel.records import CollectionInfo

        return records_from(CollectionInfo, json_answer(library.satchel_store_collections, self._pointer))

    def drop_collection(self, name: str, discard_unsent: bool = False) -> None:
        """Removes a collection from this store: its records, indexes and declaration.

        What was synchronized stays in the remote, and returns when the collection is declared again. To
        delete the records on all devices, use ``records.clear()`` and synchronize. Handles of the collection
        then raise NotFound.

        :param name: of the collection
        :param discard_unsent: drops it although it has changes that were never sent; they are lost
        :raises NotFound: when there is no such collection
        :raises ConstraintViolation: while a relation of another collection refers to it
        :raises Conflict: for changes that were never sent
        """
        lent = _encoding.lend_text(name, "name")
        check(library.satchel_store_drop_collection(self._pointer, lent, bool(discard_unsent)))

    @property
    def assets(self) -> Assets:
        """The bytes that documents refer to: pictures, sounds, files."""
        from satchel.assets import Assets

        return Assets(self)

    @property
    def state(self) -> State:
        """Small values that an app changes often."""
        from satchel.state import State

        return State(self)

    def observe(self, callback: Callable[[Change], object]) -> Observer:
        """Calls a function after every commit, until the observer or the store is closed.

        :param callback: receives a :class:`satchel.Change`: for this store's own changes on the thread
            that made them, before their call returns; for those of other processes and handles on a thread
            of the library, within about 0.2 s. It may use the store, but not close it. Its exceptions go to
            ``sys.unraisablehook``
        """
        _encoding.check_callable(callback, "callback")

        def notify(change: Dict[str, Any]) -> None:
            callback(record_from(Change, change))

        pointer = self._pointer
        context = _callbacks.register(notify, self._owner)
        handle = Handle.made_by(
            "observer",
            library.satchel_store_observe,
            pointer,
            _callbacks.on_change,
            context,
            _callbacks.on_release,
        )
        return Observer(handle, self._owner, self._observers)

    def __repr__(self) -> str:
        return f"<satchel.Store {self._path!r}{', closed' if self.closed else ''}>"
