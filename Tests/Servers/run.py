#!/usr/bin/env python3
"""run.py KIND -- COMMAND...: runs a command beside an object store and a backend, then stops both.

KIND is ministack, seaweedfs, rclone, swift or ceph, or none for the backend alone. The command finds in
SATCHEL_TEST_S3 a JSON object:
  kind       which store it is
  store      what an S3 store is opened with: endpoint, bucket, region, access_key, secret_key, path_style
  temporary  the same with keys that are lent for a time and a session_token, where the store has them
  unchecked  the same with keys whose signatures are not checked, where the store has them
  secure     the same over https, with the ca_file to trust; and wrong_ca_file, of another authority
  proxy      the endpoint of a proxy before the store that injects faults on request (faultproxy.py)
  admin      where faults are requested
and in SATCHEL_TEST_CONTENT where the backend is that serves content and assets (content.py):
  url, other two sites
  secure     the first over https, with the ca_file to trust; and wrong_ca_file, of another authority
  admin      where content and faults are requested
  closed     a site on which nothing listens
The exit status is that of the command.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import content
import faultproxy
from processes import Processes, certificate, free_port
from stores import STORES


def start_store(kind: str, processes: Processes, folder: Path) -> dict[str, Any]:
    """Starts an object store with its proxy, and returns its description for tests."""
    told = STORES[kind](processes, folder)
    upstream = int(told["store"]["endpoint"].rsplit(":", 1)[1])
    listen, admin = free_port(), free_port()
    processes.start("proxy", sys.executable, faultproxy.__file__, str(listen), str(upstream), str(admin))
    processes.wait_for_port("proxy", listen)
    processes.wait_for_port("proxy", admin)
    return told | {"kind": kind, "proxy": f"http://127.0.0.1:{listen}", "admin": f"http://127.0.0.1:{admin}"}


def start_backend(processes: Processes, folder: Path) -> dict[str, str]:
    """Starts the backend, and returns its description for tests."""
    ports = [free_port() for _ in range(4)]
    trusted, key = certificate(folder, "content")
    wrong, _ = certificate(folder, "content-other")
    processes.start("content", sys.executable, content.__file__, *map(str, ports), str(trusted), str(key))
    for port in ports:
        processes.wait_for_port("content", port)
    told = {
        name: f"http://127.0.0.1:{port}"
        for name, port in zip(("url", "other", "admin"), ports[:3], strict=True)
    }
    return told | {
        "closed": f"http://127.0.0.1:{free_port()}", "secure": f"https://127.0.0.1:{ports[3]}",
        "ca_file": str(trusted), "wrong_ca_file": str(wrong),
    }  # fmt: skip


def main(arguments: list[str]) -> int:
    """Starts, runs, stops."""
    if len(arguments) < 3 or arguments[1] != "--" or arguments[0] not in {*STORES, "none"}:
        print(__doc__, file=sys.stderr)
        return 2
    kind, command = arguments[0], arguments[2:]
    # So that what was started is stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        # Not in /tmp itself: the stores write where they are started.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="satchel-store-")))
        processes = stack.enter_context(Processes(folder))
        # One at a time: a port is free until its server listens.
        with (Path(tempfile.gettempdir()) / "satchel-servers.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            environment = {**os.environ, "SATCHEL_TEST_CONTENT": json.dumps(start_backend(processes, folder))}
            if kind != "none":
                environment["SATCHEL_TEST_S3"] = json.dumps(start_store(kind, processes, folder))
        status = subprocess.run(command, env=environment, check=False).returncode
        if status != 0:
            processes.show_logs()
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
