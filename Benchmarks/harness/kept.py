"""Updates a report with what was measured of some workloads, and keeps the rest of it. Pure.

For a machine where the other workloads were never measured, or not with this version.
"""

import re

from .goals import Row
from .report import COLUMNS, cells, table

SCALES = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "kB": 1e3, "MB": 1e6}
"""Seconds, and bytes."""


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def updated_goals(report: str, rows: list[Row]) -> str:
    """The table of goals: a row that was measured again is replaced, a new one follows the one before it."""
    lines = report.splitlines()
    first = next(place for place, line in enumerate(lines) if cells_of(line) == COLUMNS)
    last = next(place for place in range(first, len(lines)) if not lines[place].startswith("|"))
    old = [cells_of(line) for line in lines[first + 2 : last]]
    place = len(old)
    for row in rows:
        found = next((index for index, line in enumerate(old) if line[0] == row.workload), None)
        if found is None:
            old.insert(place, cells(row))
        else:
            old[found], place = cells(row), found
        place += 1
    return "\n".join([*lines[:first], table(COLUMNS, old), *lines[last:]]) + "\n"


def updated_section(report: str, title: str, content: str) -> str:
    head = f"## {title}\n"
    start = report.find(head)
    if start < 0:
        return f"{report.rstrip()}\n\n{head}\n{content}\n"
    end = report.find("\n## ", start)
    rest = report[end:] if end >= 0 else "\n"
    return f"{report[:start]}{head}\n{content}\n{rest}"


def updated_turn(report: str, workload: str, turn: str) -> str:
    line = f"- {workload}: {turn}"
    report, found = re.subn(rf"^- {workload}: measured .*$", line, report, flags=re.MULTILINE)
    # One that is new follows the last of the others.
    return report if found else re.sub(r"(?s)(.*\n- \w+: measured [^\n]*)", rf"\1\n{line}", report, count=1)


def updated(report: str, rows: list[Row], sections: dict[str, str], turns: dict[str, str]) -> str:
    """`turns`: when each workload was measured, and where."""
    report = updated_goals(report, rows)
    for title, content in sections.items():
        report = updated_section(report, title, content)
    for workload, turn in turns.items():
        report = updated_turn(report, workload, turn)
    return report


def reported_rows(report: str) -> list[Row]:
    """The rows of the table of goals, for the chart: the figures as they are written there."""
    lines = [cells_of(line) for line in report.splitlines() if line.startswith("| ")]
    rows = []
    for workload, satchel, peer, *_, limit, _ in (line for line in lines if len(line) == len(COLUMNS)):
        if (measured := quantity_of(satchel)) is None:
            continue
        value, unit = measured
        named = re.fullmatch(r"(.+) \((.+)\)", peer)
        best = in_unit(named[1], unit) if named else None
        rows.append(
            Row(
                workload,
                unit,
                value,
                peer=(named[2], best) if named and best is not None else None,
                limit=in_unit(limit, unit),
                is_traffic=workload.endswith(("bytes", "requests")),
            )
        )
    return rows


def quantity_of(cell: str) -> tuple[float, str] | None:
    found = re.fullmatch(r"([\d.]+)(?: (\w+))?", cell)
    return (float(found[1]), found[2] or "") if found else None


def in_unit(cell: str, unit: str) -> float | None:
    """A figure in the unit of its row."""
    if (measured := quantity_of(cell)) is None:
        return None
    value, own = measured
    return value if own == unit else value * SCALES[own] / SCALES[unit]
