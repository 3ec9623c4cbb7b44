"""A key is lost and found.

Ada's letters are sensitive, and her cloud is encrypted. A new phone has the store from a backup, and no key.
She guesses a wrong one, finds the right one in a drawer, and changes it, because the drawer was open.
"""

import pytest
import satchel
from journey import documents, files_with, settled

FIRST, WRONG, SECOND = bytes(range(32)), bytes(32), bytes(range(32, 64))


def test_a_key_is_lost_found_and_changed(device, cloud, tmp_path):
    phone = device("phone")
    phone.state.set_key(FIRST)
    letters = phone.records("letters", sensitive=["text"])
    letters.put("one", {"to": "Bea", "text": "between us"})
    phone.state.set("pin", 1234, sensitive=True)
    phone.sync(cloud, "ada", key=FIRST)
    phone.backup(tmp_path / "backup.satchel")
    assert files_with("between us", tmp_path) == []

    # The new phone has the backup and no key: what is sensitive cannot be read, and what is not can.
    (tmp_path / "new").mkdir()
    satchel.restore(tmp_path / "backup.satchel", tmp_path / "new" / "app.satchel")
    new = device("new")
    restored = new.records("letters", sensitive=["text"])
    with pytest.raises(satchel.Unauthorized) as no_key:
        restored.get("one")
    assert (no_key.value.collection, no_key.value.id) == ("letters", "one")
    with pytest.raises(satchel.Unauthorized):
        new.state.get("pin")
    with pytest.raises(satchel.Unauthorized):
        new.sync(cloud, "ada")

    # A wrong key is refused as such, not as a read-only store, and destroys nothing.
    with pytest.raises(satchel.Unauthorized):
        new.state.set_key(WRONG)
    with pytest.raises(satchel.Unauthorized):
        new.sync(cloud, "ada", key=WRONG)

    # The right one opens everything.
    new.state.set_key(FIRST)
    assert restored.get("one") == {"to": "Bea", "text": "between us"}
    assert new.state.get("pin") == 1234
    restored.put("two", {"to": "Bea", "text": "found it"})
    settled("ada", cloud, new, phone, key=FIRST)
    assert documents(letters) == documents(restored)

    # She changes both keys on the new phone. The old phone asks for the new one, and goes on with it.
    new.state.rotate_key(SECOND)
    new.rekey(cloud, "ada", SECOND, old_key=FIRST)
    with pytest.raises(satchel.Unauthorized):
        phone.sync(cloud, "ada", key=FIRST)
    letters.put("three", {"to": "Bea", "text": "of the old phone"})
    settled("ada", cloud, phone, new, key=SECOND)
    assert documents(letters) == documents(restored)
    assert set(documents(restored)) == {"one", "two", "three"}
    assert files_with("of the old phone", tmp_path) == []
