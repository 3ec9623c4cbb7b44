"""A trip of 100 days without a network.

Ada travels with a tablet. At home her phone goes on, deletes what it does not need any more, and synchronizes
every week, so that deletions older than the cloud keeps them are forgotten there. She returns with edits
of her own.
"""

from journey import DAY, Clock, documents, settled


def test_a_tablet_is_offline_for_longer_than_deletions_are_kept(device, cloud):
    clock = Clock()
    phone, tablet = device("phone", clock), device("tablet", clock)
    plans, on_tablet = phone.records("plans"), tablet.records("plans")
    plans.put_many({f"plan{each}": {"text": f"plan {each}"} for each in range(40)})
    settled("ada", cloud, phone, tablet)

    # On the way she edits a plan that was deleted at home, deletes one that was edited there, and adds one.
    clock.wait(DAY)
    plans.delete("plan0")
    for number in range(1, 20):
        plans.delete(f"plan{number}")
    plans.put("plan30", {"text": "edited at home"})
    phone.sync(cloud, "ada")
    for week in range(15):
        clock.wait(7 * DAY)
        plans.put(f"week{week}", {"text": f"week {week}"})
        phone.sync(cloud, "ada")
    clock.wait(DAY)
    on_tablet.put("plan0", {"text": "edited on the way"})
    on_tablet.put("souvenir", {"text": "added on the way"})
    on_tablet.delete("plan31")

    # Nothing that was deleted at home is there again, and nothing that she wrote is lost.
    settled("ada", cloud, tablet, phone)
    found = documents(plans)
    assert found == documents(on_tablet)
    weeks = {f"week{week}" for week in range(15)}
    assert set(found) == {f"plan{each}" for each in range(20, 40)} - {"plan31"} | weeks | {
        "plan0",
        "souvenir",
    }
    assert found["plan0"] == {"text": "edited on the way"}
    assert found["plan30"] == {"text": "edited at home"}

    # A new device gets exactly this.
    new = device("new", clock)
    on_new = new.records("plans")
    settled("ada", cloud, new)
    assert documents(on_new) == found
