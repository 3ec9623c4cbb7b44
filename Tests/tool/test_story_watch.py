"""`satchel story lint --watch`: files are checked again when they change, until a signal."""

import json
import os
import signal
import subprocess

import pytest
from conftest import TOOL, story


class Watch:
    """A running `satchel story lint --watch --json`."""

    def __init__(self, folder, *paths):
        self.process = subprocess.Popen(
            [TOOL, "story", "lint", "--watch", "--json", *paths], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd=folder,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def codes(self):
        """Returns the findings of the next check: the codes by file."""
        files = json.loads(self.process.stdout.readline())["files"]
        return {file["file"]: sorted({each["code"] for each in file["findings"]}) for file in files}


def test_changes_are_checked_until_a_signal(write, tmp_path, broken):
    write("tales/a.json", story("a"))
    with Watch(tmp_path, "tales") as watch:
        assert watch.codes() == {}
        assert watch.process.stderr.readline() == "satchel: watching until Ctrl-C\n"
        write("tales/b.json", broken)
        assert "broken-choice" in watch.codes()["tales/b.json"]
        write("tales/deep/c.twee", ":: Start\n[[On]]\n")
        assert watch.codes()["tales/deep/c.twee"] == ["broken-choice"]
        # An editor that writes another file and renames it.
        write("new.txt", story("b"))
        os.replace(tmp_path / "new.txt", tmp_path / "tales/b.json")
        assert set(watch.codes()) == {"tales/deep/c.twee"}
        os.remove(tmp_path / "tales/deep/c.twee")
        assert watch.codes() == {}
        watch.process.send_signal(signal.SIGINT)
        assert watch.process.wait(timeout=60) == -signal.SIGINT


def test_a_script_of_a_game_is_watched(write, tmp_path):
    data = ':: StoryData\n{"ifid": "1", "format": "SugarCube"}\n'
    write("game/data.twee", data + "\n:: Start\nOver.\n")
    write("game/attic.twee", ":: Attic\nDust.\n")
    with Watch(tmp_path, "game") as watch:
        assert watch.codes() == {"game": ["unreachable"]}
        write("game/code.js", "Engine.play('Attic')")
        assert watch.codes() == {"game": ["unreachable"]}
        write("game/attic.twee", ":: Attic\n[[Start]]\n\n:: Start\nDust.\n")
        assert "duplicate-segment" in watch.codes()["game"]


def test_a_picture_is_watched(write, tmp_path):
    write("tales/a.json", {**story("a"), "image": "pictures/a.png"})
    with Watch(tmp_path, "tales") as watch:
        assert watch.codes() == {"tales/a.json": ["missing-asset"]}
        write("tales/pictures/a.png", b"")
        assert watch.codes() == {}
        os.rename(tmp_path / "tales/pictures/a.png", tmp_path / "tales/pictures/A.png")
        assert watch.codes() == {"tales/a.json": ["missing-asset"]}


def test_what_is_gone_is_an_error_and_ends_nothing(write, tmp_path):
    write("a.json", story("a"))
    with Watch(tmp_path, "a.json") as watch:
        assert watch.codes() == {}
        assert watch.process.stderr.readline().startswith("satchel: watching")
        os.remove(tmp_path / "a.json")
        assert "a.json: does not exist" in watch.process.stderr.readline()
        write("a.json", story("a"))
        assert watch.codes() == {}


@pytest.mark.parametrize(
    ("arguments", "words"), [(["-"], "standard input"), (["gone.json"], "gone.json: does not exist")]
)
def test_what_cannot_be_watched(run, arguments, words):
    assert words in run("lint", "--watch", *arguments, code=2).err
