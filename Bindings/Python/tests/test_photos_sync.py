"""Two devices and a remote copy: agreement, conflicts, dry runs, progress, interrupts, other remotes."""

from __future__ import annotations

import hashlib
import json
import threading
from functools import partial
from pathlib import Path
from typing import Dict, List

import pytest
from albums import Rows, assert_holds, md5, row, rows_of, shard_file, together
from helpers import HOUR, Clock, interrupted

import satchel
from satchel import PhotoCatalogue, SyncProgress
from satchel.photos import SyncReport
from satchel.remote import Directory, Remote

Devices = List[PhotoCatalogue]


def moved(report: SyncReport) -> Dict[str, List[int]]:
    lists = {name: getattr(report, name) for name in ("downloaded", "uploaded", "conflicts", "repaired")}
    assert report.ok
    assert report.rejected == []
    return {name: shards for name, shards in lists.items() if shards}


def shards_of(rows: Rows) -> List[int]:
    return sorted({int(each[0], 16) for each in rows})


def test_what_one_device_adds_the_other_gets(devices: Devices, remote_copy: Remote, tmp_path: Path) -> None:
    phone, tablet = devices
    rows = {md5(each): row(each) for each in range(50)}
    phone.upsert(rows.values())
    report = phone.sync(remote_copy, "ada")
    assert moved(report) == {"uploaded": shards_of(rows)}
    assert report.bytes_up > sum(len(phone.export_shard(shard)) for shard in range(16))
    assert phone.modified_shards() == []
    status = phone.status()
    assert status.user == "ada"
    assert status.last_sync is not None
    assert status.last_sync_at is not None
    assert moved(tablet.sync(remote_copy, "ada")) == {"downloaded": shards_of(rows)}
    for device in devices:
        assert_holds(device, rows)
        idle = device.sync(remote_copy, "ada")
        assert moved(idle) == {}
        assert (idle.requests, idle.bytes_up, idle.unchanged) == (1, 0, True)
    folder = tmp_path / "remote_copy/catalogs/ada"
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["photo-count"] == 50
    assert manifest["directory-uuid"] == phone.status().remote_uuid == tablet.status().remote_uuid
    for shard in shards_of(rows):
        data = (folder / f"shards/{shard:x}.csv").read_bytes()
        assert data == phone.export_shard(shard)
        assert manifest["shard-checksums"][f"{shard:x}"] == hashlib.sha256(data).hexdigest()


def test_changes_and_deletions_travel(devices: Devices, remote_copy: Remote) -> None:
    phone, tablet = devices
    phone.upsert(row(each) for each in range(30))
    phone.sync(remote_copy, "ada")
    tablet.sync(remote_copy, "ada")
    tablet.delete(md5(each) for each in range(5))
    tablet.upsert([row(6, filename="better"), row(99)])
    tablet.sync(remote_copy, "ada")
    phone.sync(remote_copy, "ada")
    rows = {md5(each): row(each) for each in range(5, 30)}
    rows |= {md5(6): row(6, filename="better"), md5(99): row(99)}
    for device in devices:
        assert_holds(device, rows)
        assert device.conflicts() == []


