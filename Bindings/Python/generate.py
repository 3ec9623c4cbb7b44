"""Writes the modules of the package that are made from others.

These are satchel/_abi.py, from Include/satchel.h, and the asynchronous classes of satchel.aio, from the
blocking ones. Only what changes is written. `make lib`, the tests, the installation from a checkout and the
wheel's build run this; an sdist has the files.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER = HERE.parents[1] / "Include/satchel.h"
sys.path.insert(0, str(HERE))

import generate_abi  # noqa: E402
import generate_aio  # noqa: E402


def main() -> None:
    """Writes the modules."""
    write(HERE / "satchel/_abi.py", generate_abi.text(HEADER.read_text(encoding="utf-8")))
    for module in generate_aio.MODULES:
        write(HERE / f"satchel/aio/_{module}.py", generate_aio.written(module))


def write(path: Path, text: str) -> None:
    """Replaces a file at once: others may be reading it."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    incoming = path.with_name(f"{path.name}.{os.getpid()}")
    incoming.write_text(text, encoding="utf-8")
    incoming.replace(path)


if __name__ == "__main__":
    main()
