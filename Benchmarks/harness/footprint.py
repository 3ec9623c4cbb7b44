"""Size, load and resident memory: what a host pays to have the library."""

import ctypes.util
import importlib.util
import subprocess
from pathlib import Path

from .places import BINARIES
from .runner import Figures, Job, run, store


def libraries(with_satchel: bool) -> dict[str, tuple[Path, str]]:
    """name: the stripped library, and how the load probe opens a store of it"""
    found = {"sqlite3": (loaded_path(ctypes.util.find_library("sqlite3")), "sqlite3")}
    objectbox = object_box_library()
    if objectbox is not None:
        found["objectbox"] = (objectbox, "other")
    if (BINARIES / "libruntime.so").exists():
        found["swift-runtime"] = (BINARIES / "libruntime.so", "other")
    if with_satchel:
        found["satchel"] = (BINARIES / "libsatchel-stripped.so", "satchel")
    return found


def loaded_path(name: str) -> Path:
    """Where the loader finds a library."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return Path(next(line.split()[-1] for line in listed.splitlines() if line.split()[:1] == [name]))


def object_box_library() -> Path | None:
    package = importlib.util.find_spec("objectbox_clib")
    for place in package.submodule_search_locations if package else []:
        for path in sorted(Path(place).rglob("libobjectbox*.so*")):
            return path
    return None


def footprint(rounds: int, runs: int, with_satchel: bool) -> Figures:
    found = libraries(with_satchel)
    jobs = []
    for name, (path, kind) in found.items():
        directory = store("footprint", name)
        program = [str(BINARIES / "load"), f"library={path}", f"kind={kind}", f"runs={runs}"]
        jobs.append(Job(name, [*program, f"store={directory}/store"], fresh=directory))
    figures = run("footprint", jobs, rounds, "load_ms")
    for name, (path, _) in found.items():
        for record in figures.records.get(name, []):
            record["megabytes"] = path.stat().st_size / 1e6
            record["resident_mb"] = record["resident_bytes"] / 1e6
    return figures
