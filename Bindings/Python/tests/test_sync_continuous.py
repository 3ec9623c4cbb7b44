"""A store that is kept in sync: after commits, through failures, and to its end."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, Callable, List

import pytest
from hosts import DictStore
from record_devices import Device

import satchel
from satchel.remote import Remote
from satchel.sync import ContinuousSync, ContinuousSyncStatus


class States:
    """The states that a callback received, for which a test can wait."""

    def __init__(self) -> None:
        self.all: List[ContinuousSyncStatus] = []
        self.changed = threading.Condition()

    def __call__(self, status: ContinuousSyncStatus) -> None:
        with self.changed:
            self.all.append(status)
            self.changed.notify_all()

    def wait(self, wanted: Callable[[ContinuousSyncStatus], Any], start: int = 0) -> int:
        """The number of the first state from ``start`` on that is wanted."""
        with self.changed:
            while True:
                found = [each for each in range(start, len(self.all)) if wanted(self.all[each])]
                if found:
                    return found[0]
                assert self.changed.wait(120), self.all

    def idle(self, start: int = 0) -> int:
        return self.wait(lambda status: status.state == "idle", start)


def test_commits_and_changes_of_others_are_synchronized(pair: List[Device], object_store: Remote) -> None:
    phone, tablet = pair
    here, there = States(), States()
    phone.put("before", n=1)
    with (
        phone.store.run_sync(object_store, "ada", every=1, callback=here),
        tablet.store.run_sync(object_store, "ada", every=1, callback=there),
    ):
        first = here.wait(lambda status: status.report and status.report.records.uploaded == 1)
        assert here.all[0].state == "syncing"
        assert here.all[first].last_sync_at is not None
        phone.put("meanwhile", n=2)
        there.wait(lambda status: status.state == "idle" and "meanwhile" in tablet.documents())
    assert tablet.documents() == {"before": {"n": 1}, "meanwhile": {"n": 2}}


def test_a_failure_has_its_cause_and_a_request_tries_again(tmp_path: Path) -> None:
    store, host, states = satchel.open(tmp_path / "a.satchel"), DictStore(), States()

    def offline(operation: str, key: str) -> None:
        raise ConnectionError("no way there")

    host.before = offline
    with store, store.run_sync(host.remote(), "ada", every=None, callback=states) as sync:
        failed = states.wait(lambda status: status.state == "waiting")
        status = states.all[failed]
        assert isinstance(status.error, satchel.Unavailable)
        assert status.failures == 1
        assert isinstance(status.error.__cause__, ConnectionError)
        assert status.next_at is not None
        host.before = lambda operation, key: None
        sync.request()
        assert states.all[states.idle(failed + 1)].error is None
        assert sync.status().failures == 0
        assert sync.status().next_at is None


def test_without_a_network_nothing_is_sent(tmp_path: Path) -> None:
    host, states = DictStore(), States()
    networks = ["none"]
    with satchel.open(tmp_path / "a.satchel") as store:
        sync = store.run_sync(host.remote(), "ada", network=lambda: networks[-1], callback=states)  # type: ignore[arg-type,return-value]
        states.wait(lambda status: status.state == "held")
        assert host.calls == []
        networks.append("free")
        sync.request()
        states.idle()
        assert host.calls


def test_it_goes_on_without_a_reference_and_ends_with_the_store(
    pair: List[Device], remote_copy: Remote
) -> None:
    phone, states = pair[0], States()
    phone.store.run_sync(remote_copy, "ada", callback=states)
    first = states.idle()
    phone.put("a", n=1)
    states.wait(lambda status: status.state == "idle" and status.report.records.uploaded == 1, first + 1)
    with pytest.raises(satchel.Busy):
        phone.store.run_sync(remote_copy, "ada")
    phone.store.close()


def test_the_end_of_the_session_ends_it(pair: List[Device], remote_copy: Remote) -> None:
    phone, states = pair[0], States()
    sync = phone.store.run_sync(remote_copy, "ada", callback=states)
    states.idle()
    phone.store.sign_out()
    ended = states.all[states.wait(lambda status: status.state == "ended")]
    assert isinstance(ended.error, satchel.ForeignFile)
    with pytest.raises(satchel.Closed):
        sync.request()
    assert phone.store.sync_status().user is None
    sync.close()
    sync.close()
    with pytest.raises(satchel.Closed):
        sync.status()


def test_its_callback_can_close_it(pair: List[Device], remote_copy: Remote) -> None:
    opened: List[ContinuousSync] = []
    ready, closed = threading.Event(), threading.Event()

    def close(status: ContinuousSyncStatus) -> None:
        ready.wait()
        opened[0].close()
        closed.set()

    opened.append(pair[0].store.run_sync(remote_copy, "ada", callback=close))
    ready.set()
    closed.wait()
    assert opened[0].closed


@pytest.mark.parametrize("every", [0, -1, 31_536_001, 1.5, "60"])
def test_other_intervals_are_refused(pair: List[Device], remote_copy: Remote, every: Any) -> None:
    with pytest.raises((satchel.InvalidArgument, TypeError)):
        pair[0].store.run_sync(remote_copy, "ada", every=every)


def test_with_asyncio_the_callback_is_called_on_the_loop(tmp_path: Path) -> None:
    from satchel import aio

    async def app() -> List[str]:
        loop, states = asyncio.get_running_loop(), []
        idle = asyncio.Event()

        def changed(status: ContinuousSyncStatus) -> None:
            assert asyncio.get_running_loop() is loop
            states.append(status.state)
            if status.state == "idle":
                idle.set()

        async with await aio.open(tmp_path / "a.satchel") as store:
            sync = await store.run_sync(DictStore().remote(), "ada", callback=changed)
            await idle.wait()
            await sync.request()
            assert (await sync.status()).failures == 0
            await sync.close()
        return states

    assert asyncio.run(app())[:2] == ["syncing", "idle"]
