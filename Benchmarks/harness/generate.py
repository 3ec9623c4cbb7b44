"""The data: seeded, so that every machine measures the same bytes.

payloads.jsonl    what the peers take in: a location, a section, 20 entities
deliveries.jsonl  the same payloads in Satchel's shape
again.jsonl       the same deliveries, the members of each object in another order
"""

import json
import random
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .places import DATA

WORDS = """
amber basil cedar delta ember fjord grove harbor island jasper kettle lantern meadow nectar orchard
pepper quartz river saffron thyme umber valley willow xenial yarrow zephyr bridge castle market
museum palace temple garden station gallery theatre square tower bakery noodle broth dumpling rice
spice festival craft weaver potter harvest monsoon glacier quiet bright ancient hidden famous gentle
narrow golden northern southern coastal royal humble modern wooden painted smoky crisp tender
fragrant
""".split()
CATEGORIES = ("cuisine", "landmark", "history", "festival", "craft", "nature", "music", "district")
TTL_HOURS = 168
GROWTH = 10
VERSION = 2
"""Counts up when the generator changes, so that older data is replaced."""


@dataclass(frozen=True)
class Shape:
    """How much data there is."""

    locations: int = 50
    sections: int = 100
    entities: int = 20
    seed: int = 1

    @property
    def payloads(self) -> int:
        return self.locations * self.sections

    @property
    def directory(self) -> Path:
        return DATA / f"{self.locations}x{self.sections}x{self.entities}"

    @property
    def payload_file(self) -> Path:
        return self.directory / "payloads.jsonl"

    @property
    def delivery_file(self) -> Path:
        return self.directory / "deliveries.jsonl"

    @property
    def again_file(self) -> Path:
        return self.directory / "again.jsonl"


FULL = Shape()
QUICK = Shape(sections=10)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text(source: random.Random, size: int) -> str:
    """Words of about `size` bytes."""
    words, length = [], 0
    while length < size:
        word = WORDS[source.randrange(len(WORDS))]
        words.append(word)
        length += len(word) + 1
    return " ".join(words)[:size].rstrip()


def make_entity(source: random.Random, category: str, number: int, location: int) -> dict[str, Any]:
    return {
        "entity_id": f"{category}:Q{number}",
        "name": text(source, source.randrange(8, 28)).title(),
        "description": text(source, source.randrange(20, 80)),
        "markdown": f"## {text(source, 12)}\n\n{text(source, source.randrange(10, 80))}"
        f"\n\n* \u00e9t\u00e9 \u2014 {text(source, 16)}",
        "cards": [
            {"title": text(source, 14), "body": text(source, source.randrange(10, 26))} for _ in range(2)
        ],
        "scope": category,
        "expires_at": 1_800_000_000 + source.randrange(0, 10_000_000),
        "source": {
            "place": f"loc:{location:03d}",
            "lat": round(source.uniform(-80, 80), 5),
            "lon": round(source.uniform(-180, 180), 5),
        },
    }


def delivery(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload as a backend of Satchel sends it."""
    section = payload["section"]
    items = [
        {
            **entity,
            "_storage": {
                "entity_id": entity["entity_id"],
                "scope": "locality",
                "ttl_hours": TTL_HOURS,
            },
        }
        for entity in payload["entities"]
    ]
    return {
        "location": {
            "country_code": "xx",
            "admin_area": "area",
            "locality": payload["location"].replace(":", " "),
        },
        "sections": [
            {
                "section": section["id"],
                "display_title": section["title"],
                "action": "replace",
                "config": {"order": section["order"]},
                "content": {"items": items},
            }
        ],
    }


def reordered(source: random.Random, value: Any) -> Any:
    """The same value, the members of each object in random order."""
    if isinstance(value, list):
        return [reordered(source, item) for item in value]
    if not isinstance(value, dict):
        return value
    members = [(key, reordered(source, item)) for key, item in value.items()]
    return dict(source.sample(members, len(members)))


def generate(shape: Shape) -> None:
    """Makes the data unless it is there."""
    stamp = shape.directory / "made.json"
    facts = json.dumps({**asdict(shape), "version": VERSION})
    if stamp.exists() and stamp.read_text() == facts:
        return
    shape.directory.mkdir(parents=True, exist_ok=True)
    source, shuffling = random.Random(shape.seed), random.Random(shape.seed)
    numbers = iter(source.sample(range(1000, 9_999_999), shape.payloads * shape.entities))
    order = [(place, index) for place in range(shape.locations) for index in range(shape.sections)]
    source.shuffle(order)
    with (
        shape.payload_file.open("w", encoding="utf-8") as payloads,
        shape.delivery_file.open("w", encoding="utf-8") as deliveries,
        shape.again_file.open("w", encoding="utf-8") as again,
    ):
        for place, index in order:
            category = CATEGORIES[index % len(CATEGORIES)]
            entities = [make_entity(source, category, next(numbers), place) for _ in range(shape.entities)]
            payload = {
                "location": f"loc:{place:03d}",
                "section": {
                    "id": f"sec:{place:03d}:{index:03d}",
                    "title": text(source, 20).title(),
                    "order": index,
                },
                "entities": entities,
            }
            payloads.write(compact(payload) + "\n")
            deliveries.write(compact(delivery(payload)) + "\n")
            again.write(compact(reordered(shuffling, delivery(payload))) + "\n")
    stamp.write_text(facts)


def grow(shape: Shape, target: Path) -> None:
    """Ten times the deliveries: as many more locations, other entity ids, in random order.

    The copy's number is appended to each entity id, so that the ids of all copies lie mixed in any index.
    """
    lines = shape.delivery_file.read_bytes().splitlines()
    order = [(copy, index) for copy in range(GROWTH) for index in range(len(lines))]
    random.Random(shape.seed).shuffle(order)
    with target.open("wb") as out:
        for copy, index in order:
            shift = copy * shape.locations
            line = re.sub(rb"(:Q\d+)", rb"\g<1>%d" % copy, lines[index])
            out.write(
                re.sub(
                    rb"\b(loc[: ]|sec:)(\d{3})",
                    lambda match, shift=shift: match[1] + b"%03d" % (int(match[2]) + shift),
                    line,
                )
            )
            out.write(b"\n")
