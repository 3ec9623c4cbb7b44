"""Stories without a library: checked, read, drawn, compared, turned from Twee."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Dict

import pytest
import tales
from helpers import FIXTURES
from tales import segment, story

import satchel
from satchel import stories

CASES = json.loads((FIXTURES / "vectors/stories.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_examples_of_the_contract(case: Dict[str, Any]) -> None:
    text = tales.encoded(case["story"])
    report = stories.check(text)
    assert Counter(each.code for each in report.findings) == Counter(case["findings"])
    assert report.ok == (not any(each.severity == "error" for each in report.findings))
    if "path_count" in case:
        assert stories.load(text).path_count == case["path_count"]
    if "pointer" in case:
        assert [each.pointer for each in report.findings] == [case["pointer"]]
    if "suggestion" in case:
        assert [each.suggestion for each in report.findings] == [case["suggestion"]]


@pytest.mark.parametrize("name", tales.NAMES)
def test_the_tales_are_sound(name: str) -> None:
    path = tales.EXAMPLES / f"{name}.json"
    file = json.loads(path.read_text(encoding="utf-8"))
    report = stories.check(path)
    assert (report.ok, report.findings, report.errors, report.warnings) == (True, [], 0, 0)
    tale = stories.load(path, checked=True)
    assert tale.id == name
    assert tale.title == file["title"]
    assert tale.author == file["author"]
    assert tale.original_source == file["originalSource"]
    assert tale.cultural_origin == file["culturalOrigin"]
    assert tale.synopsis == file["synopsis"]
    assert tale.cover_image_name == file["coverImageName"]
    assert tale.estimated_reading_minutes == file["estimatedReadingMinutes"]
    assert tale.age_range == file["ageRange"]
    assert tale.tags == file["tags"]
    assert tale.is_purchased == file["isPurchased"]
    assert tale.text == path.read_bytes()
    assert tale.statistics == report.statistics == tale.check().statistics
    assert tale.start == tale.segment(file["segments"][0]["id"])
    for each in file["segments"]:
        found = tale.segment(each["id"])
        assert found.text == each["text"]
        assert found.is_authentic_path == each["isAuthenticPath"]
        assert found.is_ending == (each.get("isEnding", False) or not each["choices"])
        assert [(way.id, way.text, way.next_segment_id) for way in found.choices] == [
            (way["id"], way["text"], way["nextSegmentId"]) for way in each["choices"]
        ]


def test_path_counts_of_the_tales() -> None:
    counts = {name: stories.load(tales.EXAMPLES / f"{name}.json").path_count for name in tales.NAMES}
    assert counts == {
        "anansi-and-the-sky-stories": 108,
        "frau-holle": stories.UNBOUNDED,
        "the-fisherman-and-the-jinni": 54,
        "thor-the-bride": 113,
        "urashima-taro": 28,
    }


def test_a_story_may_be_a_path_a_text_or_a_dict(tmp_path: Path) -> None:
    made = story([segment("a", "b"), segment("b", "c", "d"), segment("c"), segment("d")])
    text = tales.encoded(made)
    path = tmp_path / "erzählt.json"
    path.write_bytes(text)
    sources = [path, str(path), text, bytearray(text), memoryview(text), made]
    reports = [stories.check(source) for source in sources]
    assert all(report == reports[0] for report in reports)
    loaded = [stories.load(source) for source in sources]
    assert all(each.path_count == 2 and each.title == "T" for each in loaded)
    assert all(stories.diff(source, each).same for source, each in zip(sources, loaded))


def test_a_report_says_where_and_what() -> None:
    made = story([segment("forest-1", "forset-2", "forest-2"), segment("forest-2")])
    text = json.dumps(made, indent=1).encode()
    report = stories.check(text)
    (finding,) = report.findings
    line = next(number for number, each in enumerate(text.splitlines(), 1) if b"forset-2" in each)
    assert (finding.code, finding.severity) == ("broken-choice", "error")
    assert finding.pointer == "/segments/0/choices/0/nextSegmentId"
    assert finding.line == line
    assert finding.column == text.splitlines()[line - 1].index(b'"forset-2"') + 1
    assert "forset-2" in finding.message
    assert finding.suggestion == "forest-2"
    assert (report.ok, report.errors, report.warnings) == (False, 1, 0)


def test_warnings_alone_leave_a_story_sound() -> None:
    report = stories.check(story([segment("a", "b"), segment("b", ending=False)]))
    assert (report.ok, report.errors, report.warnings) == (True, 0, 1)
    assert [each.severity for each in report.findings] == ["warning"]


FAULTY = story(
    [
        segment("a", "b", "nowhere", "a"),
        segment("b", "b\n2"),
        segment("b\n2", "b"),
        segment("é", ending=False),
        segment("é"),
    ],
    ageRange="old",
    estimatedReadingMinutes="1",
)


def test_a_report_as_json() -> None:
    report = stories.check(FAULTY)
    written = json.loads(report.json())
    assert set(written) == {"ok", "findings", "errors", "warnings", "omitted", "statistics"}
    fields = ("code", "severity", "pointer", "file", "line", "column", "message", "suggestion")
    assert [tuple(each) for each in written["findings"]] == [fields] * len(report.findings)
    for each, finding in zip(written["findings"], report.findings):
        assert each == {name: getattr(finding, name) for name in fields}
    for name in ("ok", "errors", "warnings", "omitted"):
        assert written[name] == getattr(report, name)
    assert report.omitted == 0
    assert report.errors + report.warnings == len(report.findings)
    assert report.errors == sum(each.severity == "error" for each in report.findings)
    assert written["statistics"] == {name: getattr(report.statistics, name) for name in written["statistics"]}


def test_a_report_as_sarif(tmp_path: Path) -> None:
    report = stories.check(FAULTY, name="tales/a b.json")
    log = json.loads(report.sarif())
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "satchel"
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert len(run["results"]) == len(report.findings) > 5
    for result, finding in zip(run["results"], report.findings):
        assert result["ruleId"] == rules[result["ruleIndex"]]["id"] == finding.code
        assert result["level"] == finding.severity
        assert result["message"]["text"].startswith(finding.message)
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "tales/a%20b.json"
        assert place["physicalLocation"]["region"]["startLine"] == finding.line
        assert place["logicalLocations"] == [{"fullyQualifiedName": finding.pointer}]
    other = json.loads(report.sarif("other.json"))
    (first, *_) = other["runs"][0]["results"]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "other.json"


def test_a_report_as_text(tmp_path: Path) -> None:
    path = tmp_path / "faulty.json"
    path.write_bytes(tales.encoded(FAULTY))
    report = stories.check(path)
    lines = report.text().splitlines()
    assert len(lines) == len(report.findings)
    for line, finding in zip(lines, report.findings):
        assert line.startswith(f"{path}:{finding.line}:{finding.column}: {finding.severity}: ")
        assert line.endswith(f"[{finding.code}]")
    assert stories.check(story([segment("a")])).text() == ""
    assert report.text("short").startswith("short:1:")


def test_a_path_count_is_exact_whatever_its_size() -> None:
    for count in (1, 61, 62, 63, 64, 65, 200):
        made = stories.load(tales.diamonds(count))
        assert made.path_count == 2**count
        assert made.statistics.path_count == min(2**count, 2**63 - 1)


def test_a_path_count_of_more_digits_than_int_takes_from_a_text() -> None:
    assert stories.load(tales.diamonds(20_000)).path_count == 2**20_000


def test_parallel_choices_and_endings_that_go_on_count() -> None:
    made = story([segment("a", "b", "b", ending=True), segment("b", "c", ending=True), segment("c")])
    # a; and twice a-b, a-b-c.
    assert stories.load(made).path_count == 5


def test_a_graph_names_every_segment_and_choice() -> None:
    tale = stories.load(tales.EXAMPLES / "urashima-taro.json")
    dot, mermaid = tale.graph("dot"), tale.graph("mermaid")
    assert tale.graph() == dot
    assert dot.startswith("digraph")
    assert mermaid.startswith("flowchart")
    assert dot.count(" -> ") == tale.statistics.choices
    for each in json.loads(tale.text)["segments"]:
        assert f'label="{each["id"]}"' in dot
        assert f'"{each["id"]}"' in mermaid


def test_a_graph_cannot_be_broken_out_of() -> None:
    hostile = 'x"]; evil [label="\\'
    made = stories.load(story([segment("a", hostile), segment(hostile)]))
    assert 'label="x\\"]; evil [label=\\"\\\\"' in made.graph("dot")
    assert "evil [" not in made.graph("mermaid")


def test_what_a_new_version_breaks() -> None:
    old = story([segment("a", "b", "c"), segment("b", "d"), segment("c", "d"), segment("d")])
    new = story([segment("a", "b", "c2"), segment("b", "b"), segment("c2", "d"), segment("d")], title="U")
    new["segments"][3]["text"] = "Other words."
    new["segments"][2]["text"] = old["segments"][2]["text"]
    found = stories.diff(tales.encoded(old), stories.load(new))
    assert not found.same
    broken = {each.segment: (each.reason, each.suggestion) for each in found.broken}
    assert broken == {"b": ("trap", None), "c": ("removed", "c2")}
    assert found.start is None
    assert [(each.segment, each.choice, each.from_, each.to) for each in found.moved] == [
        ("a", "a-1", "c", "c2"),
        ("b", "b-0", "d", "b"),
    ]
    assert (found.added_segments, found.removed_segments) == (["c2"], ["c"])
    assert (found.changed_texts, found.changed_fields) == (["d"], ["title"])
    assert stories.diff(old, story(reversed(old["segments"]))).start == stories.MovedStart("a", "d")
    shorter = story([segment("a", "b"), segment("b", "d"), segment("c", "d"), segment("d")])
    fewer = stories.diff(old, shorter)
    assert fewer.removed_choices == [stories.ChoiceName("a", "a-1")]
    assert [(each.segment, each.reason) for each in fewer.broken] == [("c", "unreachable")]
    assert stories.diff(shorter, old).added_choices == fewer.removed_choices


TWEE = """:: StoryTitle
The Cave

