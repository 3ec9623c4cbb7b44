"""Opening, closing, forgetting to close, and files that are no stores."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from helpers import SHANGHAI, Clock, section, storage

import satchel
from satchel import _callbacks

GOOD = section({"A": {"v": 1, **storage("cuisine:a")}})


def filled(path: Path) -> None:
    with satchel.open(path) as store:
        big = {str(number): {"v": "x" * 5000, **storage(f"x:{number}")} for number in range(100)}
        store.catalogue.persist(SHANGHAI, section(big, "x"))


def test_what_was_persisted_is_there_after_reopening(path: Path) -> None:
    with satchel.open(path) as store:
        store.catalogue.persist(SHANGHAI, GOOD)
    with satchel.open(str(path)) as store:
        found = store.catalogue.load(SHANGHAI, "cuisine")
        assert found is not None
        assert found.content == {"A": {"v": 1}}
        assert store.check() == []


def test_a_store_in_memory_lives_until_it_is_closed() -> None:
    with satchel.open(":memory:") as first, satchel.open(":memory:") as second:
        first.catalogue.persist(SHANGHAI, GOOD)
        assert second.catalogue.sections(SHANGHAI) == []
        assert first.path == ":memory:"
    assert not Path(":memory:").exists()


def test_facts_about_a_store(store: satchel.Store, path: Path) -> None:
    info = store.info()
    assert Path(info.path) == path
    assert Path(store.path) == path
    assert info.read_only is store.read_only is store.closed is False
    assert info.schema_version >= 1
    assert info.file_bytes > 0
    assert info.sqlite_version.startswith("3.")
    assert isinstance(info.sqlite_wal_reset_bug, bool)
    assert info.quarantined is None
    assert str(path) in repr(store)


CALLS: Dict[str, Callable[[satchel.Store], Any]] = {
    "check": lambda store: store.check(),
    "info": lambda store: store.info(),
    "read_only": lambda store: store.read_only,
    "observe": lambda store: store.observe(print),
    "persist": lambda store: store.catalogue.persist(SHANGHAI, GOOD),
    "deliver": lambda store: store.catalogue.deliver({"location": SHANGHAI, "sections": [GOOD]}),
    "sections": lambda store: store.catalogue.sections(SHANGHAI),
    "load": lambda store: store.catalogue.load(SHANGHAI, "cuisine"),
    "plan": lambda store: store.catalogue.plan(SHANGHAI),
    "has_cached": lambda store: store.catalogue.has_cached(SHANGHAI),
    "entity": lambda store: store.catalogue.entity("cuisine:a", SHANGHAI),
    "set_active_location": lambda store: store.catalogue.set_active_location(SHANGHAI),
    "active_location": lambda store: store.catalogue.active_location(),
    "prune": lambda store: store.catalogue.prune(),
    "session": lambda store: store.catalogue.session(),
    "stories": lambda store: store.stories("."),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_closed_store_says_so(store: satchel.Store, call: str) -> None:
    store.close()
    assert store.closed
    with pytest.raises(satchel.Closed) as caught:
        CALLS[call](store)
    assert isinstance(caught.value, ValueError)
    store.close()


def test_a_store_that_is_left_open_is_closed_with_a_warning(path: Path) -> None:
    store = satchel.open(path)
    store.catalogue.persist(SHANGHAI, GOOD)
    with pytest.warns(ResourceWarning, match="unclosed store"):
        del store
    with satchel.open(path) as store:
        assert len(store.catalogue.sections(SHANGHAI)) == 1


def test_where_warnings_are_errors_it_is_closed_as_well(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: List[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: reported.append(unraisable.exc_value))
    store = satchel.open(path)
    store.state.set("theme", "dark")
    del store
    gc.collect()
    assert [repr(each) for each in reported] == [repr(ResourceWarning(f"unclosed store {str(path)!r}"))]
    with satchel.open(path) as store:
        assert store.state.get("theme") == "dark"


@pytest.mark.parametrize("when", ["collected", "at exit"])
def test_what_cannot_be_written_when_a_store_is_left_open_is_reported(path: Path, when: str) -> None:
    script = (
        "import resource, sys, satchel\n"
        "store = satchel.open(sys.argv[1])\n"
        "store.state.set('theme', 'd' * 100_000)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    ) + ("del store\n" if when == "collected" else "")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore::ResourceWarning", "-c", script, str(path)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "Exception ignored" in ended.stderr
    assert "satchel.errors.IOFailure" in ended.stderr
    with satchel.open(path) as store:
        assert store.state.get("theme") is None


def test_a_store_that_was_closed_goes_quietly(path: Path) -> None:
    # Warnings are errors in these tests.
    with satchel.open(path) as store:
        pass
    del store
    gc.collect()


def test_the_interpreter_closes_what_is_left_when_it_ends(path: Path) -> None:
    script = (
        "import sys, satchel\n"
        "store = satchel.open(sys.argv[1], clock=lambda: 5)\n"
        "store.observe(print)\n"
        "session = store.catalogue.session(print)\n"
        f"store.catalogue.persist({SHANGHAI!r}, {section({})!r})\n"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(path)], check=True, capture_output=True, text=True
    )
    assert ended.stderr == ""
    assert "Change(subject='catalogue'" in ended.stdout
    assert not Path(f"{path}-wal").exists()


def test_a_child_that_was_forked_has_to_open_again(store: satchel.Store) -> None:
    observer = store.observe(print)
    child = os.fork()
    if child == 0:
        try:
            store.info()
        except satchel.Closed:
            os._exit(0 if observer.closed else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert not store.closed
    assert store.info().schema_version >= 1
    observer.close()


def test_a_store_that_is_read_only_can_be_read_and_not_written(path: Path) -> None:
    filled(path)
    before = path.read_bytes()
    with satchel.open(path, read_only=True) as store:
        assert store.read_only
        assert store.info().read_only
        assert len(store.catalogue.sections(SHANGHAI)) == 1
        assert store.catalogue.load(SHANGHAI, "x") is not None
        for call in ("persist", "set_active_location", "prune"):
            with pytest.raises(satchel.ReadOnly) as caught:
                CALLS[call](store)
            assert isinstance(caught.value, PermissionError)
        assert store.check() == []
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [True, False])
def test_what_is_not_there_is_not_found(tmp_path: Path, read_only: bool) -> None:
    missing = tmp_path / ("none" if read_only else "none/none")
    with pytest.raises(satchel.NotFound) as caught:
        satchel.open(missing, read_only=read_only)
    assert isinstance(caught.value, KeyError)
    assert "none" in str(caught.value)
    assert not missing.exists()


def spoil_text(path: Path) -> None:
    path.write_text("This is no database, and must not be overwritten.\n" * 100, encoding="utf-8")


def spoil_foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE other (value)")
    connection.commit()
    connection.close()


def spoil_half(path: Path) -> None:
    filled(path)
    os.truncate(path, path.stat().st_size // 2)


def spoil_newer(path: Path) -> None:
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1000000")
    connection.commit()
    connection.close()


SPOILED: Dict[str, Any] = {
    "a text": (spoil_text, satchel.ForeignFile),
    "another's database": (spoil_foreign, satchel.ForeignFile),
    "cut in half": (spoil_half, satchel.Damaged),
    "a newer store": (spoil_newer, satchel.NewerStore),
}


@pytest.mark.parametrize("how", SPOILED)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_store_is_left_as_it_is(path: Path, how: str, read_only: bool) -> None:
    spoil, error = SPOILED[how]
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(error):
        satchel.open(path, read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.parametrize("how", ["a text", "another's database", "cut in half"])
def test_a_file_that_is_not_a_store_can_be_quarantined(path: Path, how: str) -> None:
    spoil, _ = SPOILED[how]
    spoil(path)
    before = path.read_bytes()
    with satchel.open(path, quarantine=True) as store:
        aside = store.info().quarantined
        assert aside is not None
        assert Path(aside).read_bytes() == before
        assert store.catalogue.persist(SHANGHAI, GOOD).saved == 1
        assert store.check() == []


def test_a_newer_store_is_never_quarantined(path: Path) -> None:
    spoil_newer(path)
    with pytest.raises(satchel.NewerStore):
        satchel.open(path, quarantine=True)


def test_check_finds_pages_that_were_overwritten(path: Path) -> None:
    filled(path)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xa5" * 4096 * 4)
    try:
        with satchel.open(path) as store:
            findings = store.check()
    except satchel.Damaged:
        return
    assert findings
    assert all(finding.code and finding.message for finding in findings)


@pytest.mark.parametrize(
    ("path", "options"),
    [
        (None, {}),
        (5, {}),
        (b"bytes", {}),
        ("nul\0", {}),
        ("", {}),
        ("\udcff", {}),
        (":memory:", {"clock": 5}),
        (":memory:", {"durability": "none"}),
        (":memory:", {"busy_timeout": -1}),
        (":memory:", {"busy_timeout": float("nan")}),
        (":memory:", {"busy_timeout": 1e12}),
        (":memory:", {"busy_timeout": "long"}),
    ],
)
def test_a_bad_argument_of_open_is_refused(path: Any, options: Dict[str, Any]) -> None:
    registered = _callbacks.registered_count()
    with pytest.raises(satchel.InvalidArgument):
        satchel.open(path, **options)
    assert _callbacks.registered_count() == registered


def test_relaxed_durability_keeps_what_was_acknowledged(path: Path) -> None:
    with satchel.open(path, durability="relaxed") as store:
        store.catalogue.persist(SHANGHAI, GOOD)
    with satchel.open(path) as store:
        assert len(store.catalogue.sections(SHANGHAI)) == 1


def test_a_clock_that_fails_is_reported_and_the_system_time_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: List[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: reported.append(unraisable.exc_type))
    for clock in (lambda: 1 // 0, lambda: "noon", lambda: 2**63, lambda: 1.5):
        reported.clear()
        with satchel.open(":memory:", clock=clock) as store:  # type: ignore[arg-type]
            store.catalogue.persist(SHANGHAI, GOOD)
            (header,) = store.catalogue.sections(SHANGHAI)
            assert abs(header.updated_at - time.time() * 1000) < 60_000
        assert set(reported) <= {ZeroDivisionError, TypeError, OverflowError}
        assert reported


def test_callbacks_are_released_when_a_store_closes_or_cannot_open(tmp_path: Path, clock: Clock) -> None:
    before = _callbacks.registered_count()
    store = satchel.open(tmp_path / "a", clock=clock)
    store.observe(print)
    session = store.catalogue.session(print)
    assert _callbacks.registered_count() == before + 3
    store.close()
    assert session.closed
    assert _callbacks.registered_count() == before
    spoil_text(tmp_path / "b")
    with pytest.raises(satchel.ForeignFile):
        satchel.open(tmp_path / "b", clock=clock)
    assert _callbacks.registered_count() == before


def test_of_many_threads_that_close_one_does(path: Path) -> None:
    store = satchel.open(path)
    failures: List[BaseException] = []

    def close() -> None:
        try:
            store.close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.closed
    assert failures == []


def test_too_many_open_files_are_named(tmp_path):
    program = f"""
import os, resource, satchel
satchel.open({str(tmp_path / "a")!r}).close()
resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")), 64))
try:
    satchel.open({str(tmp_path / "a")!r})
except satchel.SatchelError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "Too many open files" in done.stdout
