"""Synchronizing a catalogue of photos with an object store: bytes, requests and time, against what syncs
files (rclone) and tables (deltalake). Everyone goes through one counting proxy to one server.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from .photo_data import Gallery, generate_photos
from .places import HERE, PROJECT, RECORDS
from .runner import Figures, environment

SERVER = "ministack"
STEPS = (
    "first upload",
    "first download",
    "nothing changed",
    "one photo changed, up",
    "one photo changed, down",
)
"""From a first device to the store, from there to a second one."""
SYNC_PEERS = ["rclone", "rclone-checksum", "deltalake"]
APPENDED = "one photo appended"
"""Of deltalake only: the row is added, and readers have to find out that it replaces another."""
TIMEOUT_SECONDS = 1800


def label(name: str, step: str) -> str:
    return f"{name} {step}"


def synchronize(gallery: Gallery, rounds: int, with_satchel: bool) -> Figures:
    """Starts the server, runs harness.traffic with it, and reads its figures."""
    generate_photos(gallery)
    RECORDS.mkdir(exist_ok=True)
    records = RECORDS / "sync.jsonl"
    records.unlink(missing_ok=True)
    beside = [sys.executable, str(PROJECT / "Tests" / "Servers" / "run.py"), SERVER, "--"]
    command = [
        *beside,
        sys.executable,
        "-m",
        "harness.traffic",
        str(gallery.photos),
        str(rounds),
        str(records),
    ]
    command += ["satchel"] if with_satchel else []
    return measured([*command, *SYNC_PEERS], records, TIMEOUT_SECONDS)


def measured(command: list[str], records: Path, seconds: float) -> Figures:
    """Runs a command, and reads the figures that it wrote down."""
    with subprocess.Popen(command, env=environment(), cwd=HERE) as running:
        try:
            status = running.wait(seconds)
        except subprocess.TimeoutExpired:
            # Not killed: it has servers to stop.
            running.terminate()
            status = running.wait()
    figures = Figures()
    for line in records.read_text().splitlines() if records.exists() else []:
        record = json.loads(line)
        if "failed" in record:
            figures.failures[record["name"]] = record["failed"]
        else:
            figures.records.setdefault(record["name"], []).append(record)
    if status != 0:
        figures.failures["server"] = f"ended with status {status}"
    return figures


def server() -> dict[str, str]:
    """How the store is reached; harness.traffic finds it so."""
    return json.loads(os.environ["SATCHEL_TEST_S3"])["store"]
