"""`satchel conflicts`: conflicts of records and photos that are open, lost or wait, and their resolutions."""

import json
import subprocess
import sys

import pytest
from conftest import Planner
from remotes import Remote

DECLARE = """
import json, satchel, sys
with satchel.open(sys.argv[1]) as store:
    for declaration in json.loads(sys.argv[2]):
        store.records(declaration.pop("name"), **declaration)
"""


class Device(Planner):
    """A store with collections as an app declares them."""

    def __init__(self, run, folder, name, *declarations):
        super().__init__(run, folder, name)
        self.declare(*declarations)

    def declare(self, *declarations):
        words = [str(self.path), json.dumps(declarations)]
        subprocess.run([sys.executable, "-c", DECLARE, *words], check=True)

    def conflicts(self, *arguments, **options):
        return self.run("list", self.name, *map(str, arguments), subject="conflicts", **options)

    def resolve(self, *arguments, **options):
        return self.run("resolve", self.name, *map(str, arguments), subject="conflicts", **options)


@pytest.fixture
def remote(tmp_path):
    return Remote("--remote", str(tmp_path / "remote"))


@pytest.fixture
def devices(run, tmp_path, remote):
    """Makes two devices that declare the same and have synchronized a course."""

    def make(*declarations):
        devices = [Device(run, tmp_path, f"{name}.satchel", *declarations) for name in ("one", "two")]
        devices[0]("put", "algebra", '{"n": 1}')
        for device in devices:
            device.sync(remote)
        assert devices[1].document("algebra") == {"n": 1}
        return devices

    return make


@pytest.fixture
def asked(devices, remote):
    """Two devices that both changed a course; the second one has the open conflict."""
    one, two = devices({"name": "courses", "on_conflict": "ask"})
    one("put", "algebra", '{"n": 2}')
    two("put", "algebra", '{"n": 3}')
    one.sync(remote)
    result = two.sync(remote, code=1)
    assert result.lines[0] == '1 conflict to resolve: see "satchel conflicts"'
    return one, two


def agree(one, two, remote, document):
    """The first device gets what the second one decided."""
    assert two.conflicts().out == "no conflicts\n"
    two.sync(remote)
    one.sync(remote)
    for device in (one, two):
        if document is None:
            device("get", "algebra", code=1)
        else:
            assert device.document("algebra") == document
        device.run("check", device.name, subject="store")
    assert one.sync(remote, "--json").json["unchanged"] is True


def test_an_open_conflict(asked):
    one, two = asked
    result = two.conflicts("--json", code=1)
    [conflict] = result.json
    number = conflict["id"]
    assert {name: conflict[name] for name in ("kind", "collection", "record", "local", "remote", "base")} == {
        "kind": "open", "collection": "courses", "record": "algebra", "local": {"n": 3}, "remote": {"n": 2},
        "base": {"n": 1},
    }  # fmt: skip
    heading, *versions = two.conflicts(code=1).lines
    assert heading.startswith(f"{number}  open  20")
    assert heading.endswith("  courses/algebra")
    assert [line.split() for line in versions] == [
        ["local", '{"n":3}'], ["remote", '{"n":2}'], ["base", '{"n":1}'],
    ]  # fmt: skip
    assert two.conflicts("--collection", "courses", code=1).lines[0] == heading
    assert two("list", "--json").json[0]["sync_status"] == "conflict"
    assert one.conflicts("--json").json == []
    assert "has no collection rooms" in one.conflicts("--collection", "rooms", code=2).err


@pytest.mark.parametrize(
    ("words", "text", "document"),
    [
        (["--keep", "local"], b"", {"n": 3}),
        (["--keep", "remote"], b"", {"n": 2}),
        (["--document", '{"n": 5}'], b"", {"n": 5}),
        (["--document", "-"], b'{"n": 6}\n', {"n": 6}),
        (["--document", "null"], b"", None),
    ],
)
def test_resolving(asked, remote, words, text, document):
    one, two = asked
    [conflict] = two.conflicts("--json", code=1).json
    result = two.resolve(conflict["id"], *words, text=text)
    assert result.out == f"courses/algebra: conflict {conflict['id']} resolved\n"
    agree(one, two, remote, document)


def test_resolving_as_json(asked):
    _, two = asked
    [conflict] = two.conflicts("--json", code=1).json
    report = two.resolve("--collection", "courses", conflict["id"], "--keep", "local", "--json").json
    assert report == {"resolved": [conflict["id"]], "missing": []}
    result = two.resolve(conflict["id"], "--keep", "local", code=1)
    assert (result.out, result.err) == ("", f"satchel: there is no conflict {conflict['id']}\n")


