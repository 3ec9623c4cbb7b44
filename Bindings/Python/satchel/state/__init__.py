"""State: small values that an app changes often.

>>> store.state.set("theme", "dark")
>>> store.state.list("history", limit=10).push("soup dumplings")
>>> store.state.members("favourites").add("cuisine:xiaolongbao")
>>> store.state.scores("cuisine").add("chinese", 0.2)

Reads see a change at once. It is written to the file 2 s after the last change, with the tenth change, 5 s
after the first, by :meth:`State.flush`, or when the store is closed: see :meth:`State.configure`. Observers
are notified then, under the subject "state" with keys such as "value/theme". Names and keys are 1 to 255
bytes of UTF-8, and those that begin with "@stories/" are reserved for libraries of stories; values are JSON
values and dataclasses; bytes are JSON text.

``synced=True`` marks a value, a list, a set or scores for ``store.sync``. The mark is stored: it is enough to
set it once on each device. The name must then have at most 248 bytes, and no control characters.
"""

from __future__ import annotations

import ctypes
import typing
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, List, Optional

from satchel import _abi, _encoding
from satchel._documents import lend_json, read_value, warn_of_large_strings
from satchel._encoding import Duration
from satchel._fields import ACCEPTED, UNIONS, with_article
from satchel._library import answer, check, json_answer, library, scalar_answer, value_of
from satchel.errors import InvalidArgument
from satchel.records._declarations import MigrationStep, migrating, on_migrate, steps_of, versions
from satchel.state._lists import Scores, StateItem, StateList, StateMembers, mark, milliseconds

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = ["Scores", "State", "StateItem", "StateList", "StateMembers"]


