"""`satchel store observe`: changes of a store, made by other processes."""

import json
import signal
import subprocess
import sys

import pytest
from observing import Observer
from remotes import Remote

CHANGE = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    facts = {"Capital": {"_storage": {"entity_id": "facts:capital", "scope": "country", "ttl_hours": 9}}}
    store.catalogue.persist({"country_code": "PT"}, {"section": "facts", "content": facts})
    store.records("courses").put("sets", {})
    with store.batch():
        for number in range(3):
            store.records("courses").put(f"c{number}", {})
    store.state.set("theme", "dark")
"""


@pytest.fixture
def observed(planner):
    with Observer(planner.path) as observer:
        yield observer


def test_changes_of_another_process(planner, observed):
    subprocess.run([sys.executable, "-c", CHANGE, planner.path], check=True)
    lines = [observed.read() for _ in range(4)]
    revisions = [int(line.split()[0]) for line in lines]
    assert revisions == sorted(set(revisions))
    assert [line.split(maxsplit=1)[1] for line in lines] == [
        "catalogue  pt  facts, facts:capital", "records  courses/sets",
        "records  courses/c0, courses/c1, courses/c2", "state  value/theme",
    ]  # fmt: skip
    assert observed.start == f"satchel: {planner.path}: observed until Ctrl-C\n"


def test_changes_as_json(planner):
    with Observer(planner.path, "--json") as observer:
        planner("put", "sets", "{}")
        change = json.loads(observer.read())
        assert (change["subject"], change["keys"], change["own"]) == ("records", ["courses/sets"], False)
        planner("delete", "sets")
        assert json.loads(observer.read())["revision"] == change["revision"] + 1


def test_the_changes_of_a_sync(planner, second, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    planner.sync(remote)
    with Observer(second.path, "--limit", "1") as observer:
        second.sync(remote)
        assert observer.finish() == 0
    assert observer.lines[0].endswith("  records  courses/algebra, courses/topology, courses/logic")


def test_a_limit_ends_it(planner):
    with Observer(planner.path, "--limit", "2", "--json") as observer:
        for number in range(5):
            planner("put", f"c{number}", "{}")
        assert observer.finish() == 0
    assert [json.loads(line)["keys"] for line in observer.lines] == [["courses/c0"], ["courses/c1"]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(planner, number):
    before = planner.path.read_bytes()
    with Observer(planner.path) as observer:
        observer.process.send_signal(number)
        assert observer.finish() == -number
    assert observer.lines == []
    assert planner.path.read_bytes() == before
    planner.run("check", planner.name, subject="store")


def test_a_reader_that_goes_away_ends_it(planner):
    with Observer(planner.path) as observer:
        observer.process.stdout.close()
        planner("put", "sets", "{}")
        assert observer.process.wait(timeout=60) == -signal.SIGPIPE


def test_invalid_arguments(planner, run):
    result = run("observe", "nowhere.satchel", subject="store", code=2)
    assert result.err == "satchel: nowhere.satchel: does not exist\n"
    result = run("observe", planner.name, "--limit", "0", subject="store", code=2)
    assert "--limit: 0 is less than 1" in result.err
