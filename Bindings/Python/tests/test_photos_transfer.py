"""Backups of large files: streamed in bounded memory, resumed after a kill, restored byte for byte."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from hosts import DictStore

import satchel

SIZE = 160 << 20

PROGRAM = textwrap.dedent("""
    import json, pathlib, sys, satchel
    store, folder, remote, action = sys.argv[1:]
    remote = json.loads(remote)
    remote = satchel.remote.S3(**remote) if isinstance(remote, dict) else satchel.remote.Directory(remote)
    photos = satchel.open(store).photos(folder)
    md5 = next(iter(photos.query(starred=True))).md5

    def progress(p):
        print("progress", flush=True)
        return True

    if action == "upload":
        report = photos.backup.run(remote, "ada", progress)
        assert (report.uploaded, report.failed) == (1, []), report
    else:
        report = photos.backup.restore(md5, action, remote, "ada")
    print(json.dumps({name: getattr(report, name, 0) for name in ("bytes_up", "bytes_down")}))
""")


@pytest.fixture
def film(tmp_path: Path) -> tuple[Path, str]:
    """A folder with one large picture, and its MD5; a store that has it starred."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    block = bytearray(b"II*\0" + os.urandom((1 << 20) - 4))
    with open(folder / "film.tif", "wb") as file:
        for number in range(SIZE >> 20):
            block[8:12] = number.to_bytes(4, "little")
            file.write(block)
    md5 = hashlib.md5((folder / "film.tif").read_bytes()).hexdigest()
    with satchel.open(tmp_path / "store.satchel") as store:
        photos = store.photos(folder)
        photos.upsert(
            [{"md5": md5, "filename": "film.tif", "size": SIZE, "photodate": 1, "modified": 1_600_000_000}]
        )
        photos.star(md5)
    return folder, md5


@pytest.fixture(params=["directory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The description of a remote, as JSON."""
    import json

    if request.param == "directory":
        return json.dumps(str(tmp_path / "remote"))
    told = request.getfixturevalue("told")
    description = dict(told["store"], prefix=f"large-{os.urandom(6).hex()}")
    description.pop("timeouts", None)
    return json.dumps(description)


def start(tmp_path: Path, folder: Path, place: str, action: str, **options: Any) -> subprocess.Popen[str]:
    """A process that uploads, or restores to a path."""
    arguments = [str(tmp_path / "store.satchel"), str(folder), place, action]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, **options
    )


def finish(process: subprocess.Popen[str]) -> dict[str, int]:
    """The traffic of a process that ends well."""
    import json

    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    traffic: dict[str, int] = json.loads(output.splitlines()[-1])
    return traffic


def limited() -> None:
    """Leaves less memory than the file needs."""
    resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
def test_a_file_larger_than_memory_is_uploaded_and_restored(
    tmp_path: Path, film: tuple[Path, str], place: str
) -> None:
    """Both ways under a limit of 64 MB for all data of the process, the interpreter included."""
    folder, md5 = film
    assert finish(start(tmp_path, folder, place, "upload", preexec_fn=limited))["bytes_up"] == SIZE
    back = tmp_path / "back.tif"
    assert finish(start(tmp_path, folder, place, str(back), preexec_fn=limited))["bytes_down"] == SIZE
    assert hashlib.md5(back.read_bytes()).hexdigest() == md5
    assert back.stat().st_mtime == 1_600_000_000


def test_large_files_of_a_host_go_in_parts(tmp_path: Path, film: tuple[Path, str]) -> None:
    """A host with the optional functions never gets, and never gives, more than 8 MiB at once."""
    folder, md5 = film
    host = DictStore()
    with satchel.open(tmp_path / "store.satchel") as store, host.remote(parts=True) as remote:
        photos = store.photos(folder)
        key = f"photos/ada/{md5}"
        broken = [satchel.remote.TransientError("again"), satchel.remote.UnknownOutcome("who knows")]

        def fail(operation: str, _: str) -> None:
            if operation == "put_part" and host.calls.count(("put_part", key)) > 4 and broken:
                raise broken.pop()

        host.before = fail
        assert photos.backup.run(remote, "ada").uploaded == 1
        assert host.calls.count(("put_part", key)) == SIZE // (8 << 20) + 2
        assert host.parts == {}
        assert hashlib.md5(host.objects[key].body).hexdigest() == md5
        photos.backup.restore(md5, tmp_path / "back.tif", remote, "ada")
        assert host.calls.count(("get_range", key)) == SIZE // (8 << 20)
        assert ("get", key) not in host.calls
        assert hashlib.md5((tmp_path / "back.tif").read_bytes()).hexdigest() == md5
    with pytest.raises(satchel.InvalidArgument, match="together"):
        satchel.remote.Callbacks(
            host.get, host.put, host.head, host.delete, host.list, put_part=host.put_part
        )


def test_a_killed_transfer_is_continued(tmp_path: Path, film: tuple[Path, str], place: str) -> None:
    """After kill -9 in the middle, the next run sends, and receives, only what is missing."""
    folder, md5 = film
    process = start(tmp_path, folder, place, "upload")
    kill_after(process, 12)
    traffic = finish(start(tmp_path, folder, place, "upload"))
    # A directory begins again: it copies as fast as it could compare.
    assert traffic["bytes_up"] == SIZE or (place.startswith("{") and traffic["bytes_up"] < SIZE)
    back = tmp_path / "back.tif"
    part = back.with_name("back.tif.part")
    process = start(tmp_path, folder, place, str(back))
    while process.poll() is None and not (part.exists() and part.stat().st_size > SIZE // 4):
        time.sleep(0.001)
    kill(process)
    assert not back.exists()
    left = part.stat().st_size
    assert left > 1 << 20
    assert finish(start(tmp_path, folder, place, str(back)))["bytes_down"] == SIZE - left
    assert not part.exists()
    assert hashlib.md5(back.read_bytes()).hexdigest() == md5


def kill_after(process: subprocess.Popen[str], count: int) -> None:
    """Kills a process after some reports of its progress."""
    assert process.stdout is not None
    for _ in range(count):
        assert process.stdout.readline() == "progress\n"
    kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    """Kills a process."""
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
