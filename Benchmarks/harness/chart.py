"""The chart: a line a workload, ratios on a logarithmic axis, drawn as SVG by hand.

By hand, because Matplotlib 3.11 makes three times the bytes of as many marks and labels (210 kB instead of
70), takes 3.5 s, brings 90 MB of packages, and does not keep labels apart either.
"""

import math
import re
from dataclasses import dataclass
from html import escape

from .goals import Row

WIDTH, LEFT, RIGHT = 980, 330, 945
PANEL_TOP = 78
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
INK, MUTED, FAINT, PEER = "#1f2933", "#616e7c", "#e4e7eb", "#9aa5b1"
GOOD, SHORT, NEUTRAL = "#0b7a53", "#c2410c", "#3b5bdb"
CHARACTER = 6.3
"""The width of a small character, to keep labels apart."""

STYLE = f"""
  text {{ font-family: "DejaVu Sans", system-ui, sans-serif; font-size: 12px; fill: {INK}; }}
  .title {{ font-size: 16px; font-weight: 600; }}
  .small {{ font-size: 10px; fill: {MUTED}; paint-order: stroke; stroke: white; stroke-width: 3px; }}
  .value {{ font-size: 11.5px; font-weight: 600; paint-order: stroke; stroke: white; stroke-width: 4px; }}
"""


@dataclass(frozen=True)
class Panel:
    title: str
    note: str
    middle: str
    """What stands at 1."""
    rows: list[Row]
    lowest: float
    highest: float
    row_height: int

    def position(self, ratio: float) -> float:
        """Where a ratio stands; what lies outside stands at the edge."""
        clamped = min(max(ratio, self.lowest), self.highest)
        share = math.log(clamped / self.lowest) / math.log(self.highest / self.lowest)
        return LEFT + share * (RIGHT - LEFT)


def title(row: Row) -> str:
    """The workload without its number, which says nothing to a reader of the chart."""
    words = re.sub(r"^W\d ", "", row.workload)
    return words[0].upper() + words[1:]


def reference(row: Row) -> float:
    """What is 1 on the row's axis."""
    return row.peer[1] if row.against_peers else row.bound


def label(x: float, y: float, content: str, kind: str = "", anchor: str = "start", fill: str = "") -> str:
    colour = f' style="fill: {fill}"' if fill else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}{colour}>{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        f' stroke="{colour}" stroke-width="{width}"{dashed}/>'
    )


def dot(x: float, y: float, radius: float, fill: str, stroke: str = "none") -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{stroke}" stroke-width="1.5"/>'
    )


def diamond(x: float, y: float) -> str:
    size = 5
    path = f"M{x:.1f} {y - size}l{size} {size}l-{size} {size}l-{size} -{size}z"
    return f'<path d="{path}" fill="white" stroke="{INK}"/>'


def goal_mark(x: float, y: float) -> str:
    return line(x, y - 11, x, y + 11, GOOD, 2.5)


def peer_marks(panel: Panel, row: Row, y: float) -> list[str]:
    """A dot a peer, and its name below, on whichever of two lines has room; the peer of the goal first."""
    parts: list[str] = []
    levels: list[list[tuple[float, float]]] = [[], []]
    named = row.peer[0] if row.peer else None
    for name, value in sorted(row.others.items(), key=lambda item: (item[0] != named, item[1])):
        x = panel.position(value / reference(row))
        parts.append(dot(x, y, 4, PEER))
        half = len(name) * CHARACTER / 2
        middle = min(max(x, LEFT + half), RIGHT + 25 - half)
        left, right = middle - half - 4, middle + half
        for level, taken in enumerate(levels):
            if all(right < start or left > end for start, end in taken):
                parts.append(label(middle, y + 17 + 11 * level, name, "small", "middle"))
                taken.append((left, right))
                break
    return parts


