"""Stories without a library: checked, read, drawn, compared."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any, Dict

import pytest
import tales
from helpers import FIXTURES
from tales import FAULTY, segment, story

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
