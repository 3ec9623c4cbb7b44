"""The tool's help, man page and completion."""

import json
import re
import subprocess

import pytest
from conftest import ROOT, TOOL

MAN = (ROOT / "Documentation/satchel.1").read_text()


def commands():
    """Every command as (its words, its description by the tool)."""
    done = subprocess.run([TOOL, "--experimental-dump-help"], capture_output=True, check=True)
    found = []

    def walk(command, words):
        below = [part for part in command.get("subcommands", []) if part["commandName"] != "help"]
        for part in below:
            walk(part, [*words, part["commandName"]])
        if not below:
            found.append((words, command))

    walk(json.loads(done.stdout)["command"], [])
    return found


COMMANDS = commands()


def test_all_story_commands_exist():
    names = [words[1] for words, _ in COMMANDS if words[0] == "story"]
    assert names == ["lint", "stats", "graph", "diff", "report", "convert", "progress"]


@pytest.mark.parametrize(("words", "command"), COMMANDS, ids=[" ".join(words) for words, _ in COMMANDS])
def test_the_man_page_has_every_command_and_option(words, command):
    assert f".It Cm {' '.join(words)}\n" in MAN
    pattern = rf"^\.Nm\n\.Cm {' '.join(words)}\n(.*?)(?=^\.Nm|^\.Sh)"
    [synopsis] = re.findall(pattern, MAN, re.MULTILINE | re.DOTALL)
    for argument in command["arguments"]:
        for name in argument.get("names", []):
            if name["kind"] == "long":
                assert re.search(rf"^\.It Fl (.* )?-{name['name']}( |$)", MAN, re.MULTILINE), name
                if name["name"] not in ("help", "version", "expired", "graphs"):
                    assert f"Fl -{name['name']}" in synopsis, name
            if name["kind"] == "short":
                assert re.search(rf"^\.It Fl {name['name']} ", MAN, re.MULTILINE), name


def test_the_man_page_has_only_existing_options():
    known = {
        name["name"]
        for _, command in COMMANDS
        for argument in command["arguments"]
        for name in argument.get("names", [])
    }
    options = [line for line in MAN.splitlines() if "Fl " in line]
    documented = {name for line in options for name in re.findall(r" -([a-z-]+)", line)}
    assert documented - known <= {"generate-completion-script"}


def test_the_man_page_has_every_code():
    schema = json.loads((ROOT / "Documentation/schemas/story-lint.schema.json").read_text())
    for code in schema["$defs"]["finding"]["properties"]["code"]["enum"]:
        assert re.search(rf"^\.It Cm {code}\n[A-Z].*\.$", MAN, re.MULTILINE), code


@pytest.mark.parametrize("name", ["lint", "stats", "graph", "diff", "report", "convert"])
def test_help_has_examples_and_exit_codes(run, name):
    text = run(name, "--help").out
    assert len(re.findall(rf"^  .*satchel story {name} ", text, re.MULTILINE)) >= 2, "two examples at least"
    assert "Exit codes: 0 " in text
    assert "2 could not run" in re.sub(r"\s+", " ", text)
    assert f"USAGE: satchel story {name}" in text


COMPLETE = r"""
source <("$TOOL" --generate-completion-script bash)
shopt -s extglob
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
compopt() { :; }
_satchel satchel "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["story", ""], {"lint", "stats", "graph", "diff", "report", "convert"}),
        (["story", "lint", ""], {"tale.json", "game.twee", "folder"}),
        (["story", "diff", "tale.json", "ta"], {"tale.json"}),
        (["story", "convert", ""], {"game.twee", "folder"}),
        (["story", "lint", "--ignore", "dup"], {"duplicate-segment", "duplicate-choice", "duplicate-story"}),
        (["story", "graph", "--format", ""], {"dot", "mermaid", "svg"}),
        (["story", "lint", "--s"], {"--sarif", "--strict"}),
    ],
)
def test_bash_completes_commands_options_and_files(write, tmp_path, words, expected):
    for name in ("tale.json", "game.twee", "note.txt"):
        write(name, "")
    (tmp_path / "folder").mkdir()
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", "satchel", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "TOOL": TOOL},
        check=False,
    )
    assert {line.strip() for line in done.stdout.splitlines()} >= expected, done.stderr
    assert "note.txt" not in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_made_for_each_shell(run, shell):
    assert "satchel" in run("--generate-completion-script", shell, subject=None).out