def satchel_mark(panel: Panel, row: Row, y: float) -> list[str]:
    colour = {"yes": GOOD, "first step": GOOD, "no": SHORT}.get(row.met, NEUTRAL)
    x = panel.position(row.satchel / reference(row))
    digits = 2 if row.satchel < 10 else 1
    content = f"{row.ratio:.2f} ×" if row.against_peers else f"{row.satchel:.{digits}f} {row.unit}"
    return [dot(x, y, 7, colour, "white"), label(x, y - 13, content, "value", "middle", colour)]


def draw_row(panel: Panel, row: Row, y: float) -> list[str]:
    parts = [line(LEFT, y, RIGHT, y, FAINT), label(16, y + 4, title(row))]
    parts += peer_marks(panel, row, y)
    if row.limit is not None:
        parts.append(diamond(panel.position(row.limit / reference(row)), y))
    if row.bound is not None:
        parts.append(goal_mark(panel.position(row.bound / reference(row)), y))
    return parts + satchel_mark(panel, row, y)


def draw_panel(panel: Panel, top: float) -> tuple[list[str], float]:
    """The panel's parts, and where it ends."""
    first = top + PANEL_TOP
    bottom = first + panel.row_height * (len(panel.rows) - 1) + 34
    parts = [label(16, top + 18, panel.title, "title"), label(16, top + 36, panel.note, "small")]
    for tick in TICKS:
        if not panel.lowest <= tick <= panel.highest:
            continue
        x = panel.position(tick)
        strong = tick == 1
        parts.append(line(x, first - 26, x, bottom, MUTED if strong else FAINT, 1.5 if strong else 1))
        parts.append(label(x, bottom + 14, f"{tick:g}", "small", "middle"))
    parts.append(label(panel.position(1), first - 31, panel.middle, "small", "middle"))
    for index, row in enumerate(panel.rows):
        parts += draw_row(panel, row, first + index * panel.row_height)
    return parts, bottom + 26


def legend(y: float) -> list[str]:
    marks = (
        (dot(0, 0, 7, GOOD, "white"), "Satchel, goal met", 140),
        (dot(0, 0, 7, SHORT, "white"), "goal not met", 110),
        (dot(0, 0, 7, NEUTRAL, "white"), "Satchel, no goal set", 150),
        (dot(0, 0, 4, PEER), "a peer", 75),
        (goal_mark(0, 0), "goal", 65),
        (diamond(0, 0), "limit: the least that could work", 200),
    )
    parts, x = [], 26
    for mark, name, width in marks:
        parts.append(f'<g transform="translate({x} {y})">{mark}</g>')
        parts.append(label(x + 13, y + 4, name, "small"))
        x += width
    return parts


def chart(rows: list[Row]) -> str:
    """Rows that were not measured are left out."""
    drawn = [
        row for row in rows if row.satchel is not None and (row.peer if row.against_peers else row.bound)
    ]
    panels = [
        Panel(
            "Time beside the peers",
            "Left of 1 Satchel is faster. The axis is logarithmic: every step is a factor.",
            "the peer of the goal",
            [row for row in drawn if row.against_peers and not row.is_traffic],
            0.05,
            100,
            56,
        ),
        Panel(
            "Bytes and requests beside the peers",
            "What a synchronization moves, both ways. Left of 1 Satchel moves less than the best peer.",
            "the best peer",
            [row for row in drawn if row.is_traffic],
            0.01,
            100,
            56,
        ),
        Panel(
            "Against the goal",
            "Left of 1 is better: smaller, quicker, growing less.",
            "the goal",
            [row for row in drawn if not row.against_peers],
            0.05,
            5,
            44,
        ),
    ]
    parts, y = [], 8.0
    for panel in panels:
        if panel.rows:
            more, y = draw_panel(panel, y)
            parts += more
            y += 14
    parts += legend(y + 4)
    height = y + 26
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}"'
        f' width="{WIDTH}" height="{height:.0f}" role="img"'
        f' aria-label="Satchel beside its peers, its goals and the limits">\n'
        f"<style>{STYLE}</style>\n"
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>\n{body}\n</svg>\n'
    )
