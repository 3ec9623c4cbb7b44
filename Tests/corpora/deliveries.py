"""Real places: deliveries of nine countries, streamed section by section, cut at random, with relaunches.
What shows is what the model of the tests shows.

Usage: deliveries.py FOLDER, a clone of github.com/dr5hn/countries-states-cities-database
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import satchel

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Bindings/Python/tests"))
from helpers import Clock
from test_against_model import compare, probes

from model import Model

COUNTRIES = ("BT", "EE", "IS", "JM", "KH", "LT", "NA", "UG", "UY")
COMPARED = 40
"""Locations that are compared each time, each with all its probes."""
TIMES = 5


def tag(kind: str, number: Any, scope: str, hours: int) -> dict[str, Any]:
    return {"entity_id": f"{kind}:{number}", "scope": scope, "ttl_hours": hours}


def sections(country: dict[str, Any], towns: list[dict[str, Any]], index: int) -> Iterator[dict[str, Any]]:
    """Returns a delivery for a town: its country, its region, the towns around, and a text of its own."""
    town = towns[index]
    whole = {key: value for key, value in country.items() if key not in ("id", "created_at", "updated_at")}
    yield {
        "section": "country",
        "display_title": country["name"],
        "config": {"render_type": "facts"},
        "content": {"facts": {**whole, "_storage": tag("country", country["iso3"], "country", 720)}},
    }
    yield {
        "section": "region",
        "display_title": town["state_code"],
        "config": None,
        "content": {
            "region": {
                "code": town["state_code"],
                "towns": sum(each["state_code"] == town["state_code"] for each in towns),
                "_storage": tag("region", town["state_id"], "adminarea", 336),
            }
        },
    }
    near = towns[max(0, index - 2) : index + 3]
    around = [each for each in near if each["state_code"] == town["state_code"]]
    yield {
        "section": "places",
        "display_title": f"In and around {town['name']}",
        "config": {"render_type": "card"},
        "content": {
            "title": town["name"],
            "items": [
                {
                    "name": each["name"],
                    "translations": each["translations"],
                    "_storage": tag("town", each["id"], "adminarea" if each is not town else "locality", 48),
                }
                for each in around
            ],
        },
    }
    yield {
        "section": "here",
        "display_title": town["native"] or town["name"],
        "config": {"order": index},
        "content": {"timezone": town["timezone"], "population": town["population"]},
    }


def point(town: dict[str, Any]) -> tuple[float, float]:
    return round(float(town["latitude"]), 4), round(float(town["longitude"]), 4)


def deliveries(folder: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    countries = json.loads((folder / "contributions/countries/countries.json").read_text(encoding="utf-8"))
    by_code = {each["iso2"]: each for each in countries}
    known: set[tuple[float, float]] = set()
    for code in COUNTRIES:
        towns = json.loads((folder / f"contributions/cities/{code}.json").read_text(encoding="utf-8"))
        # Towns of several regions are listed once for each; the model knows one place at a coordinate.
        towns = list({point(each): each for each in towns if point(each) not in known}.values())
        known.update(map(point, towns))
        for index, town in enumerate(towns):
            location = {
                "country_code": code,
                "country_name": by_code[code]["name"],
                "admin_area": town["state_code"],
                "locality": town["name"],
                "latitude": float(town["latitude"]),
                "longitude": float(town["longitude"]),
            }
            yield location, list(sections(by_code[code], towns, index))


def main(folder: str) -> int:
    source = random.Random(2_691)
    clock = Clock()
    model = Model(clock)
    sent = list(deliveries(Path(folder)))
    source.shuffle(sent)
    cut = relaunched = compared = shown = 0
    with tempfile.TemporaryDirectory() as work:
        path = Path(work, "places.satchel")
        store = satchel.open(path, clock=clock)
        for number, (location, parts) in enumerate(sent, start=1):
            clock.advance(1000)
            arrived = source.randint(1, len(parts)) if source.random() < 0.3 else len(parts)
            cut += arrived < len(parts)
            for part in parts[:arrived]:
                store.catalogue.persist(location, part)
                model.persist(location, part)
            if source.random() < 0.02:
                relaunched += 1
                store.close()
                store = satchel.open(path, clock=clock)
            if number % (len(sent) // TIMES) == 0:
                for known, _ in source.sample(sent[:number], COMPARED):
                    for place in probes(known).values():
                        compared += 1
                        shown += compare(store.catalogue, model, place)
        findings = store.check()
        store.close()
    print(f"{len(sent)} deliveries, {cut} cut, {relaunched} relaunches")
    print(f"{compared} locations compared, which show {shown} sections, none wrong; findings: {findings}")
    return 1 if findings or not shown else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
