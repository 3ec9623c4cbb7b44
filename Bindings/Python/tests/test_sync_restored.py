"""Stores that were restored from a backup, copied or recovered synchronize like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List

import pytest
from helpers import Clock
from record_devices import Collection, Device, agreed, documents, everything

import satchel
from satchel.remote import Remote


class Opened(Device):
    """A device over a store that exists."""


def settle(devices: List[Device], remote: Remote) -> None:
    agreed(devices, remote)
    for device in devices:
        assert device.store.check() == []


@pytest.fixture
def known(pair: List[Device], object_store: Remote) -> List[Device]:
    phone, _ = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(20)})
    phone.store.state.set("theme", "dark", synced=True)
    agreed(pair, object_store)
    return pair


def test_a_restored_store_goes_on_where_it_was(
    known: List[Device], object_store: Remote, tmp_path: Path
) -> None:
    phone, tablet = known
    phone.put("before", n=1)
    phone.store.backup(tmp_path / "backup")
    # Sent after the backup was made, so that the restored store does not know it was sent.
    phone.put("c0", n=100)
    phone.records.delete("c1")
    phone.put("after", n=2)
    phone.sync(object_store)
    phone.store.close()
    satchel.restore(tmp_path / "backup", phone.path)
    restored = Opened(phone.path)
    restored.clock.now = phone.clock.now + 60_000
    assert restored.records.get("c0") == {"n": 0}
    restored.put("c2", n=200)
    restored.put("new", n=3)
    tablet.clock.now = phone.clock.now
    tablet.put("c3", n=300)
    restored.sync(object_store)
    settle([restored, tablet], object_store)
    assert restored.records.get("c0") == {"n": 100}
    assert restored.records.get("c1") is None
    found = restored.documents()
    assert {id: found[id]["n"] for id in ("before", "after", "c2", "new", "c3")} == {
        "before": 1,
        "after": 2,
        "c2": 200,
        "new": 3,
        "c3": 300,
    }
    restored.store.close()


def test_the_original_and_its_restored_copy_both_go_on(
    known: List[Device], object_store: Remote, tmp_path: Path
) -> None:
    phone, tablet = known
    phone.put("pending", n=1)
    phone.store.backup(tmp_path / "backup")
    satchel.restore(tmp_path / "backup", tmp_path / "copy.satchel")
    copy = Opened(tmp_path / "copy.satchel")
    devices = [phone, copy, tablet]
    for number, device in enumerate(devices):
        device.clock.now = phone.clock.now + 60_000 * number
        for round in range(3):
            device.put(f"own-{number}-{round}", n=round)
            device.put(f"c{number}", n=1000 + round)
            device.sync(object_store)
    settle(devices, object_store)
    found = tablet.documents()
    assert len(found) == 20 + 1 + 9
    assert [found[f"c{each}"]["n"] for each in range(3)] == [1002, 1002, 1002]
    # The same record, changed by both: the newest wins, and both agree.
    phone.put("c9", n=1)
    copy.clock.now = phone.clock.now + 60_000
    copy.put("c9", n=2)
    phone.sync(object_store)
    settle(devices, object_store)
    assert phone.records.get("c9") == {"n": 2}
    copy.store.close()


def test_a_file_that_was_copied_while_closed_goes_on_as_well(
    known: List[Device], object_store: Remote, tmp_path: Path
) -> None:
    """A copy that the library does not know of has the name of the original as a writer."""
    phone, tablet = known
    phone.store.close()
    (tmp_path / "copy.satchel").write_bytes(phone.path.read_bytes())
    devices = [Opened(phone.path), Opened(tmp_path / "copy.satchel"), tablet]
    for number, device in enumerate(devices):
        device.clock.now = phone.clock.now + 60_000 * number
    for round in range(4):
        for number, device in enumerate(devices):
            device.put(f"own-{number}-{round}", n=round)
            device.put("shared", n=10 * round + number)
            if (round + number) % 2:
                device.sync(object_store)
    settle(devices, object_store)
    found = tablet.documents()
    assert {f"own-{n}-{r}" for n in range(3) for r in range(4)} <= set(found)
    for device in devices[:2]:
        device.store.close()


def test_a_recovered_store_gets_what_it_lost(
    known: List[Device], object_store: Remote, tmp_path: Path
) -> None:
    phone, tablet = known
    phone.records.put_many({f"more{each}": {"n": each, "text": "x" * 500} for each in range(300)})
    agreed(known, object_store)
    phone.put("unsent", n=1)
    phone.store.close()
    data = bytearray(phone.path.read_bytes())
    # Pages from the middle of the file are gone.
    page = 4096
    middle = len(data) // page // 2
    for each in range(middle, middle + 6):
        data[each * page : (each + 1) * page] = b"\xff" * page
    (tmp_path / "damaged").write_bytes(data)
    result = satchel.recover(tmp_path / "damaged", tmp_path / "recovered.satchel")
    assert not result.complete
    tablet.put("c0", n=500)
    tablet.sync(object_store)
    recovered = Opened(tmp_path / "recovered.satchel")
    recovered.sync(object_store)
    agreed([recovered, tablet], object_store)
    found = tablet.documents()
    assert set(found) >= {*(f"c{each}" for each in range(20)), *(f"more{each}" for each in range(300))}
    assert found["c0"] == {"n": 500}
    assert recovered.store.check() == []
    recovered.store.close()


def test_an_empty_store_in_the_place_of_one_that_was_lost(
    known: List[Device], object_store: Remote, tmp_path: Path
) -> None:
    phone, tablet = known
    expected = phone.documents()
    phone.store.close()
    with satchel.open(tmp_path / "new.satchel", clock=Clock()) as store:
        records: Collection = store.records("courses")
        store.sync(object_store, "ada")
        assert documents(records) == expected
        records.put("first", {"n": 1})
        store.sync(object_store, "ada")
        tablet.sync(object_store)
        found: Dict[str, object] = dict(everything(store))
        assert everything(tablet.store) == found


def test_writes_that_were_spooled_are_sent(known: List[Device], object_store: Remote, tmp_path: Path) -> None:
    """The outbox is drained before the store is synchronized."""
    phone, tablet = known
    phone.store.close()
    path = phone.path
    mode = path.stat().st_mode
    wal = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
    try:
        for each in wal:
            if each.exists():
                each.chmod(0o444)
        with satchel.open(path) as store:
            revision = store.records("courses").put("spooled", {"n": 1})
    except satchel.ReadOnly:
        revision = -1
    finally:
        for each in wal:
            if each.exists():
                each.chmod(mode)
    with satchel.open(path) as store:
        if revision == -1:
            store.records("courses").put("spooled", {"n": 1})
        store.sync(object_store, "ada")
    tablet.sync(object_store)
    assert tablet.records.get("spooled") == {"n": 1}
