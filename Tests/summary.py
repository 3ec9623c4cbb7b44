"""Says what failed in each runner of `make test`, what each counted, and closes with the sum.

Usage: summary.py LOGS RUNNER... where LOGS holds RUNNER.log of each.
"""

import re
import sys
from pathlib import Path

SWIFT = re.compile(r"Test run with (\d+) tests?.* (passed|failed) after")
PASSED = re.compile(r"\b(\d+) passed\b")
FAILED = re.compile(r"\b(\d+) (?:failed|errors?)\b")
#: How Swift Testing and pytest name a failure, with the lines that explain it.
FAILURE = re.compile(r"^(?:✘ .* recorded an issue.*(?:\n↳.*)*|FAILED .*|ERROR .*)", re.MULTILINE)
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
    """The lines of the log of a failed run that tell what failed."""
    named = "\n".join(FAILURE.findall(log))
    return [line[:WIDTH] for line in named.splitlines() or log.splitlines()[-LAST:]]


def main(logs: Path, runners: list[str]) -> int:
    total_passed = total_failed = 0
    silent = []
    counted = []
    for runner in runners:
        path = logs / f"{runner}.log"  # absent when what it needs could not be built
        log = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        passed, failed = count(log)
        counted.append(f"{runner:<14}{passed:>6} passed {failed:>4} failed")
        if failed or not passed:
            print(f"\n{runner}:", *failures(log), sep="\n  ")
        total_passed += passed
        total_failed += failed
        if passed + failed == 0:
            silent.append(runner)
    print("", *counted, sep="\n")
    for runner in silent:
        print(f"{runner} ran no test", file=sys.stderr)
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if silent or total_failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
