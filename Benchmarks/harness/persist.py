"""W1: persisting every payload, and W2: coming back to what was persisted."""

import sys

from .answers import CHOSEN, PLACE, expect, expect_count
from .generate import Shape, compact
from .places import BINARIES
from .runner import Figures, Job, run, store

DURABLE_PEERS = ["rocksdict-sync", "apsw-full", "sqlite3-full", "lmdb-sync", "objectbox", "files-fsync"]
RELAXED_PEERS = ["sqlite3-normal", "apsw-normal", "lmdb-nosync"]
UNSYNCED_PEERS = ["files-rename", "files-none"]
"""Shown beside, in no class: nothing is ever synced."""
READ_PEERS = ["files-none", "lmdb-sync", "sqlite3-full", "apsw-full", "rocksdict-sync", "objectbox"]
LIMITS = ["limit-append", "limit-unique", "limit-deferred", "limit-deferred-normal"]
SATCHEL = ["satchel", "satchel-relaxed", "satchel-again", "satchel-python"]
SCREENS = 200
"""Screens in one process: medians of these are the figures of a round."""
SLOW = {"files-fsync": 1}
"""Half a minute a round: one round says enough."""


def write_command(name: str, shape: Shape) -> list[str]:
    directory = store("persist", name)
    match name:
        case "limit-append":
            program = [str(BINARIES / "append_limit"), f"data={shape.payload_file}"]
            return [*program, f"dir={directory}"]
        case "limit-unique" | "limit-deferred" | "limit-deferred-normal":
            program = [str(BINARIES / "persist_limit"), f"data={shape.payload_file}", f"dir={directory}"]
            index = "unique" if name == "limit-unique" else "deferred"
            synchronous = "NORMAL" if name.endswith("normal") else "FULL"
            return [*program, f"index={index}", f"synchronous={synchronous}"]
        case "satchel" | "satchel-relaxed" | "satchel-again":
            program = [str(BINARIES / "satchel_w1"), "mode=write", f"data={shape.delivery_file}"]
            relaxed = int(name == "satchel-relaxed")
            again = shape.again_file if name == "satchel-again" else ""
            return [*program, f"store={directory}/store.satchel", f"relaxed={relaxed}", f"again={again}"]
    data = shape.delivery_file if name == "satchel-python" else shape.payload_file
    return [sys.executable, "-m", "peers", name, "write", str(directory), "--data", str(data)]


def read_command(name: str, shape: Shape) -> list[str]:
    directory = store("persist", name)
    if name.startswith("limit-"):
        program = [str(BINARIES / "restore_limit"), f"dir={directory}", f"location=loc:{PLACE:03d}"]
        return [*program, f"chosen={CHOSEN}", f"sections={shape.sections}"]
    if name in ("satchel", "satchel-relaxed", "satchel-again"):
        location = compact({"country_code": "xx", "admin_area": "area", "locality": f"loc {PLACE:03d}"})
        program = [str(BINARIES / "satchel_w1"), "mode=read", f"store={directory}/store.satchel"]
        where = [f"location={location}", f"prefix=sec:{PLACE:03d}:", f"chosen={CHOSEN}"]
        return [*program, *where, f"sections={shape.sections}"]
    where = ["--location", f"loc:{PLACE:03d}", "--chosen", str(CHOSEN)]
    return [sys.executable, "-m", "peers", name, "read", str(directory), *where]


def persist(shape: Shape, rounds: int, with_satchel: bool) -> Figures:
    names = [*(SATCHEL if with_satchel else []), *LIMITS, *DURABLE_PEERS, *RELAXED_PEERS, *UNSYNCED_PEERS]
    jobs = [
        Job(
            name,
            write_command(name, shape),
            fresh=store("persist", name),
            rounds=SLOW.get(name),
            check=expect_count(shape.payloads),
        )
        for name in names
    ]
    figures = run("persist", jobs, rounds, "seconds")
    # Every store that was written is read once: a time counts only when what it wrote is there.
    expected = expect(shape)
    readers = [
        Job(name, read_command(name, shape), check=expected.check)
        for name in names
        if name not in figures.failures and name != "limit-append"
    ]
    figures.failures.update(run("persist-check", readers, 1, "total_ms").failures)
    return figures


def restore(shape: Shape, rounds: int, with_satchel: bool) -> dict[str, Figures]:
    """Reads the stores that persist() left: with a warm page cache, and with their files dropped from it."""
    names = [*(["satchel", "satchel-python"] if with_satchel else []), "limit-deferred", *READ_PEERS]
    expected = expect(shape)
    jobs = []
    for name in names:
        command = read_command(name, shape)
        jobs.append(Job(name, command, check=expected.check))
        jobs.append(Job(f"{name} dropped", command, evict=store("persist", name), check=expected.check))
    warm = [job for job in jobs if job.evict is None]
    dropped = [job for job in jobs if job.evict is not None]
    # Warm after warm: the first read after an eviction would not be one.
    return {
        "warm": run("restore-warm", warm, rounds, "total_ms"),
        "dropped": run("restore-dropped", dropped, rounds, "total_ms"),
    }


def screens(shape: Shape, rounds: int) -> Figures:
    """A session that shows a place of the store that persist() left, beside loading the same sections."""
    directory = store("persist", "satchel")
    location = compact({"country_code": "xx", "admin_area": "area", "locality": f"loc {PLACE:03d}"})
    program = [str(BINARIES / "satchel_w1"), "mode=screen", f"store={directory}/store.satchel"]
    where = [f"location={location}", f"prefix=sec:{PLACE:03d}:", f"sections={shape.sections}"]
    return run("screens", [Job("satchel", [*program, *where, f"rounds={SCREENS}"])], rounds, "first_us")
