"""The backups of W9: python -m harness.backup_run quick|full ROUNDS RECORDS [satchel]

Beside an object store (Tests/Servers/run.py). Each step is a process of its own, whose time and peak
memory are measured; the proxy counts what goes to the object store. What was restored is compared.
"""

import contextlib
import filecmp
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter, sleep
from typing import Any
from urllib.parse import urlsplit

from .backup import (
    BUCKET,
    DELAY_SECONDS,
    DIRECTORY,
    DOWN,
    LARGE,
    LIBRARIES,
    PEERS,
    QUICK_LIBRARIES,
    UP,
    Library,
    job,
    large_job,
)
from .counting_proxy import CountingProxy
from .places import STORES
from .runner import WrongAnswerError, environment
from .sync import server
from .traffic import access, rclone

WORK = STORES / "w9"
PARALLEL = ["--transfers", "8", "--checkers", "8"]
PASSWORD = "measured"
POLL_SECONDS = 0.02


def resident(process: int) -> int:
    """The peak of a process until now, in KiB. Not that of its rusage, which begins with its parent's."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


class Bench:
    def __init__(self, proxy: CountingProxy, out: Any) -> None:
        self.proxy, self.out, self.number = proxy, out, 0

    def remote(self, name: str) -> dict[str, str]:
        self.number += 1
        return {**server(), "endpoint": self.proxy.endpoint, "prefix": f"w9-{name}-{self.number}"}

    def run(self, command: list[str], remote: dict[str, str], name: str) -> dict[str, Any]:
        """Runs a step; its time is that of the process, or what it says of its work."""
        variables = {
            **environment(),
            **access(remote, remote["endpoint"]),
            "AWS_ACCESS_KEY_ID": remote["access_key"],
            "AWS_SECRET_ACCESS_KEY": remote["secret_key"],
            "AWS_DEFAULT_REGION": remote["region"],
            "RESTIC_PASSWORD": PASSWORD,
        }
        os.sync()
        self.proxy.take()
        start = perf_counter()
        errors = WORK / "errors"
        with errors.open("wb") as error:
            running = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=error)
            peak = 0
            while running.poll() is None:
                peak = max(peak, resident(running.pid))
                sleep(POLL_SECONDS)
            output = running.stdout.read()
        seconds = perf_counter() - start
        traffic = self.proxy.take()
        if running.returncode != 0:
            lines = errors.read_text(errors="replace").strip().splitlines()
            raise WrongAnswerError(f"{name}: {lines[-1] if lines else running.returncode}")
        record = {"seconds": round(seconds, 3), "peak_mb": peak / 1024}
        record |= {"requests": traffic.requests, "up": traffic.up, "down": traffic.down}
        with contextlib.suppress(ValueError, IndexError):
            record |= json.loads(output.splitlines()[-1])
        record.setdefault("run_s", record["seconds"])
        return record

    def measure(self, called: str, command: list[str], remote: dict[str, str]) -> None:
        record = self.run(command, remote, called)
        self.out.write(json.dumps({"name": called, **record}) + "\n")
        self.out.flush()
        print(
            f"  {called:46} {record['run_s']:8.2f} s of {record['seconds']:8.2f}"
            f" {record['requests']:6} requests {record['peak_mb']:6.1f} MB",
            flush=True,
        )


def steps(name: str, place: str, folder: Path, remote: dict[str, str]) -> dict[str, list[str]]:
    """The commands of a backup and of restoring it below WORK/down; "made" only prepares them."""
    target, down = WORK / "up", WORK / "down"
    satchel = [sys.executable, "-m", "peers.photo_backup"]
    below = f"{remote['bucket']}/{remote['prefix']}"
    if name == "satchel":
        told = str(target) if place == DIRECTORY else json.dumps(remote)
        return {
            UP: [*satchel, "up", str(WORK / "first.satchel"), str(folder), told],
            DOWN: [*satchel, "down", str(WORK / "second.satchel"), str(down), told],
        }
    if name in ("hand", "hand-parallel"):
        parallel = "1" if name == "hand" else "8"
        return {
            UP: [*satchel, "hand", str(folder), str(target), parallel],
            DOWN: [*satchel, "hand", str(target), str(down), parallel],
        }
    if name == "rclone":
        there = str(target) if place == DIRECTORY else f":s3:{below}"
        return {
            UP: rclone("copy", *PARALLEL, str(folder), there),
            DOWN: rclone("copy", *PARALLEL, there, str(down)),
        }
    there = str(target) if place == DIRECTORY else f"s3:{remote['endpoint']}/{below}"
    restic = ["restic", "--quiet", "--no-cache", "--repo", there]
    connections = [] if place == DIRECTORY else ["-o", "s3.connections=8"]
    return {
        "made": [*restic, *connections, "init"],
        UP: [*restic, *connections, "backup", str(folder)],
        DOWN: [*restic, *connections, "restore", "latest", "--target", str(down)],
    }


def check(folder: Path, down: Path) -> None:
    """Compares every file that was restored with the library's."""
    expected = [path for path in folder.rglob("*") if path.is_file()]
    found = sum(path.is_file() for path in down.rglob("*"))
    if found != len(expected):
        raise WrongAnswerError(f"{found} files were restored of {len(expected)}")
    for path in expected:
        if not filecmp.cmp(path, down / path.relative_to(folder), shallow=False):
            raise WrongAnswerError(f"{path} differs")


def fresh() -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    for name in ("up", "down"):
        (WORK / name).mkdir(parents=True)
    os.sync()


def round_of(bench: Bench, name: str, place: str, library: Library) -> None:
    fresh()
    remote = bench.remote(name)
    for step, command in steps(name, place, library.folder, remote).items():
        if step == "made":
            bench.run(command, remote, name)
            continue
        bench.measure(job(name, step, place, library), command, remote)
    # restic restores below the path that the files had.
    down = WORK / "down" / library.folder.relative_to("/") if name == "restic" else WORK / "down"
    check(library.folder, down)


def large_file(bench: Bench, place: str) -> None:
    """A photo of 2 GiB, up and down."""
    fresh()
    folder = WORK / "large"
    folder.mkdir()
    with (folder / "large.tif").open("wb") as file:
        file.write(b"II*\0")
        for _ in range(LARGE >> 24):
            file.write(os.urandom(1 << 24))
    remote = bench.remote("large")
    for step, command in steps("satchel", place, folder, remote).items():
        bench.measure(large_job(step, place), command, remote)
    check(folder, WORK / "down")


def main() -> None:
    size, rounds, records, *satchel = sys.argv[1:]
    libraries = QUICK_LIBRARIES if size == "quick" else LIBRARIES
    port = urlsplit(server()["endpoint"]).port
    with CountingProxy(port, DELAY_SECONDS) as proxy, Path(records).open("w") as out:
        bench = Bench(proxy, out)

        def attempt(called: str, work: Any, *arguments: Any) -> None:
            try:
                work(bench, *arguments)
            except (WrongAnswerError, OSError) as error:
                print(f"  W9 {called}: FAILED: {error}", flush=True)
                out.write(json.dumps({"name": called, "failed": str(error)}) + "\n")

        for library in libraries:
            # The largest take long.
            for _ in range(int(rounds) if library.photos < 20_000 else 1):
                for place in library.places:
                    for name in [*satchel, *PEERS[place]]:
                        attempt(job(name, UP, place, library), round_of, name, place, library)
        for place in (DIRECTORY, BUCKET) if satchel else ():
            attempt(large_job(UP, place), large_file, place)
    shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    main()
