"""W4: checking one story of many segments, and many stories of few."""

import sys
from collections.abc import Callable
from typing import Any

from .places import BINARIES
from .runner import Figures, Job, WrongAnswerError, run
from .story_data import Corpus, Finding, Planted, generate_stories

C_PROGRAMS = {"satchel": "satchel_w4", "limit-scan": "story_limit", "jansson": "story_tree"}
PYTHON_PEERS = {
    "msgspec-minimal": ["msgspec-minimal"],
    "msgspec-uncollected": ["msgspec-minimal", "--uncollected"],
    "msgspec-full": ["msgspec-full"],
    "orjson": ["orjson"],
    "json": ["json"],
}
STORY_PEERS = [*PYTHON_PEERS, "jansson"]
"""On one core; the first is the one of the goals."""
TWO = "-two"
"""After a job's name: on two threads or processes, for many stories."""
STORY_PEERS_ON_TWO = [f"msgspec-minimal{TWO}", f"jansson{TWO}"]
LARGE = 1_000_000
LARGE_ROUNDS = 3
SLOWEST = ("orjson", "json", "jansson")
"""With a million segments these take 6 to 20 seconds: one round says enough."""


def program(name: str, corpus: Corpus) -> list[str]:
    """The command of a job."""
    plain, workers = name.removesuffix(TWO), 2 if name.endswith(TWO) else 1
    if plain in C_PROGRAMS:
        binary = str(BINARIES / C_PROGRAMS[plain])
        return [binary, f"path={corpus.path}", f"repeats={corpus.repeats}", f"threads={workers}"]
    peer, *options = PYTHON_PEERS[plain]
    options += ["--repeats", str(corpus.repeats), "--processes", str(workers)]
    return [sys.executable, "-m", "peers.stories", peer, str(corpus.path), *options]


def expect_counts(planted: Planted) -> Callable[[bytes, dict[str, Any]], None]:
    """A check of peers and limits, which only count."""
    expected = {
        "segments": planted.segments,
        "duplicates": planted.count("duplicate-segment"),
        "broken": planted.count("broken-choice"),
        "unreachable": planted.count("unreachable"),
        "authentic": planted.files,
    }

    def check(output: bytes, answer: dict[str, Any]) -> None:
        counted = {key: answer.get(key) for key in expected}
        if counted != expected:
            raise WrongAnswerError(f"found {counted} where {expected} was planted")

    return check


def expect_reports(planted: Planted) -> Callable[[bytes, dict[str, Any]], None]:
    """A check of Satchel: each planted fault by its code, place and line, and nothing besides."""

    def check(output: bytes, answer: dict[str, Any]) -> None:
        reports = answer["reports"]
        if len(reports) != planted.files:
            raise WrongAnswerError(f"{len(reports)} reports of {planted.files} stories")
        segments = 0
        for name, report in reports.items():
            compare(name, report, planted.findings.get(name, []))
            segments += report["statistics"]["segments"]
        if segments != planted.segments:
            raise WrongAnswerError(f"counted {segments} of {planted.segments} segments")

    return check


def compare(name: str, report: dict[str, Any], expected: list[Finding]) -> None:
    found = [(each["code"], each["pointer"], each["line"]) for each in report["findings"]]
    if sorted(found) != sorted(expected):
        more, less = sorted(set(found) - set(expected)), sorted(set(expected) - set(found))
        raise WrongAnswerError(f"{name}: found besides {more[:3]}, did not find {less[:3]}")
    counted = (report["ok"], report["errors"], report["warnings"])
    if counted != (not expected, len(expected), 0):
        raise WrongAnswerError(f"{name}: ok, errors and warnings are {counted} of {len(expected)} errors")


def rounds_of(name: str, corpus: Corpus) -> int | None:
    if corpus.segments < LARGE:
        return None
    return 1 if name in SLOWEST else LARGE_ROUNDS


def warm(corpus: Corpus) -> None:
    """Reads the stories into the page cache; otherwise the first job would."""
    for path in corpus.stories.iterdir():
        with path.open("rb", 0) as file:
            while file.read(1 << 20):
                pass


def check_stories(corpus: Corpus, rounds: int, with_satchel: bool) -> Figures:
    planted = generate_stories(corpus)
    warm(corpus)
    names = ["satchel"] if with_satchel else []
    names += ["limit-scan", *STORY_PEERS]
    if corpus.files > 1:
        names += [f"satchel{TWO}"] if with_satchel else []
        names += [f"limit-scan{TWO}", *STORY_PEERS_ON_TWO]
    jobs = [
        Job(
            name,
            program(name, corpus),
            rounds=rounds_of(name, corpus),
            check=(expect_reports if name.startswith("satchel") else expect_counts)(planted),
        )
        for name in names
    ]
    figures = run(corpus.workload, jobs, rounds, "total_ms")
    for records in figures.records.values():
        for record in records:
            record["resident_mb"] = record["resident"] / 1e6
    return figures
