"""Records: writing, reading, deleting, revisions, ids and documents of every kind."""

from __future__ import annotations

import json
import resource
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List

import pytest
from helpers import Clock

import satchel
from satchel import Record, Records

ALGEBRA = {"title": "Algebra", "credits": 6, "tags": ["maths", None, 1.5], "room": {"floor": 2}}


@pytest.fixture
def courses(store: satchel.Store) -> Records[Dict[str, Any]]:
    return store.records("courses")


def test_what_was_put_is_there(courses: Records[Dict[str, Any]]) -> None:
    assert courses.put("algebra", ALGEBRA) == 1
    assert courses.get("algebra") == ALGEBRA
    assert courses.get("geometry") is None
    assert courses.record("geometry") is None
    assert "algebra" in courses
    assert "geometry" not in courses
    assert 5 not in courses
    assert courses.count() == 1
    assert courses.name == "courses"


def test_a_record_knows_its_revision_and_times(
    store: satchel.Store, courses: Records[Dict[str, Any]], clock: Clock
) -> None:
    begun = clock.now
    courses.put("algebra", ALGEBRA)
    clock.advance(5000)
    assert courses.put("algebra", {"title": "Algebra II"}) == 2
    record = courses.record("algebra")
    assert record == Record("algebra", 2, begun, begun + 5000, "local", {"title": "Algebra II"})
    assert record.created_at == datetime.fromtimestamp(begun / 1000, timezone.utc)
    assert record.modified_at > record.created_at


def test_a_record_is_also_a_mapping_of_its_document() -> None:
    record = Record("c1", 1, 0, 0, "local", {"title": "Algebra", "id": 5})
    assert record["title"] == "Algebra"
    assert (record["id"], record.id) == (5, "c1")
    assert dict(record) == {"title": "Algebra", "id": 5}
    assert record == {"title": "Algebra", "id": 5}
    assert record != {"title": "Algebra"}
    assert record != Record("c1", 2, 0, 0, "local", {"title": "Algebra", "id": 5})
    assert record != "Algebra"
    assert len(record) == 2
    assert record.get("credits", 6) == 6
    with pytest.raises(KeyError):
        record["credits"]
    assert Record("c1", 1, 0, 0, "local", {})
    assert len({record, record}) == 1


def test_deleting_says_whether_there_was_one(courses: Records[Dict[str, Any]]) -> None:
    courses.put("algebra", ALGEBRA)
    assert courses.delete("algebra") is True
    assert courses.delete("algebra") is False
    assert courses.get("algebra") is None
    assert courses.count() == 0
    assert courses.list() == []


def test_a_record_that_was_deleted_begins_again(courses: Records[Dict[str, Any]]) -> None:
    courses.put_many({"a": {"n": 1}, "b": {"n": 2}})
    courses.delete("a")
    courses.put("a", {"n": 3})
    assert courses.ids() == ["b", "a"]
    assert [each["n"] for each in courses.list()] == [2, 3]


def test_a_record_that_is_replaced_keeps_its_place(courses: Records[Dict[str, Any]]) -> None:
    courses.put_many([("a", {"n": 1}), ("b", {"n": 2})])
    courses.put("a", {"n": 3})
    assert courses.ids() == ["a", "b"]


def test_a_write_can_be_made_to_depend_on_the_revision(courses: Records[Dict[str, Any]]) -> None:
    assert courses.put("a", {"n": 1}, if_revision=0) == 1
    for wrong in (0, 2, 2**63 - 1):
        with pytest.raises(satchel.Conflict, match="a"):
            courses.put("a", {"n": 2}, if_revision=wrong)
        with pytest.raises(satchel.Conflict, match="a"):
            courses.delete("a", if_revision=wrong)
    assert courses.get("a") == {"n": 1}
    assert courses.put("a", {"n": 3}, if_revision=1) == 2
    with pytest.raises(satchel.Conflict):
        courses.put("b", {"n": 1}, if_revision=1)
    assert courses.delete("a", if_revision=2) is True
    assert courses.count() == 0


def test_many_are_written_or_none(courses: Records[Dict[str, Any]]) -> None:
    assert courses.put_many({f"c{each}": {"n": each} for each in range(500)}) == 500
    assert courses.put_many((f"c{each}", b'{"n":%d}' % each) for each in range(500, 600)) == 100
    assert courses.put_many([]) == 0
    assert courses.put_many({}) == 0
    assert [each["n"] for each in courses.list()] == list(range(600))
    with pytest.raises(satchel.InvalidArgument):
        courses.put_many([("x", {"n": 1}), ("", {"n": 2})])
    assert courses.get("x") is None
    assert courses.count() == 600


def test_a_text_cannot_say_more_than_one_document(courses: Records[Dict[str, Any]]) -> None:
    with pytest.raises(satchel.InvalidArgument):
        courses.put_many([("a", '{}},{"id":"b","document":{}')])
    assert courses.count() == 0


