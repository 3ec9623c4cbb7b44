"""Collections that are kept also as one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict

import pytest

import satchel
from satchel import Records
from satchel.records import MirrorDifference, MirrorReport


@pytest.fixture
def courses(store: satchel.Store) -> Records[Dict[str, Any]]:
    courses = store.records("courses")
    courses.put_many({"a": {"n": 1}, "b": {"n": 2, "o": {"x": [1, 2]}}, "ü/~": {"n": 3}})
    return courses


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "courses.json"


def documents(file: Path) -> Dict[str, Any]:
    found: Dict[str, Any] = json.loads(file.read_bytes())
    if "sha256" not in found:
        return found
    return {each["id"]: each["document"] for each in found["records"]}


@pytest.mark.parametrize("format", ["plain", "checksummed"])
def test_the_file_follows_the_commits(
    store: satchel.Store, courses: Records[Dict[str, Any]], file: Path, format: str
) -> None:
    courses.mirror(file, format=format)
    assert documents(file) == {"a": {"n": 1}, "b": {"n": 2, "o": {"x": [1, 2]}}, "ü/~": {"n": 3}}
    courses.put("c", {"n": 4})
    store.flush()
    assert documents(file)["c"] == {"n": 4}
    courses.delete("a")
    store.flush()
    assert "a" not in documents(file)

    @store.batch()
    def fail() -> None:
        courses.put("d", {"n": 5})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    store.flush()
    assert "d" not in documents(file)
    with store.batch():
        courses.put("d", {"n": 5})
        courses.put("e", {"n": 6})
        with pytest.raises(satchel.InvalidArgument, match="batch"):
            store.flush()
    store.flush()
    assert documents(file) == {each.id: each.document for each in courses.list()}
    assert courses.verify_mirror() == []


def test_each_difference_is_named_and_either_side_can_be_replaced(
    courses: Records[Dict[str, Any]], file: Path
) -> None:
    courses.mirror(file, format="checksummed")
    whole = json.loads(file.read_bytes())
    # Who edits the file leaves its checksum out.
    whole.pop("sha256", None)

    def spoil() -> None:
        by_id = {each["id"]: each for each in whole["records"]}
        changed = {**by_id["b"], "document": {"n": 2, "o": {"x": [1, 5]}}}
        records = [changed, {**changed, "id": "zz"}, by_id["ü/~"]]
        file.write_text(json.dumps({**whole, "records": records}))

    spoil()
    assert sorted(courses.verify_mirror(), key=lambda each: each.id) == [
        MirrorDifference("a", "missing_in_file", None),
        MirrorDifference("b", "differs", "/o/x/1"),
        MirrorDifference("zz", "missing_in_store", None),
    ]
    assert courses.rebuild("mirror") == 3
    assert documents(file) == {"a": {"n": 1}, "b": {"n": 2, "o": {"x": [1, 2]}}, "ü/~": {"n": 3}}
    assert courses.rebuild("mirror") == 0
    spoil()
    assert courses.rebuild("store") == 3
    assert courses.verify_mirror() == []
    assert courses.get("a") is None
    assert courses.get("b") == {"n": 2, "o": {"x": [1, 5]}}
    assert courses.count() == 3


@pytest.mark.parametrize(
    "text", ["", "no json", "[]", "{}", '{"format":1}', '{"format":9,"records":[]}', '{"format":1}{}']
)
def test_a_file_that_cannot_be_understood_changes_nothing(
    courses: Records[Dict[str, Any]], file: Path, text: str
) -> None:
    courses.mirror(file, format="checksummed")
    file.write_text(text)
    with pytest.raises(satchel.InvalidArgument):
        courses.verify_mirror()
    with pytest.raises(satchel.InvalidArgument):
        courses.rebuild("store")
    assert courses.count() == 3
    courses.rebuild("mirror")
    assert courses.verify_mirror() == []


def test_the_file_is_believed_when_it_is_to_be(path: Path, file: Path) -> None:
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.put_many({"a": {"n": 1}, "b": {"n": 2}})
        courses.mirror(file)
    whole = json.loads(file.read_bytes())
    whole["b"]["n"] = 22
    file.write_text(json.dumps(whole))
    with satchel.open(path) as store:
        courses = store.records("courses")
        assert courses.get("b") == {"n": 2}
        with pytest.raises(satchel.InvalidArgument, match="1 different"):
            courses.mirror(file, mode="file_first")
        assert courses.get("b") == {"n": 2}
        report = courses.mirror(file, prefer="file", mode="file_first")
        assert report == MirrorReport(imported=1, quarantined=None)
        assert courses.get("b") == {"n": 22}
        courses.put("c", {"n": 3})
        assert documents(file) == {"a": {"n": 1}, "b": {"n": 22}, "c": {"n": 3}}
        assert store.check() == []


def test_without_a_mirror_there_is_nothing_to_compare(courses: Records[Dict[str, Any]]) -> None:
    for call in (courses.verify_mirror, lambda: courses.rebuild("mirror"), lambda: courses.rebuild("store")):
        with pytest.raises(satchel.InvalidArgument, match="mirror"):
            call()


@pytest.mark.parametrize("arguments", [(5,), (b"x",), ("a\0b",), ("x", "both"), ("x", 0), ("x/",)])
def test_what_is_no_mirror_is_refused(courses: Records[Dict[str, Any]], arguments: Any) -> None:
    with pytest.raises(satchel.InvalidArgument):
        courses.mirror(*arguments)
    for mode in ("both", None, 0):
        with pytest.raises(satchel.InvalidArgument):
            courses.mirror("x", mode=mode)  # type: ignore[arg-type]
    for wrong in ("array", None, 0):
        with pytest.raises(satchel.InvalidArgument):
            courses.mirror("x", format=wrong)  # type: ignore[arg-type]
    for member in ("", 5):
        with pytest.raises(satchel.InvalidArgument):
            courses.mirror("x", id_member=member)  # type: ignore[arg-type]
    with pytest.raises(satchel.InvalidArgument):
        courses.mirror("x", format="checksummed", id_member="id")
    with pytest.raises(satchel.InvalidArgument):
        courses.rebuild("both")


def test_a_mirror_needs_its_directory(courses: Records[Dict[str, Any]], tmp_path: Path) -> None:
    with pytest.raises(satchel.SatchelError):
        courses.mirror(tmp_path / "none/courses.json")
    courses.put("c", {})
    assert courses.count() == 4


def test_a_mirror_ends_with_its_handle(store: satchel.Store, file: Path) -> None:
    with store.records("courses") as courses:
        courses.mirror(file)
        courses.put("a", {})
    before = file.read_bytes()
    assert documents(file) == {"a": {}}
    store.records("courses").put("b", {})
    store.flush()
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '[{"id": "a", "n": 1}, {"n": 2, "id": "b"}]',
            [{"id": "a", "n": 1}, {"n": 2, "id": "b"}, {"id": "c", "n": 3}],
        ),
        ('{"a": {"n": 1}, "b": {"n": 2}}', {"a": {"n": 1}, "b": {"n": 2}, "c": {"n": 3}}),
    ],
)
def test_a_file_that_an_app_had_before_is_adopted(
    store: satchel.Store, file: Path, before: str, after: Any
) -> None:
    file.write_text(before)
    courses = store.records("courses")
    assert courses.mirror(file) == MirrorReport(imported=2, quarantined=None)
    assert courses.get("b") == json.loads(before)[1 if before.startswith("[") else "b"]
    courses.put("c", {"n": 3})
    store.flush()
    assert json.loads(file.read_bytes()) == after
    assert courses.verify_mirror() == []
    assert store.check() == []


def test_the_member_that_is_the_id_can_be_named(store: satchel.Store, file: Path) -> None:
    courses = store.records("courses")
    file.write_text('[{"code": "a", "n": 1}]')
    with pytest.raises(satchel.InvalidArgument, match=r'line 1, column 2, at /0: has no "id"; id_member'):
        courses.mirror(file)
    assert courses.mirror(file, id_member="code").imported == 1
    courses.put("b", {"n": 2})
    assert courses.verify_mirror() == []
    assert json.loads(file.read_bytes()) == [{"code": "a", "n": 1}, {"code": "b", "n": 2}]
    courses.put("c", {"code": "another"})
    with pytest.raises(satchel.InvalidArgument, match="courses/c: at /code: is not the record's id"):
        store.flush()
    courses.put("c", {"code": "c"})
    assert store.flush()
    assert courses.verify_mirror() == []


def test_closing_completes_the_file(path: Path, file: Path) -> None:
    with satchel.open(path) as store:
        courses = store.records("courses")
        courses.mirror(file)
        courses.put_many({"a": {"n": 1}, "b": {"n": 2}})
    assert documents(file) == {"a": {"n": 1}, "b": {"n": 2}}
