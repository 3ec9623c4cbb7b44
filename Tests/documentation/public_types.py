"""The public types of the Swift package, and those that Documentation/swift.md lists."""

from __future__ import annotations

import re
from pathlib import Path

KIND = r"(?:struct|class|enum|protocol|typealias)"
DECLARATION = re.compile(rf"^public (?:final |indirect )*{KIND} (\w+)", re.MULTILINE)
# A file whose declarations all stand in a condition, indented.
CONDITIONAL = re.compile(r"(?://.*\n)*#if ")
HEADING = "## All types"
# Its functions are the C interface.
EXCLUDED = "SatchelC"


def declared(sources: Path) -> set[str]:
    """The top-level public types of all targets; those inside of them come with them."""
    found: set[str] = set()
    for path in sources.rglob("*.swift"):
        if EXCLUDED not in path.relative_to(sources).parts:
            text = path.read_text(encoding="utf-8")
            if CONDITIONAL.match(text):
                text = re.sub(r"^  ", "", text, flags=re.MULTILINE)
            found |= set(DECLARATION.findall(text))
    return found


def listed(page: Path) -> set[str]:
    """The types in the section that lists them."""
    _, _, section = page.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    rows = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("|")]
    return {name for row in rows for name in re.findall(r"`([A-Z]\w*)`", row)}


def differences(sources: Path, page: Path) -> list[str]:
    ours, theirs = declared(sources), listed(page)
    return [
        *(f"{name} is public, and not listed in {page}" for name in sorted(ours - theirs)),
        *(f"{name} is listed in {page}, and not public" for name in sorted(theirs - ours)),
    ]
