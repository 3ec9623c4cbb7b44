"""W8: searching the texts of entities: the first search, which makes the index, and later ones."""

import json
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

from .generate import Shape
from .goals import NAMES, Row, peers_of
from .report import figure_table
from .runner import Figures, Job, WrongAnswerError, run, store

SEARCHERS = ("satchel-search", "fts5")
COMPARED = ("quartz xenial zeph mons", "été", "fragr umb")
"""The queries of which all results are compared with a plain scan."""
FACTOR = 1.2
READING = """\
- W8 is searching the texts of {entities:,} entities, from Python: the first search, which makes the index,
  and the median of 200 later ones, of one to four words, some of them only begun. The peer is what an app
  writes by hand: an FTS5 table over the strings of each entity, ordered by bm25, names weighted.
- Correctness of W8: all results of three queries are those of a plain scan."""


def command(name: str, shape: Shape) -> list[str]:
    peer = name.removesuffix("-search")
    return [sys.executable, "-m", "peers.search", peer, str(store("search", name)), str(shape.delivery_file)]


def words_of(text: str) -> list[str]:
    letters = unicodedata.normalize("NFD", text.lower())
    return re.findall(r"\w+", "".join(each for each in letters if not unicodedata.combining(each)))


def strings(value: Any) -> str:
    """All strings of a value, in lines."""
    if isinstance(value, str):
        return value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return "\n".join(map(strings, children))


def expected(shape: Shape) -> dict[str, list[str]]:
    """Returns the findings of a plain scan."""
    found: dict[str, list[str]] = {query: [] for query in COMPARED}
    with shape.payload_file.open(encoding="utf-8") as lines:
        for line in lines:
            for entity in json.loads(line)["entities"]:
                words = words_of(strings(entity))
                for query, ids in found.items():
                    if all(any(word.startswith(each) for word in words) for each in words_of(query)):
                        ids.append(entity["entity_id"])
    return {query: sorted(ids) for query, ids in found.items()}


def checked(wanted: dict[str, list[str]]) -> Callable[[bytes, dict[str, Any]], None]:
    def check(_: bytes, answer: dict[str, Any]) -> None:
        for query, ids in wanted.items():
            if answer["found"][query] != ids:
                raise WrongAnswerError(f"{query!r}: {len(answer['found'][query])} results, not {len(ids)}")

    return check


def search(shape: Shape, rounds: int, with_satchel: bool) -> Figures:
    check = checked(expected(shape))
    names = SEARCHERS if with_satchel else SEARCHERS[1:]
    jobs = [Job(name, command(name, shape), fresh=store("search", name), check=check) for name in names]
    return run("search", jobs, rounds, "later_ms")


def search_rows(figures: Figures, shape: Shape) -> list[Row]:
    entities = f"{shape.payloads * shape.entities:,} entities, from Python"
    rows = []
    for what, key in (("the first search", "first_ms"), ("a search", "later_ms")):
        peers = peers_of(figures, key, {"fts5": NAMES["fts5"]})
        bound = peers["peer"][1] * FACTOR if peers["peer"] else None
        satchel = figures.median("satchel-search", key)
        goal = f"≤ {FACTOR} × {NAMES['fts5']}"
        rows.append(Row(f"W8 {what} of {entities}", "ms", satchel, goal=goal, bound=bound, **peers))
    return rows


def search_table(figures: Figures) -> str:
    columns = [
        ("the first, with its index", "first_ms", "ms"),
        ("later ones", "later_ms", "ms"),
    ]
    return figure_table(figures, SEARCHERS, columns)


def reading(shape: Shape) -> str:
    return READING.format(entities=shape.payloads * shape.entities)
