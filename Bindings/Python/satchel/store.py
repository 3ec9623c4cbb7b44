"""The store: one SQLite file that holds everything."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import warnings
import weakref
from collections.abc import Mapping, Sequence
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Set,
    Type,
    TypeVar,
    Union,
    overload,
)

from satchel import _abi, _batches, _callbacks, _encoding, _open_stores
from satchel._handle import Closing, Dependent, Handle, check, json_answer
from satchel._library import library
from satchel._record_arguments import Index, MigrationStep, Relation
from satchel._record_values import CollectionInfo
from satchel.backup import Backup, BackupProgress, back_up, rotate
from satchel.catalogue import Catalogue
from satchel.errors import Busy, InvalidArgument
from satchel.observer import Observer
from satchel.photo_catalogue import PhotoCatalogue
from satchel.records import Records
from satchel.state import State
from satchel.story_library import StoryLibrary
from satchel.values import Change, Finding, StoreInfo, record_from

__all__ = ["Store", "library_version", "open"]

_Document = TypeVar("_Document")
_Path = Union[str, os.PathLike[str]]


def library_version() -> str:
    """The version of the loaded shared library, "major.minor.patch"."""
    version: bytes = library.satchel_version()
    return version.decode("ascii")


def open(
    path: Union[str, os.PathLike[str]],
    clock: Optional[Callable[[], int]] = None,
    read_only: bool = False,
    *,
    quarantine: bool = False,
    durability: str = "full",
    busy_timeout: float = 5.0,
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
    :raises ForeignFile, Damaged, NewerStore: when the file is not a store that can be opened; it is left
        unchanged
    :raises NotFound: when the file (with ``read_only``) or its directory does not exist
    :raises ReadOnly, IOFailure, Busy, InvalidArgument: see their classes

    Open a store after ``fork``: in the child, one that was opened before is closed.
    """
    return Store(path, clock, read_only, quarantine, durability, busy_timeout)


