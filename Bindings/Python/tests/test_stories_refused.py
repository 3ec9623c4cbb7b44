"""Sources that are no stories, and invalid arguments, are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict

import pytest
from tales import TWEE, segment, story

import satchel
from satchel import stories

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
