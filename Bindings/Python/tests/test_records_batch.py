"""Several changes as one: batches that end, raise, are nested, and meet other threads."""

from __future__ import annotations

import contextlib
import functools
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from albums import together
from helpers import SHANGHAI, eventually, section, storage

import satchel
from satchel import Records
from satchel.remote import Remote

Collection = Records[Dict[str, Any]]


@pytest.fixture
def courses(store: satchel.Store) -> Collection:
    return store.records("courses", indexes=["n"])


class Stop(Exception):
    pass


def test_a_batch_becomes_visible_as_a_whole(store: satchel.Store, courses: Collection, path: Path) -> None:
    tasks = store.records("tasks")
    heard: List[satchel.Change] = []
    with satchel.open(path) as other, store.observe(heard.append):
        seen = other.records("courses", indexes=["n"])
        with store.batch():
            courses.put("a", {"n": 1})
            tasks.put("t", {})
            store.catalogue.persist(SHANGHAI, section({"A": {"v": 1, **storage("x:a")}}, "x"))
            assert courses.get("a") == {"n": 1}
            assert courses.count({"n": 1}) == 1
            assert seen.count() == 0
            assert heard == []
        assert seen.get("a") == {"n": 1}
        assert seen.count({"n": 1}) == 1
        assert other.catalogue.entity("x:a", SHANGHAI) is not None
    told = {(each.subject, key) for each in heard for key in each.keys if each.subject == "records"}
    assert told == {("records", "courses/a"), ("records", "tasks/t")}
    assert {each.subject for each in heard} == {"records", "catalogue"}


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, GeneratorExit, SystemExit])
def test_a_batch_that_raises_undoes_everything(store: satchel.Store, courses: Collection, error: Any) -> None:
    courses.put("kept", {"n": 0})
    heard: List[satchel.Change] = []

    @store.batch()
    def change() -> None:
        courses.put("a", {"n": 1})
        courses.put("kept", {"n": 2})
        courses.delete("kept")
        raise error

    with store.observe(heard.append), pytest.raises(error):
        change()
    assert heard == []
    assert courses.ids() == ["kept"]
    assert courses.count({"n": 0}) == 1
    assert courses.count({"n": 1}) == 0
    # Row numbers and keys that were only in memory must not be mistaken for stored ones.
    courses.put("a", {"n": 3})
    assert courses.get("a") == {"n": 3}
    assert [each["n"] for each in courses.list()] == [0, 3]
    record = courses.record("a")
    assert record is not None
    assert record.revision == 1


def test_a_call_that_fails_does_not_end_the_batch(store: satchel.Store, courses: Collection) -> None:
    with store.batch():
        courses.put("a", {"n": 1})
        with pytest.raises(satchel.InvalidArgument):
            courses.put("b", b"no document")
        with pytest.raises(satchel.InvalidArgument):
            courses.put_many([("c", {}), ("", {})])
        courses.put("d", {"n": 2})
    assert courses.ids() == ["a", "d"]


def test_batches_in_batches_undo_only_themselves(store: satchel.Store, courses: Collection) -> None:
    @store.batch()
    def fail() -> None:
        courses.put("c", {"n": 3})
        with store.batch():
            courses.put("d", {"n": 4})
            courses.put("a", {"n": 5})
        raise Stop

    with store.batch():
        courses.put("a", {"n": 1})
        with store.batch():
            courses.put("b", {"n": 2})
        with pytest.raises(Stop):
            fail()
        assert courses.ids() == ["a", "b"]
        courses.put("e", {"n": 6})
    assert [(each.id, each["n"]) for each in courses.list()] == [("a", 1), ("b", 2), ("e", 6)]
    with pytest.raises(Stop):
        fail()
    assert courses.ids() == ["a", "b", "e"]
    assert courses.get("a") == {"n": 1}


