"""W9: backing up a library of photos, and restoring it: to a directory, and to an object store of which each
request takes 30 ms longer. Beside Satchel are copying by hand, rclone and restic.
"""

import shutil
import sys
from dataclasses import dataclass

from .places import DATA, PROJECT, RECORDS
from .runner import Figures
from .sync import SERVER, measured

DELAY_SECONDS = 0.03
UP, DOWN = "backup", "restoring"
DIRECTORY, BUCKET = "a directory", "S3"
PEERS = {DIRECTORY: ["hand", "hand-parallel", "rclone", "restic"], BUCKET: ["rclone", "restic"]}
LARGE = 2 << 30
"""The bytes of the file that is backed up and restored with bounded memory."""
TIMEOUT_SECONDS = 7200


@dataclass(frozen=True)
class Library:
    """Photos with their films and sidecars, as Tests/journeys/gallery.py makes them."""

    photos: int
    size: int
    """The bytes of a photo."""
    places: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.photos:,} photos of {self.size // 1000} kB"

    @property
    def folder(self):
        return DATA / f"library-{self.photos}-{self.size}"

    def make(self) -> None:
        if self.folder.exists():
            return
        sys.path.append(str(PROJECT / "Tests/journeys"))
        from gallery import Gallery  # noqa: PLC0415

        part = self.folder.with_name(self.folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        Gallery(self.photos, size=self.size).write(part)
        part.rename(self.folder)


LIBRARIES = (
    Library(20_000, 300_000, (DIRECTORY,)),
    Library(2_000, 300_000, (BUCKET,)),
    Library(20_000, 30_000, (BUCKET,)),
)
"""The last is that of the journey: a phone is lost, and a new one has nothing but the bucket."""
QUICK_LIBRARIES = (
    Library(400, 300_000, (DIRECTORY,)),
    Library(200, 300_000, (BUCKET,)),
    Library(400, 30_000, (BUCKET,)),
)


def job(name: str, step: str, place: str, library: Library) -> str:
    return f"{name} {step} {place} {library.photos} {library.size}"


def large_job(step: str, place: str) -> str:
    return f"satchel {step} {place} large"


def back_up(libraries: tuple[Library, ...], rounds: int, with_satchel: bool) -> Figures:
    """Starts the server, runs harness.backup_run with it, and reads its figures."""
    RECORDS.mkdir(exist_ok=True)
    DATA.mkdir(exist_ok=True)
    for library in libraries:
        library.make()
    records = RECORDS / "backup.jsonl"
    records.unlink(missing_ok=True)
    beside = [sys.executable, str(PROJECT / "Tests" / "Servers" / "run.py"), SERVER, "--"]
    size = "quick" if libraries == QUICK_LIBRARIES else "full"
    command = [*beside, sys.executable, "-m", "harness.backup_run", size, str(rounds), str(records)]
    return measured([*command, *(["satchel"] if with_satchel else [])], records, TIMEOUT_SECONDS)
