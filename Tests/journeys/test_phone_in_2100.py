"""A phone that was in 2100.

The battery of Ada's phone was empty, and for a minute its clock shows the year 2100. In that minute the app
writes everything that has a time: content with a time to live, a search history, notes, and a
synchronization. Then the clock is right again, and an hour later the phone is an ordinary device.
"""

from journey import DAY, HOUR, NEW_YEAR, PORTO, YEAR, Clock, documents, settled

SECTION = {
    "section": "food",
    "content": {
        "cafe": {
            "name": "Café",
            "_storage": {"entity_id": "food:cafe", "scope": "locality", "ttl_hours": 24},
        }
    },
}


def test_a_phone_that_was_in_2100_is_an_ordinary_one_an_hour_later(device, cloud):
    clock, sane = Clock(), Clock()
    phone, tablet = device("phone", clock), device("tablet", sane)
    notes, on_tablet = phone.records("notes"), tablet.records("notes")
    notes.put_many({f"note{each}": {"text": "at first"} for each in range(20)})
    settled("ada", cloud, phone, tablet)

    # A minute in 2100.
    clock.now = NEW_YEAR + 73 * YEAR
    phone.catalogue.persist(PORTO, SECTION)
    phone.state.list("history", max_age=DAY).push("written in 2100")
    for each in range(20):
        notes.put(f"note{each}", {"text": "written in 2100"})
    phone.sync(cloud, "ada")
    for each in range(20):
        notes.put(f"note{each}", {"text": "written in 2100, and not sent"})
    clock.now = sane.now = NEW_YEAR + HOUR

    # It is opened again, and Ada writes on it. An hour later she writes on the tablet, which has got what
    # was sent in 2100.
    phone.close()
    tablet.sync(cloud, "ada")
    phone = device("phone", clock)
    notes = phone.records("notes")
    for each in range(10):
        notes.put(f"note{each}", {"text": "written after 2100"})
    clock.wait(HOUR)
    sane.wait(HOUR)
    for each in range(20):
        on_tablet.put(f"note{each}", {"text": "written later"})

    # Items with an age or a time to live get old again.
    history = phone.state.list("history", max_age=DAY)
    assert phone.catalogue.load(PORTO, "food").expired == []
    assert history.values() == ["written in 2100"]
    clock.wait(2 * DAY)
    assert phone.catalogue.load(PORTO, "food", allow_expired=True).expired == ["food:cafe"]
    assert history.values() == []
    history.push("of today")
    assert history.values() == ["of today"]

    # The later edit wins every conflict, on both devices.
    sane.wait(2 * DAY)
    settled("ada", cloud, tablet, phone)
    assert documents(notes) == documents(on_tablet)
    assert {notes.get(f"note{each}")["text"] for each in range(20)} == {"written later"}

    # And the phone wins those in which it writes later, as it did before.
    on_tablet.put("note0", {"text": "of the tablet"})
    clock.now = sane.now + HOUR
    notes.put("note0", {"text": "of the phone, an hour later"})
    settled("ada", cloud, tablet, phone)
    assert notes.get("note0") == on_tablet.get("note0") == {"text": "of the phone, an hour later"}
    # No record claims to be of the future.
    assert all(record.modified <= clock.now + DAY for record in notes.list())
