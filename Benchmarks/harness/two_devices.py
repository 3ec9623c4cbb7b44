"""Two devices with real documents, of which both change many: what it takes, compared with a model.

python -m harness.two_devices [--changed 5000] [--delay 30], by .venv/bin/python in Benchmarks: some minutes.
The documents are those of real_documents.py, the store is MiniStack behind a proxy that counts, and makes
each request longer. For newest_wins and merge: one device sends all, the other receives; then each changes
as many, half of them the same as the other, and deletes one in twenty of those; they synchronize in turns
until nothing moves. Each document of both is then compared with Tests/crash/rivals.py, which knows nothing
of the library.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from .counting_proxy import CountingProxy
from .places import PROJECT
from .real_documents import Document, documents
from .runner import WrongAnswerError, environment
from .sync import SERVER, server

sys.path.append(str(PROJECT / "Tests" / "crash"))
import rivals
from rivals import Rivalry, Version

USER, COLLECTION = "ana", "packages"
POLICIES = ("newest_wins", "merge")
ROUNDS = 6
WORDS = ("漢字", "ü\u0301", "😀", '"quoted"', "\\", "plain")


class Device:
    """A store, and a clock that is set."""

    def __init__(self, path: Path, policy: str) -> None:
        import satchel  # noqa: PLC0415

        self.now = rivals.BASE
        self.store = satchel.open(path, clock=lambda: self.now)
        self.records = self.store.records(COLLECTION, on_conflict=policy)

    def put(self, id: str, text: bytes | None, time: int) -> None:
        self.now = time
        if text is None:
            self.records.delete(id)
        else:
            self.records.put(id, text)


def edited(document: Document, dice: random.Random, name: str) -> Document:
    """Some fields of it become others, some new, one goes; deep in objects, too."""
    changed: Document = json.loads(json.dumps(document))
    kinds = dice.sample(["text", "number", "deep", "new", "gone", "list"], dice.randint(1, 3))
    for kind in kinds:
        word = f"{name} {dice.choice(WORDS)} {dice.randrange(1000)}"
        if kind == "text":
            changed["Description"] = f"{changed.get('Description', '')}\n{word}"
        elif kind == "number":
            changed["Installed-Size"] = dice.randrange(10**6)
        elif kind == "deep":
            changed.setdefault("Checksums", {})[dice.choice(["MD5sum", "SHA256", "Own"])] = word
        elif kind == "new":
            changed[dice.choice(["Note", f"Note of {name}"])] = {"by": name, "word": word}
        elif kind == "gone":
            changed.pop(dice.choice(["Homepage", "Section", "Tag"]), None)
        else:
            changed["Depends"] = [*changed.get("Depends", []), word]
    # To take out what is not there is no change.
    return changed if changed != document else edited(document, dice, name)


def changes(base: dict[str, bytes], count: int, dice: random.Random) -> dict[str, Rivalry]:
    """Edits on both devices, of `count` documents each, half of them the same."""
    both = dice.sample(sorted(base), count * 3 // 2)
    shared = both[: count // 2]
    own = both[count // 2 : count], both[count:]
    found = {}
    for place, id in enumerate(both):
        versions: list[Version | None] = []
        for device in range(2):
            if id not in shared and id not in own[device]:
                versions.append(None)
                continue
            is_gone = dice.random() < 0.05
            document = edited(json.loads(base[id]), dice, f"device {device}")
            text = None if is_gone else json.dumps(document, ensure_ascii=False)
            # No two at the same time, and now the one, now the other earlier.
            time = rivals.EARLY + 4 * place + (2 * dice.randrange(2) + device)
            versions.append(Version(text, time))
        found[id] = Rivalry(id, base[id].decode(), (versions[0], versions[1]))
    return found


def check(device: Device, base: dict[str, bytes], rivalries: dict[str, Rivalry], policy: str) -> int:
    """Compares a device with the model; returns the number of documents."""
    found = {id: device.records.text(id) for id in device.records.ids()}
    expected = set(base)
    for id, rivalry in rivalries.items():
        outcome = rivals.promised(rivalry, policy, first=0)
        text = found.get(id)
        value = None if text is None else json.loads(text)
        if value != outcome.value or (outcome.text is not None and text != outcome.text.encode()):
            raise WrongAnswerError(f"{id} is {value}, and should be {outcome.value}")
        if outcome.value is None:
            expected.discard(id)
    if set(found) != expected:
        raise WrongAnswerError(f"{len(set(found) ^ expected)} documents are missing, or too many")
    if any(found[id] != text for id, text in base.items() if id not in rivalries):
        raise WrongAnswerError("a document that no device changed is another")
    if findings := device.store.check():
        raise WrongAnswerError(str(findings[0]))
    return len(found)


def turn(policy: str, base: dict[str, bytes], count: int, proxy: CountingProxy, folder: Path) -> None:
    import satchel  # noqa: PLC0415

    dice = random.Random(f"{policy} 11")
    devices = [Device(folder / f"{policy}-{each}.satchel", policy) for each in range(2)]
    told: dict[str, Any] = {**server(), "endpoint": proxy.endpoint, "prefix": policy}
    with satchel.remote.S3(**told) as remote:

        def sync(what: str, device: Device) -> bool:
            proxy.take()
            start = perf_counter()
            report = device.store.sync(remote, USER)
            seconds, counted = perf_counter() - start, proxy.take()
            if not report.ok or report.requests != counted.requests:
                raise WrongAnswerError(f"{report} where {counted} was seen")
            print(
                f"  {policy:12} {what:28} {counted.requests:4} requests {counted.up:12,} up"
                f" {counted.down:12,} down {seconds:8.2f} s",
                flush=True,
            )
            return report.unchanged

        devices[0].records.put_many(base)
        sync("all, sent", devices[0])
        sync("all, received", devices[1])
        rivalries = changes(base, count, dice)
        for number, device in enumerate(devices):
            # Not in a batch, which has one time.
            for id, rivalry in rivalries.items():
                if change := rivalry.changes[number]:
                    text = None if change.text is None else change.text.encode()
                    device.put(id, text, change.time)
        for round in range(ROUNDS):
            unchanged = [sync(f"round {round + 1}, device {each}", devices[each]) for each in range(2)]
            if all(unchanged):
                break
        else:
            raise WrongAnswerError("still moving")
    counts = [check(device, base, rivalries, policy) for device in devices]
    contested = sum(each.is_contested for each in rivalries.values())
    print(f"  {policy}: both have {counts[0]:,} documents as the model says; {contested:,} were contested")
    for device in devices:
        device.store.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--changed", type=int, default=5000, help="documents that each device changes")
    parser.add_argument("--delay", type=float, default=30, help="milliseconds that each request takes longer")
    options = parser.parse_args()
    if "SATCHEL_TEST_S3" not in os.environ:
        beside = [sys.executable, str(PROJECT / "Tests" / "Servers" / "run.py"), SERVER, "--"]
        again = [*beside, sys.executable, "-m", "harness.two_devices", *sys.argv[1:]]
        return subprocess.run(again, env=environment(), check=False).returncode
    base = documents()
    size = sum(map(len, base.values()))
    print(f"{len(base):,} packages of Debian, {size / 1e6:.1f} MB, {options.changed:,} changed by each")
    port = urlsplit(server()["endpoint"]).port
    with CountingProxy(port, options.delay / 1000) as proxy, tempfile.TemporaryDirectory() as folder:
        for policy in POLICIES:
            turn(policy, base, options.changed, proxy, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
