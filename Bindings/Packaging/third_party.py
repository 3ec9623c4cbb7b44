"""The software of others that is published with Satchel: names, versions, licences and their texts.

    python3 Bindings/Packaging/third_party.py [--tool] [--sqlite FOLDER] [LIBRARY...]

Prints the text that a wheel or a tarball carries as LICENSE-THIRD_PARTY.txt. What is linked into
libsatchel.so is always in it; --tool adds what is linked into the tool; each LIBRARY is a shared library of a
Debian package that is included; FOLDER has a libsqlite3.so.0 that sqlite.sh built.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMMON_LICENSES = Path("/usr/share/common-licenses")


@dataclass(frozen=True)
class Part:
    """Software of others, with its licence."""

    name: str
    version: str
    licence: str  # an SPDX expression
    place: str
    source: str
    text: str


@dataclass(frozen=True)
class Library:
    """The name of a shared library of Debian, and its licence."""

    name: str
    licence: str
    source: str


LIBRARIES = {
    "libjansson": Library("jansson", "MIT", "https://github.com/akheron/jansson"),
    "libnettle": Library(
        "nettle", "LGPL-3.0-or-later OR GPL-2.0-or-later", "https://www.lysator.liu.se/~nisse/nettle/"
    ),
    "libutf8proc": Library(
        "utf8proc", "MIT AND Unicode-DFS-2015", "https://github.com/JuliaStrings/utf8proc"
    ),
    "libsqlite3": Library("SQLite", "blessing", "https://sqlite.org"),
}


def linked() -> list[Part]:
    """The parts of libsatchel.so: the Swift runtime, the C++ library that it uses, and Unicode's table."""
    inside = "linked into libsatchel.so"
    gcc = output("gcc", "-dumpfullversion")
    return [
        Part(
            "Swift runtime",
            swift_version(),
            "Apache-2.0 WITH Swift-exception",
            inside,
            "https://github.com/swiftlang/swift",
            swift_licence(),
        ),
        Part(
            "libstdc++ and libgcc",
            gcc,
            "GPL-3.0-or-later WITH GCC-exception-3.1",
            inside,
            "https://gcc.gnu.org",
            gcc_exception(gcc),
        ),
        unicode_table(Path(__file__).resolve().parents[2]),
    ]


def unicode_table(root: Path) -> Part:
    """The table of collation elements that Scripts/root_order.py makes."""
    table = (root / "Sources/CRootOrder/table.c").read_text(encoding="utf-8")
    version = re.search(r"of Unicode (\S+)", table)
    return Part(
        "Unicode's table of collation elements",
        version[1] if version else "unknown",
        "Unicode-DFS-2016",
        "a table made from it is linked into libsatchel.so",
        "https://www.unicode.org/Public/UCA/",
        (root / "Bindings/Packaging/unicode_license.txt").read_text(encoding="utf-8"),
    )


def tool_parts(root: Path) -> list[Part]:
    """The libraries that only the tool links."""
    manifest = (root / "Package.swift").read_text(encoding="utf-8")
    parser = re.search(r'swift-argument-parser", exact: "([^"]+)"', manifest)
    inside, licence = "linked into the tool satchel", "Apache-2.0 WITH Swift-exception"
    same = "As the Swift runtime, above.\n"
    return [
        Part(
            "swift-argument-parser",
            parser[1] if parser else "unknown",
            licence,
            inside,
            "https://github.com/apple/swift-argument-parser",
            same,
        ),
        Part(
            "swift-foundation (FoundationEssentials)",
            swift_version(),
            licence,
            inside,
            "https://github.com/swiftlang/swift-foundation",
            same,
        ),
    ]


