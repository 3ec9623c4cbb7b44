"""Results as tables of HTML."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any

import satchel


@dataclass
class Note:
    title: str
    n: int = 0


def html(result: Any) -> str:
    text: str = result._repr_html_()
    return text


def test_records_are_a_table(store: satchel.Store) -> None:
    notes = store.records("notes")
    notes.put("<script>", {"title": '<b>&"quoted"</b>', "n": 1})
    notes.put("b", {"title": "Second", "more": [1, 2]})
    found = notes.list()
    assert isinstance(found, list)
    assert found == [notes.record("<script>"), notes.record("b")]
    text = html(found)
    assert text.startswith("<table>")
    assert "<script>" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;" in text
    assert "&lt;b&gt;&amp;&quot;quoted&quot;&lt;/b&gt;" in text
    for column in ("id", "title", "n", "more"):
        assert f"<th>{column}</th>" in text
    assert "<td>[1, 2]</td>" in text
    one = html(notes.record("b"))
    assert "<td>title</td><td>Second</td>" in one
    assert "<th>Record</th>" in one


def test_names_of_members_are_escaped(store: satchel.Store) -> None:
    notes = store.records("notes")
    notes.put("a", {"<img src=x>": 1})
    assert "<img" not in html(notes.list())
    assert "<img" not in html(notes.record("a"))


def test_dataclasses_large_results_and_none(store: satchel.Store) -> None:
    notes = store.records("notes", of=Note)
    assert "<tbody></tbody>" in html(notes.list())
    notes.put_many((f"{each:03}", Note("x" * 1000, each)) for each in range(60))
    text = html(notes.list())
    assert "<th>title</th>" in text
    assert "<p>10 more</p>" in text
    assert "x" * 200 + "…" in text
    assert "x" * 201 not in text


@dataclass
class Visit:
    at: datetime
    day: date


def test_times_and_dates_are_those_of_iso_8601(store: satchel.Store) -> None:
    visits = store.records("visits", of=Visit)
    visits.put("a", Visit(datetime(2027, 5, 3, 12, 30, tzinfo=timezone.utc), date(2027, 5, 3)))
    for text in (html(visits.list()), html(visits)):
        assert "<td>2027-05-03 12:30:00+00:00</td><td>2027-05-03</td>" in text
    assert "datetime" not in html(visits.record("a"))


def test_a_collection_shows_its_first_records(store: satchel.Store) -> None:
    notes = store.records("notes", of=Note)
    assert html(notes).startswith("<p>notes: 0 records</p><table>")
    notes.put("a", Note("First"))
    assert html(notes).startswith("<p>notes: 1 record</p><table>")
    notes.put_many((f"{each:03}", Note(f"Note {each}")) for each in range(13))
    text = html(notes)
    assert text.startswith("<p>notes: 14 records</p><table>")
    assert "<td>Note 8</td>" in text
    assert "<td>Note 9</td>" not in text
    assert text.endswith("<p>4 more</p>")
    assert repr(notes) == "<satchel.Records 'notes'>"


def test_a_collection_that_cannot_be_read_is_shown(store: satchel.Store) -> None:
    store.records("notes").put("<b>", {"n": 1})
    notes = store.records("notes", of=Note)
    assert "notes/&lt;b&gt; is not a Note: /title is missing" in html(notes)
    notes.close()
    assert html(notes).startswith("<p>&lt;satchel.Records &#x27;notes&#x27;, closed&gt;: ")
    assert not hasattr(store, "_repr_html_")


def test_receipts_and_reports(store: satchel.Store) -> None:
    receipt = store.catalogue.persist({"country_code": "pt"}, {"section": "facts", "content": {}})
    assert "<td>saved</td><td>0</td>" in html(receipt)
    assert "<th>Receipt</th>" in html(receipt)
    headers = store.catalogue.sections({"country_code": "pt"})
    assert "<th>entity_count</th>" in html(headers)
    report = store.records("notes").put_many({"a": {}}, skip_rejected=True)
    assert "PutReport" in html(report)
    story = satchel.stories.check(b'{"id": "a"}')
    assert html(story)
    assert "_text" not in html(story)


def test_the_lists_are_lists(store: satchel.Store) -> None:
    notes = store.records("notes")
    notes.put("a", {"n": 1})
    found = notes.list()
    assert found[:1] == found
    assert copy.copy(found) == found
    assert pickle.loads(pickle.dumps(found)) == found
