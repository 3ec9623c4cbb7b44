"""A line between devices and their object store that breaks again and again (faultproxy.py)."""

from __future__ import annotations

import json
import random
import threading
import urllib.parse
import urllib.request
from types import TracebackType
from typing import Any

#: Faults of the network that have to be survived.
FAULTS: list[dict[str, Any]] = [
    *[{"fault": "pass"}] * 60,
    {"fault": "lost_reply"},
    {"fault": "lost_reply", "reset": True},
    {"fault": "reset_before"},
    {"fault": "double"},
    {"fault": "status", "code": 503},
    *[{"fault": "delay", "seconds": 0.1}] * 3,
    {"fault": "truncate", "bytes": 40},
]
#: The maximum number of requests between two visits: their faults have to fit into a URL.
NEXT = 300


class Line:
    """Breaks for as long as the block lasts."""

    def __init__(self, admin: str, dice: random.Random) -> None:
        self._admin = admin
        self._dice = dice
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._break_for_ever, daemon=True)

    def __enter__(self) -> Line:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._is_over.set()
        self._thread.join()
        self._tell([])

    def _break_for_ever(self) -> None:
        while not self._is_over.wait(0.2):
            self._tell(self._dice.choices(FAULTS, k=NEXT))

    def _tell(self, faults: list[dict[str, Any]]) -> None:
        text = urllib.parse.quote(json.dumps(faults, separators=(",", ":")))
        with urllib.request.urlopen(f"{self._admin}/?{text}", timeout=60) as answer:
            answer.read()
