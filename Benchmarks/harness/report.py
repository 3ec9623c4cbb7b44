"""The table, on the terminal and in RESULTS.md."""

from collections.abc import Sequence

from .generate import GROWTH, Shape
from .goals import NAMES, Row
from .machine import machine, versions
from .runner import Figures
from .story_data import FAULTY_EVERY, Corpus

COLUMNS = ["workload", "Satchel", "best peer", "ratio", "goal", "met?", "C limit", "to limit"]
KEYS = {
    "persist": ("seconds", "s"),
    "restore-warm": ("total_ms", "ms"),
    "restore-dropped": ("total_ms", "ms"),
}
"""The workloads whose every figure is written down, and which figure."""
READING = """\
- Everything runs on one machine in turn, in rounds (three times as many for W2 and an app's start), each run
  in its own process; a figure is the median. Two medians of the same thing differ by up to 15 % here.
  Workloads may be measured on different days; each against its peers and limits on the same day.
- Ratios are what to read: below 1 Satchel is faster than the peer in that row. Absolute times belong to this
  machine.
- What syncs every commit is only compared with what syncs every commit. In the class of
  synchronous=NORMAL, the goal is relative to sqlite3; LMDB without any sync is faster and safe against less.
- Peers are driven from Python, as their users do; Satchel's rows are C unless they say Python, so the
  Python rows are the like-for-like ones. The clock starts after importing, and C programs are linked before
  it starts.
- W1 hands each side the same {payloads:,} payloads of {entities} entities ({megabytes:.0f} MB), in random
  order. Peers parse them with orjson; Satchel gets the bytes. "Again" delivers the same content once more,
  the members of its objects in another order: nothing is stored but when it expires.
- W2 is opening the store, the headers of one location ({sections} sections) and one section of {entities}.
  Peers parse each entity; Satchel in C hands out JSON, in Python it is parsed. "Dropped" means the store's
  files, not the programs. Importing is a row of its own, in a process that has imported nothing else.
- "On the screen" is a session that shows the place and is asked for its sections, until the event of the last
  one, in an open store with its cache warm. Its goal is relative to the headers and the same sections read
  by calls.
- The C limit does the least that could work: SQLite with prepared statements and the index on ids deferred,
  over payloads that are cut by their known shape (no yyjson in Debian 12, so nothing is parsed at all). For
  calls it is a C library of the same shape, for size and load a Swift library that does nothing.
- W4 is from reading a story's file (its page cache warm) to knowing all that is wrong with it. Peers decode
  and run the same few checks, in Python or for jansson in C; Satchel's report has every check of its rules
  with line and column. msgspec minimal decodes only the fields that the checks need; the goals are
  relative to it as it comes, "no GC" is the same with Python's garbage collector off. msgspec runs in one
  process on one core: the row of one thread is the like-for-like one. The limit makes one pass over the bytes
  without validating them, and the graph.
- Growth: {payloads:,} sections of {entities} entities against {factor} times as many locations; look-ups are
  medians of 1,000 random ones in an open store, page cache warm. Flat means at most 1.25 ×. For stories, the
  two largest.
- Correctness is part of the run: every store that was written is read again, and its headers, the ids and
  order of {entities} entities and the bytes of one of them are held against the data. Stories have faults
  planted in them, each large one and one in {faulty} small ones: choices that lead nowhere, an id that occurs
  twice, an island. Everyone has to count them; Satchel has to name each with its place and line, and nothing
  besides. A wrong answer fails the run.
"""


def figure_table(figures: Figures, names: Sequence[str], columns: Sequence[tuple[str, str, str]]) -> str:
    """Of each job the medians of some figures, and how often it ran.

    :param columns: the title, the figure and its unit
    """
    lines = [
        [
            NAMES[name],
            *(figure(figures.median(name, key), unit) for _, key, unit in columns),
            str(len(figures.records.get(name, []))),
        ]
        for name in names
    ]
    return table(["", *(title for title, _, _ in columns), "runs"], lines)


