"""Real documents as records: 65 queries of 69,202 artworks answer as a plain scan in Python does.

Usage: artworks.py FOLDER, a clone of github.com/tategallery/collection
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
from record_model import listed, value_at

INDEXES = ["acquisitionYear", "classification", "title", "dateRange.startYear", "/contributors/0/fc"]
Document = dict[str, Any]


def queries(documents: list[Document]) -> Iterator[dict[str, Any]]:
    """65 queries, with values that the documents have."""
    source = random.Random(69_202)
    paths = [
        "acquisitionYear", "classification", "title", "dateRange.startYear", "/contributors/0/fc",
        "contributorCount", "units", "inscription", "medium", "dateRange", "/subjects/children/0/name",
        "/contributors/0/birthYear", "movementCount",
    ]  # fmt: skip

    def value(path: str) -> Any:
        found = [value_at(source.choice(documents), path) for _ in range(40)]
        plain = [each for each in found if isinstance(each, (str, int, float))]
        return source.choice(plain) if plain else None

    def condition() -> dict[str, Any]:
        path = source.choice(paths)
        wanted = value(path)
        operator = source.choice(["eq", "ne", "lt", "lte", "gt", "gte", "in", "exists", "prefix", "contains"])
        if operator == "in":
            return {path: {"in": [value(path) for _ in range(4)]}}
        if operator == "exists":
            return {path: {"exists": source.random() < 0.5}}
        if operator in ("prefix", "contains"):
            text = wanted if isinstance(wanted, str) else value("title")
            start = 0 if operator == "prefix" else source.randrange(len(text))
            return {path: {operator: text[start : start + source.randint(1, 6)]}}
        if operator in ("lt", "lte", "gt", "gte") and wanted is None:
            return {path: {"ne": None}}
        return {path: {operator: wanted}}

    for number in range(65):
        where = condition()
        if number % 3 == 1:
            where = {"all": [where, condition()]}
        elif number % 3 == 2:
            where = {"any": [where, condition(), {"not": condition()}]}
        query: dict[str, Any] = {"where": where}
        if number % 2:
            order = source.sample(paths, source.randint(1, 2))
            query["order_by"] = [source.choice(["", "-"]) + path for path in order]
        if number % 5:
            query["limit"] = source.choice([1, 20, 5_000])
            query["offset"] = source.choice([0, 0, 7, 300])
        yield query


def main(folder: str) -> int:
    files = sorted(Path(folder, "artworks").rglob("*.json"))
    texts = {file.stem: file.read_bytes() for file in files}
    documents = {id: json.loads(text) for id, text in texts.items()}
    failures = rows = 0
    with tempfile.TemporaryDirectory() as work, satchel.open(Path(work, "artworks.satchel")) as store:
        artworks = store.records("artworks", indexes=INDEXES)
        artworks.put_many(texts)
        lost = sum(artworks.text(id) != text for id, text in texts.items())
        asked = list(queries(list(documents.values())))
        for number, query in enumerate(asked):
            answer, wanted = artworks.ids(**query), [id for id, _ in listed(documents, **query)]
            rows += len(wanted)
            counted = artworks.count(query["where"])
            if answer != wanted or counted != len(listed(documents, query["where"])):
                failures += 1
                print(f"query {number}: {query}: {len(answer)} ids, expected {len(wanted)}")
        findings = store.check()
    print(f"{len(texts)} documents, {lost} not as written")
    print(f"{len(asked)} queries, {rows} rows, {failures} wrong")
    return 1 if lost or failures or findings or not texts else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
