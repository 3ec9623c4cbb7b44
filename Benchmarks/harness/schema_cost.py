"""The costs of a schema: `put` of a document with a schema and `put` without, in turns in one run.

`python -m harness.schema_cost`, with SATCHEL_LIBRARY and PYTHONPATH set, prints the ratio, which is what
counts. It is no part of `make bench`.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import satchel

DOCUMENTS, TURNS = 2_000, 9
WORDS = "linear algebra vector space matrix proof lecture seminar exam credit hall group field ring".split()
DAYS = ["mon", "tue", "wed", "thu", "fri"]
MINUTES = {"type": "integer", "minimum": 0, "maximum": 1440}
SESSION = {
    "type": "object",
    "required": ["day", "from", "to"],
    "additionalProperties": False,
    "properties": {
        "day": {"enum": DAYS},
        "from": MINUTES,
        "to": MINUTES,
        "room": {"type": "string", "maxLength": 20},
    },
}
PLACE = {
    "type": "object",
    "required": ["lat", "lon"],
    "properties": {
        "lat": {"type": "number", "minimum": -90, "maximum": 90},
        "lon": {"type": "number", "minimum": -180, "maximum": 180},
    },
}
SCHEMA = {
    "type": "object",
    "required": ["title", "code", "credits", "kind", "teacher", "sessions", "tags"],
    "additionalProperties": False,
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 200},
        "code": {"type": "string", "maxLength": 12},
        "credits": {"type": "integer", "minimum": 0, "maximum": 30},
        "kind": {"enum": ["lecture", "seminar", "exam", "lab"]},
        "description": {"type": ["string", "null"], "maxLength": 4000},
        "teacher": {"$ref": "#/$defs/person"},
        "assistants": {"type": "array", "items": {"$ref": "#/$defs/person"}, "maxItems": 20},
        "sessions": {"type": "array", "items": SESSION},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True},
        "place": {"anyOf": [{"type": "null"}, PLACE]},
    },
    "$defs": {
        "person": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "mail": {"type": "string"},
                "born": {"type": "integer"},
            },
        }
    },
}


def document(dice: random.Random) -> bytes:
    """A course of some 1.5 KB."""

    def text(words: int) -> str:
        return " ".join(dice.choice(WORDS) for _ in range(words))

    def person() -> dict[str, Any]:
        return {"name": text(2), "mail": "a.b@example.org", "born": dice.randint(1950, 2000)}

    course = {
        "title": text(4),
        "code": f"MA{dice.randint(1, 9999)}",
        "credits": dice.randint(1, 12),
        "kind": dice.choice(["lecture", "seminar", "exam", "lab"]),
        "description": text(80),
        "teacher": person(),
        "assistants": [person() for _ in range(4)],
        "sessions": [{"day": dice.choice(DAYS), "from": 480, "to": 570, "room": f"H{n}"} for n in range(8)],
        "tags": dice.sample(WORDS, 6),
        "place": {"lat": 48.1, "lon": 11.5},
    }
    return json.dumps(course).encode()


def main() -> None:
    """Measures, and prints one line."""
    dice = random.Random(7)
    documents = [(f"c{number}", document(dice)) for number in range(DOCUMENTS)]
    times: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as folder, satchel.open(Path(folder) / "schema.satchel") as store:
        for turn in range(TURNS):
            for has_schema, taken in times.items():
                name = f"{'checked' if has_schema else 'plain'}{turn}"
                records = store.records(name, schema=SCHEMA if has_schema else None)
                start = time.process_time_ns()
                with store.batch():
                    for id, text in documents:
                        records.put(id, text)
                taken.append((time.process_time_ns() - start) / DOCUMENTS / 1_000)
    plain, checked = statistics.median(times[False]), statistics.median(times[True])
    size = sum(len(text) for _, text in documents) // DOCUMENTS
    print(f"{size} bytes: put {plain:.1f} µs, with a schema {checked:.1f} µs: {checked / plain:.2f} times")


if __name__ == "__main__":
    main()
