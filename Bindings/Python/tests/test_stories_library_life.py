"""A library's life: heard of, preloaded, forgotten, and closed."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
import tales
from helpers import eventually
from tales import rewrite

import satchel
from satchel import StoryLibrary


def ids(found: Any) -> List[str]:
    return [each.id for each in found]


def test_observers_hear_of_stories(store: satchel.Store, books: StoryLibrary, shelf: Path) -> None:
    heard: List[satchel.Change] = []
    store.observe(heard.append)
    books.load_all()
    assert {change.subject for change in heard} == {"stories"}
    assert {key for change in heard for key in change.keys} == set(tales.NAMES)
    heard.clear()
    books.refresh()
    assert heard == []
    rewrite(shelf, "frau-holle", title="Mother Holle")
    books.refresh()
    books.mark_purchased("thor-the-bride")
    assert [(change.subject, change.keys, change.own) for change in heard] == [
        ("stories", ["frau-holle"], True),
        ("stories", ["thor-the-bride"], True),
    ]


def test_a_preload_returns_at_once_and_is_heard(store: satchel.Store, books: StoryLibrary) -> None:
    heard: List[satchel.Change] = []
    threads: List[str] = []

    def hear(change: satchel.Change) -> None:
        heard.append(change)
        threads.append(threading.current_thread().name)

    store.observe(hear)
    books.preload()
    assert eventually(lambda: bool(heard))
    assert set(heard[0].keys) == set(tales.NAMES)
    assert threading.current_thread().name not in threads
    assert books.refresh().parsed == 0


def test_clearing_the_cache_loses_nothing(books: StoryLibrary, shelf: Path) -> None:
    before = books.story("frau-holle")
    books.clear_cache()
    assert books.story("frau-holle") == before
    # A story in memory is not used when the file has changed.
    rewrite(shelf, "frau-holle", title="Mother Holle")
    assert books.story("frau-holle").title == "Mother Holle"


CALLS: Dict[str, Callable[[StoryLibrary], Any]] = {
    "load_all": lambda books: books.load_all(),
    "story": lambda books: books.story("frau-holle"),
    "segment": lambda books: books.segment("frau-holle"),
    "select": lambda books: books.select(),
    "search": lambda books: books.search("x"),
    "filter": lambda books: books.filter(),
    "sorted_by": lambda books: books.sorted_by("title"),
    "tags": lambda books: books.tags(),
    "cultures": lambda books: books.cultures(),
    "age_ranges": lambda books: books.age_ranges(),
    "mark_purchased": lambda books: books.mark_purchased("frau-holle"),
    "refresh": lambda books: books.refresh(),
    "preload": lambda books: books.preload(),
    "clear_cache": lambda books: books.clear_cache(),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("what", ["library", "store"])
def test_a_closed_library_says_so(store: satchel.Store, shelf: Path, what: str, call: str) -> None:
    books = store.stories(shelf)
    tale = books.story("frau-holle")
    (books if what == "library" else store).close()
    assert books.closed
    with pytest.raises(satchel.Closed) as caught:
        CALLS[call](books)
    assert isinstance(caught.value, ValueError)
    books.close()
    # Stories that were read stay.
    assert tale.start.id == "the-well"
    assert "closed" in repr(books)


def test_a_library_ends_with_its_block(store: satchel.Store, shelf: Path) -> None:
    with store.stories(shelf) as books:
        assert not books.closed
        assert books.directory == str(shelf)
        assert str(shelf) in repr(books)
    assert books.closed
    other = store.stories(shelf)
    other.preload()
    del other
    gc.collect()
    assert not store.closed


def test_a_library_may_be_closed_from_a_callback_of_its_preload(store: satchel.Store, shelf: Path) -> None:
    books = store.stories(shelf)
    heard: List[satchel.Change] = []

    def close(change: satchel.Change) -> None:
        books.close()
        heard.append(change)

    store.observe(close)
    books.preload()
    assert eventually(lambda: bool(heard))
    assert books.closed


def test_a_forked_child_has_to_open_again(store: satchel.Store, books: StoryLibrary) -> None:
    books.load_all()
    child = os.fork()
    if child == 0:
        os._exit(0 if books.closed else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert ids(books.load_all()) == tales.NAMES


def test_a_read_only_store_has_a_library_too(shelf: Path, path: Path) -> None:
    with satchel.open(path) as store, store.stories(shelf) as books:
        books.load_all()
    rewrite(shelf, "frau-holle", title="Mother Holle")
    with satchel.open(path, read_only=True) as store, store.stories(shelf) as books:
        assert ids(books.load_all()) == tales.NAMES
        assert books.story("frau-holle").title == "Mother Holle"
        with pytest.raises(satchel.ReadOnly):
            books.mark_purchased("frau-holle")


@pytest.mark.parametrize(
    ("directory", "error"),
    [
        ("none", satchel.NotFound),
        ("file", satchel.InvalidArgument),
        ("a\0b", satchel.InvalidArgument),
        ("", satchel.InvalidArgument),
        ("\ud800", satchel.InvalidArgument),
        (b"bytes", satchel.InvalidArgument),
        (None, satchel.InvalidArgument),
        (5, satchel.InvalidArgument),
    ],
)
def test_a_library_needs_a_directory(
    store: satchel.Store, tmp_path: Path, directory: Any, error: Any
) -> None:
    (tmp_path / "file").touch()
    if directory in ("none", "file"):
        directory = tmp_path / directory
    with pytest.raises(error):
        store.stories(directory)


def test_an_empty_directory_is_a_library(store: satchel.Store, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with store.stories(tmp_path / "empty") as books:
        listing = books.load_all()
        assert (listing.stories, listing.problems, len(listing)) == ([], [], 0)
        assert books.tags() == books.cultures() == books.age_ranges() == books.search("x") == []
        tales.write(tmp_path / "empty", "first", tags=["one"])
        assert books.story("first").title == "T"
        assert ids(books.load_all()) == ["first"]
