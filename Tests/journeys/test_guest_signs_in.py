"""A guest signs in.

Ada tries the app on a laptop without an account, for weeks. Her phone has had an account for a year. When she
signs in on the laptop, both sides' records stay, and a note that both have under one id goes to the later
edit.
"""

from journey import DAY, Clock, documents, settled


def test_what_a_guest_wrote_is_merged_with_the_account(device, cloud):
    clock = Clock()
    phone, laptop = device("phone", clock), device("laptop", clock)
    notes = phone.records("notes", indexes=[{"path": "number", "unique": True}])
    guest = laptop.records("notes", indexes=[{"path": "number", "unique": True}])
    notes.put_many({f"phone{each}": {"number": each} for each in range(10)})
    notes.put("settings", {"theme": "dark", "number": 100})
    phone.state.set("home", "Porto", synced=True)
    settled("ada", cloud, phone)

    # The guest's notes have ids of their own, one id of the account, and one value that must be unique.
    clock.wait(DAY)
    guest.put_many({f"guest{each}": {"number": 200 + each} for each in range(10)})
    guest.put("settings", {"theme": "light", "number": 100})
    guest.put("twin", {"number": 3})
    laptop.state.list("history", synced=True).push("of the guest")

    # A dry run reports the changes that would be sent, and changes nothing.
    plan = laptop.sync(cloud, "ada", dry_run=True)
    assert plan.dry_run
    assert plan.planned
    assert laptop.sync_status().user is None
    assert "phone0" not in documents(guest)

    # Nothing is deleted on either side. The value that only one may have waits, and says whose it is.
    laptop.sync(cloud, "ada")
    settled("ada", cloud, phone, laptop)
    expected = {f"phone{each}" for each in range(10)} | {f"guest{each}" for each in range(10)} | {"settings"}
    assert set(documents(notes)) >= expected - {"phone3"}
    assert set(documents(guest)) >= expected - {"phone3"}
    assert notes.get("settings") == guest.get("settings") == {"theme": "light", "number": 100}
    assert laptop.state.get("home") == "Porto"
    assert phone.state.list("history").values() == ["of the guest"]
    both = {id: note for store in (notes, guest) for id, note in documents(store).items()}
    assert set(both) == expected | {"twin"}
    waiting = [conflict for store in (notes, guest) for conflict in store.conflicts()]
    assert {conflict.record for conflict in waiting} >= {"twin"} or {
        conflict.record for conflict in waiting
    } >= {"phone3"}

    # She gives the twin another number, and both devices agree.
    guest.put("twin", {"number": 333})
    settled("ada", cloud, laptop, phone)
    assert documents(notes) == documents(guest)
    assert set(documents(notes)) == expected | {"twin"}
    assert phone.sync(cloud, "ada").waiting == 0
