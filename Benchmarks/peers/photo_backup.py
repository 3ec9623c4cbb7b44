"""A device that backs up, or restores, a library of photos by Satchel, one step in its own process:
python -m peers.photo_backup up|down STORE FOLDER REMOTE | hand FOLDER TARGET PARALLEL

REMOTE is a directory, or an S3 store as JSON. "hand" copies the files as a careful program does: each is
written under another name, synced and renamed, and the folders are synced after each batch.
"""

import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

USER, PARALLEL, BATCH = "ana", 8, 32
"""As many files at once as the peers transfer; and as many with one sync of their folder as Satchel's."""


def satchel_device(step: str, path: str, folder: str, told: str) -> dict[str, float]:
    import satchel  # noqa: PLC0415
    from satchel.remote import S3, Directory  # noqa: PLC0415

    times: dict[str, float] = {}
    remote = S3(**json.loads(told)) if told.startswith("{") else Directory(told)
    with satchel.open(path) as store, remote:
        photos = store.photos(folder)

        def timed(name: str, work):
            start = perf_counter()
            report = work()
            times[f"{name}_s"] = round(perf_counter() - start, 4)
            return report

        if step == "up":
            timed("scan", photos.scan)
            timed("sync", lambda: photos.sync(remote, USER))
            report = timed("run", lambda: photos.backup.run(remote, USER, all=True, parallel=PARALLEL))
            times["files"] = report.uploaded
        else:
            timed("sync", lambda: photos.sync(remote, USER))
            report = timed("run", lambda: photos.backup.restore_all(remote, USER, parallel=PARALLEL))
            times["files"] = report.restored
        if not report.ok:
            sys.exit(f"{report.failed_count} files failed: {report.failed[0].message}")
    return times


def copy(source: Path, target: Path) -> None:
    part = target.with_name(target.name + ".part")
    shutil.copyfile(source, part)
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.rename(target)


def sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def by_hand(folder: str, target: str, parallel: str) -> dict[str, float]:
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    start = perf_counter()
    with ThreadPoolExecutor(int(parallel)) as pool:
        for first in range(0, len(files), BATCH):
            batch = files[first : first + BATCH]
            targets = [Path(target) / path.relative_to(folder) for path in batch]
            folders = sorted({each.parent for each in targets})
            for each in folders:
                each.mkdir(parents=True, exist_ok=True)
            list(pool.map(copy, batch, targets))
            list(pool.map(sync, folders))
    return {"run_s": round(perf_counter() - start, 4), "files": len(files)}


if __name__ == "__main__":
    work = by_hand if sys.argv[1] == "hand" else satchel_device
    print(json.dumps(work(*sys.argv[2 if work is by_hand else 1 :])))
