"""`satchel story progress`."""

import json

import satchel
from conftest import segment, story


def test_the_progress_of_readers(run, write, tmp_path):
    (tmp_path / "stories").mkdir()
    write("stories/t.json", story("t", [segment("rim", "home"), segment("home")]))
    with satchel.open(tmp_path / "app.satchel", clock=lambda: 1_700_000_000_000) as store:
        store.stories(tmp_path / "stories").progress("t", reader="Mia").move_to("rim", data={"coins": 3})
        store.stories(tmp_path / "stories").progress("t", slot="2").move_to("rim").move_to("home")
    lines = run("progress", "app.satchel", "stories").lines
    assert [line.split() for line in lines] == [
        ["story", "reader", "slot", "position", "visited", "endings", "read"],
        ["t", "Mia", "rim", "1", "0", "2023-11-14", "22:13"],
    ]
    shown = run("progress", "app.satchel", "stories", "t", "--slot", "2", "--json").json
    assert [(each["position"], each["endings"], each["data"]) for each in shown] == [("home", ["home"], None)]
    [shown] = run("progress", "app.satchel", "stories", "--reader", "Mia", "--json").json
    assert shown["data"] == {"coins": 3}
    for words in (["t"], ["--reader", "Tom"], ["--name", "other"]):
        result = run("progress", "app.satchel", "stories", *words, code=1)
        assert (result.out, result.err.split(": ")[-1]) == ("", "nothing was begun\n")
    assert json.loads(run("progress", "app.satchel", "stories", "t", "--json", code=1).out) == []
    assert "--slot needs a story" in run("progress", "app.satchel", "stories", "--slot", "2", code=2).err
