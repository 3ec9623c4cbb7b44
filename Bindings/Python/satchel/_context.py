"""The state of a context (``contextvars``): its batches, and the interrupts of its reads.

A context is that of a task in asyncio, else that of a thread. The library distinguishes only threads, so
before each call :func:`satchel._batches.enter` sets the thread's batch and interrupt to those of its context.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Optional

__all__ = ["Link", "carried"]


class Link:
    """The state of a block, and ``outer``, that of the enclosing block."""

    __slots__ = ("outer",)

    def __init__(self, outer: Optional[Link]) -> None:
        self.outer = outer


#: The innermost link. One variable for all kinds, because each call of the library reads it.
carried: ContextVar[Optional[Link]] = ContextVar("satchel_carried", default=None)
