"""Which files `satchel story lint` reads, and its findings for unreadable files."""

import json
import os
import socket
import subprocess

import pytest
from conftest import TOOL, story


def files(result):
    return [file["file"] for file in result.json["files"]]


def test_directories_are_walked_in_byte_order(run, write):
    names = ["b/z.json", "a.json", "a/x.tw", "a/x.json", "Z.twee", "b.json", "ä.json"]
    twee = ":: StoryTitle\nT\n\n:: Start\nHello [[End]]\n\n:: End\nBye\n"
    for name in names:
        write(name, story(name.replace("/", "-")) if name.endswith("json") else twee)
    for name in (".hidden.json", ".git/x.json", "note.txt", "a/json", "x.json.bak"):
        write(name, "no story")
    listed = files(run("lint", ".", "--json", "--all"))
    assert listed == sorted(names, key=os.fsencode)


def test_links_to_directories_are_not_followed(run, write, tmp_path):
    write("a/tale.json")
    (tmp_path / "a/loop").symlink_to(tmp_path / "a")
    (tmp_path / "a/loop.json").symlink_to(tmp_path / "a")
    (tmp_path / "a/copy.json").symlink_to("tale.json")
    (tmp_path / "a/gone.json").symlink_to("nowhere")
    (tmp_path / "a/self.json").symlink_to("self.json")
    document = run("lint", "a", "--json", "--all", code=1).json
    found = {file["file"]: [finding["code"] for finding in file["findings"]] for file in document["files"]}
    assert found == {
        "a/copy.json": [],
        "a/gone.json": ["unreadable"],
        "a/self.json": ["unreadable"],
        "a/tale.json": ["duplicate-story"],
    }
    # Given paths are always read.
    (tmp_path / "door").symlink_to("a")
    assert "door/tale.json" in files(run("lint", "door", "--json", "--all", code=1))


def test_what_is_named_twice_is_read_once(run, write, tmp_path):
    write("a/tale.json")
    listed = files(run("lint", "a", "./a/tale.json", "a//", str(tmp_path / "a"), "--json", "--all"))
    assert listed == ["a/tale.json"]


def test_a_named_file_is_read_whatever_its_name(run, write):
    write("tale.txt", story())
    write(".hidden", story("other"))
    write("game", ":: Start\nHello [[End]]\n\n:: End\nBye\n")
    names = ["tale.txt", ".hidden", "game"]
    assert files(run("lint", *names, "--json", "--all")) == names
    # The extension decides: JSON in a .twee file is read as Twee.
    write("tale.twee", story())
    assert run("lint", "tale.twee", code=1).out


GARBAGE = {
    "empty": (b"", "not-json"),
    "noise": (bytes(range(256)) * 4, "not-json"),
    "nul": (b"\0" * 100, "not-json"),
    "utf16": (json.dumps(story()).encode("utf-16"), "not-json"),
    "latin1": (b'{"id": "caf\xe9"}', "not-json"),
    "cut": (json.dumps(story()).encode()[:-1], "not-json"),
    "deep": (b"[" * 100_000, "not-json"),
    "list": (b"[1, 2]", "not-a-story"),
    "number": (b" 1", "not-a-story"),
    "string": (b'"::"', "not-a-story"),
    "null": (b"null", "not-a-story"),
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_a_finding_and_hides_nothing(run, write, name, broken):
    content, code = GARBAGE[name]
    write("a/b.json", content)
    write("a/c.json", broken)
    [named] = run("lint", "a/b.json", "--json", code=1).json["files"]
    [finding] = named["findings"]
    assert finding["code"] == code
    assert finding["severity"] == "error"
    *first, second = run("lint", "a", "--json", code=1).json["files"]
    # Other JSON in a directory is no finding, but what is no JSON may have been a story.
    assert first == ([{**named, "file": "a/b.json"}] if code == "not-json" else [])
    assert "broken-choice" in [finding["code"] for finding in second["findings"]]


def test_what_is_no_file_is_never_waited_for(run, write, tmp_path):
    write("a/tale.json")
    os.mkfifo(tmp_path / "a/pipe.json")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "a/socket.json"))
        document = run("lint", "a", "--json", code=1).json
    found = [(file["file"], file["findings"][0]["message"]) for file in document["files"]]
    assert found == [
        ("a/pipe.json", "cannot be read: not a regular file"),
        ("a/socket.json", "cannot be read: not a regular file"),
    ]


