"""Synchronizing a store with an encryption key."""

from pathlib import Path

import pytest

import satchel

KEY, OTHER = b"k" * 32, b"l" * 32


@pytest.fixture
def remote(tmp_path: Path) -> satchel.remote.Directory:
    (tmp_path / "remote").mkdir()
    return satchel.remote.Directory(str(tmp_path / "remote"))


def opened(folder: Path, name: str) -> satchel.Store:
    return satchel.open(str(folder / f"{name}.satchel"))


def test_neither_ids_nor_documents_can_be_read_in_the_remote(tmp_path, remote):
    with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
        one.records("notes").put("secret-id", {"text": "a secret"})
        one.sync(remote, "ada", key=KEY)
        contents = [path.read_bytes() for path in (tmp_path / "remote").rglob("*") if path.is_file()]
        assert contents
        assert not any(b"secret" in content for content in contents)
        notes = two.records("notes")
        for key in (None, OTHER):
            with pytest.raises(satchel.Unauthorized):
                two.sync(remote, "ada", key=key)
        with pytest.raises(satchel.InvalidArgument):
            two.sync(remote, "ada", key=b"short")
        with pytest.raises(satchel.InvalidArgument, match="bytes"):
            two.sync(remote, "ada", key="k" * 32)
        assert two.sync(remote, "ada", key=KEY).records.downloaded == 1
        assert notes.get("secret-id") == {"text": "a secret"}


def test_the_key_is_changed_for_all_devices(tmp_path, remote):
    with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
        notes, theirs = one.records("notes"), two.records("notes")
        notes.put("a", {"n": 1})
        one.sync(remote, "ada")
        two.sync(remote, "ada")
        one.rekey(remote, "ada", KEY)
        one.rekey(remote, "ada", OTHER, old_key=KEY)
        theirs.put("b", {"n": 2})
        with pytest.raises(satchel.Unauthorized):
            two.sync(remote, "ada", key=KEY)
        two.sync(remote, "ada", key=OTHER)
        one.sync(remote, "ada", key=OTHER)
        assert dict(notes.get("b")) == {"n": 2}
        two.rekey(remote, "ada", None, old_key=OTHER)
        for key in (None, OTHER):
            with pytest.raises(satchel.Unauthorized):
                one.sync(remote, "ada", key=key)
        # A device follows a decryption by the same call.
        one.rekey(remote, "ada", None, old_key=OTHER)
        assert one.sync(remote, "ada").failed == []


def test_a_log_that_has_lost_its_key_is_replaced_only_when_the_loss_is_accepted(tmp_path, remote):
    head = tmp_path / "remote" / "records" / "ada" / "head"
    with opened(tmp_path, "one") as one, opened(tmp_path, "stranger") as stranger:
        one.records("notes").put("mine", {"n": 1})
        one.sync(remote, "ada", key=KEY)
        head.unlink()
        stranger.records("notes").put("evil", {"n": 2})
        stranger.sync(remote, "ada")
        for key in (KEY, None, OTHER):
            with pytest.raises(satchel.Unauthorized) as caught:
                one.sync(remote, "ada", key=key)
            assert "rekey" not in str(caught.value)
        with pytest.raises(satchel.Unauthorized):
            one.rekey(remote, "ada", KEY)
        one.sync(remote, "ada", key=KEY, accept_loss=True)
        assert one.records("notes").get("mine") == {"n": 1}
        assert one.records("notes").count() == 1


def test_a_purge_removes_the_bytes_of_what_was_replaced(tmp_path, remote):
    def has(text: bytes) -> bool:
        return any(text in path.read_bytes() for path in (tmp_path / "remote").rglob("*") if path.is_file())

    with opened(tmp_path, "one") as one:
        notes = one.records("notes")
        notes.put("a", {"text": "first words", "more": "x" * 20000})
        one.sync(remote, "ada")
        notes.put("a", {"text": "others", "more": "x" * 20000})
        one.sync(remote, "ada")
        assert has(b"first words")
        one.sync(remote, "ada", purge=True)
        assert not has(b"first words")
        assert has(b"others")


def test_verifying_writes_again_what_is_damaged(tmp_path, remote):
    with opened(tmp_path, "one") as one:
        one.records("notes").put("a", {"text": "x" * 20000})
        one.sync(remote, "ada")
        [pack] = [path for path in (tmp_path / "remote/records/ada/p").iterdir() if path.suffix == ""]
        content = bytearray(pack.read_bytes())
        content[5000] ^= 1
        pack.write_bytes(content)
        assert one.sync(remote, "ada").repaired == 0
        assert one.sync(remote, "ada", verify=True).repaired == 1
