"""`satchel store stats`: sizes and pending changes."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from conftest import row, story

FILL = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    store.state.set("theme", "dark")
    store.state.list("searches").push("kepler")
    store.state.members("favourites").add("algebra")
    store.state.scores("interests").add("music", 0.5)
    rooms = store.records("rooms", indexes=["seats"])
    for number in range(100):
        rooms.put(f"room-{number}", {"seats": number, "text": "x" * 3000})
    for number in range(50):
        rooms.delete(f"room-{number}")
    capital = {"text": "Lisboa", "_storage": {"entity_id": "c", "scope": "country", "ttl_hours": 1}}
    content = {"Capital": capital}
    store.catalogue.persist({"country_code": "PT"}, {"section": "facts", "content": content})
"""


@pytest.fixture
def stats(run):
    def stats(name="planner.satchel", **options):
        return run("stats", name, "--json", subject="store", **options).json

    return stats


def subjects(found):
    return {subject["name"]: subject for subject in found["subjects"]}


def test_sizes_add_up(stats, planner):
    subprocess.run([sys.executable, "-c", FILL, planner.path], check=True)
    found = stats()
    parts = [subject["bytes"] for subject in found["subjects"]]
    assert parts == sorted(parts, reverse=True)
    assert sum(parts) == (found["pages"] - found["free_pages"]) * found["page_size"]
    assert found["free_pages"] > 0
    assert found["file_bytes"] == sum(
        os.path.getsize(path) for path in planner.folder.glob("planner.satchel*") if "shm" not in path.name
    )
    by_name = subjects(found)
    assert by_name["records"]["counts"] == {"collections": 2, "records": 53}
    assert by_name["state"]["counts"] == {"values": 1, "members": 1, "scores": 1, "items": 1}
    assert by_name["catalogue"]["counts"] == {"places": 1, "entities": 1}
    assert by_name["records"]["bytes"] > 50 * 3000
    assert (found["spooled"], found["outbox_damages"], found["rejected"]) == (0, [], 0)


def test_collections(stats, planner):
    subprocess.run([sys.executable, "-c", FILL, planner.path], check=True)
    courses, rooms = stats()["collections"]
    lines = planner("export", "-", "--lines").lines
    documents = sum(len(line.split('"document":', 1)[1]) - 1 for line in lines)
    expected = {"version": 1, "pending": 0, "conflicts": 0}
    assert courses == {"name": "courses", "records": 3, "bytes": courses["bytes"], **expected}
    # Documents are stored with their white space.
    assert documents <= courses["bytes"] < documents + 30
    assert rooms == {"name": "rooms", "records": 50, "bytes": rooms["bytes"], **expected}
    assert rooms["bytes"] > 50 * 3000


def test_photos_and_stories(run, stats, pictures):
    pictures.take(*(row(f"IMG_{number}.jpg") for number in range(7)))
    by_name = subjects(stats(pictures.store.name))
    assert by_name["photos"]["counts"] == {"directories": 1, "photos": 7}
    source = "import satchel, sys\nsatchel.open(sys.argv[1]).stories(sys.argv[2]).load_all()"
    (pictures.pictures / "tale.json").write_text(json.dumps(story()))
    subprocess.run([sys.executable, "-c", source, pictures.store, pictures.pictures], check=True)
    by_name = subjects(stats(pictures.store.name))
    assert by_name["stories"]["counts"] == {"directories": 1, "stories": 1}
    assert by_name["stories"]["bytes"] > 0
    assert run("check", pictures.store.name, subject="store").out.endswith("sound\n")


def test_text_output(run, planner):
    result = run("stats", planner.name, subject="store")
    assert any(line.endswith("  records: 1 collection, 3 records") for line in result.lines)
    [courses] = [line.split() for line in result.lines if line.endswith("  courses")]
    assert (courses[0], courses[2:5]) == ("3", ["bytes", "0", "0"])
    assert any(line.startswith("file      ") for line in result.lines)
    assert "spooled   0 changes in the outbox file" in result.lines
    assert result.err == ""


def test_reading_changes_nothing(run, planner):
    before = planner.path.read_bytes()
    run("stats", planner.name, subject="store")
    assert planner.path.read_bytes() == before


def test_spooled_changes_need_attention(run, stats, spooled):
    assert stats(code=1)["spooled"] == 1
    assert "1 change in the outbox file" in run("stats", spooled.name, subject="store", code=1).out
    path = spooled.folder / "planner.satchel.outbox"
    data = path.read_bytes()
    path.write_bytes(data[:-3])
    found = stats(code=1)
    assert (found["spooled"], len(found["outbox_damages"])) == (0, 1)
    assert "incomplete entry" in found["outbox_damages"][0]
    path.write_bytes(data)
    spooled.take(("next", {}))
    assert not path.exists()
    assert stats()["spooled"] == 0
    # Drained changes do not count again.
    path.write_bytes(data)
    assert stats()["spooled"] == 0
    path.unlink()
    path.mkdir()
    assert "not a regular file" in stats(code=1)["outbox_damages"][0]


def test_rejected_changes_need_attention(run, stats, spooled):
    # Simulates an app that migrated the records meanwhile.
    with closing(sqlite3.connect(spooled.path)) as database:
        database.execute("UPDATE record_collection SET version = 2, shape = shape + 1")
        database.commit()
    spooled.take(("next", {}))
    found = stats(code=1)
    assert (found["spooled"], found["rejected"]) == (0, 1)
    assert subjects(found)["outbox"]["counts"] == {"rejected": 1}
    assert "rejected  1 change" in run("stats", spooled.name, subject="store", code=1).lines


def test_invalid_stores(run, tmp_path):
    (tmp_path / "note.txt").write_text("some text")
    assert "note.txt: not a SQLite database" in run("stats", "note.txt", subject="store", code=2).err
    assert "nowhere.satchel: does not exist" in run("stats", "nowhere.satchel", subject="store", code=2).err
