"""The answers of every reader: the headers of one location, and one of its sections."""

import json
from dataclasses import dataclass
from typing import Any

from .generate import Shape, compact
from .runner import WrongAnswerError

PLACE = 13
CHOSEN = 7
SAMPLED = 3
"""The entity of the chosen section whose bytes are compared."""


@dataclass(frozen=True)
class Expected:
    headers: list[tuple[str, str, int]]
    """section, display title, number of entities; sorted"""
    entity_ids: list[str]
    sampled: bytes

    def check(self, output: bytes, answer: dict[str, Any]) -> None:
        """A check for Job."""
        if headers_of(answer) != self.headers:
            raise WrongAnswerError("the headers differ from what was put in")
        section = answer["section"]
        entities = section if isinstance(section, list) else section["content"]["items"]
        if [entity["entity_id"] for entity in entities] != self.entity_ids:
            raise WrongAnswerError("the entities differ from what was put in, or their order does")
        if self.sampled not in output:
            raise WrongAnswerError("an entity's bytes differ from what was put in")


def headers_of(answer: dict[str, Any]) -> list[tuple[str, str, int]]:
    return sorted(
        (header["section"], header["display_title"], header["entity_count"])
        if isinstance(header, dict)
        else tuple(header)
        for header in answer["headers"]
    )


def expect(shape: Shape) -> Expected:
    """Reads the answer from the data itself."""
    headers, entities = [], []
    with shape.payload_file.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith(f'{{"location":"loc:{PLACE:03d}"'):
                continue
            payload = json.loads(line)
            section = payload["section"]
            headers.append((section["id"], section["title"], len(payload["entities"])))
            if section["order"] == CHOSEN:
                entities = payload["entities"]
    return Expected(
        headers=sorted(headers),
        entity_ids=[entity["entity_id"] for entity in entities],
        sampled=compact(entities[SAMPLED]).encode(),
    )


def expect_count(payloads: int):
    """A check for writers: every line was taken in."""

    def check(output: bytes, answer: dict[str, Any]) -> None:
        if answer["payloads"] != payloads:
            raise WrongAnswerError(f"took in {answer['payloads']} of {payloads} payloads")

    return check
