"""Measures Satchel beside its peers and the limits, and writes RESULTS.md and results.svg.

Fails when anything fails or answers wrongly; a goal that is not met is a result, not a failure.
"""

import argparse
import shutil
import sys

from .build import build
from .calls import calls
from .chart import chart
from .footprint import footprint
from .generate import FULL, QUICK, generate
from .goals import call_rows, footprint_rows, growth_rows, persist_rows, restore_rows
from .growth import growth
from .persist import persist, restore
from .places import CHART, DATA, LIBRARY, REPORT, STORES
from .report import goal_table, markdown
from .runner import Figures
from .stories import check_stories
from .story_data import MANY, QUICK_MANY, QUICK_SINGLE, SINGLE
from .story_goals import story_growth_row, story_rows

RESTORES = 3
"""Rounds of W2 for one of W1: they are short, and noisier."""
LOADS = 50
"""Fresh processes that load a library."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="Benchmarks/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, help="rounds of each workload (default 5; 2 with --quick)")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a smoke run of 500 payloads and 500 stories; reports into data/ instead",
    )
    parser.add_argument(
        "--peers-only", action="store_true", help="without Satchel; prints, and writes no report"
    )
    parser.add_argument("--keep", action="store_true", help="keep the stores afterwards")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    shape = QUICK if options.quick else FULL
    rounds = options.rounds or (2 if options.quick else 5)
    with_satchel = not options.peers_only
    if with_satchel and not LIBRARY.exists():
        print("there is no release library yet: run `make lib`, or use --peers-only", file=sys.stderr)
        return 2

    print(f"making {shape.payloads:,} payloads, compiling the probes", flush=True)
    build(with_satchel)
    generate(shape)
    measured: dict[str, Figures] = {"persist": persist(shape, rounds, with_satchel)}
    restores = rounds if options.quick else rounds * RESTORES
    restored = restore(shape, restores, with_satchel)
    measured |= {"restore-warm": restored["warm"], "restore-dropped": restored["dropped"]}
    single = QUICK_SINGLE if options.quick else SINGLE
    many = QUICK_MANY if options.quick else MANY
    stories = {corpus: check_stories(corpus, rounds, with_satchel) for corpus in (*single, many)}
    measured |= {corpus.workload: figures for corpus, figures in stories.items()}
    measured["calls"] = calls(rounds, with_satchel)
    measured["footprint"] = footprint(1, LOADS // 5 if options.quick else LOADS, with_satchel)
    rows = [*persist_rows(measured["persist"], shape), *restore_rows(restored)]
    rows += story_rows({corpus: stories[corpus] for corpus in single}, (many, stories[many]))
    rows += [*call_rows(measured["calls"]), *footprint_rows(measured["footprint"])]
    if with_satchel:
        measured["growth"] = growth(shape)
        rows += growth_rows(measured["growth"])
        rows.append(story_growth_row({corpus: stories[corpus] for corpus in single}))

    print("\n" + goal_table(rows))
    if with_satchel:
        report = DATA / REPORT.name if options.quick else REPORT
        picture = DATA / CHART.name if options.quick else CHART
        turns = {"persist": rounds, "restore": restores}
        report.write_text(markdown(rows, measured, shape, stories, turns, picture.name), encoding="utf-8")
        picture.write_text(chart(rows), encoding="utf-8")
        print(f"\nwritten: {report.name}, {picture.name}")
    if not options.keep:
        shutil.rmtree(STORES, ignore_errors=True)

    failed = [(name, job, why) for name, each in measured.items() for job, why in each.failures.items()]
    for name, job, why in failed:
        print(f"FAILED: {name}, {job}: {why}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
