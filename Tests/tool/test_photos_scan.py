"""`satchel photos scan` and `status`: real directories, real pictures."""

import hashlib
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import ROOT, TOOL, watched

FIXTURES = ROOT / "Tests/Fixtures/photos"


def test_a_scan_finds_each_photo_once(pictures):
    for fixture in FIXTURES.iterdir():
        shutil.copy(fixture, pictures.pictures)
    total = len(list(FIXTURES.iterdir()))
    assert pictures("scan", "--json").json["added"] == total
    again = pictures("scan", "--json")
    assert again.json["unchanged"] == total
    assert again.json["bytes_read"] == 0
    found = {photo["filename"]: photo for photo in pictures.photos()}
    for fixture in FIXTURES.iterdir():
        assert found[fixture.name]["md5"] == hashlib.md5(fixture.read_bytes()).hexdigest()
        assert found[fixture.name]["size"] == fixture.stat().st_size
        assert found[fixture.name]["width"] > 0


def test_changes_are_reported(pictures):
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        pictures.add(name)
    line = pictures("scan").lines[-1]
    assert line.startswith("3 added, 0 changed, 0 unchanged, 0 missing, 3 dated by their file; ")
    pictures.add("d.jpg")
    (pictures.pictures / "a.jpg").unlink()
    (pictures.pictures / "b.jpg").rename(pictures.pictures / "bb.jpg")
    report = pictures("scan")
    assert "missing: a.jpg" in report.lines
    assert report.lines[-1].startswith("1 added, 1 changed, 1 unchanged, ")
    assert sorted(pictures.names()) == ["a.jpg", "bb.jpg", "c.jpg", "d.jpg"]
    assert pictures("scan", "--delete-missing", "--json").json["removed"] >= 1
    assert sorted(pictures.names()) == ["bb.jpg", "c.jpg", "d.jpg"]


def test_what_is_left_out_and_what_is_not_read(pictures):
    for name in ("a.jpg", "export/b.jpg", "@eaDir/c.jpg"):
        (pictures.pictures / name).parent.mkdir(exist_ok=True)
        pictures.add(name)
    (pictures.pictures / "a.mov").write_bytes(b"film")
    (pictures.pictures / "notes.pdf").write_bytes(b"notes")
    lines = pictures("scan", "--exclude", "export/").lines
    assert "not read: 1 pdf" in lines
    assert "1 added" in lines[-1]
    assert "1 films, 2 left out" in lines[-1]


def test_an_empty_folder_is_refused_and_a_moved_one_followed(pictures, run):
    for name in ("a.jpg", "b.jpg"):
        pictures.add(name)
    pictures("scan")
    moved = pictures.pictures.with_name("moved")
    pictures.pictures.rename(moved)
    pictures.pictures.mkdir()
    assert "is its disk mounted" in pictures("scan", "--delete-missing", code=2).err
    assert pictures("move", str(moved)).out == f"{pictures.pictures} is now {moved}\n"
    assert "has no catalogue" in pictures("query", code=2).err
    scanned = run("scan", str(pictures.store), str(moved), "--json", subject="photos").json
    assert scanned["unchanged"] == 2


def test_no_store_is_created_without_create(pictures, run):
    store = pictures.folder / "typo.satchel"
    result = run("scan", str(store), str(pictures.pictures), subject="photos", code=2)
    assert result.err == f"satchel: {store}: does not exist; --create creates it\n"
    for command in ("status", "query", "detach"):
        result = run(command, str(store), str(pictures.pictures), subject="photos", code=2)
        assert result.err == f"satchel: {store}: does not exist\n"
    nowhere = str(pictures.folder / "nowhere")
    for words in (["scan", nowhere], ["import", nowhere], ["import", str(pictures.pictures), nowhere]):
        result = run(words[0], "--create", str(store), *words[1:], subject="photos", code=2)
        assert result.err.endswith(": does not exist\n")
    assert not store.exists()


def test_an_invalid_directory(pictures, run):
    pictures("scan")
    for place in (pictures.folder / "nowhere", pictures.store):
        result = run("scan", str(pictures.store), str(place), subject="photos", code=2)
        assert result.out == ""
        assert result.err.startswith("satchel: ")
        assert result.err.count("\n") == 1
    status = run("status", str(pictures.store), str(pictures.folder / "nowhere"), subject="photos", code=2)
    assert "no catalogue of" in status.err


def test_links_are_reported_without_failure_and_unreadable_files_with(pictures):
    pictures.add("a.jpg")
    (pictures.pictures / "link.jpg").symlink_to(pictures.pictures / "a.jpg")
    assert "skipped: link.jpg: a link, which is not followed" in pictures("scan").lines
    pictures.add(b"caf\xe9.jpg")
    result = pictures("scan", code=1)
    assert any(line.startswith("skipped: caf\ufffd.jpg: ") for line in result.lines)
    report = pictures("scan", "--json", code=1).json
    assert (report["unchanged"], report["skipped_count"], len(report["skipped"])) == (1, 2, 2)


HOSTILE = [
    "\x1b[31mred\x1b]0;title\x07.jpg",
    'line\nbreak, and "quote".jpg',
    "c1\x9b31m\x85.jpg",
    "-rf.jpg",
    "=1+1.jpg",
]
CONTROLS = {chr(number) for number in [*range(32), *range(127, 160)]}


