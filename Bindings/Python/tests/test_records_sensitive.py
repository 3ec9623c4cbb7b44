"""Records: sensitive fields, which are sealed in every file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import satchel
from satchel.remote import Directory

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
LOG = bytes(range(2, 34))
SECRET = "plain-MARKER-of-a-field"


def has_secret(folder: Path) -> bool:
    return any(SECRET.encode() in each.read_bytes() for each in folder.rglob("*") if each.is_file())


def test_sensitive_fields_are_in_no_file(path: Path) -> None:
    document = {"name": "Ann", "token": SECRET, "profile": {"ssn": [SECRET, 1], "age": 7}}
    with satchel.open(path) as store:
        people = store.records("people", indexes=["name"], sensitive=["token", "/profile/ssn"])
        with pytest.raises(satchel.Unauthorized, match="people/ann: /token: is sensitive; set the"):
            people.put("ann", document)
        assert people.count() == 0
        store.state.set_key(KEY)
        people.put("ann", document)
        assert people["ann"] == document
        assert people.ids(where={"name": "Ann"}) == ["ann"]
        assert store.collections()[0].sensitive == ["token", "/profile/ssn"]
        people.update("ann", {"profile": {"age": 8}})
        assert people["ann"]["profile"] == {"ssn": [SECRET, 1], "age": 8}
        assert not has_secret(path.parent)
        store.backup(path.parent / "backup.satchel")
        store.state.rotate_key(OTHER)
        assert people["ann"]["token"] == SECRET
        assert not has_secret(path.parent)
        assert store.check() == []
    with satchel.open(path) as store:
        people = store.records("people")
        for read in (lambda: people.get("ann"), lambda: people.list()):
            with pytest.raises(satchel.Unauthorized, match="people/ann: /token"):
                read()
        with pytest.raises(satchel.Unauthorized, match="people"):
            store.state.set_key(KEY)
        store.state.set_key(OTHER)
        assert people["ann"]["token"] == SECRET


def test_existing_records_are_sealed_and_opened_again(store: satchel.Store) -> None:
    people = store.records("people")
    people.put_many({f"p{number}": {"n": number, "token": SECRET} for number in range(300)})
    with pytest.raises(satchel.Unauthorized, match="key"):
        store.records("people", sensitive=["token"])
    store.state.set_key(KEY)
    people = store.records("people", sensitive=["token"])
    assert people["p299"] == {"n": 299, "token": SECRET}
    with pytest.raises(satchel.InvalidArgument, match="sensitive"):
        people.list(order_by="token")
    people = store.records("people", indexes=["token"], redeclare=True)
    assert people.count(where={"token": SECRET}) == 300
    assert store.collections()[0].sensitive == []


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"sensitive": ["a"], "indexes": ["a.b"]}, "cannot be an index"),
        ({"sensitive": ["a.b"], "relations": {"a": "people"}}, "cannot be a relation"),
        ({"sensitive": ["a", "/a/0"]}, "one is in the other"),
        ({"sensitive": ["a", "a"]}, "one is in the other"),
        ({"sensitive": [1]}, "must be a str"),
        ({"sensitive": "token"}, "sensitive"),
        ({"sensitive": ["@id"]}, "not a field"),
    ],
)
def test_what_cannot_be_sensitive_is_refused(store: satchel.Store, declared: Any, message: str) -> None:
    with pytest.raises(satchel.InvalidArgument, match=message):
        store.records("people", **declared)
    assert store.collections() == []


def test_sensitive_fields_travel_in_an_encrypted_remote_only(tmp_path: Path) -> None:
    (tmp_path / "remote").mkdir()
    remote = Directory(tmp_path / "remote")
    one, two = (satchel.open(tmp_path / f"{name}.satchel") for name in ("one", "two"))
    with one, two:
        one.state.set_key(KEY)
        mine = one.records("people", sensitive=["token"])
        mine.put("ann", {"token": SECRET})
        one.state.set("pin", SECRET, sensitive=True, synced=True)
        report = one.sync(remote, "ada")
        assert [(each.collection, each.id) for each in report.failed] == [
            ("people", "ann"),
            ("@state", "value/pin"),
        ]
        assert not has_secret(tmp_path)
        assert one.rekey(remote, "ada", LOG).failed == []
        theirs = two.records("people", sensitive=["token"])
        report = two.sync(remote, "ada", key=LOG)
        assert report.records.waiting == 1
        assert "set the encryption key" in (theirs.conflicts()[0].reason or "")
        assert not has_secret(tmp_path)
        two.state.set_key(OTHER)
        assert theirs["ann"] == {"token": SECRET}
        assert two.state.get("pin") == SECRET
        assert two.sync(remote, "ada", key=LOG).unchanged
        assert not has_secret(tmp_path)
