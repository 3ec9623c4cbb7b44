"""The asynchronous store: opening, its subjects, iterators and callbacks."""

from __future__ import annotations

import asyncio
import gc
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Awaitable, Callable, List

import pytest
from helpers import SHANGHAI, section, storage

import satchel
import satchel.aio

# A machine under load may take this long; nothing waits for it in vain.
LONG = 60.0


def run(main: Callable[[satchel.aio.Store], Awaitable[None]], path: Any = ":memory:", **options: Any) -> None:
    """Runs a coroutine with a store."""

    async def opened() -> None:
        async with satchel.aio.open(path, **options) as store:
            await main(store)

    asyncio.run(asyncio.wait_for(opened(), LONG))


def test_opening_and_closing(path: Path) -> None:
    async def main() -> None:
        store = await satchel.aio.open(path)
        assert repr(store) == f"<satchel.aio.Store {str(path)!r}>"
        assert (store.path, store.read_only, store.closed) == (str(path), False, False)
        notes = await store.records("notes")
        async with store:
            await notes.put("a", {"n": 1})
        assert store.closed
        assert notes.closed
        for call in (notes.get("a"), store.info(), store.records("notes")):
            with pytest.raises(satchel.Closed):
                await call
        await store.close()
        async with satchel.aio.open(path, read_only=True) as store:
            assert store.read_only
            async with await store.records("notes") as notes:
                assert await notes.get("a") == {"n": 1}
            assert notes.closed
        with pytest.raises(satchel.NotFound):
            await satchel.aio.open(path.parent / "missing", read_only=True)
        for seconds in (-1, "1"):
            with pytest.raises(satchel.InvalidArgument, match="busy_timeout"):
                await satchel.aio.open(path, busy_timeout=seconds)  # type: ignore[arg-type]
        with pytest.raises(satchel.InvalidArgument, match="durability"):
            async with satchel.aio.open(path, durability="none"):
                pass

    asyncio.run(main())


