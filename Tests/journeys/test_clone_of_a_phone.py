"""A phone is cloned.

Ada buys a new phone and copies everything to it, the store included. She goes on with both for a while: each
writes its own notes and edits those of before, without a network, and then they synchronize.
"""

import shutil

from journey import HOUR, Clock, documents, settled


def test_a_phone_and_its_clone_both_go_on(device, cloud, tmp_path):
    clock = Clock()
    old = device("old", clock)
    notes = old.records("notes", indexes=[{"path": "number", "unique": True}])
    notes.put_many({f"note{each}": {"number": each} for each in range(20)})
    old.state.set("theme", "dark", synced=True)
    old.sync(cloud, "ada")
    notes.put("unsent", {"number": 100})
    old.close()

    # The new phone has the same bytes, an unsent note included.
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    old, new = device("old", clock), device("new", Clock(clock.now + HOUR))
    notes, copied = old.records("notes"), new.records("notes")
    assert documents(notes) == documents(copied)

    # Both write, edit the same note, and delete different ones, before any of them synchronizes.
    notes.put("of old", {"number": 200})
    copied.put("of new", {"number": 300})
    notes.put("note0", {"number": 0, "title": "old"})
    copied.put("note0", {"number": 0, "title": "new"})
    notes.delete("note1")
    copied.delete("note2")
    copied.update("note3", {"number": 33})

    # Nothing is lost, sent twice or resurrected; the later edit wins, on a third device as well.
    settled("ada", cloud, old, new)
    third = device("third")
    third.records("notes")
    settled("ada", cloud, third, old, new)
    found = documents(notes)
    assert found == documents(copied) == documents(third.records("notes"))
    assert set(found) == {f"note{each}" for each in range(20)} - {"note1", "note2"} | {
        "unsent",
        "of old",
        "of new",
    }
    assert found["note0"]["title"] == "new"
    assert found["note3"]["number"] == 33
    assert third.state.get("theme") == "dark"
