"""The guide's table of codes: complete, true, and each example raises what its row says."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any, Dict, List, NamedTuple

import pytest

from satchel import stories

GUIDE = Path(__file__).parents[3] / "Documentation" / "stories.md"
ROW = re.compile(r"^\| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \|(?: (`.+`) \|)?$")


class Row(NamedTuple):
    code: str
    severity: str
    meaning: str
    statement: str


def rows() -> List[Row]:
    found = [ROW.match(line) for line in GUIDE.read_text(encoding="utf-8").splitlines()]
    return [
        Row(match[1], match[2], match[3], (match[4] or "").strip("`"))
        for match in found
        if match and match[2].startswith(("error", "warning"))
    ]


def base() -> Dict[str, Any]:
    page = GUIDE.read_text(encoding="utf-8")
    begin = page.index("story = {")
    namespace: Dict[str, Any] = {}
    exec(page[begin : page.index("folder = Path(")], namespace)
    story: Dict[str, Any] = namespace["story"]
    return story


def test_the_table_names_every_code_with_its_severity_and_meaning() -> None:
    rules = json.loads(stories.check(base()).sarif("x"))["runs"][0]["tool"]["driver"]["rules"]
    known = {
        rule["id"]: (rule["defaultConfiguration"]["level"], rule["shortDescription"]["text"])
        for rule in rules
    }
    assert {row.code for row in rows()} == set(known)
    assert len(rows()) == len(known)
    for row in rows():
        level, meaning = known[row.code]
        assert row.severity.split(";")[0] == level
        assert row.meaning.startswith(meaning)


def test_the_story_of_the_guide_is_sound() -> None:
    assert stories.check(base()).findings == []


@pytest.mark.parametrize("row", [row for row in rows() if row.statement], ids=lambda row: row.code)
def test_the_example_of_a_row_raises_its_code(row: Row, tmp_path: Path) -> None:
    story = copy.deepcopy(base())
    rim, meadow, home = story["segments"]
    namespace = {"story": story, "rim": rim, "meadow": meadow, "home": home}
    exec(row.statement, namespace)
    changed = namespace["story"]
    text = changed if isinstance(changed, str) else json.dumps(changed)
    report = stories.check(text.encode(), folder=tmp_path)
    raised = [finding for finding in report.findings if finding.code == row.code]
    assert raised, [finding.code for finding in report.findings]
    assert raised[0].severity == row.severity.split(";")[0]
