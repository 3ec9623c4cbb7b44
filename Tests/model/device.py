"""A device of the model: what it keeps, what its user does, and its steps."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from remote import Answer, Request, UnknownOutcome
from sync_log import Document, Envelope, Fold, Head, Pack, Vector, add_versions, checksum

if TYPE_CHECKING:
    from world import World

Steps = Generator[Request, Any, Any]
IDS = ["a", "b", "c", "d"]
FIELDS = ["x", "y"]


class Busy(Exception):
    """Other devices were faster each time."""


class Stopped(Exception):
    """The sync ends without a change to the remote; its message is the outcome."""


@dataclass
class Record:
    """The local content of an id, and its sync metadata."""

    document: Document | None = None
    modified: int = 0
    #: Ghost: the edits that the content was made from.
    seen: frozenset[str] = frozenset()
    #: The sequence of the latest local change that is to be sent.
    pending: int | None = None
    #: The last synced envelope.
    base: Envelope | None = None
    #: An envelope being sent, and the change that it has.
    in_flight: tuple[int, Envelope] | None = None
    ancestors: Vector = ()


@dataclass
class Upload:
    """A head whose write was begun and whose outcome is not known."""

    base: str | None
    head: Head
    deletes: list[str]
    #: Whether it fences off garbage, and packs that a mutant uploads too late.
    is_sweep: bool = False
    postponed: list[tuple[Pack, tuple]] = field(default_factory=list)


@dataclass
class Log:
    """The state of a sync log on a device."""

    records: dict[str, Record] = field(default_factory=dict)
    #: The entries of the remote at the position.
    shadow: Fold = field(default_factory=dict)
    #: None before the first head.
    name: str | None = None
    position: int = 0
    etag: str | None = None
    head: Head | None = None
    upload: Upload | None = None
    #: A segment that no head names yet: its checksum, reference and fence.
    segment: tuple[str, Pack, int] | None = None
    #: The envelopes that open conflicts are about.
    open: dict[str, str] = field(default_factory=dict)
    #: Whether new entries did not fit to the known ones: the log lacks some of them.
    has_diverged: bool = False

    @property
    def epoch(self) -> int:
        return int(self.name.split(".")[0]) if self.name else 0

    def record(self, id: str) -> Record:
        return self.records.setdefault(id, Record())


class Device:
    """All of it is durable but the running sync. A transaction is a stretch of code between two requests."""

    def __init__(self, world: World, number: int, policy: str, skew: int) -> None:
        self.world = world
        self.name = f"d{number}"
        self.policy = policy
        self.skew = skew
        self.log = Log()
        self.sequence = 0
        self.names = 0
        self.sync: Steps | None = None
        self.answer: Answer | None = None
        self.requests = 0
        self.outcome: Any = None
        #: The remote's time in its latest answer of this sync; None when it sends none.
        self.date: int | None = None
        #: Consents of the host: to lose what is unreadable, to write over an empty or closed remote.
        self.accepts_loss = False
        self.recreates = False
        self.is_first_upload = False
        #: Ghosts: lost edits in the conflict log, and whether the last listing of this sync was empty.
        self.conflicts: set[str] = set()
        self.has_listed_objects = False
        self.asleep_until = 0

    # Names and numbers

    def new_name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}-{self.name}-{self.names}"

    def next_sequence(self) -> int:
        self.sequence += 1
        return self.sequence

    def union(self, vector: Vector, *more: Vector | Envelope) -> Vector:
        for each in more:
            versions = (*each.ancestors, each.version) if isinstance(each, Envelope) else each
            vector = add_versions(vector, versions, self.world.max_writers)
        return vector

    def ancestors(self, record: Record) -> Vector:
        return self.union((), record.ancestors, *([record.base] if record.base else []))

    # Clocks

    @property
    def clock(self) -> int:
        return self.world.tick + self.skew

    @property
    def earlier(self) -> int:
        """The earlier of the own clock and the remote's: it is wrong only if both are ahead."""
        if self.world.mutant == "one clock" or self.date is None:
            return self.clock
        return min(self.clock, self.date)

    @property
    def later(self) -> int:
        if self.world.mutant == "one clock" or self.date is None:
            return self.clock
        return max(self.clock, self.date)

    # The user

    def edit(self) -> None:
        world = self.world
        id = world.chance.choice(IDS)
        record = self.log.record(id)
        edit = f"{self.name}.{len(world.edits)}"
        document: Document | None = None
        if record.document is None or world.chance.random() > world.deletions:
            fields = dict(record.document or ())
            fields[world.chance.choice(FIELDS)] = edit
            document = tuple(sorted(fields.items()))
        world.edits[edit] = f"{id} of {self.name}"
        self.change(record, document, record.seen | {edit})
        world.note(self.name, "edit", edit, id, document)

    def change(self, record: Record, document: Document | None, seen: frozenset[str]) -> None:
        record.document, record.seen = document, seen
        record.modified = self.world.tick * 10 + max(-5, min(5, self.skew))
        record.pending = self.next_sequence()

    def resolve(self) -> None:
        """The host decides about an open conflict."""
        log, chance = self.log, self.world.chance
        if not log.open:
            return
        id = chance.choice(sorted(log.open))
        checksum = log.open.pop(id)
        entry = log.shadow.get(id)
        if entry is None or entry.envelope.checksum != checksum:
            return  # Replaced since: it is decided again.
        record, remote = log.record(id), entry.envelope
        document = chance.choice([record.document, remote.document])
        if document == remote.document:
            self.conflicts |= record.seen - remote.seen
        record.ancestors = self.union(self.ancestors(record), remote)
        record.base = remote
        self.change(record, document, record.seen | remote.seen)
        self.world.note(self.name, "resolve", id, document)

    def sign_out(self) -> None:
        """Discards what is the user's; the writer's numbers stay in use."""
        self.world.note(self.name, "signs out")
        for record in self.log.records.values():
            self.world.fine |= record.seen
        # From here on it is a stranger to what it sent.
        self.world.unsure |= {edit for edit in self.world.edits if edit.startswith(self.name + ".")}
        self.log = Log()

    # Steps

    def start(self, sync: Steps) -> None:
        self.requests, self.outcome, self.answer, self.sync = 0, None, None, sync
        self.date, self.has_listed_objects = None, False

    def crash(self) -> None:
        self.world.note(self.name, "CRASH")
        self.sync, self.outcome = None, "crash"

    def step(self) -> None:
        """Runs to the next request, and sends it."""
        if self.sync is None:
            return
        try:
            if self.answer is None:
                request = next(self.sync)
            elif self.answer.error:
                request = self.sync.throw(self.answer.error)
            else:
                request = self.sync.send(self.answer.value)
        except StopIteration as end:
            self.sync, self.outcome = None, end.value
            return
        except (Busy, UnknownOutcome, Stopped) as error:
            self.sync, self.outcome = None, str(error) or "busy"
            self.world.note(self.name, "ends:", self.outcome)
            return
        self.requests += request.kind != "local"
        self.answer = self.world.send(request, self)
        if self.answer.has_crashed:
            self.crash()

    def finish(self, sync: Steps) -> tuple[Any, int]:
        self.start(sync)
        while self.sync:
            self.step()
        return self.outcome, self.requests


def sealed(device: Device, id: str, record: Record) -> tuple[int, Envelope]:
    """The envelope of a pending change, and its sequence."""
    base, ancestors = record.base, device.ancestors(record)
    modified = max(record.modified, base.modified if base else 0)
    n = record.pending or 0
    code = checksum(id, record.document, modified, device.name, n, ancestors)
    return n, Envelope(id, record.document, modified, device.name, n, ancestors, code, record.seen)
