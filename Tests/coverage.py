"""Prints the line coverage of Sources by the Swift suites: a line for each target, and the lowest files.

Usage: coverage.py BUILD PROFILES [minimum]; BUILD is the directory of the products, PROFILES that of the
profiles which their processes have written. Exits with 1 below the minimum, in percent. Other suites run the
C interface and the tool, in processes of their own: both are listed, and do not count.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Covered by Tests/C, Bindings/Python/tests and Tests/tool, which this does not see.
ELSEWHERE = {"SatchelC", "satchel-cli"}
#: Files below this many percent are listed.
LOW = 80


def tool(name: str) -> str:
    """The path of a program of the Swift toolchain: the profiles' format changes between versions of LLVM."""
    return str(Path(shutil.which("swift") or "swift").absolute().parent / name)


def exported(build: Path, profiles: Path) -> str:
    """The merged profiles as JSON, without the incomplete ones of processes that tests have killed."""
    merged = profiles / "merged.profdata"
    files = sorted(profiles.glob("*.profraw"))
    merge = [tool("llvm-profdata"), "merge", "-sparse", "-failure-mode=all", "-o", str(merged)]
    subprocess.run([*merge, *map(str, files)], check=True, stderr=subprocess.DEVNULL)
    export = [tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={merged}"]
    [bundle] = build.glob("*.xctest")
    return subprocess.run([*export, str(bundle)], check=True, capture_output=True, text=True).stdout


def lines_by_file(report: str) -> dict[Path, tuple[int, int]]:
    """Covered and countable lines of each file below Sources."""
    files = json.loads(report)["data"][0]["files"]
    lines = {}
    for file in files:
        path = Path(file["filename"])
        if path.is_relative_to(ROOT / "Sources") and path.suffix == ".swift":
            summary = file["summary"]["lines"]
            lines[path.relative_to(ROOT / "Sources")] = (summary["covered"], summary["count"])
    return lines


def percent(covered: int, count: int) -> float:
    return 100 * covered / count if count else 100


def main(build: str, profiles: str, minimum: float) -> int:
    files = lines_by_file(exported(Path(build), Path(profiles)))
    targets: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for path, lines in files.items():
        targets[path.parts[0]].append(lines)
    total = [0, 0]
    for target, lines in sorted(targets.items()):
        covered, count = sum(each[0] for each in lines), sum(each[1] for each in lines)
        note = "  (other suites)" if target in ELSEWHERE else ""
        print(f"{target:18} {percent(covered, count):5.1f} % of {count:6} lines{note}")
        if target not in ELSEWHERE:
            total = [total[0] + covered, total[1] + count]
    low = sorted((percent(*lines), path) for path, lines in files.items() if path.parts[0] not in ELSEWHERE)
    for share, path in low:
        if share < LOW:
            print(f"  {share:5.1f} %  {path}")
    print(f"{percent(*total):.1f} % of {total[1]} lines")
    return 0 if percent(*total) >= minimum else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3], float(sys.argv[3]) if len(sys.argv) > 3 else 0))
