"""A real object store over HTTP, reached as users reach theirs, and a line that breaks.

Tests/Servers/run.py starts the store and says in SATCHEL_TEST_S3 where it is.
"""

from __future__ import annotations

import json
import os
import traceback
import urllib.parse
import urllib.request
import uuid
from functools import partial
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from albums import assert_holds, md5, row, together

import satchel
from satchel import PhotoCatalogue
from satchel.remote import S3

Devices = List[PhotoCatalogue]
Told = Dict[str, Any]
ROWS = {md5(each): row(each) for each in range(60)}


@pytest.fixture(autouse=True)
def _without_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)


@pytest.fixture
def bucket(told: Told, prefix: str) -> Iterator[S3]:
    with S3(**told["store"], prefix=prefix) as remote:
        yield remote


@pytest.fixture
def broken(told: Told, prefix: str) -> Iterator[S3]:
    """The same bucket, behind a proxy that injects faults on request."""
    options = {**told["store"], "endpoint": told["proxy"], "prefix": prefix}
    faults(told)
    with S3(**options, connect_timeout=2, stall_timeout=2, total_timeout=10) as remote:
        yield remote
    faults(told)


def faults(told: Told, *wanted: Dict[str, Any]) -> None:
    """Sets the faults of the next requests."""
    address = f"{told['admin']}/?{urllib.parse.quote(json.dumps(wanted))}"
    with urllib.request.urlopen(address, timeout=10) as answer:
        answer.read()


def seen(told: Told) -> List[Dict[str, Any]]:
    with urllib.request.urlopen(told["admin"], timeout=10) as answer:
        found: List[Dict[str, Any]] = json.load(answer)
        return found


def test_two_devices_agree(devices: Devices, bucket: S3) -> None:
    found = bucket.probe()
    assert found
    assert (found.list, found.delete, found.metadata, found.ranges, found.parts) == (True,) * 5
    phone, tablet = devices
    phone.upsert(ROWS.values())
    report = phone.sync(bucket, "ada")
    assert report.ok
    assert report.uploaded == sorted({int(each[0], 16) for each in ROWS})
    assert tablet.sync(bucket, "ada").downloaded == report.uploaded
    for device in devices:
        assert_holds(device, ROWS)
        idle = device.sync(bucket, "ada")
        assert (idle.requests, idle.uploaded, idle.downloaded) == (1, [], [])
    phone.upsert([row(1, filename="phone")])
    tablet.upsert([row(1, filename="tablet")])
    phone.sync(bucket, "ada")
    assert tablet.sync(bucket, "ada").conflicts == [int(md5(1)[0], 16)]
    (conflict,) = tablet.conflicts()
    tablet.resolve(conflict, "local")
    tablet.sync(bucket, "ada")
    phone.sync(bucket, "ada")
    for device in devices:
        assert_holds(device, {**ROWS, md5(1): row(1, filename="tablet")})


def test_prefixes_keep_catalogues_apart(devices: Devices, told: Told, prefix: str) -> None:
    with S3(**told["store"], prefix=f"{prefix}/a") as one, S3(**told["store"], prefix=f"{prefix}/b") as other:
        devices[0].upsert([row(1)])
        devices[0].sync(one, "ada")
        devices[1].sync(other, "ada")
        assert devices[1].count() == 0


@pytest.mark.parametrize("way", ["temporary", "secure"])
def test_other_ways_to_the_store(devices: Devices, told: Told, prefix: str, way: str) -> None:
    assert way in told, f"{told['kind']} has no {way} way in"
    with S3(**told[way], prefix=prefix) as remote:
        devices[0].upsert(ROWS.values())
        assert devices[0].sync(remote, "ada").ok
        assert devices[1].sync(remote, "ada").ok
    assert_holds(devices[1], ROWS)