:: StoryData
{"ifid": "D674C58C-DEFA-4F70-B7A2-27742230C0FC", "start": "Mouth"}

:: Deep
It is dark. The end.

:: Mouth
You stand before a cave. [[Go in->Deep]] [[Deep]]
"""


def test_twee_becomes_a_story(tmp_path: Path) -> None:
    path = tmp_path / "cave.twee"
    path.write_text(TWEE, encoding="utf-8")
    for source in (path, TWEE.encode()):
        made = stories.from_twee(source, id="the-cave")
        assert (made["id"], made["title"]) == ("the-cave", "The Cave")
        loaded = stories.load(made)
        assert loaded.start.text.startswith("You stand before a cave.")
        first, second = loaded.start.choices
        assert first.text == "Go in"
        assert first.next_segment_id == second.next_segment_id
        assert "It is dark" in loaded.segment(first.next_segment_id).text
        assert loaded.path_count == 2
    assert stories.from_twee(TWEE.encode())["id"]
    direct = stories.load(path)
    assert (direct.title, direct.path_count) == ("The Cave", 2)
    assert stories.check(path).ok
    assert stories.check(path, language="twee").ok


NO_STORIES: Dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"once upon a time",
    "cut short": b'{"id": "t", "segments": [',
    "an array": b"[]",
    "a text": b'"story"',
    "null": b"null",
    "bad UTF-8": b'{"id": "\xff"}',
    "a duplicate key": b'{"id": "a", "id": "b"}',
    "600 levels": b"[" * 600 + b"]" * 600,
    "more after it": b"{} {}",
    "a lone surrogate": b'{"id": "\\ud800"}',
}


@pytest.mark.parametrize("what", NO_STORIES)
def test_a_text_that_is_no_story_is_refused_with_its_place(tmp_path: Path, what: str) -> None:
    text = NO_STORIES[what]
    path = tmp_path / "bad.json"
    path.write_bytes(text)
    for source in (text, path):
        for call in (stories.check, stories.load, lambda each: stories.diff(each, each)):
            with pytest.raises(satchel.InvalidArgument, match="line 1") as caught:
                call(source)
            assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("source", [None, 5, 1.5, ["a"], object(), "a\0b", "\ud800", b"\0"])
def test_what_is_neither_path_nor_text_is_refused(source: Any) -> None:
    for call in (stories.check, stories.load, stories.from_twee):
        with pytest.raises(satchel.InvalidArgument):
            call(source)
    with pytest.raises(satchel.InvalidArgument, match="source at /a"):
        stories.check({"a": {1, 2}})
    with pytest.raises(satchel.InvalidArgument, match="new"):
        stories.diff(story([segment("a")]), 5)  # type: ignore[arg-type]


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    for call in (stories.check, stories.load, stories.from_twee):
        with pytest.raises(satchel.NotFound, match=r"none\.json") as caught:
            call(tmp_path / "none.json")
        assert isinstance(caught.value, KeyError)
        with pytest.raises(satchel.IOFailure) as failed:
            call("/proc/self/mem")
        assert isinstance(failed.value, OSError)


BAD_CALLS: Dict[str, Callable[[stories.Story], Any]] = {
    "a form of graph": lambda made: made.graph("png"),
    "a form that is no text": lambda made: made.graph(None),  # type: ignore[arg-type]
    "a language": lambda made: stories.check(made.text, language="ink"),
    "a name that is no text": lambda made: stories.check(made.text, name=5),  # type: ignore[arg-type]
    "JSON as Twee": lambda made: stories.check(made.text, language="twee"),
    "an id that is no text": lambda made: made.segment(5),  # type: ignore[arg-type]
    "an id with a lone surrogate": lambda made: made.segment("\udc00"),
    "an id for Twee that is empty": lambda made: stories.from_twee(TWEE.encode(), id=""),
    "an id for Twee that is no name": lambda made: stories.from_twee(TWEE.encode(), id="../x"),
    "Twee as JSON": lambda made: stories.check(TWEE.encode(), language="json"),
}


@pytest.mark.parametrize("call", BAD_CALLS)
def test_a_bad_argument_is_refused(call: str) -> None:
    with pytest.raises(satchel.InvalidArgument):
        BAD_CALLS[call](stories.load(story([segment("a")])))


@pytest.mark.parametrize("id", ["", "none", "A", "a ", "a\0", "x" * 100_000])
def test_a_segment_that_is_not_there_is_not_found(id: str) -> None:
    with pytest.raises(satchel.NotFound):
        stories.load(story([segment("a")])).segment(id)


def test_a_story_without_segments_has_no_start() -> None:
    empty = stories.load(b"{}")
    assert (empty.id, empty.tags, empty.path_count) == (None, [], 0)
    with pytest.raises(satchel.NotFound):
        _ = empty.start
    assert not empty.check().ok


def test_loading_checked_refuses_what_has_errors() -> None:
    stories.load(FAULTY)
    with pytest.raises(satchel.UnsoundStory) as caught:
        stories.load(FAULTY, checked=True)
    error = caught.value
    assert isinstance(error, satchel.InvalidArgument)
    assert error.report is not None
    assert error.report.findings == stories.check(FAULTY).findings
    assert all(finding.code in str(error) for finding in error.report.findings)
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.report) == (str(error), error.report)
    # Warnings are no reason.
    assert stories.load(story([segment("a", ending=False)]), checked=True).id == "t"


def test_stories_and_reports_are_values() -> None:
    first, second = stories.load(FAULTY), stories.load(tales.encoded(FAULTY))
    assert first.title == second.title
    assert stories.load(second.text) == second
    assert pickle.loads(pickle.dumps(second)) == second
    assert str(second.text)[2:40] not in repr(second)
    with pytest.raises(AttributeError):
        second.title = "other"  # type: ignore[misc]
    report = second.check()
    assert pickle.loads(pickle.dumps(report)).sarif() == report.sarif()


MILL = FIXTURES / "twee" / "mill"


def test_a_directory_of_twee_files_is_one_story(tmp_path: Path) -> None:
    game = stories.load(MILL)
    assert [(each.text, each.next_segment_id) for each in game.start.choices][:2] == [
        ("Go up", "Loft"),
        ("Work", "Stones"),
    ]
    assert b":: Loft" in game.text
    assert b"StoryData" in game.text
    report = stories.check(str(MILL))
    assert report == game.check()
    assert {each.file for each in report.findings} <= {"data.twee", "start.twee", "upstairs/loft.twee"}
    marked = next(each for each in report.findings if each.code == "byte-order-mark")
    assert (marked.file, marked.line, marked.column) == ("start.twee", 1, 1)
    assert report.text().startswith(f"{MILL}/")
    assert report.text("mill").startswith("mill/")
    assert "start.twee" in report.sarif()
    assert stories.diff(MILL, game).broken == []
    assert stories.from_twee(MILL)["segments"][0]["id"] == game.start.id
    copied = pickle.loads(pickle.dumps(game))
    assert copied == game
    assert copied.start == game.start


def test_a_directory_that_is_no_story_is_refused(tmp_path: Path) -> None:
    with pytest.raises(satchel.InvalidArgument, match="StoryData"):
        stories.check(tmp_path)
    data = ':: StoryData\n{"ifid": "1"}\n\n:: Start\nEnd\n'
    below = tmp_path / "unten" / "Größe"
    below.mkdir(parents=True)
    (below / "東京.tw").write_text(data, encoding="utf-8")
    assert stories.load(tmp_path).start.id == "Start"
    (tmp_path / ".hidden.twee").write_text(data, encoding="utf-8")
    (tmp_path / "link.twee").symlink_to(below / "東京.tw")
    assert stories.load(tmp_path).start.id == "Start"
    (tmp_path / "again.twee").write_text(data, encoding="utf-8")
    for call in (stories.check, stories.load, stories.from_twee):
        with pytest.raises(satchel.InvalidArgument, match="have 2"):
            call(tmp_path)
    with pytest.raises(satchel.NotFound):
        stories.check(tmp_path / "none")
