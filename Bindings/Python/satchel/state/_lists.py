"""Lists, sets and scores of the state; :mod:`satchel.state` exports them."""

from __future__ import annotations

import ctypes
import math
from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Union

from satchel import _abi, _encoding
from satchel._documents import lend_json
from satchel._library import check, json_answer, library, scalar_answer
from satchel.errors import InvalidArgument
from satchel.values import dataclass, moment, records_from

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = ["Scores", "StateItem", "StateList", "StateMembers", "mark", "milliseconds"]


@dataclass(frozen=True)
class StateItem:
    """An item of a list: its ``value``, and the ``time`` when it was pushed, in Unix milliseconds."""

    value: Any
    time: int

    @property
    def pushed_at(self) -> datetime:
        """``time`` in UTC."""
        return moment(self.time)


class _Named:
    """A named part of the state."""

    __slots__ = ("_lent", "_name", "_store")

    def __init__(self, store: Store, name: str) -> None:
        self._lent = _encoding.lend_text(name, "name")
        self._store = store
        self._name = name

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def _pointer(self) -> int:
        return self._store._pointer

    def __repr__(self) -> str:
        return f"<satchel.{type(self).__name__} {self._name!r}>"


class StateList(_Named):
    """A bounded list of the state, newest first; iterating gives values.

    Threads and errors are those of :class:`State`.
    """

    __slots__ = ("_options",)

    def __init__(
        self,
        store: Store,
        name: str,
        limit: Any,
        max_age: Any,
        unique: Any,
        synced: Optional[bool],
        sensitive: Optional[bool] = None,
    ) -> None:
        super().__init__(store, name)
        self._options = _abi.StateListOptions(
            limit=_encoding.whole_or_default(limit, "limit", 1, 2**32 - 1),
            max_age_ms=milliseconds(max_age, "max_age", 2**63 - 1),
            unique=bool(unique),
        )
        bounds = {"limit": self._options.limit, "max_age": self._options.max_age_ms}
        _protect(store, "list", self._lent, sensitive)
        given = {name: bound for name, bound in bounds.items() if bound}
        mark(store, "list", self._lent, synced, {**given, "unique": bool(unique)})

    def push(self, value: Any, time: Optional[Union[datetime, int]] = None) -> None:
        """Inserts a value at the front, and drops the items beyond the bounds.

        :param value: as in :meth:`State.set`
        :param time: when it was made, a datetime with a time zone or Unix milliseconds: the item is inserted
            after those that are newer, at a cost in proportion to the length of the list. Of unique items the
            newest stays. None is now
        """
        lent, options = lend_json(value, "value"), ctypes.byref(self._options)
        if time is None:
            check(library.satchel_state_list_push(self._pointer, self._lent, lent, options))
            return
        moment = _encoding.moment(time, "time")
        check(library.satchel_state_list_insert(self._pointer, self._lent, lent, moment, options))

    def items(self) -> List[StateItem]:
        """The items within the bounds, newest first, with their times."""
        found = json_answer(
            library.satchel_state_list_items, self._pointer, self._lent, ctypes.byref(self._options)
        )
        return records_from(StateItem, found)

    def values(self) -> List[Any]:
        """The values within the bounds, newest first."""
        return [each.value for each in self.items()]

    def remove(self, value: Any) -> None:
        """Removes the items that equal a value.

        :param value: as in :meth:`State.set`
        """
        check(library.satchel_state_list_remove(self._pointer, self._lent, lend_json(value, "value")))

    def clear(self) -> None:
        """Removes all items."""
        check(library.satchel_state_list_clear(self._pointer, self._lent))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())

    def __len__(self) -> int:
        return len(self.items())

    def __bool__(self) -> bool:
        return True


class StateMembers(_Named):
    """A set of the state: any JSON values, in a stable order.

    Threads and errors are those of :class:`State`.
    """

    __slots__ = ()

    def __init__(
        self, store: Store, name: str, synced: Optional[bool], sensitive: Optional[bool] = None
    ) -> None:
        super().__init__(store, name)
        _protect(store, "set", self._lent, sensitive)
        mark(store, "set", self._lent, synced)

    def add(self, value: Any) -> bool:
        """Adds a value, and returns whether it was new. 1, 1.0 and True are distinct.

        :param value: as in :meth:`State.set`
        """
        lent = self._lent, lend_json(value, "value")
        return scalar_answer(ctypes.c_bool, library.satchel_state_member_add, self._pointer, *lent)

    def remove(self, value: Any) -> bool:
        """Removes a value, and returns whether the set had it.

        :param value: as in :meth:`State.set`
        """
        lent = self._lent, lend_json(value, "value")
        return scalar_answer(ctypes.c_bool, library.satchel_state_member_remove, self._pointer, *lent)

    def clear(self) -> None:
        """Removes all values, in one transaction, before it returns; needs no encryption key.

        :raises InvalidArgument: in a batch
        :raises Busy, Full, IOFailure: when the store cannot be written; nothing is removed
        """
        check(library.satchel_state_clear(self._pointer, _abi.STATE_KIND["set"], self._lent))

    def values(self) -> List[Any]:
        """All values."""
        found: List[Any] = json_answer(library.satchel_state_members, self._pointer, self._lent)
        return found

    def has(self, value: Any) -> bool:
        """Whether the set has a value, by one look-up, as ``value in members``. 1, 1.0 and True are distinct.

        :param value: as in :meth:`State.set`
        """
        lent = self._lent, lend_json(value, "value")
        return scalar_answer(ctypes.c_bool, library.satchel_state_member_has, self._pointer, *lent)

    def __contains__(self, value: object) -> bool:
        return self.has(value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())

    def __len__(self) -> int:
        return len(self.values())

    def __bool__(self) -> bool:
        return True


