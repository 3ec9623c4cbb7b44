"""W7: synchronizing records with an object store, each request 30 ms longer: requests, bytes, time, against
what syncs a file a record (rclone). Everyone goes through one counting proxy to one server.
"""

import random
import sys

from .places import PROJECT, RECORDS
from .record_data import Expected, RecordSet, digest_of, generate_records, updated
from .runner import Figures
from .sync import SERVER, label, measured

SETS = (RecordSet(10_000), RecordSet(1_000_000))
"""The second is Satchel's alone: a million files are not what a file a record is for."""
QUICK_SETS = (RecordSet(2_000), RecordSet(10_000))
CHANGED = 30
DELAY_SECONDS = 0.03
STEPS = (
    "first upload",
    "first download",
    "nothing changed",
    f"{CHANGED} changed, up",
    f"{CHANGED} changed, down",
)
COUCH = "couch-records"
PEERS = ["rclone-records", COUCH]
TIMEOUT_SECONDS = 7200


def job(name: str, step: str, record_set: RecordSet) -> str:
    return f"{label(name, step)} of {record_set.name}"


def changed_data(record_set: RecordSet) -> tuple[str, str]:
    """Writes the changed records, and all with them; the digests of all before and after."""
    expected: Expected = generate_records(record_set)
    lines = (record_set.directory / "records.jsonl").read_text(encoding="utf-8").splitlines()
    source = random.Random(7)
    places = sorted(source.sample(range(len(lines)), CHANGED))
    for place in places:
        lines[place] = updated(source, lines[place])
    chosen = [lines[place] for place in places]
    (record_set.directory / "sync-changed.jsonl").write_text("".join(f"{each}\n" for each in chosen))
    return expected.digest, digest_of(line.encode() for line in lines)


def synchronize_records(sets: tuple[RecordSet, ...], rounds: int, with_satchel: bool) -> Figures:
    """Starts the server, runs harness.record_traffic with it, and reads its figures."""
    RECORDS.mkdir(exist_ok=True)
    records = RECORDS / "record-sync.jsonl"
    records.unlink(missing_ok=True)
    beside = [sys.executable, str(PROJECT / "Tests" / "Servers" / "run.py"), SERVER, "--"]
    sizes = ",".join(str(each.records) for each in sets)
    command = [*beside, sys.executable, "-m", "harness.record_traffic", sizes, str(rounds), str(records)]
    names = [*(["satchel"] if with_satchel else []), *PEERS]
    return measured([*command, *names], records, TIMEOUT_SECONDS)
