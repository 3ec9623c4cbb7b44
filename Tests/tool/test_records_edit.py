"""`satchel records get`, `put`, `delete`, `clear` and `drop`."""

import json
import subprocess
import sys

import pytest
from conftest import COURSES, Planner, watched
from remotes import Remote

EXACT = b'{ "a" : 1.50,\t"b":1e2,\n "c":9007199254740993,"d":-0.0,"e":"\\u00e9\xc3\xa9"}'


def test_a_document_keeps_its_bytes(planner):
    result = planner("put", "exact", "-", text=b"\n " + EXACT + b" \n")
    assert result.out == "courses/exact: new, revision 1\n"
    assert planner("get", "exact").raw == EXACT
    planner("put", "exact", EXACT.decode())
    assert planner("get", "exact").raw == EXACT
    # Without white space after it, so that it round trips.
    planner("put", "copy", "-", text=planner("get", "exact").raw)
    assert planner("get", "copy").raw == EXACT


def test_get_as_json(planner):
    record = planner("get", "logic", "--json").json
    assert (record["id"], record["document"]) == COURSES[2]
    assert (record["revision"], record["sync_status"]) == (1, "local")
    assert planner("list", "--where", '{"@id": "logic"}', "--json").json == [record]


def test_a_missing_record(planner):
    result = planner("get", "nothing", code=1)
    assert (result.out, result.err) == ("", "satchel: courses: has no record nothing\n")
    assert planner("get", "nothing", "--json", code=1).json is None
    result = planner("delete", "nothing", code=1)
    assert (result.out, result.err) == ("", "satchel: courses: has no record nothing\n")
    assert planner("delete", "nothing", "--json", code=1).json == {"deleted": False}


def test_on_a_terminal_the_document_ends_its_line(planner):
    seen = watched(["get", planner.name, "courses", "algebra"], planner.folder, subject="records")
    assert json.loads(seen) == COURSES[0][1]
    assert seen.endswith("}\r\n")


def test_put_reports_the_revision(planner):
    assert planner("put", "algebra", '{"credits": 9}').out == "courses/algebra: revision 2\n"
    report = planner("put", "algebra", '{"credits": 12}', "--json").json
    assert report == {"revision": 3, "new": False, "spooled": False}
    report = planner("put", "sets", "{}", "--json").json
    assert report == {"revision": 1, "new": True, "spooled": False}
    assert planner.document("algebra") == {"credits": 12}


def test_a_record_that_was_changed_since_is_not_overwritten(planner):
    planner("put", "algebra", '{"credits": 9}', "--if-revision", "1")
    result = planner("put", "algebra", '{"credits": 12}', "--if-revision", "1", code=1)
    assert result.out == ""
    assert result.err.startswith("satchel: courses/algebra: its revision is 2")
    planner("delete", "algebra", "--if-revision", "1", code=1)
    assert planner.document("algebra") == {"credits": 9}
    planner("put", "algebra", "{}", "--if-revision", "0", code=1)
    assert planner("put", "sets", "{}", "--if-revision", "0", "--json").json["new"] is True
    assert planner("delete", "algebra", "--if-revision", "2").out == "courses/algebra: deleted\n"
    assert planner.ids() == ["topology", "logic", "sets"]
    assert planner("delete", "sets", "--json").json == {"deleted": True}


def test_nothing_is_created_without_create(planner, empty):
    assert "empty.satchel: does not exist; --create creates it" in empty("put", "a", "{}", code=2).err
    assert not empty.path.exists()
    # The document is checked before.
    empty("put", "a", "[]", "--create", code=2)
    assert not empty.path.exists()
    assert empty("put", "a", "{}", "--create").out == "courses/a: new, revision 1\n"
    assert empty("put", "a", "{}", "--create").out == "courses/a: revision 2\n"
    result = planner("put", "a", "{}", collection="rooms", code=2)
    assert "has no collection rooms; --create creates it" in result.err
    planner("put", "x" * 300, "{}", "--create", collection="rooms", code=2)
    assert [one["name"] for one in planner.run("list", planner.name, "--json", subject="records").json] == [
        "courses"
    ]
    planner("put", "a", "{}", "--create", collection="rooms")
    for command in (["get", "a"], ["delete", "a"], ["clear"], ["drop"]):
        result = planner(*command, collection="halls", code=2)
        assert "planner.satchel: has no collection halls" in result.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["put", "a", "[1]"], "the document: must be a JSON object"),
        (["put", "a", '{"a":'], "the document: line 1, column 6"),
        (["put", "a", ""], "the document: line 1, column 1"),
        (["put", "a", b'{"a": "\xff"}'], "the document: line 1, column 8"),
        (["put", "a", "-"], "the standard input: line 1, column 1"),
        (["put", "", "{}"], "an id has 1 to 255 bytes"),
        (["put", b"\xff", "{}"], "the id is not UTF-8"),
        (["get", b"\xff"], "the id is not UTF-8"),
        (["put", "a\nb", "{}"], "an id has no control characters"),
        (["put", "a", "{}", "--if-revision=-1"], "--if-revision: -1 is negative"),
        (["get"], "Missing expected argument '<id>'"),
        (["put", "a"], "Missing expected argument '<document>'"),
    ],
)
def test_invalid_arguments(planner, words, says):
    command, *rest = words
    result = planner.run(command, planner.name, "courses", *rest, subject="records", code=2)
    assert says in result.err
    assert result.out == ""
    assert len(planner.ids()) == 3


