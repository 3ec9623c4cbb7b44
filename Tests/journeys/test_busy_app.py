"""A busy app that synchronizes.

Ada's tracker writes a point with every step that she makes, also while it synchronizes, and another process
of the app writes as fast as it can. A synchronization sends what was there when it began and ends; the next
one sends the rest.
"""

from journey import Process, documents, settled

WRITER = """
import select, sys, satchel
store = satchel.open(sys.argv[1], busy_timeout=60)
points = store.records("points")
number = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    points.put(f"other{number}", {"number": number})
    number += 1
    if number == 1:
        print("writing", flush=True)
print(number, flush=True)
"""


def test_a_sync_ends_beside_an_app_that_writes_all_the_time(device, bucket, tmp_path):
    phone, watch = device("phone", busy_timeout=60), device("watch")
    points, on_watch = phone.records("points"), watch.records("points")
    points.put_many({f"point{each}": {"number": each} for each in range(200)})
    phone.sync(bucket, "ada")
    points.put_many({f"later{each}": {"number": each} for each in range(200)})

    # The app itself writes a point with each step of the synchronization.
    written = 0

    def step(_):
        nonlocal written
        points.put(f"meanwhile{written}", {"number": written})
        written += 1

    report = phone.sync(bucket, "ada", progress=step)
    assert written > 0
    assert report.requests <= 30
    assert phone.sync_status().pending > 0
    watch.sync(bucket, "ada")
    assert set(documents(on_watch)) >= {f"later{each}" for each in range(200)}

    # Another process writes without a pause.
    other = Process(WRITER, tmp_path / "phone" / "app.satchel")
    assert other.line() == "writing"
    report = phone.sync(bucket, "ada")
    assert report.ok
    assert report.requests <= 30
    other.tell("stop")
    count = int(other.line())
    other.end()

    # In the end everything is everywhere.
    settled("ada", bucket, phone, watch)
    assert documents(on_watch) == documents(points)
    assert len(documents(points)) == 400 + written + count