def debian_library(file: Path) -> Part:
    """A shared library of a Debian package.

    :raises SystemExit: when its package or its licence is not known
    """
    real = file.resolve()
    known = LIBRARIES.get(real.name.split(".")[0])
    # Debian's libraries are in /usr/lib, and dpkg may know them by /lib.
    for path in (real, Path(str(real).removeprefix("/usr"))):
        found = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True)
        if known is not None and found.returncode == 0:
            package = found.stdout.split(": ")[0]
            break
    else:
        raise SystemExit(f"third_party: the licence of {file} is not known")
    version, source = output("dpkg-query", "-W", "-f", "${Version} ${source:Package}", package).split()
    notice = Path("/usr/share/doc") / package.split(":")[0] / "copyright"
    return Part(
        known.name,
        version,
        known.licence,
        "a shared library next to libsatchel.so, which can be replaced",
        f"{known.source}, Debian's source package {source} {version}",
        notice.read_text(encoding="utf-8"),
    )


def own_sqlite(folder: Path) -> Part:
    """The SQLite that Bindings/Packaging/sqlite.sh built."""
    description = (folder / "version").read_text(encoding="utf-8")
    version = description.splitlines()[0].removeprefix("package ")
    known = LIBRARIES["libsqlite3"]
    return Part(
        known.name,
        version,
        known.licence,
        "a shared library next to libsatchel.so, which can be replaced",
        f"{known.source}, built from Debian's source package sqlite3 {version}",
        f"{description}\n{(folder / 'copyright').read_text(encoding='utf-8')}",
    )


def gcc_exception(version: str) -> str:
    """The licence of GCC's own libraries, from Debian's package: an exception to the GPL."""
    notice = Path(f"/usr/share/doc/gcc-{version.split('.')[0]}-base/copyright")
    text = notice.read_text(encoding="utf-8", errors="replace") if notice.is_file() else ""
    found = re.search(r"(?ms)^GCC RUNTIME LIBRARY EXCEPTION$.*?the license of GCC\.$", text)
    return f"{found[0]}\n\nVersion 3 of the GPL is in {COMMON_LICENSES}/GPL-3.\n" if found else ""


def swift_version() -> str:
    found = re.search(r"Swift version (\S+)", output("swift", "--version"))
    return found[1] if found else "unknown"


def swift_licence() -> str:
    swift = shutil.which("swift")
    text = Path(swift).resolve().parents[1] / "share/swift/LICENSE.txt" if swift else None
    return text.read_text(encoding="utf-8") if text and text.is_file() else ""


def document(parts: list[Part]) -> str:
    """The whole text: a list first, then the licence of each, and the common licences that those refer to."""
    lines = ["This copy of Satchel contains software of others, under these licences:", ""]
    for part in parts:
        lines += [f"- {part.name} {part.version}: {part.licence}", f"  {part.place}; source: {part.source}"]
    referred: set[Path] = set()
    for part in parts:
        if not part.text:
            raise SystemExit(f"third_party: the licence text of {part.name} was not found")
        lines += ["", "=" * 80, f"{part.name} {part.version}", "=" * 80, "", part.text.rstrip()]
        names = re.findall(rf"{COMMON_LICENSES}/([A-Za-z]+(?:-\d(?:\.\d)*)?)", part.text)
        referred |= {(COMMON_LICENSES / name).resolve() for name in names}
    for licence in sorted(referred):
        lines += ["", "=" * 80, licence.name, "=" * 80, "", licence.read_text(encoding="utf-8").rstrip()]
    return "\n".join(lines) + "\n"


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description="Licences of what is published with Satchel.")
    parser.add_argument("--tool", action="store_true")
    parser.add_argument("--sqlite", type=Path)
    parser.add_argument("libraries", type=Path, nargs="*")
    chosen = parser.parse_args()
    parts = linked()
    parts += tool_parts(Path(__file__).resolve().parents[2]) if chosen.tool else []
    parts += map(debian_library, chosen.libraries)
    parts += [own_sqlite(chosen.sqlite)] if chosen.sqlite else []
    print(document(parts), end="")


if __name__ == "__main__":
    main()
