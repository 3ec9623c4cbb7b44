"""Object stores of the host's own: what they raise, what they return, and what comes of it."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Tuple

import pytest
from albums import assert_holds, md5, row
from hosts import MANIFEST, DictStore, shard_key

import satchel
from satchel import PhotoCatalogue
from satchel.remote import (
    AccessDenied,
    PreconditionFailed,
    RemoteEntry,
    RemoteHead,
    RemoteObject,
    RemotePage,
    TransientError,
    UnknownOutcome,
)

Devices = List[PhotoCatalogue]
ROWS = {md5(each, 3): row(each, 3) for each in range(5)} | {md5(9, 4): row(9, 4)}


@pytest.fixture
def host() -> DictStore:
    return DictStore()


def test_two_devices_agree(devices: Devices, host: DictStore) -> None:
    with host.remote() as remote:
        devices[0].upsert(ROWS.values())
        assert devices[0].sync(remote, "ada").uploaded == [3, 4]
        assert devices[1].sync(remote, "ada").downloaded == [3, 4]
        for device in devices:
            assert_holds(device, ROWS)
            host.calls.clear()
            assert device.sync(remote, "ada").requests == 1
            assert host.calls == [("get", MANIFEST)]
    assert host.objects[shard_key(3)].body == devices[0].export_shard(3)
    assert host.objects[shard_key(3)].metadata["sha256"]


def outcome(device: PhotoCatalogue, remote: satchel.remote.Remote) -> Tuple[Any, str]:
    """Why a synchronization failed as a whole, or in each of its shards."""
    try:
        report = device.sync(remote, "ada")
    except satchel.SatchelError as error:
        return error.__cause__, str(error)
    assert {each.shard for each in report.failed} == {3, 4}
    causes = [each.cause for each in report.failed]
    assert causes[0] is causes[1]
    return causes[0], report.failed[0].message


class Own(Exception):
    """Something that only this host knows."""


@pytest.mark.parametrize(
    "kind", [Own, ValueError, RecursionError, AccessDenied, PermissionError, AssertionError]
)
@pytest.mark.parametrize("operation", ["get", "put"])
def test_what_is_raised_for_the_manifest_is_the_cause(
    devices: Devices, host: DictStore, kind: Any, operation: str
) -> None:
    devices[0].upsert(ROWS.values())
    raised = kind("the disk of the host is on fire")
    with host.remote() as remote:
        # The first request of all is a probe, unless it was done.
        assert remote.probe()
        host.fail(lambda: raised, operation, MANIFEST)
        cause, said = outcome(devices[0], remote)
        assert cause is raised
        assert "on fire" in said
        assert devices[0].changes()
        host.before = lambda operation, key: None
        devices[0].sync(remote, "ada")
        devices[1].sync(remote, "ada")
    assert_holds(devices[1], ROWS)


@pytest.mark.parametrize("operation", ["get", "put"])
def test_what_is_raised_for_a_shard_is_its_cause(devices: Devices, host: DictStore, operation: str) -> None:
    devices[0].upsert(ROWS.values())
    with host.remote() as remote:
        if operation == "get":
            devices[0].sync(remote, "ada")
        raised = Own("no such drawer")
        host.fail(lambda: raised, operation, shard_key(3))
        device = devices[operation == "get"]
        report = device.sync(remote, "ada")
        assert [each.shard for each in report.failed] == [3]
        assert report.failed[0].cause is raised
        assert "no such drawer" in report.failed[0].message
        assert (report.downloaded or report.uploaded) == [4]
        host.before = lambda operation, key: None
        for each in (*devices, *devices):
            each.sync(remote, "ada")
    for each in devices:
        assert_holds(each, ROWS)


@pytest.mark.parametrize("kind", [TransientError, ConnectionError, TimeoutError, UnknownOutcome])
def test_what_passes_is_tried_again(devices: Devices, host: DictStore, kind: Any) -> None:
    devices[0].upsert(ROWS.values())
    with host.remote() as remote:
        for device in devices:
            for operation in ("get", "put"):
                host.fail(lambda: kind("for a moment"), operation, times=2)
                assert device.sync(remote, "ada").ok
    for device in devices:
        assert_holds(device, ROWS)


@pytest.mark.parametrize("kind", [UnknownOutcome, ConnectionError, TimeoutError, Own])
def test_a_write_whose_answer_is_lost_is_read_back(devices: Devices, host: DictStore, kind: Any) -> None:
    """Each put takes effect, and then raises: nothing may be lost or doubled."""
    devices[0].upsert(ROWS.values())
    lost = [3]

    def after(operation: str, key: str) -> None:
        if operation == "put" and "condition-probe" not in key and "catalogs/ada" in key and lost[0] > 0:
            lost[0] -= 1
            raise kind("the answer was lost")

    with host.remote() as remote:
        assert remote.probe()
        host.after = after
        for _ in range(4):
            devices[0].sync(remote, "ada")
        assert lost == [0]
        assert devices[0].changes() == []
        devices[1].sync(remote, "ada")
    for device in devices:
        assert_holds(device, ROWS)
        assert device.conflicts() == []


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_to_end_the_program_ends_the_call(devices: Devices, host: DictStore, kind: Any) -> None:
    devices[0].upsert(row(each) for each in range(200))
    raised = kind()
    with host.remote() as remote:
        host.fail(lambda: raised, "put", "shards/")
        with pytest.raises(kind) as caught:
            devices[0].sync(remote, "ada")
        assert caught.value is raised
        # Once raised it is not asked sixteen times.
        assert len([key for operation, key in host.calls if operation == "put" and "shards" in key]) < 16
        host.before = lambda operation, key: None
        devices[0].sync(remote, "ada")
        devices[1].sync(remote, "ada")
    assert_holds(devices[1], {md5(each): row(each) for each in range(200)})


WRONG: Dict[str, List[Any]] = {
    "get": [
        5,
        "text",
        b"bytes",
        RemoteHead(1, "tag"),
        RemoteObject("text", "tag"),  # type: ignore[arg-type]
        RemoteObject(b"", ""),
        RemoteObject(b"", 5),  # type: ignore[arg-type]
        RemoteObject(b"", "a\nb"),
        RemoteObject(b"", "tag", {"a": 1}),  # type: ignore[dict-item]
        RemoteObject(b"", "tag", {1: "a"}),  # type: ignore[dict-item]
        RemoteObject(b"", "tag", 5),  # type: ignore[arg-type]
        RemoteObject(b"", "\ud800"),
    ],
    "put": [5, b"tag", "", "a\nb", "\ud800", RemoteObject(b"", "tag"), "x" * 5000],
}


@pytest.mark.parametrize(
    ("operation", "answer"),
    [(name, answer) for name, answers in WRONG.items() for answer in answers],
    ids=ascii,
)
def test_answers_that_are_none_fail_the_request(
    devices: Devices, host: DictStore, operation: str, answer: Any
) -> None:
    devices[0].upsert(ROWS.values())
    with host.remote() as remote:
        assert remote.probe()
        if operation == "get":
            devices[0].sync(remote, "ada")
        host.before = lambda asked, key: answer if asked == operation and key.endswith("/3.csv") else None
        report = devices[operation == "get"].sync(remote, "ada")
        assert [each.shard for each in report.failed] == [3]
        assert (report.downloaded or report.uploaded) == [4]
        host.before = lambda asked, key: None
        for each in (*devices, *devices):
            assert each.sync(remote, "ada").ok
    for each in devices:
        assert_holds(each, ROWS)


def test_bodies_that_lie_are_not_believed(devices: Devices, host: DictStore) -> None:
    """A shard that neither matches the manifest nor is sound in itself is never read as photos."""
    devices[0].upsert(ROWS.values())
    with host.remote() as remote:
        devices[0].sync(remote, "ada")
        key = shard_key(3)
        sound = host.objects[key]
        bodies: List[Callable[[bytes], bytes]] = [
            lambda body: body[:-1],
            lambda body: b"",
            lambda body: body + b"\n",
            lambda body: body.replace(b"IMG", b"GMI"),
            lambda body: bytes(1000),
        ]
        for change in bodies:
            host.objects[key] = RemoteObject(change(bytes(sound.body)), sound.etag, sound.metadata)
            report = devices[1].sync(remote, "ada")
            assert [each.shard for each in report.failed] == [3]
            assert devices[1].count(shard=3) == 0
        host.objects[key] = sound
        assert devices[1].sync(remote, "ada").ok
    assert_holds(devices[1], ROWS)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"version": "6.0"}', b"{}" * 1000, b"[" * 100_000],
    ids=repr,
)
def test_manifests_that_are_none_change_nothing(devices: Devices, host: DictStore, body: bytes) -> None:
    devices[0].upsert(ROWS.values())
    with host.remote() as remote:
        devices[0].sync(remote, "ada")
        good = host.objects[MANIFEST]
        host.objects[MANIFEST] = RemoteObject(body, '"another"', {})
        devices[0].upsert([row("new", 7)])
        if body in (b"[]", b"null", b'{"version": "6.0"}'):
            with pytest.raises(satchel.SatchelError):
                devices[0].sync(remote, "ada")
        else:
            # No JSON, and so nothing that another program could mean: it is written again.
            assert devices[0].sync(remote, "ada").ok
        assert_holds(devices[0], {**ROWS, md5("new", 7): row("new", 7)})
        host.objects[MANIFEST] = good
        devices[0].sync(remote, "ada")
        devices[1].sync(remote, "ada")
    assert_holds(devices[1], {**ROWS, md5("new", 7): row("new", 7)})


def test_probing_says_what_a_host_raised(host: DictStore) -> None:
    raised = Own("no")
    host.fail(lambda: raised)
    with host.remote() as remote:
        with pytest.raises(satchel.SatchelError) as caught:
            remote.probe()
        assert caught.value.__cause__ is raised


def test_words_that_a_host_may_use() -> None:
    """An entry without a tag, a plain list, a head for a head: what is natural is taken."""
    host = DictStore()
    host.objects["catalogs/ada/x"] = RemoteObject(b"1", "tag")
    with host.remote() as remote:
        listed = host.list
        host.list = lambda *given, **more: [  # type: ignore[method-assign, assignment]
            RemoteEntry(each.key, each.size) for each in listed(*given, **more).entries
        ]
        assert remote.probe()
    assert isinstance(listed("catalogs/"), RemotePage)


def test_a_host_loses_a_race_like_any_store(devices: Devices, host: DictStore) -> None:
    """Somebody else writes the manifest between a device's read and its write."""
    phone, tablet = devices
    phone.upsert(ROWS.values())
    raced = []

    def before(operation: str, key: str) -> None:
        if operation == "put" and key == MANIFEST and not raced:
            raced.append(True)
            with host.remote() as other:
                tablet.upsert([row("tablet", 8)])
                tablet.sync(other, "ada")

    with host.remote() as remote:
        assert remote.probe()
        host.before = before
        assert phone.sync(remote, "ada").ok
        assert raced
        tablet.sync(remote, "ada")
        phone.sync(remote, "ada")
    for device in devices:
        assert_holds(device, {**ROWS, md5("tablet", 8): row("tablet", 8)})