def test_text_is_kept_byte_for_byte(courses: Records[Dict[str, Any]]) -> None:
    text = '{ "price" : 1.50, "big":9007199254740993,\t"e": 1E2, "ü":"\\u00fc\\/" }'.encode()
    for id, given in (("bytes", text), ("str", text.decode()), ("view", memoryview(text))):
        courses.put(id, given)
        assert courses.text(id) == text
        assert courses.get(id) == json.loads(text)
    courses.put_many({"many": text})
    assert courses.text("many") == text
    assert courses.text("none") is None


GOOD_IDS = ["a", "a b", "../../etc/passwd", "a/b", "ü", "u\u0308", "漢" * 85, "x" * 255]
GOOD_IDS += ["😀", "'; drop table record", ".", "..", "%", "%2F", "*", "A", "a.json", " ", "\u2028"]


def test_ids_are_distinguished_by_their_bytes(courses: Records[Dict[str, Any]]) -> None:
    for id in GOOD_IDS:
        courses.put(id, {"id": id})
    assert courses.count() == len(GOOD_IDS)
    assert courses.ids() == GOOD_IDS
    for id in GOOD_IDS:
        assert courses.get(id) == {"id": id}
        assert courses.ids(where={"@id": id}) == [id]
    for id in GOOD_IDS:
        assert courses.delete(id)
    assert courses.count() == 0


@pytest.mark.parametrize(
    "id", ["", "x" * 256, "漢" * 86, "a\0b", "a\nb", "\x7f", "\x85", "\ud800", None, 5, b"a"]
)
def test_what_is_no_id_is_refused(courses: Records[Dict[str, Any]], id: Any) -> None:
    for call in (
        lambda: courses.put(id, {}),
        lambda: courses.put_many([(id, {})]),
        lambda: courses.get(id),
        lambda: courses.record(id),
        lambda: courses.delete(id),
    ):
        with pytest.raises(satchel.InvalidArgument):
            call()
    assert courses.count() == 0


DEEP: Any = {}
for _ in range(600):
    DEEP = {"a": DEEP}
CIRCLE: Dict[str, Any] = {}
CIRCLE["self"] = CIRCLE

BAD_DOCUMENTS: Dict[str, Any] = {
    "null": None,
    "list": [{"a": 1}],
    "number": 5,
    "set": {1, 2},
    "class": dict,
    "nan": {"a": float("nan")},
    "infinite": {"a": [float("inf")]},
    "exponent": b'{"a":1e99999999999999999999}',
    "key": {1: "a"},
    "object": {"a": object()},
    "surrogate": {"a": "\ud800"},
    "time without a zone": {"a": datetime.min},
    "deep": DEEP,
    "circle": CIRCLE,
    "empty": b"",
    "half": b'{"a":',
    "two": b"{}{}",
    "twice": b'{"a":1,"a":2}',
    "text": '"text"',
    "latin": b'{"a":"\xff"}',
    "mark": b"\xef\xbb\xbf{}",
}


@pytest.mark.parametrize("name", BAD_DOCUMENTS)
def test_what_is_no_document_is_refused(courses: Records[Dict[str, Any]], name: str) -> None:
    courses.put("a", ALGEBRA)
    with pytest.raises(satchel.InvalidArgument):
        courses.put("a", BAD_DOCUMENTS[name])
    with pytest.raises(satchel.InvalidArgument):
        courses.put_many([("b", {}), ("a", BAD_DOCUMENTS[name])])
    assert courses.ids() == ["a"]
    record = courses.record("a")
    assert record is not None
    assert record.document == ALGEBRA
    assert record.revision == 1


def test_the_message_names_collection_id_and_place(courses: Records[Dict[str, Any]]) -> None:
    with pytest.raises(satchel.InvalidArgument, match=r"/a/1: nan is not a JSON number"):
        courses.put("c1", {"a": [1, float("nan")]})
    with pytest.raises(satchel.InvalidArgument, match=r"courses/c1.*line 1, column"):
        courses.put("c1", b'{"a":1,"a":2}')