def figure(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if not unit:
        return f"{value:g}"
    if unit == "kB" and value >= 1000:
        value, unit = value / 1000, "MB"
    digits = 3 if value < 1 else 2 if value < 100 else 0
    return f"{value:.{digits}f} {unit}"


def cells(row: Row) -> list[str]:
    peer = f"{figure(row.peer[1], row.unit)} ({row.peer[0]})" if row.peer else "–"
    return [
        row.workload,
        figure(row.satchel, row.unit),
        peer,
        f"{row.ratio:.2f} ×" if row.ratio is not None else "–",
        row.goal,
        row.met,
        figure(row.limit, row.unit),
        f"{row.limit_ratio:.2f} ×" if row.limit_ratio is not None else "–",
    ]


def table(header: list[str], lines: list[list[str]]) -> str:
    widths = [max(len(line[column]) for line in [header, *lines]) for column in range(len(header))]

    def one(line: list[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([one(header), rule, *map(one, lines)])


def goal_table(rows: list[Row]) -> str:
    return table(COLUMNS, [cells(row) for row in rows])


def all_figures(workload: str, figures: Figures) -> str:
    key, unit = KEYS[workload]
    lines = []
    known = [(figures.median(name, key), name) for name in figures.records if name not in figures.failures]
    for median, name in sorted(known):
        low, high = figures.spread(name, key)
        plain = name.removesuffix(" dropped")
        lines.append(
            [
                NAMES.get(plain, plain),
                figure(median, unit),
                f"{figure(low, unit)} – {figure(high, unit)}",
                str(len(figures.records[name])),
            ]
        )
    return table(["", "median", "least – most", "runs"], lines)


def story_table(stories: dict[Corpus, Figures]) -> str:
    """Everyone's time by corpus, and the memory that the largest single story took."""
    largest = max((corpus for corpus in stories if corpus.files == 1), key=lambda corpus: corpus.segments)
    many = max(stories, key=lambda corpus: corpus.files)
    header = ["", *(f"{corpus.name} segments" for corpus in stories), f"peak at {largest.name}"]
    lines = []
    # The jobs on two threads or processes only run on many stories, where all others run too.
    for name in stories[many].records:
        times = [figure(figures.median(name, "total_ms"), "ms") for figures in stories.values()]
        peak = figure(stories[largest].median(name, "resident_mb"), "MB")
        lines.append([NAMES.get(name, name), *times, peak])
    reading = [figure(figures.median("limit-scan", "reading_ms"), "ms") for figures in stories.values()]
    lines.append(["reading the file, in the limit", *reading, "–"])
    return table(header, lines)


def markdown(
    rows: list[Row],
    measured: dict[str, Figures],
    shape: Shape,
    stories: dict[Corpus, Figures],
    turns: dict[str, str],
    chart: str,
    subjects: tuple[str, dict[str, str]],
) -> str:
    """`turns`: when each workload was measured; `subjects`: how to read W3, synchronization and W5, and their
    tables by title.
    """
    reading = READING.format(
        payloads=shape.payloads,
        entities=shape.entities,
        sections=shape.sections,
        megabytes=shape.payload_file.stat().st_size / 1e6,
        factor=GROWTH,
        faulty=FAULTY_EVERY,
    )
    facts = "\n".join(f"- {name}: {value}" for name, value in {**machine(), **turns}.items())
    peers = "\n".join(f"- {name}: {value}" for name, value in versions().items())
    parts = [
        "# Results",
        "Written by `make bench`; do not edit.",
        f"![Six of the rows below: Satchel beside the best of its peers]({chart})",
        goal_table(rows),
        "## How to read this",
        reading.strip() + "\n" + subjects[0],
        "## Machine",
        facts,
        "## Versions",
        peers,
    ]
    titles = {
        "persist": "W1, everyone",
        "restore-warm": "W2, page cache warm, everyone",
        "restore-dropped": "W2, page cache dropped, everyone",
    }
    for workload, title in titles.items():
        parts += [f"## {title}", all_figures(workload, measured[workload])]
    for title, content in subjects[1].items():
        parts += [f"## {title}", content]
    parts += ["## W4, everyone", story_table(stories)]
    return "\n\n".join(parts) + "\n"
