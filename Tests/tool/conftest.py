"""What the tests of `satchel story` share: the tool, and stories to give it.

SATCHEL_TOOL names the tool; run.sh sets it.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = os.environ.get("SATCHEL_TOOL", str(ROOT / ".build-tool/debug/satchel-cli"))

# Stands in for Graphviz where that is not installed: it draws no graph, but an SVG document all the same.
STAND_IN = """#!/bin/sh
[ "$1" = -V ] && exit 0
cat > /dev/null
echo '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><g id="node1"><title>n0</title></g></svg>'
"""


class Result:
    """What the tool said, and how it ended."""

    def __init__(self, done):
        self.code = done.returncode
        self.raw = done.stdout
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()

    @property
    def json(self):
        """The one line of JSON that the output is."""
        assert self.out.count("\n") == 1
        assert self.out.endswith("\n")
        return json.loads(self.out)

    @property
    def lines(self):
        return self.out.splitlines()


@pytest.fixture
def run(tmp_path):
    """Runs the tool in a directory of its own: run("lint", "a.json", code=1) gives a Result."""

    def run(*arguments, code=0, text=b"", subject="story", **options):
        environment = {**os.environ, "COLUMNS": "100", **options.pop("env", {})}
        done = subprocess.run(
            [TOOL, *([subject] if subject else []), *arguments], input=text, capture_output=True,
            cwd=options.pop("cwd", tmp_path), env=environment, timeout=120, check=False, **options,
        )
        result = Result(done)
        assert result.code == code, f"exit code {result.code}, not {code}\n{result.out}\n{result.err}"
        return result

    return run


def segment(name, *targets, **more):
    """A segment with a choice to each of some others."""
    choices = [
        {"id": f"{name}-{place}", "text": f"To {target}", "nextSegmentId": target}
        for place, target in enumerate(targets)
    ]
    return {
        "id": name, "text": f"Text of {name}.", "isAuthenticPath": True, "isEnding": not targets,
        "choices": choices, **more,
    }


def story(name="tale", segments=None, **more):
    """A sound story, or one with these segments."""
    return {
        "id": name, "title": f"The {name}", "author": "A. Tester", "originalSource": None,
        "culturalOrigin": None, "synopsis": "A test.", "coverImageName": "cover",
        "estimatedReadingMinutes": 1, "ageRange": "5-8", "tags": [], "isPurchased": False,
        "segments": [segment("start", "end"), segment("end")] if segments is None else segments, **more,
    }


@pytest.fixture
def write(tmp_path):
    """Writes a story, or a text, to a file of the directory that the tool runs in."""

    def write(name, content=None):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            content = story(path.stem)
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content, indent=1)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def broken():
    """A story with one error: a choice that leads nowhere."""
    return story("broken", [segment("start", "end", "forst"), segment("forest", "end"), segment("end")])


@pytest.fixture
def warned():
    """A story with one warning."""
    return story("warned", [segment("start", "end"), segment("end")], ageRange="young")


class BarePath:
    """A PATH without Graphviz, and one with a program of its name."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {"PATH": str(folder)}

    def install(self, script):
        """An environment in which this script is dot."""
        dot = self.folder / "dot"
        dot.write_text(script)
        dot.chmod(0o755)
        return {"PATH": f"{self.folder}:/usr/bin:/bin"}


@pytest.fixture
def bare_path(tmp_path_factory):
    return BarePath(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def drawing(tmp_path_factory):
    """An environment in which SVG can be drawn: by Graphviz where it is installed."""
    return {} if shutil.which("dot") else BarePath(tmp_path_factory.mktemp("bin")).install(STAND_IN)
