"""Real documents as records: 65 queries of 69,202 artworks answer as a plain scan in Python does.

Usage: artworks.py FOLDER, a clone of github.com/tategallery/collection
"""

from __future__ import annotations

import functools
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import satchel

INDEXES = ["acquisitionYear", "classification", "title", "dateRange.startYear", "/contributors/0/fc"]
MISSING = object()
Document = dict[str, Any]
Condition = Callable[[Document], bool]


def at(document: Any, path: str) -> Any:
    """The value at a path, MISSING when the path leads to nothing: in an array only a pointer leads on."""
    for key in path[1:].split("/") if path.startswith("/") else path.split("."):
        if isinstance(document, dict) and key in document:
            document = document[key]
        elif isinstance(document, list) and path.startswith("/") and int(key) < len(document):
            document = document[int(key)]
        else:
            return MISSING
    return document


def rank(value: Any) -> int:
    if value is MISSING:
        return 0
    kinds = (type(None), bool, (int, float), str, list, dict)
    return 1 + next(place for place, kind in enumerate(kinds) if isinstance(value, kind))


def compare(one: Any, other: Any) -> int:
    """The order of values: missing ones, null, booleans, numbers, strings, arrays, objects."""
    if rank(one) != rank(other):
        return rank(one) - rank(other)
    if isinstance(one, str):
        one, other = one.encode(), other.encode()
    elif not isinstance(one, (bool, int, float)):
        return 0
    return (one > other) - (one < other)


def is_comparable(one: Any, other: Any) -> bool:
    return rank(one) == rank(other) and rank(one) in (3, 4, 5)


def is_equal(one: Any, other: Any) -> bool:
    return rank(one) == rank(other) and one == other


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": is_equal,
    "ne": lambda found, wanted: not is_equal(found, wanted),
    "lt": lambda found, wanted: is_comparable(found, wanted) and compare(found, wanted) < 0,
    "lte": lambda found, wanted: is_comparable(found, wanted) and compare(found, wanted) <= 0,
    "gt": lambda found, wanted: is_comparable(found, wanted) and compare(found, wanted) > 0,
    "gte": lambda found, wanted: is_comparable(found, wanted) and compare(found, wanted) >= 0,
    "in": lambda found, wanted: any(is_equal(found, each) for each in wanted),
    "prefix": lambda found, wanted: isinstance(found, str) and found.startswith(wanted),
    "exists": lambda found, wanted: (found is not MISSING) == wanted,
}


def contains(found: Any, wanted: Any) -> bool:
    if isinstance(found, str):
        return isinstance(wanted, str) and wanted in found
    return isinstance(found, list) and any(is_equal(each, wanted) for each in found)


OPERATORS["contains"] = contains


def matches(document: Document, where: dict[str, Any]) -> bool:
    """Whether a document matches all conditions of a query."""
    for path, wanted in where.items():
        if path == "any":
            found = any(matches(document, each) for each in wanted)
        elif path == "all":
            found = all(matches(document, each) for each in wanted)
        elif path == "not":
            found = not matches(document, wanted)
        elif isinstance(wanted, dict):
            value = at(document, path)
            found = all(OPERATORS[name](value, each) for name, each in wanted.items())
        else:
            found = is_equal(at(document, path), wanted)
        if not found:
            return False
    return True


def queries(documents: list[Document]) -> Iterator[dict[str, Any]]:
    """65 queries, with values that the documents have."""
    source = random.Random(69_202)
    paths = [
        "acquisitionYear", "classification", "title", "dateRange.startYear", "/contributors/0/fc",
        "contributorCount", "units", "inscription", "medium", "dateRange", "/subjects/children/0/name",
        "/contributors/0/birthYear", "movementCount",
    ]  # fmt: skip

    def value(path: str) -> Any:
        found = [at(source.choice(documents), path) for _ in range(40)]
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


def expected(documents: dict[str, Document], query: dict[str, Any]) -> list[str]:
    found = [id for id, document in documents.items() if matches(document, query["where"])]
    for path in reversed(query.get("order_by", [])):
        key = functools.partial(at, path=path.lstrip("-"))
        found.sort(
            key=lambda id: functools.cmp_to_key(compare)(key(documents[id])), reverse=path.startswith("-")
        )
    start = query.get("offset", 0)
    return found[start : start + query.get("limit", len(found))]


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
            answer, wanted = artworks.ids(**query), expected(documents, query)
            rows += len(wanted)
            counted = artworks.count(query["where"])
            if answer != wanted or counted != len(expected(documents, {"where": query["where"]})):
                failures += 1
                print(f"query {number}: {query}: {len(answer)} ids, expected {len(wanted)}")
        findings = store.check()
    print(f"{len(texts)} documents, {lost} not as written")
    print(f"{len(asked)} queries, {rows} rows, {failures} wrong")
    return 1 if lost or failures or findings or not texts else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
