"""An app of version 1 beside one of version 3, on one account.

Ada's phone updates the app; her old tablet cannot. The records get other members twice on the way: a name
becomes a title, a number becomes a text. Both devices go on writing; then the tablet is updated too.
"""

import pytest
import satchel
from journey import HOUR, Clock, documents, settled

STEPS = [
    [{"rename": {"from": "name", "to": "title"}}, {"default": {"path": "done", "value": False}}],
    [{"convert": {"path": "size", "to": "string"}}],
]


def test_versions_1_and_3_of_an_app_share_an_account(device, cloud):
    clock = Clock()
    phone, tablet = device("phone", clock), device("tablet", clock)
    tasks, on_tablet = phone.records("tasks"), tablet.records("tasks")
    tasks.put("bread", {"name": "Bread", "size": 2})
    tasks.put("milk", {"name": "Milk", "size": 1})
    settled("ada", cloud, phone, tablet)

    # The phone gets version 3, in two steps at once. The handle of version 1 says that it is old.
    new_tasks = phone.records("tasks", version=3, migrations=STEPS)
    assert documents(new_tasks)["bread"] == {"size": "2", "title": "Bread", "done": False}
    with pytest.raises(satchel.NewerStore) as old:
        tasks.put("bread", {"name": "Bread", "size": 3})
    assert (old.value.subject, old.value.collection) == ("records", "tasks")

    # It edits one task, and adds one. The tablet edits another; what it cannot read waits, and nothing is
    # lost.
    clock.wait(HOUR)
    new_tasks.update("bread", {"done": True})
    new_tasks.put("eggs", {"title": "Eggs", "size": "10", "done": False})
    on_tablet.put("milk", {"name": "Milk", "size": 4})
    on_tablet.put("salt", {"name": "Salt", "size": 1})
    phone.sync(cloud, "ada")
    report = tablet.sync(cloud, "ada")
    assert report.waiting == 2
    assert documents(on_tablet) == {
        "bread": {"name": "Bread", "size": 2},
        "milk": {"name": "Milk", "size": 4},
        "salt": {"name": "Salt", "size": 1},
    }

    # The phone reads the tablet's edits of version 1 in its own version.
    phone.sync(cloud, "ada")
    assert new_tasks.get("milk") == {"size": "4", "title": "Milk", "done": False}
    assert new_tasks.get("salt") == {"size": "1", "title": "Salt", "done": False}
    assert new_tasks.get("bread")["done"] is True

    # The tablet is updated: what waited is applied, and both agree.
    updated = tablet.records("tasks", version=3, migrations=STEPS)
    settled("ada", cloud, tablet, phone)
    assert documents(updated) == documents(new_tasks)
    assert set(documents(updated)) == {"bread", "milk", "salt", "eggs"}
    assert tablet.sync(cloud, "ada").waiting == 0