def test_file_names_do_not_control_the_terminal(pictures):
    for name in HOSTILE:
        pictures.add(name)
        (pictures.pictures / f"link {name}").symlink_to("/nowhere")
    arguments = [str(pictures.store), str(pictures.pictures)]
    scan = pictures("scan")
    texts = [scan.out]
    for form in ([], ["--json"], ["--json-lines"]):
        texts.append(pictures("query", *form).out)
    for text in texts:
        assert not (set(text) - {"\n"}) & CONTROLS
    assert sorted(pictures.names()) == sorted(HOSTILE)
    # A line break in a name does not add a row.
    assert len(pictures("query").lines) == len(HOSTILE) + 1
    on_terminal = watched(["query", *arguments, "--csv"], pictures.folder, subject="photos")
    assert not set(on_terminal) & {"\x1b", "\x07", "\x9b", "\x85"}


def test_the_table_of_shards_adds_up(pictures):
    for number in range(40):
        pictures.add(f"{number}.jpg")
    pictures("scan")
    lines = pictures("status", "--shards").lines
    start = next(place for place, line in enumerate(lines) if line.split()[:1] == ["shard"])
    cells = [line.split() for line in lines[start + 1 : start + 18]]
    assert [cell[0] for cell in cells] == [*"0123456789abcdef", "all"]
    assert sum(int(cell[1]) for cell in cells[:16]) == int(cells[16][1]) == 40
    for cell in cells[:16]:
        assert cell[2:] == ["upload" if int(cell[1]) else "-", "never"]
    status = pictures("status", "--json").json
    assert (status["photos"], status["conflicts"], status["last_sync"]) == (40, 0, None)
    assert [shard["photos"] for shard in status["shards"]] == [int(cell[1]) for cell in cells[:16]]
    assert [shard["pending"] for shard in status["shards"]] == [cell[1] != "0" for cell in cells[:16]]
    assert status["directory"] == str(pictures.pictures)


def test_ten_thousand_photos(pictures):
    for number in range(10_000):
        pictures.add(f"IMG_{number:05}.jpg")
    assert pictures("scan", "--json").json["added"] == 10_000
    assert pictures("scan", "--json").json["unchanged"] == 10_000
    names = pictures.names("--order", "filename")
    assert names == [f"IMG_{number:05}.jpg" for number in range(10_000)]


@pytest.fixture
def endless(pictures):
    """A directory whose scan takes long: a few photos and a huge sparse file."""
    for number in range(20):
        pictures.add(f"{number:02}.jpg")
    with open(pictures.pictures / "huge.jpg", "wb") as file:
        file.truncate(200 << 30)
    return pictures


def scan(pictures, **options):
    arguments = ["photos", "scan", "--create", str(pictures.store), str(pictures.pictures), "--json"]
    return subprocess.Popen([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def reads_the_endless_file(process):
    """Waits until a scan has read all other photos and has had only the huge file open for some time."""
    end = time.monotonic() + 120
    alone = 0
    while alone < 50:
        assert process.poll() is None
        assert time.monotonic() < end
        alone = alone + 1 if photos_open(process) == {"huge.jpg"} else 0
        time.sleep(0.01)


def photos_open(process):
    found = set()
    for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(descriptor.readlink().name)
    return {name for name in found if name.endswith(".jpg")}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_scan_keeps_what_it_found(endless, number):
    with scan(endless) as process:
        reads_the_endless_file(process)
        process.send_signal(number)
        # Reading all of the file would take far longer.
        out, err = process.communicate(timeout=120)
    # Terminated by the signal, so that a shell's loop stops, too.
    assert process.returncode == -number
    assert b'"cancelled": true' in out or b'"cancelled":true' in out
    assert err == b"satchel: interrupted: the photos found so far are kept\n"
    os.truncate(endless.pictures / "huge.jpg", 10)
    report = endless("scan", "--json").json
    assert (report["unchanged"], report["added"]) == (20, 1)
    endless.run("check", str(endless.store), subject="store")


def test_a_signal_that_is_ignored_at_start_stays_ignored(endless):
    os.truncate(endless.pictures / "huge.jpg", 600 << 20)
    with scan(endless, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as process:
        reads_the_endless_file(process)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    assert b"cancelled" in out


def test_a_terminal_shows_progress(endless):
    os.truncate(endless.pictures / "huge.jpg", 600 << 20)
    arguments = ["scan", "--create", str(endless.store), str(endless.pictures)]
    seen = watched(arguments, endless.folder, subject="photos")
    assert "█" in seen
    assert "░" in seen
    assert "of 21, " in seen
    assert "B\r\x1b[K" in seen or "\r\x1b[K21 added" in seen
    assert "█" not in watched([*arguments, "--force-rehash", "--quiet"], endless.folder, subject="photos")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--time-zone", "Berlin"], "--time-zone: Berlin is neither like +02:00, -0330 or Z"),
        (["--time-zone", "+25:00"], "--time-zone: +25:00 is neither like"),
        (["--parallel", "0"], "--parallel: 0 is not in 1 to 16"),
        (["--parallel", "17"], "--parallel: 17 is not in 1 to 16"),
        (["--bogus"], "Unknown option '--bogus'"),
    ],
)
def test_invalid_arguments(pictures, wrong, says):
    result = pictures("scan", *wrong, code=2)
    assert says in result.err
    assert result.out == ""
    assert not pictures.store.exists()


def test_time_zones_west_of_utc_are_options_values(pictures):
    pictures("scan", "--time-zone", "-03:30")
