"""Offline regions: named parts of the catalogue that stay, whatever is pruned.

A region is defined by locations, by sections, and by whether the assets that its content refers to belong
to it. What is stored for its locations belongs to it at once; nothing of it is pruned, and it stays readable
after it has expired.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Union

from satchel import _abi, _encoding
from satchel._html import Rows
from satchel._library import check, json_answer, library
from satchel._long_work import LongWork, progress_callback, with_progress
from satchel._payloads import LocationDocument
from satchel.catalogue._region_values import (
    RegionDeletion,
    RegionExport,
    RegionFailure,
    RegionProgress,
    RegionReport,
    RegionSize,
    RegionSummary,
    report_from,
    summary_from,
)
from satchel.errors import InvalidArgument
from satchel.values import record_from

if TYPE_CHECKING:
    from satchel.sources import AnySource
    from satchel.store import Store

__all__ = [
    "Region",
    "RegionDeletion",
    "RegionExport",
    "RegionFailure",
    "RegionProgress",
    "RegionReport",
    "RegionSize",
    "RegionSummary",
    "Regions",
]

_LARGEST = 2**63 - 1


class Region:
    """An offline region: a name, under which the store keeps its definition.

    All methods may be called on any thread; all raise :class:`satchel.NotFound` once it is deleted.
    """

    __slots__ = ("_name", "_store")

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name

    def __repr__(self) -> str:
        return f"<satchel.Region {self._name!r}>"

    @property
    def name(self) -> str:
        """Returns the name of the region."""
        return self._name

    def summary(self) -> RegionSummary:
        """Returns the region with its state and sizes.

        :raises NotFound: when it was deleted
        """
        return summary_from(
            json_answer(
                library.satchel_regions_get, self._store._pointer, _encoding.lend_text(self._name, "name")
            )
        )

    @property
    def state(self) -> str:
        """Returns "new", "partial", "complete", or "stale": all is here, and some of it is expired."""
        return self.summary().state

    def estimate(self, source: Optional[AnySource] = None) -> RegionSize:
        """Returns what is here and what is to come, as far as it is known without downloading content.

        Before the content is here, the assets that it refers to are not known.

        :param source: is not asked: no source states sizes in advance
        :raises NotFound: when it was deleted
        """
        return self.summary().size

    def define(
        self,
        locations: Iterable[LocationDocument],
        sections: Optional[Iterable[str]] = None,
        assets: bool = True,
        within: Optional[float] = None,
        level: Optional[str] = None,
        max_bytes: Optional[int] = None,
        max_asset_bytes: Optional[int] = None,
    ) -> None:
        """Replaces the definition.

        Content that belongs to it no more is pruned like other content; a download gets new content.

        :param locations: as in :meth:`Regions.create`
        :param sections: as in :meth:`Regions.create`
        :param assets: as in :meth:`Regions.create`
        :param within: as in :meth:`Regions.create`
        :param level: as in :meth:`Regions.create`
        :param max_bytes: as in :meth:`Regions.create`
        :param max_asset_bytes: as in :meth:`Regions.create`
        :raises NotFound: when it was deleted
        """
        definition = _definition(locations, sections, assets, within, level, max_bytes, max_asset_bytes)
        check(
            library.satchel_regions_define(
                self._store._pointer,
                _encoding.lend_text(self._name, "name"),
                _encoding.lend_value(definition, "definition"),
            )
        )

    def download(
        self,
        source: AnySource,
        progress: Optional[Callable[[RegionProgress], object]] = None,
        parallel: int = 4,
        max_bytes: Optional[int] = None,
    ) -> RegionReport:
        """Gets what is missing or expired of the region: content, then the assets that it refers to.

        Whatever has arrived is stored, so that after a cancellation, a kill or a loss of power the next call
        goes on with what is left. An item that fails is in the report and stops no other.

        :param source: a :class:`satchel.HTTPSource`, a function, or an object of the host
        :param progress: receives a :class:`RegionProgress`, on this thread; returning False cancels. An
            exception in it cancels too, and is raised here
        :param parallel: the number of requests that are sent at the same time, 1 to 16
        :param max_bytes: no asset is begun after so many bytes; None for no limit
        :raises Cancelled: what was fetched is kept
        :raises Full: when the limit of the region is reached, or the disk is full; names the region
        :raises NotFound: when the region was deleted
        :raises InvalidArgument: in a batch
        """
        return self._download(source, progress, parallel, max_bytes, update=False)

    def update(
        self,
        source: AnySource,
        progress: Optional[Callable[[RegionProgress], object]] = None,
        parallel: int = 4,
        max_bytes: Optional[int] = None,
    ) -> RegionReport:
        """Downloads the region, and asks for content that has an entity tag, too, whether it has changed.

        Content that is neither expired nor has a tag is not asked for.

        :param source: as in :meth:`download`
        :param progress: receives a :class:`RegionProgress`, on this thread; returning False cancels. An
            exception in it cancels too, and is raised here
        :param parallel: as in :meth:`download`
        :param max_bytes: as in :meth:`download`
        :raises Cancelled: what was fetched is kept
        :raises Full: as in :meth:`download`
        :raises NotFound: when the region was deleted
        """
        return self._download(source, progress, parallel, max_bytes, update=True)

    def _download(
        self,
        source: AnySource,
        progress: Optional[Callable[[RegionProgress], object]],
        parallel: int,
        max_bytes: Optional[int],
        update: bool,
    ) -> RegionReport:
        from satchel.sources._host import lent

        options = _abi.RegionOptions(
            update=update,
            parallel=_encoding.whole(parallel, "parallel", 1, 16),
            max_bytes=0 if max_bytes is None else _encoding.whole(max_bytes, "max_bytes", 1, _LARGEST),
        )
        work = LongWork(self._store._owner, progress_callback(RegionProgress, progress))
        name = _encoding.lend_text(self._name, "name")
        with lent(source, work) as (handle, _):
            call = with_progress(
                options, library.satchel_regions_download, self._store._pointer, name, handle
            )
            return report_from(work.run(call))

    def delete(self) -> RegionDeletion:
        """Deletes the region with its content, and shrinks the file.

        Content of another region, content that the active location shows, and assets to which something else
        refers stay.

        :raises NotFound: when it was deleted
        :raises InvalidArgument: in a batch
        """
        answer = json_answer(
            library.satchel_regions_delete, self._store._pointer, _encoding.lend_text(self._name, "name")
        )
        return record_from(RegionDeletion, answer)

    def export(self, path: Any) -> RegionExport:
        """Writes the region into one file, which :meth:`Regions.import_` adds to another store.

        :param path: the file; one of a region is replaced
        :raises ForeignFile: when another program's file is at the path
        :raises NotFound: when the region was deleted
        :raises InvalidArgument: in a batch
        """
        _, file = _encoding.file_path(path, "path")
        answer = json_answer(
            library.satchel_regions_export,
            self._store._pointer,
            _encoding.lend_text(self._name, "name"),
            file,
        )
        return record_from(RegionExport, answer)


class Regions:
    """The offline regions of a catalogue: ``store.catalogue.regions``."""

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(
        self,
        name: str,
        locations: Iterable[LocationDocument],
        sections: Optional[Iterable[str]] = None,
        assets: bool = True,
        within: Optional[float] = None,
        level: Optional[str] = None,
        max_bytes: Optional[int] = None,
        max_asset_bytes: Optional[int] = None,
    ) -> Region:
        """Creates a region. Nothing is downloaded; what is stored for its locations belongs to it at once.

        :param name: 1 to 128 bytes without control characters
        :param locations: 1 to 1,000 locations, or dicts with ``location``, and ``within`` or ``level``
        :param sections: the names of the sections; None for all
        :param assets: whether the bytes of the assets that the content refers to belong to it
        :param within: all delivered locations within so many metres of each location belong to it
        :param level: all delivered locations in each location's place at this level belong to it
        :param max_bytes: the maximum number of bytes of content and assets; None for no limit
        :param max_asset_bytes: larger assets do not belong to it; None for 64 MiB
        :returns: the region; an existing one with the same definition
        :raises ConstraintViolation: when it exists with another definition
        :raises InvalidArgument: for an invalid definition
        """
        definition = _definition(locations, sections, assets, within, level, max_bytes, max_asset_bytes)
        check(
            library.satchel_regions_create(
                self._store._pointer,
                _encoding.lend_text(name, "name"),
                _encoding.lend_value(definition, "definition"),
            )
        )
        return Region(self._store, name)

    def list(self) -> List[RegionSummary]:
        """Returns all regions with their states, by name. Time grows with their content."""
        answer = json_answer(library.satchel_regions_list, self._store._pointer)
        return Rows([summary_from(each) for each in answer])

    def get(self, name: str) -> Region:
        """Returns a region.

        :param name: its name
        :raises NotFound: when no region has that name
        """
        region = Region(self._store, name)
        region.summary()
        return region

    def import_(self, path: Any) -> Region:
        """Adds the region of a file that :meth:`Region.export` wrote.

        The file may come from anywhere: it is opened read-only and checked completely first, and its content
        is stored like that of a delivery. What was fetched here later than there stays.

        :param path: the file
        :returns: the region; one of the same name gets the definition of the file
        :raises NotFound, ForeignFile, Damaged, NewerStore: for the file; the store has what it had
        :raises InvalidArgument: in a batch
        """
        _, file = _encoding.file_path(path, "path")
        answer = json_answer(library.satchel_regions_import, self._store._pointer, file)
        return Region(self._store, answer["name"])


def _definition(
    locations: Iterable[LocationDocument],
    sections: Optional[Iterable[str]],
    assets: bool,
    within: Optional[float],
    level: Optional[str],
    max_bytes: Optional[int],
    max_asset_bytes: Optional[int],
) -> Dict[str, Any]:
    if isinstance(locations, (dict, str, bytes)):
        raise InvalidArgument("locations: is one location, not a list of locations")
    areas: List[Union[Dict[str, Any], Any]] = []
    for each in locations:
        area: Any = each
        if (within is not None or level is not None) and isinstance(each, dict) and "location" not in each:
            area = {"location": each}
            if within is not None:
                area["within"] = _encoding.number(within, "within")
            if level is not None:
                area["level"] = level
        areas.append(area)
    if isinstance(sections, (str, bytes)):
        raise InvalidArgument("sections: is one name, not a list of names")
    definition: Dict[str, Any] = {
        "locations": areas,
        "sections": None if sections is None else list(sections),
        "assets": bool(assets),
    }
    if max_bytes is not None:
        definition["max_bytes"] = _encoding.whole(max_bytes, "max_bytes", 0, _LARGEST)
    if max_asset_bytes is not None:
        definition["max_asset_bytes"] = _encoding.whole(max_asset_bytes, "max_asset_bytes", 1, _LARGEST)
    return definition
