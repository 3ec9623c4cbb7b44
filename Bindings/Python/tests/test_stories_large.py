"""A hundred thousand segments: every planted fault is found, and nothing else."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any, Dict, List, Tuple

import tales

from satchel import stories

COUNT = 100_000
FAULTS_OF_A_KIND = 25


def sound_story() -> List[Dict[str, Any]]:
    """A chain with a fork at every segment; the last few are endings."""
    segments = []
    for place in range(COUNT):
        onwards = [f"segment-{place + step}" for step in (1, 2) if place + step < COUNT]
        segments.append(tales.segment(f"segment-{place}", *onwards))
    return segments


def text_of(segments: List[Dict[str, Any]]) -> bytes:
    """The story with each segment on a line of its own: the first one on line 2."""
    header = json.dumps(tales.story([], estimatedReadingMinutes=1000))[: -len("]}")]
    lines = ",\n".join(json.dumps(each) for each in segments)
    return f"{header}\n{lines}\n]}}".encode()


def plant(segments: List[Dict[str, Any]], chance: random.Random) -> Counter[Tuple[str, str, int]]:
    """Plants faults, each in a segment of its own; gives codes, pointers and lines."""
    planted: Counter[Tuple[str, str, int]] = Counter()
    places = iter(chance.sample(range(10, COUNT - 10), 6 * FAULTS_OF_A_KIND))

    def note(code: str, place: int, rest: str = "") -> None:
        planted[code, f"/segments/{place}{rest}", place + 2] += 1

    for place in (next(places) for _ in range(FAULTS_OF_A_KIND)):
        segments[place]["choices"].append(
            {"id": f"broken-{place}", "text": "On", "nextSegmentId": f"segmnet-{place}"}
        )
        note("broken-choice", place, "/choices/2/nextSegmentId")
    for place in (next(places) for _ in range(FAULTS_OF_A_KIND)):
        segments[place]["choices"].append(
            {"id": f"self-{place}", "text": "Stay", "nextSegmentId": f"segment-{place}"}
        )
        note("self-choice", place, "/choices/2/nextSegmentId")
    for place in (next(places) for _ in range(FAULTS_OF_A_KIND)):
        segments[place]["text"] = " \t"
        note("empty-text", place, "/text")
    for place in (next(places) for _ in range(FAULTS_OF_A_KIND)):
        del segments[place]["isAuthenticPath"]
        note("missing-field", place)
    for place in (next(places) for _ in range(FAULTS_OF_A_KIND)):
        segments[place]["isEnding"] = True
        note("ending-with-choices", place)
    for number in range(FAULTS_OF_A_KIND):
        # A segment that only leads to itself, reached from the chain; and one that nothing leads to.
        source, place = next(places), len(segments)
        trap = tales.segment(f"trap-{number}", f"trap-{number}")
        segments[source]["choices"].append(
            {"id": f"to-trap-{number}", "text": "Fall", "nextSegmentId": trap["id"]}
        )
        segments += [trap, tales.segment(f"lost-{number}"), tales.segment(f"segment-{source}")]
        note("trap", place)
        note("self-choice", place, "/choices/0/nextSegmentId")
        note("unreachable", place + 1)
        note("duplicate-segment", place + 2, "/id")
    return planted


def test_a_sound_story_has_no_findings() -> None:
    text = text_of(sound_story())
    report = stories.check(text)
    assert report.findings == []
    assert report.statistics.segments == COUNT
    assert report.statistics.longest_path == COUNT
    assert report.statistics.shortest_path == COUNT // 2 + 1


def test_every_planted_fault_is_found_at_its_place_and_nothing_else() -> None:
    segments = sound_story()
    planted = plant(segments, random.Random(7))
    report = stories.check(text_of(segments))
    found = Counter((each.code, each.pointer, each.line) for each in report.findings)
    assert found - planted == Counter()
    assert planted - found == Counter()
    for finding in report.findings:
        if finding.code == "broken-choice":
            assert finding.suggestion == f"segment-{finding.pointer.split('/')[2]}"
