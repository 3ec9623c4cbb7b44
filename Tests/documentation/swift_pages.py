"""The Swift blocks of each page as one program, all of them in one package that imports Satchel by path."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from blocks import Block
from commands import succeed

MANIFEST = """\
// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "documentation",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Satchel", path: "{root}")],
  targets: [
{targets}  ]
)
"""


def program_of(page: Path) -> str:
    return re.sub(r"\W", "_", str(page.with_suffix("")))


class SwiftPages:
    """One package with a program for each page, beside the suites, so that Satchel is not compiled again."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root = root
        self.scratch = scratch
        self.package = scratch / "package"

    def write(self, programs: dict[Path, list[Block]]) -> None:
        """Writes the package again, with the blocks of each page in their order."""
        shutil.rmtree(self.package, ignore_errors=True)
        products = ", ".join(
            f'.product(name: "{product}", package: "Satchel")'
            for product in ("Satchel", "SatchelCatalogue", "SatchelFoundation", "SatchelJSON")
        )
        targets = ""
        for page, blocks in programs.items():
            name = program_of(page)
            targets += f'    .executableTarget(name: "{name}", dependencies: [{products}]),\n'
            parts = (
                f'#sourceLocation(file: "{block.page}", line: {block.line})\n{block.code}' for block in blocks
            )
            source = self.package / "Sources" / name / "main.swift"
            source.parent.mkdir(parents=True)
            source.write_text("".join(parts), encoding="utf-8")
        (self.package / "Package.swift").write_text(
            MANIFEST.format(root=self.root, targets=targets),
            encoding="utf-8",
        )

    def run(self, page: Path, folder: Path) -> None:
        """Builds and runs the program of a page."""
        name = program_of(page)
        build = str(self.root / "Scripts/build.sh")
        succeed(build, "app", str(self.package), "--product", name, folder=folder)
        succeed(str(self.root / ".build-test/debug" / name), folder=folder)
