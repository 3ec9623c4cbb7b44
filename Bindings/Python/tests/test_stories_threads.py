"""Threads share a library, while files come and go and others write to the store."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Callable, List

import tales

import satchel
from satchel import stories

COUNT = 60
ROUNDS = 40

OTHER = """
import sys, satchel
with satchel.open(sys.argv[1]) as store, store.stories(sys.argv[2]) as books:
    for number in range(int(sys.argv[3])):
        books.mark_purchased(f"tale-{number}")
    assert len(books.load_all()) >= int(sys.argv[3])
"""


def in_threads(works: List[Callable[[], None]]) -> None:
    """Runs each on a thread of its own; raises what the first to fail raised."""
    failures: List[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def filled(shelf: Path) -> Path:
    shelf.mkdir()
    for number in range(COUNT):
        tales.write(shelf, f"tale-{number}", title=f"Tale {number}", tags=[f"tag-{number % 3}"])
    return shelf


def test_threads_share_a_library_while_files_change(store: satchel.Store, tmp_path: Path) -> None:
    shelf = filled(tmp_path / "shelf")
    heard: List[satchel.Change] = []
    store.observe(heard.append)
    with store.stories(shelf) as books:

        def read(seed: int) -> None:
            chance = random.Random(seed)
            for _ in range(ROUNDS):
                id = f"tale-{chance.randrange(COUNT)}"
                assert books.story(id).path_count == 1
                assert books.segment(id, "b").is_ending
                assert len(books.filter(tag="tag-1")) == COUNT // 3
                assert id in {each.id for each in books.search("tale")}
                assert stories.check(books.story(id).text).ok
                if chance.random() < 0.1:
                    books.clear_cache()

        def change() -> None:
            for number in range(ROUNDS):
                id = f"extra-{number}"
                # Renamed into place, so that no reader can meet half a file.
                aside = tales.write(tmp_path, id, tags=["extra"])
                aside.rename(shelf / aside.name)
                refresh = books.refresh()
                assert refresh.problems == []
                books.mark_purchased(id)

        def preload() -> None:
            for _ in range(ROUNDS):
                books.preload()
                assert len(books.load_all()) >= COUNT

        in_threads([*(lambda seed=seed: read(seed) for seed in range(4)), change, preload])
        assert len(books.load_all()) == COUNT + ROUNDS
        assert len(books.filter(tag="extra", purchased=True)) == ROUNDS
    told = {key for each in heard for key in each.keys}
    assert told == {f"tale-{number}" for number in range(COUNT)} | {f"extra-{n}" for n in range(ROUNDS)}


def test_libraries_close_while_they_work(store: satchel.Store, tmp_path: Path) -> None:
    shelf = filled(tmp_path / "shelf")

    def come_and_go() -> None:
        for _ in range(ROUNDS):
            books = store.stories(shelf)
            books.preload()
            books.close()

    def use_until_closed() -> None:
        for _ in range(ROUNDS):
            books = store.stories(shelf)
            closer = threading.Thread(target=books.close)
            closer.start()
            try:
                while True:
                    books.story("tale-1")
            except (satchel.Closed, satchel.Cancelled):
                pass
            closer.join()

    in_threads([come_and_go, come_and_go, use_until_closed])
    with store.stories(shelf) as books:
        assert len(books.load_all()) == COUNT


def test_what_another_process_bought_is_bought_here(store: satchel.Store, path: Path, tmp_path: Path) -> None:
    shelf = filled(tmp_path / "shelf")
    heard: List[satchel.Change] = []
    with store.stories(shelf) as books:
        books.load_all()
        store.observe(heard.append)
        subprocess.run([sys.executable, "-c", OTHER, str(path), str(shelf), str(COUNT)], check=True)
        assert len(books.filter(purchased=True)) == COUNT


def test_functions_without_a_store_run_at_once() -> None:
    text = tales.encoded(tales.diamonds(2000))
    expected = 2**2000

    def work() -> None:
        for _ in range(5):
            assert stories.load(text).path_count == expected
            assert stories.check(text).statistics.segments == 2001
            assert stories.diff(text, text).same

    in_threads([work] * 8)
