"""One story: checking, reading, counting its paths, drawing and comparing it."""

from __future__ import annotations

import ctypes
import json as _json
import os
from dataclasses import field
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from satchel import _abi, _encoding
from satchel._encoding import FilePath
from satchel._handles import Handle
from satchel._library import answer, json_answer, library, some_text
from satchel.errors import InvalidArgument, IOFailure, NotFound, UnsoundStory
from satchel.stories._values import (
    Segment,
    StoryDiff,
    StoryFinding,
    StoryStatistics,
    diff_from,
    findings_from,
    segment_from,
)
from satchel.values import dataclass, record_from

__all__ = ["UNBOUNDED", "Story", "StoryReport", "check", "diff", "from_twee", "load", "story_from"]

#: The path count of a story with a cycle on a path to an ending.
UNBOUNDED = -1

#: A story's file, its text, or the story itself.
Source = Union[FilePath, bytes, bytearray, memoryview, Dict[str, Any]]

_LARGEST = 2**63 - 1
_NAMELESS = "story.json"


class Opened:
    """A story that the library has parsed; freed with this object."""

    __slots__ = ("_handle", "_text")

    def __init__(self, text: bytes, name: str = "text", directory: Optional[bytes] = None) -> None:
        self._text = text
        if directory is not None:
            self._handle = Handle.made_by("story", library.satchel_story_open_path, directory)
            self._text = answer(library.satchel_story_text, self.pointer) or b""
            return
        try:
            self._handle = Handle.made_by("story", library.satchel_story_open, _encoding.lend(text), 0)
        except InvalidArgument as error:
            if name == "text":
                raise
            raise InvalidArgument(f"{name}: {error}") from error

    @property
    def text(self) -> bytes:
        """The text; of a story in several files, the joined text."""
        return self._text

    @property
    def pointer(self) -> int:
        """The number to pass to the library, as long as this object is referenced."""
        return self._handle.pointer

    def __reduce__(self) -> Tuple[Callable[..., Opened], Tuple[bytes]]:
        return Opened, (self._text,)

    def __del__(self) -> None:
        # An object whose text is not a story has no handle.
        pointer = self._handle.release() if hasattr(self, "_handle") else None
        if pointer is not None:
            library.satchel_story_free(pointer)


@dataclass(frozen=True)
class StoryReport:
    """The result of a check, with facts about the story in ``statistics``.

    ``ok``: there are no errors; warnings are allowed. ``findings`` are in the order of the text; ``errors``
    and ``warnings`` count them. Findings beyond a million are only counted, in ``omitted``.
    """

    ok: bool
    findings: List[StoryFinding]
    errors: int
    warnings: int
    omitted: int
    statistics: StoryStatistics
    _name: str = field(repr=False, compare=False)
    _language: str = field(repr=False, compare=False)
    _folder: str = field(repr=False, compare=False)
    _text: Union[bytes, Opened] = field(repr=False, compare=False)
    _json: str = field(repr=False, compare=False)

    def json(self) -> str:
        """The report as a JSON text, with the fields of this class."""
        return self._json

    def sarif(self, name: Optional[str] = None) -> str:
        """The report in SARIF 2.1.0, which code hosts and editors read.

        :param name: the file's name, relative to the root that the reader of the SARIF log knows; None
            for the checked path
        """
        return self._written("sarif", name)

    def text(self, name: Optional[str] = None) -> str:
        """One line per finding, "name:line:column: severity: message [code]"; "" without findings.

        :param name: the file's name; None for the checked path
        """
        return self._written("text", name)

    def _written(self, format: str, name: Optional[str]) -> str:
        known = self._name if name is None else name
        return _checked(self._text, known, self._language, self._folder, format)


@dataclass(frozen=True)
class Story:
    """A parsed story, with or without errors; fields that it lacks are None.

    ``id``, ``language``, ``title``, ``author``, ``original_source``, ``cultural_origin``, ``synopsis``,
    ``cover_image_name``, ``estimated_reading_minutes``, ``age_range``, ``tags`` and ``is_purchased`` are as
    written; ``extra`` has the other members of the file but its segments, which are the app's; ``statistics``
    are facts about its segments. ``text`` is its source, which is parsed once; the methods do not read the
    file.
    """

    id: Optional[str]
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
    is_purchased: Optional[bool]
    extra: Dict[str, Any]
    statistics: StoryStatistics
    text: bytes = field(repr=False)
    _opened: Opened = field(repr=False, compare=False)
    _folder: str = field(default="", repr=False, compare=False)

    @property
    def path_count(self) -> int:
        """The number of paths from the start to an ending; :data:`UNBOUNDED` (-1) with a cycle.

        Exact for any size. The time grows with its digits; str() of more than 4,300 digits raises, see
        :func:`sys.set_int_max_str_digits`.
        """
        count = self.statistics.path_count
        return count if count < _LARGEST else _exact_path_count(self._opened)

    @property
    def start(self) -> Segment:
        """The first segment.

        :raises NotFound: when the story has no segments
        """
        return segment_from(
            json_answer(library.satchel_story_segment, self._opened.pointer, _encoding.NOTHING)
        )

    def segment(self, id: str) -> Segment:
        """A segment by its id; the first of several with the same id.

        :param id: of the segment
        :raises NotFound: when the segment does not exist
        """
        lent = _encoding.lend_text(id, "id")
        # Empty means the first segment in C.
        if lent.size == 0:
            raise NotFound('segment "" does not exist')
        return segment_from(json_answer(library.satchel_story_segment, self._opened.pointer, lent))

    def check(self) -> StoryReport:
        """Checks it; see :func:`satchel.stories.check`."""
        name = _NAMELESS if self.id is None else f"{self.id}.json"
        return _report(self._opened, name, "automatic", self._folder)

    def graph(self, format: str = "dot") -> str:
        """A graph, with start, endings, authentic path and findings marked.

        :param format: "dot", the language of Graphviz, or "mermaid"
        :raises InvalidArgument: for another format
        """
        number = _encoding.choice(_abi.GRAPH_FORMAT, format, "format")
        return some_text(library.satchel_story_graph, self._opened.pointer, number)


