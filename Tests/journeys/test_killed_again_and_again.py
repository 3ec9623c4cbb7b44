"""An app that the system kills whenever it is in the background.

Ada's phone saves notes and synchronizes them, and the system ends the app without notice: while it writes,
while it synchronizes, and while it migrates. Each time she opens it again, and what was acknowledged is
there, here and in the cloud.
"""

from journey import Clock, Process, documents, settled

APP = """
import sys, satchel
from satchel.remote import Directory
path, cloud, task = sys.argv[1:]
store = satchel.open(path)
if task == "write":
    notes = store.records("notes")
    number = notes.count()
    while True:
        notes.put(f"note{number}", {"number": number})
        print(number, flush=True)
        number += 1
if task == "sync":
    notes = store.records("notes")
    def progress(step):
        print(step.phase, flush=True)
        sys.stdin.readline()
    store.sync(Directory(cloud), "ada", progress=progress)
    print("done", flush=True)
if task == "migrate":
    def change(document):
        print(document["number"], flush=True)
        sys.stdin.readline()
        return {**document, "title": str(document["number"])}
    store.records("notes", version=2, migrations=[change])
"""


def test_an_app_is_killed_while_it_writes_synchronizes_and_migrates(device, cloud, tmp_path):
    (tmp_path / "phone").mkdir()
    path = tmp_path / "phone" / "app.satchel"

    # Killed while it writes: each acknowledged note is there, and at most one more.
    saved = 0
    for _ in range(3):
        app = Process(APP, path, tmp_path / "cloud", "write")
        for _ in range(40):
            saved = int(app.line()) + 1
        app.kill()
        phone = device("phone", Clock())
        notes = phone.records("notes")
        found = documents(notes)
        assert set(found) >= {f"note{number}" for number in range(saved)}
        assert phone.check() == []
        phone.close()

    # Killed at each step of a synchronization, the next one goes on; nothing is sent twice or lost.
    for step in range(1, 12):
        app = Process(APP, path, tmp_path / "cloud", "sync")
        for _ in range(step):
            line = app.line()
            if line in ("done", ""):
                break
            if _ + 1 < step:
                app.tell("go on")
        if line in ("done", ""):
            app.end()
            break
        app.kill()
    else:
        raise AssertionError("the synchronization has no end")
    phone, other = device("phone"), device("other")
    notes, on_other = phone.records("notes"), other.records("notes")
    settled("ada", cloud, phone, other)
    assert documents(on_other) == documents(notes)
    assert len(documents(notes)) >= saved
    before = documents(notes)
    phone.close()

    # Killed while it migrates: all notes are of the old version, and the next start migrates them.
    app = Process(APP, path, tmp_path / "cloud", "migrate")
    for _ in range(5):
        app.line()
        app.tell("go on")
    app.line()
    app.kill()
    phone = device("phone")
    assert documents(phone.records("notes")) == before
    migrated = phone.records(
        "notes", version=2, migrations=[lambda note: {**note, "title": str(note["number"])}]
    )
    assert all(note["title"] == str(note["number"]) for note in documents(migrated).values())
    settled("ada", cloud, phone)