def test_certificates_of_others_are_not_trusted(photos: PhotoCatalogue, told: Told) -> None:
    for trusted in ({"ca_file": told["wrong_ca_file"]}, {"ca_file": None}):
        with S3(**{**told["secure"], **trusted}) as remote, pytest.raises(satchel.SatchelError) as raised:
            photos.sync(remote, "ada")
        assert "certificate" in str(raised.value).lower()


@pytest.mark.parametrize("change", [{"secret_key": "wrong-secret"}, {"access_key": "wrong-key"}])
def test_wrong_keys_are_denied_and_not_said(
    photos: PhotoCatalogue, told: Told, change: Dict[str, str]
) -> None:
    photos.upsert([row(1)])
    options = {**told["store"], **change}
    with S3(**options) as remote, pytest.raises(satchel.SatchelError) as raised:
        photos.sync(remote, "ada")
    said = "".join(traceback.format_exception_only(type(raised.value), raised.value))
    assert options["secret_key"] not in said
    assert isinstance(raised.value, satchel.Unauthorized)
    assert len(photos.changes()) == 1


def test_a_bucket_that_is_not_there(photos: PhotoCatalogue, told: Told) -> None:
    photos.upsert([row(1)])
    options = {**told["store"], "bucket": f"none-{uuid.uuid4().hex}"}
    with S3(**options) as remote, pytest.raises(satchel.SatchelError):
        photos.sync(remote, "ada")
    assert len(photos.changes()) == 1


FAULTS: List[Dict[str, Any]] = [
    {"fault": "status", "code": 503},
    {"fault": "status", "code": 500},
    {"fault": "reset_before"},
    {"fault": "lost_reply"},
    {"fault": "lost_reply", "reset": True},
    {"fault": "truncate", "bytes": 10},
    {"fault": "corrupt", "at": 20},
    {"fault": "cut_upload", "bytes": 5},
    {"fault": "double"},
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: "-".join(map(str, fault.values())))
def test_a_line_that_breaks_loses_nothing(
    devices: Devices, broken: S3, told: Told, fault: Dict[str, Any]
) -> None:
    rows = {md5(each, each % 3): row(each, each % 3) for each in range(9)}
    assert broken.probe()
    devices[0].upsert(rows.values())
    for device in devices:
        # Every other request goes wrong.
        faults(told, *([fault, {"fault": "pass"}] * 6))
        device.sync(broken, "ada")
        faults(told)
        assert device.sync(broken, "ada").ok
        assert device.changes() == []
    for device in devices:
        assert_holds(device, rows)
        assert device.conflicts() == []


def test_a_store_that_ignores_conditions_is_found_out(
    photos: PhotoCatalogue, told: Told, prefix: str
) -> None:
    # With keys whose signatures are not checked: the condition is signed, and its loss would show by that.
    options = {**told["unchecked"], "endpoint": told["proxy"], "prefix": prefix}
    broken = S3(**options, connect_timeout=2, stall_timeout=2, total_timeout=10)
    both = [{"fault": "drop_header", "name": "if-none-match"}, {"fault": "drop_header", "name": "if-match"}]
    photos.upsert([row(1)])
    for fault in both:
        faults(told, *([fault] * 30))
        with pytest.raises(satchel.InvalidArgument, match="condition"):
            photos.sync(broken, "ada")
        faults(told)
    assert len(photos.changes()) == 1


def test_a_stalled_store_can_be_left(photos: PhotoCatalogue, broken: S3, told: Told) -> None:
    photos.upsert(ROWS.values())
    assert broken.probe()
    faults(told, *([{"fault": "hang"}] * 30))
    told_of = 0

    def hear(progress: object) -> bool:
        nonlocal told_of
        told_of += 1
        return told_of < 3

    with pytest.raises(satchel.Cancelled):
        photos.sync(broken, "ada", progress=hear)
    faults(told)
    assert photos.sync(broken, "ada").ok


