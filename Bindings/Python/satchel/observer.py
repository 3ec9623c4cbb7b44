"""A subscription to a store's changes."""

from __future__ import annotations

from typing import Set

from satchel._handle import Dependent, Handle
from satchel._library import library

__all__ = ["Observer"]


class Observer(Dependent):
    """A subscription to a store's changes, made by :meth:`Store.observe`; ended by :meth:`close`."""

    __slots__ = ("_family",)

    def __init__(self, handle: Handle, owner: int, family: Set[Observer]) -> None:
        super().__init__(handle, owner, library.satchel_observer_free)
        # The store keeps its observers alive, also those without another reference.
        self._family = family
        family.add(self)

    def close(self) -> None:
        """Ends the subscription; idempotent, and allowed inside the callback."""
        self._family.discard(self)
        super().close()
