"""Growth: ten times the entities take ten times the time, and a look-up does not feel them."""

from .answers import expect_count
from .generate import GROWTH, Shape, grow
from .places import BINARIES
from .runner import Figures, Job, run, store

LOOKUPS = 1000
MAX_ROUNDS = 3
"""The larger store takes ten times as long as a round of W1."""


def growth(shape: Shape, rounds: int) -> Figures:
    larger = shape.directory / "deliveries-grown.jsonl"
    grow(shape, larger)
    jobs = []
    for name, data, factor in (("once", shape.delivery_file, 1), ("grown", larger, GROWTH)):
        directory = store("growth", name)
        program = [str(BINARIES / "satchel_w1"), f"store={directory}/store.satchel"]
        write = [*program, "mode=write", f"data={data}"]
        counted = expect_count(shape.payloads * factor)
        jobs.append(Job(f"{name}-persist", write, fresh=directory, check=counted))
        sizes = [f"locations={shape.locations * factor}", f"sections={shape.sections}"]
        jobs.append(Job(f"{name}-lookups", [*program, "mode=lookups", *sizes, f"lookups={LOOKUPS}"]))
    figures = run("growth", jobs, min(rounds, MAX_ROUNDS), "seconds")
    larger.unlink()
    return figures