def check(
    source: Source,
    *,
    name: Optional[str] = None,
    language: str = "automatic",
    folder: Optional[FilePath] = None,
) -> StoryReport:
    """Checks a story. A story with errors gets a report too.

    :param source: a path, a string, or a dict; the path of a directory of Twee files with one StoryData,
        in it or below it, is one story, whose findings name the file in ``file``
    :param name: the file's name in SARIF and text reports; None for the path
    :param language: "json", "twee", or "automatic": Twee when the text has a line that begins with the
        "::" of a passage and does not begin with a brace or bracket, otherwise JSON
    :param folder: where the pictures and sounds are that the story names by paths; None for the folder of
        the path, and for no check of them in a string or a dict
    """
    text, path = _read_or_join(source, "source")
    where = _folder(text, path) if folder is None else _encoding.file_path(folder, "folder")[0]
    return _report(text, path or _NAMELESS if name is None else name, language, where)


def _folder(text: Union[bytes, Opened], path: Optional[str]) -> str:
    """The folder of a story's file; "" for a string, and for a directory, which the library knows."""
    return "" if path is None or isinstance(text, Opened) else os.path.dirname(path) or "."


def _report(text: Union[bytes, Opened], known: str, language: str, folder: str = "") -> StoryReport:
    written = _checked(text, known, language, folder, "json")
    report = _json.loads(written)
    return record_from(
        StoryReport,
        report,
        findings=findings_from(report["findings"]),
        statistics=record_from(StoryStatistics, report["statistics"]),
        _name=known,
        _language=language,
        _folder=folder,
        _text=text,
        _json=written,
    )


def load(source: Source, *, checked: bool = False) -> Story:
    """Reads a story.

    :param source: a path, a string, or a dict; the path may be that of a directory, see :func:`check`
    :param checked: raises for a story that has errors
    :raises UnsoundStory: with ``checked``, when it has errors; ``.report`` has all findings
    """
    text, path = _read_or_join(source, "source")
    return story_from(text, path or _NAMELESS, checked, _folder(text, path))


def diff(old: Union[Story, Source], new: Union[Story, Source]) -> StoryDiff:
    """Compares two versions of a story, and finds the reading positions that the new one breaks.

    :param old: the version that readers have: a path, a string, a dict or a Story
    :param new: the new version, likewise
    """
    versions = [
        version._opened if isinstance(version, Story) else _opened(_read_or_join(version, which)[0], which)
        for which, version in (("old", old), ("new", new))
    ]
    return diff_from(json_answer(library.satchel_story_diff, *(each.pointer for each in versions)))


def from_twee(source: Source, id: Optional[str] = None) -> Dict[str, Any]:
    """Turns Twee 3, the interchange format of Twine, into a story.

    :param source: a path, also of a directory as in :func:`check`, or a string
    :param id: of the new story; None derives it from the title
    :returns: the story as a dict, ready to be written as JSON
    """
    text, _ = _read_or_join(source, "source")
    if isinstance(text, Opened):
        text = text.text
    name = _encoding.NOTHING if id is None else _encoding.lend_text(id, "id")
    if id is not None and name.size == 0:
        raise InvalidArgument("id is empty")
    story: Dict[str, Any] = json_answer(library.satchel_story_from_twee, _encoding.lend(text), name)
    return story


def story_from(text: Union[bytes, Opened], name: str, checked: bool, folder: str = "") -> Story:
    """Parses a story; use :func:`load`."""
    opened = _opened(text)
    described = json_answer(library.satchel_story_describe, opened.pointer)
    if checked:
        report = _report(opened, name, "automatic", folder)
        if not report.ok:
            raise UnsoundStory(f"{name} has errors:\n{report.text()}", report)
    statistics = record_from(StoryStatistics, described["statistics"])
    return record_from(
        Story, described, text=opened.text, statistics=statistics, _opened=opened, _folder=folder
    )


def _checked(text: Union[bytes, Opened], name: str, language: str, folder: str, format: str) -> str:
    options = _abi.StoryCheckOptions(
        source=_encoding.choice(_abi.STORY_SOURCE, language, "language"),
        format=_encoding.choice(_abi.REPORT_FORMAT, format, "format"),
        name=_encoding.lend_text(name, "name"),
        folder=_encoding.lend_text(folder, "folder"),
    )
    if isinstance(text, Opened):
        return some_text(library.satchel_story_report, text.pointer, ctypes.byref(options))
    return some_text(library.satchel_story_check, _encoding.lend(text), ctypes.byref(options))


def _opened(text: Union[bytes, Opened], name: str = "text") -> Opened:
    return text if isinstance(text, Opened) else Opened(text, name)


def _read_or_join(source: Any, name: str) -> Tuple[Union[bytes, Opened], Optional[str]]:
    """As :func:`_read`, and the story of a directory of Twee files."""
    if isinstance(source, (str, os.PathLike)):
        path, encoded = _encoding.file_path(source, name)
        if os.path.isdir(path):
            return Opened(b"", directory=encoded), path
    return _read(source, name)


def _exact_path_count(opened: Opened) -> int:
    digits = some_text(library.satchel_story_path_count, opened.pointer, None)
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
