"""What a photo catalogue can be asked; nothing here changes it."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Union

from satchel import _encoding
from satchel._handle import OfDirectory, answer, check, json_answer
from satchel._library import library
from satchel._photo_arguments import PhotoName, Time, lend_md5, lend_query, shard_number
from satchel._photo_values import (
    CatalogueStatus,
    Photo,
    PhotoChange,
    PhotoConflict,
    PhotoPage,
    change_from,
    conflict_from,
    page_from,
    photo_from,
    status_from,
)
from satchel.errors import NotFound

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = ["PhotoReader"]

_PAGE = 1000


class PhotoReader(OfDirectory):
    """The part of :class:`satchel.PhotoCatalogue` that reads."""

    __slots__ = ()

    def __init__(self, store: Store, directory: Union[str, os.PathLike[str]]) -> None:
        super().__init__(
            "catalogue", store, directory, library.satchel_photos_open, library.satchel_photos_free
        )

    def get(self, md5: PhotoName) -> Optional[Photo]:
        """A photo with all that is known of it, or None."""
        try:
            found = json_answer(library.satchel_photos_get, self._pointer, lend_md5(md5))
        except NotFound:
            return None
        return photo_from(found)

    def count(
        self,
        *,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        filename: Optional[str] = None,
        starred: Optional[bool] = None,
        backup_status: Optional[str] = None,
        shard: Optional[int] = None,
    ) -> int:
        """How many photos fit; see :meth:`query`."""
        lent = lend_query(from_, to, filename, starred, backup_status, shard)
        out = ctypes.c_int64()
        check(library.satchel_photos_count(self._pointer, lent, ctypes.byref(out)))
        return out.value

    def query(
        self,
        *,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        filename: Optional[str] = None,
        starred: Optional[bool] = None,
        backup_status: Optional[str] = None,
        shard: Optional[int] = None,
        order: Optional[str] = None,
        descending: bool = False,
        limit: int = 1000,
        after: Optional[str] = None,
    ) -> PhotoPage:
        r"""The photos that fit everything that is given, a page at a time.

        :param from_: the earliest ``photodate``, in Unix seconds or as a datetime with a time zone
        :param to: the latest, itself included
        :param filename: the whole name; "*" stands for any characters, "?" for one, "\" makes the one
            behind it itself; case matters
        :param starred: whether they are
        :param backup_status: "not_backed_up", "queued", "uploading", "uploaded" or "error"
        :param shard: 0 to 15
        :param order: "md5", "photodate" or "filename"; None for "md5"
        :param descending: turns the order round
        :param limit: at most so many, 1 to 100,000
        :param after: the ``next`` of the page before, with the same query
        """
        more = {"order": order, "descending": bool(descending), "limit": limit, "after": after}
        lent = lend_query(from_, to, filename, starred, backup_status, shard, **more)
        return page_from(json_answer(library.satchel_photos_query, self._pointer, lent))

    def iterate(
        self,
        *,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        filename: Optional[str] = None,
        starred: Optional[bool] = None,
        backup_status: Optional[str] = None,
        shard: Optional[int] = None,
        order: Optional[str] = None,
        descending: bool = False,
    ) -> Iterator[Photo]:
        """All photos that fit, read as they are needed; see :meth:`query`.

        What changes meanwhile may be met or not; no photo that stays as it is, is missed or met twice.
        """
        query: Dict[str, Any] = {
            "from_": from_,
            "to": to,
            "filename": filename,
            "starred": starred,
            "backup_status": backup_status,
            "shard": shard,
            "order": order,
            "descending": descending,
            "limit": _PAGE,
        }
        # The first page at once, so that a query that is none fails here, and not where it is walked.
        return self._walk(query, self.query(**query))

    def _walk(self, query: Dict[str, Any], page: PhotoPage) -> Iterator[Photo]:
        yield from page
        while page.next is not None:
            page = self.query(**query, after=page.next)
            yield from page

    def status(self) -> CatalogueStatus:
        """Numbers and dates of the catalogue and its shards."""
        return status_from(json_answer(library.satchel_photos_status, self._pointer))

    def modified_shards(self) -> List[int]:
        """The shards with photos that were added, changed or deleted here since the last synchronisation.

        A file that was imported counts as no change, though the next synchronisation sends it: see
        ``pending`` of :meth:`status`.
        """
        bits = ctypes.c_uint32()
        check(library.satchel_photos_modified_shards(self._pointer, ctypes.byref(bits)))
        return [shard for shard in range(16) if bits.value >> shard & 1]

    def changes(self) -> List[PhotoChange]:
        """What changed here since the last synchronisation, row by row, in the order of MD5s."""
        return list(self.iterate_changes())

    def iterate_changes(self) -> Iterator[PhotoChange]:
        """As :meth:`changes`, read as they are needed."""
        after: Optional[str] = ""
        while after is not None:
            lent = _encoding.lend_text(after, "after")
            page = json_answer(library.satchel_photos_changes, self._pointer, lent, _PAGE)
            yield from map(change_from, page["changes"])
            after = page["next"]

    def export_shard(self, shard: int) -> bytes:
        """A shard's file, byte for byte as every platform writes it.

        :param shard: 0 to 15
        """
        return answer(library.satchel_photos_export_shard, self._pointer, shard_number(shard)) or b""

    def conflicts(self) -> List[PhotoConflict]:
        """Changes made here that lost against others, the oldest first."""
        found: List[PhotoConflict] = []
        after: Optional[int] = 0
        while after is not None:
            page = json_answer(library.satchel_photos_conflicts, self._pointer, after, _PAGE)
            found.extend(map(conflict_from, page["conflicts"]))
            after = None if page["next"] is None else int(page["next"])
        return found
