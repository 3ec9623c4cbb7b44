"""The open stores: closed when the process exits, and abandoned in a forked child."""

from __future__ import annotations

import atexit
import contextlib
import os
import weakref
from typing import TYPE_CHECKING, Dict, List

if TYPE_CHECKING:
    from satchel.store import Store

# By owner; list() of its values is atomic, which a WeakSet's iteration is not.
_open: Dict[int, weakref.ref[Store]] = {}


def add(owner: int, store: Store) -> None:
    """Adds an opened store."""
    _open[owner] = weakref.ref(store)


def remove(owner: int) -> None:
    """Removes a closed store; removing it again does nothing."""
    _open.pop(owner, None)


def _stores() -> List[Store]:
    stores = (reference() for reference in list(_open.values()))
    return [store for store in stores if store is not None]


@atexit.register
def _close_all() -> None:
    for store in _stores():
        with contextlib.suppress(Exception):
            store.close()


def _after_fork() -> None:
    for store in _stores():
        store._forget()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
