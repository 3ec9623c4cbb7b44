"""A tablet is handed to a sister.

Ada has used the family's tablet for a year, and gets a new one. Her sister Ben takes the old one: she must
not see Ada's notes, Ada must not lose them, and what belongs to the tablet stays on it. A cousin without an
account writes on it for a week; at last Ada borrows the tablet again.
"""

import subprocess

import pytest
import satchel
from journey import PORTO, Clock, Process, documents, settled

SECRET = "what Ada keeps to herself"

#: The app's widget, which keeps the store open in a process of its own.
WIDGET = """
import sys, satchel
with satchel.open(sys.argv[1]) as store:
    notes = store.records("notes")
    print(notes.count(), flush=True)
    sys.stdin.readline()
    print(notes.count(), store.state.get("nickname"), flush=True)
"""


def test_nothing_of_one_sister_reaches_the_other(device, cloud, tmp_path):
    clock = Clock()
    tablet, new = device("tablet", clock), device("new", clock)
    notes = tablet.records("notes", indexes=["title"])
    notes.put_many({f"ada{each}": {"title": SECRET} for each in range(50)})
    tablet.state.set("nickname", "Ada", synced=True)
    tablet.state.set("brightness", 7)
    tablet.catalogue.persist(PORTO, {"section": "tea", "content": {"rating": 4.5}})
    tablet.sync(cloud, "ada")

    # Ben signs in without a word to Ada: the tablet keeps the two apart, also when the app detaches it.
    for _ in range(2):
        with pytest.raises(satchel.ForeignFile, match=r'"ada".*sign_out'):
            tablet.sync(cloud, "ben")
        tablet.detach()
    tablet.sync(cloud, "ada")

    # Ada signs out. What she wrote a moment before is sent first.
    notes.put("last", {"title": SECRET})
    with pytest.raises(satchel.Conflict, match="1 changes were never sent"):
        tablet.sign_out()
    widget = Process(WIDGET, tablet.path)
    assert widget.line() == "51"
    with notes.watch() as shown:
        assert len(next(shown)) == 51
        tablet.sign_out(cloud)
        assert len(next(shown)) == 0
    widget.tell("")
    assert widget.line() == "0 None"
    assert (tablet.state.get("nickname"), tablet.state.get("brightness")) == (None, 7)
    assert tablet.catalogue.load(PORTO, "tea").content == {"rating": 4.5}
    # In another process: closing a file of an open store drops the locks that this process holds on it.
    search = ["grep", "--recursive", "--text", "--files-with-matches", SECRET, str(tmp_path / "tablet")]
    assert subprocess.run(search, capture_output=True, text=True).stdout == ""

    # A guest writes, Ben signs in, and the guest's notes become hers.
    notes.put("guest", {"title": "of the cousin"})
    assert tablet.sync(cloud, "ben", dry_run=True).first_upload == 1
    assert tablet.sync(cloud, "ben").first_upload == 1
    notes.put("ben", {"title": "of Ben"})
    settled("ben", cloud, tablet)

    # Ada's new tablet has everything of hers and nothing of Ben's.
    theirs = new.records("notes")
    new.sync(cloud, "ada")
    assert set(documents(theirs)) == {f"ada{each}" for each in range(50)} | {"last"}
    assert new.state.get("nickname") == "Ada"

    # Ada borrows the old one: Ben's notes are sent, and leave it; hers return.
    notes.put("unsent", {"title": "of Ben"})
    tablet.sign_out(cloud)
    tablet.sync(cloud, "ada")
    assert documents(notes) == documents(theirs)
    tablet.sign_out(cloud)
    tablet.sync(cloud, "ben")
    assert set(documents(notes)) == {"guest", "ben", "unsent"}
    assert tablet.check() == []
