"""Results of the stories: frozen dataclasses. :mod:`satchel.stories` exports them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any, Dict, List, Optional

from satchel._html import Rows
from satchel.values import dataclass, record_from, records_from

__all__ = [
    "BrokenPosition",
    "Choice",
    "ChoiceName",
    "MovedChoice",
    "MovedStart",
    "PassagePlace",
    "Segment",
    "StoryDiff",
    "StoryFinding",
    "StoryListing",
    "StoryLoading",
    "StoryMove",
    "StoryProblem",
    "StoryProgress",
    "StoryRefresh",
    "StoryStatistics",
    "StorySummary",
]


@dataclass(frozen=True)
class PassagePlace:
    """A place in a passage of a game: its ``name``, and ``line`` and ``column`` from 1 in its text."""

    name: str
    line: int
    column: int


@dataclass(frozen=True)
class StoryFinding:
    """An error or a warning in a story, and its location.

    ``file`` is None, but for a story in several files, where it is the name of one. ``passage`` is None, but
    for a game of Twine, where it is the place in a passage. ``code`` never changes; ``severity`` is "error"
    or "warning"; ``message`` is the description; ``pointer`` is a JSON Pointer into the story; ``line`` and
    ``column`` count from 1, in its text; ``suggestion`` is the probable intention, such as the nearest id, or
    None.
    """

    code: str
    severity: str
    pointer: str
    file: Optional[str]
    line: int
    column: int
    passage: Optional[PassagePlace]
    message: str
    suggestion: Optional[str]


@dataclass(frozen=True)
class StoryStatistics:
    """Facts about a story: its numbers of ``segments``, ``choices`` without dynamic ones, and ``words``.

    ``endings`` counts those that can be reached. ``shortest_path`` and ``longest_path`` count segments,
    both ends included; None where no path exists. ``shortest_minutes`` and ``longest_minutes`` are reading
    times at 200 words a minute: of a shortest path, and of all reachable segments. ``path_count`` is -1 for
    unbounded and at most 2**63 - 1: ``story.path_count`` is exact.
    """

    segments: int
    choices: int
    endings: int
    words: int
    shortest_path: Optional[int]
    longest_path: Optional[int]
    shortest_minutes: float
    longest_minutes: float
    path_count: int


@dataclass(frozen=True)
class Choice:
    """A choice with its ``text``; ``next_segment_id`` is the id of its target, which may not exist.

    ``id`` is unique in its segment. ``is_dynamic``: it leads where only the game knows, perhaps to
    ``next_segment_id``, which may be empty; without a ``text`` it is not offered to readers. ``extra`` are
    the members of the file that are the app's: all that have no field here, ``image`` and ``sound`` among
    them.
    """

    id: str
    text: str
    next_segment_id: str
    is_dynamic: bool = False
    extra: Dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Segment:
    """A segment of a story: its ``id``, its ``text`` and its ``choices``.

    ``is_authentic_path``: it is on the path of the original story. ``is_ending``: it is marked as an ending,
    or has no choices; of a game, also that its choices lead only back to the start. ``extra`` are the members
    of the file that are the app's, as of :class:`Choice`.
    """

    id: str
    text: str
    is_authentic_path: bool
    is_ending: bool
    choices: List[Choice]
    extra: Dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StorySummary:
    """A story in a library's index: all but its segments. Fields that the story lacks are None.

    ``id``, ``language``, ``title``, ``author``, ``original_source``, ``cultural_origin``, ``synopsis``,
    ``cover_image_name``, ``estimated_reading_minutes``, ``age_range`` and ``tags`` are those of the story,
    and ``extra`` has its members that are the app's; ``file`` is the path of its file in the directory,
    ``statistics`` are facts about its segments. ``is_purchased`` is the value of ``mark_purchased``,
    otherwise that of the file; ``errors`` and ``warnings`` count findings.
    """

    id: str
    file: str
    language: Optional[str]
    title: Optional[str]
    author: Optional[str]
    original_source: Optional[str]
    cultural_origin: Optional[str]
    synopsis: Optional[str]
    cover_image_name: Optional[str]
    estimated_reading_minutes: Optional[int]
    age_range: Optional[str]
    tags: List[str]
    is_purchased: bool
    extra: Dict[str, Any]
    statistics: StoryStatistics
    errors: int
    warnings: int

    @property
    def path_count(self) -> int:
        """The number of paths from start to an ending, as in ``statistics``."""
        return self.statistics.path_count


@dataclass(frozen=True)
class StoryProblem:
    """A ``file`` of a library that is not a story, or was left out.

    ``code`` is the reason, ``message`` its description. ``line`` and ``column`` are None without a location;
    ``story`` is the story's id, if it has one. ``findings`` are those of a story that was left out because of
    its errors.
    """

    file: str
    code: str
    message: str
    line: Optional[int]
    column: Optional[int]
    story: Optional[str]
    findings: List[StoryFinding] = field(default_factory=list)


@dataclass(frozen=True)
class StoryListing:
    """All ``stories`` of a library; iterates over them. ``problems`` are the files that are not stories."""

    stories: List[StorySummary]
    problems: List[StoryProblem]

    def __iter__(self) -> Iterator[StorySummary]:
        return iter(self.stories)

    def __len__(self) -> int:
        return len(self.stories)

    def __getitem__(self, index: int) -> StorySummary:
        return self.stories[index]


@dataclass(frozen=True)
class StoryRefresh:
    """The result of a refresh: numbers of files, and ``problems``, the files that are not stories.

    Files were ``added``, ``changed``, ``removed`` or ``unchanged``; ``read`` ones were opened and hashed,
    ``parsed`` ones also checked. ``moved`` are the reading positions that changed files broke.
    """

    added: int
    changed: int
    removed: int
    unchanged: int
    read: int
    parsed: int
    problems: List[StoryProblem]
    moved: List[StoryMove] = field(default_factory=list)


@dataclass(frozen=True)
class StoryMove:
    """A reading position that a new version of its ``story`` broke: ``from_`` a segment ``to`` another one.

    ``reason``: the segment was "removed", is "unreachable", or is a "trap" from which no ending is reachable.
    ``reader`` and ``slot`` are the names of the reader and of the slot, "" by default.
    """

    story: str
    from_: str
    to: str
    reason: str
    reader: str = ""
    slot: str = ""


@dataclass(frozen=True)
class StoryLoading:
    """The stories that a library loads in the background.

    ``all``: a preload of the whole library is under way; ``stories``: those preloaded by their ids that are
    not in memory yet.
    """

    all: bool
    stories: List[str]


@dataclass(frozen=True)
class StoryProgress:
    """A reader's progress in a ``story``; ``position`` is the id of a segment, None for a story not begun.

    ``reader`` and ``slot`` are the names of the reader and of one of the reader's slots, "" by default;
    ``language`` is that of the file that was read last; ``data`` are the app's own, such as the variables of
    a game, None without any. ``visited`` are the visited segments in the order of their first visits,
    ``endings`` those of them that are endings; ``read_at`` is the time of the last move, in Unix
    milliseconds. ``moved_from`` is the position that a new version of the story broke, until the next move,
    and ``moved_reason`` how: see :class:`StoryMove`.
    """

    story: str
    reader: str
    slot: str
    language: Optional[str]
    position: Optional[str]
    visited: List[str]
    endings: List[str]
    read_at: Optional[int]
    moved_from: Optional[str]
    moved_reason: Optional[str]
    data: Any
    _move: Callable[[Optional[str], Dict[str, Any]], StoryProgress] = field(repr=False, compare=False)

    def move_to(self, segment: str, *, data: Any = None, language: Optional[str] = None) -> StoryProgress:
        """Moves the reader to a segment, which counts as visited.

        :param segment: its id
        :param data: the app's own data of the position, as JSON; None keeps them
        :param language: of the file that is read; None for the language that was read last
        :returns: the progress after the move
        :raises NotFound: when the story has no such segment
        """
        options: Dict[str, Any] = {"language": self.language if language is None else language}
        return self._move(segment, options if data is None else {**options, "data": data})

    def save(self, data: Any) -> StoryProgress:
        """Stores the app's own data, without a move.

        :param data: as JSON; None removes them
        :returns: the progress with the data
        """
        return self._move(None, {"data": data})


@dataclass(frozen=True)
class BrokenPosition:
    """A reading position that a new version breaks: the id of its ``segment``.

    ``reason``: the segment was "removed", is "unreachable", or is a "trap" from which no ending is reachable.
    ``suggestion`` is a new segment with the same text or nearly the same id.
    """

    segment: str
    reason: str
    suggestion: Optional[str]


@dataclass(frozen=True)
class MovedStart:
    """The ids of the first segments where they differ: ``from_`` the old one, ``to`` the new one.

    None for a story without segments.
    """

    from_: Optional[str]
    to: Optional[str]


@dataclass(frozen=True)
class MovedChoice:
    """A ``choice`` of a ``segment`` with another target; ``from_`` and ``to`` are ids of segments."""

    segment: str
    choice: str
    from_: str
    to: str


@dataclass(frozen=True)
class ChoiceName:
    """A choice: the ids of its ``segment`` and of the ``choice``."""

    segment: str
    choice: str


@dataclass(frozen=True)
class StoryDiff:
    """The differences of two versions of a story; lists of segments contain ids.

    ``same``: readers see no difference. ``broken`` are the reading positions that the new version breaks.
    ``start`` is None when the first segment is the same; ``moved`` are choices with another target.
    ``added_segments``, ``removed_segments``, ``added_choices`` and ``removed_choices`` are in one version
    only. ``changed_texts`` are segments whose
    text, or whose choices' texts, differ; ``changed_fields`` fields of the story itself.
    """

    same: bool
    broken: List[BrokenPosition]
    start: Optional[MovedStart]
    moved: List[MovedChoice]
    added_segments: List[str]
    removed_segments: List[str]
    added_choices: List[ChoiceName]
    removed_choices: List[ChoiceName]
    changed_texts: List[str]
    changed_fields: List[str]


def findings_from(answers: List[Dict[str, Any]]) -> List[StoryFinding]:
    """Findings with their places in passages."""
    return Rows(
        [
            record_from(
                StoryFinding,
                each,
                passage=record_from(PassagePlace, each["passage"]) if each.get("passage") else None,
            )
            for each in answers
        ]
    )


def segment_from(answer: Dict[str, Any]) -> Segment:
    """A segment with its choices."""
    return record_from(Segment, answer, choices=records_from(Choice, answer["choices"]))


def summary_from(answer: Dict[str, Any]) -> StorySummary:
    """Makes a summary; its statistics are among its own fields in the JSON object."""
    return record_from(StorySummary, answer, statistics=record_from(StoryStatistics, answer))


def problems_from(answers: List[Dict[str, Any]]) -> List[StoryProblem]:
    """Problems with their findings."""
    return [record_from(StoryProblem, each, findings=findings_from(each["findings"])) for each in answers]


def refresh_from(answer: Dict[str, Any]) -> StoryRefresh:
    """Makes the result of a refresh; "from" is a keyword of Python, and becomes ``from_``."""
    return record_from(
        StoryRefresh,
        answer,
        problems=problems_from(answer["problems"]),
        moved=[record_from(StoryMove, each, from_=each["from"]) for each in answer["moved"]],
    )


def diff_from(answer: Dict[str, Any]) -> StoryDiff:
    """Makes a diff; "from" is a keyword of Python, and becomes ``from_``."""
    start = answer["start"]
    return record_from(
        StoryDiff,
        answer,
        broken=records_from(BrokenPosition, answer["broken"]),
        start=None if start is None else MovedStart(start["from"], start["to"]),
        moved=[record_from(MovedChoice, each, from_=each["from"]) for each in answer["moved"]],
        added_choices=records_from(ChoiceName, answer["added_choices"]),
        removed_choices=records_from(ChoiceName, answer["removed_choices"]),
    )
