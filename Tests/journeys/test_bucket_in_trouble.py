"""A bucket that is emptied, put back from a snapshot, and moved to an attacker.

Ada and Bea share an account for their household, with one bucket and a key that only they know. A
housekeeping rule deletes everything in it; the provider puts a snapshot back; later somebody else gets the
bucket's name and fills it with a log of his own.
"""

import shutil

import pytest
import satchel
from journey import Clock, documents, settled

HOUSEHOLD, STRANGER = b"h" * 32, b"s" * 32


def emptied(folder):
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_a_bucket_is_emptied_put_back_and_stolen(device, cloud, tmp_path):
    bucket = tmp_path / "cloud"
    clock = Clock()
    phone, tablet = device("phone", clock), device("tablet", clock)
    shopping, on_tablet = phone.records("shopping"), tablet.records("shopping")
    shopping.put_many({f"item{each}": {"count": each} for each in range(30)})
    settled("home", cloud, phone, tablet, key=HOUSEHOLD)
    shutil.copytree(bucket, tmp_path / "snapshot")
    shopping.put("after the snapshot", {"count": 1})
    shopping.delete("item0")
    settled("home", cloud, phone, tablet, key=HOUSEHOLD)
    shopping.put("unsent", {"count": 2})

    # Everything in it is gone, the folder of its marker included. Nothing is written, and nothing local is
    # deleted.
    emptied(bucket)
    for store in (phone, tablet):
        with pytest.raises(satchel.Unavailable):
            store.sync(cloud, "home", key=HOUSEHOLD)
    assert list(bucket.iterdir()) == []
    assert shopping.count() == 31

    # One device sends everything again, because she says so; the other one goes on.
    phone.sync(cloud, "home", key=HOUSEHOLD, recreate=True)
    settled("home", cloud, tablet, phone, key=HOUSEHOLD)
    assert documents(on_tablet) == documents(shopping)
    assert shopping.count() == 31

    # The provider puts the snapshot back. The devices know more than it: nothing is lost, and nothing
    # resurrected.
    emptied(bucket)
    shutil.copytree(tmp_path / "snapshot", bucket, dirs_exist_ok=True)
    on_tablet.put("after it was put back", {"count": 3})
    settled("home", cloud, phone, tablet, key=HOUSEHOLD)
    assert documents(on_tablet) == documents(shopping)
    assert "item0" not in documents(shopping)
    assert {"after the snapshot", "unsent", "after it was put back"} <= set(documents(shopping))

    # Strangers fill the bucket with logs of their own, without a key and with another one. Nothing of theirs
    # reaches the devices, and nothing of the devices reaches them.
    before = documents(shopping)
    for number, (key, said) in enumerate(
        ((None, "another program has replaced it"), (STRANGER, "another key"))
    ):
        emptied(bucket)
        stranger = device(f"stranger {number}", clock)
        stranger.records("shopping").put("poison", {"count": 666})
        stranger.sync(cloud, "home", key=key)
        theirs = {path.name: path.read_bytes() for path in bucket.rglob("*") if path.is_file()}
        for store in (phone, tablet):
            with pytest.raises(satchel.Unauthorized, match=said):
                store.sync(cloud, "home", key=HOUSEHOLD)
        assert {path.name: path.read_bytes() for path in bucket.rglob("*") if path.is_file()} == theirs
        assert documents(shopping) == documents(on_tablet) == before

    # They take another bucket: everything is sent there, and the devices go on.
    other = satchel.remote.Directory(tmp_path / "other cloud")
    for store in (phone, tablet):
        with pytest.raises(satchel.ForeignFile):
            store.sync(other, "home", key=HOUSEHOLD)
    settled("home", other, phone, tablet, key=HOUSEHOLD, first="upload")
    shopping.put("in the other bucket", {"count": 4})
    settled("home", other, phone, tablet, key=HOUSEHOLD)
    assert documents(shopping) == documents(on_tablet) == {**before, "in the other bucket": {"count": 4}}