class Store(Closing):
    """An open store; made by :func:`satchel.open`, closed by :meth:`close` or a ``with`` block.

    Any number of threads may use it at once. A store that was not closed is closed when it is collected, with
    a ResourceWarning.
    """

    def __init__(
        self,
        path: Union[str, os.PathLike[str]],
        clock: Optional[Callable[[], int]],
        read_only: bool,
        quarantine: bool,
        durability: str,
        busy_timeout: float,
    ) -> None:
        """Use :func:`satchel.open`."""
        self._path, file = _encoding.file_path(path, "path")
        if clock is not None and not callable(clock):
            raise InvalidArgument(f"clock must be callable, not {type(clock).__name__}")
        if durability not in ("full", "relaxed"):
            raise InvalidArgument(f"durability must be 'full' or 'relaxed', not {durability!r}")
        options = _abi.OpenOptions(size=ctypes.sizeof(_abi.OpenOptions))
        options.read_only = bool(read_only)
        options.quarantine = bool(quarantine)
        options.relaxed_durability = durability == "relaxed"
        options.busy_timeout_ms = _timeout(busy_timeout)
        self._owner = _callbacks.new_owner()
        self._observers: Set[Observer] = set()
        self._dependents: Dict[int, weakref.ref[Dependent]] = {}
        if clock is not None:
            options.clock = _callbacks.on_clock
            options.clock_context = _callbacks.register(clock, self._owner)
            options.clock_release = _callbacks.on_release
        self._handle = Handle.made_by("store", library.satchel_store_open, file, ctypes.byref(options))
        _open_stores.add(self._owner, self)

    @property
    def path(self) -> str:
        """The path, as passed to :func:`satchel.open`."""
        return self._path

    @property
    def read_only(self) -> bool:
        """Whether it was opened read-only."""
        out = ctypes.c_bool()
        check(library.satchel_store_is_read_only(self._pointer, ctypes.byref(out)))
        return out.value

    @property
    def catalogue(self) -> Catalogue:
        """Content scoped to places."""
        return Catalogue(self)

    def stories(self, directory: Union[str, os.PathLike[str]]) -> StoryLibrary:
        """Opens the library of the stories in a directory; no story is read yet.

        :param directory: the directory's path
        :returns: a new object at each call; its index is kept in the store
        :raises NotFound: when the directory does not exist
        :raises InvalidArgument: when it is a file
        """
        return StoryLibrary(self, directory)

    def photos(self, directory: Union[str, os.PathLike[str]]) -> PhotoCatalogue:
        """Opens the catalogue of the photos in a directory, and creates it when needed; no photo is read.

        :param directory: the directory's path; it need not exist
        :returns: a new object at each call, over the same rows
        :raises NotFound: when the store is read-only and has no catalogue of it
        """
        return PhotoCatalogue(self, directory)

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
        :param schema: a JSON Schema (2020-12) that every document must satisfy
        :param version: of the documents, 1 by default. Records of another version are migrated, all in
            one transaction, after a backup beside the store
        :param migrations: from version 1 to 2, from 2 to 3 and so on; each a list of changes such as
            ``{"rename": {"from": "a", "to": "b"}}`` (also move, default, remove, convert), which have an
            inverse; or a function that takes a document, returns it in the next version, and must not use
            the store; or a :class:`satchel.records.Migration` of two functions
        :param redeclare: makes this the complete declaration: an index, a relation or a schema that is not
            declared is dropped, one that is declared differently is replaced. After such a change, open
            handles raise Conflict at their next write; they can still read
        :returns: a new handle at each call, over the same records
        :raises InvalidArgument: for an invalid declaration; for an index, a relation or a schema that differs
            from the stored one, without ``redeclare``; for a migration that fails, naming the record: the
            exception of a function is the cause. Nothing is changed
        :raises ConstraintViolation: when the records violate a declared unique index or relation
        :raises NewerStore: when the records have a newer version, and a migration has no inverse
        """
        return Records(self, name, of, indexes, relations, schema, version, migrations, redeclare)

    def collections(self) -> List[CollectionInfo]:
        """The collections of the store."""
        found = json_answer(library.satchel_store_collections, self._pointer)
        return [record_from(CollectionInfo, each) for each in found]

    @property
    def state(self) -> State:
        """Small values that an app changes often."""
        return State(self)

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """Groups the writes of a ``with`` block into one transaction.

        They become visible and durable together at the end of the block, or are rolled back when the block
        raises (or its task is cancelled). A nested batch that raises rolls back only itself. State is not
        part of a batch, and cannot be flushed in it.

        The batch is bound to the context of the block (``contextvars``): in asyncio to the task, elsewhere to
        the thread. Calls in that context, and in copies of it, are part of it, one at a time: those that
        ``asyncio.to_thread`` makes, and those of tasks that are created in the block, as in an
        ``asyncio.TaskGroup``. Wait for all of them in the block. Calls after its end are ordinary ones; on
        another thread, where they can only be leftovers, they raise InvalidArgument when the batch was rolled
        back.

        No other call is part of it. Writes of another task raise Busy at once on the thread that began the
        batch, since waiting would stop the loop that has to end it; on other threads they wait, and raise
        Busy after ``busy_timeout``. Reads see what is committed; in a store in memory they wait, or raise
        Busy, as writes do. A nested batch, begun by another task of this one, excludes the calls of this one
        in the same way.

        :raises ConstraintViolation: at the end, when relations or unique indexes are violated; everything is
            rolled back
        :raises InvalidArgument: at the end, when a nested batch has not ended; everything is rolled back
        :raises Busy, ReadOnly, IOFailure: see their classes
        """
        with _batches.begun(self._pointer):
            yield

    def backup(self, path: _Path, progress: Optional[Callable[[BackupProgress], object]] = None) -> Backup:
        """Copies the store into another file, while other calls read and write.

        :param path: the new file, which replaces an existing one after the copy was checked
        :param progress: receives a :class:`satchel.backup.BackupProgress`, on this thread; returning False
            cancels. An exception in it cancels too, and is raised here
        :raises InvalidArgument: for the store's own path, and in a batch
        :raises ForeignFile, Busy: when ``path`` is a file of another program, or an open store; it is kept
        :raises Cancelled, NotFound, ReadOnly, Full, IOFailure, Damaged: see their classes; no file is left
        """
        return back_up(self, path, progress)

    def backup_rotate(self, directory: _Path, keep: int) -> Backup:
        """Makes a backup in a directory, named by store and time, and removes the oldest of these backups.

        :param directory: the directory of the backups; must exist
        :param keep: how many to keep, 1 or more
        :raises NotFound: when the directory does not exist; otherwise as :meth:`backup`
        """
        return rotate(self, directory, keep)

    def info(self) -> StoreInfo:
        """Facts about the store."""
        return record_from(StoreInfo, json_answer(library.satchel_store_info, self._pointer))

    def check(self) -> List[Finding]:
        """Checks the whole file, reading every page.

        :returns: the findings; [] when the store is sound
        """
        findings = json_answer(library.satchel_store_check, self._pointer)
        return [record_from(Finding, each) for each in findings]

    def observe(self, callback: Callable[[Change], object]) -> Observer:
        """Calls a function after every commit, until the observer or the store is closed.

        :param callback: receives a :class:`satchel.Change`: for this store's own changes on the thread
            that made them, before their call returns; for those of other processes and handles on a thread
            of the library, within about 0.2 s. It may use the store, but not close it. Its exceptions go to
            ``sys.unraisablehook``
        """
        if not callable(callback):
            raise InvalidArgument(f"callback must be callable, not {type(callback).__name__}")

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

    def close(self) -> None:
        """Closes the store with its observers, sessions, libraries and catalogues; idempotent.

        Waits for running calls of other threads. Everything acknowledged before is in the file.

        :raises InvalidArgument: inside a batch of the store
        :raises Busy: in a callback of this store, and in any clock: it stays open then; also when a batch of
            another task or thread was open: that is rolled back, and the store is closed
        :raises SatchelError: when the last write failed; the store is closed in any case
        """
        if _callbacks.is_running(self._owner) and not self.closed:
            raise Busy("a store cannot be closed from one of its own callbacks")
        if not self.closed:
            self._refuse_in_batch("a store cannot be closed in one of its own batches")
            _batches.enter()
        pointer = self._handle.give_away()
        if pointer is None:
            return
        _open_stores.remove(self._owner)
        try:
            check(library.satchel_store_close(pointer))
        except Busy:
            if library.satchel_store_is_read_only(pointer, ctypes.byref(ctypes.c_bool())) == 0:
                # Refused inside a callback that only the library knows of.
                self._handle.take_back(pointer)
                _open_stores.add(self._owner, self)
            raise
        finally:
            if self.closed:
                for child in self._children():
                    child.close()

    @property
    def _pointer(self) -> int:
        return self._handle.pointer

    def _refuse_in_batch(self, message: str) -> None:
        if _batches.is_in_batch(self._pointer):
            raise InvalidArgument(message)

    def _adopt(self, dependent: Dependent) -> None:
        dependents = self._dependents
        number = id(dependent)
        dependents[number] = weakref.ref(dependent, lambda _: dependents.pop(number, None))

    def _children(self) -> List[Dependent]:
        others = (reference() for reference in list(self._dependents.values()))
        return [*list(self._observers), *(other for other in others if other is not None)]

    def _forget(self) -> None:
        """Drops the handles without freeing them: they belong to the parent process."""
        for child in self._children():
            child._handle.give_away()
        self._handle.give_away()

    def __del__(self) -> None:
        # A store that failed to open has no handle.
        handle: Optional[Handle] = getattr(self, "_handle", None)
        if handle is None or handle.closed:
            return
        try:
            warnings.warn(f"unclosed store {self._path!r}", ResourceWarning, source=self, stacklevel=2)
        finally:
            # Also where warnings are errors.
            self._close_collected()

    def _close_collected(self) -> None:
        if not _callbacks.is_running(self._owner):
            with contextlib.suppress(Exception):
                self.close()
            return
        # Collected inside its own callback, which closing would wait for: close on another thread.
        _open_stores.remove(self._owner)
        for child in self._children():
            child.close()
        pointer = self._handle.give_away()
        if pointer is not None:
            _callbacks.elsewhere(library.satchel_store_close, pointer)

    def __repr__(self) -> str:
        return f"<satchel.Store {self._path!r}{', closed' if self.closed else ''}>"


def _timeout(seconds: Any) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 2**32 / 1000:
        raise InvalidArgument(f"busy_timeout must be from 0 to 4294967 seconds, not {seconds!r}")
    # 0 means "the default" in C; here it means the shortest timeout.
    return min(max(1, math.ceil(seconds * 1000)), 2**32 - 1)
