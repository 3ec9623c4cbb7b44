"""`satchel photos trash`, and what `status` and `query` say of files, cameras, places and folders."""

import json

import pytest
from remotes import Remote


@pytest.fixture
def library(pictures):
    """Six pictures in two folders, scanned."""
    (pictures.pictures / "trips").mkdir()
    for number in range(6):
        pictures.add(f"{'trips/' if number < 2 else ''}{number}.jpg")
    pictures("scan")
    return pictures


def test_removed_rows_are_listed_and_restored(library):
    trash = library("trash list", code=1)
    assert (trash.out, trash.err) == ("", "satchel: the trash is empty\n")
    library("trash restore", "--all", code=1)
    (library.pictures / "2.jpg").unlink()
    (library.pictures / "3.jpg").unlink()
    library("scan", "--delete-missing")
    assert sorted(line.rpartition(" ")[2] for line in library("trash list").lines) == ["2.jpg", "3.jpg"]
    rows = library("trash list", "--json").json
    assert [row["md5"] for row in rows] == sorted(row["md5"] for row in rows)
    assert library("trash restore", rows[0]["md5"]).out == "1 photo restored\n"
    assert library("trash restore", "--all", "--json").json == {"photos": 1}
    # Their files are not known here any more, as if they were on another device.
    library("scan", "--delete-missing")
    assert len(library.names()) == 6
    (library.pictures / "4.jpg").unlink()
    library("scan", "--delete-missing")
    assert library("trash empty").out == "1 photo forgotten\n"
    library("trash empty", code=1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name photos by their MD5, or all with --all"),
        (["--all", "0" * 32], "name photos by their MD5, or all with --all"),
        (["0" * 31], "not an MD5"),
    ],
)
def test_what_cannot_be_restored(library, words, message):
    assert message in library("trash restore", *words, code=2).err


def test_status_says_whether_the_library_is_safe(library, tmp_path):
    assert library("status").lines[0] == "6 of 6 photos are not backed up"
    remote = Remote("--remote", str(tmp_path / "remote"))
    library("backup run", "--all", *remote.words)
    lines = library("status").lines
    assert lines[0] == "every photo is backed up"
    assert [line.split()[:2] for line in lines[3:6]] == [["6", "6"], ["0", "0"], ["0", "0"]]
    (library.pictures / "5.jpg").unlink()
    library.add("6.jpg")
    library("scan")
    lines = library("status").lines
    assert lines[0] == "1 of 7 photos is not backed up"
    assert [line.split()[:2] for line in lines[3:6]] == [["6", "5"], ["1", "1"], ["0", "0"]]
    safety = library("status", "--json").json["safety"]
    assert (safety["missing"], safety["safe"]) == ({"photos": 1, "backed_up": 1}, False)


def test_photos_are_counted_and_found_by_folder(library):
    assert library("query", "--by", "folder").lines == ["photos  folder", "     4  .", "     2  trips"]
    assert library("query", "--by", "camera", "--json").json == [{"key": None, "photos": 6}]
    assert library.names("--folder", "trips", "--order", "filename") == ["0.jpg", "1.jpg"]
    assert library.names("--present", "--folder", "trips") == library.names("--folder", "trips")
    library("query", "--no-present", code=1)
    for place in (["--near", "47.37,8.54,5000"], ["--box", "-1,-1.5,1,1"]):
        library("query", *place, code=1)
        library("query", *place, "--by", "day", code=1)
    [month] = library("query", "--by", "month", "--clock", "utc", "--json").json
    assert month["photos"] == 6
    assert json.dumps(month["key"])[5] == "-"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--near", "47.37,8.54"], "not 3 numbers"),
        (["--box", "1,2,3,4,5"], "not 4 numbers"),
        (["--near", "95,0,1"], "place"),
        (["--near", "0,0,1", "--box", "0,0,1,1"], "--near and --box exclude each other"),
        (["--clock", "Nowhere/Town"], "Nowhere/Town"),
        (["--clock", "local", "--from", "1700000000"], "--clock"),
        (["--by", "year"], "year"),
        (["--by", "day", "--all"], "--by excludes"),
    ],
)
def test_what_is_no_condition(library, words, message):
    assert message in library("query", *words, code=2).err
