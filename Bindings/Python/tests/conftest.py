from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import uuid
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
import tales
from backend import started
from helpers import FIXTURES, Clock
from photo_files import NAMES, Album
from record_devices import Device

import satchel
from satchel import PhotoCatalogue, State, StoryLibrary
from satchel.assets import Assets

# Who was started in the background ignores interrupts, and so would all that is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def current_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder, which is empty: a store whose path is wrong is not made among the sources."""
    folder = tmp_path_factory.mktemp("current")
    before = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.fixture(autouse=True)
def nothing_in_the_current_folder(current_folder: Path) -> Iterator[None]:
    """A test writes into its own folder."""
    yield
    assert os.listdir(current_folder) == []


@pytest.fixture(scope="session")
def vectors() -> Dict[str, Any]:
    """The examples of the contract, by the name of their file."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in (FIXTURES / "vectors").glob("*.json")
    }


@pytest.fixture(scope="session")
def deliveries() -> List[Dict[str, Any]]:
    """A backend's deliveries for 266 towns; not to be changed by a test."""
    lines = (FIXTURES / "places.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "guide.satchel"


@pytest.fixture
def store(path: Path, clock: Clock) -> Iterator[satchel.Store]:
    """A store in a file, with a clock that does not move; it has to be sound after every test."""
    with satchel.open(path, clock=clock) as store:
        yield store
        if not store.closed:
            # Another process has the system's clock, which is years ahead of this one.
            assert [each for each in store.check() if each.code != "clock_ahead"] == []


@pytest.fixture
def catalogue(store: satchel.Store) -> satchel.Catalogue:
    return store.catalogue


@pytest.fixture
def state(store: satchel.Store) -> State:
    return store.state


@pytest.fixture
def assets(store: satchel.Store) -> Assets:
    return store.assets


@pytest.fixture
def notes(store: satchel.Store) -> Iterator[satchel.Records[Any]]:
    with store.records("notes") as notes:
        yield notes


@pytest.fixture
def delivery(deliveries: List[Dict[str, Any]]) -> Dict[str, Any]:
    """One delivery, for a test to change as it likes."""
    return copy.deepcopy(deliveries[0])


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A directory with the five tales."""
    return Path(shutil.copytree(tales.EXAMPLES, tmp_path / "shelf"))


@pytest.fixture
def books(store: satchel.Store, shelf: Path) -> Iterator[StoryLibrary]:
    with store.stories(shelf) as books:
        yield books


@pytest.fixture
def photos(store: satchel.Store, tmp_path: Path) -> Iterator[PhotoCatalogue]:
    """The catalogue of a directory that is not there."""
    with store.photos(tmp_path / "photos") as photos:
        yield photos


@pytest.fixture
def album(store: satchel.Store, tmp_path: Path) -> Album:
    return Album(store, tmp_path / "album", NAMES)


@pytest.fixture
def remote_copy(tmp_path: Path) -> Iterator[satchel.remote.Remote]:
    """An object store of its own."""
    with satchel.remote.Directory(tmp_path / "remote_copy") as remote:
        yield remote


@pytest.fixture(scope="session")
def told() -> Dict[str, Any]:
    """Where the object store is that Tests/Servers/run.py has started."""
    return started("SATCHEL_TEST_S3", "an object store")


@pytest.fixture
def prefix() -> str:
    return f"python-{uuid.uuid4().hex}"


@pytest.fixture(params=["directory", "s3"])
def object_store(request: pytest.FixtureRequest) -> Iterator[satchel.remote.Remote]:
    """An object store of its own, of each kind that users have."""
    if request.param == "directory":
        yield request.getfixturevalue("remote_copy")
        return
    told = request.getfixturevalue("told")
    with satchel.remote.S3(**told["store"], prefix=request.getfixturevalue("prefix")) as remote:
        yield remote


@pytest.fixture
def devices(tmp_path: Path) -> Iterator[List[PhotoCatalogue]]:
    """Catalogues of two devices, each over a store of its own; both have to be sound after the test."""
    stores = [satchel.open(tmp_path / f"device-{each}.satchel") for each in range(2)]
    yield [store.photos(tmp_path / "holiday") for store in stores]
    for store in stores:
        if not store.closed:
            # Another process has the system's clock, which is years ahead of this one.
            assert [each for each in store.check() if each.code != "clock_ahead"] == []
            store.close()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[List[Device]]:
    """Two devices with a collection each; both stores have to be sound after the test."""
    pair = [Device(tmp_path / f"device-{each}.satchel") for each in range(2)]
    yield pair
    for device in pair:
        if not device.store.closed:
            assert device.store.check() == []
            device.store.close()
