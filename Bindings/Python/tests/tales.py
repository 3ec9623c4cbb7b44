"""Stories for the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional

from helpers import ROOT

EXAMPLES = ROOT / "Examples/Stories"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.json"))

Segment = Dict[str, Any]


def segment(
    id: str, *targets: Optional[str], authentic: bool = True, ending: Optional[bool] = None
) -> Segment:
    """A segment with a choice for each target; None stands for a choice that has none.

    Without targets it is marked as an ending, unless told otherwise.
    """
    choices: List[Dict[str, Any]] = []
    for index, target in enumerate(targets):
        choice = {"id": f"{id}-{index}", "text": f"Go on, {index}"}
        choices.append(choice if target is None else {**choice, "nextSegmentId": target})
    made = {"id": id, "text": f"Text of {id}.", "isAuthenticPath": authentic, "choices": choices}
    marked = not targets if ending is None else ending
    return {**made, "isEnding": True} if marked else made


def story(segments: Iterable[Segment], **fields: Any) -> Dict[str, Any]:
    """A story with a header that nothing is wrong with."""
    header = {
        "id": "t",
        "title": "T",
        "author": "A",
        "synopsis": "S",
        "coverImageName": "c",
        "estimatedReadingMinutes": 1,
        "ageRange": "5-8",
        "tags": ["x"],
        "isPurchased": False,
    }
    return {**header, **fields, "segments": list(segments)}


def encoded(value: Dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def diamonds(count: int) -> Dict[str, Any]:
    """A story of 2**count ways."""
    forks = [segment(f"d{index}", f"d{index + 1}", f"d{index + 1}") for index in range(count)]
    return story([*forks, segment(f"d{count}")])


def write(directory: Path, id: str, **fields: Any) -> Path:
    """Writes a sound story into a directory."""
    path = directory / f"{id}.json"
    path.write_bytes(encoded(story([segment("a", "b"), segment("b")], **{"id": id, **fields})))
    return path


def rewrite(shelf: Path, name: str, **fields: Any) -> None:
    path = shelf / f"{name}.json"
    path.write_bytes(encoded({**json.loads(path.read_bytes()), **fields}))


#: A story with faults of several kinds.
FAULTY = story(
    [
        segment("a", "b", "nowhere", "a"),
        segment("b", "b\n2"),
        segment("b\n2", "b"),
        segment("é", ending=False),
        segment("é"),
    ],
    ageRange="old",
    estimatedReadingMinutes="1",
)

TWEE = """:: StoryTitle
The Cave

:: StoryData
{"ifid": "D674C58C-DEFA-4F70-B7A2-27742230C0FC", "start": "Mouth"}

:: Deep
It is dark. The end.

:: Mouth
You stand before a cave. [[Go in->Deep]] [[Deep]]
"""
