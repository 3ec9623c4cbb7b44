"""A trip is on the phone, and in all of its copies.

Ada downloads what her guide has of Porto and Madrid, with pictures, from the app's backend. The phone is
backed up and restored, copied to a new phone with and without the folder of its pictures, and its memory is
damaged. There is no network: the trip is there in each of them, with every picture, or says what is
missing.
"""

import shutil
import time

import pytest
import satchel
from journey import Clock
from trips import MADRID, PORTO, picture, pictures, shown

#: The pictures of Porto are files of the folder, those of Madrid are in the store's file.
LARGE, SMALL = 300_000, 2_000
PLACES = [PORTO, MADRID]
NOW = Clock(time.time_ns() // 1_000_000)


@pytest.fixture
def trip(device, backend):
    """The phone with the trip, its content and its pictures."""
    # A recovery has no clock but the system's.
    phone = device("phone", NOW)
    with satchel.HTTPSource(f"{backend.url}/content") as source:
        for name, place, size, sections in (
            ("porto", PORTO, LARGE, ["cuisine", "sights"]),
            ("madrid", MADRID, SMALL, ["bars", "walks"]),
        ):
            backend.change(size=size, sections=sections)
            report = phone.catalogue.regions.create(name, [place]).download(source)
            assert (report.state, report.failed, report.assets) == ("complete", [], 4)
    content, files = shown(phone, PLACES), pictures(phone, PLACES)
    assert sorted(content) == ["Madrid/bars", "Madrid/walks", "Porto/cuisine", "Porto/sights"]
    for url, found in files.items():
        assert found == picture(url, LARGE if "cuisine" in url or "sights" in url else SMALL)
    assert len(files) == 8
    backend.change(offline=True, reset=True)
    return phone, content, files


def check_whole(store, trip):
    _, content, files = trip
    assert [(each.name, each.state) for each in store.catalogue.regions.list()] == [
        ("madrid", "complete"),
        ("porto", "complete"),
    ]
    assert shown(store, PLACES) == content
    assert pictures(store, PLACES) == files
    assert store.check() == []
    assert store.assets.verify().lost == []


def test_a_trip_is_restored_from_a_backup(device, backend, trip, tmp_path):
    phone = trip[0]
    phone.backup(tmp_path / "backup.satchel")
    phone.catalogue.regions.get("porto").delete()
    phone.assets.prune(max_bytes=0)
    (tmp_path / "elsewhere").mkdir()
    satchel.restore(tmp_path / "backup.satchel", tmp_path / "elsewhere" / "app.satchel")
    restored = device("elsewhere", NOW)
    check_whole(restored, trip)
    # Also over the phone that has lost it.
    phone.close()
    satchel.restore(tmp_path / "backup.satchel", tmp_path / "phone" / "app.satchel")
    check_whole(device("phone", NOW), trip)
    assert backend.counts["requests"] == 0


def test_a_trip_is_on_a_clone_of_the_phone(device, backend, trip, tmp_path):
    phone, content, files = trip
    phone.close()
    shutil.copytree(tmp_path / "phone", tmp_path / "clone")
    clone = device("clone", NOW)
    check_whole(clone, trip)
    # Each goes its own way: what one deletes, the other has.
    clone.catalogue.regions.get("porto").delete()
    check_whole(device("phone", NOW), trip)
    assert [each.name for each in clone.catalogue.regions.list()] == ["madrid"]
    assert backend.counts["requests"] == 0

    # A clone of the file alone has no pictures that were files. It says so, and gets these, nothing else.
    (tmp_path / "half").mkdir()
    shutil.copy(tmp_path / "phone" / "app.satchel", tmp_path / "half")
    half = device("half", NOW)
    assert len(half.assets.verify().lost) == 4
    states = {each.name: (each.state, each.size.assets_left) for each in half.catalogue.regions.list()}
    assert states == {"madrid": ("complete", 0), "porto": ("partial", 4)}
    assert shown(half, PLACES) == content
    backend.change(offline=False, size=LARGE, sections=["cuisine", "sights"])
    with satchel.HTTPSource(f"{backend.url}/content") as source:
        report = half.catalogue.regions.get("porto").download(source)
    assert (report.state, report.requests, report.assets) == ("complete", 0, 4)
    assert pictures(half, PLACES) == files
    assert {each["path"].split("/")[1] for each in backend.counts["seen"]} == {"asset"}


def test_a_trip_is_recovered_from_a_damaged_phone(device, backend, trip, tmp_path):
    phone, content, files = trip
    phone.close()
    # The list of tables is lost.
    damaged = tmp_path / "phone" / "app.satchel"
    with damaged.open("r+b") as file:
        file.seek(100)
        file.write(bytes(4096 - 100))
    (tmp_path / "recovered").mkdir()
    report = satchel.recover(damaged, tmp_path / "recovered" / "app.satchel")
    assert report.complete
    recovered = device("recovered", NOW)
    check_whole(recovered, trip)

    # A part of the content is lost: what is missing is named, and downloaded.
    shutil.copytree(tmp_path / "recovered", tmp_path / "again")
    recovered.close()
    damaged = tmp_path / "recovered" / "app.satchel"
    with damaged.open("r+b") as file:
        pages = damaged.stat().st_size // 4096
        for page in range(2, pages, 5):
            file.seek(page * 4096)
            file.write(bytes(4096))
    (tmp_path / "rest").mkdir()
    satchel.recover(damaged, tmp_path / "rest" / "app.satchel")
    rest = device("rest", NOW)
    assert rest.check() == []
    with satchel.HTTPSource(f"{backend.url}/content") as source:
        for name, place, size, sections in (
            ("porto", PORTO, LARGE, ["cuisine", "sights"]),
            ("madrid", MADRID, SMALL, ["bars", "walks"]),
        ):
            backend.change(offline=False, size=size, sections=sections)
            region = rest.catalogue.regions.create(name, [place])
            assert region.download(source).state == "complete"
    assert shown(rest, PLACES) == content
    assert pictures(rest, PLACES) == files
