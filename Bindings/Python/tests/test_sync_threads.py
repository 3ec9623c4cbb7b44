"""Synchronizations while others write and synchronize: threads of a store, processes on one file, devices."""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import List

import pytest
from albums import together
from hosts import DictStore
from record_devices import Device, agreed, everything

import satchel
from satchel.remote import Remote


def test_threads_synchronize_and_change_at_once(pair: List[Device], object_store: Remote) -> None:
    for device in pair:
        device.store.records("courses", on_conflict="merge")
        device.store.state.scores("s", -1000, 1000, synced=True).add("start", 1)
    agreed(pair, object_store)

    def change(device: Device, first: int) -> None:
        for each in range(first, first + 60):
            device.records.put(f"c{each}", {"n": each})
            device.store.state.scores("s", -1000, 1000).add("k", 1)

    def sync(device: Device) -> None:
        for _ in range(5):
            device.sync(object_store)

    changes = [functools.partial(change, device, 1000 * each) for each, device in enumerate(pair)]
    together(*changes, *(functools.partial(sync, device) for device in (*pair, pair[0])))
    agreed(pair, object_store)
    assert pair[0].documents() == {f"c{each}": {"n": each} for each in (*range(60), *range(1000, 1060))}
    assert [device.store.state.scores("s", -1000, 1000).value("k") for device in pair] == [120, 120]


def test_two_threads_of_one_store_take_turns(pair: List[Device], remote_copy: Remote) -> None:
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(500)})
    running = threading.Semaphore(1)

    def sync() -> None:
        def alone(progress: object) -> None:
            assert running.acquire(blocking=False), "two at once"
            running.release()

        assert phone.sync(remote_copy, progress=alone).ok

    together(sync, sync, sync)
    assert phone.sync(remote_copy).unchanged
    agreed([tablet, phone], remote_copy)


def test_a_store_can_be_used_while_it_is_synchronized(pair: List[Device]) -> None:
    host = DictStore()
    phone, tablet = pair
    phone.records.put_many({f"c{each}": {"n": each} for each in range(200)})
    blocked, go = threading.Event(), threading.Event()

    def before(operation: str, key: str) -> None:
        if operation == "put" and key.endswith("head"):
            blocked.set()
            assert go.wait(60)

    host.before = before
    with host.remote() as remote:
        thread = threading.Thread(target=lambda: phone.sync(remote))
        thread.start()
        assert blocked.wait(60)
        # Nothing of this waits for the network.
        phone.put("c1", n=1001)
        phone.records.delete("c2")
        with phone.store.batch():
            phone.put("new", n=1)
        phone.store.records("other").put("a", {})
        assert phone.records.count() == 200
        phone.store.state.set("theme", "dark", synced=True)
        phone.store.state.flush()
        assert phone.store.check() == []
        host.before = lambda operation, key: None
        go.set()
        thread.join(60)
        tablet.store.records("other")
        agreed(pair, remote)
    assert tablet.records.get("c1") == {"n": 1001}
    assert tablet.records.get("c2") is None


def test_a_store_is_closed_after_its_synchronization(pair: List[Device]) -> None:
    host = DictStore()
    phone, _ = pair
    phone.put("a", n=1)
    closing = threading.Thread(target=phone.store.close)

    def before(operation: str, key: str) -> None:
        if operation == "put" and key.endswith("head") and closing.ident is None:
            closing.start()

    host.before = before
    with host.remote() as remote:
        with contextlib.suppress(satchel.Closed, satchel.Cancelled):
            phone.sync(remote)
        closing.join(60)
        assert not closing.is_alive()
        assert phone.store.closed
    with satchel.open(phone.path) as store:
        assert store.check() == []


def test_many_devices_meet_at_one_head(tmp_path: Path, object_store: Remote) -> None:
    devices = [Device(tmp_path / f"{each}.satchel") for each in range(6)]

    def work(number: int) -> None:
        for each in range(4):
            devices[number].put(f"{number}-{each}", n=each)
            devices[number].put("shared", n=number)
            while True:
                try:
                    devices[number].sync(object_store)
                    break
                except satchel.Busy:
                    continue

    together(*(functools.partial(work, each) for each in range(6)))
    agreed(devices, object_store)
    assert len(devices[0].documents()) == 25
    for device in devices:
        assert device.store.check() == []
        device.store.close()


PROCESS = """
import sys, satchel
path, folder, first = sys.argv[1], sys.argv[2], int(sys.argv[3])
with satchel.open(path, busy_timeout=60) as store, satchel.remote.Directory(folder) as remote:
    records = store.records("courses")
    for each in range(first, first + 40):
        records.put(f"c{each}", {"n": each})
        if each % 4 == 0:
            while True:
                try:
                    store.sync(remote, "ada")
                    break
                except satchel.Busy:
                    pass
"""


@pytest.mark.parametrize("is_shared", [True, False])
def test_processes_synchronize_at_once(tmp_path: Path, is_shared: bool) -> None:
    """Two processes on one store, or each on its own, with one remote."""
    paths = [tmp_path / ("a.satchel" if is_shared else f"{each}.satchel") for each in range(2)]
    processes = [
        subprocess.Popen([sys.executable, "-c", PROCESS, path, tmp_path / "remote", str(1000 * each)])
        for each, path in enumerate(paths)
    ]
    assert [each.wait(240) for each in processes] == [0, 0]
    expected = {f"c{each}": {"n": each} for each in (*range(40), *range(1000, 1040))}
    with satchel.remote.Directory(tmp_path / "remote") as remote:
        for path in (*paths, tmp_path / "new.satchel", *paths):
            with satchel.open(path) as store:
                store.records("courses")
                assert store.sync(remote, "ada").ok
                assert store.check() == []
        for path in (*paths, tmp_path / "new.satchel"):
            with satchel.open(path) as store:
                store.sync(remote, "ada")
                assert everything(store) == {"courses": expected}


KILLED = """
import sys, satchel, os, json
path, folder, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = satchel.open(path)
records = store.records("courses")
remote = satchel.remote.Directory(folder)
for each in range(10 ** 6):
    records.put(f"{number}-{each % 50}", {"n": each})
    print(json.dumps([f"{number}-{each % 50}", each]), flush=True)
    if each % 3 == 0:
        store.sync(remote, "ada")
"""


def test_a_process_that_is_killed_while_it_synchronizes(tmp_path: Path) -> None:
    """Records that were acknowledged before are in the store, and arrive."""
    acknowledged = {}
    for number in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, tmp_path / "a.satchel", tmp_path / "remote", str(number)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for _ in range(20 + 7 * number):
            id, n = json.loads(process.stdout.readline())
            acknowledged[id] = n
        process.kill()
        # The lines that it wrote before it was killed count as well.
        for line in process.stdout.read().splitlines():
            if line.endswith("]"):
                id, n = json.loads(line)
                acknowledged[id] = n
        process.wait()
        process.stdout.close()
    with satchel.remote.Directory(tmp_path / "remote") as remote:
        for path in ("a.satchel", "b.satchel"):
            with satchel.open(tmp_path / path) as store:
                records = store.records("courses")
                store.sync(remote, "ada")
                found = {each.id: each["n"] for each in records.list()}
                assert set(found) >= set(acknowledged)
                assert all(found[id] >= n for id, n in acknowledged.items())
                assert store.check() == []
