"""`satchel assets`: list, get, put, prune and verify."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import satchel
from conftest import TOOL, watched

BIG, SMALL = bytes(range(256)) * 1000, b"a small one"


def digest(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def assets(run, tmp_path):
    """Runs `satchel assets` on a store with two assets, of which a record has one."""
    (tmp_path / "big.jpg").write_bytes(BIG)
    with satchel.open(tmp_path / "notes.satchel") as store:
        big = store.assets.put(tmp_path / "big.jpg")
        store.assets.put(SMALL)
        store.records("notes").put("n1", {"picture": big})
        store.records("notes").put("n2", {"picture": satchel.Asset(url="https://example.org/a.jpg")})

    def call(command, *arguments, **options):
        return run(command, "notes.satchel", *arguments, subject="assets", **options)

    call.folder = tmp_path
    return call


def old(folder):
    """Lets two hours pass for all assets."""
    code = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("UPDATE asset SET used_at = used_at - 7200000")
database.commit()
"""
    subprocess.run([sys.executable, "-c", code, folder / "notes.satchel"], check=True)


def test_list(assets):
    found = assets("list", "--json").json
    assert [(each["sha256"], each["size"], each["state"], each["references"]) for each in found] == [
        (digest(BIG), 256_000, "here", 1),
        (digest(SMALL), 11, "here", 0),
    ]
    assert [each["sha256"] for each in assets("list", "--unused", "--json").json] == [digest(SMALL)]
    lines = assets("list").lines
    assert lines[0].split() == ["sha256", "size", "state", "references", "used"]
    assert lines[1].split()[:4] == [digest(BIG), "256.0", "kB", "here"]
    assert [json.loads(line) for line in assets("list", "--json-lines", "--all").lines] == found
    limited = assets("list", "--limit", "1", "--state", "here")
    assert (len(limited.lines), limited.err) == (2, "")
    assert assets("list", "--state", "missing", code=1).err == "satchel: no asset matches\n"
    assert assets("list", "--state", "missing", "--json", code=1).json == []


def test_long_lists_are_cut(assets):
    with satchel.open(assets.folder / "notes.satchel") as store, store.batch():
        for number in range(2100):
            store.assets.put(b"%d" % number)
    result = assets("list")
    assert (len(result.lines), result.err) == (101, "satchel: there are more; --all lists them\n")
    assert len(assets("list", "--all").lines) == 2103
    assert len(assets("list", "--limit", "1500", "--json").json) == 1500


def test_get(assets):
    for data in (BIG, SMALL):
        assert assets("get", digest(data)).raw == data
        assets("get", digest(data), "-o", "copy")
        assert (assets.folder / "copy").read_bytes() == data
    info = assets("get", digest(BIG), "--json").json
    assert (info["state"], info["references"], info["variant"]) == ("here", 1, False)
    missing = assets("get", "0" * 64, code=1)
    assert (missing.raw, missing.err) == (b"", f"satchel: {'0' * 64}: is missing\n")
    remote = assets("get", "https://example.org/a.jpg", "--json", code=1).json
    assert (remote["state"], remote["sha256"], remote["references"]) == ("remote", None, 1)
    assert "is remote" in assets("get", "https://example.org/a.jpg", code=1).err
    for wrong in ("", "abc", "../../etc/passwd", "0" * 63 + "G"):
        assert "SHA-256" in assets("get", wrong, code=2).err
    assert "exclude each other" in assets("get", digest(BIG), "--json", "-o", "copy", code=2).err


def test_bytes_are_not_written_to_a_terminal(assets):
    shown = watched(["get", "notes.satchel", digest(BIG)], assets.folder, subject="assets", codes=(2,))
    assert "--output" in shown
    shown = watched(["get", "notes.satchel", digest(SMALL), "-o", "copy"], assets.folder, "assets", (0,))
    assert shown == ""


