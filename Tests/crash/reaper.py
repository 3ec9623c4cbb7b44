"""A line between devices and their object store that kills them: each process after so many requests.

Each device has a port of its own for as long as the line is there, because a store is bound to an endpoint.
Whose a connection is, the kernel tells: two processes of a device share its port.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

import faultproxy  # of Tests/Servers

#: At which point of its last request a process is killed.
POINTS = {
    "cut": "before the body was read",
    "before": "before the store had the request",
    "unheard": "before it had the answer",
    "answered": "soon after the answer",
}
#: Requests of a process until it is killed, on average.
MEAN = 20
#: Seconds after the last answer, at most.
SOON = 0.05
Ends = (ConnectionError, asyncio.IncompleteReadError, OSError)


@dataclass
class Victim:
    """A process that is to be killed."""

    process: subprocess.Popen[str]
    left: int
    point: str
    is_killed: bool = False


class Reaper:
    """Listens for as long as the block lasts."""

    def __init__(self, upstream: int, devices: int, dice: random.Random) -> None:
        """:param upstream: the port of the store"""
        self.kills: Counter[str] = Counter()
        self.requests = 0
        self._devices = devices
        self._dice = dice
        self._store = faultproxy.Proxy(upstream)
        self._victims: dict[int, Victim] = {}
        # The loop keeps no task alive whose client is gone.
        self._tasks: set[asyncio.Task[None] | None] = set()
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Reaper:
        self._thread.start()
        self._is_ready.wait()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._is_over.set)
        self._thread.join()

    def endpoint(self, device: int) -> str:
        return f"http://127.0.0.1:{self._ports[device]}"

    def watch(self, process: subprocess.Popen[str]) -> None:
        """Kills it after some of its requests."""
        left = 1 + int(self._dice.expovariate(1 / (MEAN - 0.5)))
        self._victims[process.pid] = Victim(process, left, self._dice.choice(list(POINTS)))

    def forget(self, process: subprocess.Popen[str]) -> bool:
        """Forgets a process that has ended, or is to live; says whether it was killed."""
        return self._victims.pop(process.pid).is_killed

    async def _serve(self) -> None:
        self._loop, self._is_over = asyncio.get_running_loop(), asyncio.Event()
        servers = [
            await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=1 << 20)
            for _ in range(self._devices)
        ]
        self._ports = [server.sockets[0].getsockname()[1] for server in servers]
        self._is_ready.set()
        await self._is_over.wait()
        for server in servers:
            server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        victim = self._owner(writer.get_extra_info("peername")[1])
        with contextlib.suppress(*Ends):
            while await self._exchange(reader, writer, victim):
                await writer.drain()
        self._tasks.discard(task)
        with contextlib.suppress(*Ends):
            writer.close()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, victim: Victim | None
    ) -> bool:
        """A request and its answer. False: the connection is over."""
        request = await faultproxy.read_head(reader)
        method = request.first.split()[0]
        self.requests += 1
        point = self._point(victim)
        if victim and point == "cut":
            return self._kill(victim)
        request.body = await faultproxy.read_body(reader, request, is_answer=False)
        if victim and point == "before":
            return self._kill(victim)
        _, answer = await self._store.pass_on(request.without(b"connection", b"expect"), method)
        if victim and point == "unheard":
            return self._kill(victim)
        writer.write(answer.bytes())
        if victim and point == "answered":
            await writer.drain()
            await asyncio.sleep(SOON * self._dice.random())
            return self._kill(victim)
        return True

    def _point(self, victim: Victim | None) -> str | None:
        """The point at which this request ends the process, if it does."""
        if victim is None or victim.is_killed:
            return None
        victim.left -= 1
        return victim.point if victim.left == 0 else None

    def _kill(self, victim: Victim) -> bool:
        # The owner may have stopped it meanwhile.
        if self._victims.get(victim.process.pid) is victim:
            victim.is_killed = True
            victim.process.kill()
            self.kills[victim.point] += 1
        return False

    def _owner(self, port: int) -> Victim | None:
        """Whose the client's end of a connection is."""
        for inode in _inodes(port):
            for pid, victim in list(self._victims.items()):
                if f"socket:[{inode}]" in _descriptors(pid):
                    return victim
        return None


def _inodes(port: int) -> Iterator[str]:
    """Of the sockets of the loopback that have this port as their own."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in list(table)[1:]:
            fields = line.split()
            if int(fields[1].partition(":")[2], 16) == port:
                yield fields[9]


def _descriptors(pid: int) -> set[str]:
    """The targets of a process's descriptors."""
    found = set()
    # It may have ended, and descriptors are closed meanwhile.
    with contextlib.suppress(OSError):
        for each in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.add(os.readlink(each.path))
    return found
