"""The help and completion of `satchel records`. Man page and options: test_story_words.py."""

import re
import subprocess

import pytest
from conftest import TOOL
from test_story_words import COMMANDS, COMPLETE

RECORDS = [" ".join(words[1:]) for words, _ in COMMANDS if words[0] == "records"]


def test_all_commands_exist():
    names = ["list", "get", "put", "delete", "clear", "drop", "export", "import", "verify"]
    assert names == RECORDS


@pytest.mark.parametrize("name", RECORDS)
def test_help_has_examples_and_exit_codes(run, name):
    text = run(name, "--help", subject="records").out
    assert re.search(rf"^  .*satchel records {name} ", text, re.MULTILINE), "an example at least"
    assert "Exit codes: 0 " in text
    assert "2 could not run" in re.sub(r"\s+", " ", text)
    assert f"USAGE: satchel records {name}" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["records", ""], {"list", "get", "put", "delete", "export", "import", "verify"}),
        (["records", "get", "s"], {"some.satchel"}),
        (["records", "put", "--"], {"--if-revision", "--create", "--json"}),
        (["conflicts", "resolve", "--keep", ""], {"local", "remote"}),
        (["records", "list", "s"], {"some.satchel"}),
        (["records", "import", "some.satchel", "courses", ""], {"some.satchel", "folder"}),
        (["records", "list", "--"], {"--where", "--order-by", "--limit", "--all", "--json", "--json-lines"}),
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
