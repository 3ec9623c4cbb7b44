"""No choice of a Twee game is lost against an extraction that shares nothing with the library.

``SATCHEL_TWEE_GAMES`` names a directory of games, a file or a directory each, to be compared as well.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict, List, Tuple

import pytest
from twee_extraction import Choice, extract, joined, lost

from satchel import NotFound, stories

TWEE = Path(__file__).resolve().parents[3] / "Tests/Fixtures/twee"
#: The samples use the constructions of real games, and have no errors.
SAMPLES = ["market.twee", "harbour.twee", "garden.twee", "ferry.twee", "mill", "tram.tw"]
#: The least that the extraction has to find, so that it cannot pass by finding nothing.
FOUND = {"market.twee": 17, "harbour.twee": 13, "garden.twee": 8, "ferry.twee": 8, "mill": 7, "tram.tw": 3}


def of_the_library(text: bytes, passages: List[str]) -> Dict[str, List[Tuple[str, str]]]:
    story = stories.load(text)
    found = {}
    for name in passages:
        try:
            found[name] = [(each.text, each.next_segment_id) for each in story.segment(name).choices]
        except NotFound:
            found[name] = []
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_no_choice_of_a_sample_is_lost(name: str) -> None:
    text = joined(TWEE / name)
    game = extract(text)
    assert len(set(game.choices)) >= FOUND[name]
    assert lost(game, of_the_library(text.encode(), list(game.bodies))) == []
    # Only a script leads to the ghost of the mill, and it is not part of this text.
    errors = [each for each in stories.check(text.encode()).findings if each.severity == "error"]
    assert [each.message.split('"')[1] for each in errors] == (["Ghost"] if name == "mill" else [])


def test_the_extraction_notices_a_lost_choice() -> None:
    game = extract(joined(TWEE / "market.twee"))
    ours = of_the_library(joined(TWEE / "market.twee").encode(), list(game.bodies))
    taken = next(each for each in game.choices if each.text is not None)
    ours[taken.passage].remove((str(taken.text), taken.target))
    assert taken in lost(game, ours)
    assert Choice("Gate", "Cross the square", "Square") in game.choices


GAMES = os.environ.get("SATCHEL_TWEE_GAMES")


@pytest.mark.parametrize("path", sorted(Path(GAMES).iterdir()) if GAMES else [], ids=lambda each: each.name)
def test_no_choice_of_a_real_game_is_lost(path: Path) -> None:
    text = joined(path)
    game = extract(text)
    assert lost(game, of_the_library(text.encode(), list(game.bodies))) == []
