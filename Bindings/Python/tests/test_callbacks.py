"""Calls from callbacks that would have to wait for the callback itself are refused at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

import pytest
from helpers import SHANGHAI, eventually, section
from hosts import DictStore

import satchel


class Refusals:
    """The outcomes of closing a store in callbacks."""

    def __init__(self) -> None:
        self.seen: List[type] = []

    def close(self, store: satchel.Store) -> None:
        try:
            store.close()
        except satchel.SatchelError as error:
            self.seen.append(type(error))
        else:
            self.seen.append(type(None))

    def check(self) -> None:
        assert self.seen
        assert set(self.seen) == {satchel.Busy}
        self.seen.clear()


def test_a_store_stays_open_in_its_callbacks(tmp_path: Path) -> None:
    refusals = Refusals()
    stores: List[satchel.Store] = []
    notes: List[Any] = []

    def clock() -> int:
        for store in stores:
            refusals.close(store)
            with pytest.raises(satchel.Busy):
                store.records("notes")
        return 1_700_000_000_000

    path = tmp_path / "store.satchel"
    with satchel.open(path, clock=clock) as store:
        stores.append(store)
        store.catalogue.persist(SHANGHAI, section({"n": 1}))
        refusals.check()
        stores.clear()

    with satchel.open(path) as store:
        with store.observe(lambda change: refusals.close(store)):
            store.catalogue.persist(SHANGHAI, section({"n": 2}))
        refusals.check()
        with store.catalogue.session(lambda event: refusals.close(store)) as session:
            session.show(SHANGHAI)
            refusals.check()
            session.load("cuisine")
            assert eventually(lambda: len(refusals.seen) == 2)
        refusals.check()
        store.backup(tmp_path / "backup", progress=lambda progress: refusals.close(store))
        refusals.check()

        def migrate(document: Dict[str, Any]) -> Dict[str, Any]:
            refusals.close(store)
            return document

        store.records("notes").put("a", {})
        notes.append(store.records("notes", version=2, migrations=[migrate]))
        refusals.check()
        assert notes[0].ids() == ["a"]


def test_another_store_can_be_closed_in_a_callback(tmp_path: Path) -> None:
    other = satchel.open(tmp_path / "other.satchel")
    with satchel.open(tmp_path / "store.satchel") as store:
        with store.observe(lambda change: other.close()):
            store.catalogue.persist(SHANGHAI, section({"n": 1}))
        assert other.closed


def test_a_store_that_a_clock_closes_in_vain_stays_usable(tmp_path: Path) -> None:
    refusals = Refusals()
    other = satchel.open(tmp_path / "other.satchel")

    def clock() -> int:
        refusals.close(other)
        return 1_700_000_000_000

    with satchel.open(tmp_path / "store.satchel", clock=clock) as store:
        store.catalogue.persist(SHANGHAI, section({"n": 1}))
    refusals.check()
    assert not other.closed
    other.records("notes").put("a", {})
    other.close()


@pytest.mark.parametrize("subject", ["photos", "store"])
def test_a_synchronization_cannot_begin_in_itself(tmp_path: Path, subject: str) -> None:
    refusals = Refusals()
    again: List[type] = []

    with satchel.open(tmp_path / "store.satchel") as store:
        photos = store.photos(tmp_path / "photos")
        photos.upsert([{"md5": "0" * 32, "filename": "a.jpg", "size": 1, "photodate": 1, "modified": 1}])
        notes = store.records("notes")
        notes.put("a", {})

        def sync(**options: Any) -> Any:
            return (photos if subject == "photos" else store).sync(remote, "ana", **options)

        def callback(*arguments: Any, **more: Any) -> None:
            refusals.close(store)
            try:
                sync()
            except satchel.SatchelError as error:
                again.append(type(error))

        host = DictStore()
        functions = {
            name: calling(callback, getattr(host, name)) for name in ("get", "put", "head", "delete", "list")
        }
        with satchel.remote.Callbacks(**functions, identity=host.identity) as remote:
            assert sync(progress=callback).failed == []
        refusals.check()
        assert set(again) == {satchel.Busy}


def calling(callback: Any, function: Any) -> Any:
    def call(*arguments: Any, **more: Any) -> Any:
        callback()
        return function(*arguments, **more)

    return call
