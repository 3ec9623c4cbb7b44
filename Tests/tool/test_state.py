"""`satchel state`: the values of an app's state."""

import json
import re
import subprocess
import sys

import pytest
from conftest import watched
from remotes import Remote
from test_story_words import COMMANDS


@pytest.fixture
def state(run):
    """`satchel state` with a store, which the first `set` creates."""

    def state(command, *arguments, store="app.satchel", **options):
        return run(command, store, *arguments, subject="state", **options)

    state("set", "theme", '"dark"', "--create")
    return state


def test_values_round_trip(state):
    assert state("get", "theme").out == '"dark"\n'
    assert state("set", "theme", '"light"').out == "theme: set\n"
    report = state("set", "window", "-", "--json", text=b'{"width": 800, "at": [1, 2]}\n').json
    assert report == {"key": "window"}
    assert state("get", "window").lines == [
        "{", '  "width": 800,', '  "at": [', "    1,", "    2", "  ]", "}",
    ]  # fmt: skip
    assert state("get", "window", "--json").json == {"width": 800, "at": [1, 2]}
    for text in ("null", "false", "-1.5e3", '"\\u00e9 😀"', "[]"):
        state("set", "any", "--", text)
        assert state("get", "any", "--json").json == json.loads(text)


def test_keys_are_listed_by_prefix(state):
    for key in ("window.width", "window.height", "windows", "été"):
        state("set", key, "1")
    assert state("list").lines == ["theme", "window.height", "window.width", "windows", "été"]
    assert state("list", "window.").lines == ["window.height", "window.width"]
    assert state("list", "window.", "--json").json == ["window.height", "window.width"]
    result = state("list", "x", code=1)
    assert (result.out, result.err) == ("", "satchel: app.satchel: has no values under such keys\n")
    assert state("list", "x", "--json", code=1).json == []


def test_a_key_without_a_value(state):
    result = state("get", "none", code=1)
    assert (result.out, result.err) == ("", "satchel: app.satchel: has no value under none\n")
    assert state("get", "none", "--json", code=1).json is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["set", "a", "dark"], "the value: line 1, column 1"),
        (["set", "a", "1 2"], "the value: line 1, column 3"),
        (["set", "a", "-"], "the standard input: line 1, column 1"),
        (["set", "", "1"], "key"),
        (["set", b"\xff", "1"], "the key is not UTF-8"),
        (["get", "x" * 300], "key"),
        (["set", "a"], "Missing expected argument '<value>'"),
    ],
)
def test_invalid_arguments(state, words, says):
    result = state(*words, code=2)
    assert says in result.err
    assert result.out == ""
    assert state("list").lines == ["theme"]


def test_nothing_is_created_without_create(state, tmp_path):
    for words in (["get", "a"], ["list"], ["set", "a", "1"]):
        assert "other.satchel: does not exist" in state(*words, store="other.satchel", code=2).err
    state("set", "a", "no JSON", "--create", store="other.satchel", code=2)
    assert not (tmp_path / "other.satchel").exists()


def test_a_sensitive_value_is_not_printed(state, tmp_path):
    source = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    store.state.set_key(bytes(32))
    store.state.set("token", "geheim", sensitive=True)
"""
    subprocess.run([sys.executable, "-c", source, tmp_path / "app.satchel"], check=True)
    result = state("get", "token", code=2)
    assert result.out == ""
    assert "token" in result.err
    assert "geheim" not in result.err
    assert state("list").lines == ["theme", "token"]


def test_only_what_is_marked_is_synchronized(state, run, tmp_path):
    words = Remote("--remote", str(tmp_path / "remote")).words
    sync = ["sync", "app.satchel", *words]
    state("set", "size", "12", "--synced")
    state("set", "mine", "1", "--create", store="other.satchel")
    assert "does not exist" in run(*sync, "--dry-run", subject=None, code=2).err
    assert run(*sync, subject=None).lines[0] == "state: 1 uploaded"
    assert run("sync", "other.satchel", *words, "--json", subject=None).json["state"]["downloaded"] == 1
    state("set", "size", "14")
    lines = run(*sync, "--dry-run", subject=None, code=1).lines
    assert lines[0].split() == ["would", "upload", "state/value/size"]
    run(*sync, subject=None)
    run("sync", "other.satchel", *words, subject=None)
    assert state("get", "size", store="other.satchel").out == "14\n"
    assert state("list", store="other.satchel").lines == ["mine", "size"]
    state("set", "size", "16", "--no-synced")
    assert run(*sync, "--json", subject=None).json["unchanged"] is True


def test_an_app_that_has_the_store_open_sees_the_value(state, tmp_path):
    source = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    print(store.state.get("theme"), flush=True)
    sys.stdin.readline()
    print(store.state.get("theme"), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", source, tmp_path / "app.satchel"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    ) as app:  # fmt: skip
        assert app.stdout.readline() == "dark\n"
        state("set", "theme", '"light"')
        app.stdin.write("\n")
        app.stdin.flush()
        assert app.stdout.readline() == "light\n"
    assert app.returncode == 0


def test_a_value_on_a_terminal(state, tmp_path):
    state("set", "theme", '"\\u001b[2J\\u202e"')
    seen = watched(["get", "app.satchel", "theme"], tmp_path, subject="state")
    assert json.loads(seen) == "\x1b[2J\u202e"
    assert not {"\x1b", "\u202e"} & set(seen)


STATE = [" ".join(words[1:]) for words, _ in COMMANDS if words[0] == "state"]


def test_all_commands_exist():
    assert STATE == ["list", "get", "set"]


@pytest.mark.parametrize("name", STATE)
def test_help_has_examples_and_exit_codes(run, name):
    text = run(name, "--help", subject="state").out
    assert re.search(rf"^  .*satchel state {name} ", text, re.MULTILINE), "an example at least"
    assert "Exit codes: 0 " in text
    assert "2 could not run" in re.sub(r"\s+", " ", text)
    assert f"USAGE: satchel state {name}" in text
