"""Another program holds the store.

A tool that copies Ada's data keeps her store locked for minutes. The app goes on saving notes and settings;
the store cannot take them, and a small file next to it does. The system kills the app, the tool ends, and
everything is in the store and in the cloud, each change once.
"""

import sqlite3

from journey import Process, documents, settled

APP = """
import sys, satchel
store = satchel.open(sys.argv[1], busy_timeout=0.05)
notes = store.records("notes")
print("open", flush=True)
sys.stdin.readline()
for number in range(5):
    notes.put(f"today{number}", {"number": number})
    store.state.list("history").push(number)
store.state.scores("moods").add("good", 0.1)
print("saved" if store.flush() else "spooled", flush=True)
sys.stdin.readline()
"""


def test_saves_beside_a_locked_store_are_in_it_afterwards(device, cloud, tmp_path):
    phone = device("phone")
    phone.records("notes").put("yesterday", {"number": -1})
    phone.state.list("history", synced=True).push("yesterday")
    phone.state.scores("moods", synced=True).add("good", 0.1)
    phone.close()

    path = tmp_path / "phone" / "app.satchel"
    app = Process(APP, path)
    assert app.line() == "open"
    tool = sqlite3.connect(path)
    tool.execute("BEGIN IMMEDIATE")
    app.tell("save")
    assert app.line() == "spooled"
    app.kill()
    tool.rollback()
    tool.close()

    # All that was acknowledged is there, in order and once.
    phone = device("phone")
    notes = phone.records("notes")
    assert set(documents(notes)) == {"yesterday"} | {f"today{each}" for each in range(5)}
    assert phone.state.list("history").values() == [4, 3, 2, 1, 0, "yesterday"]
    assert round(phone.state.scores("moods").value("good"), 6) == 0.2

    # So it is in the cloud, and on another device.
    settled("ada", cloud, phone)
    other = device("other")
    copied = other.records("notes")
    settled("ada", cloud, other)
    assert documents(copied) == documents(notes)
    assert {*other.state.list("history").values()} == {*phone.state.list("history").values()}
    assert round(other.state.scores("moods").value("good"), 6) == 0.2
