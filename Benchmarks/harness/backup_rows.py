"""The rows of W9, its table and how to read it: figures in, text out. Pure."""

from .backup import BUCKET, DIRECTORY, DOWN, LARGE, PEERS, UP, Library, job, large_job
from .goals import NAMES, Row
from .report import figure, table
from .runner import Figures

HAND_FACTOR, RCLONE_FACTOR, MEMORY_MB = 1.5, 1.2, 64
READING = """\
- W9 backs up photos with their films and sidecars, and restores them on a device that has nothing. The time
  is that of the transfer, for Satchel from Python without scanning the folder and synchronizing the rows,
  which the column of the whole process includes. Copying by hand writes a file under another name, syncs and
  renames it, and syncs the folders after each {batch}, one file after the other, or 8 at once; it computes no
  checksum, while Satchel computes two; rclone does not sync to the disk; restic encrypts, and writes packs of
  many files. Each request to the object store takes 30 ms longer, and 8 files
  are transferred at once. Every restored file is compared. Peak memory is that of the process, with Python
  for Satchel and for copying by hand."""
BATCH = 32


def backup_rows(figures: Figures, libraries: tuple[Library, ...]) -> list[Row]:
    def row(library: Library, place: str, step: str, peer: str, factor: float) -> Row:
        def median(name: str) -> float | None:
            return figures.median(job(name, step, place, library), "run_s")

        others = {NAMES[name]: median(name) for name in PEERS[place]}
        known = {name: value for name, value in others.items() if value is not None}
        named = median(peer)
        return Row(
            f"W9 {step}, {place}, {library.name}",
            "s",
            median("satchel"),
            peer=(NAMES[peer], named) if named is not None else None,
            others=known,
            goal=f"≤ {factor} × {NAMES[peer]}",
            bound=named * factor if named is not None else None,
        )

    def memory(step: str, place: str, what: str, done: str) -> Row:
        return Row(
            f"W9 {step}, {place}, {what}: memory",
            "MB",
            figures.median(done, "peak_mb"),
            goal=f"≤ {MEMORY_MB} MB",
            bound=MEMORY_MB,
            against_peers=False,
        )

    rows = []
    for library in libraries:
        for place in library.places:
            peer, factor = ("hand", HAND_FACTOR) if place == DIRECTORY else ("rclone", RCLONE_FACTOR)
            rows += [row(library, place, step, peer, factor) for step in (UP, DOWN)]
            if library.photos == max(each.photos for each in libraries):
                rows += [
                    memory(step, place, library.name, job("satchel", step, place, library))
                    for step in (UP, DOWN)
                ]
    for place in (DIRECTORY, BUCKET):
        rows += [
            memory(step, place, f"a file of {LARGE >> 30} GiB", large_job(step, place)) for step in (UP, DOWN)
        ]
    return rows


def backup_table(figures: Figures, libraries: tuple[Library, ...]) -> str:
    lines = []
    for library in libraries:
        for place in library.places:
            for step in (UP, DOWN):
                for name in ("satchel", *PEERS[place]):
                    done = job(name, step, place, library)
                    if figures.median(done, "seconds") is None:
                        continue
                    what = f"{library.name}, {place}: {step}"
                    shown = "" if any(line[0] == what for line in lines) else what
                    up, down = (figures.median(done, key) / 1e3 for key in ("up", "down"))
                    requests = figures.median(done, "requests")
                    cells = [
                        figure(figures.median(done, "run_s"), "s"),
                        figure(figures.median(done, "seconds"), "s"),
                        "–" if place == DIRECTORY else figure(requests, ""),
                        "–" if place == DIRECTORY else figure(up, "kB"),
                        "–" if place == DIRECTORY else figure(down, "kB"),
                        figure(figures.median(done, "peak_mb"), "MB"),
                    ]
                    lines.append([shown, NAMES[name], *cells])
    return table(["", "", "time", "whole process", "requests", "up", "down", "peak memory"], lines)


def reading() -> str:
    return READING.format(batch=BATCH)
