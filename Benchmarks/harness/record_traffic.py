"""The synchronizations of W7: python -m harness.record_traffic SIZES ROUNDS RECORDS PEER …

Beside an object store (Tests/Servers/run.py). Each step runs in a process of its own; what went over the wire
during it is counted, and what came of it is held against the records.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .counting_proxy import CountingProxy
from .places import PROJECT
from .record_data import RecordSet, digest_of, id_of
from .record_sync import COUCH, DELAY_SECONDS, STEPS, changed_data, job
from .runner import WrongAnswerError, environment, store
from .sync import server
from .traffic import Step, perform, rclone

FIRST_UPLOAD, FIRST_DOWNLOAD, NOTHING, CHANGED_UP, CHANGED_DOWN = STEPS
PARALLEL = ["--transfers", "16", "--checkers", "16"]
"""For many small files, as its manual says."""
STEP_SECONDS = 1800
"""At most, for what has a million records."""
Write = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Round:
    """One of several: everyone starts with nothing in the store."""

    number: int
    record_set: RecordSet
    digests: tuple[str, str]
    """Of all records, before and after some changed."""
    endpoint: str
    directory: Path

    @property
    def prefix(self) -> str:
        return f"w7-{self.record_set.records}-{self.number}"

    def data(self, name: str = "records.jsonl") -> str:
        return str(self.record_set.directory / name)

    def satchel(self) -> dict[str, Step]:
        remote = json.dumps({**server(), "endpoint": self.endpoint, "prefix": self.prefix})

        def device(name: str, *step: str) -> Step:
            command = [sys.executable, "-m", "peers.record_sync", remote]
            return Step([*command, str(self.directory / f"{name}.satchel"), *step])

        before, after = self.digests
        return {
            "filled": device("first", "fill", self.data()),
            FIRST_UPLOAD: device("first", "sync"),
            FIRST_DOWNLOAD: device("second", "sync", self.data(), before),
            NOTHING: device("first", "sync"),
            "changed": device("first", "change", self.data("sync-changed.jsonl")),
            CHANGED_UP: device("first", "sync"),
            CHANGED_DOWN: device("second", "sync", self.data(), after),
        }

    def rclone(self) -> dict[str, Step]:
        """A file a record."""
        remote = f":s3:{server()['bucket']}/rclone-{self.prefix}"
        first, down = self.directory / "first", self.directory / "second"
        write_files(first, self.data())
        changed = self.directory / "changed"
        shutil.copytree(first, changed)
        write_files(changed, self.data("sync-changed.jsonl"))
        command = ["sync", "--checksum", "--fast-list", *PARALLEL]
        up, again = rclone(*command, str(first), remote), rclone(*command, remote, str(down))
        return {
            FIRST_UPLOAD: Step(up),
            FIRST_DOWNLOAD: Step(again, down),
            NOTHING: Step(up),
            CHANGED_UP: Step(rclone(*command, str(changed), remote)),
            CHANGED_DOWN: Step(again, down, is_changed=True),
        }

    def couch(self) -> dict[str, Step]:
        """CouchDB's protocol; the endpoint is that of its server."""

        def device(name: str, *step: str) -> Step:
            command = [sys.executable, "-m", "peers.record_couch", self.endpoint]
            return Step([*command, str(self.directory / f"{name}.sqlite"), *step])

        before, after = self.digests
        return {
            "filled": device("first", "fill", self.data()),
            FIRST_UPLOAD: device("first", "sync"),
            FIRST_DOWNLOAD: device("second", "sync", self.data(), before),
            # Asks the server once for what it has just sent; not counted.
            "settled": device("second", "sync"),
            NOTHING: device("first", "sync"),
            "changed": device("first", "change", self.data("sync-changed.jsonl")),
            CHANGED_UP: device("first", "sync"),
            CHANGED_DOWN: device("second", "sync", self.data(), after),
        }

    def steps(self, name: str) -> dict[str, Step]:
        return {"satchel": self.satchel, "rclone-records": self.rclone, COUCH: self.couch}[name]()


