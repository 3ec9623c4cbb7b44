"""A bad network.

Ada synchronizes in a train. The network refuses connections, loses answers of writes that took effect, and
answers with errors; each synchronization either succeeds or says that the remote cannot be reached, and the
next one goes on.
"""

import contextlib
import json
import os
import urllib.parse
import urllib.request
import uuid

import pytest
import satchel
from journey import documents, settled
from satchel.remote import S3


@pytest.fixture
def train():
    """The bucket behind a line that a journey makes bad, and how to do so."""
    told = json.loads(os.environ["SATCHEL_TEST_S3"])

    def faults(*wanted):
        address = f"{told['admin']}/?{urllib.parse.quote(json.dumps(wanted))}"
        with urllib.request.urlopen(address, timeout=10) as answer:
            answer.read()

    options = {**told["store"], "endpoint": told["proxy"], "prefix": f"journeys/{uuid.uuid4()}"}
    faults()
    with S3(**options, connect_timeout=2, stall_timeout=2, total_timeout=10) as remote:
        yield remote, faults
    faults()


def test_a_synchronization_on_a_bad_network_loses_nothing(device, train):
    remote, faults = train
    phone, tablet = device("phone"), device("tablet")
    notes, on_tablet = phone.records("notes"), tablet.records("notes")
    notes.put_many({f"note{each}": {"number": each} for each in range(50)})
    settled("ada", remote, phone, tablet)

    # In a tunnel nothing can be reached: the error says so, and is not that of a busy store.
    faults(*[{"fault": "reset_before"}] * 60)
    notes.put("tunnel", {"number": 100})
    with pytest.raises(satchel.Unavailable):
        phone.sync(remote, "ada")
    faults()

    # Each kind of trouble, while both devices write: what fails is tried again, and nothing is written twice.
    troubles = [
        {"fault": "lost_reply"},
        {"fault": "status", "code": 503},
        {"fault": "truncate", "bytes": 10},
        {"fault": "reset_before"},
        {"fault": "double"},
        {"fault": "lost_reply", "reset": True},
    ]
    for round, trouble in enumerate(troubles):
        notes.put(f"phone{round}", {"number": 200 + round})
        on_tablet.put(f"tablet{round}", {"number": 300 + round})
        notes.put("note0", {"number": 0, "round": round})
        for store in (phone, tablet):
            faults(trouble, {"fault": "pass"}, trouble, trouble)
            with contextlib.suppress(satchel.Unavailable):
                store.sync(remote, "ada")
    faults()
    settled("ada", remote, phone, tablet)
    found = documents(notes)
    assert found == documents(on_tablet)
    assert len(found) == 50 + 1 + 6 + 6
    assert found["note0"] == {"number": 0, "round": 5}
    assert notes.conflicts() == []
