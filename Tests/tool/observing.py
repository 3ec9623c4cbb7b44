"""A running `satchel store observe`."""

import subprocess

from conftest import TOOL


class Observer:
    """A running `satchel store observe`: a context in which the store is observed."""

    def __init__(self, store, *arguments):
        self.process = subprocess.Popen(
            [TOOL, "store", "observe", str(store), *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.lines = []
        self.start = ""

    def __enter__(self):
        self.start = self.process.stderr.readline()
        assert self.start.endswith(": observed until Ctrl-C\n"), self.start
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def read(self):
        """The next line."""
        line = self.process.stdout.readline().removesuffix("\n")
        self.lines.append(line)
        return line

    def finish(self):
        """Waits for the end; returns the exit code."""
        out, err = self.process.communicate(timeout=120)
        assert err == ""
        self.lines += out.splitlines()
        return self.process.returncode
