"""How far a reader is, what is loading, and stories that are opened once."""

from __future__ import annotations

import copy
import pickle
import time
from pathlib import Path
from typing import Iterator, List

import pytest
import tales
from helpers import eventually
from tales import segment, story

import satchel

OLD = story([segment("rim", "meadow", "home"), segment("meadow", "tree"), segment("tree"), segment("home")])
NEW = story([segment("rim", "meadow", "home"), segment("meadow", "gate"), segment("gate"), segment("home")])


@pytest.fixture
def well(store: satchel.Store, tmp_path: Path) -> Iterator[satchel.StoryLibrary]:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "t.json").write_bytes(tales.encoded(OLD))
    with store.stories(shelf) as library:
        yield library


def test_position_visited_segments_and_endings_are_kept(
    well: satchel.StoryLibrary, store: satchel.Store
) -> None:
    heard: List[satchel.Change] = []
    store.observe(heard.append)
    progress = well.progress("t")
    assert (progress.story, progress.position, progress.visited, progress.endings) == ("t", None, [], [])
    for id in ("rim", "home", "rim", "meadow"):
        progress = progress.move_to(id)
        assert progress.position == id
    assert progress.visited == ["rim", "home", "meadow"]
    assert progress.endings == ["home"]
    assert (progress.moved_from, progress.moved_reason) == (None, None)
    assert isinstance(progress.read_at, int)
    assert [change.keys for change in heard][-1] == ["t"]
    with store.stories(well.directory) as other:
        assert other.progress("t") == progress
    well.clear_progress("t")
    assert well.progress("t").visited == []
    assert store.check() == []


def test_a_new_version_moves_what_it_breaks(well: satchel.StoryLibrary, tmp_path: Path) -> None:
    for id in ("rim", "meadow", "tree"):
        well.progress("t").move_to(id)
    (tmp_path / "shelf/t.json").write_bytes(tales.encoded(NEW))
    moved = well.refresh().moved
    assert moved == [satchel.stories.StoryMove(story="t", from_="tree", to="meadow", reason="removed")]
    progress = well.progress("t")
    assert (progress.position, progress.moved_from, progress.moved_reason) == ("meadow", "tree", "removed")
    assert progress.move_to("gate").moved_from is None
    assert well.refresh().moved == []


def test_what_does_not_exist_is_refused(well: satchel.StoryLibrary) -> None:
    for id, target in (("t", "moon"), ("none", "rim"), ("t", "")):
        with pytest.raises(satchel.NotFound):
            well.progress(id).move_to(target)
    with pytest.raises(satchel.InvalidArgument):
        well.progress("../t")
    with pytest.raises(satchel.InvalidArgument):
        well.clear_progress("../t")
    assert well.progress("t").position is None


def test_a_story_is_preloaded(well: satchel.StoryLibrary) -> None:
    well.preload("t")
    assert eventually(lambda: well.loading() == satchel.stories.StoryLoading(all=False, stories=[]))
    well.preload()
    assert eventually(lambda: not well.loading().all)
    for id in ("", "../t"):
        with pytest.raises(satchel.InvalidArgument):
            well.preload(id)


def test_a_byte_order_mark_is_a_remark(well: satchel.StoryLibrary, tmp_path: Path) -> None:
    path = tmp_path / "shelf/t.json"
    path.write_bytes(b"\xef\xbb\xbf" + tales.encoded(OLD))
    report = satchel.stories.check(path)
    assert report.ok
    first = report.findings[0]
    assert (first.code, first.severity, first.line, first.column) == ("byte-order-mark", "warning", 1, 1)
    assert well.story("t").text == tales.encoded(OLD)
    assert well.story("t").segment("home").is_ending


def test_words_inside_runs_are_found(well: satchel.StoryLibrary, tmp_path: Path) -> None:
    for number, title in enumerate(("浦島太郎", "Die Größe", "奶奶的小籠包", "ช้างตัวเล็ก")):
        tales.write(tmp_path / "shelf", f"s{number}", title=title)
    well.refresh()
    for text, found in (("太郎", "s0"), ("GRÖSSE", "s1"), ("籠包", "s2"), ("ตัวเล็ก", "s3")):
        assert [each.id for each in well.search(text)] == [found]


def test_an_opened_story_is_copied_and_compared(well: satchel.StoryLibrary) -> None:
    opened = well.story("t")
    copies = (pickle.loads(pickle.dumps(opened)), copy.deepcopy(opened), satchel.stories.load(opened.text))
    for other in copies:
        assert other == opened
        assert other.segment("meadow") == opened.segment("meadow")
        assert other.graph("mermaid") == opened.graph("mermaid")
        assert satchel.stories.diff(opened, other).same
    assert "_opened" not in repr(opened)


def test_a_story_outlives_its_library(store: satchel.Store, tmp_path: Path) -> None:
    shelf = tmp_path / "short"
    shelf.mkdir()
    (shelf / "t.json").write_bytes(tales.encoded(OLD))
    with store.stories(shelf) as library:
        opened = library.story("t")
    (shelf / "t.json").unlink()
    store.close()
    assert opened.segment("tree").is_ending
    assert opened.start.id == "rim"


def test_segments_are_looked_up_without_parsing_the_text_again() -> None:
    count = 40_000
    chain = [segment(f"s{index}", f"s{index + 1}") for index in range(count)]
    text = tales.encoded(story([*chain, segment(f"s{count}")]))
    start = time.thread_time()
    opened = satchel.stories.load(text)
    parsing = time.thread_time() - start
    start = time.thread_time()
    for index in range(0, count, 40):
        assert opened.segment(f"s{index}").choices[0].next_segment_id == f"s{index + 1}"
    # A thousand look-ups; a thousand parses would take a thousand times as long.
    assert time.thread_time() - start < 100 * parsing


def test_each_reader_and_slot_has_a_progress_of_its_own(well: satchel.StoryLibrary) -> None:
    well.progress("t", reader="Mia").move_to("rim").move_to("meadow", data={"coins": 3})
    tom = well.progress("t", reader="Tom", slot="2").move_to("rim")
    assert (tom.reader, tom.slot, tom.position, tom.data) == ("Tom", "2", "rim", None)
    assert well.progress("t").position is None
    assert well.progress("t", reader="Tom").position is None
    mia = well.progress("t", reader="Mia")
    assert (mia.position, mia.visited, mia.data) == ("meadow", ["rim", "meadow"], {"coins": 3})
    assert mia.save({"coins": 4}).position == "meadow"
    assert well.progress("t", reader="Mia").data == {"coins": 4}
    assert well.progress("t", reader="Mia").save(None).data is None
    assert {(each.reader, each.position) for each in well.begun()} == {("Mia", "meadow"), ("Tom", "rim")}
    assert [each.reader for each in well.begun("Mia")] == ["Mia"]
    assert well.begun("Mia")[0].move_to("home").endings == ["home"]
    assert [each.reader for each in well.begun()] == ["Tom"]
    well.clear_progress("t", reader="Tom", slot="2")
    assert well.begun() == []
    for wrong in ({"reader": 5}, {"slot": "a\n"}, {"reader": "x" * 65}):
        with pytest.raises(satchel.InvalidArgument, match=next(iter(wrong))):
            well.progress("t", **wrong)  # type: ignore[arg-type]