def test_damaged_bytes_are_not_written(assets):
    [file] = (assets.folder / "notes.satchel.assets").glob("??/*")
    file.write_bytes(BIG[:-1] + b"!")
    result = assets("get", digest(BIG), "-o", "copy", code=2)
    assert "has other bytes" in result.err
    assert not (assets.folder / "copy").exists()


def test_put(assets):
    (assets.folder / "new.png").write_bytes(BIG[::-1])
    result = assets("put", "new.png", "--type", "image/png")
    expected = {"sha256": digest(BIG[::-1]), "size": 256_000, "type": "image/png"}
    assert json.loads(result.out) == {"_asset": expected}
    # Bytes that are there already, and the standard input.
    found = assets("put", "big.jpg", "-", "--json", text=b"piped" * 100_000).json
    assert [each["_asset"]["sha256"] for each in found] == [digest(BIG), digest(b"piped" * 100_000)]
    assert len(assets("list", "--json").json) == 4
    for name, reason in (("missing.jpg", "no such file"), (".", "is a directory")):
        assert f"{name}: {reason}" in assets("put", name, code=2).err
    assert "type" in assets("put", "big.jpg", "--type", "a\nb", code=2).err


def test_put_creates_a_store_only_when_it_may(run, tmp_path):
    (tmp_path / "a").write_bytes(b"a")
    assert "--create" in run("put", "new.satchel", "a", subject="assets", code=2).err
    assert not (tmp_path / "new.satchel").exists()
    run("put", "--create", "new.satchel", "a", subject="assets")
    assert run("get", "new.satchel", digest(b"a"), subject="assets").raw == b"a"


def test_prune(assets):
    report = assets("prune", "--json").json
    assert (report["removed"], report["recent"]) == (0, 11)
    old(assets.folder)
    result = assets("prune", "--max-bytes", "0")
    assert result.lines == [
        "Removed 1 asset: 11 bytes.",
        "256000 bytes are kept, 256000 of them as the only known copies.",
        "That is 256000 bytes more than the budget.",
    ]
    assert assets("prune").lines[0] == "Removed 0 assets: 0 bytes."
    assert "negative" in assets("prune", "--max-bytes=-1", code=2).err


def test_a_path_in_use_keeps_files(assets):
    old(assets.folder)
    with satchel.open(assets.folder / "notes.satchel") as store:
        store.records("notes").delete("n1")
        old(assets.folder)
        with store.assets.open(digest(BIG)) as opened:
            assert Path(opened.path).is_file()
            # Reading is noted when the store writes next.
            assert "folder is in use" in assets("prune").out
            assert list(Path(f"{store.path}.assets").glob("??/*"))
    assert assets("prune", "--json").json["waiting_files"] == 0
    assert list((assets.folder / "notes.satchel.assets").glob("??/*")) == []


def test_verify(assets):
    assert assets("verify").lines == ["2 assets checked"]
    [file] = (assets.folder / "notes.satchel.assets").glob("??/*")
    file.write_bytes(BIG[:-1] + b"!")
    assert assets("verify", "--quick", "--json").json["damaged"] == []
    (file.parent / (file.parent.name + "0" * 62)).write_bytes(b"an orphan")
    result = assets("verify", "-q", code=1)
    assert result.lines == [
        f"damaged: {digest(BIG)}",
        "2 assets checked",
        "2 files without an asset deleted",
    ]
    assert assets("get", digest(BIG), "--json", code=1).json["state"] == "missing"
    assets("put", "big.jpg")
    report = assets("verify", "--json").json
    assert report == {"checked": 2, "lost": [], "damaged": [], "orphans": 0}


ZERO = {"count": 0, "bytes": 0}


