"""The state of a context (``contextvars``): its batches, and the interrupts of its reads.

A context is that of a task in asyncio, else that of a thread. The library distinguishes only threads, so
before each call :func:`satchel._batches.enter` sets the thread's batch and interrupt to those of its context.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

__all__ = ["Link", "carried", "event_loop"]


class Link:
    """The state of a block, and ``outer``, that of the enclosing block."""

    __slots__ = ("outer",)

    def __init__(self, outer: Optional[Link]) -> None:
        self.outer = outer


#: The innermost link. One variable for all kinds, because each call of the library reads it.
carried: ContextVar[Optional[Link]] = ContextVar("satchel_carried", default=None)
#: The event loop of the asynchronous store that makes a call: coroutines of its sources run there.
event_loop: ContextVar[Optional[AbstractEventLoop]] = ContextVar("satchel_loop", default=None)
