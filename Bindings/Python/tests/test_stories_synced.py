"""Reading progress and purchases on several devices, for several users, and the names of libraries."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any, Callable, List

import pytest
import tales
from tales import segment, story

import satchel
from satchel.remote import Directory

FIRST = story([segment("rim", "meadow", "home"), segment("meadow", "tree"), segment("tree"), segment("home")])
#: The meadow has another name.
OTHER = story(
    [
        segment("rim", "field", "home"),
        {**segment("field", "tree"), "text": "Text of meadow."},
        segment("tree"),
        segment("home"),
    ]
)


class Device:
    """A store, and its stories in a folder of its own path."""

    def __init__(self, folder: Path, version: Any = FIRST, now: int = 1_000_000) -> None:
        self.folder, self.tales, self.now = folder, folder / "app" / folder.name / "tales", now
        self.write(version)
        self.store = satchel.open(folder / "app.satchel", clock=lambda: self.now)
        self.library = self.store.stories(self.tales)

    def write(self, version: Any) -> None:
        self.tales.mkdir(parents=True, exist_ok=True)
        (self.tales / "t.json").write_bytes(tales.encoded(version))

    def read(self, *segments: str) -> None:
        for each in segments:
            self.now += 1000
            self.library.progress("t").move_to(each)

    @property
    def progress(self) -> satchel.stories.StoryProgress:
        return self.library.progress("t")

    @property
    def bought(self) -> List[str]:
        return [each.id for each in self.library.filter(purchased=True)]


@pytest.fixture
def device(tmp_path: Path) -> Any:
    devices: List[Device] = []

    def made(name: str, *version: Any) -> Device:
        devices.append(Device(tmp_path / name, *version))
        return devices[-1]

    yield made
    for each in devices:
        if not each.store.closed:
            assert each.store.check() == []
            each.store.close()


@pytest.fixture
def cloud(tmp_path: Path) -> Directory:
    return Directory(tmp_path / "cloud")


def settled(cloud: Directory, *devices: Device, user: str = "ana") -> None:
    for _ in range(6):
        unchanged = [each.store.sync(cloud, user).unchanged for each in devices]
        if all(unchanged):
            return
    raise AssertionError("the devices do not come to rest")


def test_two_devices_that_read_offline_are_merged(device: Callable[..., Device], cloud: Directory) -> None:
    phone, tablet = device("phone"), device("tablet")
    phone.read("rim")
    phone.library.mark_purchased("t")
    settled(cloud, phone, tablet)
    assert tablet.progress == phone.progress
    assert (tablet.progress.position, tablet.bought) == ("rim", ["t"])

    tablet.now = phone.now
    phone.read("home")
    tablet.now += 10
    tablet.read("meadow", "tree")
    tablet.library.mark_purchased("u")
    tablet.now += 10_000
    tablet.library.mark_purchased("t", False)
    settled(cloud, phone, tablet)
    for each in (phone, tablet):
        assert each.progress.position == "tree"
        assert each.progress.visited == ["rim", "home", "meadow", "tree"]
        assert each.progress.endings == ["home", "tree"]
        assert each.bought == []


def test_siblings_have_their_progress_on_both_devices(
    device: Callable[..., Device], cloud: Directory, tmp_path: Path
) -> None:
    phone, tablet = device("phone"), device("tablet")
    for reader, slot, segment_id in (("Mia", "", "rim"), ("Mia", "2", "meadow"), ("Tom", "", "tree")):
        phone.now += 1000
        phone.library.progress("t", reader=reader, slot=slot).move_to(segment_id, data=[reader, slot])
    phone.now += 1000
    phone.library.progress("t", reader="Mia").move_to("meadow")
    phone.library.mark_purchased("t")
    phone.store.sync(cloud, "ana")
    tablet.store.sync(cloud, "ana")
    assert tablet.bought == ["t"]
    assert [(each.reader, each.slot, each.position, each.data) for each in tablet.library.begun()] == [
        ("Mia", "", "meadow", ["Mia", ""]),
        ("Mia", "2", "meadow", ["Mia", "2"]),
    ]
    assert tablet.library.begun() == phone.library.begun()
    tom = tablet.library.progress("t", reader="Tom")
    assert (tom.position, tom.endings, tom.data) == ("tree", ["tree"], ["Tom", ""])

    # A device with a version that lacks a segment moves both readers there.
    tablet.write(OTHER)
    assert [(each.reader, each.slot, each.to) for each in tablet.library.refresh().moved] == [
        ("Mia", "", "field"),
        ("Mia", "2", "field"),
    ]
    tablet.store.backup(tmp_path / "copy.satchel")
    with satchel.open(tmp_path / "copy.satchel") as copy, copy.stories(tablet.tales) as library:
        assert library.begun("Mia") == tablet.library.begun("Mia")
    tablet.store.sign_out(cloud)
    assert tablet.library.begun() == []


def test_what_arrives_is_seen_by_an_open_library_and_its_observers(
    device: Callable[..., Device], cloud: Directory
) -> None:
    phone, tablet = device("phone"), device("tablet")
    assert (tablet.progress.position, tablet.bought) == (None, [])
    heard: List[Any] = []
    phone.read("rim")
    phone.library.mark_purchased("t")
    phone.store.sync(cloud, "ana")
    with tablet.store.observe(lambda change: heard.append((change.subject, change.keys))):
        tablet.store.sync(cloud, "ana")
    assert (tablet.progress.position, tablet.bought) == ("rim", ["t"])
    assert heard == [("stories", ["t"])]


def test_a_store_without_an_open_library_carries_them(
    device: Callable[..., Device], cloud: Directory, tmp_path: Path
) -> None:
    phone = device("phone")
    phone.read("rim", "home")
    phone.library.mark_purchased("later")
    phone.store.sync(cloud, "ana")
    with satchel.open(tmp_path / "between.satchel") as between:
        between.sync(cloud, "ana")
        assert between.state.keys() == []
    for object in sorted((tmp_path / "cloud").rglob("*"), reverse=True):
        object.unlink() if object.is_file() else object.rmdir()
    with satchel.open(tmp_path / "between.satchel") as between:
        between.sync(cloud, "ana", recreate=True)
    tablet = device("tablet")
    tablet.store.sync(cloud, "ana")
    assert (tablet.progress.position, tablet.progress.endings) == ("home", ["home"])


def test_devices_with_two_versions_of_a_story_come_to_rest(
    device: Callable[..., Device], cloud: Directory
) -> None:
    phone, tablet = device("phone"), device("tablet", OTHER)
    phone.read("rim", "meadow")
    settled(cloud, phone, tablet)
    there = tablet.progress
    assert (there.position, there.moved_from, there.visited) == ("field", "meadow", ["rim", "field"])
    settled(cloud, phone, tablet)
    assert (phone.progress.position, phone.progress.moved_from) == ("meadow", None)

    tablet.now = phone.now
    tablet.read("tree")
    settled(cloud, phone, tablet)
    assert phone.progress.visited == ["rim", "meadow", "tree"]
    assert tablet.progress.visited == ["rim", "field", "tree"]

    # The phone gets the new version, too.
    phone.write(OTHER)
    phone.library.refresh()
    assert phone.progress == tablet.progress


def test_progress_that_is_forgotten_is_forgotten_everywhere(
    device: Callable[..., Device], cloud: Directory
) -> None:
    phone, tablet = device("phone"), device("tablet")
    phone.read("rim", "home")
    settled(cloud, phone, tablet)
    phone.now += 1000
    phone.library.clear_progress("t")
    settled(cloud, phone, tablet)
    assert (tablet.progress.position, tablet.progress.visited) == (None, [])
    tablet.now = phone.now
    tablet.read("rim")
    settled(cloud, phone, tablet)
    assert (phone.progress.position, phone.progress.visited, phone.progress.endings) == ("rim", ["rim"], [])


def test_signing_out_removes_them_from_the_file(device: Callable[..., Device], cloud: Directory) -> None:
    secret = story([segment("the hidden door", "the hidden room"), segment("the hidden room")])
    tablet = device("tablet", secret)
    tablet.read("the hidden door", "the hidden room")
    tablet.library.progress("t", reader="the hidden child").move_to("the hidden door", data="hidden")
    tablet.library.mark_purchased("of the forbidden shelf")
    tablet.store.sync(cloud, "ana")
    tablet.read("the hidden door")
    with pytest.raises(satchel.Conflict, match="1 changes were never sent"):
        tablet.store.sign_out()
    tablet.store.sign_out(cloud)
    assert (tablet.progress.position, tablet.progress.visited, tablet.library.begun()) == (None, [], [])
    search = ["grep", "-r", "-a", "-l", "-e", "the hidden", "-e", "forbidden", "-e", "@stories", "."]
    found = subprocess.run(search, cwd=tablet.folder, capture_output=True, text=True, check=False).stdout
    assert found.split() == ["./app/tablet/tales/t.json"]

    # Progress of a guest becomes the next user's; that of Ana is hers.
    tablet.read("the hidden room")
    assert tablet.store.sync(cloud, "ben", dry_run=True).first_upload == 3
    settled(cloud, tablet, user="ben")
    assert tablet.progress.visited == ["the hidden room"]
    tablet.store.sign_out(cloud)
    tablet.read("the hidden room")
    tablet.store.sync(cloud, "ana", first="discard")
    assert tablet.progress.position == "the hidden door"
    assert tablet.progress.visited == ["the hidden door", "the hidden room"]


def test_a_clone_and_a_restored_backup_go_on(
    device: Callable[..., Device], cloud: Directory, tmp_path: Path
) -> None:
    old = device("old")
    old.read("rim")
    old.store.sync(cloud, "ana")
    old.read("meadow")
    backup = old.store.backup(tmp_path / "backup").path
    old.read("tree")
    old.store.close()
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    old, new = device("old"), device("new")
    old.now = new.now = 2_000_000
    assert old.progress.visited == new.progress.visited == ["rim", "meadow", "tree"]
    new.read("home")
    settled(cloud, old, new)
    assert old.progress == new.progress
    assert old.progress.position == "home"

    old.store.close()
    satchel.restore(backup, old.store.path)
    old = device("old")
    assert old.progress.visited == ["rim", "meadow"]
    settled(cloud, old, new)
    assert old.progress == new.progress
    assert old.progress.visited == ["rim", "meadow", "tree", "home"]


KILLED = """
import os, signal, sys, satchel
store = satchel.open(sys.argv[1])
library = store.stories(sys.argv[2])
library.progress("t").move_to("rim")
store.flush()
library.progress("t").move_to("home")
library.mark_purchased("t")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_saved_survives_a_kill(tmp_path: Path) -> None:
    folder = tmp_path / "tales"
    folder.mkdir()
    (folder / "t.json").write_bytes(tales.encoded(FIRST))
    killed = [sys.executable, "-c", KILLED, str(tmp_path / "s.satchel"), str(folder)]
    assert subprocess.run(killed, check=False).returncode == -signal.SIGKILL
    with satchel.open(tmp_path / "s.satchel") as store:
        library = store.stories(folder)
        # A purchase is saved at once, with everything before it.
        assert library.progress("t").visited == ["rim", "home"]
        assert [each.id for each in library.filter(purchased=True)] == ["t"]


