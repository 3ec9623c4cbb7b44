"""A widget beside the app, in a process of its own.

Ada's to-do app has a widget, which another process draws. The widget watches the list and changes it; the app
works in batches, and the system kills it in the middle of one.
"""

from journey import Process, documents

APP = """
import sys, satchel
store = satchel.open(sys.argv[1])
tasks = store.records("tasks", indexes=["done"])
for line in sys.stdin:
    with store.batch():
        for number in range(20):
            tasks.put(f"{line.strip()}{number}", {"done": False, "title": line.strip()})
        if line.strip() == "half":
            print("in the middle", flush=True)
            sys.stdin.readline()
    print("saved", flush=True)
"""


def test_a_widget_sees_whole_batches_only(device, tmp_path):
    widget = device("phone")
    tasks = widget.records("tasks", indexes=["done"])
    tasks.put("first", {"done": False, "title": "first"})
    window = tasks.watch(where={"done": False})
    assert [record.id for record in window.next(timeout=60)] == ["first"]
    heard = []
    widget.observe(lambda change: heard.append(change.subject))

    # The app saves a batch: the widget shows all of it at once.
    app = Process(APP, tmp_path / "phone" / "app.satchel")
    app.tell("shopping")
    assert app.line() == "saved"
    assert len(window.next(timeout=60)) == 21

    # The app is killed in a batch: nothing of it was there, and the widget can write at once.
    app.tell("half")
    assert app.line() == "in the middle"
    assert tasks.count() == 21
    app.kill()
    tasks.put("shopping0", {"done": True, "title": "shopping"})
    shown = window.next(timeout=60)
    assert {record.id for record in shown} == {"first"} | {f"shopping{each}" for each in range(1, 20)}
    assert not any(id.startswith("half") for id in documents(tasks))

    # The app is opened again, and goes on where the widget left.
    app = Process(APP, tmp_path / "phone" / "app.satchel")
    app.tell("evening")
    assert app.line() == "saved"
    assert len(window.next(timeout=60)) == 40
    app.kill()
    assert widget.check() == []
    assert "records" in heard