class State:
    """The state of a store; ``store.state``. Safe on any thread, also concurrently.

    Methods that change it raise :class:`satchel.Closed` once the store is closed, ReadOnly when it was opened
    read-only, and InvalidArgument for an invalid name or value. They do not wait for the disk; a save that
    fails later is retried, then spooled, or reported to observers as "@unsaved". Values are copied when they
    are set and read; a value has at most 16 MB.
    """

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def configure(
        self,
        *,
        save_delay: Optional[Duration] = None,
        max_pending: Optional[int] = None,
        max_delay: Optional[Duration] = None,
    ) -> None:
        """Sets when changes are saved; a parameter that is left out gets its default.

        :param save_delay: the time from the last change to the save, a timedelta or milliseconds;
            default 2,000
        :param max_pending: the number of pending changes that are saved immediately; default 10
        :param max_delay: the maximum time from the first pending change to the save, a timedelta or
            milliseconds; default 5,000
        :raises InvalidArgument: for a negative duration, and for fewer changes than 1
        """
        options = _abi.StateOptions(
            save_delay_ms=milliseconds(save_delay, "save_delay", 2**32 - 1),
            max_pending=_encoding.whole_or_default(max_pending, "max_pending", 1, 2**32 - 1),
            max_delay_ms=milliseconds(max_delay, "max_delay", 2**32 - 1),
        )
        check(library.satchel_state_configure(self._store._pointer, ctypes.byref(options)))

    def declare(
        self,
        defaults: Optional[Mapping[str, Any]] = None,
        *,
        version: Optional[int] = None,
        migrations: Optional[Sequence[MigrationStep]] = None,
    ) -> None:
        """Declares defaults of values, and migrates the values to the declared version.

        >>> store.state.declare({"theme": "light", "size": 12}, version=2, migrations=[
        ...     [{"rename": {"from": "/colours", "to": "/theme"}}],
        ... ])

        Defaults are valid for this store until it is closed; they are neither stored nor listed by
        :meth:`keys`. Several parts of an app may declare theirs.

        :param defaults: what :meth:`get` returns for keys without a value
        :param version: the version that the app expects; None migrates nothing
        :param migrations: the steps from version 1 to 2, 2 to 3 and so on, each as for ``store.records``: a
            list of steps, a function, or a :class:`satchel.records.Migration`. The document is the dict of
            all values by their keys, without the sensitive ones. All pending ones run in one transaction,
            after a backup in the store's directory; pending changes are saved before. An app that is older
            than the values migrates them back, as far as the migrations have inverses
        :raises InvalidArgument: for another default than the declared one, for a migration that is missing or
            fails, and for pending migrations in a batch
        :raises NewerStore: for values of a newer version that cannot be migrated back
        :raises ReadOnly: when a read-only store has another version
        :raises Busy: while changes are spooled. Nothing is changed then
        """
        steps = steps_of(migrations)
        declared = {"defaults": dict(defaults or {}), **versions(version, steps)}
        arguments = self._store._pointer, lend_json(declared, "the declaration"), on_migrate
        migrating(
            self._store, steps, lambda context: check(library.satchel_state_declare(*arguments, context))
        )

    def set(self, key: str, value: Any, sensitive: bool = False, synced: Optional[bool] = None) -> None:
        """Sets or replaces a value.

        :param key: 1 to 255 bytes of UTF-8
        :param value: a JSON value, a dataclass, or JSON text in bytes; a str is a JSON string
        :param sensitive: stores it encrypted (AES-256-GCM); needs :meth:`set_key` before. A sensitive
            value is synchronized only with a key: otherwise ``failed`` of the report names it
        :param synced: whether ``store.sync`` includes the key from now on, also when its value is removed and
            set again; None keeps what it is, False at first. Of two versions the newest wins
        :raises InvalidArgument: for a value that JSON cannot represent, with its JSON Pointer; for a
            sensitive value without a key; for a key that is too long to be synchronized

        A :class:`satchel.LargeStringWarning` is issued for each string of more than 1 MiB, which should be an
        asset.
        """
        lent = _encoding.lend_text(key, "key"), lend_json(value, "value")
        mark(self._store, "value", lent[0], synced)
        check(library.satchel_state_set(self._store._pointer, *lent, bool(sensitive)))
        warn_of_large_strings(lent[1], f"state/{key}")

    def get(self, key: str, default: Any = None, *, of: Any = None) -> Any:
        """Returns a value, dataclasses as dicts.

        :param key: of the value
        :param default: returned when the key has neither a value nor a declared default
        :param of: what the value is read as: a dataclass, a type such as int, date, UUID or an enum, or a
            container of them, as ``List[date]``; null is read as None
        :raises InvalidArgument: for a value that does not fit, with its JSON Pointer
        :raises Unauthorized: for a sensitive value without its key
        :raises Damaged: for a sensitive value that was tampered with
        """
        found = answer(library.satchel_state_get, self._store._pointer, _encoding.lend_text(key, "key"))
        if found is None:
            return default
        return value_of(found) if of is None else _typed(value_of(found), of, key)

    def remove(self, key: str) -> None:
        """Removes a value, sensitive or not.

        :param key: of the value; a missing one is ignored
        """
        check(library.satchel_state_remove(self._store._pointer, _encoding.lend_text(key, "key")))

    def keys(self, prefix: str = "") -> List[str]:
        """The keys of values, sorted by their bytes in UTF-8.

        :param prefix: begins the keys
        """
        lent = _encoding.lend_text(prefix, "prefix")
        found: List[str] = json_answer(library.satchel_state_keys, self._store._pointer, lent)
        return found

    def flush(self) -> bool:
        """Saves pending changes, so that they survive a kill of the process, and drains the outbox.

        :returns: True when they are in the store; False when they were spooled, because the store cannot be
            written
        :raises InvalidArgument: in a batch
        :raises Full, ReadOnly, IOFailure, Damaged, Busy: when they cannot be spooled either; they stay in
            memory, and saving is retried
        """
        return not scalar_answer(ctypes.c_bool, library.satchel_state_flush, self._store._pointer)

    def set_key(self, key: bytes) -> None:
        """Sets the key for all that is sensitive, until the store is closed.

        :param key: 32 bytes, from the keychain of the system; copied, never stored
        :raises InvalidArgument: for another length
        :raises Unauthorized: when the store was encrypted with another key; nothing is changed
        """
        check(library.satchel_state_set_key(self._store._pointer, _encoding.lend_key(key)))

    def rotate_key(self, key: bytes) -> None:
        """Encrypts all that is sensitive again with a new key, in one transaction.

        :param key: the new key, 32 bytes, which replaces the current one
        :raises InvalidArgument: in a batch
        :raises Unauthorized: when the current key was not set
        :raises Busy, Full, IOFailure: see their classes; the current key stays
        """
        check(library.satchel_state_rotate_key(self._store._pointer, _encoding.lend_key(key)))

    def list(
        self,
        name: str,
        limit: Optional[int] = None,
        max_age: Optional[Duration] = None,
        unique: bool = False,
        synced: Optional[bool] = None,
        sensitive: Optional[bool] = None,
    ) -> StateList:
        """A bounded list, newest first. Pass the same bounds wherever it is used.

        :param name: of the list, 1 to 255 bytes of UTF-8
        :param limit: the maximum number of items; None for no limit
        :param max_age: of an item, a timedelta or milliseconds; None for no limit
        :param unique: pushing an item that the list has moves it to the front
        :param synced: whether ``store.sync`` includes the list from now on; the pushes and removals of
            several devices are merged, within these bounds. None keeps what it is, False at first
        :param sensitive: whether the items are stored encrypted (AES-256-GCM) from now on; those that the
            list has are encrypted or decrypted before this returns. Reading and changing them needs
            :meth:`set_key`. None keeps what it is, False at first
        :returns: the list, not read yet; a list that was never written is empty
        :raises Unauthorized: for items that cannot be encrypted or decrypted because the key is not set
        :raises InvalidArgument: where it would change, in a batch
        :raises Busy, Full, IOFailure: when that cannot be written
        """
        return StateList(self._store, name, limit, max_age, unique, synced, sensitive)

    def members(
        self, name: str, synced: Optional[bool] = None, sensitive: Optional[bool] = None
    ) -> StateMembers:
        """A set.

        :param name: of the set, 1 to 255 bytes of UTF-8
        :param synced: whether ``store.sync`` includes the set from now on; the additions and removals of
            several devices are merged. None keeps what it is, False at first
        :param sensitive: whether the members are stored encrypted from now on, as in :meth:`list`
        :returns: the set, not read yet; a set that was never written is empty
        :raises InvalidArgument, Unauthorized, Busy, Full, IOFailure: as :meth:`list`
        """
        return StateMembers(self._store, name, synced, sensitive)

    def scores(
        self,
        name: str,
        minimum: float = -1.0,
        maximum: float = 1.0,
        synced: Optional[bool] = None,
        sensitive: Optional[bool] = None,
    ) -> Scores:
        """Numbers by key, to which deltas are added. Pass the same bounds wherever they are used.

        :param name: of the scores, 1 to 255 bytes of UTF-8
        :param minimum: the lower bound of each score
        :param maximum: the upper bound of each score
        :param synced: whether ``store.sync`` includes the scores from now on; the deltas of several devices
            add up, within these bounds. None keeps what it is, False at first
        :param sensitive: whether the scores and their keys are stored encrypted from now on, as in
            :meth:`list`
        :raises InvalidArgument: for bounds that are not finite, and as :meth:`list`
        :raises Unauthorized, Busy, Full, IOFailure: as :meth:`list`
        """
        return Scores(self._store, name, minimum, maximum, synced, sensitive)

    def __contains__(self, key: object) -> bool:
        lent = _encoding.lend_text(key, "key")
        return answer(library.satchel_state_get, self._store._pointer, lent) is not None

    def __repr__(self) -> str:
        return f"<satchel.State of {self._store.path!r}>"


def _typed(value: Any, of: Any, key: str) -> Any:
    """A value of JSON's types as an annotation says."""
    kind = typing.get_origin(of) or of
    is_class = isinstance(kind, type) and kind not in (*UNIONS, Any)
    try:
        found = read_value(value, of, "")
        if is_class and kind not in ACCEPTED and not (found is None or isinstance(found, kind)):
            raise ValueError(f"it is {with_article(type(value).__name__)}")
    except Exception as error:
        # Also exceptions of the class itself, which does not know the key.
        name = with_article(kind.__name__ if is_class else str(of))
        raise InvalidArgument(f"state/{key} is not {name}: {str(error).lstrip(': ')}") from error
    return found
