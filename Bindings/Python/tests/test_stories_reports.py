"""The report of a checked story: its findings, and its forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tales
from tales import FAULTY, segment, story

from satchel import stories
from satchel.errors import InvalidArgument, UnsoundStory


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


def test_a_report_as_json() -> None:
    report = stories.check(FAULTY)
    written = json.loads(report.json())
    assert set(written) == {"ok", "findings", "errors", "warnings", "omitted", "statistics"}
    fields = ("code", "severity", "pointer", "file", "line", "column", "passage", "message", "suggestion")
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


def test_pictures_are_looked_for_in_the_folder_of_the_story(tmp_path: Path) -> None:
    made = {**story([segment("a", "b"), segment("b")]), "image": ["a.png", "b.png"]}
    (tmp_path / "a.png").touch()
    file = tmp_path / "tale.json"
    file.write_text(json.dumps(made), encoding="utf-8")
    assert stories.check(made).ok
    loaded = stories.load(file)
    for report in (stories.check(file), stories.check(made, folder=tmp_path), loaded.check()):
        (finding,) = report.findings
        assert (finding.code, finding.pointer) == ("missing-asset", "/image/1")
        assert "missing-asset" in report.text("tale.json")
        assert report.sarif("tale.json").count('"missing-asset"') == 2
    with pytest.raises(UnsoundStory):
        stories.load(file, checked=True)
    (tmp_path / "b.png").touch()
    assert loaded.check().ok
    with pytest.raises(InvalidArgument):
        stories.check(made, folder="a\0b")
