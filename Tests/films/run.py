"""Films: gigabytes of assets go through every call that handles bytes, in bounded memory.

Usage: run.py [--gib N]

Two devices share a directory as an encrypted remote. Films of 1 GiB are put from a stream, uploaded (the
process is killed on the way, and goes on), read on the other device by ranges as a player that seeks,
downloaded (killed, too), verified, backed up, restored and removed. No call may add more than 64 MiB to the
memory of its process.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import satchel
from satchel.remote import Directory

MIB = 1 << 20
FILM = 1024 * MIB
#: What a call may add to the memory of its process, in MiB.
LIMIT = 64
KEY = bytes(range(32))


def block(film: int, number: int) -> bytes:
    return hashlib.shake_128(f"{film}:{number}".encode()).digest(MIB)


def part(film: int, offset: int, count: int) -> bytes:
    first, last = offset // MIB, (offset + count - 1) // MIB
    content = b"".join(block(film, number) for number in range(first, last + 1))
    return content[offset - first * MIB :][:count]


class Film(io.RawIOBase):
    """A film as a stream, which makes its bytes."""

    def __init__(self, number: int, size: int) -> None:
        self.number, self.size, self.position = number, size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = min(len(buffer), self.size - self.position, MIB - self.position % MIB)
        if count:
            buffer[:count] = part(self.number, self.position, count)
        self.position += count
        return count


@contextlib.contextmanager
def measured(call: str) -> Iterator[None]:
    """Fails when the block adds too much to the peak of the process's memory."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, start = memory("VmRSS"), time.monotonic()
    yield
    added = max(0, memory("VmHWM") - before) / 1024
    print(f"{call:24} {time.monotonic() - start:7.1f} s {added:7.1f} MiB", flush=True)
    if added > LIMIT:
        sys.exit(f"{call}: added {added:.1f} MiB to the memory of the process, more than {LIMIT}")


def memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


class Device:
    """The calls of one process."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.remote = folder, Directory(folder / "remote")
        self.store = satchel.open(folder / f"{name}.satchel")
        self.notes = self.store.records("films", synced=True)
        # What is made at the first use does not count.
        self.store.assets.put(bytes(100_000))

    def references(self) -> list[satchel.assets.Asset]:
        records = sorted(self.notes.list(), key=lambda record: record.id)
        return [self.store.assets.get(record.document["film"]) for record in records]

    def sync(self) -> satchel.StoreSyncReport:
        return self.store.sync(self.remote, "ada", key=KEY)

    def put(self, count: int) -> None:
        with measured("put"):
            for number in range(count):
                film = self.store.assets.put(io.BufferedReader(Film(number, FILM), MIB), "video/mp4")
                self.notes.put(f"film {number:04}", {"film": film})

    def upload(self, _: int) -> None:
        with measured("sync"):
            report = self.sync()
        assert not report.assets.failed, report

    def seek(self, count: int) -> None:
        self.sync()
        films = self.references()
        assert [film.state for film in films] == ["remote"] * count
        dice = random.Random(1)
        with measured("read by ranges"):
            for _ in range(40 * count):
                number, offset, size = dice.randrange(count), dice.randrange(FILM - MIB), dice.randrange(MIB)
                found = self.store.assets.read(films[number], offset, size, remote=self.remote)
                assert found == part(number, offset, size)

    def fetch(self, count: int) -> None:
        with measured("fetch"):
            report = self.store.assets.fetch(self.references(), remote=self.remote)
        assert not report.failed, report
        assert report.fetched + report.present == count, report
        for number, film in enumerate(self.references()):
            with film.open() as file:
                file.seek(FILM - 1000)
                assert file.read() == part(number, FILM - 1000, 1000)

    def keep(self, count: int) -> None:
        with measured("verify"):
            assert self.store.assets.verify().checked == count + 1
        with measured("backup"):
            assert self.store.backup(self.folder / "backup.satchel").assets == count + 1
        with measured("check"):
            assert self.store.check() == []
        with measured("prune"):
            self.store.assets.prune(max_bytes=0)


def step(folder: Path, device: str, name: str, count: int, seconds: float | None = None) -> None:
    """Runs a step in a process of its own, which is killed after some time."""
    command = [sys.executable, __file__, "--step", json.dumps([str(folder), device, name, count])]
    process = subprocess.Popen(command)
    with contextlib.suppress(subprocess.TimeoutExpired):
        if process.wait(seconds):
            sys.exit(f"{name} failed")
        return
    process.kill()
    process.wait()
    print(f"{name}: killed after {seconds} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gib", type=int, default=5)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        folder, device, name, count = json.loads(options.step)
        getattr(Device(Path(folder), device), name)(count)
        return
    # Not below /tmp, which may be in memory.
    with tempfile.TemporaryDirectory(dir=os.environ.get("SATCHEL_FOLDER", "/var/tmp")) as name:
        folder, count = Path(name), options.gib
        (folder / "remote").mkdir()
        step(folder, "phone", "put", count)
        step(folder, "phone", "upload", count, seconds=2)
        step(folder, "phone", "upload", count)
        step(folder, "tablet", "seek", count)
        step(folder, "tablet", "fetch", count, seconds=2)
        step(folder, "tablet", "fetch", count)
        step(folder, "tablet", "keep", count)
        satchel.restore(folder / "backup.satchel", folder / "tablet.satchel")
        step(folder, "tablet", "fetch", count)
    print(f"{count} passed, 0 failed")


if __name__ == "__main__":
    main()