def test_a_failed_condition_that_never_ends_is_given_up(devices: Devices, host: DictStore) -> None:
    devices[0].upsert(ROWS.values())
    with host.remote() as remote:
        assert remote.probe()
        host.fail(lambda: PreconditionFailed("always"), "put", "shards/3")
        report = devices[0].sync(remote, "ada")
        assert [each.shard for each in report.failed] == [3]
        assert report.uploaded == [4]


def test_callbacks_are_called_from_several_threads_at_once(devices: Devices, host: DictStore) -> None:
    devices[0].upsert(row(each) for each in range(200))
    together = threading.Barrier(4)
    met = []

    def before(operation: str, key: str) -> None:
        if operation == "put" and "shards" in key and len(met) < 4:
            try:
                together.wait(20)
            except threading.BrokenBarrierError:
                return
            met.append(key)

    with host.remote() as remote:
        host.before = before
        assert devices[0].sync(remote, "ada", parallel=4).ok
    assert len(met) >= 4


def test_a_store_cannot_be_closed_by_its_own_remote(
    store: satchel.Store, photos: PhotoCatalogue, host: DictStore
) -> None:
    photos.upsert([row(1)])
    refused: List[Exception] = []

    def before(operation: str, key: str) -> None:
        try:
            store.close()
        except satchel.Busy as error:
            refused.append(error)

    with host.remote() as remote:
        host.before = before
        assert photos.sync(remote, "ada").ok
    assert refused


def test_a_remote_that_is_closed_while_it_works_goes_on(photos: PhotoCatalogue, host: DictStore) -> None:
    photos.upsert([row(1)])
    remote = host.remote()
    host.before = lambda operation, key: remote.close()
    assert photos.sync(remote, "ada").ok
    assert MANIFEST in host.objects
