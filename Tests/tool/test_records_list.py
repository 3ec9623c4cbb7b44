"""`satchel records list`: matching records, and the collections."""

import json
import subprocess
import sys

import pytest
import satchel
from conftest import COURSES, Planner, watched


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ({}, ["algebra", "topology", "logic"]),
        ({"credits": 6}, ["algebra", "logic"]),
        ({"credits": 6.0}, ["algebra", "logic"]),
        ({"credits": {"lt": 6}}, ["topology"]),
        ({"title": {"prefix": "Lo"}}, ["logic"]),
        ({"room.name": "H1"}, ["logic"]),
        ({"/room/name": "H1"}, ["logic"]),
        ({"room": {"exists": False}}, ["algebra", "topology"]),
        ({"any": [{"title": "Topology"}, {"@id": "logic"}]}, ["topology", "logic"]),
        ({"not": {"credits": 6}}, ["topology"]),
        ({"@sync_status": "local", "@revision": 1}, ["algebra", "topology", "logic"]),
        ({"credits": "6"}, []),
    ],
)
def test_where(planner, condition, names):
    assert planner.ids("--where", json.dumps(condition), code=0 if names else 1) == names


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (["--order-by", "title"], ["algebra", "logic", "topology"]),
        (["--order-by", "-title"], ["topology", "logic", "algebra"]),
        (["--order-by=-title"], ["topology", "logic", "algebra"]),
        (["--order-by", "credits", "--order-by", "-@id"], ["topology", "logic", "algebra"]),
        (["--order-by", "room.name", "--order-by", "title"], ["algebra", "topology", "logic"]),
        (["--order-by", "@id", "--limit", "2"], ["algebra", "logic"]),
        (["--limit", "1"], ["algebra"]),
        (["--all"], ["algebra", "topology", "logic"]),
    ],
)
def test_order_and_limit(planner, order, names):
    assert planner.ids(*order) == names


def test_output_formats_are_consistent(planner):
    records = planner("list", "--json").json
    assert [(record["id"], record["document"]) for record in records] == COURSES
    assert {(record["revision"], record["sync_status"]) for record in records} == {(1, "local")}
    assert [json.loads(line) for line in planner("list", "--json-lines").lines] == records
    heading, *rows = planner("list").lines
    assert heading.split() == ["id", "revision", "modified", "sync", "document"]
    assert [row.split()[0] for row in rows] == [name for name, _ in COURSES]
    assert [json.loads(row[row.index("{") :]) for row in rows] == [document for _, document in COURSES]


def test_a_table_is_truncated_with_a_note(empty):
    empty.take(*((f"task-{number:03}", {"number": number}) for number in range(250)))
    result = empty("list")
    assert len(result.lines) == 101
    assert result.err == "satchel: 150 more; --all lists them\n"
    result = empty("list", "--where", '{"number": {"lt": 120}}')
    assert result.err == "satchel: 20 more; --all lists them\n"
    result = empty("list", "--limit", "100")
    assert (len(result.lines), result.err) == (101, "")
    assert len(empty("list", "--all").lines) == 251
    assert len(empty.ids()) == 100
    assert empty("list", "--where", '{"number": {"lt": 100}}').err == ""


def test_no_match(planner):
    nothing = ["--where", '{"credits": 7}']
    result = planner("list", *nothing, code=1)
    assert (result.out, result.err) == ("", "satchel: no record matches\n")
    result = planner("list", *nothing, "--json", code=1)
    assert (result.json, result.err) == ([], "")
    result = planner("list", *nothing, "--json-lines", code=1)
    assert (result.out, result.err) == ("", "")


def test_output_does_not_control_the_terminal(empty):
    empty.take(("a", {"x": "\x1b[31m\x9b31m\x7f"}), ("b\u2028", {}))
    assert "\x1b" not in (seen := watched(["list", empty.name, "courses"], empty.folder, subject="records"))
    assert "\x9b" not in seen
    assert "\x7f" not in seen
    assert empty.document("a") == {"x": "\x1b[31m\x9b31m\x7f"}


DECLARE = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    courses = store.records("courses", indexes=["credits", {"path": "code", "unique": True}], version=2)
    courses.put("algebra", {"code": "A1"})
    store.records("grades", relations={"course": {"collection": "courses", "on_delete": "cascade"}})
