"""The methods of a photo catalogue that read."""

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
        """A photo with its local-only columns; None when it does not exist."""
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
        """The number of photos that match; see :meth:`query`."""
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
        r"""The photos that match all given conditions, a page at a time.

        :param from_: the earliest ``photodate``, in Unix seconds or as a datetime with a time zone
        :param to: the latest, itself included
        :param filename: the whole name; "*" stands for any characters, "?" for one, "\" escapes the
            next character; case-sensitive
        :param starred: whether they are starred
        :param backup_status: "not_backed_up", "queued", "uploading", "uploaded" or "error"
        :param shard: 0 to 15
        :param order: "md5", "photodate" or "filename"; None for "md5"
        :param descending: reverses the order
        :param limit: the maximum number of photos, 1 to 100,000
        :param after: the ``next`` of the previous page of the same query
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
        """All photos that match, read lazily; see :meth:`query`.

        Concurrent changes may be seen or not; an unchanged photo is yielded exactly once.
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
        # Read the first page now, so that an invalid query raises here and not during iteration.
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
        """The shards with photos that were added, changed or deleted locally since the last synchronisation.

        An imported file is not counted as a change, though the next synchronisation uploads it: see
        ``pending`` of :meth:`status`.
        """
        bits = ctypes.c_uint32()
        check(library.satchel_photos_modified_shards(self._pointer, ctypes.byref(bits)))
        return [shard for shard in range(16) if bits.value >> shard & 1]

    def changes(self) -> List[PhotoChange]:
        """The change log: rows changed locally since the last synchronisation, in the order of MD5s."""
        return list(self.iterate_changes())

    def iterate_changes(self) -> Iterator[PhotoChange]:
        """As :meth:`changes`, read lazily."""
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
        """The conflict log: local changes that lost, oldest first."""
        found: List[PhotoConflict] = []
        after: Optional[int] = 0
        while after is not None:
            page = json_answer(library.satchel_photos_conflicts, self._pointer, after, _PAGE)
            found.extend(map(conflict_from, page["conflicts"]))
            after = None if page["next"] is None else int(page["next"])
        return found
