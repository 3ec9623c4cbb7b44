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
    """The version of the shared library that runs, "major.minor.patch"."""
    version: bytes = library.satchel_version()
    return version.decode("ascii")


def open(
    path: Union[str, os.PathLike[str]],
    clock: Optional[Callable[[], int]] = None,
    read_only: bool = False,
    *,
    set_aside: bool = False,
    durability: str = "full",
    busy_timeout: float = 5.0,
) -> Store:
    """Opens a store, creating the file when there is none.

    :param path: the file's path, or ":memory:" for a store that lives until it is closed
    :param clock: gives the time in Unix milliseconds, on any thread; None means the system's. What it
        raises goes to ``sys.unraisablehook``, and the system's time is taken
    :param read_only: opens without writing: the file must exist, and is not changed
    :param set_aside: a damaged, foreign or unreadable file is renamed (never deleted) and a new store
        begun; where to: ``store.info().set_aside``
    :param durability: "full" syncs every commit; "relaxed": commits survive the end of the process, but
        only those up to the last checkpoint survive a power cut
    :param busy_timeout: seconds that a call waits for another writer; 0 means one millisecond
    :raises ForeignFile, Damaged, NewerStore: when the file is not a store that can be opened; it is left
        as it is
    :raises NotFound: when there is no file to read, or no directory
    :raises ReadOnly, IOFailure, Busy, InvalidArgument: as their names say

    Open a store after ``fork``: in the child, one that was opened before is closed.
    """
    return Store(path, clock, read_only, set_aside, durability, busy_timeout)


