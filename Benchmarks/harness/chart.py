"""The chart: six workloads, each with a bar for Satchel and one for the best peer, drawn as SVG by hand.

By hand, because Matplotlib brings 90 MB of packages for a dozen bars. RESULTS.md has every row below it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from .goals import NOISE, Row

WIDTH, MARGIN = 540, 20
"""Narrow, so that a phone, which shows it at its own width, keeps the letters readable."""
BAR_RIGHT = 310
"""The end of the longest bar; the figure follows to the right of it."""
BAR_HEIGHT, ROW_HEIGHT, TOP = 18, 108, 120
INK, MUTED, SATCHEL, PEER, BETTER, WORSE = "#1f2933", "#52606d", "#0b57b0", "#aab4bf", "#0b6b45", "#b0440b"
STYLE = f"""
  text {{ font-family: "DejaVu Sans", system-ui, sans-serif; font-size: 17px; fill: {INK}; }}
  .title {{ font-size: 19px; font-weight: 600; }}
  .row {{ font-weight: 600; }}
  .small {{ font-size: 15px; fill: {MUTED}; }}
"""
SHORTER = {"ms": (1000, "s"), "µs": (1000, "ms"), "ns": (1000, "µs"), "kB": (1000, "MB")}
"""The unit after each, and how many there are in it."""


@dataclass(frozen=True)
class Shown:
    """A workload of the chart: the pattern of its row's name, and its name for a newcomer."""

    pattern: str
    title: str


SHOWN = (
    Shown(r"W1 persist ([\d,]+) × \d+, each synced", "Store {} sections, each safe on disk"),
    Shown(r"W2 open, headers, a section: cache warm", "Open the store and show a section"),
    Shown(r"W3 import ([\d,]+) photos, durable", "Add {} photos to a catalogue"),
    Shown(r"W4 check a story of ([\d,]+) segments", "Find the dead ends in a story of {} parts"),
    Shown(r"W5 a durable record: median", "Save a record, safe on disk"),
    Shown(r"sync, nothing changed: bytes", "Synchronize when nothing has changed"),
)


def shown(rows: list[Row]) -> Iterator[tuple[str, Row]]:
    """Titles and rows, in the order of SHOWN. A row that was not measured, or has no peer, is left out."""
    measured = [row for row in rows if row.satchel is not None and row.peer]
    for each in SHOWN:
        found = [(match, row) for row in measured if (match := re.fullmatch(each.pattern, row.workload))]
        if found:
            # Of several sizes, the first one is what apps have.
            match, row = found[0]
            yield each.title.format(*match.groups()), row


def quantity(value: float, unit: str) -> str:
    """A figure with three digits, in the unit that suits it."""
    while value >= 1000 and unit in SHORTER:
        factor, unit = SHORTER[unit]
        value /= factor
    if unit == "kB" and value < 1:
        value, unit = value * 1000, "bytes"
    digits = 0 if value >= 100 or unit == "bytes" or value == int(value) else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def verdict(row: Row) -> tuple[str, str]:
    """The verdict on two bars, and its colour."""
    ratio = row.satchel / row.peer[1]
    if 1 / NOISE <= ratio <= NOISE:
        return "about the same", MUTED
    factor = 1 / ratio if ratio < 1 else ratio
    times = f"{factor:.1f}" if factor < 10 else f"{factor:.0f}"
    words = ("less", "more") if row.is_traffic else ("faster", "slower")
    return f"{times} × {words[0] if ratio < 1 else words[1]}", BETTER if ratio < 1 else WORSE


def label(x: float, y: float, content: str, kind: str = "", anchor: str = "start", fill: str = "") -> str:
    colour = f' style="fill: {fill}"' if fill else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}{colour}>{escape(content)}</text>'


def bar(y: float, width: float, colour: str) -> str:
    size = f'width="{max(width, 3):.1f}" height="{BAR_HEIGHT}"'
    return f'<rect x="{MARGIN}" y="{y:.1f}" {size} rx="3" fill="{colour}"/>'


def limit_mark(x: float, y: float) -> str:
    size = 7
    middle = y + BAR_HEIGHT / 2
    path = f"M{x:.1f} {middle - size:.1f}l{size} {size}l-{size} {size}l-{size} -{size}z"
    return f'<path d="{path}" fill="white" stroke="{INK}" stroke-width="1.5"/>'


def draw_row(title: str, row: Row, top: float) -> list[str]:
    name, peer = row.peer
    longest = max(row.satchel, peer, row.limit or 0)
    scale = (BAR_RIGHT - MARGIN) / longest
    words, colour = verdict(row)
    parts = [
        label(MARGIN, top + 16, title, "row"),
        label(MARGIN, top + 38, words, "row", fill=colour),
    ]
    for line, (value, fill, text) in enumerate(
        [(row.satchel, SATCHEL, "Satchel"), (peer, PEER, name.replace("*", ""))]
    ):
        y = top + 48 + line * (BAR_HEIGHT + 4)
        parts.append(bar(y, value * scale, fill))
        measured = f"{quantity(value, row.unit)} {text}"
        parts.append(label(MARGIN + value * scale + 10, y + 14, measured, "small"))
    if row.limit is not None:
        parts.append(limit_mark(MARGIN + row.limit * scale, top + 48))
    return parts


def legend(y: float) -> list[str]:
    parts = []
    for mark, name, x, line in (
        (f'<rect width="18" height="18" rx="3" fill="{SATCHEL}"/>', "Satchel", 0, 0),
        (f'<rect width="18" height="18" rx="3" fill="{PEER}"/>', "the best of the others", 130, 0),
        (limit_mark(9, 9 - BAR_HEIGHT / 2), "the least that C code could take", 0, 1),
    ):
        left, top = MARGIN + x, y + line * 26
        parts.append(f'<g transform="translate({left} {top})">{mark}</g>')
        parts.append(label(left + 27, top + 15, name))
    return parts


def chart(rows: list[Row]) -> str:
    """Shorter is better: each row has a scale of its own."""
    parts = [label(MARGIN, 32, "Time, and bytes sent: shorter is better", "title")]
    parts += legend(50)
    top = TOP
    for title, row in shown(rows):
        parts += draw_row(title, row, top)
        top += ROW_HEIGHT
    note = "Satchel from C, the others from Python. Medians of one machine."
    parts.append(label(MARGIN, top + 4, note, "small"))
    height = top + 20
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        f' width="{WIDTH}" height="{height}" role="img"'
        f' aria-label="Satchel beside the best of the others in six workloads">\n'
        f"<style>{STYLE}</style>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n{body}\n</svg>\n'
    )
