"""Bytes and files of assets, for tests."""

from __future__ import annotations

import random
from pathlib import Path
from typing import List

THRESHOLD = 64 * 1024
NOBODYS = "0" * 64


def some(size: int, seed: int = 0) -> bytes:
    """Bytes that no other size and seed give."""
    return random.Random(f"{size} {seed}").randbytes(size)


def files(path: Path) -> List[Path]:
    """The files of assets next to a store."""
    return sorted(
        each for each in Path(f"{path}.assets").rglob("*") if each.is_file() and each.name != "lock"
    )
