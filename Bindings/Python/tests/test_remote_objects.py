"""Objects of the host's own in a remote."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from hosts import DictStore

import satchel
from satchel.remote import NOT_MODIFIED, AccessDenied, Remote, RemoteObject, TransientError, UnknownOutcome


def body_of(remote: Remote, key: str) -> bytes:
    found = remote.get(key)
    assert isinstance(found, RemoteObject)
    return bytes(found.body)


def test_an_object_is_written_read_and_deleted(object_store: Remote) -> None:
    for body in (b"", b"a\0b" * 1000, bytearray(b"c"), memoryview(b"d")):
        etag = object_store.put("own/é.bin", body, metadata={"kind": "test"})
        found = object_store.get("own/é.bin")
        assert isinstance(found, RemoteObject)
        assert (found.body, found.etag, found.metadata["kind"]) == (bytes(body), etag, "test")
        head = object_store.head("own/é.bin")
        assert (head.size, head.etag, head.metadata) == (len(body), etag, found.metadata)
        assert object_store.get("own/é.bin", if_none_match=etag) is NOT_MODIFIED
        assert object_store.get("own/é.bin", if_none_match='"other"') != NOT_MODIFIED
    object_store.delete("own/é.bin")
    object_store.delete("own/é.bin")
    for read in (object_store.get, object_store.head):
        with pytest.raises(satchel.NotFound, match="own/é"):
            read("own/é.bin")


def test_conditions(object_store: Remote) -> None:
    first = object_store.put("own", b"1", if_absent=True)
    refused: list[Callable[[], Any]] = [
        lambda: object_store.put("own", b"2", if_absent=True),
        lambda: object_store.put("own", b"2", if_match='"other"'),
        lambda: object_store.put("none", b"2", if_match=first),
        lambda: object_store.delete("own", if_match='"other"'),
    ]
    for call in refused:
        with pytest.raises(satchel.Conflict, match="condition"):
            call()
    assert body_of(object_store, "own") == b"1"
    second = object_store.put("own", b"2", if_match=first)
    with pytest.raises(satchel.Conflict):
        object_store.put("own", b"3", if_match=first)
    object_store.delete("own", if_match=second)
    assert object_store.list() == []


def test_listing(object_store: Remote) -> None:
    names = [f"b/{each:04}" for each in range(1005)]
    with DictStore().remote() as own:
        for name in [*names, "a", "c"]:
            own.put(name, b"xyz")
        assert [each.key for each in own.list("b/")] == names
        assert len(own.list()) == 1007
    for name in ("b/2", "b/10", "a"):
        object_store.put(name, b"xyz")
    assert [(each.key, each.size) for each in object_store.list("b")] == [("b/10", 3), ("b/2", 3)]
    assert next(object_store.iterate("b/2")).etag is not None
    assert object_store.list("none/") == []


@pytest.mark.parametrize("key", ["", "/", "a//b", "../a", "a/./b", "a\n", "k" * 1025])
def test_what_is_no_key(remote_copy: Remote, key: str) -> None:
    for call in (remote_copy.get, remote_copy.head, remote_copy.delete, lambda it: remote_copy.put(it, b"")):
        with pytest.raises(satchel.InvalidArgument, match="key"):
            call(key)


def test_other_invalid_arguments(remote_copy: Remote) -> None:
    with pytest.raises(satchel.InvalidArgument, match="body"):
        remote_copy.put("a", "text")  # type: ignore[arg-type]
    with pytest.raises(satchel.InvalidArgument, match="if_match and if_absent"):
        remote_copy.put("a", b"", if_match="x", if_absent=True)
    for etag in ("", "a b", "é", "x" * 1025):
        with pytest.raises(satchel.InvalidArgument):
            remote_copy.put("a", b"", if_match=etag)
    for metadata in ({"Kind": "x"}, {"kind": "é"}, {"kind": 5}, {"kind": "x" * 2049}):
        with pytest.raises(satchel.InvalidArgument):
            remote_copy.put("a", b"", metadata=metadata)  # type: ignore[arg-type]
    assert remote_copy.list() == []
    remote_copy.close()
    with pytest.raises(satchel.Closed):
        remote_copy.get("a")


def test_faults_of_the_store_are_retried_or_reported() -> None:
    objects = DictStore()
    faults: list[Exception] = []

    def fail(operation: str, key: str) -> None:
        if faults:
            raise faults.pop()

    with objects.remote() as remote:
        objects.before = fail
        faults.append(TransientError("busy"))
        assert remote.put("a", b"1")
        faults.append(TransientError("busy"))
        assert body_of(remote, "a") == b"1"
        faults.append(AccessDenied("no"))
        with pytest.raises(satchel.Unauthorized):
            remote.get("a")
        # The reply is lost, and the write had taken effect.
        objects.before = lambda operation, key: None
        objects.after = fail
        faults.append(UnknownOutcome("lost"))
        tag = remote.put("b", b"2", if_absent=True)
        assert remote.head("b").etag == tag
        faults.append(UnknownOutcome("lost"))
        remote.delete("b", if_match=tag)
        assert [each.key for each in remote.list()] == ["a"]
        # The exception of a function is the cause.
        cause = ValueError("broken")
        faults.append(cause)
        with pytest.raises(satchel.SatchelError) as caught:
            remote.head("a")
        assert caught.value.__cause__ is cause
