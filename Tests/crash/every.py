"""Runs all that synchronizes and is killed: photos.py and synced_stores.py, and orders.py; then the sum.

Usage: every.py SECONDS, for half of the policies and strategies, as the seed selects, or for all of them with
SATCHEL_CHANCE=all. Beside an object store, as each of them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)


def main(seconds: str) -> int:
    # Said once, so that a failure of one can be run again with it.
    os.environ.setdefault("SATCHEL_SEED", str(time.time_ns() % 1_000_000))
    passed = failed = 0
    turns = [seconds] if os.environ.get("SATCHEL_CHANCE") == "all" else [seconds, "--some"]
    for script, *arguments in [["photos.py", *turns], ["synced_stores.py", *turns], ["orders.py"]]:
        command = [sys.executable, str(FOLDER / script), *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        found = CLOSING.search(done.stdout)
        counts = (int(found[1]), int(found[2])) if found else (0, 0)
        passed, failed = passed + counts[0], failed + counts[1]
        if done.returncode != 0 and counts[1] == 0:
            print(f"{script} ended with {done.returncode}", file=sys.stderr)
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