def test_a_named_pipe_is_read(tmp_path, broken):
    script = f'"{TOOL}" story lint <(cat)'
    done = subprocess.run(
        ["bash", "-c", script],
        input=json.dumps(broken).encode(),
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1
    assert b"[broken-choice]" in done.stdout


def test_what_may_not_be_read_is_a_finding(write, tmp_path, broken):
    write("a/secret.json").chmod(0)
    write("a/shut/inside.json")
    write("a/z.json", broken)
    (tmp_path / "a/shut").chmod(0)
    # Root can read every file, unless it drops its capabilities.
    rights = "-dac_override,-dac_read_search"
    drop = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"] if os.getuid() == 0 else []
    done = subprocess.run(
        [*drop, TOOL, "story", "lint", "a", "--json"], capture_output=True, cwd=tmp_path, check=False
    )
    (tmp_path / "a/shut").chmod(0o755)
    assert done.returncode == 1, done.stderr
    found = {
        file["file"]: [(finding["code"], finding["message"]) for finding in file["findings"]]
        for file in json.loads(done.stdout)["files"]
    }
    refused = [("unreadable", "cannot be read: permission denied")]
    assert found["a/secret.json"] == refused
    assert found["a/shut"] == refused
    assert "broken-choice" in [code for code, _ in found["a/z.json"]]


HOSTILE = [
    "new\nline.json",
    "esc\x1b[31m.json",
    "bell\x07.json",
    'quote".json',
    "$(touch x).json",
    "-rf.json",
    "a b.json",
    "%s%n.json",
    "back\\slash.json",
    "☃.json",
    "<script>.json",
    "\u00e9.json",
    "e\u0301.json",
    "a" * 250 + ".json",
]


def test_hostile_names_are_read_and_break_no_line(run, write, tmp_path):
    for name in HOSTILE:
        write(f"a/{name}", "{")
    result = run("lint", "a", code=1)
    assert len(result.lines) == len(HOSTILE)
    assert not any(ord(character) < 0x20 for line in result.lines for character in line)
    expected = sorted((f"a/{name}" for name in HOSTILE), key=os.fsencode)
    assert files(run("lint", "a", "--json", code=1)) == expected
    uris = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in run("lint", "a", "--sarif", code=1).json["runs"][0]["results"]
    ]
    assert all(uri.isascii() and not set(uri) & set('\n"<> \\\x1b') for uri in uris)
    assert not (tmp_path / "x").exists()
    [line] = run("lint", "--", "-rf.json", code=1, cwd=tmp_path / "a").lines
    assert line.startswith("-rf.json:1:2: error: ")


def test_names_that_are_not_utf8_are_read(run, tmp_path):
    name = os.fsencode(tmp_path) + b"/latin\xe9.json"
    with open(name, "wb") as file:
        file.write(json.dumps(story()).encode())
    assert files(run("lint", ".", "--json", "--all")) == ["latin�.json"]
    assert files(run("lint", name, "--json", "--all"))[0].endswith("latin�.json")


def test_a_path_that_is_too_long_is_no_trap(run):
    assert "file name too long" in run("lint", "x" * 5000, code=2).err


def test_a_game_in_several_files_is_one_story(run, write):
    data = ':: StoryData\n{"ifid": "1", "format": "SugarCube"}\n'
    write("game/data.twee", data)
    write("game/rooms/start.twee", ":: Start\n[[Cellar]]\n[[Attic]]\n")
    write("game/rooms/cellar.tw", "\ufeff:: Cellar\n[[Up->Strat]]\n")
    write("game/code.js", "Engine.play('Attic')")
    write("game/tale.json", story())
    document = run("lint", "game", "--json", "--all", code=1).json
    assert [file["file"] for file in document["files"]] == ["game", "game/tale.json"]
    broken = [(each["file"], each["line"], each["code"]) for each in document["files"][0]["findings"]]
    assert ("rooms/cellar.tw", 2, "broken-choice") in broken
    assert ("rooms/start.twee", 3, "broken-choice") in broken
    assert ("rooms/cellar.tw", 1, "byte-order-mark") in broken
    assert run("lint", "game", code=1).out.startswith("game/rooms/cellar.tw:1:1: warning:")
    assert '"uri":"game/rooms/cellar.tw"' in run("lint", "game", "--sarif", code=1).out
    write("game/rooms/attic.twee", ":: Attic\nDust.\n\n:: Strat\nOver.\n")
    assert run("graph", "game").out.count("->") == 3
    assert json.loads(run("convert", "game").out)["twine"]["format"] == "SugarCube"
    # Two games below one directory are two stories, and files without a game are stories of their own.
    write("other/data.twee", data + "\n:: Start\nOver.\n")
    write("other/more.twee", ":: More\nOver.\n")
    listed = files(run("lint", ".", "--json", "--all", "--ignore", "unreachable", "--ignore", "trap"))
    assert listed == ["game", "game/tale.json", "other"]
    assert "is a directory" in run("graph", ".", code=2).err
