"""The devices and the cloud of the journeys."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import satchel
from backend import Backend
from journey import Clock, films, limited_files
from satchel.remote import S3, Directory, Remote

# A process that was started in the background ignores interrupts, and so would all that is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cloud(tmp_path: Path) -> Directory:
    """A folder that all devices reach."""
    return Directory(tmp_path / "cloud")


@pytest.fixture
def bucket() -> Iterator[Remote]:
    """A real object store, which Tests/Servers/run.py starts."""
    with S3(
        **json.loads(os.environ["SATCHEL_TEST_S3"])["store"], prefix=f"journeys/{uuid.uuid4()}"
    ) as remote:
        yield remote


@pytest.fixture
def backend() -> Backend:
    """The server of the app's content, which Tests/Servers/run.py starts."""
    return Backend()


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Callable[..., satchel.Store]]:
    """Opens the store of a device by its name. At the end of a journey each store is sound."""
    stores: list[satchel.Store] = []

    def opened(name: str, clock: Clock | None = None, **options: Any) -> satchel.Store:
        store = satchel.open(tmp_path / name / "app.satchel", clock=clock or Clock(), **options)
        stores.append(store)
        return store

    def prepared(name: str, clock: Clock | None = None, **options: Any) -> satchel.Store:
        (tmp_path / name).mkdir(exist_ok=True)
        return opened(name, clock, **options)

    yield prepared
    for store in stores:
        if not store.closed:
            assert store.check() == []
            store.close()


@pytest.fixture(params=["a disk", "a limit of the process"])
def small_disk(request, tmp_path):
    """A folder on a small disk, and how to fill and to free it.

    The disk is a real one where it can be mounted, which needs root; a limit of the size of files comes near
    to it anywhere.
    """
    folder = tmp_path / "tablet"
    folder.mkdir(exist_ok=True)
    if request.param == "a limit of the process":
        yield folder, limited_files
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "none", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a disk needs root")
    try:
        yield folder, films
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
