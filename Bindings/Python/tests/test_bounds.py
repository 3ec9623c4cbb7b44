"""The table of the guide Documentation/bounds.md: each bound is that of the code, and reached by a test."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import pytest
from helpers import Clock
from hosts import DictStore

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


def test_the_probe_of_a_remote(tmp_path: Path) -> None:
    most = ROWS["Requests of the probe of a remote"].value
    host, clock = DictStore(), Clock()

    def probes() -> int:
        """The requests of the probe in a sync of a store that was just opened."""
        host.calls.clear()
        with satchel.open(tmp_path / "store", clock=clock) as store:
            store.records("notes").put("a", {"now": clock.now})
            store.sync(host.remote(), "ada")
        return sum("condition-probe" in key for _, key in host.calls)

    assert 0 < probes() <= most
    assert probes() == 0
    clock.advance(ROWS["Age of a probe"].value)
    assert 0 < probes() <= most


#: Recovers a store, and prints the bytes by which the memory of the process has grown at most.
RECOVERY = """
import sys
import satchel.backup

def peak():
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))

satchel.open(":memory:").close()
before = peak()
assert satchel.backup.recover(sys.argv[1], sys.argv[2]).tables
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.filterwarnings("ignore::satchel.LargeStringWarning")
@pytest.mark.parametrize(("count", "size"), [(12_000, 4000), (1, 16 << 20)])
def test_a_recovery_holds_no_store_in_memory(tmp_path: Path, count: int, size: int) -> None:
    most = ROWS["Memory of a recovery"].value
    damaged, target = tmp_path / "damaged", tmp_path / "target"
    with satchel.open(damaged) as store:
        notes = store.records("notes")
        for start in range(0, count, 1000):
            notes.put_many(
                {f"{each}": {"text": "x" * size} for each in range(start, min(start + 1000, count))}
            )
    if count > 1:
        assert damaged.stat().st_size > most * 5 // 4
    run = subprocess.run(
        [sys.executable, "-c", RECOVERY, damaged, target], check=True, capture_output=True, text=True
    )
    assert int(run.stdout) < most + 4 * size
    with satchel.open(target) as store:
        assert store.records("notes").count() == count
