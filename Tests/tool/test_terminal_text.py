"""Names and content with control characters: the tool prints none of them to a terminal."""

import json

import pytest
import satchel

ESCAPE, NEXT_LINE, OVERRIDE, ISOLATE, SEPARATOR = "\x1b[2J", "\x85", "‮gpj.exe", "⁦x⁩", "\u2028"
HOSTILE = f"name{ESCAPE}{NEXT_LINE}{OVERRIDE}{ISOLATE}{SEPARATOR}؜‏"
HARMFUL = set("\x1b\x85\u202e\u2066\u2069\u2028\u061c\u200f")


@pytest.fixture
def store(tmp_path):
    path = str(tmp_path / "hostile.satchel")
    with satchel.open(path) as made:
        content = {HOSTILE: {"note": HOSTILE, "_storage": {"entity_id": f"a:{HOSTILE}", "scope": "country"}}}
        section = {"section": "facts", "display_title": HOSTILE, "content": content}
        made.catalogue.persist({"country_code": "PT"}, section)
        records = made.records("notes")
        records.put("plain", {"text": HOSTILE, HOSTILE: 1})
    return path


PT = ["--location", '{"country_code": "PT"}']


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("catalogue", ["show"]),
        ("catalogue", ["show", *PT]),
        ("catalogue", ["show", *PT, "--section", "facts"]),
        ("catalogue", ["plan", *PT]),
        ("records", ["list"]),
        ("records", ["list", "notes"]),
        ("records", ["list", "notes", "--json"]),
    ],
)
def test_nothing_reaches_the_terminal_that_it_would_act_on(run, store, subject, words):
    command, *rest = words
    before, after = (rest, []) if subject == "catalogue" else ([], rest)
    done = run(command, store, *after, *before, subject=subject)
    assert not HARMFUL & set(done.out), ascii(done.out)
    if "--json" in words:
        assert json.loads(done.out)[0]["document"]["text"] == HOSTILE


def test_messages_neither(run, tmp_path):
    done = run("list", str(tmp_path / f"none{HOSTILE}"), subject="records", code=2)
    assert "does not exist" in done.err
    assert not HARMFUL & set(done.err)
