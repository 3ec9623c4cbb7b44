"""State: small values that an app changes often.

>>> store.state.set("theme", "dark")
>>> store.state.list("history", limit=10).push("soup dumplings")
>>> store.state.members("favourites").add("cuisine:xiaolongbao")
>>> store.state.scores("cuisine").add("chinese", 0.2)

A change is seen by every read at once. It is in the file after 2 s of quiet, with the tenth change, 5 s after
the first, by :meth:`State.flush`, or when the store is closed: see :meth:`State.configure`. Observers hear of
it then, under the subject "records" with keys such as "state/theme". Names and keys are 1 to 255 bytes of
UTF-8; values are what JSON can hold, and dataclasses; bytes are JSON texts.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from satchel import _abi, _encoding
from satchel._handle import answer, check, json_answer, value_of
from satchel._library import library
from satchel._photo_arguments import whole
from satchel._record_documents import lend_json
from satchel._state_values import Duration, StateItem, finite, identity, lend_key, milliseconds
from satchel.values import record_from

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = ["Scores", "State", "StateItem", "StateList", "StateMembers"]


class State:
    """The state of a store; ``store.state``. Safe on any thread, also at once.

    All that change it raise :class:`satchel.Closed` once the store is closed, ReadOnly when it was opened to
    read only, and InvalidArgument for a name or value that is none; they do not wait for the disk, and a save
    that fails later is tried again, goes to the spill file, or is told to observers as "@unsaved". Values are
    copied, and what is read is the caller's own; a value has at most 16 MB.
    """

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def configure(
        self,
        *,
        quiet: Optional[Duration] = None,
        batch: Optional[int] = None,
        age: Optional[Duration] = None,
    ) -> None:
        """Says when changes are saved; what is left out is as it was at first.

        :param quiet: so long after the last change, a timedelta or milliseconds: 2,000
        :param batch: with so many changes: 10
        :param age: so long after the first of them: 5,000
        """
        options = _abi.StateOptions(size=ctypes.sizeof(_abi.StateOptions))
        options.quiet_ms = milliseconds(quiet, "quiet", 2**32 - 1)
        options.batch = 0 if batch is None else whole(batch, "batch", 1, 2**32 - 1)
        options.age_ms = milliseconds(age, "age", 2**32 - 1)
        check(library.satchel_state_configure(self._store._pointer, ctypes.byref(options)))

    def set(self, key: str, value: Any, sensitive: bool = False) -> None:
        """Sets a value, in place of the one that is there.

        :param value: what JSON can hold, a dataclass, or the text of JSON in bytes; a str is a text
        :param sensitive: stores it encrypted (AES-256-GCM); needs :meth:`set_key` before
        :raises InvalidArgument: for what JSON cannot hold, with its place; for a sensitive value without key
        """
        lent = _encoding.lend_text(key, "key"), lend_json(value, "value")
        check(library.satchel_state_set(self._store._pointer, *lent, bool(sensitive)))

    def get(self, key: str, default: Any = None) -> Any:
        """A value as JSON says it, dataclasses as dicts; or the default when there is none.

        :raises InvalidArgument: for a sensitive value without its key
        :raises Damaged: for a sensitive value that was changed from outside
        """
        found = answer(library.satchel_state_get, self._store._pointer, _encoding.lend_text(key, "key"))
        return default if found is None else value_of(found)

    def remove(self, key: str) -> None:
        """Removes a value, sensitive or not; that there is none is fine."""
        check(library.satchel_state_remove(self._store._pointer, _encoding.lend_text(key, "key")))

    def keys(self, prefix: str = "") -> List[str]:
        """The keys of values that begin with a prefix, sorted by their bytes in UTF-8."""
        lent = _encoding.lend_text(prefix, "prefix")
        found: List[str] = json_answer(library.satchel_state_keys, self._store._pointer, lent)
        return found

    def flush(self) -> bool:
        """Saves what is pending: all changes made before survive a kill. Takes in what was spilled.

        :returns: True when it is in the store; False when it went to the spill file, since the store cannot
            be written
        :raises InvalidArgument: in a batch
        :raises Full, ReadOnly, IOFailure, Damaged, Busy: when the spill file could not take it either; it
            stays in memory, and is tried again
        """
        spilled = ctypes.c_bool()
        check(library.satchel_state_flush(self._store._pointer, ctypes.byref(spilled)))
        return not spilled.value

    def set_key(self, key: bytes) -> None:
        """Gives the key for sensitive values, until the store is closed.

        :param key: 32 bytes, from the keychain of the system; copied, never stored
        :raises InvalidArgument: when stored values were sealed with another key; nothing is changed
        """
        check(library.satchel_state_set_key(self._store._pointer, lend_key(key)))

    def rotate_key(self, key: bytes) -> None:
        """Seals all sensitive values anew, in one transaction.

        :param key: the new key, 32 bytes, which counts from now on
        :raises InvalidArgument: when the present key was not given, and in a batch
        :raises Busy, Full, IOFailure: as their names say; the present key stays
        """
        check(library.satchel_state_rotate_key(self._store._pointer, lend_key(key)))

    def list(
        self,
        name: str,
        limit: Optional[int] = None,
        maximum_age: Optional[Duration] = None,
        unique: bool = False,
    ) -> StateList:
        """A bounded list, newest first. The bounds are this object's: say the same wherever it is used.

        :param limit: the most items; None for any number
        :param maximum_age: of an item, a timedelta or milliseconds; None for any
        :param unique: an item that is there already moves to the front
        :returns: the list; reads nothing yet, and that there is none is an empty one
        """
        return StateList(self._store, name, limit, maximum_age, unique)

    def members(self, name: str) -> StateMembers:
        """A set; reads nothing yet, and that there is none is an empty one."""
        return StateMembers(self._store, name)

    def scores(self, name: str, minimum: float = -1.0, maximum: float = 1.0) -> Scores:
        """Numbers by key, which deltas are added to. The bounds are this object's.

        :param minimum: no score is below
        :param maximum: no score is above
        :raises InvalidArgument: for bounds that are not finite
        """
        return Scores(self._store, name, minimum, maximum)

    def __contains__(self, key: object) -> bool:
        lent = _encoding.lend_text(key, "key")
        return answer(library.satchel_state_get, self._store._pointer, lent) is not None

    def __repr__(self) -> str:
        return f"<satchel.State of {self._store.path!r}>"


class _Named:
    """What stands in the state under a name of its own."""

    __slots__ = ("_name", "_store")

    def __init__(self, store: Store, name: str) -> None:
        _encoding.lend_text(name, "name")
        self._store = store
        self._name = name

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def __repr__(self) -> str:
        return f"<satchel.{type(self).__name__} {self._name!r}>"


class StateList(_Named):
    """A bounded list of the state, newest first; iterating gives values."""

    __slots__ = ("_options",)

    def __init__(self, store: Store, name: str, limit: Any, maximum_age: Any, unique: Any) -> None:
        super().__init__(store, name)
        options = _abi.StateListOptions(size=ctypes.sizeof(_abi.StateListOptions))
        options.limit = 0 if limit is None else whole(limit, "limit", 1, 2**32 - 1)
        options.maximum_age_ms = milliseconds(maximum_age, "maximum_age", 2**63 - 1)
        options.unique = bool(unique)
        self._options = options

    def push(self, value: Any) -> None:
        """Puts a value in front, and drops what is beyond the bounds.

        :param value: as in :meth:`State.set`
        """
        lent = _encoding.lend_text(self._name, "name"), lend_json(value, "value")
        check(library.satchel_state_list_push(self._store._pointer, *lent, ctypes.byref(self._options)))

    def items(self) -> List[StateItem]:
        """The items within the bounds, newest first, with their times."""
        lent = _encoding.lend_text(self._name, "name")
        found = json_answer(
            library.satchel_state_list_items, self._store._pointer, lent, ctypes.byref(self._options)
        )
        return [record_from(StateItem, each) for each in found]

    def values(self) -> List[Any]:
        """The values within the bounds, newest first."""
        return [each.value for each in self.items()]

    def remove(self, value: Any) -> None:
        """Removes the items that equal a value; that there is none is fine."""
        lent = _encoding.lend_text(self._name, "name"), lend_json(value, "value")
        check(library.satchel_state_list_remove(self._store._pointer, *lent))

    def clear(self) -> None:
        """Removes all items."""
        lent = _encoding.lend_text(self._name, "name")
        check(library.satchel_state_list_clear(self._store._pointer, lent))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())

    def __len__(self) -> int:
        return len(self.items())

    def __bool__(self) -> bool:
        return True


class StateMembers(_Named):
    """A set of the state: any values of JSON, in a stable order."""

    __slots__ = ()

    def add(self, value: Any) -> bool:
        """Adds a value; whether it was not there before. 1, 1.0 and True are three.

        :param value: as in :meth:`State.set`
        """
        out = ctypes.c_bool()
        lent = _encoding.lend_text(self._name, "name"), lend_json(value, "value")
        check(library.satchel_state_member_add(self._store._pointer, *lent, ctypes.byref(out)))
        return out.value

    def remove(self, value: Any) -> bool:
        """Takes a value out; whether it was there."""
        out = ctypes.c_bool()
        lent = _encoding.lend_text(self._name, "name"), lend_json(value, "value")
        check(library.satchel_state_member_remove(self._store._pointer, *lent, ctypes.byref(out)))
        return out.value

    def values(self) -> List[Any]:
        """All values."""
        lent = _encoding.lend_text(self._name, "name")
        found: List[Any] = json_answer(library.satchel_state_members, self._store._pointer, lent)
        return found

    def __contains__(self, value: object) -> bool:
        wanted = identity(value)
        return any(identity(each) == wanted for each in self.values())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())

    def __len__(self) -> int:
        return len(self.values())

    def __bool__(self) -> bool:
        return True


class Scores(_Named):
    """Scores of the state: numbers by key, each beginning at 0 and staying within its bounds."""

    __slots__ = ("_options",)

    def __init__(self, store: Store, name: str, minimum: Any, maximum: Any) -> None:
        super().__init__(store, name)
        options = _abi.StateScoreOptions(size=ctypes.sizeof(_abi.StateScoreOptions))
        options.minimum, options.maximum = finite(minimum, "minimum"), finite(maximum, "maximum")
        self._options = options

    def add(self, key: str, delta: float) -> float:
        """Adds to a score.

        :param key: 1 to 255 bytes of UTF-8
        :param delta: a finite number
        :returns: the new score, within the bounds
        :raises InvalidArgument: for a minimum above the maximum, and a delta that is not finite
        """
        out = ctypes.c_double()
        lent = _encoding.lend_text(self._name, "name"), _encoding.lend_text(key, "key")
        check(
            library.satchel_state_score_add(
                self._store._pointer,
                *lent,
                finite(delta, "delta"),
                ctypes.byref(self._options),
                ctypes.byref(out),
            )
        )
        return out.value

    def value(self, key: str) -> float:
        """A score; 0.0 when nothing was added to it."""
        return self.all().get(key, 0.0)

    def all(self) -> Dict[str, float]:
        """All scores by their keys."""
        lent = _encoding.lend_text(self._name, "name")
        found: Dict[str, float] = json_answer(library.satchel_state_scores, self._store._pointer, lent)
        return {key: float(score) for key, score in found.items()}