def test_the_remote_wins_and_what_lost_can_be_made_again(devices: Devices, remote_copy: Remote) -> None:
    phone, tablet = devices
    phone.upsert([row(1, 3), row(2, 3), row(3, 3)])
    phone.sync(remote_copy, "ada")
    tablet.sync(remote_copy, "ada")
    phone.upsert([row(1, 3, filename="phone")])
    phone.sync(remote_copy, "ada")
    tablet.upsert([row(1, 3, filename="tablet"), row(4, 3)])
    tablet.delete(md5(2, 3))
    report = tablet.sync(remote_copy, "ada")
    assert report.conflicts == [3]
    assert report.downloaded == [3]
    # The changes of photos that the phone did not touch go up.
    assert report.uploaded == [3]
    assert report.conflict_rows == 1
    [mine] = tablet.conflicts()
    assert mine.md5 == md5(1, 3)
    assert (mine.subject, mine.cause, mine.kind, mine.side) == ("photos", "sync", "lost", "local")
    assert [side and side.filename for side in (mine.local, mine.remote, mine.base)] == [
        "tablet",
        "phone",
        "IMG_1.jpg",
    ]
    assert mine.happened_at is not None
    phone.sync(remote_copy, "ada")
    for device in devices:
        assert_holds(
            device, {each["md5"]: each for each in (row(1, 3, filename="phone"), row(3, 3), row(4, 3))}
        )
    tablet.resolve(mine, "local")
    assert tablet.status().conflicts == 0
    assert moved(tablet.sync(remote_copy, "ada")) == {"uploaded": [3]}
    phone.sync(remote_copy, "ada")
    for device in devices:
        assert_holds(
            device, {each["md5"]: each for each in (row(1, 3, filename="tablet"), row(3, 3), row(4, 3))}
        )


def test_merged_rows_go_up_in_the_same_synchronization(devices: Devices, remote_copy: Remote) -> None:
    phone, tablet = devices
    phone.upsert([row(1, 3), row(2, 3)])
    phone.sync(remote_copy, "ada")
    tablet.sync(remote_copy, "ada")
    phone.upsert([row(1, 3, filename="phone"), row(5, 3)])
    tablet.upsert([row(2, 3, filename="tablet"), row(6, 3)])
    phone.sync(remote_copy, "ada")
    report = tablet.sync(remote_copy, "ada", on_conflict="merge")
    assert report.uploaded == [3]
    assert tablet.conflicts() == []
    phone.sync(remote_copy, "ada")
    merged = [row(1, 3, filename="phone"), row(2, 3, filename="tablet"), row(5, 3), row(6, 3)]
    for device in devices:
        assert_holds(device, {each["md5"]: each for each in merged})


def test_a_dry_run_transfers_nothing(devices: Devices, remote_copy: Remote, tmp_path: Path) -> None:
    phone, tablet = devices
    phone.upsert(row(each) for each in range(50))

    def files() -> List[str]:
        return sorted(str(each) for each in (tmp_path / "remote_copy").rglob("*") if each.is_file())

    before = files()
    told = phone.sync(remote_copy, "ada", dry_run=True)
    assert told.dry_run
    assert files() == before
    assert len(phone.changes()) == 50
    assert moved(told) == moved(phone.sync(remote_copy, "ada"))
    told = tablet.sync(remote_copy, "ada", dry_run=True)
    assert tablet.count() == 0
    assert moved(told) == moved(tablet.sync(remote_copy, "ada"))


def test_progress_is_reported_on_the_thread_that_synchronizes(devices: Devices, remote_copy: Remote) -> None:
    devices[0].upsert(row(each) for each in range(200))
    heard: List[SyncProgress] = []
    threads = set()

    def hear(progress: SyncProgress) -> None:
        heard.append(progress)
        threads.add(threading.get_ident())
        # The catalogue may be used meanwhile.
        assert devices[0].count() >= 200

    report = devices[0].sync(remote_copy, "ada", progress=hear, parallel=1)
    assert threads == {threading.get_ident()}
    assert {each.phase for each in heard} <= {"plan", "shards", "manifest"}
    assert heard[-1].done == heard[-1].total == len(report.uploaded)
    assert [each.bytes_up for each in heard] == sorted(each.bytes_up for each in heard)
    devices[0].upsert([row("more")])
    together(lambda: devices[1].sync(remote_copy, "ada", progress=hear, parallel=16))
    assert len(threads) == 2


def test_false_cancels(devices: Devices, remote_copy: Remote) -> None:
    devices[0].upsert(row(each) for each in range(200))
    with pytest.raises(satchel.Cancelled):
        devices[0].sync(remote_copy, "ada", progress=lambda progress: False)
    assert len(devices[0].changes()) == 200
    devices[0].sync(remote_copy, "ada", progress=lambda progress: None)
    devices[1].sync(remote_copy, "ada")
    assert_holds(devices[1], {md5(each): row(each) for each in range(200)})