"""


@pytest.fixture
def declared(run, tmp_path):
    """Collections with indexes, a version and a relation, as an app declares them."""
    planner = Planner(run, tmp_path, "declared.satchel")
    subprocess.run([sys.executable, "-c", DECLARE, planner.path], check=True)
    return planner


def test_collections(run, declared):
    heading, *rows = run("list", declared.name, subject="records").lines
    assert heading.split() == ["collection", "records", "version", "sync", "indexes", "relations"]
    assert rows[0].split(maxsplit=4) == ["courses", "1", "2", "newest_wins", "credits, code (unique)  -"]
    columns = ["grades", "0", "1", "newest_wins", "-", "course to courses (cascade)"]
    assert rows[1].split(maxsplit=5) == columns
    courses, grades = run("list", declared.name, "--json", subject="records").json
    assert courses == {
        "name": "courses", "version": 2, "count": 1, "relations": {}, "on_conflict": "newest_wins",
        "synced": True, "ttl": None, "sensitive": [], "search": [], "positions": [], "types": {},
        "warnings": [], "indexes": [{"path": "credits", "unique": False}, {"path": "code", "unique": True}],
    }  # fmt: skip
    relation = {"collection": "courses", "on_delete": "cascade", "many": False}
    assert grades["relations"] == {"course": relation}
    lines = run("list", declared.name, "--json-lines", subject="records").lines
    assert [json.loads(line) for line in lines] == [courses, grades]


def test_collections_whose_schema_has_an_unknown_keyword(run, tmp_path):
    source = (
        "import satchel, sys, warnings; warnings.simplefilter('ignore'); "
        "satchel.open(sys.argv[1]).records('courses', schema={'titel': 'x', 'minimun': 1})"
    )
    subprocess.run([sys.executable, "-c", source, tmp_path / "odd.satchel"], check=True)
    result = run("list", "odd.satchel", subject="records")
    warning = 'courses: schema: /minimun: unknown keyword, without effect: did you mean "minimum"?'
    assert warning in result.err
    [courses] = run("list", "odd.satchel", "--json", subject="records").json
    assert len(courses["warnings"]) == 2


def test_a_store_without_collections(run, tmp_path):
    source = "import satchel, sys; satchel.open(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", source, tmp_path / "bare.satchel"], check=True)
    result = run("list", "bare.satchel", subject="records", code=1)
    assert (result.out, result.err) == ("", "satchel: bare.satchel: has no collections\n")
    assert run("list", "bare.satchel", "--json", subject="records", code=1).json == []
    result = run("list", "bare.satchel", "courses", subject="records", code=2)
    assert "has no collection courses" in result.err


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--where", "{"], "--where: line 1, column 2"),
        (["--where", "[]"], "--where: at the root: a condition must be an object"),
        (["--where", '{"a": {"like": 1}}'], "at /a/like: unknown operator; the operators are eq, ne"),
        (["--where", '{"a..b": 1}'], '"a..b" is not a path'),
        (["--order-by", ""], "path is empty"),
        (["--order-by", "@colour"], "@colour"),
        (["--limit", "0"], "--limit: 0 is less than 1"),
        (["--limit", "3", "--all"], "--limit and --all exclude each other"),
        (["--json", "--json-lines"], "--json and --json-lines exclude each other"),
    ],
)
def test_invalid_arguments(planner, wrong, says):
    result = planner("list", *wrong, code=2)
    assert says in result.err
    assert result.out == ""


def test_a_query_needs_a_collection(run, planner):
    options = (["--where", "{}"], ["--order-by", "a"], ["--limit", "1"], ["--all"], ["--search", "a"])
    for wrong in (*options, ["--near", "47,8"]):
        result = run("list", planner.name, *wrong, subject="records", code=2)
        assert (
            "--where, --order-by, --limit, --all, --search, --near, --group-by, --sum and --explain"
            in result.err
        )


def test_missing_collections_and_stores(run, planner):
    assert "planner.satchel: has no collection rooms" in planner("list", collection="rooms", code=2).err
    assert "has no collection" in planner("list", collection="no name", code=2).err
    result = run("list", "nowhere.satchel", subject="records", code=2)
    assert result.err == "satchel: nowhere.satchel: does not exist\n"
    assert not (planner.folder / "nowhere.satchel").exists()


@pytest.fixture
def cafes(planner):
    with satchel.open(planner.path) as store:
        cafes = store.records("cafes", search=["title", "notes"], positions=["at"])
        for number in range(5):
            at = {"lat": 47.0 + number / 1000, "lon": 8.0}
            cafe = {"title": f"Café {number}", "notes": "café odeon", "open": number > 1, "at": at}
            cafes.put(f"c{number}", cafe)
    return planner


def test_search(cafes):
    found = cafes("list", "--search", "cafe 3", "--json", collection="cafes").json
    assert [hit["record"]["id"] for hit in found] == ["c3"]
    [hit] = found
    assert (hit["path"], hit["excerpt"], hit["highlights"]) == ("title", "Café 3", [[0, 5], [6, 7]])
    heading, row = cafes("list", "--search", "cafe 3", collection="cafes").lines
    assert heading.split() == ["id", "path", "excerpt", "document"]
    assert row.split()[:4] == ["c3", "title", "Café", "3"]
    where = ["--where", '{"open": true}', "--json-lines"]
    assert len(cafes("list", "--search", "odeon", *where, collection="cafes").lines) == 3
    few = cafes("list", "--search", "odeon", "--limit", "2", "--json-lines", collection="cafes")
    assert len(few.lines) == 2
    cafes("list", "--search", "nothing", collection="cafes", code=1)
    assert "no texts" in cafes("list", "--search", "a", code=2).err


def test_groups_sums_and_the_plan(cafes):
    with satchel.open(cafes.path) as store:
        index = {"paths": ["open", "-price"], "unique": False}
        sales = store.records("sales", indexes=[index], types={"price": "decimal"})
        for number in range(5):
            sales.put(
                f"s{number}",
                {"open": number > 1, "price": f"{number}.10", "at": f"2027-0{number // 3 + 1}-05"},
            )
    heading, *rows = cafes("list", "--group-by", "open", "--sum", "price", collection="sales").lines
    assert heading.split() == ["open", "records", "sum", "of", "price"]
    assert [row.split() for row in rows] == [["false", "2", '"1.2"'], ["true", "3", '"9.3"']]
    found = cafes("list", "--group-by", "month(at)", "--json", collection="sales").json
    assert [(group["key"], group["count"]) for group in found] == [(["2027-01"], 3), (["2027-02"], 2)]
    [line] = cafes("list", "--sum", "price", "--json-lines", collection="sales").lines
    assert json.loads(line)["values"] == ["10.5"]
    where = ["--where", '{"open": true}', "--order-by=-price", "--explain"]
    [plan] = cafes("list", *where, collection="sales").lines
    assert plan == 'finds 3 records by the index of "open, -price"; the index has them in order'
    assert cafes("list", *where, "--json", collection="sales").json["access"] == "index"
    assert "open+-price" in cafes.run("list", cafes.name, subject="records").out
    for wrong, says in [
        (["--group-by", "open", "--limit", "1"], "--group-by and --sum go with --where only"),
        (["--explain", "--search", "a"], "--explain does not go with"),
        (["--group-by", "tags[*]"], "several elements"),
    ]:
        assert says in cafes("list", *wrong, collection="sales", code=2).err


def test_near(cafes):
    near = ["list", "--near", "47.0021,8,250"]
    heading, *rows = cafes(*near, collection="cafes").lines
    assert heading.split() == ["id", "metres", "document"]
    expected = {"c2": "11", "c3": "100", "c1": "122", "c4": "211", "c0": "234"}
    assert [tuple(row.split()[:2]) for row in rows] == list(expected.items())
    found = cafes(*near, "--where", '{"open": false}', "--limit", "1", "--json", collection="cafes").json
    assert [(hit["record"]["id"], round(hit["distance"])) for hit in found] == [("c1", 122)]
    assert len(cafes("list", "--near", "47,8", "--path", "at", "--json", collection="cafes").json) == 5
    cafes("list", "--near=-47,8", collection="cafes", code=1)
    for wrong in (["--near", "47"], ["--near", "47,8,9,1"], ["--near", "x,8"], ["--near", "91,0,1"]):
        cafes("list", *wrong, collection="cafes", code=2)
    for both in (["--search", "a"], ["--order-by", "title"]):
        cafes(*near, *both, collection="cafes", code=2)
    cafes("list", "--path", "at", collection="cafes", code=2)
