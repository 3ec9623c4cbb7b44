"""`satchel photos backup`: files go to the remote and come back."""

import pytest
from remotes import in_bucket


@pytest.fixture(params=["directory", "bucket"])
def words(request, tmp_path):
    if request.param == "directory":
        return ["--user", "ana", "--remote", str(tmp_path / "remote")], {}
    remote = in_bucket(request.getfixturevalue("bucket"))
    return remote.words, remote.env


def test_files_go_and_come_back(words, pictures, tmp_path):
    words, env = words
    for number in range(5):
        pictures.add(f"{number}.jpg")
    pictures("scan")
    assert pictures("backup run", *words, env=env).lines[0].startswith("0 files uploaded; 0 requests")
    report = pictures("backup run", "--all", "--json", *words, env=env).json
    assert (report["uploaded"], report["failed"], report["queued"]) == (5, [], 0)
    assert {photo["backup_status"] for photo in pictures.photos("--starred")} == {"uploaded"}
    photo = pictures.photos()[0]
    target = tmp_path / "back.jpg"
    lines = pictures("backup restore", photo["md5"], target, *words, env=env).lines
    assert lines[0].endswith("written")
    assert target.read_bytes() == (pictures.pictures / photo["filename"]).read_bytes()
    assert pictures("backup restore", photo["md5"], target, *words, env=env).lines == [
        "the file was there already"
    ]
    other = pictures.photos()[1]["md5"]
    assert "back.jpg" in pictures("backup restore", other, target, *words, env=env, code=2).err
    assert "32 hexadecimal digits" in pictures("backup restore", "x", target, *words, env=env, code=2).err
    report = pictures("backup refresh", "--json", *words, env=env).json
    assert (report["photos"], report["starred"], report["missing"]) == (5, 0, [])


def test_what_fails_needs_attention(pictures, tmp_path):
    words = ["--user", "ana", "--remote", str(tmp_path / "remote")]
    for name in ("a.jpg", "b.jpg"):
        pictures.add(name)
    pictures("scan")
    (pictures.pictures / "a.jpg").unlink()
    lines = pictures("backup run", "--all", *words, code=1).lines
    assert lines[0].startswith("failed: a.jpg: ")
    assert lines[1].startswith("1 file uploaded, 1 failed; ")
    [stored] = (tmp_path / "remote" / "photos" / "ana").iterdir()
    stored.unlink()
    lines = pictures("backup refresh", *words, code=1).lines
    assert lines[0] == f"missing in the remote: {stored.name}"
    assert pictures("backup refresh", "--queue-missing", *words).lines[-1].startswith("0 photos backed up")
    assert pictures("backup run", *words).lines[0].startswith("1 file uploaded; ")
