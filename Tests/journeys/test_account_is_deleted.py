"""An account is deleted.

Ada closes her account on the laptop. Her phone was switched off; when it is switched on it must not fill the
cloud again. Later she uses the same name once more.
"""

import pytest
import satchel
from journey import documents, files_with, settled


def test_an_account_is_deleted_while_a_device_is_away(device, cloud, tmp_path):
    laptop, phone = device("laptop"), device("phone")
    notes, on_phone = laptop.records("notes"), phone.records("notes")
    notes.put("one", {"text": "to be forgotten"})
    settled("ada", cloud, laptop, phone)
    on_phone.put("two", {"text": "written while it was away"})

    # Nothing of hers stays in the cloud, and her laptop keeps its own copy until she signs out.
    laptop.delete_account(cloud, "ada")
    assert files_with("to be forgotten", tmp_path / "cloud") == []
    assert notes.get("one") is not None

    # The phone learns that the account is closed, and writes nothing.
    objects = sorted(path.name for path in (tmp_path / "cloud").rglob("*"))
    for _ in range(2):
        with pytest.raises(satchel.ForeignFile, match="closed"):
            phone.sync(cloud, "ada")
    assert sorted(path.name for path in (tmp_path / "cloud").rglob("*")) == objects
    assert on_phone.get("two") is not None
    phone.sign_out(unsent="discard")
    assert documents(on_phone) == {}
    assert files_with("written while it was away", tmp_path / "phone") == []

    # She begins again from the laptop, only because she says so, and the phone follows.
    with pytest.raises(satchel.ForeignFile):
        laptop.sync(cloud, "ada")
    laptop.sync(cloud, "ada", first="upload")
    settled("ada", cloud, phone, laptop)
    assert documents(on_phone) == documents(notes) == {"one": {"text": "to be forgotten"}}
