from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Dict, List, Set, Tuple

import pytest
from helpers import HOUR, SHANGHAI, SINGAPORE, Clock, section, storage

import satchel
from satchel.catalogue.regions import RegionProgress


def sent(name: str, hours: float = 168, **more: Any) -> Dict[str, Any]:
    return section({"A": {"v": name, **more, **storage(f"{name}:a", "locality", hours)}}, name)


def test_a_region_is_created_listed_defined_and_deleted(catalogue: satchel.Catalogue) -> None:
    regions = catalogue.regions
    assert regions.list() == []
    catalogue.persist(SHANGHAI, sent("food"))
    trip = regions.create("trip", [SHANGHAI])
    assert (trip.name, trip.state) == ("trip", "new")
    assert regions.create("trip", [SHANGHAI]).name == "trip"
    with pytest.raises(satchel.ConstraintViolation):
        regions.create("trip", [SINGAPORE])
    trip.define([SHANGHAI, SINGAPORE], sections=["food"], assets=False, max_bytes=10**6, max_asset_bytes=10)
    [summary] = regions.list()
    assert summary == trip.summary() == regions.get("trip").summary()
    assert summary.definition["sections"] == ["food"]
    assert (summary.size.requests, summary.size.sections, summary.size.entities) == (2, 1, 1)
    deletion = trip.delete()
    assert (deletion.sections, deletion.entities) == (1, 1)
    assert deletion.bytes > 0
    assert catalogue.contexts() == []
    with pytest.raises(satchel.NotFound):
        trip.summary()
    with pytest.raises(satchel.NotFound):
        regions.get("trip")


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"locations": []}, "/locations"),
        ({"locations": [{"locality": "x"}]}, "/locations/0"),
        ({"locations": [SHANGHAI], "sections": []}, "/sections"),
        ({"locations": [{"country_code": "cn"}], "within": 5}, "/locations/0/within"),
        ({"locations": [{"country_code": "cn"}], "level": "locality"}, "/locations/0/level"),
        ({"locations": SHANGHAI}, "locations"),
        ({"locations": [SHANGHAI], "sections": "food"}, "sections"),
        ({"locations": [SHANGHAI], "max_bytes": -1}, "max_bytes"),
    ],
)
def test_an_invalid_definition_is_refused(
    catalogue: satchel.Catalogue, arguments: Dict[str, Any], place: str
) -> None:
    with pytest.raises(satchel.InvalidArgument, match=place):
        catalogue.regions.create("trip", **arguments)
    assert catalogue.regions.list() == []


@pytest.mark.parametrize("name", ["", "n" * 129, "a\nb"])
def test_an_invalid_name_is_refused(catalogue: satchel.Catalogue, name: str) -> None:
    with pytest.raises(satchel.InvalidArgument, match="name"):
        catalogue.regions.create(name, [SHANGHAI])


def test_the_locations_of_a_region(catalogue: satchel.Catalogue) -> None:
    locations = [{"country_code": "cn", "locality": f"Town {number}"} for number in range(1001)]
    with pytest.raises(satchel.InvalidArgument, match="/locations"):
        catalogue.regions.create("trip", locations)
    assert catalogue.regions.create("trip", locations[:1000]).state == "new"


def test_no_prune_removes_a_region_which_stays_readable(catalogue: satchel.Catalogue, clock: Clock) -> None:
    catalogue.persist(SHANGHAI, sent("food", hours=1))
    catalogue.persist(SINGAPORE, sent("food", hours=1))
    catalogue.regions.create("trip", [SHANGHAI])
    clock.advance(2 * HOUR)
    bytes_here = catalogue.regions.get("trip").summary().size.bytes
    receipt = catalogue.prune(max_bytes=1, contexts_unused_for=0, unreferenced=True)
    assert (receipt.entities, receipt.pinned_bytes, receipt.over_budget) == (1, bytes_here, bytes_here - 1)
    found = catalogue.load(SHANGHAI, "food")
    assert found is not None
    assert (found.content, found.expired) == ({"A": {"v": "food"}}, ["food:a"])
    assert len(catalogue.contexts()) == 1


def test_a_region_with_a_picture_goes_from_store_to_store(tmp_path: Path, clock: Clock) -> None:
    small, large = b"small" * 10, b"large" * 50_000
    with satchel.open(tmp_path / "one.satchel", clock=clock) as store:
        pictures = [store.assets.put(each, type="image/jpeg").json for each in (small, large)]
        store.catalogue.persist(SHANGHAI, sent("food", small=pictures[0], large=pictures[1]), etag="7")
        store.catalogue.persist(SINGAPORE, sent("food"))
        store.state.set("secret", "of the user")
        report = store.catalogue.regions.create("trip", [SHANGHAI]).export(tmp_path / "trip.region")
        assert (report.sections, report.entities, report.assets, report.missing_assets) == (1, 1, 2, 0)
        assert report.bytes == (tmp_path / "trip.region").stat().st_size
    assert sorted(path.name for path in tmp_path.iterdir() if "region" in path.name) == ["trip.region"]
    assert b"of the user" not in (tmp_path / "trip.region").read_bytes()
    (tmp_path / "trip.region").chmod(0o400)
    with satchel.open(tmp_path / "two.satchel", clock=clock) as store:
        region = store.catalogue.regions.import_(tmp_path / "trip.region")
        assert (region.name, region.state) == ("trip", "complete")
        found = store.catalogue.load(SHANGHAI, "food")
        assert found is not None
        assert found.etag == "7"
        for name, content in (("small", small), ("large", large)):
            asset = store.assets.get(found.content["A"][name])
            assert asset.sha256 == hashlib.sha256(content).hexdigest()
            assert asset.bytes() == content
        assert store.check() == []
    assert sorted(path.name for path in tmp_path.iterdir() if "region" in path.name) == ["trip.region"]


