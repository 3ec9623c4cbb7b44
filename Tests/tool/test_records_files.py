"""`satchel records export`, `import`, `verify`: files of a collection."""

import json
import subprocess
import sys

import pytest
from conftest import COURSES, Planner, lines_of, watched


@pytest.fixture
def other(run, tmp_path):
    """Another store, which does not exist yet."""
    return Planner(run, tmp_path, "other.satchel")


def test_a_mirror_file_round_trips(planner, other):
    assert planner("export", "courses.json").out == "3 records written\n"
    text = (planner.folder / "courses.json").read_text()
    mirror = json.loads(text)
    assert (mirror["format"], mirror["collection"], mirror["version"]) == (1, "courses", 1)
    assert [record["id"] for record in mirror["records"]] == ["algebra", "logic", "topology"]
    assert planner("verify", "courses.json").out == "3 records, equal\n"
    assert other("import", "courses.json", "--create").out == "3 added, 0 changed, 0 unchanged\n"
    # Revisions and times, too.
    assert other("verify", "courses.json", "--json").json == {"differences": [], "rejected": []}
    assert other("export", "-").out == text
    assert other("import", "courses.json", "--json").json == {
        "added": 0, "changed": 0, "unchanged": 3, "rejected": [],
    }  # fmt: skip


def test_json_lines_round_trip(planner, other):
    lines = planner("export", "-", "--lines")
    assert [record["id"] for record in map(json.loads, lines.lines)] == ["algebra", "logic", "topology"]
    planner("export", "courses.jsonl", "--lines")
    assert (planner.folder / "courses.jsonl").read_bytes() == lines.raw
    assert other("import", "-", "--create", text=lines.raw).out == "3 added, 0 changed, 0 unchanged\n"
    assert other("export", "-", "--lines").out == lines.out
    assert planner("verify", "-", text=lines.raw).out == "3 records, equal\n"
    listed = planner("list", "--all", "--json-lines")
    assert other("import", "-", text=listed.raw).out == "0 added, 0 changed, 3 unchanged\n"


@pytest.mark.parametrize("form", [["--plain"], ["--id-member", "id"], ["--id-member", "code"]])
def test_plain_files_round_trip(planner, other, form):
    assert planner("export", "plain.json", *form).out == "3 records written\n"
    plain = json.loads((planner.folder / "plain.json").read_text())
    if form == ["--plain"]:
        assert plain == dict(COURSES)
    else:
        assert plain == [{form[1]: name, **document} for name, document in COURSES]
    assert planner("verify", "plain.json", *form).out == "3 records, equal\n"
    assert planner("import", "plain.json", *form).out == "0 added, 0 changed, 3 unchanged\n"
    assert other("import", "plain.json", "--create", *form).out == "3 added, 0 changed, 0 unchanged\n"
    assert other("verify", "plain.json", *form, "--json").json == {"differences": [], "rejected": []}
    assert other("export", "-", *form).out == (planner.folder / "plain.json").read_text()
    # In the order of the file, and with new revisions.
    assert other.ids() == [name for name, _ in COURSES]
    assert {record["revision"] for record in other("list", "--json").json} == {1}


def test_a_plain_file_of_another_program(planner, other):
    text = b'[\n  {"_id": 7, "title": "A"},\n  {"_id": "b", "title": "B"}\n]'
    # An array needs no option.
    for form in ([], ["--plain"], ["--id-member", "_id"]):
        assert other("import", "-", "--create", *form, text=text).out.split()[0] in ("2", "0")
        assert other("verify", "-", *form, text=text).out == "2 records, equal\n"
    assert other.document("7") == {"_id": 7, "title": "A"}
    changed = text.replace(b'"B"', b'"C"')
    assert other("verify", "-", text=changed, code=1).out.split() == ["differs", "b", "/title"]
    assert other("import", "-", text=changed).out == "0 added, 1 changed, 1 unchanged\n"
    # Records that were put without their ids stay without them.
    edited = json.dumps([{"id": name, **document, "credits": 9} for name, document in COURSES])
    assert planner("verify", "-", text=edited.encode(), code=1).out.count("/credits") == 3
    assert planner("import", "-", text=edited.encode()).out == "0 added, 3 changed, 0 unchanged\n"
    assert planner.document("logic") == {**COURSES[2][1], "credits": 9}


