"""Satchel in asyncio: the objects of the package, with methods to be awaited.

>>> async with satchel.aio.open("app.satchel") as store:
...     courses = await store.records("courses", indexes=["semester"])
...     await courses.put("algebra", {"title": "Algebra", "semester": "autumn"})
...     async for course in courses.iterate(order_by="title"):
...         print(course.id, course["title"])

Each class is the twin of the blocking one of the same name. Its methods have the same names, parameters,
results and errors, and are awaited; ``iterate``, ``watch`` and ``changes`` are asynchronous iterators,
``batch`` is used with ``async with`` and ``timeout`` with ``with``.

Calls run on a few threads of the store: reads concurrently, writes one at a time, in the order in which
they were awaited. Callbacks, also those of progress, run on the event loop; that of progress may not
block it. The functions of ``assets.fetch`` and ``assets.variant`` run on those threads. A store belongs to
the loop that opened it.

Cancelling a task stops the call that it awaits: a query is interrupted, long work such as ``sync`` and
``scan`` is cancelled, and a write that has not begun is never made. A write that has begun is completed:
the task raises CancelledError when it is stored, and the write's error when it fails. In either case the
task goes on when the call has ended.
"""

from __future__ import annotations

from typing import Callable, Optional

from satchel import store as _blocking
from satchel._encoding import FilePath
from satchel.aio._assets import Assets
from satchel.aio._catalogue import Catalogue, Region, Regions, Session
from satchel.aio._opening import Opening
from satchel.aio._photos import PhotoBackup, PhotoCatalogue
from satchel.aio._records import Records
from satchel.aio._state import Scores, State, StateList, StateMembers
from satchel.aio._store import Store
from satchel.aio._stories import StoryLibrary
from satchel.aio._streams import Changes, Observer, Watch

__all__ = [
    "Assets",
    "Catalogue",
    "Changes",
    "Observer",
    "Opening",
    "PhotoBackup",
    "PhotoCatalogue",
    "Records",
    "Region",
    "Regions",
    "Scores",
    "Session",
    "State",
    "StateList",
    "StateMembers",
    "Store",
    "StoryLibrary",
    "Watch",
    "open",
]


def open(
    path: FilePath,
    clock: Optional[Callable[[], int]] = None,
    read_only: bool = False,
    *,
    quarantine: bool = False,
    durability: str = "full",
    busy_timeout: float = 5.0,
    query_timeout: Optional[float] = None,
) -> Opening[Store]:
    """Opens a store: ``await satchel.aio.open(path)``, or ``async with satchel.aio.open(path) as store:``.

    ``path``, ``clock``, ``read_only``, ``quarantine``, ``durability``, ``busy_timeout`` and
    ``query_timeout``, and the errors, are those of :func:`satchel.open`. The clock is called on any thread.
    """
    return Opening(
        Store,
        lambda: _blocking.open(
            path,
            clock,
            read_only,
            quarantine=quarantine,
            durability=durability,
            busy_timeout=busy_timeout,
            query_timeout=query_timeout,
        ),
        busy_timeout,
    )
