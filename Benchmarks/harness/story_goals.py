"""The rows of W4: figures in, rows of the table out. Pure."""

from .generate import GROWTH
from .goals import Row, compared
from .runner import Figures
from .stories import STORY_PEERS, STORY_PEERS_ON_TWO, TWO
from .story_data import Corpus

FACTORS = {1_000: 0.35, 100_000: 0.25, 1_000_000: 0.2}
"""By segments, the share of msgspec's time that Satchel may take."""
FACTOR_OF_MANY = 0.3
LIMIT_FACTOR = 2.0
PEER = STORY_PEERS[0]


def story_rows(single: dict[Corpus, Figures], many: tuple[Corpus, Figures]) -> list[Row]:
    rows = [
        story_row(f"W4 check a story of {corpus.name} segments", figures, FACTORS.get(corpus.segments))
        for corpus, figures in single.items()
    ]
    corpus, figures = many
    what = f"W4 check {corpus.files:,} stories of {corpus.segments}"
    rows.append(story_row(f"{what}, one thread", figures, None))
    both = [*STORY_PEERS, *STORY_PEERS_ON_TWO]
    rows.append(story_row(f"{what}, two threads", figures, FACTOR_OF_MANY, both, TWO))
    largest = list(single)[-1]
    rows.append(memory_row(f"W4 peak memory, {largest.name} segments", single[largest]))
    return rows


def story_row(
    workload: str, figures: Figures, factor: float | None, peers: list[str] = STORY_PEERS, two: str = ""
) -> Row:
    return compared(
        workload,
        "ms",
        "total_ms",
        figures,
        peers,
        f"satchel{two}",
        goal=f"≤ {factor} × msgspec minimal" if factor else "",
        factor=factor,
        limit_factor=LIMIT_FACTOR if factor else None,
        named=PEER,
        limit=f"limit-scan{two}",
    )


def memory_row(workload: str, figures: Figures) -> Row:
    """Without a goal; the file itself is in it."""
    return compared(
        workload,
        "MB",
        "resident_mb",
        figures,
        STORY_PEERS,
        "satchel",
        named=PEER,
        limit="limit-scan",
        against_peers=False,
    )


def story_growth_row(single: dict[Corpus, Figures]) -> Row:
    """The two largest, of which one is ten times the other."""
    once, grown = (figures.median("satchel", "total_ms") for figures in list(single.values())[-2:])
    return Row(
        f"growth: checking {GROWTH} × the segments",
        "×",
        grown / once if once and grown else None,
        goal=f"≤ {1.1 * GROWTH:g} ×",
        bound=1.1 * GROWTH,
        against_peers=False,
    )
