"""How each kind of object store is started, and what tests learn about it (run.py)."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws
import ceph
import openstack
from processes import Processes, certificate, free_port, tool

BUCKET = "satchel-test"
ROOT = aws.Key("rootkey", "rootsecret")
Told = dict[str, Any]


def _store(endpoint: str, key: aws.Key) -> Told:
    told = {
        "endpoint": endpoint, "bucket": BUCKET, "region": "us-east-1", "path_style": True,
        "access_key": key.access_key, "secret_key": key.secret_key,
    }  # fmt: skip
    return told | ({"session_token": key.session_token} if key.session_token else {})


def _repeat(step: Callable[[], object], timeout: float = 60) -> None:
    """Repeats a step until the store takes it: it may reset connections for a while after it listens."""
    end = time.monotonic() + timeout
    while True:
        try:
            step()
            return
        except (OSError, RuntimeError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def _make_bucket(endpoint: str, key: aws.Key, timeout: float = 60) -> None:
    """Waits until the store takes it, and the first object, which takes some much longer than others."""
    end = time.monotonic() + timeout
    for step in (aws.make_bucket, aws.use_bucket):
        _repeat(functools.partial(step, endpoint, BUCKET, key), end - time.monotonic())


def _ministack(processes: Processes, name: str, **more: str) -> tuple[str, aws.Key]:
    """Starts one, and makes a user: the signatures of the root are not checked."""
    port, root = free_port(), ROOT
    processes.start(
        name, tool("ministack"), SERVICES="s3,iam,sts", AUTH="true", BIND_HOST="127.0.0.1",
        GATEWAY_PORT=str(port), AWS_ACCESS_KEY_ID=root.access_key, AWS_SECRET_ACCESS_KEY=root.secret_key,
        SFTP_ENABLED="0", IOT_MTLS_ENABLED="0", LOG_LEVEL="WARNING", **more,
    )  # fmt: skip
    processes.wait_for_port(name, port)
    endpoint = ("https" if more else "http") + f"://127.0.0.1:{port}"
    allowed = {"Effect": "Allow", "Action": ["s3:*", "sts:*"], "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    _repeat(lambda: aws.query(endpoint, "iam", root, Action="ListUsers", Version="2010-05-08"))
    aws.query(endpoint, "iam", root, Action="CreateUser", UserName="tester", Version="2010-05-08")
    aws.query(
        endpoint, "iam", root, Action="PutUserPolicy", UserName="tester", PolicyName="all",
        PolicyDocument=policy, Version="2010-05-08",
    )  # fmt: skip
    made = aws.query(endpoint, "iam", root, Action="CreateAccessKey", UserName="tester", Version="2010-05-08")
    key = aws.Key(made["AccessKeyId"], made["SecretAccessKey"])
    _make_bucket(endpoint, key)
    return endpoint, key


def ministack(processes: Processes, folder: Path) -> Told:
    """Two of them, one with encryption."""
    endpoint, key = _ministack(processes, "ministack")
    lent = aws.query(endpoint, "sts", key, Action="GetSessionToken", Version="2011-06-15")
    temporary = aws.Key(lent["AccessKeyId"], lent["SecretAccessKey"], lent["SessionToken"])
    trusted, private = certificate(folder, "server")
    wrong, _ = certificate(folder, "other")
    secure, secure_key = _ministack(
        processes,
        "ministack-tls",
        USE_SSL="1",
        MINISTACK_SSL_CERT=str(trusted),
        MINISTACK_SSL_KEY=str(private),
    )
    return {
        "store": _store(endpoint, key),
        "temporary": _store(endpoint, temporary),
        "unchecked": _store(endpoint, ROOT),
        "secure": _store(secure, secure_key) | {"ca_file": str(trusted)},
        "wrong_ca_file": str(wrong),
    }


def seaweedfs(processes: Processes, folder: Path) -> Told:
    """Telemetry is on by default."""
    port, key = free_port(), aws.Key("testkey", "testsecret")
    secret = [{"accessKey": key.access_key, "secretKey": key.secret_key}]
    identity = {
        "name": "tester",
        "credentials": secret,
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    (folder / "data").mkdir()
    processes.start(
        "seaweedfs", tool("weed"), "mini", "-dir=data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
        "-master.telemetry=false", "-admin.ui=false", "-webdav=false", f"-s3.port={port}",
        "-s3.config=s3.json", "-s3.port.iceberg=0", "-s3.port.lance=0",
    )  # fmt: skip
    processes.wait_for_port("seaweedfs", port)
    endpoint = f"http://127.0.0.1:{port}"
    _make_bucket(endpoint, key)
    return {"store": _store(endpoint, key)}


def rclone(processes: Processes, folder: Path) -> Told:
    """Ignores conditions: a store that has to be refused."""
    port, key = free_port(), aws.Key("testkey", "testsecret")
    (folder / "data" / BUCKET).mkdir(parents=True)
    processes.start(
        "rclone", tool("rclone"), "serve", "s3", "data", "--config=", f"--addr=127.0.0.1:{port}",
        f"--auth-key={key.access_key},{key.secret_key}", "--vfs-cache-mode=off",
    )  # fmt: skip
    processes.wait_for_port("rclone", port)
    return {"store": _store(f"http://127.0.0.1:{port}", key)}


def swift(processes: Processes, folder: Path) -> Told:
    """Strict about signatures; its conditions are none."""
    key = aws.Key(openstack.USER, openstack.SECRET)
    endpoint = f"http://127.0.0.1:{openstack.start(processes, folder)}"
    _make_bucket(endpoint, key)
    return {"store": _store(endpoint, key)}


def ceph_gateway(processes: Processes, folder: Path) -> Told:
    """Wants Debian's radosgw, ceph-mon, ceph-osd and ceph-common."""
    key = aws.Key("testkey", "testsecret")
    endpoint = f"http://127.0.0.1:{ceph.start(processes, folder, key.access_key, key.secret_key)}"
    _make_bucket(endpoint, key)
    return {"store": _store(endpoint, key)}


STORES: dict[str, Callable[[Processes, Path], Told]] = {
    "ministack": ministack,
    "seaweedfs": seaweedfs,
    "rclone": rclone,
    "swift": swift,
    "ceph": ceph_gateway,
}