def test_they_are_not_a_part_of_a_batch(device: Callable[..., Device]) -> None:
    phone = device("phone")
    phone.library.refresh()
    with contextlib.suppress(KeyError), phone.store.batch():
        phone.read("rim")
        phone.library.mark_purchased("t")
        raise KeyError
    assert (phone.progress.position, phone.bought) == ("rim", ["t"])
    assert phone.store.flush()
    with satchel.open(phone.store.path, read_only=True) as other:
        library = other.stories(phone.tales)
        assert library.progress("t").position == "rim"
        with pytest.raises(satchel.ReadOnly):
            library.progress("t").move_to("home")


def test_libraries_are_known_by_their_names(store: satchel.Store, tmp_path: Path) -> None:
    composed = unicodedata.normalize("NFC", "märchen")
    places = [
        tmp_path / "a" / composed,
        tmp_path / "b" / unicodedata.normalize("NFD", composed),
        tmp_path / "c",
    ]
    for place in places:
        place.mkdir(parents=True)
        (place / "t.json").write_bytes(tales.encoded(FIRST))
    first, same, other = (store.stories(place) for place in places)
    first.progress("t").move_to("rim")
    first.mark_purchased("t")
    assert same.progress("t") == first.progress("t")
    assert (other.progress("t").position, other.filter(purchased=True)) == (None, [])
    with store.stories(places[2], name=composed) as named:
        assert named.progress("t") == first.progress("t")
        assert len(named.filter(purchased=True)) == 1


