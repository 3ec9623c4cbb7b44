"""Says what each runner of `make test` counted, and closes with the sum.

Usage: summary.py LOGS RUNNER... where LOGS holds RUNNER.log of each.
"""

import re
import sys
from pathlib import Path

SWIFT = re.compile(r"Test run with (\d+) tests?.* (passed|failed) after")
PASSED = re.compile(r"\b(\d+) passed\b")
FAILED = re.compile(r"\b(\d+) (?:failed|errors?)\b")


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


def main(logs: Path, runners: list[str]) -> int:
    total_passed = total_failed = 0
    silent = []
    print()
    for runner in runners:
        log = logs / f"{runner}.log"  # absent when what it needs could not be built
        passed, failed = count(log.read_text(encoding="utf-8", errors="replace") if log.exists() else "")
        print(f"{runner:<14}{passed:>6} passed {failed:>4} failed")
        total_passed += passed
        total_failed += failed
        if passed + failed == 0:
            silent.append(runner)
    for runner in silent:
        print(f"{runner} ran no test", file=sys.stderr)
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if silent or total_failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
