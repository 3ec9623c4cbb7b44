"""State: sensitive values, which are sealed, and their keys."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import satchel
from satchel import State

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))


def test_a_secret_is_not_in_the_file(path: Path) -> None:
    secret = "correct horse battery staple"
    with satchel.open(path) as store:
        with pytest.raises(satchel.Unauthorized, match="key"):
            store.state.set("token", secret, sensitive=True)
        store.state.set_key(KEY)
        store.state.set("token", secret, sensitive=True)
        store.state.set("open", "sesame")
        assert store.state.get("token") == secret
        store.state.flush()
        files = [each.read_bytes() for each in path.parent.iterdir() if each.name.startswith(path.name)]
        assert not any(secret.encode() in data for data in files)
        assert any(b"sesame" in data for data in files)
    assert secret.encode() not in path.read_bytes()
    with satchel.open(path) as store:
        with pytest.raises(satchel.Unauthorized, match="key"):
            store.state.get("token")
        assert store.state.get("open") == "sesame"
        assert store.state.keys() == ["open", "token"]
        store.state.set_key(KEY)
        assert store.state.get("token") == secret


def test_lists_sets_and_scores_can_be_secret(path: Path) -> None:
    secret = "correct horse battery staple"
    with satchel.open(path) as store:
        history = store.state.list("history", limit=3, sensitive=True)
        with pytest.raises(satchel.Unauthorized, match="set the encryption key first"):
            history.push(secret)
        with pytest.raises(satchel.Unauthorized, match="set the encryption key first"):
            history.items()
        store.state.set_key(KEY)
        history.push(secret)
        members, scores = store.state.members("m", sensitive=True), store.state.scores("s", sensitive=True)
        assert [members.add({"word": secret}) for _ in range(2)] == [True, False]
        assert scores.add(secret, 0.5) == 0.5
        store.state.flush()
        for each in path.parent.iterdir():
            assert secret.encode() not in each.read_bytes(), each
        store.state.rotate_key(OTHER)
        assert {"word": secret} in members
        assert scores.all() == {secret: 0.5}
    with satchel.open(path) as store:
        # The mark is stored.
        with pytest.raises(satchel.Unauthorized, match="set the encryption key first"):
            store.state.members("m").values()
        with pytest.raises(satchel.Unauthorized, match="another key"):
            store.state.set_key(KEY)
        store.state.set_key(OTHER)
        assert store.state.list("history").values() == [secret]
        assert store.state.list("history", sensitive=False).values() == [secret]
        assert list(store.state.members("m", sensitive=False)) == [{"word": secret}]
        assert store.check() == []
    with satchel.open(path) as store:
        assert store.state.list("history").values() == [secret]
        assert store.state.list("other", sensitive=False).values() == []
        with pytest.raises(satchel.Unauthorized, match="set the encryption key first"):
            store.state.list("history", sensitive=True)
        assert store.state.list("history").values() == [secret]


def test_copies_have_what_is_secret_and_stay_encrypted(path: Path, tmp_path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        store.state.list("l", sensitive=True).push("s3cr3t")
        store.state.members("m", sensitive=True).add("s3cr3t")
        store.state.scores("s", sensitive=True).add("s3cr3t", 0.5)
        store.backup(tmp_path / "backup")
    restored, recovered = tmp_path / "restored", tmp_path / "recovered"
    satchel.restore(tmp_path / "backup", restored)
    # As when this row was lost.
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM record_collection WHERE name = '@state'")
    connection.commit()
    connection.close()
    satchel.recover(path, recovered)
    for copy in (restored, recovered):
        assert b"s3cr3t" not in copy.read_bytes()
        with satchel.open(copy) as store:
            assert store.check() == []
            with pytest.raises(satchel.Unauthorized, match="set the encryption key first"):
                store.state.members("m").add(1)
            store.state.set_key(KEY)
            assert store.state.list("l").values() == store.state.members("m").values() == ["s3cr3t"]
            assert store.state.scores("s").all() == {"s3cr3t": 0.5}
            assert store.check() == []


def test_what_was_encrypted_with_a_lost_key_can_be_cleared(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        store.state.list("l", sensitive=True).push(1)
        store.state.members("m", sensitive=True).add(2)
        store.state.scores("s", sensitive=True).add("k", 0.5)
    with satchel.open(path) as store:
        for part in (store.state.list("l"), store.state.members("m"), store.state.scores("s")):
            with pytest.raises(satchel.Unauthorized, match="another key"):
                store.state.set_key(OTHER)
            part.clear()
            store.state.flush()
        store.state.set_key(OTHER)
        assert store.state.members("m").add(2)
        assert store.state.scores("s").all() == {}
    with satchel.open(path) as store:
        store.state.set_key(OTHER)
        assert store.state.members("m").values() == [2]


def test_a_wrong_key_is_reported_and_destroys_nothing(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        store.state.set("token", "one", sensitive=True)
    with satchel.open(path) as store:
        with pytest.raises(satchel.Unauthorized, match="key"):
            store.state.set_key(OTHER)
        with pytest.raises(satchel.Unauthorized):
            store.state.get("token")
        with pytest.raises(satchel.Unauthorized):
            store.state.rotate_key(OTHER)
        with pytest.raises(satchel.Unauthorized):
            store.state.set("token", "two", sensitive=True)
        store.state.set_key(KEY)
        assert store.state.get("token") == "one"
        store.state.rotate_key(OTHER)
        assert store.state.get("token") == "one"
        store.state.set("second", "two", sensitive=True)
    with satchel.open(path) as store:
        with pytest.raises(satchel.Unauthorized):
            store.state.set_key(KEY)
        store.state.set_key(OTHER)
        assert [store.state.get(each) for each in ("token", "second")] == ["one", "two"]


def test_a_sealed_value_that_was_tampered_with_is_reported(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        store.state.set("a", "one", sensitive=True)
        store.state.set("b", "two", sensitive=True)
    connection = sqlite3.connect(path)
    # The value of one key cannot stand for another's.
    bodies = dict(connection.execute("SELECT key, body FROM record WHERE key IN ('value/a', 'value/b')"))
    assert len(bodies) == 2
    connection.execute("UPDATE record SET body = ? WHERE key = 'value/b'", (bodies["value/a"],))
    connection.commit()
    connection.close()
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        assert store.state.get("a") == "one"
        with pytest.raises(satchel.SatchelError):
            store.state.get("b")


@pytest.mark.parametrize("key", [b"", b"x" * 31, b"x" * 33, "x" * 32, None, 5])
def test_what_is_no_key_is_refused_and_not_repeated(state: State, key: Any) -> None:
    for call in (state.set_key, state.rotate_key):
        with pytest.raises(satchel.InvalidArgument) as caught:
            call(key)
        assert "xxxx" not in str(caught.value)


def test_a_value_can_cease_to_be_a_secret(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set_key(KEY)
        store.state.set("a", "one", sensitive=True)
        store.state.flush()
        store.state.set("a", "two")
    with satchel.open(path) as store:
        assert store.state.get("a") == "two"
