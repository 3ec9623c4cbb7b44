"""A collection with a mirror, as tests and their other processes use it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict

import satchel
from satchel import Records
from satchel.records import MirrorReport

Documents = Dict[str, Dict[str, Any]]
Collection = Records[Dict[str, Any]]

DOCUMENTS: Documents = {f"c{number}": {"n": number} for number in range(5)}


def of_file(file: Path) -> Documents:
    whole: Documents = json.loads(file.read_bytes())
    return whole


def of_mirror(courses: Collection, file: Path) -> Documents:
    """The content of the file when it is complete."""
    assert courses.verify_mirror() == []
    return of_file(file)


def of_store(courses: Collection) -> Documents:
    return {each.id: each.document for each in courses.list()}


def edit(file: Path, change: Callable[[Documents], None]) -> None:
    """As another program or a person edits it."""
    documents = of_file(file)
    change(documents)
    file.write_text(json.dumps(documents, indent=1))


def mirrored(path: Path, file: Path) -> None:
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.put_many(DOCUMENTS)
        assert courses.mirror(file) == MirrorReport(imported=0, quarantined=None)


def run(program: str, *arguments: object) -> int:
    """Runs a program in a process of its own."""
    command = [sys.executable, "-c", "import os, signal, sys\nimport satchel\n" + program]
    return subprocess.run([*command, *map(str, arguments)], timeout=120).returncode
