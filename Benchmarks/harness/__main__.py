"""Measures Satchel beside its peers and the limits, and writes RESULTS.md and results.svg.

Fails when anything fails or answers wrongly; a goal that is not met is a result, not a failure.
"""

import argparse
import pickle
import shutil
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from .assets import PICTURES, QUICK_PICTURES, asset_rows, asset_table, assets
from .assets import READING as READING_OF_ASSETS
from .backup import LIBRARIES, QUICK_LIBRARIES, back_up
from .backup_rows import backup_rows, backup_table
from .backup_rows import reading as reading_of_backups
from .build import build
from .calls import calls
from .chart import chart
from .footprint import footprint
from .generate import FULL, QUICK, generate
from .goals import Row, call_rows, footprint_rows, growth_rows, persist_rows, restore_rows, screen_rows
from .growth import growth
from .imports import import_rows, imports
from .kept import reported_rows, updated
from .live import READING as READING_OF_LIVE
from .live import live, live_rows, live_table
from .machine import processor
from .many import many, many_rows
from .mirror import mirror, mirror_row
from .persist import persist, restore, screens
from .photo_data import GALLERIES, QUICK_GALLERIES
from .photo_goals import photo_growth_rows, photo_rows, sync_rows
from .photo_report import photo_table, reading, sync_table
from .photos import photo_growth, photos
from .places import CHART, DATA, LIBRARY, RECORDS, REPORT, STORES
from .record_data import QUICK_SETS, SETS
from .record_goals import record_growth_rows, record_rows, start_rows
from .record_report import reading as reading_of_records
from .record_report import record_table, start_table
from .record_sync import QUICK_SETS as QUICK_SYNCED
from .record_sync import SETS as SYNCED
from .record_sync import synchronize_records
from .record_sync_goals import reading as reading_of_synced
from .record_sync_goals import record_sync_rows, record_sync_table
from .records import app_start, record_growth, records
from .report import goal_table, markdown, story_table
from .runner import Figures
from .search import reading as reading_of_search
from .search import search, search_rows, search_table
from .stories import check_stories
from .story_data import MANY, QUICK_MANY, QUICK_SINGLE, SINGLE, Corpus
from .story_goals import story_growth_row, story_rows
from .sync import synchronize

