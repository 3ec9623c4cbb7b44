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


KEY, OTHER = "0f" * 32, "f0" * 32


def test_sensitive_values_need_the_key_of_the_store(state, tmp_path):
    (tmp_path / "key").write_text(KEY + "\n")
    (tmp_path / "other").write_bytes(bytes.fromhex(OTHER))
    result = state("set", "token", '"s3cr3t"', "--sensitive", code=2)
    assert "set the encryption key first" in result.err
    state("set", "token", '"s3cr3t"', "--sensitive", "--store-key-file", "key")
    assert all(b"s3cr3t" not in each.read_bytes() for each in tmp_path.iterdir())
    assert state("list").lines == ["theme", "token"]
    assert "set the encryption key first" in state("get", "token", code=2).err
    assert state("get", "token", "--store-key-file", "key").out == '"s3cr3t"\n'
    assert state("get", "token", env={"SATCHEL_STORE_KEY": KEY}).out == '"s3cr3t"\n'
    # The option comes first.
    found = state("get", "token", "--store-key-file", "key", env={"SATCHEL_STORE_KEY": OTHER})
    assert found.out == '"s3cr3t"\n'
    assert "sealed with another key" in state("get", "theme", "--store-key-file", "other", code=2).err
    for wrong in ("0f", "x" * 64, KEY + "0"):
        result = state("get", "theme", env={"SATCHEL_STORE_KEY": wrong}, code=2)
        assert "SATCHEL_STORE_KEY: must have 64 hexadecimal digits" in result.err
        assert wrong not in result.err
    assert "nowhere" in state("get", "theme", "--store-key-file", "nowhere", code=2).err


DECLARE = """
import satchel, sys
with satchel.open(sys.argv[1]) as store:
    store.state.set_key(bytes.fromhex(sys.argv[2]))
    store.records("people", sensitive=["pin"]).put("ann", {"name": "Ann", "pin": "1234"})
    store.state.members("seen", sensitive=True, synced=True).add("hidden")
"""


def test_records_with_sensitive_fields_need_it_too(run, tmp_path):
    subprocess.run([sys.executable, "-c", DECLARE, tmp_path / "app.satchel", KEY], check=True)
    (tmp_path / "key").write_text(KEY)

    def records(command, *arguments, **options):
        return run(command, "app.satchel", "people", *arguments, subject="records", **options)

    key = ["--store-key-file", "key"]
    assert "set the encryption key first" in records("get", "ann", code=2).err
    assert json.loads(records("get", "ann", "--json", *key).out)["document"]["pin"] == "1234"
    assert records("list", "--json", *key).json[0]["document"] == {"name": "Ann", "pin": "1234"}
    records("put", "bob", '{"pin": "5678"}', code=2)
    records("put", "bob", '{"pin": "5678"}', env={"SATCHEL_STORE_KEY": KEY})
    assert b"5678" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert records("export", "people.json", "--plain", *key).out == "2 records written\n"
    assert records("verify", "people.json", "--plain", *key).out == "2 records, equal\n"
    assert run("check", "app.satchel", *key, subject="store").out == "app.satchel: sound\n"


def test_a_sync_sends_what_is_sensitive_with_both_keys(run, tmp_path):
    subprocess.run([sys.executable, "-c", DECLARE, tmp_path / "app.satchel", KEY], check=True)
    for name, key in (("key", KEY), ("log", OTHER)):
        (tmp_path / name).write_text(key)
    (tmp_path / "remote").mkdir()

    def sync(store, *arguments, **options):
        words = ["sync", store, "--user", "ann", "--remote", "remote", "--json", *arguments]
        return run(*words, subject=None, **options).json

    def failed(report):
        return [each["id"] for each in report["failed"]]

    assert "set/seen" in failed(sync("app.satchel", "--key-file", "log", code=1))
    report = sync("app.satchel", "--key-file", "log", "--store-key-file", "key")
    assert failed(report) == []
    run("set", "other.satchel", "theme", "1", "--create", subject="state")
    assert "set/seen" in failed(sync("other.satchel", "--key-file", "log", code=1))
    # Each store has a key of its own.
    (tmp_path / "own").write_text("11" * 32)
    assert failed(sync("other.satchel", "--key-file", "log", "--store-key-file", "own")) == []
    source = "import satchel, sys\nwith satchel.open(sys.argv[1]) as store:\n    " + (
        "store.state.set_key(bytes.fromhex('11' * 32)); print(store.state.members('seen').values())"
    )
    done = subprocess.run(
        [sys.executable, "-c", source, tmp_path / "other.satchel"], check=True, capture_output=True, text=True
    )
    assert done.stdout == "['hidden']\n"
