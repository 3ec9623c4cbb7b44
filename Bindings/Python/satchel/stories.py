"""Stories that branch: checked, counted, drawn and compared.

A story is given as a path (str or os.PathLike) to its file, as the file's text (bytes, bytearray or
memoryview), or as a dict. It is JSON as the guide "Stories" describes it, or Twee 3.

>>> report = satchel.stories.check("frau-holle.json")
>>> for finding in report.findings:
...     print(finding.line, finding.code, finding.message)
>>> satchel.stories.load("frau-holle.json").path_count == satchel.stories.UNBOUNDED
True

All functions are safe on any thread, and let other threads run. They raise :class:`satchel.NotFound` for
a file that is not there, :class:`satchel.IOFailure` for one that cannot be read, and
:class:`satchel.InvalidArgument`, with line and column, for a text that is no story. A library of a whole
directory is :class:`satchel.StoryLibrary`, from ``store.stories(directory)``.
"""

from __future__ import annotations

import ctypes
import json as _json
import os
from dataclasses import field
from typing import Any, Dict, List, Optional, Tuple, Union

from satchel import _abi, _encoding
from satchel._dataclasses import dataclass
from satchel._handle import answer, json_answer
from satchel._library import library
from satchel._story_values import (
    BrokenPosition,
    Choice,
    ChoiceName,
    MovedChoice,
    MovedStart,
    Segment,
    StoryDiff,
    StoryFinding,
    StoryListing,
    StoryProblem,
    StoryRefresh,
    StoryStatistics,
    StorySummary,
    diff_from,
    findings_from,
    segment_from,
)
from satchel.errors import InternalError, InvalidArgument, IOFailure, NotFound, UnsoundStory
from satchel.values import record_from

__all__ = [
    "UNBOUNDED",
    "BrokenPosition",
    "Choice",
    "ChoiceName",
    "MovedChoice",
    "MovedStart",
    "Segment",
    "Story",
    "StoryDiff",
    "StoryFinding",
    "StoryListing",
    "StoryProblem",
    "StoryRefresh",
    "StoryReport",
    "StoryStatistics",
    "StorySummary",
    "check",
    "diff",
    "from_twee",
    "load",
]

#: The path count of a story in which a cycle can be walked on the way to an ending.
UNBOUNDED = -1

#: A story's file, its text, or the story itself.
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Dict[str, Any]]

_LARGEST = 2**63 - 1
_NAMELESS = "story.json"


@dataclass(frozen=True)
class StoryReport:
    """What a check found, in the order of the text.

    ``ok``: there are no errors; warnings are allowed. ``errors`` and ``warnings`` count findings; of more
    than a million the rest, ``omitted``, is only counted.
    """

    ok: bool
    findings: List[StoryFinding]
    errors: int
    warnings: int
    omitted: int
    statistics: StoryStatistics
    _name: str = field(repr=False, compare=False)
    _language: str = field(repr=False, compare=False)
    _text: bytes = field(repr=False, compare=False)
    _json: str = field(repr=False, compare=False)

    def json(self) -> str:
        """The report as a JSON text, with the fields of this class."""
        return self._json

    def sarif(self, name: Optional[str] = None) -> str:
        """The report in SARIF 2.1.0, which code hosts and editors read.

        :param name: the file's name, relative to the root that the reader of the log knows; None for the
            path that was checked
        """
        return self._written("sarif", name)

    def text(self, name: Optional[str] = None) -> str:
        """A line a finding, "name:line:column: severity: message [code]"; "" when there is none.

        :param name: the file's name; None for the path that was checked
        """
        return self._written("text", name)

    def _written(self, form: str, name: Optional[str]) -> str:
        return _checked(self._text, self._name if name is None else name, self._language, form)


@dataclass(frozen=True)
class Story:
    """A story that was read, sound or not; what it does not say is None.

    ``text`` is the text that it was read from; its methods read that again, whatever became of the file.
    """

    id: Optional[str]
    title: Optional[str]
    author: Optional[str]
    original_source: Optional[str]
    cultural_origin: Optional[str]
    synopsis: Optional[str]
    cover_image_name: Optional[str]
    estimated_reading_minutes: Optional[int]
    age_range: Optional[str]
    tags: List[str]
    is_purchased: Optional[bool]
    statistics: StoryStatistics
    text: bytes = field(repr=False)

    @property
    def path_count(self) -> int:
        """How many different ways lead from start to an ending; :data:`UNBOUNDED` (-1) for a cycle.

        Exact, whatever its size. The time grows with its digits; a number of more than 4,300 digits has
        to be written by other means than str(), see :func:`sys.set_int_max_str_digits`.
        """
        count = self.statistics.path_count
        return count if count < _LARGEST else _exact_path_count(self.text)

    @property
    def start(self) -> Segment:
        """The first segment.

        :raises NotFound: when the story has no segments
        """
        return segment_from(
            json_answer(library.satchel_story_segment, _encoding.lend(self.text), _encoding.NOTHING)
        )

    def segment(self, id: str) -> Segment:
        """A segment by its id; of several with one id the first.

        Reads the whole text: in a library, ``library.segment(story, id)`` reads it only once.

        :raises NotFound: when there is none
        """
        lent = _encoding.lend_text(id, "id")
        # Empty means the first segment in C.
        if lent.size == 0:
            raise NotFound('there is no segment ""')
        return segment_from(json_answer(library.satchel_story_segment, _encoding.lend(self.text), lent))

    def check(self) -> StoryReport:
        """All that is wrong with it."""
        return check(self.text, name=None if self.id is None else f"{self.id}.json")

    def graph(self, form: str = "dot") -> str:
        """A picture, with start, endings, authentic path and findings marked.

        :param form: "dot", the language of Graphviz, or "mermaid"
        :raises InvalidArgument: for another form
        """
        number = _encoding.choice(_abi.GRAPH_FORM, form, "form")
        return _text(answer(library.satchel_story_graph, _encoding.lend(self.text), number))


