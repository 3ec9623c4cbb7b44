"""Shared by the journeys: clocks that are set, what a store holds, and processes that are killed."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import satchel

HOUR = 3_600_000
DAY = 24 * HOUR
YEAR = 365 * DAY
#: The first of January 2027.
NEW_YEAR = 1_798_761_600_000

PORTO = {"locality": "Porto", "admin_area": "Porto", "country_code": "PT"}


class Clock:
    """The clock of a device: it moves when a journey moves it."""

    def __init__(self, now: int = NEW_YEAR) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def wait(self, milliseconds: float) -> None:
        self.now += int(milliseconds)


def documents(records: satchel.Records[Any]) -> dict[str, Any]:
    """A collection as a dict."""
    return {record.id: record.document for record in records.list()}


def settled(user: str, remote: Any, *stores: satchel.Store, **options: Any) -> None:
    """Synchronizes the devices of a user until none has anything to send or to fetch."""
    for _ in range(6):
        unchanged = [store.sync(remote, user, **options).unchanged for store in stores]
        if all(unchanged):
            return
    raise AssertionError("the devices do not come to rest")


def files_with(text: str, folder: Path) -> list[str]:
    """The names of the files below a folder whose bytes contain a text.

    Another process reads them: POSIX drops the locks that this one holds on an open store when it closes any
    descriptor of its file.
    """
    search = ["grep", "--recursive", "--text", "--fixed-strings", "--files-with-matches", text, folder]
    found = subprocess.run(search, capture_output=True, text=True, check=False)
    assert found.returncode in (0, 1), found.stderr
    return sorted(Path(line).name for line in found.stdout.splitlines())


@contextmanager
def limited_files(folder, room):
    """No file may be written beyond this size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def films(folder, room):
    """Films fill the disk, except for this room."""
    disk = os.statvfs(folder)
    film = folder / "film.mp4"
    film.write_bytes(bytes(max(0, disk.f_bavail * disk.f_frsize - room)))
    try:
        yield
    finally:
        film.unlink()


class Process:
    """Another process that runs a piece of Python, such as the app on the same device."""

    def __init__(self, source: str, *arguments: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", source, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def line(self) -> str:
        """Waits for its next line; "" when it has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        assert self._process.wait() == -signal.SIGKILL
        self._close()

    def end(self) -> None:
        """Waits for its end, which must be a success."""
        assert self._process.wait() == 0
        self._close()

    def _close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
