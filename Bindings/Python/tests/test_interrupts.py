"""Stopping long reads: by an interrupt, by a time limit, and by Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import pytest

import satchel

# A machine under load may take this long; nothing waits for it in vain.
LONG = 120.0
COUNT = 60_000
#: Conditions without an index: all documents are read, none matches.
NOTHING: Dict[str, Any] = {"any": [{"text": {"contains": f"missing {each}"}} for each in range(5)]}
#: Sends SIGINT until one has interrupted a list, and prints what the handlers and the lists have seen.
INTERRUPTED = """
import os, signal, sys, threading, traceback
import satchel
store = satchel.open(sys.argv[1])
notes = store.records("notes")
# A read that is much longer than the 50 ms after which it looks for a signal, also on a fast machine.
nothing = {"any": [{"text": {"contains": f"missing {each}"}} for each in range(60)]}
ended = threading.Event()
seen = []

def interrupt():
    # Until one has reached a read: it is repeated, and would be each time.
    while not ended.wait(0.2) and "_must_repeat" not in seen:
        os.kill(os.getpid(), signal.SIGINT)

def handle(number, frame):
    seen.append(frame.f_code.co_name)

if sys.argv[2] == "returning":
    signal.signal(signal.SIGINT, handle)
else:
    signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=interrupt, daemon=True).start()
while True:
    try:
        found = notes.list(nothing)
        if "_must_repeat" in seen:
            print("repeated", found)
            break
    except KeyboardInterrupt as error:
        # Otherwise it was raised before or after the list.
        if traceback.extract_tb(error.__traceback__)[-1].name == "_must_repeat":
            print("interrupted", type(error.__context__))
            break
ended.set()
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with very many records."""
    path = tmp_path_factory.mktemp("interrupts") / "notes.satchel"
    with satchel.open(path) as store:
        notes = store.records("notes")
        for first in range(0, COUNT, 10_000):
            notes.put_many((str(each), {"text": f"note {each}"}) for each in range(first, first + 10_000))
    return path


@pytest.fixture
def store(filled: Path) -> Iterator[satchel.Store]:
    with satchel.open(filled) as store:
        yield store


def on_thread(run: Callable[[], object]) -> List[BaseException]:
    """Runs a function on a thread until it raises; returns the error when the thread is joined."""
    errors: List[BaseException] = []

    def repeat() -> None:
        try:
            while True:
                run()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=repeat)
    thread.start()
    thread.join(LONG)
    assert not thread.is_alive()
    return errors


READS: Dict[str, Callable[[satchel.Store], object]] = {
    "list": lambda store: store.records("notes").list(NOTHING),
    "ids": lambda store: store.records("notes").ids(order_by="text"),
    "count": lambda store: store.records("notes").count(NOTHING),
    "iterate": lambda store: list(store.records("notes").iterate(NOTHING)),
    "statistics": lambda store: store.statistics(),
    "check": lambda store: store.check(),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_an_interrupt_stops_reads_for_good(
    store: satchel.Store, read: Callable[[satchel.Store], object]
) -> None:
    interrupt = satchel.Interrupt()
    started = threading.Event()

    def run() -> None:
        with interrupt:
            started.set()
            read(store)

    def cancel() -> None:
        started.wait(LONG)
        interrupt.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    [error] = on_thread(run)
    canceller.join(LONG)
    assert isinstance(error, satchel.Cancelled)
    assert "cancelled" in str(error)
    assert interrupt.cancelled
    with interrupt, pytest.raises(satchel.Cancelled):
        store.records("notes").count(NOTHING)
    # Other reads go on, of this thread and of others.
    assert store.records("notes").count(NOTHING) == 0


def test_a_time_limit_of_the_store(filled: Path) -> None:
    with satchel.open(filled, query_timeout=0.001) as store:
        notes = store.records("notes")
        for read in READS.values():
            with pytest.raises(satchel.TimedOut, match="query timeout of 1 ms") as raised:
                read(store)
            assert isinstance(raised.value, TimeoutError)
            assert raised.value.code == "ETIMEDOUT"
        # Short calls have no limit, and no write has one.
        assert notes.get("7") == {"text": "note 7"}
        assert notes.put("7", {"text": "note 7"}) > 0
        with store.timeout(None):
            assert notes.count(NOTHING) == 0
            with store.timeout(0.001), pytest.raises(satchel.TimedOut):
                notes.count(NOTHING)
            assert notes.count(NOTHING) == 0
        with pytest.raises(satchel.TimedOut):
            notes.count(NOTHING)


def test_a_time_limit_of_a_block(store: satchel.Store) -> None:
    notes = store.records("notes")
    with store.timeout(0.001):
        with pytest.raises(satchel.TimedOut):
            notes.list(NOTHING)
        # A thread has its own context.
        [error] = on_thread(lambda: (notes.count(NOTHING), [][0]))
        assert isinstance(error, IndexError)
        # An interrupt in the block keeps the limit, and the block the interrupt around it.
        with satchel.Interrupt(), pytest.raises(satchel.TimedOut):
            notes.list(NOTHING)
    assert notes.list(NOTHING) == []
    interrupt = satchel.Interrupt()
    with interrupt, store.timeout(LONG):
        interrupt.cancel()
        with pytest.raises(satchel.Cancelled):
            notes.list(NOTHING)


def test_a_batch_stays_open(store: satchel.Store) -> None:
    notes = store.records("notes")
    with store.batch():
        notes.put("in a batch", {})
        with store.timeout(0.001), pytest.raises(satchel.TimedOut):
            notes.list(NOTHING)
        with store.timeout(None):
            assert notes.count(NOTHING) == 0
        assert notes.delete("in a batch")
        notes.put("after", {})
    assert notes.delete("after")


def test_what_was_begun_in_a_block_has_its_interrupt_only_there(store: satchel.Store) -> None:
    notes = store.records("notes")
    outer, inner = satchel.Interrupt(), satchel.Interrupt()
    with outer:
        with inner:
            inner.cancel()
            with pytest.raises(satchel.Cancelled):
                notes.count(NOTHING)
        assert notes.count(NOTHING) == 0
        with satchel.Interrupt():
            outer.cancel()
            with pytest.raises(satchel.Cancelled):
                notes.count(NOTHING)
    assert notes.count(NOTHING) == 0


@pytest.mark.parametrize("seconds", [-1, float("nan"), "1", True, 10**9])
def test_invalid_limits(store: satchel.Store, path: Path, seconds: Any) -> None:
    with pytest.raises(satchel.InvalidArgument, match="seconds"), store.timeout(seconds):
        pass
    with pytest.raises(satchel.InvalidArgument, match="query_timeout"):
        satchel.open(path, query_timeout=seconds)


@pytest.mark.parametrize(
    ("handler", "said"), [("raising", "interrupted <class 'NoneType'>"), ("returning", "repeated []")]
)
def test_ctrl_c_reaches_a_read_in_progress(filled: Path, handler: str, said: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(filled), handler],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert ended.stdout.strip() == said, ended.stderr
