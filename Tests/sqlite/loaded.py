"""Fails unless the library runs on the SQLite of a folder: loaded.py FOLDER, after sqlite.sh of Packaging.

Needs LD_LIBRARY_PATH, SATCHEL_LIBRARY and PYTHONPATH as the suites get them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import satchel


def main(folder: Path) -> int:
    with satchel.open(":memory:") as store:
        store.info()
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    loaded = {Path(line.split()[-1]) for line in maps.splitlines() if "libsqlite3" in line}
    print((folder / "version").read_text(encoding="utf-8").splitlines()[0])
    if loaded != {folder / "libsqlite3.so.0"}:
        print(f"the library runs on {loaded or 'an SQLite of its own'}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
