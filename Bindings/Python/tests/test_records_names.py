"""The names that stay, as programs write them."""

from __future__ import annotations

import inspect
from pathlib import Path

import satchel
from satchel.remote import Remote


def test_a_program_as_it_is_written(tmp_path: Path, remote_copy: Remote) -> None:
    store = satchel.open(tmp_path / "app.satchel")
    semesters = store.records("semesters")
    records = store.records(
        "courses",
        indexes=["title", {"path": "code", "unique": True}],
        relations={"semester": {"collection": "semesters", "on_delete": "cascade"}},
        schema=None,
        version=1,
        migrations=[],
    )
    with store.batch():
        semesters.put("spring", {"name": "Spring"})
        records.put("c1", {"title": "Algebra", "code": "A1", "semester": "spring"})
        records.put("c2", {"title": "Logic", "code": "L1"})
    assert records.get("c1") == {"title": "Algebra", "code": "A1", "semester": "spring"}
    found = records.list(where={"title": {"prefix": "A"}}, order_by="title", limit=5)
    assert found == [{"title": "Algebra", "code": "A1", "semester": "spring"}]
    assert [each.id for each in found] == ["c1"]
    assert records.count() == 2
    assert records.delete("c2")

    store.state.set("token", 5, sensitive=False)
    assert store.state.get("token") == 5
    store.state.list("history", limit=10).push("algebra")
    assert store.state.scores("cuisine").add("chinese", 0.5) == 0.5
    store.state.flush()

    records.mirror(tmp_path / "courses.json")
    assert records.verify_mirror() == []
    report = store.sync(remote_copy, "ada", dry_run=False, accept_loss=False, parallel=4, progress=None)
    assert report.records.uploaded == 2
    assert report.failed == []
    assert records.conflicts() == []

    store.backup(tmp_path / "app.backup", progress=None)
    store.close()
    satchel.restore(tmp_path / "app.backup", tmp_path / "app.satchel")
    with satchel.open(tmp_path / "app.satchel") as store:
        assert store.state.list("history", limit=10).values() == ["algebra"]


def test_arguments_have_their_names_and_places() -> None:
    assert list(inspect.signature(satchel.restore).parameters) == ["backup", "path"]
    assert list(inspect.signature(satchel.Store.backup).parameters) == ["self", "path", "progress", "assets"]
    setting = list(inspect.signature(satchel.State.set).parameters)
    assert setting == ["self", "key", "value", "sensitive", "synced"]
    listing = list(inspect.signature(satchel.Records.list).parameters)
    assert listing[:4] == ["self", "where", "order_by", "limit"]
    syncing = list(inspect.signature(satchel.Store.sync).parameters)
    assert syncing[:3] == ["self", "remote", "user"]
