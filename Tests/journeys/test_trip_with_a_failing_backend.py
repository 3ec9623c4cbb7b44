"""The backend dies while a trip is downloaded.

Half of the trip has arrived when the backend is gone. At the same time the phone is short of space, so that
the app prunes the catalogue to nothing, and its nightly backup begins. The next day the backend is back.
"""

import threading

import pytest
import satchel
from journey import DAY, HOUR, Clock
from trips import LYON, PLACES, pictures, shown

SECTIONS = [f"day{number}" for number in range(8)]
OTHER = {"locality": "Oslo", "admin_area": "Oslo", "country_code": "NO"}


class Beside:
    """Work that is repeated on another thread until the block ends; its errors are raised there."""

    def __init__(self, work):
        self._work, self._ends, self.count = work, threading.Event(), 0
        self._error = None
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        try:
            while not self._ends.is_set():
                self._work()
                self.count += 1
        except BaseException as error:
            self._error = error

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()
        if self._error:
            raise self._error
        assert self.count > 0


@pytest.mark.parametrize("half", ["content", "pictures"])
def test_a_download_goes_on_when_the_backend_is_back(device, backend, tmp_path, half):
    clock = Clock()
    phone = device("phone", clock)
    catalogue = phone.catalogue
    backend.change(sections=SECTIONS, cache_control=None)
    with satchel.HTTPSource(f"{backend.url}/content") as source:
        catalogue.refresh(OTHER, source=source)
        region = catalogue.regions.create("trip", PLACES, sections=SECTIONS)
        requests = len(PLACES) * len(SECTIONS)
        limit = requests // 2 if half == "content" else requests + len(SECTIONS)

        def dies(progress):
            if progress.items_done == limit:
                backend.change(offline=True)

        def prune():
            catalogue.prune(max_bytes=1)
            phone.assets.prune(max_bytes=1)

        with Beside(prune), Beside(lambda: phone.backup(tmp_path / "backup.satchel")):
            report = region.download(source, progress=dies, parallel=2)
        assert report.state == "partial"
        assert report.failed
        before = region.summary()
        assert before.size.assets + before.size.requests - before.size.requests_left >= limit
        assert sorted(each.message for each in before.failed) == sorted(
            each.message for each in report.failed
        )
        assert not any("another call" in each.message for each in report.failed)
        # Nothing of the trip was pruned; what belongs to no region was.
        assert before.size.missing == 0
        assert catalogue.contexts(location=OTHER) == []
        phone.backup(tmp_path / "backup.satchel")

        # It goes on where it was, on the phone and on another with the backup: nothing is asked for again.
        (tmp_path / "other").mkdir()
        satchel.restore(tmp_path / "backup.satchel", tmp_path / "other" / "app.satchel")
        clock.wait(DAY // 2)
        other = device("other", Clock(clock.now))
        found = {}
        for name, store in (("phone", phone), ("other", other)):
            backend.change(offline=False, reset=True)
            trip = store.catalogue.regions.get("trip")
            assert trip.summary().size.requests_left == before.size.requests_left
            done = trip.download(source)
            assert (done.state, done.failed, done.waiting) == ("complete", [], 0)
            assert done.requests == before.size.requests_left
            assert len(backend.counts["seen"]) == done.requests + done.assets
            found[name] = shown(store), pictures(store)
            assert len(found[name][0]) == requests
            assert len(found[name][1]) == 2 * len(SECTIONS)
            assert store.check() == []
        assert found["phone"] == found["other"]

        # Space is short once more: the trip stays, and says what it keeps.
        clock.wait(HOUR)
        receipt = catalogue.prune(max_bytes=1)
        assert receipt.over_budget == receipt.pinned_bytes - 1 == region.summary().size.bytes - 1
        assert phone.assets.prune(max_bytes=1).pinned_bytes == region.summary().size.asset_bytes
        assert (shown(phone), pictures(phone)) == found["phone"]
        assert catalogue.contexts(location=LYON)
