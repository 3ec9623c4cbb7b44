#!/usr/bin/env python3
"""Finds wording that Documentation/glossary.md forbids; part of ``make lint``.

Looks through comments, documentation, help, messages and the names of the tests. Prints
"file:line: phrase" for each finding and exits with 1 when there is one. There is no list of exceptions:
reword the sentence.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Iterator, List, Pattern, Tuple

ROOT = Path(__file__).resolve().parent.parent
SEARCHED = (
    *("Sources", "Include", "Bindings/Python/satchel", "Bindings/Packaging"),
    *("Documentation", "README.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("Bindings/Python/tests", "Bindings/Python/README.md", "Bindings/Python/build_wheel.py"),
    *("Bindings/Python/setup.py", "Bindings/Python/conftest.py", "Bindings/Python/generate.py"),
    *("Bindings/Python/generate_abi.py", "Bindings/Python/generate_aio.py"),
    *("Examples/C", "Examples/Python", "Examples/Swift", "Examples/Backend"),
    *("Tests/C", "Tests/crash", "Tests/documentation", "Tests/fuzz", "Tests/install", "Tests/model"),
    *("Tests/corpora", "Tests/images", "Tests/sqlite", "Tests/coverage.py", "Tests/Fixtures/README.md"),
    *("Tests/tool", "Tests/journeys", "Tests/schedules", "Tests/Servers", "Tests/examples", "Tests/packages"),
    *("Makefile", "Scripts", "Tests/index.py", "Tests/summary.py", "Tests/INDEX.md", "CHANGELOG.md"),
    *("Package.swift", ".github", ".ci", "Benchmarks/harness", "Benchmarks/peers", "Benchmarks/probes"),
    *("Benchmarks/README.md", "Benchmarks/RESULTS.md", "Benchmarks/PROFILES.md"),
)
# The glossary names the phrases to avoid.
EXCLUDED = ("Documentation/glossary.md",)
SUFFIXES = {".c", ".h", ".in", ".md", ".1", ".mk", ".py", ".sh", ".swift", ".txt", ".yml"}

FORBIDDEN = tuple(
    re.compile(phrase)
    for phrase in (
        r"\b[Ww]hoever\b",
        r"\b[Aa]new\b",
        r"(?<!there )\bis none\b",
        r"\bis told\b",
        r"\bare told\b",
        r"\b[Cc]omes back\b",
        r"\b[Tt]akes in\b",
        r"\b[Tt]here is nothing to do for\b",
        r"\bcopied back\b",
        r"(?<!-)\b[Mm]aster\b(?!/)",
        r"\bstands\b(?! for\b)",
        r"\b[Gg]ives? back\b",
        r"\bgiven back\b",
        r"\b[Tt]akes? back\b",
        r"\b[Ss]et aside\b",
        r"\b[Rr]efused entr(?:y|ies)\b",
        r"\b[Rr]eplay(?:s|ed|ing)?\b",
        r"\bon (?:its|their) way\b",
        r"\b(?:agreed on|last agreed)\b",
        r"\b(?:[Hh]onou?r|[Hh]eed)s?\b",
        r"\b[Pp]atience\b",
        r"\b[Ss]pellings?\b",
        r"\b[Ss]keletons?\b",
        r"\b[Cc]laimants?\b",
        r"\b[Ll]et go of\b",
        r"\b[Uu]ndone\b",
        r"\b[Bb]y itself\b",
        r"\b[Nn]obody\b",
        r"\bfor ever\b",
        r"\bbeside (?:it|them|this|the (?:store|file|database|new|old|damaged|outbox))\b",
        r"\btaken for\b",
        r"\bfor want of\b",
        r"\bthat which\b",
        r"\bset against\b",
        r"\blaid over\b",
        r"\bwent back\b",
        r"\b[Hh]arm(?:s|ed)?\b",
        r"\bso many (?:milliseconds|digits|hexadecimal)\b",
        r"\btells? (?:apart|whether|nothing|which|what)\b",
        r"\bmakes? (?:it|them) again\b",
    )
)
# Only of the write-ahead log: a checkpoint copies its pages into the database.
COPIED_BACK = re.compile(r"\bcop(?:y|ies|ied|ying)\b[^.;]{0,60}?\bback\b", re.IGNORECASE)
# A comment that begins with a relative clause has no acting subject: "What is kept of one collection".
CLAUSE = re.compile(r'^\s*(?:///?|#:?|--|/\*\*?|\*|"""|(?:/// )?- Returns:)\s+?What\b|"""What\b')
WAL = re.compile(r"\bWAL\b|\blogs?\b|checkpoint", re.IGNORECASE)
# The name of a suite or a test in Swift, or of a test in Python.
NAME = re.compile(r'@(?:Suite|Test)\(\s*"((?:[^"\\]|\\.)*)"|^ *(?:async )?def (test_\w+)', re.MULTILINE)


def searched() -> Iterator[Path]:
    for name in SEARCHED:
        start = ROOT / name
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            relative = path.relative_to(ROOT).as_posix()
            if (
                path.is_file()
                and (path.suffix in SUFFIXES or path == start)
                and not relative.startswith(EXCLUDED)
            ):
                yield path


def sentences(line: str, following: str, patterns: Tuple[Pattern[str], ...]) -> Iterator[str]:
    """Phrases that begin in a line; those that a line break divides are found as well."""
    ahead = re.sub(r"^\s*(?:///?|\*|#|--)?\s*", "", following)
    text = f"{line.rstrip()} {ahead}"
    for pattern in patterns:
        for match in pattern.finditer(text):
            if match.start() < len(line.rstrip()):
                yield match.group()


def findings(path: Path) -> Iterator[Tuple[int, str]]:
    lines: List[str] = path.read_text(encoding="utf-8").splitlines()
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        for phrase in sentences(line, following, FORBIDDEN):
            yield index + 1, phrase
        if path.suffix != ".md" and CLAUSE.search(line):
            yield index + 1, "What, at the beginning of a comment"
        context = " ".join(lines[max(0, index - 2) : index + 3])
        if WAL.search(context):
            for phrase in sentences(line, following, (COPIED_BACK,)):
                if phrase.lower() != "copied back":
                    yield index + 1, phrase


def names_of_tests(path: Path) -> Iterator[Tuple[int, str]]:
    """Phrases in the names of suites and tests."""
    text = path.read_text(encoding="utf-8")
    for name in NAME.finditer(text):
        for phrase in sentences(name[1] or name[2].replace("_", " "), "", FORBIDDEN):
            yield text.count("\n", 0, name.end()) + 1, phrase


def main() -> int:
    count = 0
    found = [(path, findings(path)) for path in searched()]
    suites = [*(ROOT / "Tests").rglob("*.swift"), *(ROOT / "Tests").rglob("test_*.py")]
    suites += (ROOT / "Bindings/Python/tests").glob("test_*.py")
    found += [(path, names_of_tests(path)) for path in sorted(suites)]
    for path, phrases in found:
        for line, phrase in phrases:
            print(f"{path.relative_to(ROOT).as_posix()}:{line}: {phrase}")
            count += 1
    if count:
        print(f"{count} phrases that Documentation/glossary.md forbids", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
