"""The trace of a workload: the tracer that writes it (power_trace.c), and its events."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCES = sorted(Path(__file__).parent.glob("power_trace*.c"))
HEADER = struct.Struct("=c3xIQqQ")


@dataclass(frozen=True)
class Event:
    """One effect on the traced directory, or a mark; the types are listed in power_trace.c."""

    type: str
    thread: int
    inode: int
    offset: int
    data: bytes

    @property
    def path(self) -> Path:
        return Path(self.data.decode())

    @property
    def paths(self) -> tuple[Path, Path]:
        """Source and target of a rename or a link."""
        source, target = self.data.decode().split("\0")
        return Path(source), Path(target)


@dataclass(frozen=True)
class Mark:
    """A process has begun operation ``number``, or has got its acknowledgement."""

    is_begin: bool
    actor: int
    number: int
    name: str

    @classmethod
    def of(cls, event: Event) -> Mark:
        kind, actor, number, name = event.data.decode().split()
        return cls(kind == "begin", int(actor), int(number), name)

    def write(self) -> None:
        """Appends the mark to the trace of this process."""
        kind = "begin" if self.is_begin else "end"
        ctypes.CDLL(None).power_mark(f"{kind} {self.actor} {self.number} {self.name}".encode())


def compile_tracer(folder: Path) -> Path:
    """Compiles the tracer.

    :returns: the library to be preloaded
    """
    library = folder / "power_trace.so"
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, "-o", library, *SOURCES, "-ldl", "-lpthread"], check=True)
    return library


def limit_wal(size: int) -> None:
    """Lets no write-ahead log of this process grow beyond ``size`` bytes: writes fail with ENOSPC."""
    ctypes.CDLL(None).power_limit_wal(ctypes.c_int64(size))


def unlimit_wal() -> None:
    limit_wal(-1)


def read(trace: Path) -> list[Event]:
    """All events of a trace.

    :raises ValueError: when the trace is not complete
    """
    content = trace.read_bytes()
    events = []
    position = 0
    while position < len(content):
        kind, thread, inode, offset, length = HEADER.unpack_from(content, position)
        position += HEADER.size
        event = Event(kind.decode(), thread, inode, offset, content[position : position + length])
        if event.type == "?":
            raise ValueError(f"{trace}: a call that the tracer does not know: {event.data!r}")
        events.append(event)
        position += length
    return events