def test_unique_values_are_checked_at_the_end(store: satchel.Store) -> None:
    rooms = store.records("rooms", indexes=[{"path": "code", "unique": True}])
    rooms.put_many({"a": {"code": 1}, "b": {"code": 2}})

    @store.batch()
    def change() -> None:
        rooms.put("c", {"code": 1})

    with pytest.raises(satchel.ConstraintViolation):
        change()
    assert rooms.ids() == ["a", "b"]
    with store.batch():
        rooms.delete("a")
        rooms.put("c", {"code": 1})
    assert rooms.ids(where={"code": 1}) == ["c"]


def test_records_exchange_unique_values(store: satchel.Store) -> None:
    rooms = store.records("rooms", indexes=[{"path": "code", "unique": True}])
    rooms.put_many({"a": {"code": 1}, "b": {"code": 2}})
    rooms.put_many({"a": {"code": 2}, "b": {"code": 1}})
    with store.batch():
        rooms.update("a", {"code": 1})
        rooms.update("b", {"code": 2})
    report = rooms.put_many({"b": {"code": 1}, "a": {"code": 2}, "c": {"code": 1}}, skip_rejected=True)
    assert (report.written, [each.id for each in report.rejected]) == (2, ["c"])
    assert rooms.get_many(["a", "b"]) == {"a": {"code": 2}, "b": {"code": 1}}
    with pytest.raises(
        satchel.ConstraintViolation, match=r"rooms/[ab]: /code: .*, and rooms/[ab] has the same"
    ):
        rooms.put_many({"a": {"code": 1}, "c": {"code": 3}})
    assert rooms.count() == 2
    assert store.check() == []


def test_a_batch_of_nothing_changes_nothing(store: satchel.Store, courses: Collection) -> None:
    heard: List[satchel.Change] = []
    with store.observe(heard.append):
        with store.batch(), store.batch():
            pass
        with store.batch():
            assert courses.count() == 0
    assert heard == []


def test_a_function_can_be_a_batch(store: satchel.Store, courses: Collection) -> None:
    @store.batch()
    def move(fail: bool) -> None:
        courses.put("a", {"n": 1})
        if fail:
            raise Stop

    with pytest.raises(Stop):
        move(True)
    assert courses.count() == 0
    move(False)
    move(False)
    assert courses.count() == 1


def test_other_threads_read_meanwhile_and_write_afterwards(store: satchel.Store, courses: Collection) -> None:
    courses.put("a", {"n": 1})
    done = threading.Event()
    seen: List[Any] = []

    def work() -> None:
        seen.append(courses.get("a"))
        seen.append(courses.count())
        courses.put("b", {"n": 2})
        done.set()

    thread = threading.Thread(target=work)
    with store.batch():
        courses.put("a", {"n": 5})
        thread.start()
        assert eventually(lambda: len(seen) == 2)
        assert not done.wait(0.3)
        assert seen == [{"n": 1}, 1]
    thread.join(30)
    assert done.is_set()
    assert [each["n"] for each in courses.list()] == [5, 2]


def test_a_writer_that_waits_too_long_gives_up(path: Path) -> None:
    with satchel.open(path, busy_timeout=0.2) as store:
        courses = store.records("courses")
        failures: List[BaseException] = []

        def work() -> None:
            try:
                with store.batch():
                    courses.put("b", {})
            except satchel.SatchelError as error:
                failures.append(error)

        with store.batch():
            courses.put("a", {})
            thread = threading.Thread(target=work)
            thread.start()
            thread.join(60)
        assert [type(each) for each in failures] == [satchel.Busy]
        assert courses.ids() == ["a"]


def test_many_threads_have_batches(store: satchel.Store, courses: Collection) -> None:
    courses.put("sum", {"n": 0})

    def work(number: int) -> None:
        for each in range(20):
            with contextlib.suppress(Stop), store.batch():
                found = courses.get("sum")
                assert found is not None
                courses.put("sum", {"n": found["n"] + 1})
                courses.put(f"{number}-{each}", {"n": each})
                if each % 5 == 4:
                    raise Stop

    together(*(functools.partial(work, number) for number in range(4)))
    assert courses.get("sum") == {"n": 64}
    assert courses.count() == 65


