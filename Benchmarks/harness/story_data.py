"""The stories: seeded, in the format of Satchel's story files, with faults at known places.

A story is a chain of segments whose second choices lead anywhere, with an authentic path of at most 41
segments from the start to an ending. A faulty one has, besides, choices that lead nowhere (one in 10,000
segments, at least one), a segment id that occurs twice, and an island: two segments that only lead to each
other. A segment a line, so that the line of every finding is known too.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .generate import compact, text
from .places import DATA

FAULTY_EVERY = 50
"""Of many files so many are sound for each that is faulty; a single file is always faulty."""
AUTHENTIC_STEPS = 40
BROKEN_EVERY = 10_000
ADDED = 3
"""Segments that the faults add: the second of one id, and the island."""
TEXTS, LABELS = 997, 499
VERSION = 1
"""Counts up when the generator changes, so that older data is replaced."""

Finding = tuple[str, str, int]
"""code, JSON Pointer, line"""


@dataclass(frozen=True)
class Corpus:
    """So many stories of so many segments."""

    segments: int
    files: int = 1
    repeats: int = 1
    """How often a run checks it, to give the median."""

    @property
    def name(self) -> str:
        return f"{self.files:,} × {self.segments:,}" if self.files > 1 else f"{self.segments:,}"

    @property
    def workload(self) -> str:
        return f"stories-{self.files}x{self.segments}"

    @property
    def directory(self) -> Path:
        return DATA / "stories" / f"{self.files}x{self.segments}"

    @property
    def stories(self) -> Path:
        return self.directory / "stories"

    @property
    def path(self) -> Path:
        """The checked file or directory."""
        return self.stories / file_name(0) if self.files == 1 else self.stories

    def is_faulty(self, number: int) -> bool:
        return self.files == 1 or number % FAULTY_EVERY == 0


@dataclass(frozen=True)
class Planted:
    """The findings of a corpus."""

    segments: int
    """Of all files, those that the faults added included."""
    files: int
    findings: dict[str, list[Finding]]
    """By the name of the file; sound files are left out."""

    def count(self, code: str) -> int:
        return sum(finding[0] == code for found in self.findings.values() for finding in found)


SINGLE = (Corpus(1_000, repeats=21), Corpus(100_000, repeats=3), Corpus(1_000_000))
"""From the smallest on; the last is ten times the one before it."""
MANY = Corpus(30, files=10_000)
QUICK_SINGLE = (Corpus(1_000, repeats=21), Corpus(10_000, repeats=11))
QUICK_MANY = Corpus(30, files=500)


def file_name(number: int) -> str:
    return f"{number:05d}.json"


def segment_id(index: int) -> str:
    """Mixed by an odd factor: ids in no order, and never one twice."""
    return f"seg_{index * 2654435761 & 0xFFFFFFF:07x}"


@cache
def phrases() -> tuple[list[str], list[str]]:
    """Texts of segments and of choices, as JSON; no two texts of choices are the same."""
    source = random.Random(4)
    texts = []
    for index in range(TEXTS):
        quoted = ' "quoted"' if index % 3 == 0 else ""
        ended = "\n" if index % 2 else ""
        foreign = " \u2014 \u00e9" if index % 5 == 0 else ""
        texts.append(compact(text(source, 190) + quoted + ended + foreign))
    labels: dict[str, None] = {}
    while len(labels) < LABELS:
        labels[compact(text(source, 24))] = None
    return texts, list(labels)


def choice(owner: str, number: int, label: str, target: str) -> str:
    return f'{{"id":"{owner}-{number}","text":{label},"nextSegmentId":"{target}"}}'


def segment(identifier: str, content: str, authentic: bool, ending: bool, choices: str) -> str:
    path = "true" if authentic else "false"
    marked = '"isEnding":true,' if ending else ""
    return f'{{"id":"{identifier}","text":{content},"isAuthenticPath":{path},{marked}"choices":[{choices}]}}'


def head(number: int, source: random.Random, steps: int) -> str:
    """Everything before the segments."""
    fields = {
        "id": f"story-{number:05d}",
        "title": text(source, 24).title(),
        "author": text(source, 14).title(),
        "synopsis": text(source, 160),
        "coverImageName": f"cover_{number:05d}",
        "estimatedReadingMinutes": max(1, round(steps * 28 / 200)),
        "ageRange": "5-8",
        "tags": text(source, 24).split(),
        "isPurchased": number % 3 == 0,
    }
    return compact(fields)[:-1] + ',"segments":['


def story(number: int, size: int, faulty: bool, found: list[Finding]) -> Iterator[str]:
    """The story's lines without their ends; tells `found` where the faults are."""
    source = random.Random(size + number)
    texts, labels = phrases()
    onward, aside = labels[: LABELS // 2], labels[LABELS // 2 :]
    last = min(size - 1, AUTHENTIC_STEPS)
    branching = [index for index in (last - 1, last, size - 1) if index < size]
    broken: set[int] = set()
    while faulty and len(broken) < max(1, size // BROKEN_EVERY):
        index = source.randrange(size)
        if index not in branching:
            broken.add(index)

    yield head(number, source, last + 1)
    for index in range(size):
        identifier, choices = segment_id(index), ""
        ending = index in (last, size - 1)
        if not ending:
            # An ending has no choices, so what comes after the authentic one is reached from before it.
            skips = index == last - 1 and last + 1 < size
            target = segment_id(index + 2 if skips else (index + 2 + source.randrange(size - 2)) % size)
            if index in broken:
                target = f"missing_{index}"
                found.append(("broken-choice", f"/segments/{index}/choices/1/nextSegmentId", index + 2))
            choices = (
                choice(identifier, 0, onward[index % len(onward)], segment_id(index + 1))
                + ","
                + choice(identifier, 1, aside[index % len(aside)], target)
            )
        content = texts[index * 31 % TEXTS]
        end = "," if faulty or index + 1 < size else ""
        yield segment(identifier, content, index <= last, ending, choices) + end
    if faulty:
        yield segment(segment_id(size // 2), texts[0], False, True, "") + ","
        yield segment("island_a", texts[1], False, False, choice("island_a", 0, onward[0], "island_b")) + ","
        yield segment("island_b", texts[2], False, False, choice("island_b", 0, onward[0], "island_a"))
        found.append(("duplicate-segment", f"/segments/{size}/id", size + 2))
        found += [("unreachable", f"/segments/{size + more}", size + more + 2) for more in (1, 2)]
    yield "]}"


def generate_stories(corpus: Corpus) -> Planted:
    """Makes the stories unless they are there, and says what is to be found in them."""
    stamp = corpus.directory / "made.json"
    shape: dict[str, Any] = {**asdict(corpus), "version": VERSION}
    del shape["repeats"]
    if stamp.exists() and (made := json.loads(stamp.read_text()))["shape"] == shape:
        return planted(corpus, made["findings"])
    corpus.stories.mkdir(parents=True, exist_ok=True)
    findings: dict[str, list[Finding]] = {}
    for number in range(corpus.files):
        found: list[Finding] = []
        lines = story(number, corpus.segments, corpus.is_faulty(number), found)
        with (corpus.stories / file_name(number)).open("w", encoding="utf-8") as out:
            out.writelines(line + "\n" for line in lines)
        if found:
            findings[file_name(number)] = found
    stamp.write_text(json.dumps({"shape": shape, "findings": findings}))
    return planted(corpus, json.loads(stamp.read_text())["findings"])


def planted(corpus: Corpus, listed: dict[str, list[list[Any]]]) -> Planted:
    findings = {
        name: [(code, pointer, line) for code, pointer, line in found] for name, found in listed.items()
    }
    segments = corpus.files * corpus.segments + ADDED * len(findings)
    return Planted(segments, corpus.files, findings)
