# ruff: noqa: RUF001 (the tool prints dashes and multiplication signs)
"""`satchel story stats`, `graph`, `diff` and `convert`."""

import json
import shutil
from xml.etree import ElementTree

import pytest
from conftest import ROOT, segment, story


def ladder(rungs):
    """A story with 2 ** rungs paths."""
    steps = [segment(f"s{n}", f"s{n + 1}", f"s{n + 1}") for n in range(rungs)]
    return story("ladder", [*steps, segment(f"s{rungs}")])


def test_stats_are_a_table(run, write):
    write("a.json", ladder(3))
    write("b.json", story("loop", [segment("start", "start", "end"), segment("end")]))
    lines = run("stats", "a.json", "b.json").lines
    assert [line.split() for line in lines] == [
        ["segments", "choices", "endings", "words", "minutes", "shortest", "longest", "paths", "title"],
        ["4", "6", "1", "12", "0.1–0.1", "4", "4", "8", "The", "ladder"],
        ["2", "2", "1", "6", "0.0–0.0", "2", "–", "unbounded", "The", "loop"],
    ]


@pytest.mark.parametrize(
    ("rungs", "text"),
    [
        (66, str(2**66)),
        (67, "≈ 1.5 × 10^20 (21 digits)"),
        (200, "≈ 1.6 × 10^60 (61 digits)"),
        (2136, "≈ 1.0 × 10^643 (644 digits)"),
        (93, "≈ 9.9 × 10^27 (28 digits)"),
        (2621, "≈ 1.0 × 10^789 (789 digits)"),
    ],
)
def test_large_numbers_of_paths(run, write, rungs, text):
    digits = str(2**rungs)
    write("a.json", ladder(rungs))
    assert f"  {text}  The ladder" in run("stats", "a.json").out
    [file] = run("stats", "a.json", "--json").json["files"]
    assert file["paths"] == digits
    assert file["path_count"] == min(2**rungs, 2**63 - 1)


def test_stats_name_what_cannot_be_read(run, write):
    write("a.json")
    write("b.json", "{")
    result = run("stats", ".", code=1)
    assert len(result.lines) == 2
    assert result.err == "satchel: b.json:1:2: error: not JSON: the text ends inside an object [not-json]\n"
    document = run("stats", ".", "--json", code=1).json
    assert [file["id"] for file in document["files"]] == ["a"]
    assert [(file["file"], file["code"]) for file in document["unreadable"]] == [("b.json", "not-json")]
    run("stats", "nowhere", code=2)


def test_graph_in_text_formats(run, write, broken):
    write("a.json", broken)
    dot = run("graph", "a.json").out
    assert dot.startswith("digraph")
    assert "forst" in dot
    assert run("graph", "a.json", "--format", "dot").out == dot
    assert run("graph", "a.json", "--format", "mermaid").out.startswith("flowchart")
    assert run("graph", "-", text=json.dumps(broken).encode()).out == dot


def test_graph_as_svg(run, write, drawing, tmp_path):
    write("a.json", story("a", [segment("start", "<b>&end"), segment("<b>&end")]))
    run("graph", "a.json", "--format", "svg", "-o", "a.svg", env=drawing)
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert run("graph", "a.json", "--format", "svg", env=drawing).raw == (tmp_path / "a.svg").read_bytes()
    if shutil.which("dot"):
        texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert {"start", "<b>&end"} <= set(texts)


def test_graph_without_graphviz_tells_how_to_install_it(run, write, bare_path, tmp_path):
    write("a.json")
    result = run("graph", "a.json", "--format", "svg", "-o", "a.svg", env=bare_path.env, code=2)
    assert "apt install graphviz" in result.err
    assert not (tmp_path / "a.svg").exists()


