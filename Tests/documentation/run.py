"""Runs the code blocks of README.md and Documentation/, so that no example is wrong.

- `c` blocks are compiled against the release library and run; each is a whole program.
- `python` blocks run in order, in a namespace that all blocks of a page share.
- `swift` blocks of a page are, in order, one program of a package that imports Satchel by path.
- `sh run` and `console run` blocks run in bash; of a console, the lines that begin with "$ ".
Each runs in an empty folder. `<!-- not run: reason -->` directly above a block exempts it.
Other blocks, and shell blocks without "run", are text. Links to files of the repository must lead somewhere.
Documentation/swift.md must list the public types of the Swift package.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from blocks import Block, blocks_of
from commands import Failure, succeed
from public_types import differences
from swift_pages import SwiftPages

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / ".build-lib/release"
SCRATCH = ROOT / ".build-docs"
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s#]+)[^)]*\)")


def run_c(block: Block, folder: Path) -> None:
    if not re.search(r"\bmain\s*\(", block.code):
        raise Failure("has no main: complete it, or say above it why it is not run")
    source = folder / "block.c"
    source.write_text(f'#line {block.line} "{block.page}"\n{block.code}', encoding="utf-8")
    strict = ["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror"]
    link = [f"-I{ROOT}/Include", f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}", "-lsatchel", "-ljansson"]
    with tempfile.TemporaryDirectory() as build:
        program = f"{build}/block"
        succeed("gcc", *strict, str(source), "-o", program, *link, folder=folder)
        source.unlink()
        succeed(program, folder=folder)


def run_python(block: Block, namespace: dict[str, object], folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)
    try:
        # As many line feeds before it as there are lines above: a traceback then names the page's line.
        # Without this module's import of annotations, which a reader's program need not have.
        code = compile("\n" * (block.line - 1) + block.code, str(block.page), "exec", dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, namespace)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Failure(traceback.format_exc()) from error
    finally:
        os.chdir(here)


def run_shell(block: Block, folder: Path) -> None:
    lines = block.code.splitlines()
    if block.language == "console":
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    succeed("bash", "-euo", "pipefail", "-c", "\n".join(lines), folder=folder)


def broken_links(page: Path) -> list[str]:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    return [link for link in targets if "://" not in link and not (page.parent / link).exists()]


class Tally:
    """The checks that passed and those that failed."""

    passed = failed = exempt = 0

    def __init__(self) -> None:
        self.swift: dict[Path, list[Block]] = {}

    def attempt(self, place: str, action: Callable[[Path], None]) -> None:
        """Runs an action in an empty folder."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            try:
                action(Path(folder))
            except (Failure, subprocess.TimeoutExpired) as failure:
                print(f"{place}: {failure}", file=sys.stderr)
                self.failed += 1
            else:
                self.passed += 1

    def run(self, page: Path) -> None:
        namespace: dict[str, object] = {"__name__": "__main__"}
        for block in blocks_of(page):
            runs = block.language in ("c", "python", "swift") or (
                block.language in ("sh", "console") and "run" in block.info[1:]
            )
            if runs and block.exempt:
                print(f"{block.place}: not run: {block.exempt}")
                self.exempt += 1
            elif block.language == "c":
                self.attempt(block.place, partial(run_c, block))
            elif block.language == "python":
                self.attempt(block.place, partial(run_python, block, namespace))
            elif block.language == "swift":
                self.swift.setdefault(page, []).append(block)
            elif runs:
                self.attempt(block.place, partial(run_shell, block))
        if broken := broken_links(page):
            print(f"{page}: links that lead nowhere: {', '.join(broken)}", file=sys.stderr)
            self.failed += 1
        else:
            self.passed += 1

    def compare_types(self) -> None:
        if found := differences(ROOT / "Sources", Path("Documentation/swift.md")):
            print("\n".join(found), file=sys.stderr)
            self.failed += 1
        else:
            self.passed += 1


def prepare_environment() -> None:
    """The environment of a reader who installed Satchel: the binding, the library and the tool."""
    os.environ["SATCHEL_LIBRARY"] = str(LIBRARY / "libsatchel.so")
    os.environ["PYTHONPATH"] = str(ROOT / "Bindings/Python")
    sys.path.insert(0, os.environ["PYTHONPATH"])
    bin_folder = SCRATCH / "bin"
    bin_folder.mkdir(parents=True, exist_ok=True)
    (bin_folder / "satchel").unlink(missing_ok=True)
    (bin_folder / "satchel").symlink_to(LIBRARY / "satchel-cli")
    os.environ["PATH"] = f"{bin_folder}:{os.environ['PATH']}"


def main() -> int:
    os.chdir(ROOT)
    prepare_environment()
    tally = Tally()
    pages = [Path("README.md"), *sorted(Path("Documentation").rglob("*.md"))]
    for page in pages:
        tally.run(page)
    tally.compare_types()
    swift = SwiftPages(ROOT, SCRATCH)
    swift.write(tally.swift)
    for page in tally.swift:
        tally.attempt(f"{page} (Swift)", partial(swift.run, page))
    print(f"documentation: {len(pages)} pages, {tally.exempt} blocks not run")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
