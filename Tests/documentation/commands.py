"""Commands that have to succeed."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Failure(Exception):
    """A block that does not do what it says."""


def succeed(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1200)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
