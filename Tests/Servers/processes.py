"""Servers that are started for a test and stopped after it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path


def free_port() -> int:
    """Returns a free port of the loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Makes a self-signed certificate for 127.0.0.1, and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-subj", "/CN=Satchel tests", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def tool(name: str) -> str:
    """A program of the virtual environment that this runs in, or of the system."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise SystemExit(f"{name} is not installed: see Tests/Servers/requirements*.txt")
    return found


class Processes:
    """The processes that were started, with a log each; all of them end with the block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.running.values()):
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, name: str, *command: str, **environment: str) -> None:
        """Starts a server in the folder, with only the environment that it needs."""
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "TMPDIR")}
        with (self.folder / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                command,
                env={**kept, **environment},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def run(self, *command: str, worst: int = 0, **environment: str) -> None:
        """Runs a command to its end, and fails when its status is above the worst."""
        done = subprocess.run(
            command, env={**os.environ, **environment}, cwd=self.folder, capture_output=True, check=False
        )
        if not 0 <= done.returncode <= worst:
            raise SystemExit(f"{command[0]}: {done.stdout.decode()}{done.stderr.decode()}")

    def output(self, *command: str) -> str:
        """Returns the output of a command that may fail."""
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False).stdout

    def wait_for_port(self, name: str, port: int, timeout: float = 60) -> None:
        """Returns when something listens there, and fails when the server has ended instead."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if self.running[name].poll() is not None:
                break
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        self.show_logs()
        raise SystemExit(f"{name} does not come up")

    def show_logs(self) -> None:
        """The ends of all logs, for a person to read."""
        for name in self.running:
            lines = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()[-15:]
            print(f"---- {name}", *lines, sep="\n", file=sys.stderr)
