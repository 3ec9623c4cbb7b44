"""A trip from a backend in the company's own network.

Its certificate is of the company's authority, which the app ships. A version of the app that lacks it, or
has that of another company, gets nothing, says why, and stores nothing.
"""

import pytest
import satchel
from journey import HOUR, Clock
from trips import PLACES, picture, pictures, shown


def test_a_trip_is_downloaded_over_https_from_whom_the_app_trusts(device, backend):
    clock = Clock()
    phone = device("phone", clock)
    backend.change(reset=True)
    trip = phone.catalogue.regions.create("trip", PLACES)
    for ca_file in (None, backend.wrong_ca_file):
        with satchel.HTTPSource(f"{backend.secure}/content", ca_file=ca_file) as source:
            report = trip.download(source)
            assert (report.state, len(report.failed)) == ("partial", len(PLACES))
            assert all("certificate" in each.message for each in report.failed)
            with pytest.raises(satchel.Unavailable):
                phone.catalogue.load_from(PLACES[0], "cuisine", source=source)
        clock.wait(HOUR)
    assert backend.counts["requests"] == 0
    assert phone.catalogue.contexts() == []
    assert phone.statistics()["catalogue"]["failed_requests"] == len(PLACES) + 1

    with satchel.HTTPSource(f"{backend.secure}/content", ca_file=backend.ca_file) as source:
        report = trip.download(source)
        assert (report.state, report.failed, report.assets) == ("complete", [], 4)
        content, files = shown(phone), pictures(phone)
        assert len(content) == 2 * len(PLACES)
        assert files == {url: picture(url, 2000) for url in files}
        assert all(url.startswith(f"{backend.secure}/asset/") for url in files)
        # Only what has changed is sent again, over the same connections.
        backend.change(reset=True)
        clock.wait(HOUR)
        assert trip.update(source).unchanged == 2 * len(PLACES)
        assert {each["status"] for each in backend.counts["seen"]} == {304}
        assert (
            phone.catalogue.load_from(PLACES[0], "cuisine", source=source).content == content["Porto/cuisine"]
        )
    assert phone.check() == []
