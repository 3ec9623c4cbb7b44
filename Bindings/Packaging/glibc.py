"""Finds what keeps a program or a library from running on the oldest systems that Satchel supports.

    python3 Bindings/Packaging/glibc.py FILE...

A file must need no symbol of a glibc that is newer than 2.34 (Ubuntu 22.04, RHEL 9, Amazon Linux 2023) and
no packed relocations, which older loaders refuse. Prints the newest version that each file needs, and the
symbols that are too new; exits with 1 when there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

OLDEST = (2, 34)
NEEDED = re.compile(r"\((GLIBC_\w+(?:\.\w+)*)\)\s+(\S+)$", re.MULTILINE)


def number(version: str) -> tuple[int, ...]:
    """GLIBC_2.34 as (2, 34); a version that is not a number, such as GLIBC_PRIVATE, is newer than all."""
    parts = version.removeprefix("GLIBC_").split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else (sys.maxsize,)


def needs(file: Path) -> list[tuple[str, str]]:
    """Versions of glibc, and the symbols that need them."""
    found = NEEDED.findall(output("objdump", "-T", file))
    if "(RELR)" in output("readelf", "-d", file):
        found.append(("GLIBC_2.36", "packed relocations"))
    return found


def too_new(file: Path) -> list[str]:
    """The symbols of a file that are newer than glibc 2.34."""
    return sorted(f"{symbol} ({version})" for version, symbol in needs(file) if number(version) > OLDEST)


def newest(file: Path) -> str:
    """The newest version of glibc that a file needs."""
    return max((version for version, _ in needs(file)), key=number, default="no glibc")


def output(*command: str | Path) -> str:
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout


def main(files: list[Path]) -> int:
    failed = 0
    for file in files:
        newer = too_new(file)
        print(f"{file.name}: {newest(file)}{': ' + ', '.join(newer) if newer else ''}")
        failed += bool(newer)
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