RESTORES = 3
"""Rounds of W2 for one of W1: they are short, and noisier."""
SYNC_ROUNDS = 3
"""At most, of W7, where requests are the same in each, of W8, W9 and of live queries."""
LOADS = 50
"""Fresh processes that load a library."""
WORKLOADS = ("W1", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10", "live", "sync")
"""W1 with W2, which reads what it wrote, and its growth; W5 with an app's start; W6 with size and load."""
TABLES = {
    "W5": lambda figures: f"{record_table(figures['records'])}\n\n{start_table(figures)}",
    "W7": lambda figures: record_sync_table(figures["record-sync"], tuple({*QUICK_SYNCED, *SYNCED})),
    "W8": lambda figures: search_table(figures["search"]),
    "W9": lambda figures: backup_table(figures["backup"], (*QUICK_LIBRARIES, *LIBRARIES)),
    "W10": lambda figures: asset_table(figures["assets"]),
    "live": lambda figures: live_table(figures["live"]),
    "sync": lambda figures: sync_table(figures["sync"]),
}
"""Returns the text about a workload that is measured alone."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="Benchmarks/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, help="rounds of each workload (default 5; 2 with --quick)")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="500 payloads and stories, 10,000 photos and records, 2,000 to sync; reports into data/ instead",
    )
    parser.add_argument(
        "--peers-only", action="store_true", help="without Satchel; prints, and writes no report"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=WORKLOADS,
        default=WORKLOADS,
        help="these alone, and what else they measure (W1: W2, growth); prints, and writes no report",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="with --only: updates the report; what it says of the other workloads stays as it is",
    )
    parser.add_argument("--keep", action="store_true", help="keep the stores afterwards")
    return parser.parse_args()


@dataclass
class Part:
    """The figures of one workload, and the rows that they make."""

    rounds: int
    """The same for all workloads of a report."""
    measured: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))
    figures: dict[str, Figures] = field(default_factory=dict)
    stories: dict[Corpus, Figures] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    growth: list[Row] = field(default_factory=list)


class Measured:
    """The figures, workload by workload."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.quick: bool = options.quick
        self.with_satchel = not options.peers_only
        self.shape = QUICK if self.quick else FULL
        self.rounds: int = options.rounds or (2 if self.quick else 5)
        self.restores = self.rounds if self.quick else self.rounds * RESTORES
        self.galleries = QUICK_GALLERIES if self.quick else GALLERIES
        self.gallery = self.galleries[1]
        self.record_sets = QUICK_SETS if self.quick else SETS
        self.synced = QUICK_SYNCED if self.quick else SYNCED
        self.libraries = QUICK_LIBRARIES if self.quick else LIBRARIES
        self.pictures = QUICK_PICTURES if self.quick else PICTURES
        self.parts: dict[str, Part] = {}
        self.part = Part(self.rounds)

    @property
    def in_order(self) -> list[Part]:
        return [self.parts[workload] for workload in WORKLOADS if workload in self.parts]

    @property
    def rows(self) -> list[Row]:
        rows = [row for part in self.in_order for row in part.rows]
        return rows + [row for part in self.in_order for row in part.growth]

    @property
    def figures(self) -> dict[str, Figures]:
        return {name: figures for part in self.in_order for name, figures in part.figures.items()}

    @property
    def stories(self) -> dict[Corpus, Figures]:
        return {corpus: figures for part in self.in_order for corpus, figures in part.stories.items()}

    def file(self, workload: str) -> Path:
        """Where the last figures of a workload are kept."""
        return RECORDS / f"{workload}{'-quick' if self.quick else ''}.pickle"

    def load(self, workload: str) -> None:
        """Takes over what was measured of a workload the last time, if it was on this machine."""
        if self.file(workload).exists():
            self.parts[workload] = pickle.loads(self.file(workload).read_bytes())

    def measure(self, workload: str) -> None:
        measuring = {
            "W1": self.persist,
            "W3": self.photos,
            "W4": self.check_stories,
            "W5": self.records,
            "W6": self.calls,
            "W7": self.synchronize_records,
            "W8": self.search,
            "W9": self.back_up,
            "W10": self.assets,
            "live": self.observe,
            "sync": self.synchronize,
        }
        self.part = Part(self.rounds)
        measuring[workload]()
        self.parts[workload] = self.part
        if self.with_satchel:
            self.file(workload).write_bytes(pickle.dumps(self.part))

    def persist(self) -> None:
        generate(self.shape)
        self.part.figures["persist"] = persist(self.shape, self.rounds, self.with_satchel)
        restored = restore(self.shape, self.restores, self.with_satchel)
        self.part.figures |= {"restore-warm": restored["warm"], "restore-dropped": restored["dropped"]}
        self.part.rows += [*persist_rows(self.part.figures["persist"], self.shape), *restore_rows(restored)]
        self.part.figures["imports"] = imports(self.restores, self.with_satchel)
        self.part.rows += import_rows(self.part.figures["imports"])
        if self.with_satchel:
            self.part.figures["screens"] = screens(self.shape, self.restores)
            self.part.rows += screen_rows(self.part.figures["screens"])
            self.part.figures["growth"] = growth(self.shape, self.rounds)
            self.part.growth += growth_rows(self.part.figures["growth"])

    def photos(self) -> None:
        measured = photos(self.gallery, self.rounds, self.with_satchel)
        self.part.figures["photos"] = measured
        self.part.rows += photo_rows(measured, self.gallery)
        if self.with_satchel:
            grown = photo_growth(self.galleries, self.rounds)
            self.part.figures["photo-growth"] = grown
            self.part.growth += photo_growth_rows(grown, self.galleries)

    def synchronize(self) -> None:
        measured = synchronize(self.gallery, self.rounds, self.with_satchel)
        self.part.figures["sync"] = measured
        self.part.rows += sync_rows(measured)

    def check_stories(self) -> None:
        single = QUICK_SINGLE if self.quick else SINGLE
        many = QUICK_MANY if self.quick else MANY
        for corpus in (*single, many):
            self.part.stories[corpus] = check_stories(corpus, self.rounds, self.with_satchel)
            self.part.figures[corpus.workload] = self.part.stories[corpus]
        alone = {corpus: self.part.stories[corpus] for corpus in single}
        self.part.rows += story_rows(alone, (many, self.part.stories[many]))
        if self.with_satchel:
            self.part.growth.append(story_growth_row(alone))

    def records(self) -> None:
        record_set = self.record_sets[0]
        self.part.figures["records"] = records(record_set, self.rounds, self.with_satchel)
        started = app_start(record_set, self.restores, self.with_satchel)
        self.part.figures |= started
        self.part.rows += record_rows(self.part.figures["records"], record_set)
        self.part.rows += start_rows(started, record_set)
        if self.with_satchel:
            self.part.figures["mirror"] = mirror(self.quick)
            self.part.rows.append(mirror_row(self.part.figures["mirror"]))
            self.part.figures["record-growth"] = record_growth(self.record_sets, self.rounds)
            self.part.growth += record_growth_rows(self.part.figures["record-growth"], self.record_sets)

    def synchronize_records(self) -> None:
        measured = synchronize_records(self.synced, min(self.rounds, SYNC_ROUNDS), self.with_satchel)
        self.part.figures["record-sync"] = measured
        self.part.rows += record_sync_rows(measured, self.synced)

    def search(self) -> None:
        generate(self.shape)
        self.part.figures["search"] = search(self.shape, min(self.rounds, SYNC_ROUNDS), self.with_satchel)
        self.part.rows += search_rows(self.part.figures["search"], self.shape)

    def back_up(self) -> None:
        measured = back_up(self.libraries, min(self.rounds, SYNC_ROUNDS), self.with_satchel)
        self.part.figures["backup"] = measured
        self.part.rows += backup_rows(measured, self.libraries)

    def assets(self) -> None:
        measured = assets(self.pictures, min(self.rounds, SYNC_ROUNDS), self.with_satchel)
        self.part.figures["assets"] = measured
        self.part.rows += asset_rows(measured, self.pictures)

    def observe(self) -> None:
        rounds = min(self.rounds, SYNC_ROUNDS)
        self.part.figures["live"] = live(self.record_sets[0], rounds, self.with_satchel)
        self.part.rows += live_rows(self.part.figures["live"])
        if self.with_satchel:
            self.part.figures["many"] = many()
            self.part.rows += many_rows(self.part.figures["many"])

    def calls(self) -> None:
        self.part.figures["calls"] = calls(self.rounds, self.with_satchel)
        loads = LOADS // 5 if self.quick else LOADS
        self.part.figures["footprint"] = footprint(1, loads, self.with_satchel)
        self.part.rows += call_rows(self.part.figures["calls"])
        self.part.rows += footprint_rows(self.part.figures["footprint"])

    @property
    def is_complete(self) -> bool:
        return set(self.parts) == set(WORKLOADS)

    def turns(self) -> dict[str, str]:
        return {
            workload: f"measured {part.measured}, rounds: {part.rounds}"
            for workload, part in self.parts.items()
        }

    def update(self) -> None:
        """Replaces what the report says of the workloads that were measured."""
        on = f", on {processor()}"
        turns = {workload: turn + on for workload, turn in self.turns().items()}
        sections: dict[str, str] = {}
        if "W3" in self.parts:
            sections[f"W3, {self.gallery.name} photos, everyone"] = photo_table(self.figures["photos"])
            sections["W3, Satchel by photos"] = photo_table(self.figures["photo-growth"])
        if "W4" in self.parts:
            sections["W4, everyone"] = story_table(self.stories)
        if "W7" in self.parts:
            sections["W7, everyone"] = record_sync_table(self.figures["record-sync"], self.synced)
        if "W8" in self.parts:
            sections["W8, everyone"] = search_table(self.figures["search"])
        if "W9" in self.parts:
            sections["W9, everyone"] = backup_table(self.figures["backup"], self.libraries)
        if "W10" in self.parts:
            sections["W10, everyone"] = asset_table(self.figures["assets"])
        if "live" in self.parts:
            sections["Live queries, everyone"] = live_table(self.figures["live"])
        text = updated(REPORT.read_text(encoding="utf-8"), self.rows, sections, turns)
        REPORT.write_text(text, encoding="utf-8")
        CHART.write_text(chart(reported_rows(text)), encoding="utf-8")
        print(f"\nupdated: {REPORT.name}, {CHART.name}")

    def report(self) -> None:
        report = DATA / REPORT.name if self.quick else REPORT
        picture = DATA / CHART.name if self.quick else CHART
        turns = self.turns()
        tables = {
            f"W3, {self.gallery.name} photos, everyone": photo_table(self.figures["photos"]),
            "W3, Satchel by photos": photo_table(self.figures["photo-growth"]),
            f"Synchronizing {self.gallery.name} photos, everyone": sync_table(self.figures["sync"]),
            f"W5, {self.record_sets[0].name} records, everyone": record_table(self.figures["records"]),
            "W5, Satchel by records": record_table(self.figures["record-growth"]),
            f"W5, an app's start with {self.record_sets[0].name} records": start_table(self.figures),
            "W7, everyone": record_sync_table(self.figures["record-sync"], self.synced),
            "W8, everyone": search_table(self.figures["search"]),
            "W9, everyone": backup_table(self.figures["backup"], self.libraries),
            "W10, everyone": asset_table(self.figures["assets"]),
            "Live queries, everyone": live_table(self.figures["live"]),
        }
        readings = [reading(self.gallery), reading_of_records(self.record_sets[0])]
        readings += [reading_of_synced(self.synced), reading_of_search(self.shape), reading_of_backups()]
        readings += [READING_OF_ASSETS, READING_OF_LIVE]
        subjects = ("\n".join(readings), tables)
        content = markdown(self.rows, self.figures, self.shape, self.stories, turns, picture.name, subjects)
        report.write_text(content, encoding="utf-8")
        picture.write_text(chart(self.rows), encoding="utf-8")
        print(f"\nwritten: {report.name}, {picture.name}")


def main() -> int:
    options = arguments()
    if not options.peers_only and not LIBRARY.exists():
        print("there is no release library yet: run `make lib`, or use --peers-only", file=sys.stderr)
        return 2

    print("compiling the probes", flush=True)
    measured = Measured(options)
    build(measured.with_satchel)
    for workload in WORKLOADS:
        if workload in options.only:
            measured.measure(workload)

    print("\n" + goal_table(measured.rows))
    if measured.with_satchel and (options.report or set(options.only) == set(WORKLOADS)):
        for workload in WORKLOADS:
            if workload not in measured.parts:
                measured.load(workload)
        if measured.is_complete:
            measured.report()
        else:
            measured.update()
    else:
        for name in options.only:
            if name in TABLES:
                print("\n" + TABLES[name](measured.figures))
    if not options.keep:
        shutil.rmtree(STORES, ignore_errors=True)

    failed = False
    for name, figures in measured.figures.items():
        for job, why in figures.failures.items():
            print(f"FAILED: {name}, {job}: {why}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
