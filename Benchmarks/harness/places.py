"""Where things are, on disk. Everything that a run makes is under data/ and results/, besides its report."""

from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PROJECT = HERE.parent
PROBES = HERE / "probes"
DATA = HERE / "data"
STORES = DATA / "stores"
BINARIES = DATA / "bin"
RECORDS = HERE / "results"
REPORT = HERE / "RESULTS.md"
CHART = HERE / "results.svg"
LIBRARY = PROJECT / ".build-lib" / "release" / "libsatchel.so"
PYTHON_PACKAGE = PROJECT / "Bindings" / "Python"
