"""Checks that the tree can be released: versions agree, the changelog has its entry, nothing is uncommitted.

    python3 Bindings/Packaging/release_check.py [--rehearse]

`make release-check` runs this first, and then builds and tries the wheel, the Debian packages and the
tarball. With --rehearse, what only the commit of a release has may be missing: it is printed, and is no
failure.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Where the version is written, besides the header: a pattern whose group is the version, or its beginning.
MENTIONS = (
    ("Bindings/Python/satchel/__init__.py", r'^__version__ = "([^"]+)"$'),
    ("Documentation/satchel.1", r"^\.Os Satchel (\S+)$"),
    ("Documentation/swift.md", r'\.package\(url: "[^"]+", from: "([^"]+)"\)'),
    ("Documentation/c-api.md", r"^find_package\(Satchel (\S+) REQUIRED\)$"),
    ("Tests/install/CMakeLists.txt", r"^find_package\(Satchel (\S+) REQUIRED\)$"),
)


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    return done.stdout.strip()


def version() -> str:
    """The version of the header, which is the one that counts."""
    defined = r'(?m)^#define SATCHEL_VERSION_STRING "(\d+\.\d+\.\d+)"$'
    found = re.search(defined, text_of("Include/satchel.h"))
    if found is None:
        raise SystemExit("release-check: Include/satchel.h has no version")
    return found[1]


def mentions(wanted: str) -> Iterator[str]:
    """Where another version is written."""
    header = text_of("Include/satchel.h")
    parts = dict(re.findall(r"(?m)^#define SATCHEL_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", header))
    if ".".join(parts.values()) != wanted:
        yield "Include/satchel.h: the parts of the version differ from SATCHEL_VERSION_STRING"
    for name, pattern in MENTIONS:
        found = re.findall(pattern, text_of(name), re.MULTILINE)
        if not found:
            yield f"{name}: no version was found"
        for other in found:
            if not f"{wanted}.".startswith(f"{other}."):
                yield f"{name}: {other}"


def changelog(wanted: str) -> Iterator[str]:
    """The parts that CHANGELOG.md lacks for a release."""
    text = text_of("CHANGELOG.md")
    headings = re.findall(r"(?m)^## \[([^\]]+)\](.*)$", text)
    released = [(name, rest) for name, rest in headings if name != "Unreleased"]
    if not released or released[0][0] != wanted:
        yield f"CHANGELOG.md: the newest entry is not that of {wanted}"
    elif not re.fullmatch(r" - \d{4}-\d\d-\d\d", released[0][1]):
        yield f"CHANGELOG.md: the entry of {wanted} has no date, as in: ## [{wanted}] - 2027-01-31"
    unreleased = re.search(r"(?ms)^## \[Unreleased\]\n(.*?)(?=^## |\Z)", text)
    if unreleased and unreleased[1].strip():
        yield "CHANGELOG.md: the section Unreleased is not empty"


def tree(wanted: str) -> Iterator[str]:
    """Uncommitted changes, and a tag of another commit."""
    if changed := git("status", "--porcelain"):
        yield f"the tree has uncommitted changes:\n{changed}"
    tagged = git("rev-parse", "--verify", "--quiet", f"v{wanted}^{{commit}}")
    if tagged and tagged != git("rev-parse", "HEAD"):
        yield f"v{wanted} is the tag of another commit"


def addresses(_: str) -> Iterator[str]:
    """Placeholders of addresses."""
    names = ("debian/control", "debian/copyright", "deb.sh")
    packages = tuple(f"Bindings/Packaging/{name}" for name in names)
    for name in ("Bindings/Python/pyproject.toml", "Documentation/swift.md", *packages):
        if "example.com" in text_of(name):
            yield f"{name}: an address at example.com"


def exported(_: str) -> Iterator[str]:
    """Functions that the last release exported and this one does not."""
    last = git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^")
    if last:
        before = set(re.findall(r"satchel_\w+", git("show", f"{last}:Include/satchel.map")))
        for name in sorted(before - set(re.findall(r"satchel_\w+", text_of("Include/satchel.map")))):
            yield f"Include/satchel.map: {name} of {last} is gone: the SONAME has to change"


# name, check, whether a rehearsal may fail it
CHECKS: tuple[tuple[str, Callable[[str], Iterator[str]], bool], ...] = (
    ("the version is the same everywhere", mentions, False),
    ("what was exported still is", exported, False),
    ("CHANGELOG.md has an entry", changelog, True),
    ("everything is committed", tree, True),
    ("addresses are real", addresses, True),
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks that the tree can be released.")
    parser.add_argument("--rehearse", action="store_true")
    rehearse = parser.parse_args().rehearse
    wanted = version()
    failed = 0
    for name, check, later in CHECKS:
        found = list(check(wanted))
        excused = later and rehearse
        failed += bool(found) and not excused
        print(f"{name}: {'fine' if not found else 'not yet' if excused else 'failed'}")
        for line in found:
            print(f"  {line}")
    print(f"release-check: {wanted}, {len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
