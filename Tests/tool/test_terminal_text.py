"""Names and content with control characters: the tool prints none of them to a terminal."""

import json

import pytest
import satchel
from conftest import watched
from observing import Observer

ESCAPE, NEXT_LINE, OVERRIDE, ISOLATE, SEPARATOR = "\x1b[2J", "\x85", "‮gpj.exe", "⁦x⁩", "\u2028"
HOSTILE = f"name{ESCAPE}{NEXT_LINE}{OVERRIDE}{ISOLATE}{SEPARATOR}؜‏"
# Ids have no control characters.
HOSTILE_ID = f"{OVERRIDE}{ISOLATE}{SEPARATOR}؜‏"
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
        records.put(HOSTILE_ID, {})
        made.state.set(f"name{HOSTILE_ID}", {HOSTILE: HOSTILE})
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
        ("records", ["get", "notes", "plain", "--json"]),
        ("records", ["put", "notes", HOSTILE_ID, "{}"]),
        ("records", ["delete", "notes", HOSTILE_ID]),
        ("state", ["list"]),
        ("state", ["get", f"name{HOSTILE_ID}"]),
        ("state", ["get", f"name{HOSTILE_ID}", "--json"]),
        ("state", ["set", HOSTILE_ID, "1"]),
    ],
)
def test_nothing_reaches_the_terminal_that_it_would_act_on(run, store, subject, words):
    command, *rest = words
    before, after = (rest, []) if subject == "catalogue" else ([], rest)
    done = run(command, store, *after, *before, subject=subject)
    assert not HARMFUL & set(done.out), ascii(done.out)
    if words[:2] == ["list", "notes"] and "--json" in words:
        assert json.loads(done.out)[0]["document"]["text"] == HOSTILE


@pytest.mark.parametrize("words", [["get", "notes", HOSTILE_ID], ["delete", "notes", HOSTILE_ID]])
def test_messages_about_a_record_that_is_missing(run, store, words):
    command, *rest = words
    run("delete", store, "notes", HOSTILE_ID, subject="records")
    done = run(command, store, *rest, subject="records", code=1)
    assert "has no record" in done.err
    assert not HARMFUL & set(done.err), ascii(done.err)


def test_a_document_on_a_terminal(store, tmp_path):
    seen = watched(["get", store, "notes", "plain"], tmp_path, subject="records")
    assert not HARMFUL & set(seen), ascii(seen)
    assert json.loads(seen)["text"] == HOSTILE


def test_what_is_observed_and_synchronized(run, store, tmp_path):
    (tmp_path / "remote").mkdir()
    words = ["--user", "ana", "--remote", str(tmp_path / "remote")]
    for more, code in ([["--dry-run"], 1], [["--dry-run", "--json"], 1], [[], 0]):
        done = run("sync", store, *words, *more, subject=None, code=code)
        assert not HARMFUL & set(done.out), ascii(done.out)
        assert more == [] or "plain" in done.out
    for more in ([], ["--json"]):
        with Observer(store, "--limit", "1", *more) as observer:
            run("put", store, "notes", HOSTILE_ID, "{}", subject="records")
            assert observer.finish() == 0
        [line] = observer.lines
        assert not HARMFUL & set(line), ascii(line)
        assert "notes/" in line


def test_messages_neither(run, tmp_path):
    done = run("list", str(tmp_path / f"none{HOSTILE}"), subject="records", code=2)
    assert "does not exist" in done.err
    assert not HARMFUL & set(done.err)
