"""Fixtures of the tool's tests: the tool, stories, photos, records and remotes.

SATCHEL_TOOL names the tool; run.sh sets it.
"""

import hashlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from bucket_server import BucketServer
from remotes import REAL, Remote, in_bucket, real_store

ROOT = Path(__file__).resolve().parents[2]
TOOL = os.environ.get("SATCHEL_TOOL", str(ROOT / ".build-lib/release/satchel-cli"))

# A background process ignores SIGINT, which its child processes inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Replaces Graphviz when it is not installed: prints an SVG document without a graph.
STAND_IN = """#!/bin/sh
[ "$1" = -V ] && exit 0
cat > /dev/null
echo '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><g id="node1"><title>n0</title></g></svg>'
"""


class Result:
    """The output and the exit code of the tool."""

    def __init__(self, done):
        self.code = done.returncode
        self.raw = done.stdout
        self.err = done.stderr.decode()

    @property
    def out(self):
        """The output as text."""
        return self.raw.decode()

    @property
    def json(self):
        """The output, which must be one line of JSON."""
        assert self.out.count("\n") == 1
        assert self.out.endswith("\n")
        return json.loads(self.out)

    @property
    def lines(self):
        return self.out.splitlines()


@pytest.fixture
def run(tmp_path):
    """Runs the tool in a directory of its own: run("lint", "a.json", code=1) gives a Result.

    With the code None, every exit code is as good as another.
    """

    def run(*arguments, code=0, text=b"", subject="story", **options):
        environment = {**os.environ, "COLUMNS": "100", **options.pop("env", {})}
        done = subprocess.run(
            [TOOL, *([subject] if subject else []), *arguments],
            input=text,
            capture_output=True,
            cwd=options.pop("cwd", tmp_path),
            env=environment,
            timeout=600,
            check=False,
            **options,
        )
        result = Result(done)
        expected = result.code if code is None else code
        assert result.code == expected, f"exit code {result.code}, not {code}\n{result.out}\n{result.err}"
        return result

    return run


def segment(name, *targets, **more):
    """A segment with a choice for each target."""
    choices = [
        {"id": f"{name}-{place}", "text": f"To {target}", "nextSegmentId": target}
        for place, target in enumerate(targets)
    ]
    return {
        "id": name,
        "text": f"Text of {name}.",
        "isAuthenticPath": True,
        "isEnding": not targets,
        "choices": choices,
        **more,
    }


def story(name="tale", segments=None, **more):
    """A story without findings, or one with the given segments."""
    return {
        "id": name,
        "title": f"The {name}",
        "author": "A. Tester",
        "originalSource": None,
        "culturalOrigin": None,
        "synopsis": "A test.",
        "coverImageName": "cover",
        "estimatedReadingMinutes": 1,
        "ageRange": "5-8",
        "tags": [],
        "isPurchased": False,
        "segments": [segment("start", "end"), segment("end")] if segments is None else segments,
        **more,
    }


@pytest.fixture
def write(tmp_path):
    """Writes a story or text to a file in the tool's working directory."""

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
    """A story with one error: a choice without an existing target."""
    return story("broken", [segment("start", "end", "forst"), segment("forest", "end"), segment("end")])


@pytest.fixture
def warned():
    """A story with one warning."""
    return story("warned", [segment("start", "end"), segment("end")], ageRange="young")


