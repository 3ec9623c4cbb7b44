"""State: threads that share a store, and stores that share a file."""

from __future__ import annotations

import functools
from datetime import timedelta
from pathlib import Path

from albums import together

import satchel


def test_threads_change_state_at_once(path: Path) -> None:
    with satchel.open(path) as store:

        def work(name: str) -> None:
            for each in range(200):
                store.state.set(f"{name}-{each % 10}", each)
                store.state.list("list").push([name, each])
                store.state.scores("scores", -1e9, 1e9).add("sum", 1)
                store.state.members("set").add(each)
                if each % 50 == 0:
                    assert store.state.flush()

        together(*(functools.partial(work, f"t{each}") for each in range(5)))
    with satchel.open(path) as store:
        assert store.state.scores("scores", -1e9, 1e9).all() == {"sum": 1000.0}
        assert sorted(store.state.members("set")) == list(range(200))
        items = store.state.list("list").values()
        for each in range(5):
            mine = [number for name, number in items if name == f"t{each}"]
            assert mine == list(range(199, -1, -1))
            assert [store.state.get(f"t{each}-{digit}") for digit in range(10)] == list(range(190, 200))
        assert store.check() == []


def test_changes_of_two_stores_add_up(path: Path) -> None:
    with satchel.open(path) as one, satchel.open(path) as other:
        for store in (one, other):
            hour = timedelta(hours=1)
            store.state.configure(save_delay=hour, max_pending=1000, max_delay=hour)
        for each in range(10):
            for store, name in ((one, "one"), (other, "other")):
                store.state.scores("s", -100, 100).add("k", 1)
                store.state.list("l").push([name, each])
                store.state.members("m").add(f"{name}-{each}")
        one.state.flush()
        other.state.flush()
    with satchel.open(path) as store:
        assert store.state.scores("s", -100, 100).all() == {"k": 20.0}
        assert len(store.state.list("l")) == 20
        assert len(store.state.members("m")) == 20
