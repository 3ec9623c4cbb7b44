"""Ceph's S3 gateway with the least of a cluster below it; takes tags back without quotes only."""

from __future__ import annotations

import sys
import time
import uuid
from pathlib import Path

from processes import Processes, free_port, tool

MODES = ("ms mon client", "ms mon service", "ms mon cluster", "ms cluster", "ms service", "ms client")


def _configuration(folder: Path, monitor: int, port: int, cluster: str) -> str:
    # Encrypted modes hang the gateway.
    modes = "\n".join(f"{name} mode = crc" for name in MODES)
    return f"""[global]
fsid = {cluster}
mon initial members = a
mon host = v2:127.0.0.1:{monitor}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
public network = 127.0.0.0/8
cluster network = 127.0.0.0/8
ms bind ipv6 = false
{modes}
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = true
run dir = {folder}/run
admin socket = {folder}/run/$name.asok
pid file = {folder}/run/$name.pid
log file = {folder}/$name.own.log
mon cluster log file = {folder}/cluster.own.log
crash dir = {folder}/run
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
osd crush chooseleaf type = 0
mon max pg per osd = 2000
osd objectstore = memstore
osd class dir = /usr/lib/{_architecture()}/rados-classes
memstore device bytes = 1073741824
osd max object name len = 1024
osd memory target = 939524096
mon data avail crit = 1
mon data avail warn = 1
setuser match path = {folder}
keyring = {folder}/keyring
[mon.a]
mon data = {folder}/mon
[osd.0]
osd data = {folder}/osd
[client]
rgw data = {folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:{port}
rgw run sync thread = false
rgw enable gc threads = false
rgw thread pool size = 32
"""


def _architecture() -> str:
    return str(getattr(sys.implementation, "_multiarch", "x86_64-linux-gnu"))


def start(processes: Processes, folder: Path, access_key: str, secret_key: str) -> int:
    """Starts monitor, store and gateway. Returns the gateway's port."""
    for name in ("mon", "osd", "run", "rgw"):
        (folder / name).mkdir()
    monitor, port, cluster, disk = free_port(), free_port(), str(uuid.uuid4()), str(uuid.uuid4())
    file = folder / "ceph.conf"
    file.write_text(_configuration(folder, monitor, port, cluster))
    here = ("-c", str(file))

    def run(name: str, *arguments: str) -> None:
        processes.run(tool(name), *arguments, CEPH_CONF=str(file))

    ring = str(folder / "keyring")
    run("ceph-authtool", "--create-keyring", ring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
    run(
        "ceph-authtool",
        ring,
        "--gen-key",
        "-n",
        "client.admin",
        "--cap",
        "mon",
        "allow *",
        "--cap",
        "osd",
        "allow *",
    )
    table = str(folder / "monmap")
    run("monmaptool", "--create", "--fsid", cluster, "--addv", "a", f"[v2:127.0.0.1:{monitor}]", table)
    run("ceph-mon", *here, "--mkfs", "-i", "a", "--monmap", table, "--keyring", ring)
    processes.start("ceph-mon", tool("ceph-mon"), *here, "-i", "a", "-f")
    processes.wait_for_port("ceph-mon", monitor)
    run("ceph", *here, "osd", "new", disk)
    run("ceph-osd", *here, "-i", "0", "--mkfs", "--osd-uuid", disk)
    run("ceph", *here, "osd", "crush", "add-bucket", "h", "host")
    run("ceph", *here, "osd", "crush", "move", "h", "root=default")
    processes.start("ceph-osd", tool("ceph-osd"), *here, "-i", "0", "-f")
    for _ in range(200):
        if "1 up" in processes.output(tool("ceph"), *here, "osd", "stat"):
            break
        time.sleep(0.1)
    user = (
        "--uid",
        "tester",
        "--display-name",
        "tester",
        "--access-key",
        access_key,
        "--secret-key",
        secret_key,
    )
    run("radosgw-admin", *here, "user", "create", *user)
    processes.start("radosgw", tool("radosgw"), *here, "-n", "client.admin", "-f")
    processes.wait_for_port("radosgw", port, timeout=90)
    return port
