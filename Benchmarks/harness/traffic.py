"""The synchronizations, one after the other: python -m harness.traffic PHOTOS ROUNDS RECORDS PEER …

Beside an object store (Tests/Servers/run.py). Each step runs in a process of its own; what went over the wire
during it is counted, and what came of it is held against the photos.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from .counting_proxy import CountingProxy
from .photo_data import CHANGED_SHARD, DIGITS, Expected, Gallery, generate_photos, shard_file
from .photos import checksum
from .places import BINARIES
from .runner import TIMEOUT_SECONDS, WrongAnswerError, environment, store
from .sync import APPENDED, STEPS, label, server

USER = "ana"
FIRST_UPLOAD, FIRST_DOWNLOAD, NOTHING, CHANGED_UP, CHANGED_DOWN = STEPS


@dataclass(frozen=True)
class Step:
    command: list[str]
    files: Path | None = None
    """Where the files of the catalogue are afterwards."""
    is_changed: bool = False
    """Whether they have the changed photo."""
    only_changed: bool = False
    """Whether they are only that photo's shard."""


@dataclass(frozen=True)
class Round:
    """One of several: everyone starts with nothing in the store, and none of it on this side."""

    number: int
    gallery: Gallery
    expected: Expected
    endpoint: str
    directory: Path

    @property
    def remote(self) -> dict[str, Any]:
        return {**server(), "endpoint": self.endpoint}

    def satchel(self) -> dict[str, Step]:
        remote = {**self.remote, "prefix": f"satchel-{self.number}"}
        program = [str(BINARIES / "satchel_sync"), f"remote={json.dumps(remote)}", f"user={USER}"]
        first, second = (f"store={self.directory}/{name}.satchel" for name in ("first", "second"))
        down, again = self.directory / "down", self.directory / "again"
        # The store has the same files: rclone reads them once more, past the proxy.
        up = f"{remote['bucket']}/{remote['prefix']}/catalogs/{USER}/shards"
        return {
            FIRST_UPLOAD: Step([*program, first, f"source={self.gallery.shards}"]),
            NOTHING: Step([*program, first]),
            FIRST_DOWNLOAD: Step([*program, second, f"target={down}"], down),
            "stored": Step(rclone("copy", f":s3:{up}", str(self.directory / "up")), self.directory / "up"),
            CHANGED_UP: Step([*program, first, f"row={json.dumps(self.expected.photo)}"]),
            CHANGED_DOWN: Step([*program, second, f"target={again}"], again, is_changed=True),
        }

    def rclone(self, *options: str) -> dict[str, Step]:
        remote = f":s3:{self.remote['bucket']}/rclone{len(options)}-{self.number}"
        shards, changed, down = str(self.gallery.shards), str(self.gallery.changed), self.directory / "down"
        up = rclone("sync", *options, shards, remote)
        return {
            FIRST_UPLOAD: Step(up),
            NOTHING: Step(up),
            FIRST_DOWNLOAD: Step(rclone("sync", *options, remote, str(down)), down),
            CHANGED_UP: Step(rclone("sync", *options, changed, remote)),
            CHANGED_DOWN: Step(rclone("sync", *options, remote, str(down)), down, is_changed=True),
        }

    def deltalake(self) -> dict[str, Step]:
        remote = {**self.remote, "table": f"deltalake-{self.number}"}
        program = [sys.executable, "-m", "peers.photo_delta", json.dumps(remote), str(self.directory)]
        down, again = self.directory / "down", self.directory / "again"
        shards, changed = str(self.gallery.shards), str(shard_file(self.gallery.changed, CHANGED_SHARD))
        md5 = self.expected.photo["md5"]
        return {
            FIRST_UPLOAD: Step([*program, "upload", shards]),
            NOTHING: Step([*program, "look"]),
            FIRST_DOWNLOAD: Step([*program, "download", str(down)], down),
            CHANGED_UP: Step([*program, "merge", changed, md5]),
            CHANGED_DOWN: Step(
                [*program, "download-new", str(again)], again, is_changed=True, only_changed=True
            ),
            APPENDED: Step([*program, "append", changed, md5]),
        }

    def steps(self, name: str) -> dict[str, Step]:
        made: dict[str, Callable[[], dict[str, Step]]] = {
            "satchel": self.satchel,
            "rclone": self.rclone,
            # Its manual's way to do without a request for each file's time.
            "rclone-checksum": lambda: self.rclone("--checksum", "--fast-list"),
            "deltalake": self.deltalake,
        }
        return made[name]()


