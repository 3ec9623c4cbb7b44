"""Threads that share a store, processes that share a file, and one that is killed."""

from __future__ import annotations

import multiprocessing
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict, List

import pytest
from helpers import SHANGHAI, SINGAPORE, section, storage

import satchel

KILLED = """
import sys, satchel
store = satchel.open(sys.argv[1])
for number in range(1_000_000):
    name = f"s{number}"
    content = {"A": {"v": name, "_storage": {"entity_id": name + ":a", "scope": "locality"}}}
    section = {"section": name, "content": content}
    store.catalogue.persist({"locality": "Shanghai", "country_code": "CN"}, section)
    print(name, flush=True)
"""


def sent(name: str, value: Any) -> Dict[str, Any]:
    return section(
        {"A": {"v": value, **storage(f"{name}:a")}, "B": {"v": value, **storage("all:b", "global")}}, name
    )


def write(path: str, name: str, times: int) -> None:
    """Runs in each of several processes."""
    with satchel.open(path) as store:
        for number in range(times):
            store.catalogue.persist(SHANGHAI, sent(name, number))


def test_threads_share_a_store(store: satchel.Store) -> None:
    failures: List[BaseException] = []
    heard: List[satchel.Change] = []
    store.observe(heard.append)
    start = threading.Barrier(8)

    def work(name: str) -> None:
        try:
            start.wait()
            for number in range(40):
                assert store.catalogue.persist(SHANGHAI, sent(name, number)).problems == []
                found = store.catalogue.load(SHANGHAI, name)
                assert found is not None
                assert found.content["A"] == {"v": number}
                store.catalogue.sections(SHANGHAI)
                # The message is this thread's own.
                with pytest.raises(satchel.InvalidArgument, match=f"level {name}"):
                    satchel.places.key(SHANGHAI, f"level {name}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"s{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store.catalogue.sections(SHANGHAI)) == 8
    assert len(heard) == 8 * 40
    assert len({change.revision for change in heard}) == 8 * 40


def test_a_store_that_closes_under_threads_fails_their_calls_and_nothing_else(path: Path) -> None:
    store = satchel.open(path)
    failures: List[BaseException] = []
    acknowledged: Dict[str, int] = {}
    begun = threading.Barrier(5)

    def work(name: str) -> None:
        begun.wait()
        try:
            for number in range(1_000_000):
                store.catalogue.persist(SHANGHAI, sent(name, number))
                acknowledged[name] = number
        except satchel.Closed:
            return
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"s{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    begun.wait()
    while len(acknowledged) < 4:
        threading.Event().wait(0.01)
    store.close()
    for thread in threads:
        thread.join()
    assert failures == []
    with satchel.open(path) as store:
        for name, number in acknowledged.items():
            found = store.catalogue.load(SHANGHAI, name)
            assert found is not None
            assert found.content["A"]["v"] >= number
        assert store.check() == []


def test_processes_share_a_file(path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    names = ["one", "two"]
    with satchel.open(path) as store:
        writers = [spawn.Process(target=write, args=(str(path), name, 50)) for name in names]
        for writer in writers:
            writer.start()
        for number in range(50):
            store.catalogue.persist(SINGAPORE, sent("three", number))
        for writer in writers:
            writer.join(60)
        assert [writer.exitcode for writer in writers] == [0, 0]
        for name in names:
            found = store.catalogue.load(SHANGHAI, name)
            assert found is not None
            assert found.content["A"] == {"v": 49}
        assert store.check() == []


def test_what_was_acknowledged_survives_a_kill(path: Path) -> None:
    random.seed(5)
    for _ in range(5):
        writer = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline().strip() for _ in range(random.randrange(1, 60))]
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        with satchel.open(path) as store:
            assert store.check() == []
            for name in acknowledged:
                found = store.catalogue.load({"locality": "Shanghai", "country_code": "CN"}, name)
                assert found is not None
                assert found.content == {"A": {"v": name}}
