"""Observing a store: changes, as observers receive them, and the subscription to them."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Set

from satchel._handles import Dependent, Handle
from satchel._library import library
from satchel.values import dataclass

__all__ = ["Change", "Observer", "RecordKey", "StateKey"]


class RecordKey(NamedTuple):
    """A changed record of a ``collection``; ``id`` is None when very many of its records changed."""

    collection: str
    id: Optional[str]


class StateKey(NamedTuple):
    """Changed state: its ``name``, and its ``kind``, "value", "list", "set" or "scores"."""

    kind: str
    name: str


@dataclass(frozen=True)
class Change:
    """A committed change of one subject, as an observer receives it.

    ``subject`` is "catalogue", "photos", "stories", "records" or "state". ``keys`` has what changed as text;
    the properties have it by subject, and are empty for changes of other subjects. ``section_count`` is the
    number of the first keys that are names of sections. ``place`` is the key of a place, or the directory of
    the photos; ``own`` is whether this store wrote it. ``revision`` is the number of
    the commit, 0 for some events.
    """

    subject: str
    keys: List[str]
    section_count: int
    place: Optional[str]
    own: bool
    revision: int

    @property
    def concerns_all(self) -> bool:
        """Whether too much of the subject changed to list it: read everything again."""
        return self.keys == ["*"] and self.section_count == 0

    @property
    def event(self) -> Optional[str]:
        """An event of records or state, such as "@spooled"; None for a change of content."""
        # An event is reported alone, and no key of a record or of state begins with "@".
        if self.subject not in ("records", "state"):
            return None
        return next((key for key in self.keys if key.startswith("@")), None)

    def _keys_of(self, subject: str) -> List[str]:
        return [] if self.subject != subject or self.concerns_all or self.event else self.keys

    @property
    def sections(self) -> List[str]:
        """The names of the changed sections."""
        return self._keys_of("catalogue")[: self.section_count]

    @property
    def entities(self) -> List[str]:
        """The ids of the changed entities."""
        return self._keys_of("catalogue")[self.section_count :]

    @property
    def photos(self) -> List[str]:
        """The MD5s of the changed photos; empty when ``shards`` has the changes."""
        return [key for key in self._keys_of("photos") if not key.startswith("shard:")]

    @property
    def shards(self) -> List[int]:
        """The numbers of the changed shards, after changes of very many photos."""
        return [int(key[6:], 16) for key in self._keys_of("photos") if key.startswith("shard:")]

    @property
    def stories(self) -> List[str]:
        """The ids of the changed stories."""
        return self._keys_of("stories")

    @property
    def records(self) -> List[RecordKey]:
        """The changed records."""
        parts = [key.partition("/") for key in self._keys_of("records")]
        return [RecordKey(collection, id if slash else None) for collection, slash, id in parts]

    @property
    def state(self) -> List[StateKey]:
        """The changed values, lists, sets and scores."""
        parts = [key.partition("/") for key in self._keys_of("state")]
        return [StateKey(kind, name) for kind, _, name in parts]


class Observer(Dependent):
    """A subscription to a store's changes, made by :meth:`Store.observe`; ended by :meth:`close`."""

    __slots__ = ("_family",)

    def __init__(self, handle: Handle, owner: int, family: Set[Dependent]) -> None:
        super().__init__(handle, owner, library.satchel_observer_free)
        self._family = family
        family.add(self)

    def close(self) -> None:
        """Ends the subscription; idempotent, and allowed inside the callback."""
        self._family.discard(self)
        super().close()
