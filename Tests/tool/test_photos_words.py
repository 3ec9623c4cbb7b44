"""The help and completion of `satchel photos`. Man page and options: test_story_words.py."""

import re
import subprocess

import pytest
from conftest import TOOL
from test_story_words import COMMANDS, COMPLETE

PHOTOS = [" ".join(words[1:]) for words, _ in COMMANDS if words[0] == "photos"]


def test_all_commands_exist():
    backups = [f"backup {each}" for each in ("run", "restore", "restore-all", "refresh", "delete")]
    trash = [f"trash {each}" for each in ("list", "restore", "empty")]
    words = ["scan", "status", "query", *trash, "sync", "verify", *backups, "export", "import"]
    words += ["probe", "move", "detach"]
    assert words == PHOTOS


@pytest.mark.parametrize("name", PHOTOS)
def test_help_has_examples_and_exit_codes(run, name):
    text = run(*name.split(), "--help", subject="photos").out
    assert re.search(rf"^  .*satchel photos {name} ", text, re.MULTILINE), "an example at least"
    assert "Exit codes: 0 " in text
    assert "2 could not run" in re.sub(r"\s+", " ", text)
    assert f"USAGE: satchel photos {name}" in text


def test_no_option_takes_a_secret():
    names = {
        name["name"] for words, command in COMMANDS if words[0] == "photos"
        for argument in command["arguments"] for name in argument.get("names", [])
    }  # fmt: skip
    assert not [name for name in names if re.search("key|secret|token|password", name)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["photos", ""], {"scan", "status", "query", "sync", "verify", "export", "detach"}),
        (["conflicts", ""], {"list", "resolve"}),
        (["photos", "query", "--status", ""], {"not_backed_up", "queued", "uploading", "uploaded", "error"}),
        (["photos", "query", "--order", ""], {"md5", "photodate", "filename"}),
        (["photos", "sync", "--on-conflict", ""], {"remote-wins", "merge"}),
        (["photos", "sync", "--remote", ""], {"folder"}),
        (["photos", "scan", "s"], {"some.satchel"}),
    ],
)
def test_bash_completes(tmp_path, words, expected):
    (tmp_path / "folder").mkdir()
    (tmp_path / "some.satchel").touch()
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", "satchel", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "TOOL": TOOL},
        check=False,
    )
    assert {line.strip() for line in done.stdout.splitlines()} >= expected, done.stderr
