"""The ``with`` blocks of a store: batches, and time limits of reads."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional

from satchel import _batches, _encoding, _interrupts
from satchel.sync._accounts import StoreAccounts

__all__ = ["StoreBlocks", "query_timeout_of"]


class StoreBlocks(StoreAccounts):
    """The part of :class:`satchel.Store` that makes blocks."""

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

    @contextlib.contextmanager
    def timeout(self, seconds: Optional[float]) -> Iterator[None]:
        """Limits how long each read of a block may take, instead of ``query_timeout``.

        >>> with store.timeout(0.5):
        ...     found = courses.list({"title": {"contains": "algebra"}})

        Bound to the task in asyncio, otherwise to the thread. It counts for each list, count or search of any
        subject, for :meth:`statistics` and :meth:`check`, also those of other stores; they raise
        :class:`satchel.TimedOut`. A nested block replaces the limit.

        :param seconds: for each read; None for no limit
        """
        limit = _interrupts.NEVER if seconds is None else query_timeout_of(seconds, "seconds")
        with _interrupts.carrying(timeout=limit):
            yield


def query_timeout_of(seconds: Any, name: str) -> int:
    """A time limit in seconds as milliseconds."""
    # 0 means any time in C; here it means the shortest time.
    return max(1, _encoding.timeout(seconds, name, 0, 2**31 - 1))
