"""OpenStack Swift with its S3 interface: strict about signatures, and without conditions to rely on."""

from __future__ import annotations

from pathlib import Path

from processes import Processes, free_port, tool

SERVICES = ("account", "container", "object")
PROXY_FILTERS = ("catch_errors", "cache", "listing_formats", "s3api", "tempauth", "slo", "dlo",
                 "versioned_writes", "symlink", "copy")  # fmt: skip
USER, SECRET = "test:tester", "testsecret"


def _service(folder: Path, name: str, port: int) -> str:
    return f"""[DEFAULT]
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
log_address = {folder}/no-syslog
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
"""


def _proxy(folder: Path, port: int) -> str:
    options = {
        # No server listens there, and it does without.
        "cache": "memcache_servers = 127.0.0.1:1",
        "versioned_writes": "allow_object_versioning = true",
        "s3api": "s3_acl = false\nlocation = us-east-1",
        "tempauth": "user_test_tester = testsecret .admin",
    }
    kinds = {"cache": "memcache"}
    filters = "".join(
        f"[filter:{name}]\nuse = egg:swift#{kinds.get(name, name)}\n{options.get(name, '')}\n"
        for name in PROXY_FILTERS
    )
    return f"""[DEFAULT]
swift_dir = {folder}
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
log_address = {folder}/no-syslog
[pipeline:main]
pipeline = {" ".join(PROXY_FILTERS)} proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
{filters}"""


def start(processes: Processes, folder: Path) -> int:
    """Starts the four servers. Returns the port of the proxy."""
    (folder / "devices" / "d1").mkdir(parents=True)
    (folder / "swift.conf").write_text(
        "[swift-hash]\nswift_hash_path_suffix = x\nswift_hash_path_prefix = y\n"
        "[storage-policy:0]\nname = only\ndefault = yes\n"
    )
    places = {"SWIFT_DIR": str(folder), "SWIFT_CONF": str(folder / "swift.conf")}
    for name in SERVICES:
        port, builder = free_port(), str(folder / f"{name}.builder")
        ring = tool("swift-ring-builder")
        processes.run(ring, builder, "create", "4", "1", "0")
        processes.run(ring, builder, "add", f"r1z1-127.0.0.1:{port}/d1", "1")
        # It warns that one copy is not many.
        processes.run(ring, builder, "rebalance", worst=1)
        (folder / f"{name}-server.conf").write_text(_service(folder, name, port))
        processes.start(name, tool(f"swift-{name}-server"), str(folder / f"{name}-server.conf"), **places)
        processes.wait_for_port(name, port)
    port = free_port()
    (folder / "proxy-server.conf").write_text(_proxy(folder, port))
    processes.start("swift", tool("swift-proxy-server"), str(folder / "proxy-server.conf"), **places)
    processes.wait_for_port("swift", port)
    return port
