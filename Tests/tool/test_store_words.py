"""The help and completion of `satchel store`. Man page and options: test_story_words.py."""

import re
import subprocess

import pytest
from conftest import TOOL
from test_story_words import COMMANDS, COMPLETE

NAMES = ["check", "backup", "restore", "recover", "stats", "compact", "info", "observe", "detach", "sign-out",
         "delete-account"]  # fmt: skip
STORE = [" ".join(words[1:]) for words, _ in COMMANDS if words[0] == "store"]


def test_all_commands_exist():
    assert STORE == NAMES


@pytest.mark.parametrize("name", STORE)
def test_help_has_examples_and_exit_codes(run, name):
    text = run(name, "--help", subject="store").out
    assert re.search(rf"^  .*satchel store {name} ", text, re.MULTILINE), "an example at least"
    assert "Exit codes: 0 " in text
    assert "2 could not run" in re.sub(r"\s+", " ", text)
    assert f"USAGE: satchel store {name}" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["store", ""], set(NAMES)),
        (["store", "backup", "some.satchel", ""], {"folder", "some.satchel"}),
        (["store", "restore", "s"], {"some.satchel"}),
        (["store", "recover", "s"], {"some.satchel"}),
        (["store", "backup", "--"], {"--keep", "--quiet", "--json"}),
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
