"""A library's stories: found, searched, sorted, bought, and changed under its feet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
import tales
from tales import rewrite, segment, story

import satchel
from satchel import StoryLibrary, stories


def ids(found: Any) -> List[str]:
    return [each.id for each in found]


def test_all_stories_are_listed_by_their_files(books: StoryLibrary, shelf: Path) -> None:
    listing = books.load_all()
    assert ids(listing) == tales.NAMES
    assert (len(listing), listing[0], listing.problems) == (5, listing.stories[0], [])
    for summary in listing:
        tale = books.story(summary.id)
        assert summary.file == f"{summary.id}.json"
        assert tale == stories.load(shelf / summary.file)
        fields = ("title", "author", "original_source", "cultural_origin", "synopsis", "age_range", "tags")
        for field in (*fields, "cover_image_name", "estimated_reading_minutes", "is_purchased"):
            assert getattr(summary, field) == getattr(tale, field), field
        assert summary.statistics == tale.statistics
        assert summary.path_count == tale.path_count
        assert (summary.errors, summary.warnings) == (0, 0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("urashima taro", ["urashima-taro"]),
        ("URASHIMA Tarō", ["urashima-taro"]),
        ("ryugu", ["urashima-taro"]),
        ("anans", ["anansi-and-the-sky-stories"]),
        ("nansi", []),
        ("spindle snow", ["frau-holle"]),
        ("spindle hammer", []),
        ('spindle" OR "hammer', []),
        ("bride OR spindle", []),
    ],
)
def test_searching_is_for_beginnings_of_words(books: StoryLibrary, text: str, found: List[str]) -> None:
    assert ids(books.search(text)) == found


def test_filters_compose(books: StoryLibrary) -> None:
    assert ids(books.filter()) == ids(books.sorted_by("title"))
    assert ids(books.filter(tag="winter")) == ["frau-holle"]
    assert ids(books.filter(tag=["winter", "kindness"])) == ["frau-holle"]
    assert books.filter(tag=["winter", "no such tag"]) == []
    assert ids(books.filter(age_range="8-12")) == ["thor-the-bride"]
    assert ids(books.filter(culture="Japanese")) == ["urashima-taro"]
    assert ids(books.filter(purchased=True)) == ["the-fisherman-and-the-jinni"]
    assert len(books.filter(purchased=False)) == 4
    assert set(ids(books.filter(age=8))) == {
        "anansi-and-the-sky-stories",
        "thor-the-bride",
        "urashima-taro",
    }
    assert ids(books.filter(age=99)) == ["the-fisherman-and-the-jinni"]
    assert ids(books.filter(age=8, culture="Norse", purchased=False, age_range="8-12")) == ["thor-the-bride"]
    assert books.filter(age=8, culture="Norse", purchased=True) == []
    assert (
        ids(books.select(search="the", age=7, sort="title", limit=1, offset=1))
        == [*ids(books.select(search="the", age=7, sort="title"))][1:2]
    )


def test_what_there_is_to_filter_by(books: StoryLibrary, shelf: Path) -> None:
    files = [json.loads(path.read_bytes()) for path in sorted(shelf.glob("*.json"))]
    assert books.tags() == sorted({tag for file in files for tag in file["tags"]})
    assert books.cultures() == sorted(file["culturalOrigin"] for file in files)
    assert books.age_ranges() == ["4-7", "5-8", "6-9", "8-12", "10+"]
    for tag in books.tags():
        assert ids(books.filter(tag=tag))
    for culture in books.cultures():
        assert len(books.filter(culture=culture)) == 1


def test_stories_are_sorted_both_ways(books: StoryLibrary, shelf: Path) -> None:
    for minutes, name in enumerate(["thor-the-bride", "urashima-taro", "frau-holle"]):
        rewrite(shelf, name, estimatedReadingMinutes=20 + minutes)
    rewrite(shelf, "anansi-and-the-sky-stories", title="Éanansi")
    books.refresh()
    titles = [
        "anansi-and-the-sky-stories",
        "frau-holle",
        "the-fisherman-and-the-jinni",
        "thor-the-bride",
        "urashima-taro",
    ]
    assert ids(books.sorted_by("title")) == titles
    assert ids(books.sorted_by("title", descending=True)) == titles[::-1]
    minutes_first = ids(books.sorted_by("reading_time"))
    assert minutes_first[2:] == ["thor-the-bride", "urashima-taro", "frau-holle"]
    assert ids(books.sorted_by("estimated_reading_minutes")) == minutes_first
    counts = [each.path_count for each in books.sorted_by("path_count")]
    assert counts == [28, 54, 108, 113, stories.UNBOUNDED]
    assert [each.path_count for each in books.sorted_by("path_count", descending=True)] == counts[::-1]


@pytest.mark.parametrize(
    "query",
    [
        {"sort": "colour"},
        {"sort": 5},
        {"age": "eight"},
        {"age": -1},
        {"age": 2**70},
        {"culture": 5},
        {"culture": "\ud800"},
        {"purchased": "yes"},
        {"tag": [5]},
        {"limit": -1},
        {"offset": -1},
        {"search": b"x"},
    ],
)
def test_a_bad_query_is_refused(books: StoryLibrary, query: Dict[str, Any]) -> None:
    with pytest.raises(satchel.InvalidArgument):
        books.select(**query)


def test_purchases_are_kept_in_the_store_and_not_in_the_file(
    store: satchel.Store, books: StoryLibrary, shelf: Path, path: Path
) -> None:
    before = (shelf / "frau-holle.json").read_bytes()
    books.mark_purchased("frau-holle")
    books.mark_purchased("the-fisherman-and-the-jinni", False)
    assert ids(books.filter(purchased=True)) == ["frau-holle"]
    assert [each.id for each in books.load_all() if each.is_purchased] == ["frau-holle"]
    assert (shelf / "frau-holle.json").read_bytes() == before
    rewrite(shelf, "frau-holle", title="Mother Holle")
    store.close()
    with satchel.open(path) as again, again.stories(str(shelf)) as reopened:
        assert ids(reopened.filter(purchased=True)) == ["frau-holle"]
        assert reopened.filter(purchased=True)[0].title == "Mother Holle"
        reopened.mark_purchased("frau-holle", purchased=False)
        assert reopened.filter(purchased=True) == []
        assert again.check() == []


def test_a_refresh_notices_what_changed_and_reads_only_that(
    store: satchel.Store, books: StoryLibrary, shelf: Path
) -> None:
    first = books.refresh()
    assert (first.added, first.changed, first.removed, first.unchanged, first.parsed) == (5, 0, 0, 0, 5)
    again = books.refresh()
    assert (again.added, again.changed, again.removed, again.unchanged, again.parsed) == (0, 0, 0, 5, 0)
    rewrite(shelf, "frau-holle", title="Mother Holle")
    (shelf / "thor-the-bride.json").unlink()
    tales.write(shelf, "new", title="New")
    third = books.refresh()
    assert (third.added, third.changed, third.removed, third.unchanged, third.parsed) == (1, 1, 1, 3, 2)
    assert books.story("frau-holle").title == "Mother Holle"
    assert ids(books.search("mother")) == ["frau-holle"]
    with pytest.raises(satchel.NotFound):
        books.story("thor-the-bride")
    # The index is the store's: another library of the directory need not read a file.
    with store.stories(shelf) as other:
        assert other.refresh().parsed == 0
        assert ids(other.load_all()) == ids(books.load_all())


def test_one_bad_file_never_hides_the_others(books: StoryLibrary, shelf: Path) -> None:
    (shelf / "array.json").write_bytes(b"[1, 2]")
    (shelf / "broken.json").write_bytes(b'{"id": "broken",\n  "title": }')
    (shelf / "nameless.json").write_bytes(tales.encoded({"title": "No id"}))
    (shelf / "path.json").write_bytes(tales.encoded(story([segment("a")], id="../path")))
    (shelf / "twin.json").write_bytes((shelf / "frau-holle.json").read_bytes())
    (shelf / "folder.json").mkdir()
    (shelf / "none.json").symlink_to(shelf / "nowhere.json")
    (shelf / "notes.txt").write_text("not a story")
    listing = books.load_all()
    assert ids(listing) == tales.NAMES
    problems = {each.file: each for each in listing.problems}
    assert {file: each.code for file, each in problems.items()} == {
        "array.json": "not-a-story",
        "broken.json": "not-json",
        "folder.json": "unreadable",
        "nameless.json": "missing-field",
        "none.json": "unreadable",
        "path.json": "invalid-id",
        "twin.json": "duplicate-story",
    }
    assert (problems["broken.json"].line, problems["broken.json"].column) == (2, 12)
    assert problems["twin.json"].story == "frau-holle"
    assert all(each.message for each in listing.problems)
    assert books.refresh().problems == listing.problems
    with pytest.raises(satchel.InvalidArgument, match="line 2, column 12"):
        books.story("broken")


def test_checked_leaves_out_what_has_errors(books: StoryLibrary, shelf: Path) -> None:
    unsound = story([segment("a", "b", "nowhere"), segment("b")], id="unsound")
    (shelf / "unsound.json").write_bytes(tales.encoded(unsound))
    listing = books.load_all()
    assert "unsound" in ids(listing)
    assert listing.problems == []
    assert {each.id: each.errors for each in listing if each.errors} == {"unsound": 1}
    checked = books.load_all(checked=True)
    assert ids(checked) == tales.NAMES
    (problem,) = checked.problems
    assert (problem.file, problem.story, problem.code) == ("unsound.json", "unsound", "broken-choice")
    assert problem.findings == stories.check(shelf / "unsound.json").findings
    assert books.story("unsound").path_count == 1
    with pytest.raises(satchel.UnsoundStory, match="broken-choice") as caught:
        books.story("unsound", checked=True)
    assert caught.value.report is not None
    assert [each.code for each in caught.value.report.findings] == ["broken-choice"]
    assert books.story("frau-holle", checked=True).id == "frau-holle"


def test_segments_of_a_library(books: StoryLibrary) -> None:
    tale = books.story("urashima-taro")
    assert books.segment("urashima-taro") == tale.start
    for each in json.loads(tale.text)["segments"]:
        assert books.segment("urashima-taro", each["id"]) == tale.segment(each["id"])
    for missing in (("urashima-taro", "none"), ("urashima-taro", ""), ("none", "a"), ("none", None)):
        with pytest.raises(satchel.NotFound):
            books.segment(*missing)


def test_members_of_the_app_are_given_as_extra(store: satchel.Store, tmp_path: Path) -> None:
    text = tales.story([tales.segment("a", "b"), tales.segment("b")], price=3)
    text["segments"][0]["image"] = "a.png"
    text["segments"][0]["choices"][0]["cost"] = {"gold": [1]}
    (tmp_path / "tale.json").write_text(json.dumps(text), encoding="utf-8")
    with store.stories(tmp_path) as library:
        (summary,) = library.load_all()
        story = library.story(summary.id)
        assert summary.extra == story.extra == {"price": 3}
        assert story.segment("a") == library.segment(summary.id, "a")
        assert story.start.extra == {"image": "a.png"}
        assert [each.extra for each in story.start.choices] == [{"cost": {"gold": [1]}}]
        assert story.segment("b").extra == {}


def test_a_story_has_files_in_several_languages(store: satchel.Store, tmp_path: Path) -> None:
    for language in ("de", "en"):
        text = tales.story([tales.segment("a")], id="well", title=language, language=language)
        (tmp_path / language).mkdir()
        (tmp_path / language / "well.json").write_text(json.dumps(text), encoding="utf-8")
    with store.stories(tmp_path) as library:
        listing = library.load_all()
        assert [(each.id, each.file) for each in listing] == [
            ("well", "de/well.json"),
            ("well", "en/well.json"),
        ]
        assert listing.problems == []
        assert library.languages() == ["de", "en"]
        assert [each.title for each in library.filter(language="en")] == ["en"]
        assert library.story("well").language == "de"
        assert library.story("well", language="en").title == "en"
        assert library.segment("well", language="en").id == "a"
        with pytest.raises(satchel.NotFound, match="ja"):
            library.story("well", language="ja")
        with pytest.raises(satchel.InvalidArgument, match="language"):
            library.story("well", language=5)  # type: ignore[arg-type]