def test_what_progress_raises_cancels_and_is_raised(devices: Devices, remote_copy: Remote) -> None:
    devices[0].upsert(row(each) for each in range(200))
    enough = ZeroDivisionError("enough")
    told = 0

    def fail(progress: SyncProgress) -> None:
        nonlocal told
        told += 1
        if told == 3:
            raise enough

    for call in (lambda: devices[0].sync(remote_copy, "ada", progress=fail),):
        with pytest.raises(ZeroDivisionError) as raised:
            call()
        assert raised.value is enough
    devices[0].sync(remote_copy, "ada")
    devices[1].sync(remote_copy, "ada")
    assert_holds(devices[1], {md5(each): row(each) for each in range(200)})


def test_an_interrupt_ends_a_synchronization(devices: Devices, remote_copy: Remote) -> None:
    devices[0].upsert(row(each) for each in range(200))
    interrupted(lambda slow: devices[0].sync(remote_copy, "ada", progress=slow, parallel=1))
    devices[0].sync(remote_copy, "ada")
    devices[1].sync(remote_copy, "ada")
    assert_holds(devices[1], {md5(each): row(each) for each in range(200)})


def test_a_store_cannot_be_closed_by_its_own_progress(
    store: satchel.Store, photos: PhotoCatalogue, remote_copy: Remote
) -> None:
    photos.upsert([row(1)])
    refused: List[Exception] = []

    def close(progress: SyncProgress) -> None:
        try:
            store.close()
        except satchel.Busy as error:
            refused.append(error)

    photos.sync(remote_copy, "ada", progress=close)
    assert refused
    assert photos.count() == 1


def test_another_remote_is_refused_until_it_is_asked_for(devices: Devices, tmp_path: Path) -> None:
    phone, tablet = devices
    one, other = Directory(tmp_path / "one"), Directory(tmp_path / "other")
    phone.upsert([row(1), row(2)])
    tablet.upsert([row(3)])
    phone.sync(one, "ada")
    tablet.sync(other, "ada")
    for _ in range(2):
        with pytest.raises(satchel.ForeignFile, match='"ada" of directory'):
            phone.sync(other, "ada")
        assert rows_of(phone.iterate()) == {md5(each): row(each) for each in (1, 2)}
        phone.detach()
    assert phone.status().user is None
    phone.sync(other, "ada", on_conflict="merge", first="upload")
    tablet.sync(other, "ada")
    for device in devices:
        assert_holds(device, {md5(each): row(each) for each in (1, 2, 3)})


def test_users_have_catalogues_of_their_own(devices: Devices, remote_copy: Remote) -> None:
    phone, tablet = devices
    phone.upsert([row(1)])
    tablet.upsert([row(2)])
    phone.sync(remote_copy, "ada")
    tablet.sync(remote_copy, "bob")
    assert rows_of(phone.iterate()) == {md5(1): row(1)}
    assert rows_of(tablet.iterate()) == {md5(2): row(2)}


def test_lines_that_are_no_photos_are_reported_and_kept(
    devices: Devices, remote_copy: Remote, tmp_path: Path
) -> None:
    phone, tablet = devices
    phone.upsert([row(1, 3)])
    phone.import_shard(5, shard_file([row(2, 5)]) + b"\nno photo")
    phone.sync(remote_copy, "ada")
    report = tablet.sync(remote_copy, "ada")
    told = [(each.shard, each.line, each.fault, each.raw) for each in report.rejected]
    assert told == [(5, 2, "columns", "no photo")]
    assert tablet.export_shard(5) == phone.export_shard(5)
    assert b"no photo" in (tmp_path / "remote_copy/catalogs/ada/shards/5.csv").read_bytes()


