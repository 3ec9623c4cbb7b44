"""`satchel demo`: a folder to play with, and the commands that it prints."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, TOOL
from pages import Page, check_harmless


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder of the demo, the directory that it is in, and what the demo printed."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run([TOOL, "demo", "my demo"], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return folder, done.stdout


def commands(text):
    """The commands that the demo printed."""
    return [line for line in text.splitlines() if line.startswith(TOOL)]


def test_it_prints_five_commands_with_titles(demo):
    _, text = demo
    lines = text.splitlines()
    assert lines[0] == "my demo: a guide, an album, a planner on two devices, and two tales. Try:"
    assert len(commands(text)) == 5
    for command in commands(text):
        assert lines[lines.index(command) - 1].startswith("# ")


SAYS = [
    ["What to eat, by locality", "Francesinha", "sauce of beer and tomato"],
    ["ribeira.jpg", "douro-at-dusk.jpg", "dom-luis.jpg", "2026-06-12 17:30", "360x240"],
    ["records: 1 uploaded, 1 merged", '"title":"Essay on Tycho Brahe"', '"due":"2027-03-10"'],
    ["the-ferry.twee:10:", "[self-choice]", "the-ferry.twee:16:", "[duplicate-choice-text]"],
    [],
]


@pytest.mark.parametrize("number", range(5))
def test_each_command_works_as_it_is_printed(demo, number):
    folder, text = demo
    command = commands(text)[number]
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for part in SAYS[number]:
        assert part in done.stdout, done.stdout


def test_the_commands_work_again(demo):
    folder, text = demo
    for command in commands(text):
        for _ in range(2):
            subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=True)


def test_the_report_of_the_demo_shows_what_there_is(demo):
    folder, text = demo
    subprocess.run(["bash", "-c", commands(text)[4]], cwd=folder, check=True)
    page = Page((folder / "my demo/report.html").read_text(encoding="utf-8"))
    check_harmless(page, has_script=False)
    assert "The check found no damage." in page.text("p")
    places = {"PT/Porto/Porto  41.1496,-8.611", "CN/Shanghai/Shanghai  31.2305,121.4737"}
    assert places <= set(page.text("h3"))
    assert {"2026-05", "2026-06", "2026-07", "trips"} <= set(page.text("th"))


def test_what_it_writes_is_sound(demo, run):
    folder, _ = demo
    for store in ("guide", "planner/laptop", "planner/phone"):
        assert run("check", folder / f"my demo/{store}.satchel", subject="store").out.endswith("sound\n")
    stories = run("stats", folder / "my demo/tales", "--json").json["files"]
    assert sorted(story["title"] for story in stories) == ["Stone Soup", "The Ferry"]
    assert run("lint", folder / "my demo/tales/stone-soup.json", "--strict").out == ""
    plan = run(
        "plan", folder / "my demo/guide.satchel", "--place", "PT/Porto", "--json", subject="catalogue", code=1
    ).json
    assert plan["today"]["expired"] == ["today:porto_weather", "today:porto_market"]
    assert plan["cuisine"]["expired"] == []


def test_the_photos_are_photos(demo, run):
    folder, _ = demo
    store, album = folder / "my demo/guide.satchel", folder / "my demo/album"
    photos = run("query", store, album, "--json", subject="photos").json
    assert len(photos) == 6
    for photo in photos:
        data = (album / photo["filename"]).read_bytes()
        assert (data[:4], data[-2:]) == (b"\xff\xd8\xff\xe0", b"\xff\xd9")
        assert (photo["width"], photo["height"], photo["camera_model"]) == (360, 240, "Demo camera")
        assert photo["photodate_source"] == "date_time_original"
        assert photo["photodate"] == photo["modified"]
        assert 38 < photo["latitude"] < 42
        assert -10 < photo["longitude"] < -8
    assert sum(photo["starred"] for photo in photos) == 2


def test_json_has_the_commands(run, tmp_path):
    found = run("demo", "d", "--json", subject=None).json
    assert found["folder"] == "d"
    assert len(found["commands"]) == 5
    assert found["commands"][0]["command"] == (
        f"{TOOL} catalogue show d/guide.satchel --place PT/Porto --section cuisine"
    )


def test_a_folder_that_is_not_empty_is_refused_by_name(run, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/.hidden").touch()
    done = run("demo", "full", subject=None, code=2)
    reason = "is not empty; the demo writes to a new folder, or to an empty one"
    assert done.err == f"satchel: full: {reason}\n"
    assert [path.name for path in (tmp_path / "full").iterdir()] == [".hidden"]
    (tmp_path / "file").touch()
    assert "file: is not a folder" in run("demo", "file", subject=None, code=2).err
    assert "no/where: no such file or directory" in run("demo", "no/where", subject=None, code=2).err
    for name in ("", "a\nb", b"\xff"):
        reason = "the name is empty, not UTF-8, or has control characters"
        assert reason in run("demo", name, subject=None, code=2).err


@pytest.mark.parametrize("name", ["empty", "it's a demo/", "-dash", "$(touch evil); é"])
def test_names_are_quoted(run, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    done = run("demo", "--", name, subject=None)
    [show, *_] = commands(done.out)
    start = "./" if name.startswith("-") else ""
    assert shlex.split(show)[3] == f"{start}{name.rstrip('/')}/guide.satchel"
    subprocess.run(["bash", "-c", show], cwd=tmp_path, check=True, capture_output=True)
    assert not (tmp_path / "evil").exists()


def test_the_tool_needs_nothing_but_itself(tmp_path):
    """A copy elsewhere, without the rest of the checkout."""
    (tmp_path / "satchel").write_bytes(Path(TOOL).read_bytes())
    (tmp_path / "satchel").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["satchel", "demo", "d"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert re.search(r"^satchel catalogue show d/guide\.satchel ", done.stdout, re.MULTILINE)
    assert str(ROOT) not in done.stdout
