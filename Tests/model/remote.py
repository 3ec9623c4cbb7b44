"""The object store of the model, and the faults of its requests."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any, NamedTuple

HEAD = "head"


class NotFound(Exception):
    pass


class PreconditionFailed(Exception):
    pass


class UnknownOutcome(Exception):
    pass


class Request(NamedTuple):
    kind: str  # "get", "put", "delete", "list", or "local" for a pause without a request
    key: str = ""
    #: Of a get, the ETag that is known; of a put, its condition: an ETag, "*" for no object, or None.
    condition: str | None = None
    body: Any = None


class Answer(NamedTuple):
    value: Any = None
    error: Exception | None = None
    has_crashed: bool = False


class Remote:
    """Objects with ETags. Every version of the head is remembered, for stale answers and for the checks."""

    def __init__(self, chance: random.Random, on_head: Callable[[Any, Any, str], None]) -> None:
        self.chance = chance
        self.on_head = on_head
        self.objects: dict[str, tuple[Any, str]] = {}
        self.heads: list[tuple[Any, str]] = []
        self.past: list[dict[str, tuple[Any, str]]] = []
        self.late: list[tuple[int, Request, str]] = []
        #: The share of requests with a fault.
        self.rate = 0.0
        self.etags = 0
        self.faults = 0

    @property
    def head(self) -> Any:
        return self.objects[HEAD][0] if HEAD in self.objects else None

    def send(self, request: Request, sender: str, tick: int) -> Answer:
        """Executes a request, unless a fault says otherwise."""
        if request.kind == "local":
            return Answer()
        faults = ["crash before", "crash after", "lost before", "lost after", "late", "odd"]
        fault = self.chance.choice(faults) if self.chance.random() < self.rate else ""
        self.faults += fault != ""
        if fault == "crash before":
            return Answer(has_crashed=True)
        if fault == "lost before":
            return Answer(error=UnknownOutcome())
        if fault == "late" and request.kind in ("put", "delete"):
            self.late.append((tick + self.chance.randrange(1, 40), request, sender))
            return Answer(error=UnknownOutcome())
        try:
            answer = Answer(self.execute(request, sender, is_odd=fault == "odd"))
        except (NotFound, PreconditionFailed) as error:
            answer = Answer(error=error)
        if fault == "crash after":
            return Answer(has_crashed=True)
        return Answer(error=UnknownOutcome()) if fault == "lost after" else answer

    def execute(self, request: Request, sender: str, *, is_odd: bool = False) -> Any:
        match request.kind:
            case "get":
                return self._get(request.key, request.condition, is_odd=is_odd)
            case "put":
                return self._put(request, sender)
            case "delete":
                self.objects.pop(request.key, None)
            case "list":
                names = sorted(key for key in self.objects if key != HEAD)
                if is_odd and names:
                    names.remove(self.chance.choice(names))
                return names
        return None

    def _get(self, key: str, known: str | None, *, is_odd: bool) -> Any:
        found = self.objects.get(key)
        if is_odd and key == HEAD and len(self.heads) > 1 and found:
            found = self.chance.choice(self.heads[-4:])
        elif is_odd:
            found = None
        if not found:
            raise NotFound
        if found[1] == known:
            return None
        body = found[0]
        if key != HEAD and body and self.chance.random() < self.rate * 0.3:
            body = body[:-1]
        return body, found[1]

    def _put(self, request: Request, sender: str) -> str:
        found = self.objects.get(request.key)
        if request.condition == "*" and found:
            raise PreconditionFailed
        if request.condition not in (None, "*") and (not found or found[1] != request.condition):
            raise PreconditionFailed
        self.etags += 1
        etag = f"e{self.etags}"
        if request.key == HEAD:
            self.on_head(request.body, found[0] if found else None, sender)
            self.heads.append((request.body, etag))
        self.objects[request.key] = (request.body, etag)
        return etag

    def take_late(self, tick: int, *, at_end: bool = False) -> None:
        """Executes writes whose senders have given up; at the end, some never happen."""
        for item in list(self.late):
            time, request, sender = item
            if not at_end and time > tick:
                continue
            self.late.remove(item)
            if at_end and self.chance.random() < 0.5:
                continue
            with contextlib.suppress(NotFound, PreconditionFailed):
                self.execute(request, sender)

    def lose(self) -> str:
        """Loses the head, a pack, or all, or returns to an earlier state; "" when it has nothing to lose."""
        head = self.head
        if head is None:
            return ""
        what = self.chance.choice(["head", "pack", "past", "all"])
        packs = [pack.name for pack in head.packs if pack.name in self.objects]
        if what == "head":
            del self.objects[HEAD]
        elif what == "pack" and packs:
            del self.objects[self.chance.choice(packs)]
        elif what == "past" and self.past:
            self.objects = dict(self.chance.choice(self.past))
        elif what == "all":
            self.objects = {}
        else:
            return ""
        return what
