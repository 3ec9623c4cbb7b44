"""Helpers of the tests of batches."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from pathlib import Path
from typing import Any, Callable, Coroutine, Dict, Iterator

import satchel

Notes = satchel.Records[Dict[str, Any]]
OSLO = {"locality": "Oslo", "country_code": "NO"}


class Stop(Exception):
    """Ends a batch that is to be rolled back."""


@contextlib.contextmanager
def waiting_store(path: Path) -> Iterator[satchel.Store]:
    """A store whose calls wait for as long as a test may take; it has to be sound after every test."""
    with satchel.open(path, durability="relaxed", busy_timeout=600) as store:
        yield store
        if not store.closed:
            assert store.check() == []


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a coroutine for two minutes at most."""
    asyncio.run(asyncio.wait_for(main(), 120))


async def to_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """As asyncio.to_thread, which Python 3.8 has not."""
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, lambda: context.run(function, *arguments))