class Scores(_Named):
    """Scores of the state: numbers by key that stay within bounds, each beginning at 0 or the nearest bound.

    Threads and errors are those of :class:`State`.
    """

    __slots__ = ("_options",)

    def __init__(
        self,
        store: Store,
        name: str,
        minimum: Any,
        maximum: Any,
        synced: Optional[bool],
        sensitive: Optional[bool] = None,
    ) -> None:
        super().__init__(store, name)
        self._options = _abi.StateScoreOptions(
            minimum=_finite(minimum, "minimum"), maximum=_finite(maximum, "maximum")
        )
        bounds = {"minimum": self._options.minimum, "maximum": self._options.maximum}
        _protect(store, "scores", self._lent, sensitive)
        mark(store, "scores", self._lent, synced, bounds)

    def add(self, key: str, delta: float) -> float:
        """Adds to a score, as :meth:`value` returns it.

        :param key: 1 to 255 bytes of UTF-8
        :param delta: a finite number
        :returns: the new score, within the bounds
        :raises InvalidArgument: for a minimum above the maximum, and a delta that is not finite
        """
        return scalar_answer(
            ctypes.c_double,
            library.satchel_state_score_add,
            self._pointer,
            self._lent,
            _encoding.lend_text(key, "key"),
            _finite(delta, "delta"),
            ctypes.byref(self._options),
        )

    def value(self, key: str) -> float:
        """A score.

        :param key: of the score
        :returns: 0.0, or the nearest bound, when nothing was added to it
        """
        return scalar_answer(
            ctypes.c_double,
            library.satchel_state_score,
            self._pointer,
            self._lent,
            _encoding.lend_text(key, "key"),
            ctypes.byref(self._options),
        )

    def all(self) -> Dict[str, float]:
        """All scores that something was added to, within the bounds, by their keys."""
        found: Dict[str, float] = json_answer(
            library.satchel_state_scores, self._pointer, self._lent, ctypes.byref(self._options)
        )
        return {key: float(score) for key, score in found.items()}

    def clear(self) -> None:
        """Removes all scores, in one transaction, before it returns; needs no encryption key.

        :raises InvalidArgument: in a batch
        :raises Busy, Full, IOFailure: when the store cannot be written; nothing is removed
        """
        check(library.satchel_state_clear(self._pointer, _abi.STATE_KIND["scores"], self._lent))

    def remove(self, key: str) -> None:
        """Removes a score, which then is as if nothing had been added to it.

        :param key: of the score; need not exist
        """
        check(library.satchel_state_score_remove(self._pointer, self._lent, _encoding.lend_text(key, "key")))


def mark(
    store: Store, kind: str, name: _abi.Bytes, synced: Optional[bool], bounds: Optional[Dict[str, Any]] = None
) -> None:
    """Sets whether a part of the state is synchronized; None changes nothing.

    :param kind: "value", "list", "set" or "scores"
    :param bounds: of a list or of scores
    """
    if synced is None:
        return
    lent = lend_json(bounds, "bounds") if bounds else _encoding.NOTHING
    check(library.satchel_state_set_synced(store._pointer, _abi.STATE_KIND[kind], name, lent, bool(synced)))


def _protect(store: Store, kind: str, name: _abi.Bytes, sensitive: Optional[bool]) -> None:
    # None changes nothing.
    if sensitive is None:
        return
    check(library.satchel_state_set_sensitive(store._pointer, _abi.STATE_KIND[kind], name, bool(sensitive)))


def milliseconds(duration: Any, name: str, maximum: int) -> int:
    """A duration as its C value; None is 0, the default."""
    # 0 means the default in C; here it means the shortest duration.
    return 0 if duration is None else max(1, _encoding.milliseconds(duration, name, maximum))


def _finite(number: Any, name: str) -> float:
    # NaN and infinity are floats, too.
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise InvalidArgument(f"{name} must be a number, not {number!r}")
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise InvalidArgument(f"{name} must be finite, not {value}")
    return value
