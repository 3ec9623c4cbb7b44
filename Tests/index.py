#!/usr/bin/env python3
"""Writes Tests/INDEX.md: the suites of each target, and the files of each other runner, with their subjects.

Usage: index.py [--check], which compares instead, and is part of ``make lint``. Two tests of one name in a
suite are an error.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "Tests/INDEX.md"
INTRODUCTION = """\
# Index of the tests

Written by `Tests/index.py`. A suite in Swift is named after the type or the task that it tests, and runs
alone by `make test-swift FILTER=KeyBlocksTests`; a file in Python runs by pytest, a program in C by
`make test-c`.
"""
#: The other runners, and the folders of their tests.
PYTHON = {
    "The Python binding": ROOT / "Bindings/Python/tests",
    "The tool": ROOT / "Tests/tool",
    "Journeys": ROOT / "Tests/journeys",
}
WORDS = re.compile(
    r'^@Suite(?:\(\s*"(?P<title>(?:[^"\\]|\\.)*)")?'
    r"|^(?:(?:private|package|public|final) )*(?:struct|class|enum|extension|actor) (?P<type>\w+)"
    r'|^ *@Test(?:\(\s*"(?P<test>(?:[^"\\]|\\.)*)"|[^\n]*\n? *(?:@\w+ )*func (?P<function>\w+))',
    re.MULTILINE,
)


class Duplicates(Exception):
    """Two tests of one name."""


def swift_suites(folder: Path) -> list[tuple[str, Path, str]]:
    """Type, file and title of each suite of a target, in the order of their types."""
    titles: dict[str, str] = {}
    files: dict[str, Path] = {}
    tests: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.swift")):
        title, suite = "", ""
        # The type may follow in the same line.
        text = re.sub(r"^(@Suite(?:\(.*\))?) (?=\w)", r"\1\n", path.read_text(encoding="utf-8"), flags=re.M)
        for found in WORDS.finditer(text):
            if found["type"]:
                suite = found["type"]
                if title:
                    titles[suite], title = title, ""
            elif test := found["test"] or found["function"]:
                files.setdefault(suite, path)
                tests.setdefault(suite, []).append(test)
            else:
                title = found["title"] or ""
    for suite, names in tests.items():
        refuse_twice(f"{folder.name}.{suite}", names)
    return [(suite, files[suite], titles.get(suite, "")) for suite in sorted(tests)]


def refuse_twice(place: str, names: list[str]) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise Duplicates(f"{place}: two tests have the name {', '.join(twice)}")


def python_files(folder: Path) -> list[tuple[Path, str]]:
    """File and first sentence."""
    found = []
    for path in sorted(folder.glob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        scopes = [module, *(each for each in module.body if isinstance(each, ast.ClassDef))]
        for scope in scopes:
            functions = (ast.FunctionDef, ast.AsyncFunctionDef)
            names = [each.name for each in scope.body if isinstance(each, functions)]
            names = [name for name in names if name.startswith("test")]
            refuse_twice(str(path.relative_to(ROOT)), names)
        found.append((path, first_sentence(ast.get_docstring(module) or "")))
    return found


def first_sentence(text: str) -> str:
    text = " ".join(text.split())
    return (re.match(r".*?\.(?= [A-Z]|$)", text) or re.match(r".*", text))[0].rstrip(".").replace("|", "\\|")


def c_programs() -> list[tuple[Path, str]]:
    found = []
    for path in sorted((ROOT / "Tests/C").glob("*.c")):
        comment = re.match(r"/\*+(.*?)\*/", path.read_text(encoding="utf-8"), re.DOTALL)
        text = re.sub(r"^ *\* ?", "", comment[1], flags=re.M) if comment else ""
        found.append((path, first_sentence(text)))
    return found


def link(path: Path, name: str) -> str:
    return f"[{name}]({os.path.relpath(path, INDEX.parent)})"


def table(title: str, first: str, rows: list[tuple[str, str]]) -> list[str]:
    lines = (f"| {name} | {what} |" for name, what in rows)
    return [f"## {title}\n", f"| {first} | Subject |", "| --- | --- |", *lines, ""]


def index() -> str:
    lines = [INTRODUCTION]
    for folder in sorted((ROOT / "Tests").glob("Satchel*Tests")):
        lines += table(
            folder.name, "Suite", [(link(path, suite), title) for suite, path, title in swift_suites(folder)]
        )
    for name, folder in PYTHON.items():
        lines += table(name, "File", [(link(path, path.name), what) for path, what in python_files(folder)])
    lines += table("Programs in C", "File", [(link(path, path.name), what) for path, what in c_programs()])
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    try:
        text = index()
    except Duplicates as error:
        print(error, file=sys.stderr)
        return 1
    if "--check" not in arguments:
        INDEX.write_text(text, encoding="utf-8")
    elif not INDEX.exists() or INDEX.read_text(encoding="utf-8") != text:
        print("Tests/INDEX.md is not up to date: run python3 Tests/index.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
