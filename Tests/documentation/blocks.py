"""The fenced code blocks of a Markdown page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
EXEMPTION = re.compile(r"^\s*<!--\s*not run:\s*(.+?)\s*-->\s*$")


@dataclass
class Block:
    """A block: the line where it begins, its info string, and the reason when it is not run."""

    page: Path
    line: int
    info: list[str]
    code: str
    exempt: str | None

    @property
    def language(self) -> str:
        return self.info[0].lower() if self.info else ""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page in order; a fence that is never closed is an error."""
    found: list[Block] = []
    opening: re.Match[str] | None = None
    exempt: str | None = None
    code: list[str] = []
    start = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if opening is None:
            if match := FENCE.match(line):
                opening, start, code = match, number + 1, []
            elif match := EXEMPTION.match(line):
                exempt = match[1]
            elif line.strip():
                exempt = None
        elif re.fullmatch(rf" {{0,3}}{opening['fence'][0]}{{{len(opening['fence'])},}}\s*", line):
            found.append(Block(page, start, opening["info"].split(), "\n".join(code) + "\n", exempt))
            opening = exempt = None
        else:
            code.append(line.removeprefix(opening["indent"]))
    if opening is not None:
        raise ValueError(f"{page}:{start - 1}: a fence that is never closed")
    return found
