"""The guide on the family's tablet belongs to the tablet.

Ada has downloaded a trip on it and noted what she likes, with a picture of the guide and one of her own.
She signs out, Ben signs in, and deletes her account at last. The trip stays on the tablet, with its
pictures; what either of them wrote does not.
"""

import pytest
import satchel
from journey import DAY, Clock, documents, files_with
from trips import PLACES, PORTO, pictures, shown

NORWAY = {"country_code": "NO"}
OWN = b"a picture that Ada took " * 20_000


def test_a_trip_stays_when_users_come_and_go(device, backend, cloud, tmp_path):
    clock = Clock()
    tablet = device("tablet", clock)
    with satchel.HTTPSource(f"{backend.url}/content") as source:
        trip = tablet.catalogue.regions.create("trip", PLACES)
        assert trip.download(source).state == "complete"
        backend.change(sections=["ferries"])
        tablet.catalogue.refresh(NORWAY, source=source)
    tablet.catalogue.set_active_location(PORTO)
    content, files, whole = shown(tablet), pictures(tablet), trip.summary()
    backend.change(offline=True, reset=True)

    def check_trip():
        assert trip.summary() == whole
        assert (shown(tablet), pictures(tablet)) == (content, files)
        assert tablet.catalogue.has_cached(NORWAY) == "exact"
        assert tablet.catalogue.active_location() == PORTO
        assert tablet.assets.verify().lost == []
        assert tablet.check() == []

    # Ada's note refers to a picture of the guide, and to one of her own.
    notes = tablet.records("notes")
    mine = tablet.assets.put(OWN)
    liked = next(iter(content["Porto/sights"].values()))["picture"]
    notes.put("n", {"text": "what Ada likes", "mine": mine.json, "liked": liked})
    tablet.state.set("home", "Ada's home", synced=True)
    tablet.sync(cloud, "ada")
    check_trip()

    # She signs out: her picture goes, that of the guide stays.
    tablet.sign_out(cloud)
    check_trip()
    assert notes.count() == 0
    with pytest.raises(satchel.NotFound):
        tablet.assets.get(mine).bytes()
    assert files_with("a picture that Ada took", tmp_path / "tablet") == []
    assert files_with("what Ada likes", tmp_path / "tablet") == []

    # Ben signs in, and has the trip at once; then his account is deleted.
    notes.put("b", {"text": "what Ben likes", "liked": liked})
    assert tablet.sync(cloud, "ben").first_upload == 1
    check_trip()
    tablet.delete_account(cloud, "ben")
    assert list(documents(notes)) == ["b"]
    check_trip()
    tablet.sign_out(unsent="discard")
    assert notes.count() == 0
    check_trip()
    assert files_with("what Ben likes", tmp_path) == []

    # A guest deletes the trip: only what the screen shows is left, and Ada has her notes elsewhere.
    clock.wait(DAY)
    tablet.catalogue.set_active_location(NORWAY)
    deletion = trip.delete()
    assert (deletion.sections, deletion.bytes) == (whole.size.sections, whole.size.bytes)
    assert deletion.asset_bytes == whole.size.asset_bytes
    assert [each.location for each in tablet.catalogue.contexts()] == [NORWAY]
    new = device("new", clock)
    records = new.records("notes")
    new.sync(cloud, "ada", assets="all")
    assert new.assets.get(records.get("n")["mine"]).bytes() == OWN
    assert backend.counts["requests"] == 0
