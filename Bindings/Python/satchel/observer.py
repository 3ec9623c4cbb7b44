"""A subscription to a store's changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Set

from satchel import _callbacks
from satchel._handle import Handle
from satchel._library import library

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Type

__all__ = ["Observer"]


class Observer:
    """A subscription to a store's changes, made by :meth:`Store.observe`; ends with :meth:`close`."""

    __slots__ = ("__weakref__", "_family", "_handle", "_owner")

    def __init__(self, handle: Handle, owner: int, family: Set[Observer]) -> None:
        self._handle = handle
        self._owner = owner
        self._family = family
        family.add(self)

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._handle.closed

    def close(self) -> None:
        """Ends the subscription; a second time, and from the callback itself, is fine."""
        pointer = self._handle.give_away()
        self._family.discard(self)
        if pointer is None:
            return
        if _callbacks.is_running(self._owner):
            _callbacks.elsewhere(library.satchel_observer_free, pointer)
        else:
            library.satchel_observer_free(pointer)

    def __enter__(self) -> Observer:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()