@pytest.mark.parametrize("documents", ["ab", b"{}", 5, None, [5], [("a",)], [("a", {}, 1)], ["abc"]])
def test_what_are_no_documents_with_ids_is_refused(courses: Records[Dict[str, Any]], documents: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        courses.put_many(documents)


@pytest.mark.filterwarnings("ignore::satchel.LargeStringWarning")
def test_extreme_documents_come_back(courses: Records[Dict[str, Any]]) -> None:
    documents: Dict[str, Dict[str, Any]] = {
        "empty": {},
        "large": {"text": "x" * 3_000_000},
        "wide": {str(each): each for each in range(20_000)},
        "numbers": {"least": -(2**63), "most": 2**63 - 1, "zero": -0.0, "tiny": 5e-324, "huge": 1.7e308},
        "integers": {"beyond": 2**63, "below": -(2**63) - 1, "long": 10**4000},
        "texts": {"": "", "nul": "\0", "line": "\u2028", "emoji": "👩‍👩‍👧", "/~": "~/"},
    }
    courses.put_many(documents)
    for id, document in documents.items():
        assert courses.get(id) == document
        assert json.dumps(courses.get(id)) == json.dumps(document)


@pytest.mark.parametrize("text", [b' {"a":1}', b'{"a":1}\n', b' \r\n\t{ "a" : 1 }\t '])
def test_white_space_around_a_document_is_kept_and_passed_over(
    courses: Records[Dict[str, Any]], text: bytes
) -> None:
    courses.put("a", text)
    assert courses.text("a") == text
    assert courses.get("a") == {"a": 1}


def memory() -> int:
    """Bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.filterwarnings("ignore::satchel.LargeStringWarning")
def test_what_was_read_is_freed(courses: Records[Dict[str, Any]]) -> None:
    courses.put("large", {"text": "x" * 4_000_000})
    courses.text("large")
    before = memory()
    for _ in range(100):
        text = courses.text("large")
        assert text is not None
        assert len(text) > 4_000_000
    assert memory() - before < 40_000_000


def test_collections_are_listed(store: satchel.Store) -> None:
    store.records("semesters").put("s1", {})
    store.records(
        "courses", indexes=["title", satchel.records.Index("code", unique=True)], relations={"s": "semesters"}
    )
    found = {each.name: each for each in store.collections()}
    assert set(found) == {"courses", "semesters"}
    assert (found["semesters"].count, found["courses"].count) == (1, 0)
    assert found["courses"].version == 1
    assert len(found["courses"].indexes) == 2
    assert list(found["courses"].relations) == ["s"]
    assert (found["courses"].on_conflict, found["courses"].synced) == ("newest_wins", True)


@pytest.mark.parametrize(
    "name", ["", "Courses", "1a", "_a", "a-b", "a b", "a/b", "ä", "a" * 65, "a\0", None, 5, b"a"]
)
def test_what_is_no_name_of_a_collection_is_refused(store: satchel.Store, name: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        store.records(name)
    assert store.collections() == []


def test_the_longest_name_is_one(store: satchel.Store) -> None:
    name = "a" + "9_" * 31 + "z"
    assert len(name) == 64
    store.records(name).put("a", {"n": 1})
    assert store.records(name).get("a") == {"n": 1}


BAD_DECLARATIONS: Dict[str, Dict[str, Any]] = {
    "an index that is a number": {"indexes": [5]},
    "indexes that are a text": {"indexes": "title"},
    "an index of nothing": {"indexes": [{"unique": True}]},
    "relations that are a list": {"relations": ["courses"]},
    "a relation to no collection": {"relations": {"a": {}}},
    "a relation with another end": {"relations": {"a": {"collection": "b", "on_delete": "explode"}}},
    "a relation to no name": {"relations": {"a": "No Name"}},
    "a schema that is a text": {"schema": "object"},
    "an invalid schema": {"schema": {"type": "thing"}},
    "a version that is 0": {"version": 0},
    "a version that is a text": {"version": "1"},
    "a version that is True": {"version": True},
    "an invalid step": {"version": 2, "migrations": [[{"explode": {}}]]},
    "steps that are a dict": {"version": 2, "migrations": [{"remove": {"path": "a"}}]},
    "a class that is no dataclass": {"of": dict},
    "an instance": {"of": Record("a", 1, 0, 0, "local", None)},
}


@pytest.mark.parametrize("name", BAD_DECLARATIONS)
def test_what_is_no_declaration_is_refused(store: satchel.Store, name: str) -> None:
    with pytest.raises(satchel.InvalidArgument):
        store.records("courses", **BAD_DECLARATIONS[name])
    assert store.collections() == []


def test_observers_hear_of_records(store: satchel.Store) -> None:
    courses = store.records("courses")
    heard: List[satchel.Change] = []
    with store.observe(heard.append):
        courses.put("a", {"n": 1})
        courses.put_many({"b": {}, "c": {}})
        courses.delete("a")
        courses.delete("nothing")
    assert [(each.subject, sorted(each.keys), each.own) for each in heard] == [
        ("records", ["courses/a"], True),
        ("records", ["courses/b", "courses/c"], True),
        ("records", ["courses/a"], True),
    ]


def test_records_survive_reopening(path: Path) -> None:
    documents = {f"c{each}": {"n": each} for each in range(300)}
    with satchel.open(path) as store:
        courses = store.records("courses", indexes=["n"])
        courses.put_many(documents)
        for each in range(0, 300, 3):
            courses.delete(f"c{each}")
    left = {id: each for id, each in documents.items() if each["n"] % 3}
    with satchel.open(path) as store:
        courses = store.records("courses", indexes=["n"])
        assert {each.id: each.document for each in courses.list()} == left
        assert courses.count({"n": {"gte": 150}}) == 100
        assert store.check() == []
    with satchel.open(path, read_only=True) as store:
        courses = store.records("courses", indexes=["n"])
        assert courses.count() == len(left)
        with pytest.raises(satchel.ReadOnly):
            courses.put("x", {})
        with pytest.raises(satchel.NotFound):
            store.records("others")
    assert not path.with_name(path.name + ".outbox").exists()
