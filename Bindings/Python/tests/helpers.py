"""Helpers of several tests."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, TypeVar

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
FIXTURES = ROOT / "Tests/Fixtures"

_Case = TypeVar("_Case")

HOUR = 3_600_000
SHANGHAI = {"locality": "Shanghai", "admin_area": "Shanghai", "country_code": "CN", "country_name": "China"}
SPRINGFIELD_ILLINOIS = {"locality": "Springfield", "admin_area": "Illinois", "country_code": "US"}
SPRINGFIELD_MISSOURI = {"locality": "Springfield", "admin_area": "Missouri", "country_code": "US"}
SINGAPORE = {"locality": "Singapore", "country_code": "SG"}


def portion(count: int) -> int:
    """A fifth of the examples in ``make test``, by the seed of its commit; all of them in ``make check``."""
    return count if os.environ.get("SATCHEL_CHANCE") == "all" else max(1, count // 5)


def portion_of(cases: Sequence[_Case], parts: int = 5) -> Sequence[_Case]:
    """Every fifth of the cases, beginning with one that the commit's seed selects, or all of them."""
    if os.environ.get("SATCHEL_CHANCE") == "all":
        return cases
    return cases[int(os.environ.get("SATCHEL_SEED", "0")) % parts :: parts]


class Clock:
    """A clock that tests set. It begins in 2024 and moves only when a test sets it."""

    def __init__(self, now: int = 1_704_067_200_000) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, milliseconds: float) -> None:
        self.now += int(milliseconds)


def storage(
    entity_id: str, scope: str = "locality", hours: Optional[float] = None, **extra: Any
) -> Dict[str, Any]:
    """An entity's `_storage`, to be spread into an object."""
    tag: Dict[str, Any] = {"entity_id": entity_id, "scope": scope, **extra}
    return {"_storage": tag if hours is None else {**tag, "ttl_hours": hours}}


def section(content: Any, name: str = "cuisine", **fields: Any) -> Dict[str, Any]:
    return {"section": name, "display_title": name.title(), "content": content, **fields}


def stripped(value: Any) -> Any:
    """A value without `_storage`, at any depth."""
    if isinstance(value, dict):
        return {key: stripped(child) for key, child in value.items() if key != "_storage"}
    return [stripped(child) for child in value] if isinstance(value, list) else value


def text(value: Any) -> str:
    """A value as text, by which the order of keys and 1 and 1.0 differ."""
    return json.dumps(value, ensure_ascii=False, default=repr)


def dump(path: Path) -> List[str]:
    """Everything in a store's file, without regard to its schema."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def eventually(holds: Callable[[], bool], seconds: float = 120) -> bool:
    """Waits until something holds that another thread or process brings about."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def interrupted(work: Callable[[Callable[[Any], None]], object]) -> None:
    """Does long work on the main thread, and interrupts it as Ctrl-C does once it has reported progress.

    :param work: gets a progress callback that takes its time
    """
    begun = threading.Event()

    def slow(progress: Any) -> None:
        begun.set()
        time.sleep(0.2)

    def interrupt() -> None:
        assert begun.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        work(slow)
    thread.join()