@pytest.mark.parametrize(
    ("text", "form", "says"),
    [
        (b'{"a":{},"b":[]}', ["--plain"], "-:1:13: at /b: not an object"),
        (b'[{"id":"a"},\n{"title":1}]', [], '-:2:1: at /1: has no "id"'),
        (b'[{"id":"a"},{"id":"a"}]', [], 'at /1: "a" occurs twice'),
        (b'[{"code":true}]', ["--id-member", "code"], "at /0/code: an id must be a string or an integer"),
        (b"7", ["--plain"], "neither an array of objects nor an object"),
        (b"[", [], "-:1:"),
    ],
)
def test_an_invalid_plain_file_is_reported_and_nothing_is_imported(planner, text, form, says):
    for command in ("import", "verify"):
        assert says in planner(command, "-", *form, text=text, code=1).out
    assert planner.ids() == [name for name, _ in COURSES]


def test_options_of_plain_files(planner):
    assert "--lines cannot be combined" in planner("export", "-", "--lines", "--plain", code=2).err
    assert "--id-member: must not be empty" in planner("verify", "-", "--id-member", "", code=2).err
    planner("put", "logic", '{"code": "other"}')
    # A document that has another value where the file would have its id.
    assert "/code" in planner("export", "new.json", "--id-member", "code", code=2).err
    assert not (planner.folder / "new.json").exists()


def test_documents_keep_their_bytes(empty):
    document = b'{ "a" : 1.50,\t"b":1e2, "c":9007199254740993,"d":-0.0,"e":"\\u00e9\xc3\xa9"}'
    line = b'{"id":"n","document":' + document + b"}"
    empty("import", "-", "--create", text=line)
    [exported] = empty("export", "-", "--lines").lines
    assert exported.endswith('"document":{"a":1.50,"b":1e2,"c":9007199254740993,"d":-0.0,"e":"\\u00e9é"}}')


def test_export_reports_its_result(planner):
    report = planner("export", "courses.json", "--json").json
    assert report == {"collection": "courses", "version": 1, "records": 3, "path": "courses.json"}
    assert "--json cannot be combined with -" in planner("export", "-", "--json", code=2).err


def test_an_empty_collection(planner, other):
    planner.take(collection="rooms")
    for arguments in (["rooms.json"], ["rooms.jsonl", "--lines"]):
        assert planner("export", *arguments, collection="rooms").out == "0 records written\n"
        assert other("import", arguments[0], "--create", collection="rooms").out.startswith("0 added")
        assert other("verify", arguments[0], collection="rooms").out == "0 records, equal\n"


def test_an_export_replaces_a_file_atomically(planner):
    (planner.folder / "courses.json").write_text("what was there")
    planner("export", "courses.json", collection="rooms", code=2)
    assert (planner.folder / "courses.json").read_text() == "what was there"
    planner("export", "courses.json")
    assert planner("verify", "courses.json").out == "3 records, equal\n"
    assert "no/courses.json" in planner("export", "no/courses.json", code=2).err
    assert not [path for path in planner.folder.iterdir() if "part" in path.name or "new" in path.name]


def test_an_export_to_a_device_writes_there(planner):
    planner("export", "/dev/null")
    planner("export", "/dev/null", "--lines")
    assert "/dev/full" in planner("export", "/dev/full", code=2).err


def test_output_does_not_control_the_terminal(empty):
    empty("import", "-", "--create", text='{"id":"a","document":{"x":"\x9b31m"}}'.encode())
    for form in ([], ["--lines"]):
        seen = watched(["export", empty.name, "courses", "-", *form], empty.folder, subject="records")
        assert "\x9b" not in seen
        assert "\\u009b31m" in seen
        # A file gets every byte.
        assert '"x":"\x9b31m"' in empty("export", "/dev/stdout", *form).out


def test_verify_reports_differences(planner):
    planner("export", "courses.json")
    mirror = json.loads((planner.folder / "courses.json").read_text())
    del mirror["sha256"]
    algebra, logic, topology = mirror["records"]
    algebra["document"]["credits"] = 7
    logic["modified"] += 1
    topology["id"] = "geometry"
    (planner.folder / "edited.json").write_text(json.dumps(mirror, indent=2))
    result = planner("verify", "edited.json", code=1)
    assert [" ".join(line.split()) for line in result.lines] == [
        "differs algebra /credits",
        "missing in the store geometry",
        "differs logic revision or times",
        "missing in the file topology",
    ]
    found = planner("verify", "edited.json", "--json", code=1).json["differences"]
    assert [(item["id"], item["kind"], item["pointer"]) for item in found] == [
        ("algebra", "differs", "/credits"),
        ("geometry", "missing_in_store", None),
        ("logic", "differs", None),
        ("topology", "missing_in_file", None),
    ]
    assert planner("import", "edited.json").out == "1 added, 2 changed, 0 unchanged\n"
    assert planner.document("algebra")["credits"] == 7
    # Revisions are the store's own: it gives none again that it has given before.
    result = planner("verify", "edited.json", code=1)
    assert [" ".join(line.split()) for line in result.lines] == [
        "differs algebra revision or times",
        "differs logic revision or times",
        "missing in the file topology",
    ]


