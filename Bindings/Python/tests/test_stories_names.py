"""Ids are names, never paths; and the names of the contract are there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Dict, Iterator

import pytest
import tales
from tales import segment, story

import satchel

SECRET = "secret"

HOSTILE: Dict[str, str] = {
    "up": "../x",
    "up to a story": f"../{SECRET}",
    "up to its file": f"../{SECRET}.json",
    "absolute": "/etc/passwd",
    "down and up": "a/../../b",
    "down": "below/deep",
    "a NUL": "a\0b",
    "a NUL after a name": "good\0",
    "empty": "",
    "here": ".",
    "above": "..",
    "hidden": ".good",
    "back slashes": "..\\x",
    "a line feed": "a\nb",
    "delete": "a\x7fb",
    "long": "x" * 201,
    "very long": "x" * 1_000_000,
    "long in bytes": "é" * 101,
}


@pytest.fixture
def books(store: satchel.Store, tmp_path: Path) -> Iterator[satchel.StoryLibrary]:
    """A library with two stories, one of them in a folder, and a story outside."""
    shelf = tmp_path / "shelf"
    (shelf / "below").mkdir(parents=True)
    tales.write(tmp_path, SECRET)
    tales.write(shelf / "below", "deep")
    tales.write(shelf, "good")
    shutil.copy(shelf / "good.json", shelf / ".good.json")
    with store.stories(shelf) as books:
        yield books


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_id_is_a_name_and_never_a_path(books: satchel.StoryLibrary, kind: str) -> None:
    id = HOSTILE[kind]
    for call in (books.story, books.segment, books.mark_purchased):
        with pytest.raises(satchel.InvalidArgument) as caught:
            call(id)
        assert isinstance(caught.value, ValueError)
        assert len(str(caught.value)) < 500
    assert [each.id for each in books.load_all()] == ["deep", "good"]


@pytest.mark.parametrize("id", [None, 5, b"good", Path("good"), "\ud800", ["good"]])
def test_an_id_is_a_text(books: satchel.StoryLibrary, id: Any) -> None:
    for call in (books.story, books.segment, books.mark_purchased):
        with pytest.raises(satchel.InvalidArgument):
            call(id)


@pytest.mark.parametrize(
    "id", ["none", "GOOD", "good.json", "good ", SECRET, "below", "%2e%2e", "~", "é" * 100]
)
def test_a_name_that_is_not_there_is_not_found(books: satchel.StoryLibrary, id: str) -> None:
    for call in (books.story, books.segment):
        with pytest.raises(satchel.NotFound) as caught:
            call(id)
        assert isinstance(caught.value, KeyError)


def test_a_link_that_leads_out_is_refused(books: satchel.StoryLibrary, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    (shelf / f"{SECRET}.json").symlink_to(tmp_path / f"{SECRET}.json")
    (shelf / "roundabout.json").symlink_to(Path("below/../../") / f"{SECRET}.json")
    (shelf / "out").symlink_to(tmp_path)
    for id in (SECRET, "roundabout"):
        with pytest.raises(satchel.InvalidArgument, match="out of the directory"):
            books.story(id)
    with pytest.raises(satchel.InvalidArgument):
        books.story(f"out/{SECRET}")
    listing = books.load_all()
    assert [each.id for each in listing] == ["deep", "good"]
    assert {each.file: each.code for each in listing.problems} == {
        f"{SECRET}.json": "unreadable",
        "roundabout.json": "unreadable",
    }


def test_a_link_that_stays_inside_is_followed(books: satchel.StoryLibrary, tmp_path: Path) -> None:
    (tmp_path / "shelf/deep.json").symlink_to(Path("below/deep.json"))
    assert books.story("deep").id == "deep"
    assert {each.id for each in books.load_all()} == {"good", "deep"}


def test_the_name_of_a_file_is_not_the_id_of_its_story(books: satchel.StoryLibrary, tmp_path: Path) -> None:
    tales.write(tmp_path / "shelf", "inner").rename(tmp_path / "shelf/outer.json")
    assert books.story("inner").id == "inner"
    with pytest.raises(satchel.NotFound):
        books.story("outer")


def test_the_names_of_the_contract(tmp_path: Path) -> None:
    directory = shutil.copytree(tales.EXAMPLES, tmp_path / "stories")
    path_or_bytes = directory / "frau-holle.json"
    old = story([segment("a", "b"), segment("b")])
    new = story([segment("a")])

    report = satchel.stories.check(path_or_bytes)
    assert report.ok
    assert isinstance(report.json(), str)
    assert isinstance(report.sarif(), str)
    broken = satchel.stories.check(tales.encoded(story([segment("a", "forset"), segment("forest")])))
    finding = next(each for each in broken.findings if each.code == "broken-choice")
    place = "/segments/0/choices/0/nextSegmentId"
    assert (finding.severity, finding.pointer, finding.line) == ("error", place, 1)
    assert finding.passage is None
    assert finding.file is None
    assert finding.column > 1
    assert finding.message
    assert [each.suggestion for each in broken.findings if each.code == "broken-choice"] == ["forest"]

    with satchel.open(":memory:") as store:
        library = store.stories(directory)
        assert len(library.load_all()) == 5
        story_of_library = library.story("frau-holle")
        assert [each.id for each in library.search("holle")] == ["frau-holle"]
        assert library.filter(tag="winter", age_range="4-7", culture="German", purchased=False)
        assert library.sorted_by("title", descending=True)[0].id == "urashima-taro"
        assert "winter" in library.tags()
        assert "German" in library.cultures()
        assert "4-7" in library.age_ranges()
        library.mark_purchased("frau-holle")
        assert library.filter(purchased=True, culture="German")
        assert library.refresh().unchanged == 5

    assert story_of_library.path_count == -1
    assert story_of_library.statistics.segments == 20
    assert story_of_library.graph("dot").startswith("digraph")
    assert story_of_library.graph("mermaid").startswith("flowchart")
    assert satchel.stories.diff(tales.encoded(old), tales.encoded(new)).removed_segments == ["b"]