def check(source: Source, *, name: Optional[str] = None, language: str = "automatic") -> StoryReport:
    """Finds all that is wrong with a story. A story that is not sound has a report too.

    :param source: a path, a text, or a dict
    :param name: the file's name in SARIF and text reports; None for the path
    :param language: "json", "twee", or "automatic": Twee when the first mark of the text is the "::" of a
        passage, else JSON
    """
    text, path = _read(source, "source")
    known = path or _NAMELESS if name is None else name
    written = _checked(text, known, language, "json")
    report = _json.loads(written)
    return record_from(
        StoryReport,
        report,
        findings=findings_from(report["findings"]),
        statistics=record_from(StoryStatistics, report["statistics"]),
        _name=known,
        _language=language,
        _text=text,
        _json=written,
    )


def load(source: Source, *, checked: bool = False) -> Story:
    """Reads a story.

    :param source: a path, a text, or a dict
    :param checked: refuses a story that has errors
    :raises UnsoundStory: when it was to be checked and has errors; ``.report`` has all findings
    """
    text, path = _read(source, "source")
    return story_from(text, path or _NAMELESS, checked)


def diff(old: Union[Story, Source], new: Union[Story, Source]) -> StoryDiff:
    """Compares two versions of a story, for the sake of those who are reading it.

    :param old: a path, a text, a dict or a Story; what readers have
    :param new: what they are to get
    """
    texts = [
        _encoding.lend(version.text if isinstance(version, Story) else _read(version, which)[0])
        for which, version in (("old", old), ("new", new))
    ]
    return diff_from(json_answer(library.satchel_story_diff, *texts))


def from_twee(source: Source, id: Optional[str] = None) -> Dict[str, Any]:
    """Turns Twee 3, the interchange format of Twine, into a story.

    :param source: a path or a text
    :param id: of the new story; None to make one from its title
    :returns: the story as the dict that its file would hold
    """
    text, _ = _read(source, "source")
    name = _encoding.NOTHING if id is None else _encoding.lend_text(id, "id")
    if id is not None and name.size == 0:
        raise InvalidArgument("id is empty")
    story: Dict[str, Any] = json_answer(library.satchel_story_from_twee, _encoding.lend(text), name)
    return story


def story_from(text: bytes, name: str, checked: bool) -> Story:
    """A story from its text; as :func:`load`, which is the way to make one."""
    said = json_answer(library.satchel_story_describe, _encoding.lend(text))
    if checked:
        report = check(text, name=name)
        if not report.ok:
            raise UnsoundStory(f"{name} is not sound:\n{report.text()}", report)
    return record_from(Story, said, text=text, statistics=record_from(StoryStatistics, said["statistics"]))


def _checked(text: bytes, name: str, language: str, form: str) -> str:
    options = _abi.StoryCheckOptions(size=ctypes.sizeof(_abi.StoryCheckOptions))
    options.source = _encoding.choice(_abi.STORY_SOURCE, language, "language")
    options.form = _encoding.choice(_abi.REPORT_FORM, form, "form")
    options.name = _encoding.lend_text(name, "name")
    return _text(answer(library.satchel_story_check, _encoding.lend(text), ctypes.byref(options)))


def _text(data: Optional[bytes]) -> str:
    if data is None:
        raise InternalError("the library said nothing")
    return data.decode("utf-8")


def _exact_path_count(text: bytes) -> int:
    digits = _text(answer(library.satchel_story_path_count, _encoding.lend(text), None))
    if digits == "unbounded":
        return UNBOUNDED
    # int() refuses more than 4,300 digits, and takes a time that grows with their square: join halves.
    width = 600
    parts = [int(digits[max(0, end - width) : end]) for end in range(len(digits), 0, -width)]
    power: int = 10**width
    while len(parts) > 1:
        parts = [low + power * sum(parts[at + 1 : at + 2]) for at, low in enumerate(parts) if at % 2 == 0]
        power *= power
    return parts[0]


def _read(source: Any, name: str) -> Tuple[bytes, Optional[str]]:
    """A story's text, and the path of its file if there is one."""
    if isinstance(source, bytes):
        return source, None
    if isinstance(source, (bytearray, memoryview)):
        return bytes(source), None
    if isinstance(source, dict):
        return _encoding.encoded(source, name), None
    path, _ = _encoding.file_path(source, name)
    try:
        with open(path, "rb") as file:
            return file.read(), path
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"{path}: {error.strerror}") from error
    except OSError as error:
        raise IOFailure(f"{path}: {error.strerror}") from error
