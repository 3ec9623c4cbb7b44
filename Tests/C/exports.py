"""The same list in three places: header, map, library. And what the library needs and weighs.

Usage: exports.py LIBRARY STRIPPED, from the root of the repository.
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, "Bindings/Packaging")
import glibc

LARGEST = 12_000_000


def in_header(text: str) -> set[str]:
    without_comments = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return set(re.findall(r"SATCHEL_API[^;{]*?\b(satchel_\w+)\s*\(", without_comments))


def in_map(text: str) -> set[str]:
    listed = re.search(r"global:(.*?)local:\s*\*;", text, flags=re.DOTALL)
    return set(re.findall(r"\w+", listed[1])) if listed else set()


def exported(library: str) -> set[str]:
    """Global symbols; `A` is the version node itself, small letters are not visible to others."""
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    symbols = (line.split()[-2:] for line in lines)
    return {name.split("@")[0] for kind, name in symbols if kind.isupper() and kind != "A"}


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def ballast(library: str) -> list[str]:
    """Symbols of Swift's regex engine, of its concurrency, and of libdispatch, exported or not."""
    symbols = (line.split()[-1] for line in run("nm", library).splitlines() if line)
    return [
        name
        for name in symbols
        if "_StringProcessing" in name
        or "RegexParser" in name
        or name.startswith(("dispatch_", "swift_task_"))
    ]


def spread(library: str) -> tuple[int, int]:
    """How many functions of ours an app's start runs, and over how many bytes they lie."""
    lines = Path(".build-lib/start.order").read_text(encoding="utf-8").splitlines()
    names = {name for name in lines if "Satchel" in name}
    symbols = [line.split(" ", 2) for line in run("nm", "--defined-only", library).splitlines()]
    code = [int(place, 16) for place, kind, name in symbols if name in names and kind in "tT"]
    return len(code), max(code, default=0) - min(code, default=0)


def differences(left: set[str], right: set[str]) -> str:
    return f"only in the first: {sorted(left - right)}, only in the second: {sorted(right - left)}"


def main(library: str, stripped: str) -> int:
    header_text = Path("Include/satchel.h").read_text(encoding="utf-8")
    header = in_header(header_text)
    major = re.search(r"#define SATCHEL_VERSION_MAJOR (\d+)", header_text)
    others = {
        "satchel.map": in_map(Path("Include/satchel.map").read_text(encoding="utf-8")),
        "the library": exported(library),
        "the stripped library": exported(stripped),
    }
    dynamic = run("readelf", "-d", stripped)
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    soname = re.findall(r"SONAME.*\[(.*)\]", dynamic)
    loaded = run("ldd", stripped)
    size = Path(stripped).resolve().stat().st_size
    count, apart = spread(library)

    checks = [
        (f"satchel.h against {name}", header == names, differences(header, names))
        for name, names in others.items()
    ]
    checks += [
        ("functions are found at all", len(header) > 0, "the header has none"),
        ("soname", major is not None and soname == [f"libsatchel.so.{major[1]}"], str(soname)),
        ("no Swift library is needed", not re.search(r"swift|Foundation", loaded), loaded),
        ("every library is found", "not found" not in loaded, loaded),
        ("libcurl is not loaded at start", not any("curl" in name for name in needed), str(needed)),
        ("no rpath of its own", not re.search(r"R(UN)?PATH", dynamic), dynamic),
        ("runs with glibc 2.34", not glibc.too_new(Path(stripped)), str(glibc.too_new(Path(stripped)))),
        # The one comes in unasked, with a call such as split(separator: "text") or firstMatch, and weighs
        # 1.4 MB; the others with an async function, and weigh 0.8 MB.
        ("no regex engine, no concurrency", not ballast(library), str(ballast(library)[:5])),
        ("symbols are there to look at", "SatchelStories" in run("nm", library), "the library is stripped"),
        ("the functions of a start are known", count > 500, f"{count}"),
        ("they lie side by side", apart <= 500_000, f"over {apart} bytes"),
        ("at most 12 MB stripped", size <= LARGEST, f"{size} bytes"),
    ]
    for name, fine, detail in checks:
        if not fine:
            print(f"exports: {name}: {detail}", file=sys.stderr)
    failed = sum(not fine for _, fine, _ in checks)
    print(
        f"exports: {len(header)} functions, {size} bytes stripped, needs {' '.join(needed)}", file=sys.stderr
    )
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
