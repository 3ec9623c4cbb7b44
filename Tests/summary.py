"""Says what failed in each runner of `make test`, what each counted and took, and closes with the sum.

Usage: summary.py LOGS RUNNER... where LOGS holds RUNNER.log of each, and in *.time the seconds of each runner
and build: those that passed, and those of the processors.
"""

import re
import sys
from pathlib import Path

SWIFT = re.compile(r"Test run with (\d+) tests?.* (passed|failed) after")
PASSED = re.compile(r"\b(\d+) passed\b")
FAILED = re.compile(r"\b(\d+) (?:failed|errors?)\b")
#: How Swift Testing and pytest name a failure, with the lines that explain it.
FAILURE = re.compile(r"^(?:✘ .* recorded an issue.*(?:\n↳.*)*|FAILED .*|ERROR .*)", re.MULTILINE)
#: On a terminal, Swift Testing colours its lines.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
#: A runner that names its failures in another way is quoted by its last lines.
LAST = 20
#: A test's arguments may be long.
WIDTH = 1000


def count(log: str) -> tuple[int, int]:
    """Passed and failed by the last line of a log that closes a run; (0, 0) when there is none."""
    for line in reversed(log.splitlines()):
        if swift := SWIFT.search(line):
            tests = int(swift[1])
            return (tests, 0) if swift[2] == "passed" else (tests - 1, 1)
        if passed := PASSED.search(line):
            failed = FAILED.search(line)
            return int(passed[1]), int(failed[1]) if failed else 0
    return 0, 0


def failures(log: str) -> list[str]:
    """The lines of the log of a failed run that name the failures."""
    named = "\n".join(FAILURE.findall(log))
    return [line[:WIDTH] for line in named.splitlines() or log.splitlines()[-LAST:]]


def seconds(path: Path) -> tuple[float, float]:
    """Those that passed, and those of the processors; a build has a line for each time that it ran."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    times = [[float(number) for number in line.split()] for line in lines]
    return sum(line[0] for line in times), sum(line[1] + line[2] for line in times)


def took(path: Path) -> str:
    elapsed, busy = seconds(path)
    return f"{elapsed:>7.0f} s, processor {busy:>5.0f} s"


def main(logs: Path, runners: list[str]) -> int:
    total_passed = total_failed = 0
    silent = []
    counted = []
    for runner in runners:
        path = logs / f"{runner}.log"  # absent when what it needs could not be built
        log = COLOUR.sub("", path.read_text(encoding="utf-8", errors="replace")) if path.exists() else ""
        passed, failed = count(log)
        times = took(logs / f"{runner}.time")
        counted.append(f"{runner:<14}{passed:>6} passed {failed:>4} failed {times}")
        if failed or not passed:
            print(f"\n{runner}:", *failures(log), sep="\n  ")
        total_passed += passed
        total_failed += failed
        if passed + failed == 0:
            silent.append(runner)
    for build in sorted(set(logs.glob("*.time")) - {logs / f"{runner}.time" for runner in runners}):
        counted.append(f"{build.stem:<40}{took(build)}")
    print("", *counted, sep="\n")
    print(f"processor: {sum(seconds(each)[1] for each in logs.glob('*.time')) / 60:.1f} minutes")
    for runner in silent:
        print(f"{runner} ran no test", file=sys.stderr)
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if silent or total_failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