def test_what_cannot_be_done_in_a_batch_says_so(
    store: satchel.Store, courses: Collection, remote_copy: Remote
) -> None:
    with store.batch():
        courses.put("a", {"n": 1})
        with pytest.raises(satchel.InvalidArgument, match="batch"):
            store.sync(remote_copy, "ada")
        with pytest.raises(satchel.InvalidArgument, match="batch"):
            store.close()
        assert not store.closed
    assert courses.count() == 1
    assert store.sync(remote_copy, "ada").records.uploaded == 1


def test_a_batch_whose_store_closes_on_another_thread_is_rolled_back(path: Path) -> None:
    store = satchel.open(path, busy_timeout=0.2)
    courses = store.records("courses")
    begun, closed = threading.Event(), threading.Event()
    raised: List[BaseException] = []

    def work() -> None:
        try:
            with store.batch():
                courses.put("a", {})
                begun.set()
                eventually(lambda: store.closed)
                courses.put("b", {})
        except BaseException as error:
            raised.append(error)

    def close() -> None:
        # It waits for the batch, in vain, and says so; it is closed all the same.
        with contextlib.suppress(satchel.Busy):
            store.close()
        closed.set()

    worker = threading.Thread(target=work)
    worker.start()
    assert begun.wait(30)
    closer = threading.Thread(target=close)
    closer.start()
    worker.join(60)
    closer.join(60)
    assert closed.is_set()
    assert [type(each) for each in raised] == [satchel.Closed]
    with satchel.open(path) as store:
        assert store.records("courses").count() == 0
        assert store.check() == []


def test_a_batch_of_a_closed_store_says_so(store: satchel.Store) -> None:
    store.close()
    with pytest.raises(satchel.Closed), store.batch():
        pytest.fail("the block must not begin")


def test_a_read_only_store_has_no_batches(path: Path) -> None:
    with satchel.open(path) as store:
        store.records("courses").put("a", {})
    with satchel.open(path, read_only=True) as store:
        with pytest.raises(satchel.ReadOnly), store.batch():
            store.records("courses").put("b", {})
        assert store.records("courses").count() == 1


def test_a_batch_may_end_on_another_thread(store: satchel.Store, courses: Collection) -> None:
    def begin() -> Iterator[None]:
        with store.batch():
            courses.put("a", {})
            yield

    steps = begin()
    next(steps)
    thread = threading.Thread(target=next, args=(steps, None))
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert courses.ids() == ["a"]
    courses.put("b", {})
    assert courses.ids() == ["a", "b"]


def test_state_is_no_part_of_a_batch(store: satchel.Store, courses: Collection) -> None:
    @store.batch()
    def fail() -> None:
        courses.put("a", {})
        for each in range(30):
            store.state.set(f"k{each}", each)
        assert store.state.get("k29") == 29
        with pytest.raises(satchel.InvalidArgument):
            store.state.flush()
        raise Stop

    with pytest.raises(Stop):
        fail()
    assert store.state.flush() is True
    assert [store.state.get(f"k{each}") for each in range(30)] == list(range(30))
    assert courses.count() == 0


def test_a_collection_can_be_opened_in_a_batch(store: satchel.Store) -> None:
    with store.batch():
        records = store.records("fresh", indexes=["n"])
        records.put("a", {"n": 1})
        assert records.ids(where={"n": 1}) == ["a"]
    assert records.ids(where={"n": 1}) == ["a"]
    opened: List[Collection] = []

    @store.batch()
    def fail() -> None:
        opened.append(store.records("gone", indexes=["n"]))
        opened[0].put("a", {"n": 1})
        raise Stop

    with pytest.raises(Stop):
        fail()
    assert [each.name for each in store.collections()] == ["fresh"]
    # The handle is of a collection that is not there any more: it says so, or makes a new one; it never lies.
    try:
        opened[0].put("b", {"n": 2})
    except satchel.SatchelError:
        pass
    else:
        assert store.records("gone", indexes=["n"]).ids(where={"n": 2}) == ["b"]
    assert store.records("fresh", indexes=["n"]).ids() == ["a"]
