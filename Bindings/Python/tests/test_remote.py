"""Remotes as such: made, shown, probed, closed; nothing secret is said."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any, Dict

import pytest
from albums import md5, row
from hosts import DictStore

import satchel
from satchel import InvalidArgument, PhotoCatalogue, _callbacks, remote
from satchel.remote import S3, Callbacks, Directory

SECRETS = {"access_key": "AKIAOPENSESAME", "secret_key": "dont/tell+anybody", "session_token": "tok-of-luck"}
BUCKET: Dict[str, Any] = {
    "bucket": "photos",
    "endpoint": "https://s3.example.org",
    "region": "eu-central-1",
    **SECRETS,
}


@pytest.fixture(autouse=True)
def _without_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)


def test_each_kind_shows_what_it_is(tmp_path: Path) -> None:
    with Directory(tmp_path / "remote_copy") as directory:
        assert repr(directory) == f"<satchel.remote.Directory {str(tmp_path / 'remote_copy')!r}>"
        assert directory.path == str(tmp_path / "remote_copy")
    assert repr(directory).endswith(", closed>")
    with S3(**BUCKET) as bucket:
        assert repr(bucket) == "<satchel.remote.S3 'photos' at 'https://s3.example.org'>"
        assert bucket.bucket == "photos"
    with DictStore().remote() as own:
        assert repr(own) == "<satchel.remote.Callbacks>"


def test_secrets_are_nowhere_to_be_seen() -> None:
    with S3(**BUCKET) as bucket:
        slots = {name for kind in type(bucket).__mro__ for name in getattr(kind, "__slots__", ())}
        held = [repr(getattr(bucket, name, None)) for name in slots if not name.startswith("__")]
        shown = " ".join([repr(bucket), str(bucket), f"{bucket!s}", *held, repr(gc.get_referents(bucket))])
        assert not any(secret in shown for secret in SECRETS.values())
        with pytest.raises(TypeError):
            pickle.dumps(bucket)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"bucket": ""}, "bucket"),
        ({"bucket": 5}, "bucket"),
        ({"bucket": "a\ud800"}, "bucket"),
        ({"endpoint": "ftp://example.org"}, "endpoint"),
        ({"endpoint": "no address"}, "endpoint"),
        ({"endpoint": b"https://x"}, "endpoint"),
        ({"region": "a b\n"}, "region"),
        ({"access_key": 5}, "access_key"),
        ({"access_key": None}, "access_key"),
        ({"secret_key": b"bytes"}, "secret_key"),
        ({"session_token": []}, "session_token"),
        ({"prefix": 5}, "prefix"),
        ({"prefix": "a\0b"}, "prefix"),
        ({"ca_file": 5}, "ca_file"),
        ({"connect_timeout": 0}, "connect_timeout"),
        ({"stall_timeout": -1}, "stall_timeout"),
        ({"total_timeout": "long"}, "total_timeout"),
        ({"total_timeout": float("nan")}, "total_timeout"),
    ],
    ids=repr,
)
def test_options_that_are_none_are_named_and_secrets_are_not(change: Dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidArgument, match=named) as raised:
        S3(**{**BUCKET, **change})
    said = "".join(traceback.format_exception_only(type(raised.value), raised.value))
    assert not any(secret in said for secret in SECRETS.values())


def test_an_unreachable_remote_is_unavailable_and_secrets_are_not_in_the_message(
    photos: PhotoCatalogue,
) -> None:
    photos.upsert([row(1)])
    unreachable = S3(**{**BUCKET, "endpoint": "http://127.0.0.1:9"}, connect_timeout=0.5, total_timeout=1)
    with unreachable, pytest.raises(satchel.SatchelError) as raised:
        photos.sync(unreachable, "ada", progress=lambda progress: None)
    said = "".join(traceback.format_exception(type(raised.value), raised.value, raised.value.__traceback__))
    assert isinstance(raised.value, satchel.Unavailable)
    assert not any(secret in said for secret in SECRETS.values())
    assert len(photos.changes()) == 1


def test_credentials_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", SECRETS["access_key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRETS["secret_key"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://s3.example.org")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    S3(bucket="photos").close()


@pytest.mark.parametrize("path", [None, 5, b"bytes", "nul\0", "\ud800", ""], ids=ascii)
def test_directories_that_are_none(path: Any) -> None:
    with pytest.raises(InvalidArgument):
        Directory(path)


def test_a_directory_without_a_parent(tmp_path: Path) -> None:
    with pytest.raises(satchel.NotFound):
        Directory(tmp_path / "none/remote_copy")
    (tmp_path / "file").touch()
    with pytest.raises(satchel.SatchelError):
        Directory(tmp_path / "file")


@pytest.mark.parametrize("place", range(5))
def test_functions_that_are_none(place: int) -> None:
    functions: Any = [len, len, len, len, len]
    functions[place] = "no function"
    name = ("get", "put", "head", "delete", "list")[place]
    with pytest.raises(InvalidArgument, match=f"{name} must be callable"):
        Callbacks(*functions)


def test_good_stores_support_conditional_writes(tmp_path: Path) -> None:
    store = DictStore()
    for each in (Directory(tmp_path / "remote_copy"), store.remote()):
        with each:
            probe = each.probe()
            assert (bool(probe), probe.supported, probe.reason) == (True, True, None)
            assert each.probe("deeper/")
    # The objects of the probe are gone again.
    assert store.objects == {}
    for prefix in (None, 5, "\ud800", "a\0"):
        with Directory(tmp_path / "remote_copy") as each, pytest.raises(InvalidArgument):
            each.probe(prefix)  # type: ignore[arg-type]


class Careless(DictStore):
    """A store that does not look at conditions."""

    def put(self, key: str, body: bytes, **conditions: Any) -> str:
        return super().put(key, body, metadata=conditions.get("metadata"))


def test_a_store_that_ignores_conditions_is_refused(photos: PhotoCatalogue) -> None:
    photos.upsert([row(1)])
    with Careless().remote() as careless:
        probe = careless.probe()
        assert not probe
        assert probe.reason
        with pytest.raises(InvalidArgument, match="condition"):
            photos.sync(careless, "ada")
        assert len(photos.changes()) == 1
        report = photos.sync(careless, "ada", allow_unsafe_remote=True)
        assert report.uploaded == [int(md5(1)[0], 16)]


def test_functions_are_let_go_with_their_remote() -> None:
    gc.collect()
    before = _callbacks.registered_count()
    remotes = [DictStore().remote() for _ in range(20)]
    assert _callbacks.registered_count() == before + 20
    remotes.pop().close()
    del remotes
    gc.collect()
    assert _callbacks.registered_count() == before


FORKED = """
import os, sys, satchel
remote = satchel.remote.Directory(sys.argv[1])
child = os.fork()
if child == 0:
    try:
        remote.probe()
    except satchel.Closed:
        remote.close()
        os._exit(7)
    os._exit(1)
_, status = os.waitpid(child, 0)
assert remote.probe()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_forked_child_makes_remotes_of_its_own(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", FORKED, str(tmp_path / "remote_copy")], check=False)
    assert ended.returncode == 7


def test_what_remote_offers_is_there_and_described() -> None:
    for name in remote.__all__:
        assert getattr(remote, name).__doc__, name
