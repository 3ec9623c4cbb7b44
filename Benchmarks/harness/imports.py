"""The time to import a package, in a process that has imported nothing else."""

import sys

from .goals import NAMES, Row
from .places import DATA
from .runner import Figures, Job, run

PACKAGES = {
    "satchel": "satchel",
    "sqlite3": "sqlite3",
    "apsw": "apsw-full",
    "lmdb": "lmdb-sync",
    "rocksdict": "rocksdict-sync",
    "objectbox": "objectbox",
}
"""Each package, and the name of its peer."""
PROGRAM = """
import sys, time
sys.dont_write_bytecode, sys.pycache_prefix = False, sys.argv[2]
start = time.perf_counter()
__import__(sys.argv[1])
print('{"import_ms": %f}' % ((time.perf_counter() - start) * 1e3))
"""


def imports(rounds: int, with_satchel: bool) -> Figures:
    compiled = DATA / "compiled"
    packages = [package for package in PACKAGES if with_satchel or package != "satchel"]
    jobs = [Job(package, [sys.executable, "-c", PROGRAM, package, str(compiled)]) for package in packages]
    # The first one compiles the modules.
    run("imports-compiled", jobs, 1, "import_ms")
    return run("imports", jobs, rounds, "import_ms")


def import_row(figures: Figures) -> Row:
    peers = [package for package in PACKAGES if package != "satchel"]
    best = figures.best(peers, "import_ms")
    others = {
        NAMES[PACKAGES[name]]: value
        for name in peers
        if (value := figures.median(name, "import_ms")) is not None
    }
    return Row(
        "W2 importing the package, Python",
        "ms",
        figures.median("satchel", "import_ms"),
        peer=(NAMES[PACKAGES[best[0]]], best[1]) if best else None,
        others=others,
    )