def test_a_file_that_is_not_a_regions_is_refused(catalogue: satchel.Catalogue, tmp_path: Path) -> None:
    regions = catalogue.regions
    (tmp_path / "text").write_text("no store")
    with satchel.open(tmp_path / "store.satchel"):
        pass
    for name in ("text", "store.satchel"):
        with pytest.raises(satchel.ForeignFile):
            regions.import_(tmp_path / name)
    with pytest.raises(satchel.NotFound):
        regions.import_(tmp_path / "absent")
    with pytest.raises(satchel.ForeignFile):
        regions.create("trip", [SHANGHAI]).export(tmp_path / "text")
    assert (tmp_path / "text").read_text() == "no store"


class Backend:
    """A source that knows two places, whose entity has a picture at a URL."""

    def __init__(self) -> None:
        self.asked: List[Tuple[Any, Any]] = []
        self.fetched: List[str] = []
        self.broken: Set[str] = set()

    def content(self, request: satchel.ContentRequest) -> Any:
        self.asked.append((request.location["locality"], request.etag))
        if request.location["locality"] not in (SHANGHAI["locality"], "Suzhou"):
            raise satchel.NotFoundAtSource
        if request.etag == "1":
            return satchel.NOT_MODIFIED
        url = f"https://pictures.test/{request.location['locality']}"
        return satchel.Fetched({"sections": [sent("food", image={"_asset": {"url": url}})]}, etag="1")

    def asset(self, request: satchel.assets.AssetRequest) -> bytes:
        self.fetched.append(request.url)
        if request.url in self.broken:
            raise OSError("no answer")
        return request.url.encode() * 1000


SUZHOU = {"country_code": "cn", "admin_area": "Jiangsu", "locality": "Suzhou"}
BEIJING = {"country_code": "cn", "admin_area": "Beijing", "locality": "Beijing"}


def test_a_region_is_downloaded_and_updated(tmp_path: Path, clock: Clock) -> None:
    backend = Backend()
    seen: List[RegionProgress] = []
    with satchel.open(tmp_path / "one.satchel", clock=clock) as store:
        region = store.catalogue.regions.create("trip", [SHANGHAI, SUZHOU, BEIJING])
        assert region.estimate(backend).requests_left == 3
        assert backend.asked == []
        backend.broken = {"https://pictures.test/Suzhou"}
        report = region.download(backend, progress=seen.append, parallel=2)
        assert (report.state, report.requests, report.refreshed, report.not_found) == ("partial", 3, 2, 1)
        assert (report.assets, len(report.failed)) == (1, 1)
        assert "no answer" in report.failed[0].message
        assert report.failed == region.summary().failed
        assert [each.items_done for each in seen] == sorted(each.items_done for each in seen)
        assert [each.bytes_done for each in seen] == sorted(each.bytes_done for each in seen)
        backend.broken = set()
        assert region.download(backend).state == "complete"
        assert (len(backend.asked), len(backend.fetched)) == (3, 3)
        assert region.update(backend, parallel=1).unchanged == 2
        assert backend.asked[3:] == [("Shanghai", "1"), ("Suzhou", "1")]
        assert region.state == "complete"


def test_a_download_is_cancelled_and_goes_on(tmp_path: Path, clock: Clock) -> None:
    backend = Backend()
    with satchel.open(tmp_path / "one.satchel", clock=clock) as store:
        region = store.catalogue.regions.create("trip", [SHANGHAI, SUZHOU])
        with pytest.raises(satchel.Cancelled):
            region.download(backend, progress=lambda now: now.items_done < 1, parallel=1)
        with pytest.raises(ZeroDivisionError):
            region.download(backend, progress=lambda now: 1 // (2 - now.items_done), parallel=1)
        assert region.download(backend).state == "complete"
        assert len(backend.asked) == len(set(backend.asked)) == 2
        assert len(backend.fetched) == len(set(backend.fetched)) == 2


def test_the_limit_of_a_region_names_it(tmp_path: Path, clock: Clock) -> None:
    with satchel.open(tmp_path / "one.satchel", clock=clock) as store:
        region = store.catalogue.regions.create("trip", [SHANGHAI, SUZHOU], max_bytes=40_000)
        with pytest.raises(satchel.Full, match="trip") as raised:
            region.download(Backend())
        assert (raised.value.id, raised.value.limit) == ("trip", 40_000)
        assert region.summary().size.assets == 1
