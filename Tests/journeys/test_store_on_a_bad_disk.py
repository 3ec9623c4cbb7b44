"""A store on a bad disk.

Ada's laptop has a bad sector in the middle of the store. Opening it moves the damaged file aside; what can be
read of it is recovered, the rest comes from the cloud, and nothing of the damage reaches the other device.
"""

import shutil

import pytest
import satchel
from journey import Clock, documents, settled


def test_a_damaged_store_is_recovered_and_completed_from_the_cloud(device, cloud, tmp_path):
    laptop, phone = device("laptop"), device("phone")
    notes, on_phone = laptop.records("notes"), phone.records("notes")
    notes.put_many({f"note{each:03}": {"text": f"note {each} " * 40} for each in range(300)})
    laptop.state.set("theme", "dark", synced=True)
    settled("ada", cloud, laptop, phone)
    notes.put("unsent", {"text": "never sent"})
    before = documents(notes)
    laptop.close()

    # Bad sectors: a few pages in the middle of the file are zeros.
    path = tmp_path / "laptop" / "app.satchel"
    with path.open("r+b") as file:
        size = path.stat().st_size
        assert size > 100_000
        file.seek(size // 2 // 4096 * 4096)
        file.write(bytes(2 * 4096))
    shutil.copy(path, tmp_path / "damaged.satchel")

    # Checking names the damage, and changes nothing of it. Recovering makes a new store next to it.
    with satchel.open(path, clock=Clock()) as damaged:
        assert damaged.check() != []
    report = satchel.recover(path, tmp_path / "recovered.satchel")
    assert report is not None
    (tmp_path / "recovered").mkdir()
    shutil.move(tmp_path / "recovered.satchel", tmp_path / "recovered" / "app.satchel")
    laptop = device("recovered")
    notes = laptop.records("notes")
    recovered = documents(notes)
    assert recovered
    assert all(before[id] == note for id, note in recovered.items())

    # The cloud has the rest. What was lost here is not deleted there.
    settled("ada", cloud, laptop, phone)
    assert documents(notes) == documents(on_phone)
    assert set(documents(on_phone)) >= set(before) - {"unsent"}
    assert phone.state.get("theme") == laptop.state.get("theme") == "dark"
    with pytest.raises(satchel.SatchelError):
        satchel.open(tmp_path / "none" / "app.satchel")
