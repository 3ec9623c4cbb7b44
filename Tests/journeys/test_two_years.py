"""A store that grows for two years and is compacted.

Ada's app keeps a diary, measurements that it deletes after a month, and content of the towns that she visits.
Every week it synchronizes. After two years the store is mostly holes; she frees the space, while a widget of
the phone has the store open, and buys a new phone.
"""

from journey import DAY, Clock, Process, documents, settled

WIDGET = """
import sys, satchel
store = satchel.open(sys.argv[1], read_only=True)
diary = store.records("diary")
for line in sys.stdin:
    print(diary.count(), flush=True)
"""


def town(number: int) -> dict:
    return {"locality": f"Town {number}", "country_code": "PT"}


def size(folder) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_store_of_two_years_is_compacted(device, cloud, tmp_path):
    clock = Clock()
    phone = device("phone", clock)
    diary, measurements = phone.records("diary"), phone.records("measurements")
    sent = 0
    for week in range(104):
        clock.wait(7 * DAY)
        diary.put(f"week{week}", {"text": f"week {week} " * 20})
        measurements.put_many({f"m{week}-{each}": {"values": [week, each] * 40} for each in range(60)})
        if week >= 4:
            measurements.delete_many([f"m{week - 4}-{each}" for each in range(60)])
        if week % 4 == 0:
            phone.catalogue.persist(town(week), {"section": "food", "content": {"text": "x" * 5000}})
            phone.catalogue.prune(contexts_unused_for=60 * DAY / 1000)
        sent += phone.sync(cloud, "ada").bytes_up
    measurements.delete_many(list(documents(measurements)))
    phone.sync(cloud, "ada")
    before = documents(diary)
    assert len(before) == 104

    # A widget reads while the store is compacted.
    widget = Process(WIDGET, tmp_path / "phone" / "app.satchel")
    widget.tell("count")
    assert widget.line() == "104"
    grown = size(tmp_path / "phone")
    steps = []
    phone.compact(progress=steps.append)
    assert steps
    widget.tell("count")
    assert widget.line() == "104"
    widget.kill()
    phone.close()
    assert size(tmp_path / "phone") < grown / 2

    # Nothing changed, and the phone goes on.
    phone = device("phone", clock)
    diary = phone.records("diary")
    assert documents(diary) == before
    clock.wait(7 * DAY)
    diary.put("after", {"text": "compacted"})
    settled("ada", cloud, phone)

    # The new phone downloads what is live, and the deletions of the last three months; not the history, nor
    # the deletions before.
    new = device("new", clock)
    on_new = new.records("diary")
    new.records("measurements")
    report = new.sync(cloud, "ada")
    assert documents(on_new) == documents(diary)
    assert report.bytes_down < sent / 5
    settled("ada", cloud, phone, new)
