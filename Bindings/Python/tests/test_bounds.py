"""The table of the guide Documentation/bounds.md: each bound is that of the code, and reached by a test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import pytest

import satchel

REPOSITORY = Path(__file__).resolve().parents[3]
GUIDE = REPOSITORY / "Documentation" / "bounds.md"
pytestmark = pytest.mark.skipif(not GUIDE.exists(), reason="the tests are used without the repository")


class Row(NamedTuple):
    """A row of the table."""

    name: str
    bound: str
    calls: str
    effect: str
    constant: str
    test: str

    @property
    def value(self) -> int:
        """The first number of the bound."""
        found = re.search(r"\d+", self.bound)
        assert found, self.bound
        return int(found.group())


def rows() -> List[Row]:
    if not GUIDE.exists():
        return []
    lines = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [Row(*(cell.strip() for cell in line.strip("| ").split(" | "))) for line in lines[2:]]


ROWS: Dict[str, Row] = {row.name: row for row in rows()}


def located(reference: str) -> Tuple[str, str]:
    """The file of a reference, and what it names there."""
    file, _, name = reference.partition(" ")
    path = REPOSITORY / file.strip("`")
    assert path.is_file(), f"there is no {path}"
    assert name, reference
    return path.read_text(encoding="utf-8"), name


def evaluated(expression: str) -> int:
    """The value of an integer expression of Swift or Python."""
    assert re.fullmatch(r"[\d_ <*()-]+", expression), expression
    return int(eval(expression))


@pytest.mark.parametrize(
    "row", [row for row in ROWS.values() if row.constant.startswith("`")], ids=lambda row: row.name
)
def test_a_bound_is_that_of_the_code(row: Row) -> None:
    text, name = located(row.constant)
    found = re.search(rf"\b{re.escape(name)}(?:: \w+)? = ([\d_ <*()-]+)$", text, re.MULTILINE)
    assert found, f"{row.constant}: there is no such constant"
    assert evaluated(found.group(1).strip()) == row.value


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_a_bound_has_a_test(row: Row) -> None:
    text, name = located(row.test)
    assert re.search(rf"(?:def |@Test\(\s*\"[^\"]*){re.escape(name)}", text), f"there is no test {name}"


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_the_calls_of_a_bound_exist(row: Row) -> None:
    header = (REPOSITORY / "Include" / "satchel.h").read_text(encoding="utf-8")
    for name in re.findall(r"`(satchel_\w+)`", row.calls):
        assert re.search(rf"\b{name}\(", header), name


def nested(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def test_json_is_nested_up_to_its_bound(store: satchel.Store) -> None:
    levels = ROWS["Nesting of JSON"].value
    notes = store.records("notes")
    notes.put("a", nested(levels))
    assert notes.text("a") == nested(levels)
    with pytest.raises(satchel.InvalidArgument, match=str(levels)):
        notes.put("b", nested(levels + 1))
    assert notes.count() == 1


def test_the_id_of_a_record(store: satchel.Store) -> None:
    length = ROWS["Id of a record"].value
    notes = store.records("notes")
    notes.put("x" * length, {})
    with pytest.raises(satchel.InvalidArgument, match=str(length)):
        notes.put("x" * (length + 1), {})
    assert notes.ids() == ["x" * length]


def test_the_records_that_a_change_names(store: satchel.Store) -> None:
    most = ROWS["Records that a change names"].value
    notes = store.records("notes")
    changes: List[Any] = []
    with store.observe(changes.append):
        for count in (most, most + 1):
            notes.put_many({f"{each}": {} for each in range(count)})
    assert [len(change.records) for change in changes] == [most, 1]
    assert changes[1].records == [satchel.RecordKey("notes", None)]