RELATED = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    courses = store.records("courses", indexes=[{"path": "code", "unique": True}])
    courses.put("algebra", {"code": "A1"})
    grades = store.records("grades", relations={"course": {"collection": "courses", "on_delete": "restrict"}})
    grades.put("g1", {"course": "algebra"})
"""


@pytest.fixture
def related(run, tmp_path):
    """Grades that refer to courses, which have a unique index."""
    planner = Planner(run, tmp_path, "related.satchel")
    subprocess.run([sys.executable, "-c", RELATED, planner.path], check=True)
    return planner


def test_a_change_that_the_declaration_forbids(related):
    for words in (["put", "logic", '{"code": "A1"}'], ["delete", "algebra"], ["clear"], ["drop"]):
        result = related(*words, code=1)
        assert result.out == ""
        assert result.err.startswith("satchel: courses"), words
    result = related("put", "g2", '{"course": "logic"}', collection="grades", code=1)
    assert "logic" in result.err
    assert related.ids() == ["algebra"]
    assert related("clear", collection="grades").out == "grades: 1 record deleted\n"
    assert related("clear", "--json").json == {"deleted": 1}
    assert related("clear").out == "courses: 0 records deleted\n"
    related("drop", collection="grades")
    assert related("drop", "--json").json == {"dropped": "courses"}
    result = related.run("list", related.name, subject="records", code=1)
    assert result.err == "satchel: related.satchel: has no collections\n"
    related.run("check", related.name, subject="store")


def test_clearing_is_synchronized_and_dropping_is_not(planner, second, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    planner.sync(remote)
    second.sync(remote)
    planner("put", "sets", "{}")
    result = planner("drop", code=1)
    assert result.err.count("\n") == 1
    assert "1 change" in result.err
    assert result.err.endswith(" with --discard-unsent\n")
    assert planner("drop", "--discard-unsent").out == "courses: dropped\n"
    assert planner.sync(remote, "--json").json["unchanged"] is True
    assert second.sync(remote, "--json").json["unchanged"] is True
    assert len(second.ids()) == 3
    # It returns when it is declared again, at once, without the change that was never sent.
    planner.take()
    assert sorted(planner.ids()) == ["algebra", "logic", "topology"]
    assert planner.sync(remote, "--json").json["unchanged"] is True
    second("clear")
    assert second.sync(remote, "--json").json["records"]["deleted_remotely"] == 3
    assert planner.sync(remote, "--json").json["records"]["deleted_locally"] == 3
    planner.ids(code=1)


def test_an_app_that_has_the_store_open_sees_the_change(planner):
    source = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    courses = store.records("courses")
    print(courses.count(), flush=True)
    sys.stdin.readline()
    print(courses.get("algebra"), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", source, planner.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    ) as app:  # fmt: skip
        assert app.stdout.readline() == "3\n"
        planner("put", "algebra", '{"by": "the tool"}')
        app.stdin.write("\n")
        app.stdin.flush()
        assert app.stdout.readline() == "{'by': 'the tool'}\n"
    assert app.returncode == 0


def test_spooled_changes_are_applied_first(spooled):
    """The change that an app spooled is in the store after the tool wrote to it."""
    spooled("put", "after", "{}")
    assert spooled("get", "spooled").raw == b"{}"
    assert set(spooled.ids()) >= {"kept", "spooled", "after"}