def test_statistics_count_assets(assets, run):
    """The same numbers in `store stats`, `store info` and `report`."""
    statistics = run("stats", "notes.satchel", "--json", subject="store").json
    [found] = [each for each in statistics["subjects"] if each["name"] == "assets"]
    assert found["counts"] == {"assets": 2}
    expected = {
        "here": {"count": 2, "bytes": 256_011}, "files": {"count": 1, "bytes": 256_000}, "variants": ZERO,
        "remote": {"count": 1, "bytes": 0}, "missing": ZERO, "waiting": ZERO,
    }  # fmt: skip
    assert statistics["assets"] == expected
    info = run("info", "notes.satchel", "--json", subject="store").json
    assert info["assets"] == expected
    text = "2 assets, 256.0 kB, of them 1 file, 256.0 kB; 1 elsewhere"
    assert any(
        line.endswith(f"  assets: {text}") for line in run("stats", "notes.satchel", subject="store").lines
    )
    lines = run("info", "notes.satchel", subject="store").lines
    assert [line.split(None, 1) for line in lines if line.startswith("assets")] == [["assets", text]]
    page = run("report", "notes.satchel", subject=None).out
    assert text in page
    cells = [f'data-label="{label}"' for label in ("Number", "Size")]
    [row] = [line for line in page.split("<tr")[1:] if ">Of them in the folder<" in line]
    assert all(cell in row for cell in cells)
    assert ">1<" in row
    assert ">256.0 kB<" in row


def test_a_store_without_assets(run, tmp_path):
    satchel.open(tmp_path / "empty.satchel").close()
    assert run("info", "empty.satchel", "--json", subject="store").json["assets"]["here"] == ZERO
    assert not [each for each in run("info", "empty.satchel", subject="store").lines if "asset" in each]
    assert "There are no assets." in run("report", "empty.satchel", subject=None).out


def test_info_counts_what_is_elsewhere_missing_and_waiting(run, tmp_path):
    cloud = satchel.remote.Directory(tmp_path / "cloud")
    phone, tablet = (satchel.open(tmp_path / f"{name}.satchel") for name in ("phone", "tablet"))
    with phone, tablet:
        for device in (phone, tablet):
            device.records("notes", synced=True)
        phone.sync(cloud, "ana")
        phone.records("notes").put("n1", {"picture": phone.assets.put(BIG)})
        waiting = run("info", "phone.satchel", subject="store").lines
        assert any(line.endswith("256.0 kB; 1 upload waiting, 256.0 kB") for line in waiting)
        phone.sync(cloud, "ana")
        tablet.sync(cloud, "ana")
        phone.records("notes").put(
            "n2", {"picture": phone.assets.put(SMALL), "other": phone.assets.put(BIG[1:])}
        )
    [file] = [
        each for each in (tmp_path / "phone.satchel.assets").glob("??/*") if each.stat().st_size == 255_999
    ]
    file.unlink()
    run("verify", "phone.satchel", subject="assets", code=1)
    assert run("info", "phone.satchel", "--json", subject="store").json["assets"] == {
        "here": {"count": 2, "bytes": 256_011}, "files": {"count": 1, "bytes": 256_000}, "variants": ZERO,
        "remote": ZERO, "missing": {"count": 1, "bytes": 255_999}, "waiting": {"count": 1, "bytes": 11},
    }  # fmt: skip
    lines = run("info", "tablet.satchel", subject="store").lines
    assert [line.split(None, 1)[1] for line in lines if line.startswith("assets")] == [
        "0 assets; 1 elsewhere, 256.0 kB"
    ]


def test_invalid_stores(run, tmp_path):
    (tmp_path / "note.txt").write_text("some text")
    for command, arguments in (
        ("list", []), ("get", ["0" * 64]), ("put", ["note.txt"]), ("prune", []), ("verify", [])
    ):  # fmt: skip
        for name in ("note.txt", "nowhere.satchel"):
            assert name in run(command, name, *arguments, subject="assets", code=2).err
    assert not (tmp_path / "nowhere.satchel").exists()


def test_a_broken_pipe_ends_get(assets):
    command = f'"{TOOL}" assets get notes.satchel {digest(BIG)} | head -c 10'
    done = subprocess.run(["bash", "-c", command], cwd=assets.folder, capture_output=True, check=False)
    assert done.stdout == BIG[:10]
