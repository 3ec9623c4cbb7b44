"""`satchel report`: a page about a store, which loads nothing and shows nothing that is sensitive."""

import json
import re
import sqlite3
import time
from contextlib import closing

import pytest
import satchel
from conftest import row, watched
from pages import Page, check_harmless

PORTO = {"country_code": "PT", "admin_area": "Porto", "locality": "Porto"}
HOUR = 3_600_000
CELL = re.compile(r'<td role="cell" data-label="([^"]*)"[^>]*>(.*?)</td>')
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>‮gpj.exe⁦x⁩\u2028؜‏&amp;"
SECRET = "the number of a passport: C01X00T47"


def entity(name, scope="locality", hours=168):
    return {"text": name, "_storage": {"entity_id": f"facts:{name}", "scope": scope, "ttl_hours": hours}}


@pytest.fixture
def page(run, tmp_path):
    """The page about a store, and its text."""

    def page(store="app.satchel", *arguments, code=0):
        done = run("report", store, "-o", "page.html", *arguments, subject=None, code=code)
        assert done.out == ""
        text = (tmp_path / "page.html").read_text(encoding="utf-8")
        page = Page(text)
        page.source, page.err = text, done.err
        check_harmless(page, has_script=False)
        return page

    return page


def cells(page, heading):
    """The cells of the table's row that has a heading, by column."""
    for line in page.source.split('<tr role="row">')[1:]:
        if f">{heading}" in line.split("</th>")[0]:
            return dict(CELL.findall(line))
    raise AssertionError(f"there is no row {heading}")


def when(milliseconds):
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(milliseconds // 1000))


def test_places_with_what_they_hold_and_when_it_expires(page, tmp_path):
    now = time.time_ns() // 1_000_000
    before = now - 48 * HOUR
    with satchel.open(tmp_path / "app.satchel", clock=lambda: before) as store:
        content = {"a": entity("a", hours=1), "b": entity("b", hours=2), "c": entity("c", hours=96)}
        store.catalogue.persist(PORTO, {"section": "news", "display_title": "News", "content": content})
    with satchel.open(tmp_path / "app.satchel", clock=lambda: now) as store:
        facts = {"d": entity("d", "country", 240), "e": entity("e", hours=480)}
        store.catalogue.persist(PORTO, {"section": "facts", "content": facts})
        store.catalogue.persist({"country_code": "CN"}, {"section": "rail", "content": {}})
        store.catalogue.set_active_location(PORTO)
    found = page()
    assert set(found.text("h3")) == {"PT/Porto/Porto", "CN"}
    assert any(text.startswith("the active location, 5 entities, ") for text in found.text("p"))
    assert cells(found, "<bdi>News") == {
        "Fresh": "1", "Expired": "2", "Missing": "0", "Next to expire": when(before + 96 * HOUR),
        "Delivered": when(before),
    }  # fmt: skip
    facts = cells(found, "<code>facts</code>")
    assert (facts["Fresh"], facts["Next to expire"]) == ("2", when(now + 240 * HOUR))


def test_regions_and_freshness(page, tmp_path):
    now = time.time_ns() // 1_000_000
    oldest, clock = now - 48 * HOUR, [now - 48 * HOUR]

    def source(request):
        if request.section == "news":
            raise satchel.Retry(7200, f"out of order {HOSTILE}")
        return satchel.Fetched({"section": "facts", "content": {"a": entity("a", hours=240)}}, etag="1")

    with satchel.open(tmp_path / "app.satchel", clock=lambda: clock[0]) as store:
        store.catalogue.regions.create("Porto & Gaia", [PORTO], sections=["facts"]).download(source)
        store.catalogue.regions.create("later", [{"country_code": "CN"}])
        clock[0] = now
        [failure] = store.catalogue.refresh(PORTO, ["news"], source=source).failed
    found = page()
    size = cells(found, "Porto &amp; Gaia")
    assert (size["State"], size["Entities"], size["Assets"]) == ("complete", "1", "0")
    assert (size["Here"].split()[1], size["Downloaded"]) == ("bytes", when(oldest))
    later = cells(found, "later")
    assert (later["State"], later["Entities"], later["Here"]) == ("new", "0", "0 bytes")
    assert "UTC" not in later["Downloaded"]
    assert f'<dt>Oldest content</dt><dd dir="auto">{when(oldest)}</dd>' in found.source
    assert '<dt>Requests</dt><dd dir="auto">1</dd>' in found.source
    failed = cells(found, "pt_porto_porto")
    assert (failed["Section"], failed["Next attempt"]) == ("news", when(failure.retry_at))
    assert "out of order &lt;script&gt;" in failed["Message"]


def test_photos_by_month_and_the_last_sync(page, run, pictures, remote):
    dates = {"a": 1_717_200_000, "b": 1_719_791_999, "c": 1_719_792_000, "d": 0}
    pictures.take(*(row(f"{name}.jpg", seconds) for name, seconds in dates.items()))
    remote.sync(pictures)
    found = page(pictures.store.name)
    assert [cells(found, month)["Photos"] for month in ("2024-06", "2024-07", "1970-01")] == ["2", "1", "1"]
    assert len([svg for svg in found.all("svg") if svg["class"] == "bar"]) == 3
    assert str(pictures.pictures) in found.text("h3")
    synced = cells(found, f"Photos in {pictures.pictures}")
    assert (synced["User"], synced["Changes to upload"]) == ("ana", "0")
    assert synced["Last sync"].endswith(" UTC")


def test_many_months_are_years(page, pictures):
    month = 2_629_746
    pictures.take(*(row(f"{number}.jpg", 1_500_000_000 + number * month) for number in range(40)))
    found = page(pictures.store.name)
    assert "Photos by year" in found.text("caption")
    assert cells(found, "2018")["Photos"] == "12"


def test_collections_with_counts_and_sizes(page, tmp_path):
    with satchel.open(tmp_path / "app.satchel") as store:
        tasks = store.records("tasks", on_conflict="merge")
        for number in range(3):
            tasks.put(f"t{number}", {"text": "x" * 1000})
        store.records("cache", synced=False)
        store.sync(satchel.remote.Directory(tmp_path / "remote"), "ana")
        tasks.put("t0", {"text": "y"})
    found = page()
    assert cells(found, "tasks")["Records"] == "3"
    assert cells(found, "tasks")["Documents"] == "2.0 kB"
    assert (cells(found, "tasks")["To upload"], cells(found, "tasks")["Sync"]) == ("1", "merge")
    assert cells(found, "cache")["Sync"] == "not synchronized"
    synced = cells(found, "Records and state")
    assert (synced["User"], synced["Changes to upload"]) == ("ana", "1")
    assert synced["Last sync"].endswith(" UTC")
    assert cells(found, "records")["Contents"] == "2 collections, 3 records"


def test_sensitive_values_are_never_shown(page, tmp_path):
    with satchel.open(tmp_path / "app.satchel") as store:
        store.state.set_key(bytes(range(32)))
        store.state.set("passport", SECRET, sensitive=True)
        store.state.set("theme", {"name": "dark"})
        store.records("people", sensitive=["passport"]).put("ana", {"passport": SECRET})
    found = page()
    assert "C01X00T47" not in found.source
    assert cells(found, "passport") == {"Value": "encrypted, not shown"}
    assert cells(found, "theme") == {"Value": "<code>{&quot;name&quot;:&quot;dark&quot;}</code>"}
    assert cells(found, "people")["Encrypted fields"] == "passport"


def test_nothing_of_a_store_becomes_markup(page, tmp_path):
    name = tmp_path / "a<b>&.satchel"
    with satchel.open(name) as store:
        place = {"country_code": "PT", "locality": HOSTILE}
        section = {"section": HOSTILE, "display_title": HOSTILE, "content": {"a": entity(HOSTILE)}}
        store.catalogue.persist(place, section)
        store.state.set(HOSTILE[:80], HOSTILE)
    found = page(name.name, "--title", HOSTILE)
    assert found.text("title")[0].startswith("<script>alert(1)</script>")
    assert found.all("img") == found.all("script") == []
    assert "&lt;script&gt;alert(1)" in found.source


def test_an_empty_store_has_a_page(page, tmp_path):
    satchel.open(tmp_path / "app.satchel").close()
    found = page()
    assert {
        "Nothing was delivered for a place.", "There are no photo catalogues.",
        "There are no offline regions.", "There is no content, and no request failed.",
        "There are no collections of records.", "There are no values.", "The store was not synchronized.",
        "The check found no damage.",
    } <= set(found.text("p"))  # fmt: skip
    assert found.text("h1") == ["app.satchel"]


def test_links_lead_to_sections(page, tmp_path):
    satchel.open(tmp_path / "app.satchel").close()
    found = page()
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link["href"][1:] for link in found.all("a")} <= set(ids)


