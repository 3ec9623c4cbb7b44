"""A mirror that several processes keep, and processes that are killed while they write it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, List

import pytest
from mirrors import Documents, mirrored, of_file, of_store, run

import satchel
from satchel.records import MirrorReport


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "courses.json"


KILLED_BEFORE_THE_FILE = """
store = satchel.open(sys.argv[1])
courses = store.records("courses")
courses.mirror(sys.argv[2])
# Before the thread that writes the mirror does.
store.observe(lambda change: os.kill(os.getpid(), signal.SIGKILL))
with store.batch():
    courses.put("c1", {"n": 11})
    courses.put("c5", {"n": 5})
    courses.delete("c2")
"""


@pytest.mark.parametrize("mode", ["store_first", "file_first"])
@pytest.mark.parametrize("prefer", [None, "file", "store"])
def test_after_a_kill_between_commit_and_file_the_store_is_ahead(
    path: Path, file: Path, mode: str, prefer: Any
) -> None:
    mirrored(path, file)
    before = file.read_bytes()
    assert run(KILLED_BEFORE_THE_FILE, path, file) == -signal.SIGKILL
    assert file.read_bytes() == before
    # Without the mirror the store goes on.
    assert run("satchel.open(sys.argv[1]).records('courses').put('c3', {'n': 33})", path) == 0
    expected: Documents = {"c0": {"n": 0}, "c1": {"n": 11}, "c3": {"n": 33}, "c4": {"n": 4}, "c5": {"n": 5}}
    with satchel.open(path) as store:
        courses = store.records("courses")
        assert courses.mirror(file, prefer, mode=mode) == MirrorReport(imported=0, quarantined=None)
        assert of_store(courses) == of_file(file) == expected


KILLED_IN_THE_MIDDLE = """
store = satchel.open(sys.argv[1])
courses = store.records("courses")
courses.mirror(sys.argv[2], mode=sys.argv[3])
print("ready", flush=True)
for number in range(100000):
    courses.put(f"c{number % 7}", {"n": number})
    if number % 5 == 0:
        courses.delete(f"c{(number + 3) % 7}")
    if sys.argv[3] == "store_first" and number % 3 == 0:
        store.flush()
"""


@pytest.mark.parametrize("mode", ["store_first", "file_first"])
def test_wherever_a_process_is_killed_the_mirror_can_be_attached_again(
    path: Path, file: Path, mode: str
) -> None:
    mirrored(path, file)
    command = [sys.executable, "-c", "import sys\nimport satchel\n" + KILLED_IN_THE_MIDDLE]
    for turn in range(8):
        with subprocess.Popen([*command, path, file, mode], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            written = file.stat().st_ino
            while file.stat().st_ino == written and process.poll() is None:
                pass
            process.kill()
        with satchel.open(path) as store:
            courses = store.records("courses")
            # Before the mirror is attached: the store goes on without it.
            if turn % 2 == 1 and mode == "store_first":
                courses.put("c0", {"n": -turn})
            courses.mirror(file, mode=mode)
            assert of_store(courses) == of_file(file)
            assert store.check() == []


def test_two_processes_keep_one_file(path: Path, file: Path) -> None:
    program = """
store = satchel.open(sys.argv[1])
courses = store.records("courses")
heard = []
store.observe(lambda change: heard.extend(change.keys))
courses.mirror(sys.argv[2])
for number in range(20):
    courses.put(sys.argv[3], {"n": number})
    courses.put(f"{sys.argv[3]}{number}", {"n": number})
    courses.delete(f"{sys.argv[3]}{number - 1}")
    store.flush()
sys.exit("@mirror_edited" in heard)
"""
    mirrored(path, file)
    with satchel.open(path) as store:
        courses = store.records("courses")
        heard: List[str] = []
        store.observe(lambda change: heard.extend(change.keys))
        courses.mirror(file)
        command = [sys.executable, "-c", "import os, signal, sys\nimport satchel\n" + program]
        others = [subprocess.Popen([*command, path, file, name]) for name in "xy"]
        for number in range(20):
            courses.put(f"z{number}", {"n": number})
            store.flush()
            assert of_file(file)[f"z{number}"] == {"n": number}
        assert [other.wait(120) for other in others] == [0, 0]
        courses.put("last", {})
        assert courses.count() == 30
        assert "@mirror_edited" not in heard
        courses.mirror(file)
        assert of_file(file) == of_store(courses)