class Store(Closing):
    """An open store; made by :func:`satchel.open`, closed by :meth:`close` or a ``with`` block.

    Any number of threads may use it at once. A store that is left open is closed when it is collected,
    with a ResourceWarning.
    """

    def __init__(
        self,
        path: Union[str, os.PathLike[str]],
        clock: Optional[Callable[[], int]],
        read_only: bool,
        set_aside: bool,
        durability: str,
        busy_timeout: float,
    ) -> None:
        """As :func:`satchel.open`, which is the way to make one."""
        self._path, file = _encoding.file_path(path, "path")
        if clock is not None and not callable(clock):
            raise InvalidArgument(f"clock must be callable, not {type(clock).__name__}")
        if durability not in ("full", "relaxed"):
            raise InvalidArgument(f"durability must be 'full' or 'relaxed', not {durability!r}")
        options = _abi.OpenOptions(size=ctypes.sizeof(_abi.OpenOptions))
        options.read_only = bool(read_only)
        options.set_aside = bool(set_aside)
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
        """The path as it was given to :func:`satchel.open`."""
        return self._path

    @property
    def read_only(self) -> bool:
        """Whether it was opened to read only."""
        out = ctypes.c_bool()
        check(library.satchel_store_is_read_only(self._pointer, ctypes.byref(out)))
        return out.value

    @property
    def catalogue(self) -> Catalogue:
        """Content scoped to places."""
        return Catalogue(self)

    def stories(self, directory: Union[str, os.PathLike[str]]) -> StoryLibrary:
        """Opens the library of a directory's stories; reads none yet.

        :param directory: the directory's path
        :returns: a library of its own at each call; what it learns is kept in the store
        :raises NotFound: when there is no such directory
        :raises InvalidArgument: when it is a file
        """
        return StoryLibrary(self, directory)

    def photos(self, directory: Union[str, os.PathLike[str]]) -> PhotoCatalogue:
        """Opens the catalogue of a directory's photos, making it when there is none; reads no photo.

        :param directory: where the photos are; need not exist
        :returns: a catalogue of its own at each call, over the same rows
        :raises NotFound: when the store is read-only and has none
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
        """Opens a collection of documents, making it when there is none.

        With nothing but its name (and ``of``) it is opened as it is. Else this adds indexes, relations and a
        schema to those that the store has, and removes none. What is added holds for every handle of the
        collection from its next write on, in every process.

        :param name: a lower-case letter of ASCII, then letters, digits and "_", at most 64
        :param of: a dataclass, for documents that are its instances; without it they are dicts
        :param indexes: paths to find records by: texts, or :class:`satchel.records.Index`
        :param relations: what a path refers to: the name of a collection, or
            :class:`satchel.records.Relation`
        :param schema: a JSON Schema (2020-12) that every document has to fit
        :param version: of the documents, 1 when it is left out. Records of another one are migrated, all in
            one transaction, after a backup beside the store
        :param migrations: from version 1 to 2, from 2 to 3 and so on; each a list of changes such as
            ``{"rename": {"from": "a", "to": "b"}}`` (also move, default, remove, convert), which have their
            way back; or a function that takes a document and returns it as the next version has it, and must
            not use the store; or a :class:`satchel.records.Migration` of two functions
        :param redeclare: whether this declares the whole collection: an index, a relation or a schema that is
            not declared is dropped, one that is declared otherwise is replaced. When something was, handles
            that are open then fail with InvalidArgument at their next write; their reads go on
        :returns: a handle of its own at each call, over the same records
        :raises InvalidArgument: for a declaration that is none; for an index, a relation or a schema that the
            store has otherwise, without ``redeclare``; for a unique index that the records violate, and a
            migration that fails, naming the record: what a function raised is the cause. Nothing is changed
        :raises NewerStore: when the records are of a newer version, and there is no way back
        """
        return Records(self, name, of, indexes, relations, schema, version, migrations, redeclare)

    def collections(self) -> List[CollectionInfo]:
        """The collections that there are."""
        found = json_answer(library.satchel_store_collections, self._pointer)
        return [record_from(CollectionInfo, each) for each in found]

    @property
    def state(self) -> State:
        """Small values that an app changes often."""
        return State(self)

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """Makes what is written in a ``with`` block one transaction.

        It becomes visible, and durable, all at once at the end of the block, or not at all when that raises
        (or its task is cancelled). In another batch, one that raises undoes only itself. State is no part of
        it, and cannot be flushed in it.

        The batch is bound to the context of the block (``contextvars``): in asyncio to the task, elsewhere to
        the thread. Calls in that context, and in copies of it, are part of it, one at a time: those that
        ``asyncio.to_thread`` makes, and those of tasks that are created in the block, as in an
        ``asyncio.TaskGroup``. So wait for all of them in the block. Calls that come after its end are
        ordinary ones; on another thread, where they can only be left over, they raise InvalidArgument when
        the batch was undone.

        No other call is part of it. Writes of another task raise Busy at once on the thread that began the
        batch, since waiting would stop the loop that has to end it; on other threads they wait, and raise
        Busy after ``busy_timeout``. Reads see what is committed; in a store in memory they wait, or raise
        Busy, as writes do. A batch inside of this one, begun by another task of it, keeps this one's calls
        away likewise.

        :raises InvalidArgument: at the end, when relations or unique indexes are violated then, or a batch
            inside of it has not ended; everything is undone
        :raises Busy, ReadOnly, IOFailure: as their names say
        """
        with _batches.begun(self._pointer):
            yield

    def backup(self, path: _Path, progress: Optional[Callable[[BackupProgress], object]] = None) -> Backup:
        """Copies the store into a file of its own, while others go on reading and writing.

        :param path: the new file, which replaces what has that name; it is examined before it gets it
        :param progress: hears a :class:`satchel.backup.BackupProgress`, on this thread; when it returns False
            this raises Cancelled. What it raises ends the work, too, and is raised here
        :raises InvalidArgument: for the store's own path, and in a batch
        :raises ForeignFile, Busy: for a file of another program, and for a store that is in use; both stay
        :raises Cancelled, NotFound, ReadOnly, Full, IOFailure, Damaged: as their names say; no part is left
        """
        return back_up(self, path, progress)

    def backup_rotate(self, directory: _Path, keep: int) -> Backup:
        """Makes a backup in a directory, named by store and time, and removes the oldest that were made so.

        :param directory: where they are; must exist
        :param keep: how many stay, 1 or more
        :raises NotFound: without the directory; else as :meth:`backup`
        """
        return rotate(self, directory, keep)

    def info(self) -> StoreInfo:
        """Facts about the store."""
        return record_from(StoreInfo, json_answer(library.satchel_store_info, self._pointer))

    def check(self) -> List[Finding]:
        """Examines the whole file, reading every page.

        :returns: what is wrong with it; [] when the store is sound
        """
        findings = json_answer(library.satchel_store_check, self._pointer)
        return [record_from(Finding, each) for each in findings]

    def observe(self, callback: Callable[[Change], object]) -> Observer:
        """Hears of every change after its commit, until the observer or the store is closed.

        :param callback: called with a :class:`satchel.Change`: for this store's own changes on the
            thread that made them, before the call that made them returns; for those of other processes
            and handles on a thread of the library, within about 0.2 s. It may use the store, but not
            close it. What it raises goes to ``sys.unraisablehook``
        """
        if not callable(callback):
            raise InvalidArgument(f"callback must be callable, not {type(callback).__name__}")

        def tell(change: Dict[str, Any]) -> None:
            callback(record_from(Change, change))

        pointer = self._pointer
        context = _callbacks.register(tell, self._owner)
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
        """Closes the store with its observers, sessions, libraries and catalogues; a second time is fine.

        Waits for calls under way on other threads. Everything acknowledged before is in the file.

        :raises InvalidArgument: in a batch of it
        :raises Busy: in a callback of this store, and in any clock: it stays open then; also when a batch of
            another task or thread was open: that is undone, and the store is closed
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
                # Refused, in a callback that only the library knows of.
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
        """Lets go without a call: the handles belong to the process that forked this one."""
        for child in self._children():
            child._handle.give_away()
        self._handle.give_away()

    def __del__(self) -> None:
        # A store whose opening failed has no handle.
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
    # 0 says "the default" in C; here it is as short as a wait can be.
    return min(max(1, math.ceil(seconds * 1000)), 2**32 - 1)