def test_damage_is_listed_and_the_rest_is_shown(page, tmp_path):
    with satchel.open(tmp_path / "app.satchel") as store:
        store.catalogue.persist(PORTO, {"section": "facts", "content": {"a": entity("a")}})
        store.records("tasks").put("t", {"text": "x"})
        store.state.set("theme", "dark")
    with closing(sqlite3.connect(tmp_path / "app.satchel")) as database:
        database.execute("UPDATE record SET body = x'7b' WHERE key = 'value/theme'")
        database.commit()
    found = page(code=1)
    assert "The check has 1 finding." in found.text("p")
    assert "the check has 1 finding, which the page lists" in found.err
    assert cells(found, "tasks")["Records"] == "1"
    assert "PT/Porto/Porto" in found.text("h3")
    assert "cannot be read" in found.text("strong")


def test_reading_changes_nothing(run, planner):
    before = planner.path.read_bytes()
    text = run("report", planner.name, subject=None).out
    assert text.startswith("<!DOCTYPE html>")
    assert text.endswith("</html>\n")
    assert planner.path.read_bytes() == before
    assert "courses" in Page(text).text("th")


def test_it_is_not_written_to_a_terminal(planner):
    seen = watched([planner.name], planner.folder, subject="report", codes=(2,))
    assert seen.startswith("satchel: the page is HTML: name its file with -o")


def test_what_cannot_be_read_or_written(run, planner, tmp_path):
    (tmp_path / "note.txt").write_text("some text")
    assert "note.txt: not a SQLite database" in run("report", "note.txt", subject=None, code=2).err
    assert "nowhere.satchel: does not exist" in run("report", "nowhere.satchel", subject=None, code=2).err
    words = ["report", planner.name, "-o", "no/page.html"]
    assert "no/page.html: no such file or directory" in run(*words, subject=None, code=2).err
    assert not (tmp_path / "nowhere.satchel").exists()
    assert json.loads(run("list", planner.name, "--json", subject="records").out)