@pytest.mark.parametrize("name", ["", "a/b", "x" * 129, "ä" * 65, "a\nb", "a\x85b"])
def test_a_name_that_cannot_be_one_is_refused(store: satchel.Store, tmp_path: Path, name: str) -> None:
    with pytest.raises(satchel.InvalidArgument, match="name"):
        store.stories(tmp_path, name=name)
    long = tmp_path / ("y" * 129)
    long.mkdir()
    with pytest.raises(satchel.InvalidArgument, match="it a name"):
        store.stories(long)
    store.stories(long, name="z" * 128).close()


def test_ids_of_any_length_are_kept(store: satchel.Store, tmp_path: Path) -> None:
    ids = ["i" * 200, "i" * 199 + "j", "ä" * 100, "with a \x85 control"]
    for number, id in enumerate(ids):
        (tmp_path / f"{number}.json").write_bytes(tales.encoded({**FIRST, "id": id}))
    heard: List[Any] = []
    with store.stories(tmp_path, name="n" * 128) as library:
        library.refresh()
        with store.observe(lambda change: heard.append((change.subject, change.keys))):
            for id in ids:
                library.progress(id).move_to("rim")
                library.mark_purchased(id)
        assert {each.id for each in library.filter(purchased=True)} == set(ids)
        assert [library.progress(id).position for id in ids] == ["rim"] * 4
    assert heard == [("stories", ["*"])] * 4


def test_their_names_in_the_state_are_reserved(device: Callable[..., Device]) -> None:
    phone = device("phone")
    phone.read("rim")
    phone.library.mark_purchased("t")
    state = phone.store.state
    name = "@stories/tales/purchased/t"
    calls: List[Callable[[], Any]] = [
        lambda: state.set(name, False),
        lambda: state.get(name),
        lambda: state.remove(name),
        lambda: state.list("@stories/tales/visited/t").clear(),
        lambda: state.members(name).add(1),
        lambda: state.scores("@stories/").add("x", 1),
        lambda: state.declare(defaults={name: True}),
        lambda: state.declare(version=2, migrations=[[{"default": {"path": "/@stories~1x", "value": 1}}]]),
    ]
    for call in calls:
        with pytest.raises(satchel.InvalidArgument, match="reserved"):
            call()
    state.set("@storiesX", 1)
    assert (state.keys(), state.keys("@stories/")) == (["@storiesX"], [])
    state.declare(version=2, migrations=[[{"rename": {"from": "/@storiesX", "to": "/x"}}]])
    assert (state.keys(), phone.progress.position, phone.bought) == (["x"], "rim", ["t"])
