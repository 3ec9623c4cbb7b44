"""Collections that are declared in a batch apply their stored entries as a part of it."""

from __future__ import annotations

from typing import List

import pytest
from record_devices import Device, agreed, documents, moved

from satchel.remote import Remote


class GivenUp(Exception):
    """Ends a batch."""


@pytest.mark.parametrize("count", [3, 2500])
def test_declaring_in_a_batch_applies_what_is_stored(
    pair: List[Device], remote_copy: Remote, count: int
) -> None:
    phone, tablet = pair
    rooms = phone.store.records("rooms")
    rooms.put_many({f"r{each}": {"seats": each} for each in range(count)})
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    found = 0

    def declare_and_give_up() -> None:
        nonlocal found
        with tablet.store.batch():
            found = tablet.store.records("rooms").count()
            raise GivenUp

    with pytest.raises(GivenUp):
        declare_and_give_up()
    assert found == count
    assert [each.name for each in tablet.store.collections()] == ["courses"]
    tablet.clock.advance(60_000)
    with tablet.store.batch():
        tablet.records.put("c", {"n": 1})
        theirs = tablet.store.records("rooms", indexes=["seats"])
        assert documents(theirs) == documents(rooms)
        theirs.put("r0", {"seats": -1})
        theirs.delete("r1")
    assert theirs.ids({"seats": -1}) == ["r0"]
    assert tablet.store.check() == []
    assert moved(tablet.sync(remote_copy)) == {"uploaded": 2, "deleted_remotely": 1}
    agreed(pair, remote_copy)
    assert (rooms.get("r0"), rooms.count()) == ({"seats": -1}, count - 1)


def test_declaring_in_a_batch_decides_what_is_there_twice(pair: List[Device], remote_copy: Remote) -> None:
    """The collection had content of its own before it was synchronized."""
    phone, tablet = pair
    rooms = phone.store.records("rooms")
    theirs = tablet.store.records("rooms", synced=False)
    rooms.put("a", {"seats": 1})
    theirs.put("b", {"seats": 2})
    phone.sync(remote_copy)
    tablet.sync(remote_copy)
    with tablet.store.batch():
        theirs.put("c", {"seats": 3})
        theirs = tablet.store.records("rooms", synced=True)
        assert theirs.ids() == ["b", "c", "a"]
        theirs.put("d", {"seats": 4})
    agreed([tablet, phone], remote_copy)
    assert sorted(rooms.ids()) == ["a", "b", "c", "d"]
