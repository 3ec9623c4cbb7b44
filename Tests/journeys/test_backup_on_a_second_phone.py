"""A backup is restored on a second phone while the first goes on.

Ada makes a backup on the first of the month. A month later she restores it on another phone for Bea to play
with, and signs in there as well. The first phone was never away, and has deleted and edited what the backup
still has.
"""

import satchel
from journey import DAY, Clock, documents, settled


def test_a_backup_is_restored_beside_the_phone_that_made_it(device, cloud, tmp_path):
    clock = Clock()
    phone = device("phone", clock)
    notes = phone.records("notes")
    notes.put_many({f"note{each}": {"text": f"of the first day {each}"} for each in range(30)})
    phone.state.list("history", limit=5, synced=True).push("first")
    phone.sync(cloud, "ada")
    phone.backup(tmp_path / "first of the month.satchel")

    # A month passes: notes are deleted, edited and added.
    clock.wait(30 * DAY)
    notes.delete("note0")
    notes.put("note1", {"text": "edited on the phone"})
    notes.put("new", {"text": "of the phone"})
    phone.state.list("history", limit=5, synced=True).push("second")
    phone.sync(cloud, "ada")

    # The backup is a store of its own, sound and as it was; restoring it touches no other file.
    (tmp_path / "second").mkdir()
    satchel.restore(tmp_path / "first of the month.satchel", tmp_path / "second" / "app.satchel")
    second = device("second", clock)
    restored = second.records("notes")
    assert restored.get("note0") == {"text": "of the first day 0"}
    assert restored.get("new") is None

    # It is used before it synchronizes. What was deleted stays deleted, what was edited on both sides goes to
    # the later.
    clock.wait(DAY)
    restored.put("note1", {"text": "edited on the second"})
    restored.put("note2", {"text": "edited on the second"})
    restored.delete("note3")
    settled("ada", cloud, second, phone)
    found = documents(notes)
    assert found == documents(restored)
    assert set(found) == {f"note{each}" for each in range(1, 30)} - {"note3"} | {"new"}
    assert found["note1"] == found["note2"] == {"text": "edited on the second"}
    assert found["new"] == {"text": "of the phone"}
    assert phone.state.list("history", limit=5).values() == ["second", "first"]
    assert second.state.list("history", limit=5).values() == ["second", "first"]

    # Both are devices of their own from now on.
    notes.put("note4", {"text": "phone"})
    restored.put("note5", {"text": "second"})
    settled("ada", cloud, phone, second)
    assert documents(notes) == documents(restored)
    assert (notes.get("note4"), notes.get("note5")) == ({"text": "phone"}, {"text": "second"})