def test_lines_without_revisions_are_compared_by_their_documents(planner):
    assert planner("verify", "-", text=lines_of(*COURSES).encode()).out == "3 records, equal\n"
    changed = [COURSES[0], ("topology", {"title": "Topology", "credits": 4}), COURSES[2]]
    result = planner("verify", "-", text=lines_of(*changed).encode(), code=1)
    assert result.out.split() == ["differs", "topology", "/credits"]
    planner("import", "-", text=lines_of(*changed).encode())
    revisions = {record["id"]: record["revision"] for record in planner("list", "--json").json}
    assert revisions == {"algebra": 1, "topology": 2, "logic": 1}


LINES = [
    (b'{"id":"y"}', '2:1: at the root: must have an object "document"'),
    (b'{"document":{}}', '2:1: at the root: must have a string "id"'),
    (b'{"id":7,"document":{}}', '2:7: at /id: must have a string "id"'),
    (b'{"id":"y","document":[]}', "2:22: at /document: "),
    (b'{"id":"y","document":{"a":1,"a":2}}', '2:29: at /document/a: duplicate key "a"'),
    (b'{"id":"y","document":{}} {}', "2:26: at the root: unexpected text after the value"),
    (b'{"id":"y","document":{},"colour":1}', "2:25: at /colour: unknown key"),
    (b'{"id":"y","document":{},"revision":2}', "revision, created and modified must be given together"),
    (b'{"id":"y","document":{},"revision":0,"created":1,"modified":1}', "2:36: at /revision: "),
    (b'{"id":"y","document":{},"revision":1,"created":1.5,"modified":1}', "2:48: at /created: "),
    (b'{"id":"first","document":{}}', '2: duplicate id "first", first in line 1'),
    (b'{"id":"y","document":{"x":"\xff"}}', "2:28"),
    (b"nonsense", "2:1: "),
    (b'"text"', "2:1: at the root: must be an object"),
    (b'{"id":"","document":{}}', "2: courses: an id has 1 to 255 bytes, not 0"),
    (b'{"id":"a\\u0007","document":{}}', "2: courses: an id has no control characters"),
    (b'{"id":"' + b"x" * 256 + b'","document":{}}', "2: courses: an id has 1 to 255 bytes, not 256"),
]


@pytest.mark.parametrize(("line", "says"), LINES, ids=[says for _, says in LINES])
def test_an_invalid_line_is_reported_and_nothing_is_imported(planner, line, says):
    text = b'{"id":"first","document":{}}\n' + line + b'\n{"id":"last","document":{}}\n'
    (planner.folder / "new.jsonl").write_bytes(text)
    result = planner("import", "new.jsonl", code=1)
    assert len(result.lines) == 1
    assert result.out.startswith("new.jsonl:2")
    assert says in result.out
    assert result.err == "satchel: nothing was imported\n"
    assert planner.ids() == [name for name, _ in COURSES]
    found = planner("import", "new.jsonl", "--json", code=1).json
    assert (found["added"], [item["line"] for item in found["rejected"]]) == (0, [2])


def test_all_invalid_lines_are_reported(planner):
    text = b'{"id":"a","document":{}}\n{}\n\n  \n{"id":"b","document":1}\r\n{"id":"a","document":{}}'
    result = planner("import", "-", text=text, code=1)
    assert [line.split(":")[1] for line in result.lines] == ["2", "5", "6"]
    assert planner("verify", "-", text=text, code=1).lines == result.lines


DECLARE = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    store.records("rooms").put("h1", {})
    store.records(
        "courses",
        indexes=[{"path": "code", "unique": True}],
        relations={"room": {"collection": "rooms"}},
        schema={"type": "object", "properties": {"credits": {"type": "integer", "maximum": 10}}},
    ).put("algebra", {"code": "A1"})
