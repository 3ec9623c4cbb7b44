"""Assets: bytes in, bytes out, by every way; lists and damage; threads and processes."""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, List

import pytest
from asset_files import NOBODYS, THRESHOLD, files, some
from helpers import HOUR, Clock

import satchel
import satchel.aio
from satchel import Asset, InvalidArgument
from satchel.assets import AssetInfo, Assets

SIZES = [0, 1, 1000, THRESHOLD - 1, THRESHOLD, THRESHOLD + 1, 300_000, 3_000_000]


def forms(data: bytes, tmp_path: Path) -> List[Any]:
    """The same bytes, in each form that put takes."""
    path = tmp_path / "a file"
    path.write_bytes(data)
    return [data, bytearray(data), memoryview(data), path, str(path), path.open("rb"), io.BytesIO(data)]


@pytest.mark.parametrize("size", SIZES)
def test_what_was_put_is_read_again(assets: Assets, path: Path, tmp_path: Path, size: int) -> None:
    data = some(size)
    for content in forms(data, tmp_path):
        asset = assets.put(content, type="image/png")
        assert (asset.sha256, asset.size) == (hashlib.sha256(data).hexdigest(), size)
        assert (asset.type, asset.url, asset.state) == ("image/png", None, "here")
        if hasattr(content, "close"):
            content.close()
    assert len(assets.list()) == 1
    assert asset.bytes() == assets.read(asset) == data
    for offset, count in [(0, 10), (size // 2, 7), (max(0, size - 3), 100), (size, 1), (size + 10, 5)]:
        assert asset.read(offset, count) == data[offset : offset + count]
    assert asset.read(size // 3) == data[size // 3 :]
    # Small ones are rows of the store, large ones files.
    assert [each.read_bytes() for each in files(path)] == ([data] if size > THRESHOLD else [])


@pytest.mark.parametrize("size", SIZES)
def test_an_open_asset_is_a_file(assets: Assets, size: int) -> None:
    data = some(size)
    with assets.put(data).open(verify=True) as file:
        assert (file.size, file.tell(), file.readable(), file.seekable()) == (size, 0, True, True)
        assert not file.writable()
        assert file.read() == data
        assert file.read(1) == b""
        assert file.seek(-min(10, size), os.SEEK_END) == max(0, size - 10)
        buffered = io.BufferedReader(file)
        assert buffered.read(4) == data[max(0, size - 10) :][:4]
        # Otherwise the file is closed with it.
        buffered.detach()
        room = bytearray(5)
        file.seek(size // 2)
        assert room[: file.readinto(room)] == data[size // 2 :][:5]
        assert file.seek(2) == file.tell() == 2
        assert file.read_at(1, 3) == data[1:4]
        assert file.tell() == 2
        if size > THRESHOLD:
            assert file.path is not None
            assert Path(file.path).read_bytes() == data
        else:
            assert file.path is None
        with pytest.raises(ValueError, match="whence"):
            file.seek(0, 7)
        with pytest.raises(ValueError, match="range"):
            file.seek(-1)
        with pytest.raises(InvalidArgument, match="offset"):
            file.read_at(-1, 1)
    assert file.closed
    file.close()
    for call in (file.read, file.tell, lambda: file.size, lambda: file.read_at(0, 1), lambda: file.path):
        with pytest.raises((satchel.Closed, ValueError)):
            call()


def test_a_file_stays_while_its_path_is_used(assets: Assets, clock: Clock, path: Path) -> None:
    data = some(200_000)
    file = assets.put(data).open()
    assert file.path
    clock.advance(2 * HOUR)
    assert assets.prune().waiting_files == 1
    assert assets.list() == []
    assert file.read_at(199_999, 10) == data[-1:]
    assert Path(str(file.path)).read_bytes() == data
    file.close()
    assert (assets.prune().waiting_files, files(path)) == (0, [])


def test_an_open_file_is_read_after_its_asset_was_removed(assets: Assets, clock: Clock, path: Path) -> None:
    data = some(200_000)
    with assets.put(data).open() as file:
        clock.advance(2 * HOUR)
        assert (assets.prune().waiting_files, files(path)) == (0, [])
        assert file.read() == data
        with pytest.raises(satchel.NotFound):
            _ = file.path


def test_an_open_file_is_closed_with_its_store(path: Path) -> None:
    store = satchel.open(path)
    file = store.assets.put(some(200_000)).open()
    small = store.assets.put(b"small").open()
    store.close()
    assert file.closed
    assert small.closed
    with pytest.raises((satchel.Closed, ValueError)):
        file.read(1)
    with pytest.raises(satchel.Closed):
        store.assets.put(b"")


# Streams.


class Stream:
    """A file object that returns its answers."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def read(self, size: int) -> Any:
        answer = self.answers.pop(0) if self.answers else b""
        if isinstance(answer, BaseException):
            raise answer
        return answer(size) if callable(answer) else answer


def test_streams_are_read_to_their_end(assets: Assets) -> None:
    parts = [some(size, size) for size in (1, 70_000, 3, 200_000)]
    assert assets.put(Stream(*parts)).bytes() == b"".join(parts)  # type: ignore[arg-type]
    half = io.BytesIO(b"0123456789")
    half.seek(5)
    assert assets.put(half).bytes() == b"56789"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (ZeroDivisionError("oh"), ZeroDivisionError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        ("text", InvalidArgument),
        (None, InvalidArgument),
        (lambda size: b"x" * (size + 1), InvalidArgument),
    ],
)
def test_a_stream_that_fails_puts_nothing(assets: Assets, path: Path, answer: Any, error: Any) -> None:
    for before in (b"a", some(100_000)):
        with pytest.raises(error):
            assets.put(Stream(before, answer))  # type: ignore[arg-type]
    assert assets.list() == []
    assert files(path) == []


def test_a_stream_may_use_the_store_but_not_close_it(store: satchel.Store, assets: Assets) -> None:
    def use(_size: int) -> bytes:
        store.state.set("seen", True)
        with pytest.raises(satchel.Busy):
            store.close()
        return assets.put(b"within").bytes()

    assert assets.put(Stream(use, b" and after")).bytes() == b"within and after"  # type: ignore[arg-type]


# Lists, damage, and several users.


def test_lists(store: satchel.Store, assets: Assets, notes: satchel.Records[Any]) -> None:
    with store.batch():
        made = [assets.put(some(20, number)) for number in range(2500)]
    notes.put("n1", {"all": made[:2]})
    notes.put("n2", {"a": Asset(str(made[0].sha256), url="https://example.org/0")})
    everything = assets.list()
    assert [each.sha256 for each in everything] == [each.sha256 for each in made]
    assert list(assets.iterate()) == everything
    assert everything[0] == AssetInfo(
        made[0].sha256, 20, "here", 2, everything[0].urls, False, everything[0].used_at
    )
    assert [each.sha256 for each in assets.list(unused=False)] == [each.sha256 for each in made[:2]]
    assert len(assets.list("here", unused=True)) == 2498
    assert assets.list("missing") == assets.list("remote") == []


def test_damage_is_found_and_marked(assets: Assets, notes: satchel.Records[Any], path: Path) -> None:
    lost, damaged, sound = (assets.put(some(100_000, number)) for number in range(3))
    notes.put("n1", {"all": [lost, damaged, sound]})
    with damaged.open() as file, Path(str(file.path)).open("r+b") as other:
        other.write(b"!")
    with lost.open() as file:
        Path(str(file.path)).unlink()
    assert damaged.read(1, 5) == some(100_000, 1)[1:6]
    with pytest.raises(satchel.Damaged, match=str(damaged.sha256)):
        damaged.open(verify=True)
    with pytest.raises(satchel.Damaged, match=str(lost.sha256)):
        lost.bytes()
    seen: List[Any] = []
    with pytest.raises(satchel.Cancelled):
        assets.verify(progress=lambda progress: len(seen) < 1 and seen.append(progress) is None)
    report = assets.verify(progress=seen.append)
    assert (report.checked, report.lost, report.damaged) == (3, [lost.sha256], [damaged.sha256])
    assert (seen[-1].assets_done, seen[-1].assets_total) == (2, 3)
    assert [each.state for each in (lost, damaged, sound)] == ["missing", "missing", "here"]
    # Put again, they are there again.
    assert assets.put(some(100_000)) == lost
    assert assets.put(some(100_000, 1)).bytes() == some(100_000, 1)


def test_threads_put_and_read(store: satchel.Store, path: Path) -> None:
    def work(number: int) -> int:
        data = some(1000 + number % 4 * 50_000, number % 10)
        asset = store.assets.put(data)
        store.records("notes").put(f"n{number}", {"picture": asset})
        with asset.open() as file:
            return int(file.read() == data == store.assets.read(asset))

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(work, range(80))) == 80
    assert len(store.assets.list()) == 20
    assert sum(each.references for each in store.assets.list()) == 80
    assert len(files(path)) == 10


def test_two_processes_share_a_store(store: satchel.Store, path: Path) -> None:
    program = """
import random, sys, satchel
with satchel.open(sys.argv[1]) as store:
    for number in range(40):
        data = random.Random(f"{100_000 * (number % 3)} {number}").randbytes(100_000 * (number % 3))
        asset = store.assets.put(data)
        with asset.open() as file:
            assert file.read() == data
        store.records("notes").put(f"{sys.argv[2]}-{number}", {"picture": asset})
        if number % 4 == 0:
            store.assets.prune()
"""
    running = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in "ab"]
    assert [each.wait(120) for each in running] == [0, 0]
    assert sum(each.references for each in store.assets.list()) == 80
    assert store.assets.verify().lost == []
    assert len(store.assets.list()) == 27


def test_in_memory() -> None:
    with satchel.open(":memory:") as store:
        data = some(1_000_000)
        asset = store.assets.put(io.BytesIO(data))
        with asset.open() as file:
            assert (file.read(), file.path) == (data, None)
        store.records("notes").put("n1", {"picture": asset})
        assert store.assets.verify().checked == 1
        with pytest.raises(satchel.Full, match="268435456"):
            store.assets.put(Stream(*[b"x" * 262_144] * 1025))  # type: ignore[arg-type]


def test_a_read_only_store_reads(path: Path) -> None:
    with satchel.open(path) as store:
        asset = store.assets.put(some(100_000))
    with satchel.open(path, read_only=True) as store:
        assert store.assets.read(asset) == some(100_000)
        assert store.assets.verify().checked == 1
        for call in (lambda: store.assets.put(b""), store.assets.prune):
            with pytest.raises(satchel.ReadOnly):
                call()


def test_a_store_without_assets(path: Path) -> None:
    with satchel.open(path) as store:
        assert store.assets.list() == []
        assert store.assets.prune().bytes == 0
        assert store.assets.verify().checked == 0
        assert store.assets.info(NOBODYS).state == "missing"
        assert "assets" not in [each["name"] for each in store.statistics()["subjects"] if each["counts"]]


# asyncio.


def test_the_asynchronous_twin(path: Path) -> None:
    async def run() -> None:
        async with satchel.aio.open(path) as store:
            notes = await store.records("notes")
            asset = await store.assets.put(some(100_000), type="image/png")
            await notes.put("n1", {"picture": asset})
            found = await store.assets.get((await notes.get("n1"))["picture"])
            assert await store.assets.read(found, 10, 5) == some(100_000)[10:15]
            with await store.assets.open(found) as file:
                assert file.read() == some(100_000)
            small = await store.assets.variant(found, "small", lambda file: file.read(3))
            assert [each.size async for each in store.assets.iterate()] == [100_000, 3]
            assert (await store.assets.info(small)).variant
            seen: List[Any] = []
            report = await store.assets.verify(progress=seen.append)
            assert (report.checked, len(seen)) == (2, 2)
            assert (await store.assets.prune()).bytes == 100_003

    asyncio.run(run())
