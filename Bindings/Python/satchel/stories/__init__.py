"""Branching stories: checking, counting paths, drawing and comparing.

A story is given as a path (str or os.PathLike) to its file, as the file's text (bytes, bytearray or
memoryview), or as a dict. It is JSON as the guide "Stories" describes it, or Twee 3.

>>> report = satchel.stories.check("frau-holle.json")
>>> for finding in report.findings:
...     print(finding.line, finding.code, finding.message)
>>> satchel.stories.load("frau-holle.json").path_count == satchel.stories.UNBOUNDED
True

All functions are safe on any thread, and release the GIL. They raise :class:`satchel.NotFound` for a file
that does not exist, :class:`satchel.IOFailure` for one that cannot be read, and
:class:`satchel.InvalidArgument`, with line and column, for a text that is not a story. A library of a whole
directory is :class:`StoryLibrary`, from ``store.stories(directory)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Union

from satchel import _encoding
from satchel._abi import Bytes
from satchel._encoding import FilePath
from satchel._handles import OfDirectory
from satchel._library import answer, json_answer, library
from satchel._library import check as _check
from satchel.errors import InvalidArgument, NotFound
from satchel.stories._story import UNBOUNDED, Story, StoryReport, check, diff, from_twee, load, story_from
from satchel.stories._values import (
    BrokenPosition,
    Choice,
    ChoiceName,
    MovedChoice,
    MovedStart,
    PassagePlace,
    Segment,
    StoryDiff,
    StoryFinding,
    StoryListing,
    StoryLoading,
    StoryMove,
    StoryProblem,
    StoryProgress,
    StoryRefresh,
    StoryStatistics,
    StorySummary,
    problems_from,
    refresh_from,
    segment_from,
    summary_from,
)
from satchel.values import record_from

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = [
    "UNBOUNDED",
    "BrokenPosition",
    "Choice",
    "ChoiceName",
    "MovedChoice",
    "MovedStart",
    "PassagePlace",
    "Segment",
    "Story",
    "StoryDiff",
    "StoryFinding",
    "StoryLibrary",
    "StoryListing",
    "StoryLoading",
    "StoryMove",
    "StoryProblem",
    "StoryProgress",
    "StoryRefresh",
    "StoryReport",
    "StoryStatistics",
    "StorySummary",
    "check",
    "diff",
    "from_twee",
    "load",
]

# The name of the summary's field is accepted, too.
_SORT_KEYS = {"estimated_reading_minutes": "reading_time"}


class StoryLibrary(OfDirectory):
    r"""The stories of one directory; made by ``store.stories(directory)``.

    Every ``*.json``, ``*.twee`` and ``*.tw`` file of the directory, and of the folders below it, is a story;
    hidden ones and ``node_modules`` are left out. The files of one story in several languages have the same
    id and a ``language`` each. An index in the store makes reopening cheap: only changed files are read. Ids
    are names, never paths: an id with "/", "\", a control character, a leading "." or more than 200 bytes
    raises :class:`satchel.InvalidArgument`; links that lead out of the directory are not followed.

    Closed by :meth:`close`, at the end of a ``with`` block, or with the store. The methods may be called on
    any thread, also concurrently; they raise :class:`satchel.Closed` after closing. Observers of the store
    are notified of changes under the subject "stories", with the ids of the stories.

    The reader's progress and purchases are synchronized state of the store, by the name of the library and
    the id of the story: they travel with ``store.sync``, and ``store.sign_out`` removes them.
    """

    __slots__ = ()

    def __init__(self, store: Store, directory: FilePath, name: Optional[str] = None) -> None:
        lent = _encoding.NOTHING if name is None else _encoding.lend_text(name, "name")
        if name is not None and lent.size == 0:
            raise InvalidArgument("name is empty")
        super().__init__(
            "library", store, directory, library.satchel_stories_open, library.satchel_stories_free, lent
        )

    def load_all(self, checked: bool = False) -> StoryListing:
        """Refreshes, and lists all stories by the names of their files.

        :param checked: leaves out stories that have errors, and lists them in ``problems``
        :returns: the stories to iterate over, and in ``problems`` the files that are not stories: one
            bad file never hides the others
        """
        listing = json_answer(library.satchel_stories_load_all, self._pointer, bool(checked))
        stories = [summary_from(each) for each in listing["stories"]]
        return StoryListing(stories, problems_from(listing["problems"]))

    def story(self, id: str, checked: bool = False, *, language: Optional[str] = None) -> Story:
        """A story, from the cache or from the file.

        :param id: of the story
        :param language: of the file; None for the first file, by name, that has the story
        :param checked: raises for a story that has errors
        :raises NotFound: when the library has no story with this id
        :raises InvalidArgument: for an invalid id, or a text that cannot be parsed, with line and column
        :raises UnsoundStory: with ``checked``, when it has errors; ``.report`` has all findings
        """
        lent, spoken = _encoding.lend_text(id, "id"), _language(language)
        text = answer(library.satchel_stories_story, self._pointer, lent, spoken, False) or b""
        return story_from(text, f"{id}.json", checked)

    def segment(self, story: str, id: Optional[str] = None, *, language: Optional[str] = None) -> Segment:
        """A segment of a story, which is parsed at most once.

        :param story: the story's id
        :param id: the segment's; None for the first one
        :param language: as of :meth:`story`
        :raises NotFound: when the story or the segment does not exist
        """
        lent = _encoding.lend_text(story, "story")
        segment = _encoding.NOTHING if id is None else _encoding.lend_text(id, "id")
        if id is not None and segment.size == 0:
            raise NotFound('segment "" does not exist')
        spoken = _language(language)
        found = json_answer(library.satchel_stories_segment, self._pointer, lent, spoken, segment)
        return segment_from(found)

    def select(
        self,
        *,
        search: Optional[str] = None,
        tag: Optional[Union[str, Iterable[str]]] = None,
        age_range: Optional[str] = None,
        age: Optional[int] = None,
        culture: Optional[str] = None,
        language: Optional[str] = None,
        purchased: Optional[bool] = None,
        sort: Optional[str] = None,
        descending: bool = False,
        limit: Optional[int] = None,
        offset: int = 0,
    ) -> List[StorySummary]:
        """The stories that match all given conditions; reads only the index.

        :param search: each word (at most 64) must be the prefix of a word of title or synopsis; case and
            diacritics are ignored; Chinese, Japanese, Thai and other texts without spaces are found anywhere
            in a run of characters
        :param tag: a tag, or several that a story must all have
        :param age_range: as written in the story, such as "5-8"
        :param age: in years, that the story's age range includes
        :param culture: the story's cultural origin
        :param language: the story's language, as written; None for the files in all languages
        :param purchased: whether the story was purchased
        :param sort: "title", "reading_time" or "path_count" (unbounded is the most); None for the best
            match first when searching, else by title
        :param descending: reverses the order
        :param limit: the maximum number of stories
        :param offset: the number of stories to skip
        :raises InvalidArgument: for a value of another type; the message names it
        """
        query: Dict[str, Any] = {
            "search": search,
            "tags": [tag] if isinstance(tag, str) else None if tag is None else list(tag),
            "age_range": age_range,
            "age": age,
            "culture": culture,
            "language": language,
            "purchased": purchased,
            "sort": _SORT_KEYS.get(sort, sort) if isinstance(sort, str) else sort,
            "descending": bool(descending),
            "limit": limit,
            "offset": offset,
        }
        lent = _encoding.lend_given(query, "query")
        found = json_answer(library.satchel_stories_select, self._pointer, lent)
        return [summary_from(each) for each in found]

    def search(self, text: str) -> List[StorySummary]:
        """The stories whose title or synopsis has a word for each prefix in a text, best match first.

        :param text: prefixes of words; case and diacritics are ignored
        """
        _encoding.lend_text(text, "text")
        return self.select(search=text)

    def filter(
        self,
        *,
        tag: Optional[Union[str, Iterable[str]]] = None,
        age_range: Optional[str] = None,
        age: Optional[int] = None,
        culture: Optional[str] = None,
        language: Optional[str] = None,
        purchased: Optional[bool] = None,
    ) -> List[StorySummary]:
        """The stories that match all given conditions, by title.

        The conditions ``tag``, ``age_range``, ``age``, ``culture``, ``language`` and ``purchased`` are those
        of :meth:`select`.
        """
        return self.select(
            tag=tag, age_range=age_range, age=age, culture=culture, language=language, purchased=purchased
        )

    def sorted_by(self, key: str, descending: bool = False) -> List[StorySummary]:
        """All stories in order.

        :param key: "title", "reading_time" or "path_count" (unbounded is the most)
        :param descending: reverses the order
        """
        _encoding.lend_text(key, "key")
        return self.select(sort=key, descending=descending)

    def tags(self) -> List[str]:
        """All tags of all stories, sorted."""
        return self._facets("tags")

    def cultures(self) -> List[str]:
        """All cultural origins, sorted."""
        return self._facets("cultures")

    def languages(self) -> List[str]:
        """All languages that stories name, sorted."""
        return self._facets("languages")

    def age_ranges(self) -> List[str]:
        """All age ranges, the youngest first."""
        return self._facets("age_ranges")

    def mark_purchased(self, id: str, purchased: bool = True) -> None:
        """Stores that the reader bought a story, or returned it; the file is not changed.

        It is saved before this returns, except in a batch, of which it is not a part: then it is saved like
        other state. Of several devices, the latest call counts.

        :param id: of the story
        :param purchased: False for a story that was returned
        :raises InvalidArgument: for an invalid id
        """
        lent = _encoding.lend_text(id, "id")
        _check(library.satchel_stories_mark_purchased(self._pointer, lent, bool(purchased)))

    def refresh(self) -> StoryRefresh:
        """Updates the index for files that were added, changed or removed.

        A reading position that a changed file breaks is moved to the nearest segment, see ``moved``; the
        state has it as it was until the reader moves on, because other devices may have another version.
        """
        return refresh_from(json_answer(library.satchel_stories_refresh, self._pointer))

    def progress(self, id: str, *, reader: str = "", slot: str = "") -> StoryProgress:
        """A reader's progress in a story; the state keeps it by the library's name and the story's id.

        Each reader, and each slot of a reader, has a progress of its own. A position that the file's version
        breaks is given as moved to the nearest segment. ``move_to`` and ``save`` are saved like other state:
        after a short delay, by ``store.flush()``, and when the store is closed; they are not a part of a
        batch. Where two devices read at the same time, the latest position counts, with its data, and the
        visited segments of both.

        :param id: of the story
        :param reader: the name of the reader, at most 64 bytes
        :param slot: the name of one of the reader's slots, at most 64 bytes
        :raises InvalidArgument: for an invalid id, reader or slot
        """
        lent = _encoding.lend_text(id, "id")
        options = {"reader": reader, "slot": slot}
        given = _encoding.lend_given(options, "options")
        return self._progress(json_answer(library.satchel_stories_progress, self._pointer, lent, given))

    def begun(self, reader: Optional[str] = None) -> List[StoryProgress]:
        """Returns the progress that can be continued, last read first: positions that are not endings.

        :param reader: the name of a reader; None for all
        """
        given = _encoding.lend_given({"reader": reader}, "options")
        found = json_answer(library.satchel_stories_begun, self._pointer, given)
        return [self._progress(each) for each in found]

    def clear_progress(self, id: str, *, reader: str = "", slot: str = "") -> None:
        """Forgets the position, the visited segments, the endings and the data of a story.

        :param id: of the story
        :param reader: as of :meth:`progress`
        :param slot: as of :meth:`progress`
        """
        lent = _encoding.lend_text(id, "id")
        given = _encoding.lend_given({"reader": reader, "slot": slot}, "options")
        _check(library.satchel_stories_clear_progress(self._pointer, lent, given))

    def _progress(self, answer: Dict[str, Any]) -> StoryProgress:
        def move(segment: Optional[str], options: Dict[str, Any]) -> StoryProgress:
            lent = _encoding.NOTHING if segment is None else _encoding.lend_text(segment, "segment")
            if segment is not None and lent.size == 0:
                raise NotFound('segment "" does not exist')
            story = _encoding.lend_text(answer["story"], "story")
            slot = {"reader": answer["reader"], "slot": answer["slot"]}
            given = _encoding.lend_value({**slot, **options}, "options")
            return self._progress(
                json_answer(library.satchel_stories_move_to, self._pointer, story, lent, given)
            )

        return record_from(StoryProgress, answer, _move=move)

    def preload(self, id: Optional[str] = None) -> None:
        """Reads a story, or all of them, into memory on a thread of the library, and returns at once.

        :param id: of a story; None refreshes, and reads all
        :raises InvalidArgument: for an invalid id
        """
        lent = _encoding.NOTHING if id is None else _encoding.lend_text(id, "id")
        if id is not None and lent.size == 0:
            raise InvalidArgument("id is empty")
        _check(library.satchel_stories_preload(self._pointer, lent))

    def loading(self) -> StoryLoading:
        """The stories that are being loaded in the background."""
        return record_from(StoryLoading, json_answer(library.satchel_stories_loading, self._pointer))

    def clear_cache(self) -> None:
        """Empties the cache of parsed stories; the index is kept."""
        _check(library.satchel_stories_clear_cache(self._pointer))

    def _facets(self, name: str) -> List[str]:
        facets = json_answer(library.satchel_stories_facets, self._pointer)
        found: List[str] = facets[name]
        return found


def _language(given: Optional[str]) -> Bytes:
    return _encoding.NOTHING if given is None else _encoding.lend_text(given, "language")
