"""A library: the stories of one directory, over a store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Union

from satchel import _encoding
from satchel._handle import OfDirectory, answer, check, json_answer
from satchel._library import library
from satchel._story_values import (
    Segment,
    StoryListing,
    StoryRefresh,
    StorySummary,
    problems_from,
    segment_from,
    summary_from,
)
from satchel.errors import InternalError, NotFound
from satchel.stories import Story, story_from
from satchel.values import record_from

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = ["StoryLibrary"]

# What a summary calls it is fine to sort by, too.
_SORT_KEYS = {"estimated_reading_minutes": "reading_time"}


class StoryLibrary(OfDirectory):
    r"""The stories of one directory; made by ``store.stories(directory)``.

    Every ``*.json``, ``*.twee`` and ``*.tw`` file directly in the directory is a story. An index in the store
    makes opening again cheap: only files that changed are read. Ids are names, never paths: one with "/",
    "\", a control character, a leading "." or more than 200 bytes is :class:`satchel.InvalidArgument`, and
    links that lead out of the directory are not followed.

    Ends with :meth:`close`, at the end of a ``with`` block, or with the store. The methods may be called on
    any thread, also at once; they raise :class:`satchel.Closed` after the end. Observers of the store hear
    of changes under the subject "stories", with the ids of the stories.
    """

    __slots__ = ()

    def __init__(self, store: Store, directory: Union[str, os.PathLike[str]]) -> None:
        super().__init__(
            "library", store, directory, library.satchel_stories_open, library.satchel_stories_free
        )

    def load_all(self, checked: bool = False) -> StoryListing:
        """Refreshes, and lists all stories by the names of their files.

        :param checked: leaves out stories that have errors, and names those among the problems
        :returns: the stories to iterate over, and in ``problems`` the files that could not be taken: one
            bad file never hides the others
        """
        listing = json_answer(library.satchel_stories_load_all, self._pointer, bool(checked))
        stories = [summary_from(each) for each in listing["stories"]]
        return StoryListing(stories, problems_from(listing["problems"]))

    def story(self, id: str, checked: bool = False) -> Story:
        """A story, from memory or else from disk.

        :param checked: refuses a story that has errors
        :raises NotFound: when there is none with this id
        :raises InvalidArgument: for an id that is no name, or a text that cannot be read, with line and
            column
        :raises UnsoundStory: when it was to be checked and has errors; ``.report`` has all findings
        """
        lent = _encoding.lend_text(id, "id")
        text = answer(library.satchel_stories_story, self._pointer, lent, False)
        if text is None:
            raise InternalError("the library gave no text")
        return story_from(text, f"{id}.json", checked)

    def segment(self, story: str, id: Optional[str] = None) -> Segment:
        """A segment of a story, which is read at most once.

        :param story: the story's id
        :param id: the segment's; None for the first one
        :raises NotFound: when there is no such story, or no such segment in it
        """
        lent = _encoding.lend_text(story, "story")
        segment = _encoding.NOTHING if id is None else _encoding.lend_text(id, "id")
        if id is not None and segment.size == 0:
            raise NotFound('there is no segment ""')
        found = json_answer(library.satchel_stories_segment, self._pointer, lent, segment)
        return segment_from(found)

    def select(
        self,
        *,
        search: Optional[str] = None,
        tag: Optional[Union[str, Iterable[str]]] = None,
        age_range: Optional[str] = None,
        age: Optional[int] = None,
        culture: Optional[str] = None,
        purchased: Optional[bool] = None,
        sort: Optional[str] = None,
        descending: bool = False,
        limit: Optional[int] = None,
        offset: int = 0,
    ) -> List[StorySummary]:
        """The stories that fit everything that is given; reads the index, and no file.

        :param search: each word has to begin a word of title or synopsis; case and diacritics do not count
        :param tag: a tag, or several that a story must all have
        :param age_range: as the story has it, such as "5-8"
        :param age: in years, that the story's age range includes
        :param culture: the story's cultural origin
        :param purchased: whether its reader has bought it
        :param sort: "title", "reading_time" or "path_count" (unbounded is the most); None for the best
            match first when searching, else by title
        :param descending: turns the order round
        :param limit: at most so many
        :param offset: without the first so many
        :raises InvalidArgument: for a value of another kind; the message names it
        """
        query: Dict[str, Any] = {
            "search": search,
            "tags": [tag] if isinstance(tag, str) else None if tag is None else list(tag),
            "age_range": age_range,
            "age": age,
            "culture": culture,
            "purchased": purchased,
            "sort": _SORT_KEYS.get(sort, sort) if isinstance(sort, str) else sort,
            "descending": bool(descending),
            "limit": limit,
            "offset": offset,
        }
        given = {key: value for key, value in query.items() if value is not None}
        lent = _encoding.lend_value(given, "query")
        found = json_answer(library.satchel_stories_select, self._pointer, lent)
        return [summary_from(each) for each in found]

    def search(self, text: str) -> List[StorySummary]:
        """The stories in whose title or synopsis each word of a text begins a word, the best match first."""
        _encoding.lend_text(text, "text")
        return self.select(search=text)

    def filter(
        self,
        *,
        tag: Optional[Union[str, Iterable[str]]] = None,
        age_range: Optional[str] = None,
        age: Optional[int] = None,
        culture: Optional[str] = None,
        purchased: Optional[bool] = None,
    ) -> List[StorySummary]:
        """The stories that fit everything that is given, by title; see :meth:`select`."""
        return self.select(tag=tag, age_range=age_range, age=age, culture=culture, purchased=purchased)

    def sorted_by(self, key: str, descending: bool = False) -> List[StorySummary]:
        """All stories in order.

        :param key: "title", "reading_time" or "path_count" (unbounded is the most)
        """
        _encoding.lend_text(key, "key")
        return self.select(sort=key, descending=descending)

    def tags(self) -> List[str]:
        """All tags of all stories, sorted."""
        return self._facets("tags")

    def cultures(self) -> List[str]:
        """All cultural origins, sorted."""
        return self._facets("cultures")

    def age_ranges(self) -> List[str]:
        """All age ranges, the youngest first."""
        return self._facets("age_ranges")

    def mark_purchased(self, id: str, purchased: bool = True) -> None:
        """Notes in the store that the reader bought a story, or gave it back; the file is left as it is."""
        lent = _encoding.lend_text(id, "id")
        check(library.satchel_stories_mark_purchased(self._pointer, lent, bool(purchased)))

    def refresh(self) -> StoryRefresh:
        """Notices files that came, changed or went."""
        noticed = json_answer(library.satchel_stories_refresh, self._pointer)
        return record_from(StoryRefresh, noticed, problems=problems_from(noticed["problems"]))

    def preload(self) -> None:
        """Refreshes on a thread of the library, and returns at once."""
        check(library.satchel_stories_preload(self._pointer))

    def clear_cache(self) -> None:
        """Forgets the stories that are held in memory; the index stays."""
        check(library.satchel_stories_clear_cache(self._pointer))

    def _facets(self, name: str) -> List[str]:
        facets = json_answer(library.satchel_stories_facets, self._pointer)
        found: List[str] = facets[name]
        return found
