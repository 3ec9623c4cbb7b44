"""W6: what a call through the ABI costs, from C and from Python, beside a plain C library of the same shape.

As a program: python -m harness.calls LIBRARY PREFIX
"""

import ctypes
import json
import statistics
import sys
from time import perf_counter

from .places import BINARIES, LIBRARY
from .runner import Figures, Job, run

CALLS = 200_000
REPEATS = 5


def calls(rounds: int, with_satchel: bool) -> Figures:
    libraries = [(BINARIES / "libplain.so", "plain")]
    if with_satchel:
        libraries.insert(0, (LIBRARY, "satchel"))
    jobs = []
    for library, prefix in libraries:
        c_program = [str(BINARIES / "call"), f"library={library}", f"prefix={prefix}"]
        jobs.append(Job(prefix, c_program))
        jobs.append(Job(f"{prefix}-ctypes", [sys.executable, "-m", "harness.calls", str(library), prefix]))
    return run("calls", jobs, rounds, "nothing_ns")


def nanoseconds(call) -> float:
    """The median of several loops, for one call of `call`; the loop itself is in it, for both libraries."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        for _ in range(CALLS):
            call()
        times.append((perf_counter() - start) / CALLS * 1e9)
    return round(statistics.median(times), 1)


def measure(path: str, prefix: str) -> None:
    library = ctypes.CDLL(path)
    version = library[f"{prefix}_version"]
    version.argtypes, version.restype = [], ctypes.c_char_p
    open_store = library[f"{prefix}_store_open"]
    open_store.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
    is_read_only = library[f"{prefix}_store_is_read_only"]
    is_read_only.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_bool)]
    store, flag = ctypes.c_void_p(), ctypes.c_bool(True)
    if open_store(b":memory:", None, ctypes.byref(store)) != 0:
        sys.exit("cannot open a store")
    out = ctypes.byref(flag)
    if is_read_only(store, out) != 0 or flag.value:
        sys.exit("the store says that it is read-only")
    figures = {
        "nothing_ns": nanoseconds(version),
        "handle_ns": nanoseconds(lambda: is_read_only(store, out)),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    measure(*sys.argv[1:3])
