"""Shards in the remote that are cut, overwritten, emptied or gone; verifying; directories with a manifest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable, Dict, List, Optional

import pytest
from albums import assert_holds, md5, row

import satchel
from satchel import PhotoCatalogue
from satchel.remote import Remote

Devices = List[PhotoCatalogue]
ROWS = {md5(each): row(each) for each in range(200)}

DAMAGES: Dict[str, Callable[[bytes], Optional[bytes]]] = {
    "cut": lambda data: data[: len(data) // 2],
    "cut at a row": lambda data: data.rsplit(b"\n", 1)[0],
    "garbage": lambda data: bytes(range(256)),
    "emptied": lambda data: b"",
    "gone": lambda data: None,
}


@pytest.fixture
def shards(devices: Devices, remote_copy: Remote, tmp_path: Path) -> Path:
    """Where the shards of a remote are that two devices agree with."""
    devices[0].upsert(ROWS.values())
    for device in devices:
        device.sync(remote_copy, "ada")
    return tmp_path / "remote_copy/catalogs/ada/shards"


def damage(path: Path, how: str) -> bytes:
    sound = path.read_bytes()
    left = DAMAGES[how](sound)
    if left is None:
        path.unlink()
    else:
        path.write_bytes(left)
    return sound


@pytest.mark.parametrize("how", DAMAGES)
def test_any_device_with_the_bytes_repairs_a_shard(
    devices: Devices, remote_copy: Remote, shards: Path, how: str
) -> None:
    sound = damage(shards / "7.csv", how)
    with satchel.open(":memory:") as store, store.photos("/new") as new:
        report = new.sync(remote_copy, "ada")
        assert [each.shard for each in report.failed] == [7]
        assert not report.ok
        assert new.count() == sum(each[0] != "7" for each in ROWS)
        report = devices[1].sync(remote_copy, "ada")
        assert (report.repaired, report.uploaded, report.removed, report.failed) == ([7], [7], 0, [])
        assert (shards / "7.csv").read_bytes() == sound
        for device in (new, *devices):
            report = device.sync(remote_copy, "ada")
            assert report.ok
            assert report.removed == 0
            assert_holds(device, ROWS)
            assert device.sync(remote_copy, "ada").requests == 1


@pytest.mark.parametrize("how", DAMAGES)
def test_verify_names_and_repairs(devices: Devices, remote_copy: Remote, shards: Path, how: str) -> None:
    report = devices[0].verify(remote_copy, "ada")
    assert report.ok
    assert [each.state for each in report.shards] == ["ok"] * 16
    sound = damage(shards / "3.csv", how)
    report = devices[0].verify(remote_copy, "ada")
    states = {"cut at a row": "cut", "garbage": "corrupt", "emptied": "empty", "gone": "missing"}
    assert [(each.shard, each.state) for each in report.failed] == [(3, states.get(how, how))]
    assert (report.ok, report.manifest, report.bytes_up) == (False, "ok", 0)
    report = devices[0].verify(remote_copy, "ada", repair=True)
    assert (report.ok, report.repaired, report.failed) == (True, [3], [])
    assert (shards / "3.csv").read_bytes() == sound
    assert devices[1].verify(remote_copy, "ada").ok


def test_verify_cannot_repair_without_the_bytes(remote_copy: Remote, shards: Path) -> None:
    damage(shards / "3.csv", "gone")
    with satchel.open(":memory:") as store, store.photos("/new") as new:
        report = new.verify(remote_copy, "ada", repair=True)
        assert not report.ok
        [failed] = report.failed
        assert (failed.shard, failed.state, failed.repaired) == (3, "missing", False)
        assert failed.message is not None
        assert "3.csv" in failed.message


def test_verify_writes_a_manifest_again(devices: Devices, remote_copy: Remote, shards: Path) -> None:
    for damaged in (b"{", None):
        manifest = shards.parent / "manifest.json"
        manifest.unlink() if damaged is None else manifest.write_bytes(damaged)
        report = devices[0].verify(remote_copy, "ada")
        assert (report.ok, report.manifest) == (False, "missing" if damaged is None else "unreadable")
        report = devices[0].verify(remote_copy, "ada", repair=True)
        assert report.ok
        assert report.manifest_repaired
        assert devices[1].sync(remote_copy, "ada").ok
    assert_holds(devices[1], ROWS)


@pytest.mark.parametrize("left", [b"", b"\0" * 900, b'{"version": "6.0", "directory'])
def test_a_manifest_after_a_power_loss_is_written_again(
    devices: Devices, remote_copy: Remote, shards: Path, left: bytes
) -> None:
    (shards.parent / "manifest.json").write_bytes(left)
    devices[1].upsert([row(1, filename="changed")])
    assert devices[1].sync(remote_copy, "ada").ok
    with satchel.open(":memory:") as store, store.photos("/new") as new:
        for device in (new, *devices):
            assert device.sync(remote_copy, "ada").ok
            assert_holds(device, {**ROWS, md5(1): row(1, filename="changed")})


def test_a_manifest_that_is_json_and_no_manifest_is_left_to_verify(
    devices: Devices, remote_copy: Remote, shards: Path
) -> None:
    (shards.parent / "manifest.json").write_bytes(b'{"version": "6.0"}')
    with pytest.raises(satchel.InvalidArgument, match="directory-uuid"):
        devices[1].sync(remote_copy, "ada")
    assert devices[1].verify(remote_copy, "ada", repair=True).ok


def test_verify_names_objects_of_other_programs(devices: Devices, remote_copy: Remote, shards: Path) -> None:
    assert devices[0].verify(remote_copy, "ada").foreign == []
    for name in ("shards/1.sync-conflict-20240101-101010-ABCDEFG.csv", "manifest (copy).json"):
        (shards.parent / name).write_bytes(b"x")
    report = devices[0].verify(remote_copy, "ada")
    assert report.ok
    assert report.foreign == [
        "catalogs/ada/manifest (copy).json",
        "catalogs/ada/shards/1.sync-conflict-20240101-101010-ABCDEFG.csv",
    ]


def test_verify_reports_progress_and_can_be_cancelled(
    devices: Devices, remote_copy: Remote, shards: Path
) -> None:
    seen = []
    devices[0].verify(remote_copy, "ada", progress=seen.append, parallel=2)
    assert seen[-1].done == seen[-1].total == 16
    with pytest.raises(satchel.Cancelled):
        devices[0].verify(remote_copy, "ada", progress=lambda progress: False)
    with pytest.raises(satchel.ForeignFile):
        devices[0].verify(remote_copy, "ben")
    with pytest.raises(satchel.InvalidArgument):
        devices[0].verify("remote_copy", "ada")  # type: ignore[arg-type]


def test_another_program_that_died_before_the_manifest(
    devices: Devices, remote_copy: Remote, shards: Path
) -> None:
    name = next(each for each in range(1000, 2000) if md5(each)[0] == "5")
    with satchel.open(":memory:") as store, store.photos("/other") as other:
        other.upsert([each for each in ROWS.values() if each["md5"][0] == "5"] + [row(name)])
        (shards / "5.csv").write_bytes(other.export_shard(5))
    report = devices[0].sync(remote_copy, "ada")
    assert (report.repaired, report.downloaded, report.failed, report.removed) == ([5], [5], [], 0)
    assert devices[0].get(md5(name)) is not None
    assert devices[1].sync(remote_copy, "ada").ok
    assert devices[1].count() == len(ROWS) + 1


def test_removed_counts_what_other_devices_deleted(
    devices: Devices, remote_copy: Remote, shards: Path
) -> None:
    devices[0].delete(list(ROWS)[:20])
    assert devices[0].sync(remote_copy, "ada").removed == 0
    assert devices[1].sync(remote_copy, "ada").removed == 20


def test_a_file_that_the_manifest_does_not_name_is_not_imported(devices: Devices, tmp_path: Path) -> None:
    devices[0].upsert(ROWS.values())
    devices[0].export_directory(tmp_path / "shards")
    path = tmp_path / "shards/7.csv"
    sound = damage(path, "cut at a row")
    with satchel.open(":memory:") as store, store.photos("/copy") as copy:
        report = copy.import_directory(tmp_path / "shards")
        assert report.has_manifest
        [failure] = report.failed
        assert (failure.shard, failure.code) == (7, "EDAMAGED")
        assert "7.csv" in failure.message
        assert copy.count() == sum(each[0] != "7" for each in ROWS)
        path.write_bytes(sound)
        assert copy.import_directory(tmp_path / "shards").failed == []
        assert_holds(copy, ROWS)
        # Also where the whole file had been imported before.
        damage(path, "cut at a row")
        assert [each.shard for each in copy.import_directory(tmp_path / "shards").failed] == [7]
        assert_holds(copy, ROWS)
        (tmp_path / "shards/manifest.json").write_bytes(b"{")
        with pytest.raises(satchel.InvalidArgument, match=r"manifest\.json"):
            copy.import_directory(tmp_path / "shards")
        (tmp_path / "shards/manifest.json").unlink()
        report = copy.import_directory(tmp_path / "shards")
        assert (report.has_manifest, report.failed) == (False, [])
        assert copy.count() == len(ROWS) - 1


def test_what_is_no_file_blocks_no_one(
    devices: Devices, remote_copy: Remote, shards: Path, tmp_path: Path
) -> None:
    for folder in (shards, tmp_path / "import"):
        folder.mkdir(exist_ok=True)
        for name in ("0", "1", "2"):
            (folder / f"{name}.csv").unlink(missing_ok=True)
        os.mkfifo(folder / "0.csv")
        (folder / "1.csv").mkdir()
        (folder / "2.csv").symlink_to("/etc/passwd")
    with satchel.open(":memory:") as store, store.photos("/new") as new:
        assert [each.shard for each in new.sync(remote_copy, "ada").failed] == [0, 1, 2]
        assert [each.shard for each in new.import_directory(tmp_path / "import").failed] == [0, 1, 2]
    assert [each.shard for each in devices[0].sync(remote_copy, "ada").failed] == [0, 1, 2]
    assert_holds(devices[0], ROWS)


def test_a_path_has_a_length(tmp_path: Path) -> None:
    with satchel.open(":memory:") as store:
        with pytest.raises(satchel.InvalidArgument, match="4095"):
            store.photos("x/" + "a/" * 16_000)
        store.photos("/" + "a/" * 2_000).close()
