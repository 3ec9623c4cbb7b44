"""The commands that create and download offline regions, with the backend of the tests."""

import re

import pytest
import satchel
from backend import Backend

PORTO = {"country_code": "PT", "admin_area": "Porto", "locality": "Porto"}


@pytest.fixture
def backend():
    """A backend of its own."""
    return Backend()


@pytest.fixture
def guide(tmp_path):
    """An empty store."""
    store = tmp_path / "guide.satchel"
    satchel.open(store).close()
    return str(store)


def test_a_region_is_created_downloaded_and_updated(run, guide, backend):
    content = f"{backend.url}/content"
    made = run("region", "create", guide, "porto", "--place", "PT/Porto/Porto", subject=None)
    assert made.lines == ["porto: 0 entities and 0 assets are here, 1 request left."]
    words = ["--from", content, "--header", "Authorization: Bearer secret", "--json"]
    report = run("region", "download", guide, "porto", *words, subject=None).json
    assert (report["state"], report["requests"], report["assets"]) == ("complete", 1, 4)
    seen = backend.counts["seen"]
    assert {name.lower(): text for name, text in seen[0]["headers"].items()}[
        "authorization"
    ] == "Bearer secret"
    with satchel.open(guide) as store:
        assert store.catalogue.has_cached(PORTO) == "exact"
        picture = store.catalogue.load(PORTO, "sights").content["sights 1"]["picture"]
        assert len(store.assets.get(picture).bytes()) == report["asset_bytes"] / 4
    lines = run("region", "download", guide, "porto", "--url", content, subject=None).lines
    assert lines[:2] == ["porto: complete", "0 requests: 0 sections stored, 0 not modified, 0 bytes"]
    backend.change(version=2)
    report = run("region", "update", guide, "porto", "--url", content, "--json", subject=None).json
    assert (report["requests"], report["refreshed"]) == (1, 2)


def test_what_belongs_to_a_region_is_given_by_options(run, guide):
    words = ["--at", "41.15,-8.61", "--place", "PT/Lisboa", "--location", '{"country_code": "ES"}']
    more = ["--section", "sights", "--section", "food", "--no-assets", "--within", "500", "--max-bytes", "9"]
    made = run("region", "create", guide, "trip", *words, *more, "--json", subject=None).json
    definition = made["definition"]
    assert definition["locations"] == [
        {"location": {"locality": "Lisboa", "country_code": "PT"}},
        {"location": {"latitude": 41.15, "longitude": -8.61}, "within": 500},
        {"location": {"country_code": "ES"}},
    ]
    assert (definition["sections"], definition["assets"], definition["max_bytes"]) == (
        ["sights", "food"], False, 9,
    )  # fmt: skip
    # The same again is the same region.
    run("region", "create", guide, "trip", *words, *more, subject=None)
    other = run("region", "create", guide, "trip", "--place", "PT", subject=None, code=1)
    assert "region trip: exists with another definition" in other.err
    for wrong, reason in [
        ([], "give a location with --place, --at or --location"),
        (["--place", "PT", "--within", "5"], "--within: needs a location with coordinates"),
        (["--at", "91,0"], "the latitude 91.0 is not within"),
        (["--place", "Porto"], "Porto is not a country code"),
        (["--at", "1,1", "--within=-1"], "-1.0 is not a distance"),
        (["--place", "PT", "--max-bytes=-1"], "must not be negative"),
    ]:
        assert reason in run("region", "create", guide, "x", *wrong, subject=None, code=2).err, wrong
    assert len(run("region", "list", guide, "--json", subject=None).json) == 1


def test_a_place_without_its_admin_area_is_the_delivered_one(run, guide):
    with satchel.open(guide) as store:
        store.catalogue.persist(PORTO, {"section": "sights", "content": {"a": 1}})
    made = run("region", "create", guide, "porto", "--place", "PT/Porto", "--json", subject=None).json
    assert made["definition"]["locations"] == [{"location": PORTO}]
    assert made["size"]["sections"] == 1


def test_what_fails_or_is_left_is_said_and_tried_again(run, guide, backend):
    content = f"{backend.url}/content"
    run("region", "create", guide, "porto", "--place", "PT/Porto", subject=None)
    for command in ("download", "update"):
        missing = run("region", command, guide, "absent", "--from", content, subject=None, code=1)
        assert "there is no region absent" in missing.err
    backend.change(faults=[{"fault": "status", "code": 404, "path": "/asset/", "times": 1}])
    first = run("region", "download", guide, "porto", "--from", content, subject=None, code=1)
    assert first.lines[0] == "porto: partial"
    assert re.match(r"failed: http://.*\.png: ", first.lines[-1])
    few = ["--max-bytes", "0", "--json"]
    again = run("region", "download", guide, "porto", "--from", content, *few, subject=None, code=1).json
    assert (again["waiting"], again["assets"]) == (1, 0)
    last = run("region", "download", guide, "porto", "--from", content, "--json", subject=None).json
    assert (last["assets"], last["state"]) == (1, "complete")
    for wrong, reason in [
        (["--header", "nonsense"], "a header is"),
        (["--max-bytes=-1"], "--max-bytes: -1 is negative"),
        (["--parallel", "0"], "--parallel: 0 is not in 1 to 16"),
    ]:
        words = ["region", "download", guide, "porto", "--from", content, *wrong]
        assert reason in run(*words, subject=None, code=2).err
    bad = run("region", "download", guide, "porto", "--from", "ftp://a.test", subject=None, code=2)
    assert "base_url" in bad.err


def test_a_certificate_of_the_users_own_is_trusted(run, guide, backend):
    run("region", "create", guide, "porto", "--place", "PT/Porto", "--no-assets", subject=None)
    words = ["region", "download", guide, "porto", "--from", f"{backend.secure}/content"]
    assert "certificate" in run(*words, subject=None, code=1).out
    # The request that failed waits; another region of the same place, too.
    run("region", "create", guide, "lisboa", "--place", "PT/Lisboa", "--no-assets", subject=None)
    words = ["region", "download", guide, "lisboa", "--from", f"{backend.secure}/content"]
    assert run(*words, "--ca-file", str(backend.ca_file), subject=None).lines[0] == "lisboa: complete"
