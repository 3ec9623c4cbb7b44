"""Thousands of random stories: what the library finds in them, and what networkx says."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Dict, List, Optional, Tuple

import pytest
import tales
from helpers import portion_of
from story_model import CODES, Model

import satchel

SEEDS = 8
STORIES_PER_SEED = 500


def found_in(report: satchel.stories.StoryReport) -> Counter[Tuple[str, Optional[str]]]:
    """The findings of the codes that the model knows."""
    return Counter(
        (each.code, each.pointer if CODES[each.code] else None)
        for each in report.findings
        if each.code in CODES
    )


#: Not near to each other: what a misspelt choice cuts off would be counted in it.
NAMES = [
    "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett", "kilo",
    "lima",
]  # fmt: skip


def random_story(chance: random.Random) -> Dict[str, Any]:
    """One to twelve segments, and everything that can be wrong with them."""
    count = chance.randint(1, 12)
    names = NAMES[:count]
    forwards = chance.random() < 0.4
    faulty = chance.random()
    segments: List[tales.Segment] = []
    for place, name in enumerate(names):
        targets: List[Optional[str]] = []
        for _ in range(chance.choice((0, 0, 1, 1, 2, 2, 3))):
            if chance.random() < 0.1 * faulty:
                targets.append(chance.choice(("nowhere", "s", None)))
            elif forwards:
                targets.append(chance.choice(names[place + 1 :] or [None]))
            else:
                targets.append(chance.choice(names))
        marked = chance.random() < (0.1 if targets else 0.8)
        made = tales.segment(name, *targets, authentic=chance.random() < 0.7, ending=marked)
        if chance.random() < 0.1 * faulty:
            made["id"] = chance.choice(names)
        segments.append(made)
    return tales.story(segments)


def compare(story: Dict[str, Any]) -> int:
    """Compares all that both say; gives the path count."""
    model = Model(story)
    text = tales.encoded(story)
    report = satchel.stories.check(text)
    assert found_in(report) == model.findings()
    loaded = satchel.stories.load(text)
    assert loaded.path_count == model.path_count()
    statistics = report.statistics
    assert statistics == loaded.statistics
    assert statistics.shortest_path == model.shortest()
    assert statistics.longest_path == model.longest()
    assert statistics.endings == len(model.endings & model.reachable)
    assert statistics.segments == len(story["segments"])
    assert statistics.choices == sum(len(each["choices"]) for each in story["segments"])
    return loaded.path_count


@pytest.mark.parametrize("seed", portion_of(range(SEEDS), parts=4))
def test_random_stories_are_seen_as_networkx_sees_them(seed: int) -> None:
    chance = random.Random(seed)
    counts = Counter(min(compare(random_story(chance)), 2) for _ in range(STORIES_PER_SEED))
    # Every kind is among them: cycles, no way out, one way, several.
    assert min(counts[kind] for kind in (-1, 0, 1, 2)) > STORIES_PER_SEED // 50


def test_every_code_that_the_model_knows_occurs() -> None:
    chance = random.Random(99)
    seen: Counter[str] = Counter()
    for _ in range(1000):
        seen.update(code for code, _ in Model(random_story(chance)).findings())
    assert set(seen) == set(CODES)


@pytest.mark.parametrize("cycle", [False, True])
@pytest.mark.parametrize("seed", portion_of(range(2), parts=2))
def test_large_random_stories_are_seen_as_networkx_sees_them(seed: int, cycle: bool) -> None:
    chance = random.Random(seed)
    count = 20_000
    segments = []
    for place in range(count):
        onwards = [min(count - 1, place + chance.randint(1, 30)) for _ in range(chance.randint(1, 3))]
        targets = [] if place == count - 1 or chance.random() < 0.01 else [f"s{each}" for each in onwards]
        if targets and chance.random() < 0.002:
            targets.append("nowhere")
        ending = chance.random() < 0.05 if targets else True
        segments.append(tales.segment(f"s{place}", *targets, authentic=chance.random() < 0.9, ending=ending))
    # A start that surely goes on, so that the larger part can be reached.
    segments[0] = tales.segment("s0", *(f"s{place}" for place in range(1, 40)))
    if cycle:
        # From the farthest that can be reached back to near the start.
        live = Model(tales.story(segments))
        farthest = max(live.reachable & live.can_end)
        assert farthest > count // 2
        segments[farthest]["choices"] += tales.segment("back", "s1", "s2", "s3")["choices"]
    ways = compare(tales.story(segments))
    assert ways == satchel.stories.UNBOUNDED if cycle else ways > 2**1000