"""


@pytest.fixture
def declared(run, tmp_path):
    """A collection with a unique index, a schema and a relation, as an app declares it."""
    planner = Planner(run, tmp_path, "declared.satchel")
    subprocess.run([sys.executable, "-c", DECLARE, planner.path], check=True)
    return planner


def test_a_violated_constraint_is_reported_with_its_line(declared):
    text = lines_of(
        ("good", {"code": "G1"}), ("many", {"credits": 11}), ("twin", {"code": "A1"}),
        ("fine", {"room": "h1"}), ("again", {"code": "G1"}),
    )  # fmt: skip
    result = declared("import", "-", text=text.encode(), code=1)
    assert [line.split(":")[1] for line in result.lines] == ["2", "3", "5"]
    assert "courses/many: /credits" in result.lines[0]
    assert "courses/twin: /code" in result.lines[1]
    assert declared.ids() == ["algebra"]
    rejected = declared("import", "-", "--json", text=text.encode(), code=1).json["rejected"]
    assert [(item["line"], item["id"]) for item in rejected] == [(2, "many"), (3, "twin"), (5, "again")]


def test_a_dangling_reference_is_reported_with_its_line(declared):
    text = lines_of(("a", {"room": "h1"}), ("a: b", {"room": "h2"}), ("c", {}))
    result = declared("import", "-", text=text.encode(), code=1)
    assert result.out.startswith("-:2: courses/a: b: /room: ")
    assert declared.ids() == ["algebra"]


def test_references_within_a_file_may_come_in_any_order(declared):
    source = "import satchel, sys\nwith satchel.open(sys.argv[1]) as store: " + (
        'store.records("tasks", relations={"after": {"collection": "tasks"}})'
    )
    subprocess.run([sys.executable, "-c", source, declared.path], check=True)
    text = lines_of(("a", {"after": "b"}), ("b", {}))
    assert declared("import", "-", collection="tasks", text=text.encode()).out.startswith("2 added")


def test_an_invalid_record_of_a_mirror_is_reported_with_its_line(declared, empty):
    empty.take(("b", {}), ("many", {"credits": 11}), ("a", {}))
    empty("export", "courses.json")
    result = declared("import", "courses.json", code=1)
    assert result.out.startswith("courses.json:4: courses/many: /credits")
    assert declared.ids() == ["algebra"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"credits":6}', '"credits":7}', "courses.json:5:12: at /sha256: the checksum does not match"),
        ('"credits":6}', '"credits":}', "courses.json:2:"),
        ('"courses"', '"rooms"', "courses.json:1:26: at /collection: this is the mirror of rooms, not of"),
        ('"format":1', '"format":2', "courses.json:1:11: at /format: format 2 is newer than 1"),
    ],
)
def test_a_damaged_mirror_is_rejected_with_a_line(planner, other, old, new, says):
    planner("export", "courses.json")
    path = planner.folder / "courses.json"
    path.write_text(path.read_text().replace(old, new, 1))
    for result in (
        planner("import", "courses.json", code=1), planner("verify", "courses.json", code=1),
        other("import", "courses.json", "--create", code=1),
    ):  # fmt: skip
        assert result.out.startswith(says), result.out
    assert not other.path.exists()
    assert planner.document("algebra") == {"title": "Linear Algebra", "credits": 6}


def test_a_mirror_of_another_version(planner, other):
    planner("export", "courses.json")
    path = planner.folder / "courses.json"
    mirror = json.loads(path.read_text())
    del mirror["sha256"]
    path.write_text(json.dumps({**mirror, "version": 3}))
    says = "the file has version 3, the collection has version 1"
    assert says in planner("import", "courses.json", code=1).out
    assert says in planner("verify", "courses.json", code=1).out
    # A new collection gets the version of the file.
    other("import", "courses.json", "--create")
    assert other("verify", "courses.json").out == "3 records, equal\n"


def test_nothing_is_created_without_create(planner, other):
    text = lines_of(*COURSES).encode()
    assert "other.satchel: does not exist; --create creates it" in other("import", "-", text=text, code=2).err
    assert not other.path.exists()
    result = planner("import", "-", collection="rooms", text=text, code=2)
    assert "has no collection rooms; --create creates it" in result.err
    assert planner.run("list", planner.name, "--json", subject="records").json[0]["name"] == "courses"
    result = planner("import", "-", "--create", collection="No", text=text, code=2)
    assert "not a collection name" in result.err
    assert "nowhere.json" in other("import", "nowhere.json", "--create", code=2).err
    assert not other.path.exists()


def test_unreadable_files(planner):
    for command in ("import", "verify"):
        assert "nowhere.json: no such file" in planner(command, "nowhere.json", code=2).err
        assert ".: is a directory" in planner(command, ".", code=2).err
    assert "has no collection rooms" in planner("verify", "-", collection="rooms", code=2).err


def test_an_app_that_has_the_store_open_sees_the_import(planner):
    source = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    courses = store.records("courses")
    print(courses.count(), flush=True)
    sys.stdin.readline()
    print(courses.count(), courses.get("geometry"), flush=True)
    courses.put("after", {})
"""
    with subprocess.Popen(
        [sys.executable, "-c", source, planner.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    ) as app:  # fmt: skip
        assert app.stdout.readline() == "3\n"
        planner.take(("geometry", {"title": "Geometry"}))
        app.stdin.write("\n")
        app.stdin.flush()
        assert app.stdout.readline() == "4 {'title': 'Geometry'}\n"
    assert app.returncode == 0
    assert len(planner.ids()) == 5