def test_devices_race_for_one_catalogue(devices: Devices, bucket: S3) -> None:
    def work(device: PhotoCatalogue, first: int) -> None:
        for number in range(first, first + 5):
            device.upsert([row(number, number % 2)])
            assert device.sync(bucket, "ada", on_conflict="merge").ok

    together(*(partial(work, each, 100 * place) for place, each in enumerate(devices)))
    for device in (*devices, *devices):
        device.sync(bucket, "ada", on_conflict="merge")
    numbers = [*range(5), *range(100, 105)]
    for device in devices:
        assert_holds(device, {md5(each, each % 2): row(each, each % 2) for each in numbers})


def test_the_proxy_sees_what_the_report_counts(photos: PhotoCatalogue, broken: S3, told: Told) -> None:
    photos.upsert(ROWS.values())
    assert broken.probe()
    faults(told)
    seen(told)
    report = photos.sync(broken, "ada")
    requests = [each for each in seen(told) if "catalogs/ada" in each["path"]]
    # The rest are the probe of this user's place.
    assert 0 < len(requests) <= report.requests
    puts = [each["path"] for each in requests if each["method"] == "PUT" and "/shards/" in each["path"]]
    assert len(puts) == len(report.uploaded)


def test_keys_of_the_shared_files(
    photos: PhotoCatalogue, told: Told, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = dict(told["store"])
    keys = (
        f"aws_access_key_id = {given.pop('access_key')}\naws_secret_access_key = {given.pop('secret_key')}\n"
    )
    (tmp_path / "keys").write_text(f"[default]\n[there]\n{keys}")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "keys"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    photos.upsert([row(1)])
    with S3(**given, prefix=prefix, profile="there") as remote:
        assert photos.sync(remote, "ada").ok
    with pytest.raises(satchel.InvalidArgument, match='profile "default"'):
        S3(**given)
    monkeypatch.setenv("AWS_PROFILE", "there")
    with S3(**given, prefix=prefix) as remote:
        assert photos.sync(remote, "ada").ok


def test_a_function_is_asked_again_when_a_token_expires(
    photos: PhotoCatalogue, told: Told, prefix: str
) -> None:
    given = {**told["store"], "endpoint": told["proxy"]}
    keys = (given.pop("access_key"), given.pop("secret_key"))
    asked: List[int] = []

    def credentials() -> satchel.remote.Credentials:
        asked.append(1)
        return (
            satchel.remote.Credentials("OLD", "hush")
            if len(asked) == 1
            else satchel.remote.Credentials(*keys)
        )

    photos.upsert(ROWS.values())
    expired = "<Error><Code>ExpiredToken</Code><Message>It has expired.</Message></Error>"
    faults(told, {"fault": "status", "code": 400, "body": expired})
    with S3(**given, prefix=prefix, credentials=credentials) as remote:
        assert photos.sync(remote, "ada").ok
    assert len(asked) == 2
    assert "hush" not in repr(satchel.remote.Credentials("OLD", "hush"))


def test_an_exception_of_the_function_is_the_cause(photos: PhotoCatalogue, told: Told) -> None:
    def credentials() -> satchel.remote.Credentials:
        raise KeyError("no safe")

    given = {name: value for name, value in told["store"].items() if name not in ("access_key", "secret_key")}
    photos.upsert([row(1)])
    with S3(**given, credentials=credentials) as remote:
        with pytest.raises(satchel.Unauthorized, match="gave no credentials") as raised:
            photos.sync(remote, "ada")
        assert isinstance(raised.value.__cause__, KeyError)
        with pytest.raises(satchel.Unauthorized):
            remote.get("x")
    with pytest.raises(satchel.InvalidArgument, match="exclude"):
        S3(**told["store"], credentials=credentials)


def test_a_proxy_of_the_environment(photos: PhotoCatalogue, told: Told, prefix: str) -> None:
    photos.upsert([row(1)])
    # Nothing listens there.
    there = S3(**told["store"], prefix=prefix, proxy="http://127.0.0.1:1")
    with there as remote, pytest.raises(satchel.Unavailable):
        photos.sync(remote, "ada")
    with S3(**told["store"], prefix=prefix, proxy="") as remote:
        assert photos.sync(remote, "ada").ok
