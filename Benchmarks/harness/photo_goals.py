"""The rows of W3 and of synchronization: figures in, rows of the table out. Pure."""

from .generate import GROWTH
from .goals import FLAT, NAMES, Row, compared, peers_of
from .photo_data import Gallery
from .photos import KEYED_PEERS, PHOTO_PEERS, limit_label
from .runner import Figures
from .sync import STEPS, SYNC_PEERS, label

IMPORT_FACTOR, GET_FACTOR = 0.45, 2.0
"""Of LMDB's time."""
EXPORT_FACTOR, LOOK_FACTOR, CHANGE_FACTOR = 0.3, 0.5, 0.5
"""Of the best peer's time."""
PAGE_FACTOR = 2.0
"""Of sqlite3's time, with an index on dates."""
REQUESTS_UNCHANGED = 1


def photo_rows(figures: Figures, gallery: Gallery) -> list[Row]:
    limit = {"limit": "limit-blocks"}

    def row(what: str, unit: str, key: str, peers: list[str], **more) -> Row:
        workload = f"W3 {what}"
        return compared(workload, unit, key, figures, peers, "satchel", **limit, **more)

    def best_of(factor: float) -> dict[str, str | float]:
        return {"goal": f"≤ {factor} × the best", "factor": factor}

    def of_lmdb(factor: float) -> dict[str, str | float]:
        return {"goal": f"≤ {factor} × LMDB", "factor": factor, "named": "lmdb"}

    page = {"goal": f"≤ {PAGE_FACTOR} × sqlite3 indexed", "factor": PAGE_FACTOR, "named": "sqlite3-indexed"}
    return [
        row(f"import {gallery.name} photos, durable", "s", "import_s", KEYED_PEERS, **of_lmdb(IMPORT_FACTOR)),
        row("export photos with checksums", "s", "export_s", PHOTO_PEERS, **best_of(EXPORT_FACTOR)),
        row("import again: nothing changed", "ms", "noop_ms", PHOTO_PEERS, **best_of(LOOK_FACTOR)),
        row("import again: one photo changed", "ms", "change_ms", PHOTO_PEERS, **best_of(CHANGE_FACTOR)),
        row("a photo by its MD5", "µs", "get_us", PHOTO_PEERS, **of_lmdb(GET_FACTOR)),
        row("a page of photos by date", "ms", "page_ms", PHOTO_PEERS, **page),
        row("peak memory of importing photos", "MB", "resident_mb", PHOTO_PEERS, against_peers=False),
    ]


def photo_growth_rows(figures: Figures, galleries: tuple[Gallery, ...]) -> list[Row]:
    rows = []
    for gallery, larger in zip(galleries, galleries[1:], strict=False):
        for key, what, bound in (
            ("import_s", "importing", 1.1 * GROWTH),
            ("export_s", "exporting", 1.1 * GROWTH),
            ("get_us", "a photo of", FLAT),
        ):
            ratio = grown(figures, key, gallery.name, larger.name)
            limit = grown(figures, key, limit_label(gallery), limit_label(larger))
            workload = f"growth: {what} {gallery.short} → {larger.short} photos"
            goal = f"≤ {bound:g} ×"
            rows.append(Row(workload, "×", ratio, goal=goal, bound=bound, limit=limit, against_peers=False))
    largest = galleries[-1].name
    memory = figures.median(largest, "resident_mb")
    rows.append(Row(f"W3 peak memory, import of {largest} photos", "MB", memory, against_peers=False))
    return rows


def grown(figures: Figures, key: str, small: str, large: str) -> float | None:
    """How many times as long the larger one takes."""
    once, more = figures.median(small, key), figures.median(large, key)
    return more / once if once and more else None


def sync_rows(figures: Figures) -> list[Row]:
    """Bytes each way together, and the requests when there is nothing to do."""
    unchanged = sync_row(figures, STEPS[2], "requests", "", "requests", f"≤ {REQUESTS_UNCHANGED}")
    return [unchanged, *(sync_row(figures, step, "bytes", "kB", "kilobytes") for step in STEPS)]


def sync_row(figures: Figures, step: str, what: str, unit: str, key: str, goal: str = "–") -> Row:
    return Row(
        f"sync, {step}: {what}",
        unit,
        figures.median(label("satchel", step), key),
        goal=goal,
        bound=REQUESTS_UNCHANGED if goal != "–" else None,
        is_traffic=True,
        **peers_of(figures, key, {label(peer, step): NAMES[peer] for peer in SYNC_PEERS}),
    )
