"""The devices and the cloud of the journeys."""

from __future__ import annotations

import json
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import satchel
from journey import Clock
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
