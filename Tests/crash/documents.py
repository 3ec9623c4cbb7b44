"""The documents that synced_stores.py has written, and what in them counts as one value.

Where a record is replaced as a whole, its value is the name of the edit that wrote it. Where shared records
are merged, each of their fields has such a value. So every value is one edit's, and says whose.
"""

from __future__ import annotations

import json
from typing import Any

#: Records that each device alone edits, that all edit, and that are only there.
OWN, SHARED, OTHERS = 24, 12, 60
#: The fields of a merged record; each but the first two can be taken out.
FIELDS = ("a", "l", "b", "o.x", "o.y")
WORDS = ('"ü"', '"\\u00fc"', '"\\ud83d\\ude00 / \\n"', '["漢",[],{}]')

Values = dict[str, str | None]
"""By the name of what has a value; None where there is none."""


def own_ids(device: int) -> list[str]:
    return [f"own {device}/{each} ü.x" for each in range(OWN)]


def shared_ids() -> list[str]:
    return [f"shared-{each}" for each in range(SHARED)]


def lasting_ids() -> list[str]:
    """The shared ones that are never deleted where records are merged."""
    return shared_ids()[: SHARED // 2]


def other_ids() -> list[str]:
    return [f"other-{each}" for each in range(OTHERS)]


def is_merged(strategy: str, id: str) -> bool:
    return strategy == "merge" and id in shared_ids()


def whole(name: str, number: int) -> str:
    """A document with unusual forms of JSON values, so that another writer of JSON would show."""
    gap = " " * (number % 3)
    zeros = "0," * (number * 7 % 200)
    words = WORDS[number % len(WORDS)]
    return f'{{{gap}"by":{gap}"{name}","number":{number}.50,"words":{words},"more":[{zeros}1e2]}}'


def values(strategy: str, id: str, document: dict[str, Any] | None) -> Values:
    """The part of a record that is compared."""
    if not is_merged(strategy, id):
        return {id: document["by"] if document else None}
    return {cell(id, field): field_of(document or {}, field) for field in FIELDS}


def cell(id: str, field: str) -> str:
    return f"{id}: {field}"


def cells(strategy: str, id: str) -> list[str]:
    return list(values(strategy, id, None))


def field_of(document: dict[str, Any], field: str) -> str | None:
    value: Any = document
    for key in field.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    found: str | None = value[0] if isinstance(value, list) else value
    return found


def with_field(document: dict[str, Any], field: str, name: str | None) -> None:
    """Sets a field, or takes it out."""
    *outer, last = field.split(".")
    for key in outer:
        document = document.setdefault(key, {})
    if name is None:
        document.pop(last, None)
    else:
        document[last] = [name] if field == "l" else name


def text(document: dict[str, Any]) -> str:
    return json.dumps(document)
