"""The time to import a package, in a process that has imported nothing else."""

import sys

from .goals import NAMES, Row, peers_of
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
SAVING = ["satchel", "satchel.records", "satchel.state"]
"""The modules of an app that keeps records and state: subjects are imported at their first use."""
PROGRAM = """
import sys, time
start = time.perf_counter()
for name in sys.argv[1:]:
    __import__(name)
print('{"import_ms": %f}' % ((time.perf_counter() - start) * 1e3))
"""


def imports(rounds: int, with_satchel: bool) -> Figures:
    jobs = [job(package, [package]) for package in PACKAGES if with_satchel or package != "satchel"]
    if with_satchel:
        jobs.append(job("saving", SAVING))
    # The first one compiles the modules.
    run("imports-compiled", jobs, 1, "import_ms")
    return run("imports", jobs, rounds, "import_ms")


def job(name: str, modules: list[str]) -> Job:
    return Job(name, [sys.executable, "-c", PROGRAM, *modules])


def import_rows(figures: Figures) -> list[Row]:
    peers = {package: NAMES[peer] for package, peer in PACKAGES.items() if package != "satchel"}
    return [
        Row(
            f"W2 importing {what}, Python",
            "ms",
            figures.median(job, "import_ms"),
            **peers_of(figures, "import_ms", peers),
        )
        for what, job in {"the package": "satchel", "it with records and state": "saving"}.items()
    ]