def test_a_local_version_that_was_lost(devices, remote):
    one, two = devices({"name": "courses", "on_conflict": "remote_wins"})
    one("put", "algebra", '{"n": 2}')
    two("put", "algebra", '{"n": 3}')
    one.sync(remote)
    assert two.sync(remote).lines[:2] == [
        "records: 1 downloaded", '1 version lost and kept: see "satchel conflicts"',
    ]  # fmt: skip
    assert two.document("algebra") == {"n": 2}
    [conflict] = two.conflicts("--json", code=1).json
    assert (conflict["kind"], conflict["side"], conflict["local"]) == ("lost", "local", {"n": 3})
    assert two.conflicts(code=1).lines[-1].split() == ["lost", "local"]
    two.resolve(conflict["id"], "--keep", "local")
    agree(one, two, remote, {"n": 3})


def test_a_remote_version_that_waits_says_why(run, tmp_path, remote):
    grades = {"name": "grades", "relations": {"course": "courses"}}
    one = Device(run, tmp_path, "one.satchel", {"name": "courses"}, grades)
    two = Device(run, tmp_path, "two.satchel", grades)
    one("put", "algebra", "{}")
    one("put", "g1", '{"course": "algebra"}', collection="grades")
    one.sync(remote)
    result = two.sync(remote, code=1)
    assert '1 remote version cannot be applied yet: see "satchel conflicts"' in result.lines
    [conflict] = two.conflicts("--json", code=1).json
    assert (conflict["kind"], conflict["collection"], conflict["record"]) == ("waiting", "grades", "g1")
    assert (conflict["local"], conflict["remote"]) == (None, {"course": "algebra"})
    heading, local, version, reason = two.conflicts(code=1).lines
    assert heading.endswith("  grades/g1")
    assert local.split(maxsplit=1) == ["local", "no record"]
    assert version.split() == ["remote", '{"course":"algebra"}']
    assert reason.split(maxsplit=1) == ["reason", conflict["reason"]]
    assert "algebra" in conflict["reason"]
    # It is applied as soon as what it waits for can be.
    two.declare({"name": "courses"})
    assert two.conflicts().out == "no conflicts\n"
    assert two.ids(collection="grades") == ["g1"]


def test_many_conflicts_are_listed_by_number(devices, remote):
    one, two = devices({"name": "courses", "on_conflict": "ask"}, {"name": "rooms", "on_conflict": "ask"})
    for number, device in ((1, one), (2, two)):
        for collection in ("courses", "rooms"):
            records = [(f"r{index}", {"n": number}) for index in range(20)]
            device.take(*records, collection=collection)
    one.sync(remote)
    assert two.sync(remote, code=1).lines[0].startswith("40 conflicts to resolve")
    conflicts = two.conflicts("--json", code=1).json
    assert len(conflicts) == 40
    assert [conflict["id"] for conflict in conflicts] == sorted(conflict["id"] for conflict in conflicts)
    rooms = two.conflicts("--collection", "rooms", "--json", code=1).json
    assert {conflict["collection"] for conflict in rooms} == {"rooms"}
    assert len(rooms) == 20
    # A number belongs to one collection.
    two.resolve("--collection", "courses", rooms[0]["id"], "--keep", "local", code=1)
    assert len(two.resolve("--collection", "rooms", "--all", "--keep", "remote").lines) == 20
    assert {each["collection"] for each in two.conflicts("--json", code=1).json} == {"courses"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["1"], "give either --keep or --document"),
        (["--keep", "local"], "give either the numbers of conflicts or --all"),
        (["--all", "1", "--keep", "local"], "give either the numbers of conflicts or --all"),
        (["1", "--keep", "local", "--document", "{}"], "give either --keep or --document"),
        (["1", "2", "--document", "{}"], "--document resolves one conflict"),
        (["1", "--keep", "mine"], "'--keep <side>'"),
        (["1", "--document", "[]"], "--document: must be a JSON object"),
        (["1", "--document", "{"], "--document: line 1, column 2"),
        (["one", "--keep", "local"], "'<number>'"),
        (["1", "--keep", "local", "--collection", "c", "--photos", "p"], "exclude each other"),
    ],
)
def test_invalid_arguments(planner, words, says):
    result = planner.run("resolve", planner.name, *words, subject="conflicts", code=2)
    assert says in result.err
    assert result.out == ""
