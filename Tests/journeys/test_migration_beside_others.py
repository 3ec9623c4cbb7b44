"""A migration beside an open live query, a synchronization in flight and an old handle.

Ada's app is updated while a window of it is open. The window shows a live query, the old version is just
synchronizing, and one of its handles goes on; another process of the new version migrates the records.
"""

import threading

import pytest
import satchel
from journey import Process, documents, settled

STEPS = [[{"rename": {"from": "name", "to": "title"}}]]
NEW_VERSION = """
import sys, satchel
store = satchel.open(sys.argv[1])
tasks = store.records("tasks", version=2, migrations=[[{"rename": {"from": "name", "to": "title"}}]],
indexes=[{"path": "title", "unique": True}])
tasks.put("new", {"title": "of version 2"})
print(tasks.count(), flush=True)
"""


def last_of(window):
    """Reads a live query to its end, which must come."""
    while window.next(timeout=60) is not None:
        pass
    raise AssertionError("the live query is silent")


def test_a_collection_is_migrated_while_it_is_watched_and_synchronized(device, cloud, tmp_path):
    phone, tablet = device("phone"), device("tablet")
    tasks = phone.records("tasks", indexes=[{"path": "name", "unique": True}])
    tasks.put_many({f"task{each}": {"name": f"name {each}"} for each in range(300)})
    window = tasks.watch(order_by="name", limit=5)
    assert len(window.next(timeout=60)) == 5

    # A synchronization is in flight: it waits in its first step.
    started, go_on = threading.Event(), threading.Event()
    outcome = []

    def hold(_):
        started.set()
        assert go_on.wait(120)

    def synchronize():
        try:
            outcome.append(phone.sync(cloud, "ada", progress=hold))
        except satchel.SatchelError as error:
            outcome.append(error)

    thread = threading.Thread(target=synchronize)
    thread.start()
    assert started.wait(60)

    # The new version migrates, and writes.
    app = Process(NEW_VERSION, tmp_path / "phone" / "app.satchel")
    assert app.line() == "301"
    app.end()

    # The old handle says that it is old, and cannot make a record of the old form.
    with pytest.raises(satchel.NewerStore) as old:
        tasks.put("task0", {"name": "old"})
    assert (old.value.subject, old.value.collection) == ("records", "tasks")
    # The window is not silent: it ends with the same error.
    with pytest.raises(satchel.NewerStore):
        last_of(window)

    # The synchronization ends, and the next ones bring everything to another device in the new form.
    go_on.set()
    thread.join()
    assert len(outcome) == 1
    assert isinstance(outcome[0], satchel.StoreSyncReport | satchel.NewerStore)
    tasks = phone.records("tasks", version=2, migrations=STEPS)
    on_tablet = tablet.records("tasks", version=2, migrations=STEPS)
    settled("ada", cloud, phone, tablet)
    assert documents(on_tablet) == documents(tasks)
    assert len(documents(tasks)) == 301
    assert all(set(task) == {"title"} for task in documents(tasks).values())

    # The index of the new form holds.
    with pytest.raises(satchel.ConstraintViolation) as taken:
        tasks.put("another", {"title": "name 7"})
    assert (taken.value.pointer, taken.value.other_id) == ("/title", "task7")
    assert [record.id for record in tasks.list(where={"title": "name 7"})] == ["task7"]
