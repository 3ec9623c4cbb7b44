"""A travel guide on a phone with little space.

Ada's guide keeps towns for offline use, her notes and her favourites in one store. The app limits the guide
to a few hundred kilobytes; her notes are larger than that. She travels without a network, and looks up what
she saved.
"""

from journey import DAY, Clock


def town(number: int) -> dict:
    return {"locality": f"Town {number}", "admin_area": "Norte", "country_code": "PT"}


def food(number: int) -> dict:
    return {
        "section": "food",
        "content": {
            "cafe": {
                "name": f"Café {number}",
                "text": "x" * 4000,
                "_storage": {"entity_id": f"food:cafe{number}", "scope": "locality", "ttl_hours": 24 * 365},
            }
        },
    }


def test_a_budget_for_the_guide_leaves_notes_and_the_town_on_screen(device, cloud):
    clock = Clock()
    phone = device("phone", clock)
    notes = phone.records("notes")
    notes.put_many({f"note{each}": {"text": "y" * 10_000} for each in range(100)})
    favourites = phone.state.list("favourites", synced=True)
    for number in range(60):
        clock.wait(DAY)
        phone.catalogue.persist(town(number), food(number))
        favourites.push(f"food:cafe{number}")
    phone.catalogue.set_active_location(town(0))

    # The budget concerns the guide's own bytes: the notes stay, and the oldest towns go, except for that on
    # screen.
    receipt = phone.catalogue.prune(expired=False, max_bytes=100_000)
    assert 0 < receipt.entities < 60
    assert phone.catalogue.load(town(0), "food").missing == []
    assert phone.catalogue.entity("food:cafe59", town(59)).content["name"] == "Café 59"
    assert notes.count() == 100
    # It is met: the same call has nothing left to do.
    assert phone.catalogue.prune(expired=False, max_bytes=100_000).entities == 0

    # A budget that is large enough removes nothing, however large the notes are.
    tablet = device("tablet", clock)
    tablet.records("notes").put_many({f"note{each}": {"text": "y" * 10_000} for each in range(100)})
    tablet.catalogue.persist(town(1), food(1))
    assert tablet.catalogue.prune(expired=False, max_bytes=500_000).entities == 0

    # Notes and favourites reach the tablet, the guide does not: it is the backend's.
    phone.sync(cloud, "ada")
    tablet.sync(cloud, "ada")
    assert tablet.state.list("favourites").values() == favourites.values()
    assert tablet.catalogue.has_cached(town(59)) is None