@contextlib.contextmanager
def couch_server(path: Path) -> Iterator[CountingProxy]:
    """The server of CouchDB's protocol, behind a proxy as the object store is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    command = [sys.executable, "-m", "peers.couch_server", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as running:
        try:
            with CountingProxy(int(running.stdout.readline()), DELAY_SECONDS) as proxy:
                yield proxy
        finally:
            running.terminate()


def write_files(directory: Path, data: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for line in Path(data).read_text(encoding="utf-8").splitlines():
        (directory / f"{id_of(line)}.json").write_text(line, encoding="utf-8")


def check(step: Step, turn: Round) -> None:
    """Of Satchel's, the step itself has compared them."""
    if step.files is None:
        return
    ids = [id_of(line) for line in Path(turn.data()).read_text(encoding="utf-8").splitlines()]
    found = digest_of((step.files / f"{id}.json").read_bytes() for id in ids)
    if found != turn.digests[step.is_changed]:
        raise WrongAnswerError("the records are not those that were sent")


def live_bytes(turn: Round) -> int:
    """Of the entries that the head in the store counts."""
    sys.path.append(str(PROJECT / "Tests" / "Servers"))
    import aws  # noqa: PLC0415

    told = server()
    key = aws.Key(told["access_key"], told["secret_key"])
    path = f"/{told['bucket']}/{turn.prefix}/records/ana/head"
    status, body = aws.request(told["endpoint"], "GET", path, key, region=told["region"])
    if status != 200:
        raise WrongAnswerError(f"the head in the store: {status}")
    return json.loads(body.partition(b"\n")[0])["bytes"]


def run_round(turn: Round, name: str, proxy: CountingProxy, write: Write) -> None:
    shutil.rmtree(turn.directory, ignore_errors=True)
    turn.directory.mkdir(parents=True)
    for what, step in turn.steps(name).items():
        proxy.take()
        called = job(name, what, turn.record_set)
        try:
            told = perform(step, turn.endpoint, STEP_SECONDS)
            counted = proxy.take()
            check(step, turn)
            report = told.pop("report", None)
            if told.pop("counted", counted.requests) != counted.requests:
                raise WrongAnswerError("the device counted other requests than the proxy")
            if report and (not report["ok"] or report["requests"] != counted.requests):
                raise WrongAnswerError(f"told {report} where {counted} was seen")
            live = live_bytes(turn) if report else None
        except (WrongAnswerError, subprocess.TimeoutExpired, ValueError, OSError) as error:
            print(f"  W7 {called}: FAILED: {error}", flush=True)
            # The steps after it build on this one.
            return write({"name": called, "failed": str(error)})
        if what not in STEPS:
            continue
        record = {**told, "requests": counted.requests, "methods": dict(counted.methods)}
        record |= {"up": counted.up, "down": counted.down, "kilobytes": (counted.up + counted.down) / 1e3}
        if live:
            record["of_live"] = max(counted.up, counted.down) / live
        write({"round": turn.number, "name": called, **record})
        print(
            f"  {called:50} {counted.requests:6} requests {counted.up:12,} up {counted.down:12,} down"
            f" {told['seconds']:8.3f} s",
            flush=True,
        )
    return None


def main() -> None:
    sizes, rounds, records, names = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    sets = [RecordSet(int(size)) for size in sizes.split(",")]
    port = urlsplit(server()["endpoint"]).port
    with CountingProxy(port, DELAY_SECONDS) as proxy, Path(records).open("w") as out:

        def write(record: dict[str, Any]) -> None:
            out.write(json.dumps(record) + "\n")
            out.flush()

        for place, record_set in enumerate(sets):
            digests = changed_data(record_set)
            for number in range(rounds if place == 0 else 1):
                # The largest are Satchel's alone, once.
                for name in names if place == 0 else [each for each in names if each == "satchel"]:
                    directory = store("w7", name)
                    with contextlib.ExitStack() as stack:
                        used = proxy
                        if name == COUCH:
                            used = stack.enter_context(
                                couch_server(store("w7", "couch-server") / "records.sqlite")
                            )
                        turn = Round(number, record_set, digests, used.endpoint, directory)
                        run_round(turn, name, used, write)
                    os.sync()
                    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
