"""Stories in Twee: a file, and a directory of files."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from helpers import FIXTURES
from tales import TWEE

import satchel
from satchel import stories

MILL = FIXTURES / "twee" / "mill"


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