def rclone(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).parent / "rclone"), "--config=", "--quiet", *arguments]


def access(remote: dict[str, Any], endpoint: str) -> dict[str, str]:
    """For rclone, which takes its options from the environment."""
    options = {
        "PROVIDER": "Other",
        "ENDPOINT": endpoint,
        "REGION": remote["region"],
        "ACCESS_KEY_ID": remote["access_key"],
        "SECRET_ACCESS_KEY": remote["secret_key"],
        "NO_CHECK_BUCKET": "true",
    }
    return {f"RCLONE_S3_{name}": value for name, value in options.items()}


def perform(step: Step, endpoint: str, timeout: float = TIMEOUT_SECONDS) -> dict[str, Any]:
    """Runs a step; the time of a program that does not tell its own is that of its process."""
    start = perf_counter()
    done = subprocess.run(
        step.command,
        env={**environment(), **access(server(), endpoint)},
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    seconds = perf_counter() - start
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise WrongAnswerError(lines[-1] if lines else f"ended with status {done.returncode}")
    lines = done.stdout.splitlines()
    return {"seconds": round(seconds, 4), **(json.loads(lines[-1]) if lines else {})}


def check(step: Step, expected: Expected) -> None:
    if step.files is None:
        return
    for shard, digit in enumerate(DIGITS):
        is_changed = shard == CHANGED_SHARD
        if step.only_changed and not is_changed:
            continue
        right = expected.changed if step.is_changed and is_changed else expected.checksums[shard]
        if checksum(shard_file(step.files, shard)) != right:
            raise WrongAnswerError(f"{digit}.csv is not what was uploaded")


def check_report(report: dict[str, Any], requests: int) -> None:
    """Satchel's report of a synchronization; it has to count as the proxy does."""
    if report["requests"] != requests:
        raise WrongAnswerError(f"told {report['requests']} requests where {requests} were seen")
    if report["failed"] or report["conflicts"] or report["rejected"]:
        raise WrongAnswerError("not every shard was synchronized")


def run_round(turn: Round, name: str, proxy: CountingProxy, write: Callable[[dict[str, Any]], None]) -> None:
    shutil.rmtree(turn.directory, ignore_errors=True)
    turn.directory.mkdir(parents=True)
    for what, step in turn.steps(name).items():
        is_counted = what in STEPS or what == APPENDED
        proxy.take()
        try:
            told = perform(step, turn.endpoint if is_counted else server()["endpoint"])
            counted = proxy.take()
            check(step, turn.expected)
            if "report" in told:
                check_report(told["report"], counted.requests)
        except (WrongAnswerError, subprocess.TimeoutExpired, ValueError, OSError) as error:
            print(f"  sync {label(name, what)}: FAILED: {error}", flush=True)
            # The steps after it build on this one.
            return write({"name": label(name, what), "failed": str(error)})
        if not is_counted:
            continue
        record = {
            **told,
            "requests": counted.requests,
            "methods": dict(counted.methods),
            "up": counted.up,
            "down": counted.down,
            "kilobytes": (counted.up + counted.down) / 1e3,
        }
        write({"round": turn.number, "name": label(name, what), **record})
        print(
            f"  {label(name, what):42} {counted.requests:4} requests {counted.up:12,} up"
            f" {counted.down:12,} down {told['seconds']:8.3f} s",
            flush=True,
        )
    return None


def main() -> None:
    gallery, rounds, records, names = Gallery(int(sys.argv[1])), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    expected = generate_photos(gallery)
    with CountingProxy(urlsplit(server()["endpoint"]).port) as proxy, Path(records).open("w") as out:

        def write(record: dict[str, Any]) -> None:
            out.write(json.dumps(record) + "\n")
            out.flush()

        for number in range(rounds):
            for name in names:
                directory = store("sync", name)
                run_round(Round(number, gallery, expected, proxy.endpoint, directory), name, proxy, write)
                os.sync()
                shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