def test_the_subjects(path: Path, tmp_path: Path, shelf: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        bun = {"text": "soup", **storage("cuisine:bun")}
        receipt = await store.catalogue.persist(SHANGHAI, section({"Bun": bun}))
        assert receipt.saved == 1
        assert [each.entity_id for each in await store.catalogue.search("soup")] == ["cuisine:bun"]
        await store.state.set("theme", "dark")
        searches = await store.state.list("searches", limit=2)
        await searches.push("kepler")
        assert await searches.values() == ["kepler"]
        assert await (await store.state.scores("cuisine")).add("chinese", 0.5) == 0.5
        favourites = await store.state.members("favourites")
        assert await favourites.add(1)
        assert (await favourites.has(1), await favourites.has(2)) == (True, False)
        assert await store.state.flush()
        async with await store.stories(shelf) as books:
            assert len(list(await books.load_all())) == 5
            assert books.directory == str(shelf)
        photos = await store.photos(tmp_path / "photos")
        lake = {"md5": "d41d8cd98f00b204e9800998ecf8427e", "filename": "lake.jpg", "size": 1}
        await photos.upsert({**lake, "photodate": 1, "modified": 1})
        assert [each.filename async for each in photos.iterate(starred=False)] == ["lake.jpg"]
        await photos.backup.queue(lake["md5"])
        assert (await photos.backup.claim()) is not None
        remote = satchel.remote.Directory(tmp_path / "remote")
        report = await store.sync(remote, "ada")
        assert report.ok
        backup = await store.backup(tmp_path / "copy")
        assert backup.pages > 0
        assert await store.check() == []
        assert (await store.info()).path == str(path)
        assert await store.statistics()
        with pytest.raises(satchel.InvalidArgument, match="/n"):
            await (await store.records("notes")).put("a", {"n": float("nan")})
        remote.close()

    run(main, path)


def test_iterating_in_portions(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        await notes.put_many({f"{each:04}": {"n": each} for each in range(450)})
        assert [each["n"] async for each in notes.iterate(order_by="-n")] == list(range(449, -1, -1))
        assert [each.id async for each in notes][:2] == ["0000", "0001"]
        async for each in notes.iterate({"n": {"gte": 7}}):
            assert each.id == "0007"
            break
        with pytest.raises(satchel.InvalidArgument):
            async for _ in notes.iterate({"n": {"near": 7}}):
                pass

    run(main, path)


def test_reads_run_at_the_same_time(path: Path) -> None:
    both = threading.Barrier(2)

    @dataclass
    class Note:
        n: int

        def __post_init__(self) -> None:
            both.wait(LONG)

    async def main(store: satchel.aio.Store) -> None:
        await (await store.records("notes")).put("a", {"n": 1})
        notes = await store.records("notes", of=Note)
        # One after the other they would wait for each other.
        one, other = await asyncio.gather(notes.get("a"), notes.get("a"))
        assert one == other

    run(main, path)


def test_writes_keep_the_order_in_which_they_were_awaited(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        revisions = await asyncio.gather(*(notes.put("a", {"n": each}) for each in range(30)))
        assert revisions == list(range(1, 31))
        assert await notes.get("a") == {"n": 29}

    run(main, path)


def test_changes(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        async with store.changes() as changes:
            await notes.put("a", {})
            await notes.put("b", {})
            found = [(await changes.__anext__()).records[0].id for _ in range(2)]
            assert found == ["a", "b"]
            # Of another handle of the same file.
            with satchel.open(path) as other:
                other.records("notes").put("c", {})
            change = await changes.__anext__()
            assert (change.own, change.records[0].id) == (False, "c")
        with pytest.raises(StopAsyncIteration):
            await changes.__anext__()
        # They end with the store, also while something waits.
        waiting = asyncio.ensure_future(collect(store.changes()))
        while not store._blocking._observers:
            await asyncio.sleep(0)
        await store.close()
        assert await waiting == []

    async def collect(changes: satchel.aio.Changes) -> List[satchel.Change]:
        return [each async for each in changes]

    run(main, path)


def test_changes_that_no_one_takes_are_bounded(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        async with store.changes() as changes:
            for number in range(2500):
                notes._blocking.put("x", {"n": number})
                if number == 1000:
                    store._blocking.state.set("theme", "dark")
                    store._blocking.state.flush()
            assert len(changes._changes) <= 1001
            found = [await changes.__anext__() for _ in range(len(changes._changes))]
            assert {each.subject for each in found if each.concerns_all} == {"records", "state"}
            assert all(each.own for each in found)
            assert found[-1].records == [satchel.RecordKey("notes", "x")]
            # No commit is lost: those that are kept follow each other, and the joined ones.
            kept = [each.revision for each in found if not each.concerns_all]
            assert kept == list(range(kept[0], kept[-1] + 1))
            assert max(each.revision for each in found if each.concerns_all) == kept[0] - 1

    run(main, path)


def test_a_result_whose_next_was_cancelled_is_returned_by_the_following_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        await notes.put("a", {"n": 1})
        decoding, go_on = threading.Event(), threading.Event()
        read = satchel.records.Watch._result

        def slow(self: Any, taken: Any) -> Any:
            found = read(self, taken)
            decoding.set()
            assert go_on.wait(LONG)
            return found

        monkeypatch.setattr(satchel.records.Watch, "_result", slow)
        async with notes.watch() as results:
            for _ in range(3):
                waiting = asyncio.ensure_future(results.next())
                while not decoding.is_set():
                    await asyncio.sleep(0)
                await asyncio.sleep(0)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            await notes.put("b", {"n": 2})
            go_on.set()
            assert [each.id for each in await results.next() or []] == ["a"]
            assert [each.id for each in await results.next() or []] == ["a", "b"]
            # Cancelled while it waits: nothing was taken.
            waiting = asyncio.ensure_future(results.next())
            await asyncio.sleep(0)
            waiting.cancel()
            await notes.put("c", {"n": 3})
            assert [each.id for each in await results.next() or []] == ["a", "b", "c"]

    run(main, path)


def test_changes_that_no_one_asks_for_any_more_are_closed(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        changes = store.changes()
        await changes.__aenter__()
        await notes.put("a", {})
        async for change in changes:
            assert change.records[0].id == "a"
            break
        assert store._blocking._observers
        del changes
        gc.collect()
        assert not store._blocking._observers

    run(main, path)


def test_live_queries(path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        async with notes.watch({"n": {"gte": 2}}, order_by="-n") as results:
            assert await results.__anext__() == []
            await notes.put("a", {"n": 1})
            await notes.put("b", {"n": 2})
            assert [each.id for each in await results.__anext__()] == ["b"]
            assert await results.next(timeout=0.001) is None
        async for found in notes.watch():
            assert {each.id for each in found} == {"a", "b"}
            break
        with pytest.raises(satchel.InvalidArgument):
            async for _ in notes.watch(limit=-1):
                pass
        ending = notes.watch()
        assert len(await ending.__anext__()) == 2
        await store.close()
        assert await ending.next() is None

    run(main, path)


def test_callbacks_run_on_the_loop(path: Path, tmp_path: Path) -> None:
    loop_thread = threading.get_ident()
    seen: List[Any] = []

    def note(value: Any) -> None:
        assert threading.get_ident() == loop_thread
        seen.append(value)

    async def main(store: satchel.aio.Store) -> None:
        async with await store.observe(note):
            await (await store.records("notes")).put("a", {})
            while not seen:
                await asyncio.sleep(0)
        seen.clear()
        session = await store.catalogue.session(note)
        await session.show(SHANGHAI)
        while len(seen) < 2:
            await asyncio.sleep(0)
        assert {each["event"] for each in seen} >= {"refresh"}
        await session.close()
        seen.clear()
        await store.backup(tmp_path / "copy", progress=note)
        assert seen[-1].pages_done == seen[-1].pages_total
        with pytest.raises(satchel.InvalidArgument, match="progress"):
            await store.backup(tmp_path / "copy", progress=3)  # type: ignore[arg-type]
        with pytest.raises(satchel.InvalidArgument, match="callback"):
            await store.observe(3)  # type: ignore[arg-type]

    run(main, path)


def test_a_progress_callback_cancels_and_raises(path: Path, tmp_path: Path) -> None:
    async def main(store: satchel.aio.Store) -> None:
        with pytest.raises(satchel.Cancelled):
            await store.backup(tmp_path / "copy", progress=lambda progress: False)
        with pytest.raises(ZeroDivisionError):
            await store.backup(tmp_path / "copy", progress=lambda progress: 1 / 0)
        assert not (tmp_path / "copy").exists()

    run(main, path)


def test_a_store_in_memory() -> None:
    async def main(store: satchel.aio.Store) -> None:
        notes = await store.records("notes")
        async with store.batch():
            await notes.put("a", {"n": 1})
        assert await notes.count() == 1

    run(main)