@pytest.mark.parametrize("policy", ["remote_wins", "merge"])
def test_lines_with_quotes_that_the_remote_replaces_are_reported(
    devices: Devices, remote_copy: Remote, policy: str
) -> None:
    phone, tablet = devices
    phone.upsert([row(1, 5)])
    for device in devices:
        device.sync(remote_copy, "ada")
    phone.upsert([row(2, 5)])
    phone.sync(remote_copy, "ada")
    tablet.import_shard(5, tablet.export_shard(5) + b'\nno photo\n5 "quoted"')
    [rejected] = tablet.sync(remote_copy, "ada", on_conflict=policy).rejected
    assert (rejected.shard, rejected.fault, rejected.raw) == (5, "replaced", '5 "quoted"')
    phone.sync(remote_copy, "ada")
    assert tablet.export_shard(5) == phone.export_shard(5)
    assert b"no photo" in phone.export_shard(5)
    assert b"quoted" not in phone.export_shard(5)


@pytest.mark.parametrize("policy", ["remote_wins", "merge"])
def test_a_first_synchronization_keeps_lines_that_are_no_photos(
    devices: Devices, remote_copy: Remote, policy: str
) -> None:
    phone, tablet = devices
    phone.upsert([row(1, 5)])
    phone.sync(remote_copy, "ada")
    tablet.import_shard(5, b"no photo")
    report = tablet.sync(remote_copy, "ada", on_conflict=policy)
    assert (report.uploaded, report.rejected) == ([5], [])
    phone.sync(remote_copy, "ada")
    assert tablet.export_shard(5) == phone.export_shard(5)
    assert b"no photo" in phone.export_shard(5)
    assert rows_of(tablet.iterate()) == {md5(1, 5): row(1, 5)}


def test_conditional_writes_are_probed_again_after_30_days(clock: Clock, path: Path, tmp_path: Path) -> None:
    def requests(number: int) -> int:
        with satchel.open(path, clock=clock) as store, store.photos("/photos") as photos:
            photos.upsert([row(number, 5)])
            return photos.sync(Directory(tmp_path / "remote_copy"), "ada").requests

    first, second, third = requests(1), requests(2), requests(3)
    assert first > second == third
    clock.advance(30 * 24 * HOUR)
    assert requests(4) == second + 10


def test_a_shard_that_fails_does_not_stop_the_others(
    devices: Devices, remote_copy: Remote, tmp_path: Path
) -> None:
    phone, tablet = devices
    phone.upsert([row(1, 3), row(2, 5)])
    phone.sync(remote_copy, "ada")
    shard = tmp_path / "remote_copy/catalogs/ada/shards/3.csv"
    sound = shard.read_bytes()
    shard.unlink()
    shard.mkdir()
    report = tablet.sync(remote_copy, "ada")
    assert [each.shard for each in report.failed] == [3]
    assert report.failed[0].code.startswith("E")
    assert report.failed[0].message
    assert not report.ok
    assert rows_of(tablet.iterate()) == {md5(2, 5): row(2, 5)}
    shard.rmdir()
    shard.write_bytes(sound)
    tablet.sync(remote_copy, "ada")
    assert_holds(tablet, {each["md5"]: each for each in (row(1, 3), row(2, 5))})


def test_threads_synchronize_and_change_at_once(devices: Devices, remote_copy: Remote) -> None:
    def change(device: PhotoCatalogue, first: int) -> None:
        for each in range(first, first + 200):
            device.upsert([row(each)])

    def sync(device: PhotoCatalogue) -> None:
        for _ in range(8):
            assert device.sync(remote_copy, "ada", on_conflict="merge").ok

    together(
        lambda: change(devices[0], 0),
        lambda: change(devices[1], 1000),
        *(partial(sync, devices[number]) for number in (0, 1, 0)),
    )
    for device in (*devices, *devices):
        device.sync(remote_copy, "ada", on_conflict="merge")
    rows = {md5(each): row(each) for each in (*range(200), *range(1000, 1200))}
    for device in devices:
        assert_holds(device, rows)
        assert device.conflicts() == []
