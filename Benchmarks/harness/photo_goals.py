"""The rows of W3 and of synchronization: figures in, rows of the table out. Pure."""

from .generate import GROWTH
from .goals import FLAT, NAMES, Row, compared, peers_of
from .photo_data import Gallery
from .photos import KEYED_PEERS, LIBRARY_PEERS, PHOTO_PEERS, limit_label
from .runner import Figures
from .sync import STEPS, SYNC_PEERS, label

IMPORT_FACTOR, GET_FACTOR = 3.0, 2.0
"""Of LMDB's time, which has no index."""
INDEXED_FACTOR, PAGE_FACTOR = 0.3, 1.5
"""Of the time of sqlite3 with the same indexes: of its import, and of its answers with the same columns."""
EXPORT_FACTOR, LOOK_FACTOR, CHANGE_FACTOR = 1.3, 0.5, 0.5
"""Of the best peer's time."""
REQUESTS_UNCHANGED = 1


def photo_rows(figures: Figures, gallery: Gallery) -> list[Row]:
    limit = {"limit": "limit-rows-wal"}

    def row(what: str, unit: str, key: str, peers: list[str], **more) -> Row:
        workload = f"W3 {what}"
        return compared(workload, unit, key, figures, peers, "satchel", **limit, **more)

    def best_of(factor: float) -> dict[str, str | float]:
        return {"goal": f"≤ {factor} × the best", "factor": factor}

    def of_lmdb(factor: float) -> dict[str, str | float]:
        return {"goal": f"≤ {factor} × LMDB", "factor": factor, "named": "lmdb"}

    def of_indexed(factor: float) -> dict[str, str | float]:
        return {"goal": f"≤ {factor} × sqlite3 indexed", "factor": factor, "named": "sqlite3-indexed"}

    def question(what: str, key: str) -> Row:
        return row(what, "ms", key, LIBRARY_PEERS, **of_indexed(PAGE_FACTOR))

    imported = f"import {gallery.name} photos, durable"
    return [
        row(imported, "s", "import_s", KEYED_PEERS, **of_lmdb(IMPORT_FACTOR)),
        row(f"{imported}, with indexes", "s", "import_s", LIBRARY_PEERS, **of_indexed(INDEXED_FACTOR)),
        row("export photos with checksums", "s", "export_s", PHOTO_PEERS, **best_of(EXPORT_FACTOR)),
        row("import again: nothing changed", "ms", "noop_ms", PHOTO_PEERS, **best_of(LOOK_FACTOR)),
        row("import again: one photo changed", "ms", "change_ms", PHOTO_PEERS, **best_of(CHANGE_FACTOR)),
        row("a photo by its MD5", "µs", "get_us", PHOTO_PEERS, **of_lmdb(GET_FACTOR)),
        question("a page of photos by date", "page_ms"),
        question("a page after 16 changes", "page_after_ms"),
        question("photos in each of 240 months", "months_ms"),
        question("the same after 16 changes", "months_after_ms"),
        question("a page of a camera by date", "camera_ms"),
        question("a page of a box by date", "box_ms"),
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