def test_graphviz_that_fails_or_hangs_is_reported(run, write, bare_path):
    write("a.json")
    env = bare_path.install("#!/bin/sh\nexit 3\n")
    assert "it ended with status 3" in run("graph", "a.json", "--format", "svg", env=env, code=2).err
    env = bare_path.install("#!/bin/sh\nexec sleep 600\n")
    result = run("graph", "a.json", "--format", "svg", "--time-limit", "1", env=env, code=2)
    assert "dot was stopped after 1 s" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["graph", "nowhere.json"], "nowhere.json: does not exist"),
        (["graph", "."], ".: is a directory"),
        (["graph", "bad.json"], "bad.json:1:2: error: not JSON"),
        (["graph", "tale.json", "--format", "png"], "Please provide one of 'dot', 'mermaid' or 'svg'"),
        (["graph", "tale.json", "-o", "no/where.dot"], "no/where.dot: no such file or directory"),
        (["graph", "tale.json", "--time-limit", "0"], "--time-limit: 0 is not in 1 to 86400 seconds"),
        (["diff", "tale.json", "nowhere.json"], "nowhere.json: does not exist"),
        (["diff", "tale.json", "bad.json"], "bad.json:1:2: error: not JSON"),
        (["diff", "-", "-"], "only one of the versions can be the standard input"),
        (["diff", "tale.json"], "Missing expected argument '<new>'"),
        (["convert", "nowhere.twee"], "nowhere.twee: does not exist"),
        (["convert", "game.twee", "--id", "../x"], "is not a valid name"),
        (["convert", "latin.twee"], "latin.twee"),
        (["stats"], "Missing expected argument '<path> ...'"),
    ],
)
def test_what_cannot_run_ends_with_2(run, write, tmp_path, arguments, message):
    write("tale.json")
    write("bad.json", "{")
    write("game.twee", ":: Start\nHello\n")
    write("latin.twee", b":: Start\ncaf\xe9\n")
    before = sorted(tmp_path.iterdir())
    result = run(*arguments, code=2)
    assert result.err.startswith("satchel: ")
    assert message in result.err
    assert result.out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_diff_of_equal_stories(run, write):
    write("a.json")
    assert run("diff", "a.json", "a.json").out == "no differences\n"
    assert run("diff", "a.json", "a.json", "--json").json["same"] is True


def test_diff_that_breaks_nothing_ends_with_0(run, write):
    write("old.json", story("a"))
    write("new.json", story("a", [segment("start", "end", text="Other."), segment("end")], title="New"))
    assert run("diff", "old.json", "new.json").lines == ['text: "start"', "field: title"]


def test_diff_that_breaks_a_reading_position_ends_with_1(run, write):
    ways = [segment("start", "forest", "cave"), segment("forest", "end"), segment("cave", "end")]
    write("old.json", story("a", [*ways, segment("end")]))
    ways = [segment("start", "forest-2"), segment("forest-2", "end"), segment("cave", "end"), segment("end")]
    write("new.json", story("a", ways))
    lines = run("diff", "old.json", "new.json", code=1).lines
    assert 'breaks: "forest" was removed; readers could continue at "forest-2"' in lines
    assert 'breaks: "cave" can no longer be reached' in lines
    assert 'moved: "start", choice "start-0": "forest" is now "forest-2"' in lines
    assert 'added: segment "forest-2"' in lines
    old = (write("x.json").parent / "old.json").read_bytes()
    document = run("diff", "-", "new.json", "--json", text=old, code=1).json
    assert {position["segment"]: position["reason"] for position in document["broken"]} == {
        "forest": "removed",
        "cave": "unreachable",
    }


def test_convert_writes_a_valid_story(run, write, tmp_path):
    write("game.twee", ":: StoryTitle\nThe Cave\n\n:: Start\nHello [[Go on->End]]\n\n:: End\nBye\n")
    text = run("convert", "game.twee").out
    made = json.loads(text)
    assert made["id"] == "the-cave"
    assert [part["id"] for part in made["segments"]] == ["Start", "End"]
    assert text == json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    run("convert", "game.twee", "--id", "cave", "-o", "cave.json")
    written = json.loads((tmp_path / "cave.json").read_text())
    assert written == {**made, "id": "cave"}
    codes = {finding["code"] for finding in run("lint", "cave.json", "--json").json["files"][0]["findings"]}
    assert codes, "what Twee does not know is listed"
    piped = run("convert", "-", text=(tmp_path / "game.twee").read_bytes())
    assert piped.out == text


def test_an_output_file_is_replaced_whole_or_not_at_all(run, write, tmp_path):
    write("tale.json")
    (tmp_path / "out.dot").write_text("before")
    run("graph", "bad", "-o", "out.dot", code=2)
    assert (tmp_path / "out.dot").read_text() == "before"
    run("graph", "tale.json", "-o", "out.dot")
    assert (tmp_path / "out.dot").read_text().startswith("digraph")
    assert run("graph", "tale.json", "--output", "-").out.startswith("digraph")
    run("graph", "tale.json", "-o", "/dev/null")
    assert "no space left" in run("graph", "tale.json", "-o", "/dev/full", code=2).err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.dot", "tale.json"]


def test_the_examples_have_figures(run):
    files = run("stats", "--json", "Examples/Stories", cwd=ROOT).json["files"]
    assert {file["id"]: file["path_count"] for file in files}["frau-holle"] == -1
    assert all(file["path_count"] > 1 for file in files if file["id"] != "frau-holle")
