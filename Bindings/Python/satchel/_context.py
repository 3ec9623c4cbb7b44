"""What a context (``contextvars``) carries: batches, and interrupts of its reads.

A context is that of a task in asyncio, else that of a thread. The library only knows threads, so before each
call :func:`satchel._batches.enter` gives the thread what its context carries.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Optional

__all__ = ["Link", "carried"]


class Link:
    """What a block carries, and ``outer``, what the block around it carries."""

    __slots__ = ("outer",)

    def __init__(self, outer: Optional[Link]) -> None:
        self.outer = outer


#: The innermost link. One variable for all kinds, because each call of the library reads it.
carried: ContextVar[Optional[Link]] = ContextVar("satchel_carried", default=None)