def watched(arguments, folder, subject="story", codes=(0, 1), **environment):
    """Runs the tool on a terminal and returns its output."""
    parent, child = pty.openpty()
    variables = {**os.environ, "TERM": "xterm", **environment}
    variables = {name: value for name, value in variables.items() if value is not None}
    with subprocess.Popen(
        [TOOL, subject, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=child,
        stderr=child,
        cwd=folder,
        env=variables,
    ) as process:
        os.close(child)
        seen = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:  # Linux reports the end of a terminal's output as an error
                break
            if not part:
                break
            seen += part
    os.close(parent)
    assert process.returncode in codes
    return seen.decode()


class BarePath:
    """A PATH without Graphviz, and one with a replacement."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {"PATH": str(folder)}

    def install(self, script):
        """Installs a script as dot and returns the environment."""
        dot = self.folder / "dot"
        dot.write_text(script)
        dot.chmod(0o755)
        return {"PATH": f"{self.folder}:/usr/bin:/bin"}


@pytest.fixture
def bare_path(tmp_path_factory):
    return BarePath(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def drawing(tmp_path_factory):
    """An environment with Graphviz, or with its replacement."""
    return {} if shutil.which("dot") else BarePath(tmp_path_factory.mktemp("bin")).install(STAND_IN)


class PhotoFolder:
    """A directory of photos and a store for its catalogue, by the tool: folder("query", "--json")."""

    def __init__(self, run, folder, store="photos.satchel", name="Pictures"):
        self.run = run
        self.folder = folder
        self.store = folder / store
        self.pictures = folder / name
        self.pictures.mkdir(exist_ok=True)

    def __call__(self, command, *arguments, **options):
        makes = command in ("scan", "sync", "import") and "--dry-run" not in arguments
        create = ["--create"] if makes else []
        words = [*command.split(), *create, str(self.store), str(self.pictures), *map(str, arguments)]
        return self.run(*words, subject="photos", **options)

    def add(self, name, *, of="baseline.jpg"):
        """Copies a fixture and appends bytes after the end of the picture, which changes its MD5."""
        path = self.pictures / os.fsdecode(name)
        picture = (ROOT / "Tests/Fixtures/photos" / of).read_bytes()
        with open(path, "wb") as file:
            file.write(picture + os.fsencode(name))
        return path

    def take(self, *rows, code=0):
        """Imports rows into the catalogue with a file for each shard."""
        files = {}
        for row in rows:
            files.setdefault(row[0], []).append(row)
        with tempfile.TemporaryDirectory(dir=self.folder) as source:
            for digit, lines in files.items():
                (Path(source) / f"{digit}.csv").write_text("\n".join(sorted(lines)), newline="")
            return self("import", source, "--on-conflict", "merge", code=code)

    def photos(self, *arguments, **options):
        return self("query", "--all", "--json", *arguments, **options).json

    def names(self, *arguments, **options):
        return [photo["filename"] for photo in self.photos(*arguments, **options)]


def row(name, taken=1_700_000_000, *, md5=None, size=1000, width="", height=""):
    """A line of a shard."""
    md5 = md5 or hashlib.md5(name.encode()).hexdigest()
    return f"{md5},{name},{size},{taken},{taken},{width},{height},"


@pytest.fixture
def pictures(run, tmp_path):
    return PhotoFolder(run, tmp_path)


@pytest.fixture
def tablet(run, tmp_path):
    """Another device."""
    return PhotoFolder(run, tmp_path, "tablet.satchel", "Tablet")


@pytest.fixture
def bucket():
    with BucketServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(params=["directory", "bucket", *REAL])
def remote(request, tmp_path):
    if request.param == "directory":
        return Remote("--remote", str(tmp_path / "remote"))
    if request.param in REAL:
        return real_store(request.param)
    return in_bucket(request.getfixturevalue("bucket"))


class Planner:
    """A store with collections of records: planner("list", "--json")."""

    def __init__(self, run, folder, name="planner.satchel"):
        self.run = run
        self.folder = folder
        self.name = name
        self.path = folder / name

    def __call__(self, command, *arguments, **options):
        """`satchel records` with a collection, "courses" by default."""
        collection = options.pop("collection", "courses")
        return self.run(command, self.name, collection, *map(str, arguments), subject="records", **options)

    def sync(self, remote, *arguments, **options):
        """`satchel sync` with a remote."""
        words = [self.name, *remote.words, *map(str, arguments)]
        return self.run("sync", *words, subject=None, env=remote.env, **options)

    def take(self, *records, **options):
        """Imports (id, document) pairs."""
        text = lines_of(*records)
        return self("import", "-", "--create", text=text.encode(), **options)

    def ids(self, *arguments, **options):
        return [record["id"] for record in self("list", *arguments, "--json", **options).json]

    def document(self, name):
        [record] = self("list", "--where", json.dumps({"@id": name}), "--json").json
        return record["document"]


def lines_of(*records):
    """JSON lines of (id, document) pairs."""
    return "".join(json.dumps({"id": name, "document": document}) + "\n" for name, document in records)


COURSES = [
    ("algebra", {"title": "Linear Algebra", "credits": 6}),
    ("topology", {"title": "Topology", "credits": 3}),
    ("logic", {"title": "Logic", "credits": 6, "room": {"name": "H1"}}),
]


@pytest.fixture
def planner(run, tmp_path):
    """A store with a collection of three courses."""
    planner = Planner(run, tmp_path)
    planner.take(*COURSES)
    return planner


@pytest.fixture
def second(run, tmp_path):
    """A store of another device, with the collection and no courses."""
    second = Planner(run, tmp_path, "second.satchel")
    second.take()
    return second


@pytest.fixture
def empty(run, tmp_path):
    """A store that does not exist yet."""
    return Planner(run, tmp_path, "empty.satchel")


# Writes a change that is spooled, since no file may grow beyond the WAL's size, and exits without closing.
SPOOL = """
import os, resource, signal, sys
import satchel
courses = satchel.open(sys.argv[1]).records("courses")
courses.put("kept", {})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = os.path.getsize(sys.argv[1] + "-wal")
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
courses.put("spooled", {})
os._exit(0)
"""


@pytest.fixture
def spooled(planner):
    """A store with a spooled change in its outbox file."""
    subprocess.run([sys.executable, "-c", SPOOL, planner.path], check=True)
    assert (planner.folder / "planner.satchel.outbox").exists()
    return planner
