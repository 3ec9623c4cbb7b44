"""The tool as a process that tests interrupt while a bucket does not answer."""

import os
import signal
import subprocess
import threading

from conftest import TOOL


def interrupted(bucket, words, environment, *, at):
    """Interrupts the tool while the bucket does not answer a request that ``at`` picks."""
    stuck, release = threading.Event(), threading.Event()

    def wait(method, path):
        if at(method, path) and not release.is_set():
            stuck.set()
            release.wait(600)

    bucket.before = wait
    with started(words, environment) as process:
        assert stuck.wait(120)
        process.send_signal(signal.SIGINT)
        # Long before the bucket would have answered.
        out, err = process.communicate(timeout=120)
        release.set()
    bucket.before = lambda *_: None
    assert process.returncode == -signal.SIGINT
    assert out == b""
    message = "interrupted: completed transfers are kept, and the next sync continues from there"
    assert err.decode() == f"satchel: {message}\n"


def started(words, environment):
    """The running tool."""
    environment = {**os.environ, **environment}
    return subprocess.Popen([TOOL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
