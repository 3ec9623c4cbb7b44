"""The asynchronous twins of StoryLibrary; written by generate_aio.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel.aio._calls import ClosingTwin, twin_of
from satchel.stories import StoryLibrary as BlockingStoryLibrary

if TYPE_CHECKING:
    from typing import Iterable, List, Optional, Union

    from satchel.stories._story import Story
    from satchel.stories._values import (
        Segment,
        StoryListing,
        StoryLoading,
        StoryProgress,
        StoryRefresh,
        StorySummary,
    )

__all__ = ["StoryLibrary"]


@twin_of(BlockingStoryLibrary)
class StoryLibrary(ClosingTwin):
    """The asynchronous twin of :class:`satchel.StoryLibrary`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingStoryLibrary

    @property
    def directory(self) -> str:
        """As :attr:`satchel.StoryLibrary.directory`."""
        return self._blocking.directory

    async def load_all(self, checked: bool = False) -> StoryListing:
        """As :meth:`satchel.StoryLibrary.load_all`."""
        return await self._calls.write(lambda: self._blocking.load_all(checked))

    async def story(self, id: str, checked: bool = False) -> Story:
        """As :meth:`satchel.StoryLibrary.story`."""
        return await self._calls.read(lambda: self._blocking.story(id, checked))

    async def segment(self, story: str, id: Optional[str] = None) -> Segment:
        """As :meth:`satchel.StoryLibrary.segment`."""
        return await self._calls.read(lambda: self._blocking.segment(story, id))

    async def select(
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
        """As :meth:`satchel.StoryLibrary.select`."""
        return await self._calls.read(
            lambda: self._blocking.select(
                search=search,
                tag=tag,
                age_range=age_range,
                age=age,
                culture=culture,
                purchased=purchased,
                sort=sort,
                descending=descending,
                limit=limit,
                offset=offset,
            )
        )

    async def search(self, text: str) -> List[StorySummary]:
        """As :meth:`satchel.StoryLibrary.search`."""
        return await self._calls.read(lambda: self._blocking.search(text))

    async def filter(
        self,
        *,
        tag: Optional[Union[str, Iterable[str]]] = None,
        age_range: Optional[str] = None,
        age: Optional[int] = None,
        culture: Optional[str] = None,
        purchased: Optional[bool] = None,
    ) -> List[StorySummary]:
        """As :meth:`satchel.StoryLibrary.filter`."""
        return await self._calls.read(
            lambda: self._blocking.filter(
                tag=tag,
                age_range=age_range,
                age=age,
                culture=culture,
                purchased=purchased,
            )
        )

    async def sorted_by(self, key: str, descending: bool = False) -> List[StorySummary]:
        """As :meth:`satchel.StoryLibrary.sorted_by`."""
        return await self._calls.read(lambda: self._blocking.sorted_by(key, descending))

    async def tags(self) -> List[str]:
        """As :meth:`satchel.StoryLibrary.tags`."""
        return await self._calls.read(lambda: self._blocking.tags())

    async def cultures(self) -> List[str]:
        """As :meth:`satchel.StoryLibrary.cultures`."""
        return await self._calls.read(lambda: self._blocking.cultures())

    async def age_ranges(self) -> List[str]:
        """As :meth:`satchel.StoryLibrary.age_ranges`."""
        return await self._calls.read(lambda: self._blocking.age_ranges())

    async def mark_purchased(self, id: str, purchased: bool = True) -> None:
        """As :meth:`satchel.StoryLibrary.mark_purchased`."""
        await self._calls.write(lambda: self._blocking.mark_purchased(id, purchased))

    async def refresh(self) -> StoryRefresh:
        """As :meth:`satchel.StoryLibrary.refresh`."""
        return await self._calls.write(lambda: self._blocking.refresh())

    async def progress(self, id: str) -> StoryProgress:
        """As :meth:`satchel.StoryLibrary.progress`."""
        return await self._calls.read(lambda: self._blocking.progress(id))

    async def clear_progress(self, id: str) -> None:
        """As :meth:`satchel.StoryLibrary.clear_progress`."""
        await self._calls.write(lambda: self._blocking.clear_progress(id))

    async def preload(self, id: Optional[str] = None) -> None:
        """As :meth:`satchel.StoryLibrary.preload`."""
        await self._calls.write(lambda: self._blocking.preload(id))

    async def loading(self) -> StoryLoading:
        """As :meth:`satchel.StoryLibrary.loading`."""
        return await self._calls.read(lambda: self._blocking.loading())

    async def clear_cache(self) -> None:
        """As :meth:`satchel.StoryLibrary.clear_cache`."""
        await self._calls.write(lambda: self._blocking.clear_cache())
