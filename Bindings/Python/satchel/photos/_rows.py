"""The photos of a catalogue one by one: reading, querying and editing them."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Union

from satchel import _abi, _encoding
from satchel._encoding import FilePath
from satchel._handles import OfDirectory
from satchel._library import check, json_answer, json_answer_of_host, library, paged, scalar_answer
from satchel.errors import NotFound, SatchelError
from satchel.photos._arguments import (
    PhotoConditions,
    PhotoName,
    conflict_policy_if_any,
    lend_columns,
    lend_md5,
    lend_md5s,
    lend_query,
    row_batches,
)
from satchel.photos._backup import PhotoBackup
from satchel.photos._values import (
    CatalogueStatus,
    Photo,
    PhotoChange,
    PhotoFile,
    PhotoPage,
    PhotoSafety,
    TrashedPhoto,
    change_from,
    page_from,
    photo_from,
    safety_from,
    status_from,
    trashed_from,
)
from satchel.values import records_from

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from satchel.assets import Asset, AssetBody, Variant
    from satchel.store import Store

__all__ = ["PAGE", "PhotoRows"]

#: The items that are read at once where all are returned.
PAGE = 1000


class PhotoRows(OfDirectory):
    """The part of :class:`satchel.PhotoCatalogue` that reads and edits photos."""

    __slots__ = ()

    def __init__(self, store: Store, directory: FilePath, on_conflict: Optional[str] = None) -> None:
        policy = conflict_policy_if_any(on_conflict)
        make, free = library.satchel_photos_open, library.satchel_photos_free
        super().__init__("catalogue", store, directory, make, free, policy)

    def get(self, md5: PhotoName) -> Optional[Photo]:
        """A photo with its local-only columns.

        :param md5: its MD5, or the photo
        :returns: None when it does not exist
        """
        try:
            found = json_answer(library.satchel_photos_get, self._pointer, lend_md5(md5))
        except NotFound:
            return None
        return photo_from(found)

    def files(self, md5: PhotoName) -> List[PhotoFile]:
        """The files of a photo that scans of this device have found.

        First come its own in the order of their paths, then its films, then its sidecars. A film or a sidecar
        belongs to the first photo of its directory that has its name up to the extension.

        :param md5: its MD5, or the photo
        :returns: an empty list for a photo whose file is on another device only
        """
        found = json_answer(library.satchel_photos_files, self._pointer, lend_md5(md5))
        return records_from(PhotoFile, found)

    def move(self, directory: FilePath) -> None:
        """Gives the catalogue another directory, because its folder was renamed, or is mounted elsewhere.

        Nothing is read there; the next scan finds the files at their relative paths. This object then is the
        catalogue of the new directory. Others of the old one see an empty catalogue.

        :param directory: need not exist
        :raises Conflict: when the directory has a catalogue already
        :raises NotFound: when this catalogue has nothing yet
        """
        path, folder = _encoding.file_path(directory, "directory")
        check(library.satchel_photos_move(self._pointer, _encoding.lend(folder)))
        self._directory = path

    def count(self, **conditions: Unpack[PhotoConditions]) -> int:
        """The number of photos that match.

        :param conditions: those of :class:`PhotoConditions`, such as ``starred=True``
        """
        lent = lend_query(conditions)
        return scalar_answer(ctypes.c_int64, library.satchel_photos_count, self._pointer, lent)

    def counts(self, by: str, **conditions: Unpack[PhotoConditions]) -> Dict[Optional[str], int]:
        """The numbers of photos in each group, in the order of the groups.

        Groups are months, "2024-02", or days, "2024-02-29", on the clock of the conditions; models of
        cameras; or folders of this device, relative to the catalogue's directory, where a photo counts once
        in each of its folders. None is the group of photos of no known camera.

        :param by: "month", "day", "camera" or "folder"
        :param conditions: those of :class:`PhotoConditions`, such as ``clock="local"``
        :raises InvalidArgument: for an invalid condition; the message names it
        """
        group, lent = _encoding.lend_text(by, "by"), lend_query(conditions)
        found = json_answer(library.satchel_photos_counts, self._pointer, group, lent)
        return {each["key"]: each["photos"] for each in found}

    def query(
        self,
        *,
        order: Optional[str] = None,
        descending: bool = False,
        limit: int = 1000,
        after: Optional[str] = None,
        **conditions: Unpack[PhotoConditions],
    ) -> PhotoPage:
        """The photos that match, a page at a time.

        :param order: "md5", "photodate" or "filename"; None for "md5"
        :param descending: reverses the order
        :param limit: the maximum number of photos, 1 to 100,000
        :param after: the ``next`` of the previous page of the same query
        :param conditions: those of :class:`PhotoConditions`, such as ``camera="X100"``
        :raises InvalidArgument: for an invalid condition; the message names it
        """
        more = {"order": order, "descending": bool(descending), "limit": limit, "after": after}
        return page_from(
            json_answer(library.satchel_photos_query, self._pointer, lend_query(conditions, **more))
        )

    def iterate(
        self,
        *,
        order: Optional[str] = None,
        descending: bool = False,
        **conditions: Unpack[PhotoConditions],
    ) -> Iterator[Photo]:
        """All photos that match, read lazily.

        Concurrent changes may be seen or not; an unchanged photo is yielded exactly once.

        :param order: as that of :meth:`query`, as ``descending``
        :param descending: reverses the order
        :param conditions: those of :class:`PhotoConditions`
        """
        query: Dict[str, Any] = {**conditions, "order": order, "descending": descending, "limit": PAGE}
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

    def safety(self) -> PhotoSafety:
        """Where the files of the photos are, and which are backed up.

        Uses no network: a backup counts as this device knows it, by its own runs and by ``backup.refresh`` or
        ``backup.verify``. Reads every row.
        """
        return safety_from(json_answer(library.satchel_photos_safety, self._pointer))

    def trash(self) -> List[TrashedPhoto]:
        """The photos whose rows were removed in the last 30 days, in the order of their MD5."""
        return list(self.iterate_trash())

    def iterate_trash(self) -> Iterator[TrashedPhoto]:
        """The same as :meth:`trash`, read lazily."""

        def page(after: str) -> Any:
            lent = _encoding.lend_text(after, "after")
            return json_answer(library.satchel_photos_trash, self._pointer, lent, PAGE)

        return map(trashed_from, paged("photos", "", page))

    def restore_rows(self, md5: Union[PhotoName, Iterable[PhotoName], None] = None) -> int:
        """Restores rows from the trash, with what was local to them; the next synchronization sends them.

        Scans add photos again that were deleted on this device.

        :param md5: the MD5 of one photo or several, or the photos; those that are not in the trash are
            ignored. None for the whole trash
        :returns: how many rows were restored
        """
        lent = _encoding.lend(b"") if md5 is None else lend_md5s(md5)
        return scalar_answer(ctypes.c_int64, library.satchel_photos_restore_rows, self._pointer, lent)

    def empty_trash(self) -> int:
        """Empties the trash.

        :returns: how many photos it had
        """
        return scalar_answer(ctypes.c_int64, library.satchel_photos_empty_trash, self._pointer)

    def modified_shards(self) -> List[int]:
        """The shards with photos that were added, changed or deleted locally since the last synchronization.

        An imported file is not counted as a change, though the next synchronization uploads it: see
        ``pending`` of :meth:`status`.
        """
        bits = scalar_answer(ctypes.c_uint32, library.satchel_photos_modified_shards, self._pointer)
        return [shard for shard in range(16) if bits >> shard & 1]

    def changes(self) -> List[PhotoChange]:
        """The change log: rows changed locally since the last synchronization, in the order of MD5s."""
        return list(self.iterate_changes())

    def iterate_changes(self) -> Iterator[PhotoChange]:
        """As :meth:`changes`, read lazily."""

        def page(after: str) -> Any:
            lent = _encoding.lend_text(after, "after")
            return json_answer(library.satchel_photos_changes, self._pointer, lent, PAGE)

        return map(change_from, paged("changes", "", page))

    @property
    def backup(self) -> PhotoBackup:
        """The backup of the photos' files, and its queue."""
        return PhotoBackup(self)

    def upsert(
        self,
        photos: Union[Photo, Mapping[str, Any], Iterable[Union[Photo, Mapping[str, Any]]]],
        *,
        batch: int = 5000,
    ) -> int:
        """Adds photos, or replaces their rows.

        :param photos: dicts with the fields of a :class:`Photo`, or photos; or one. The state of a Photo
            (star, backup) is ignored, and camera data that it lacks keeps its stored value
        :param batch: the number of rows in one transaction. An invalid row rolls back its own batch only
        :returns: the number of rows that changed
        :raises InvalidArgument: names the row and the reason
        """
        changed = 0
        before = 0
        for rows in row_batches(photos, batch):
            lent = _encoding.lend(_encoding.encoded(rows, "photos"))
            try:
                changed += scalar_answer(ctypes.c_int64, library.satchel_photos_upsert, self._pointer, lent)
            except SatchelError as error:
                if before:
                    error.args = (f"after {before} photos: {error}",)
                raise
            before += len(rows)
        return changed

    def delete(self, md5: Union[PhotoName, Iterable[PhotoName]]) -> int:
        """Deletes photos from the catalogue, in one transaction; files are not touched.

        :param md5: one MD5 or photo, or an iterable of several
        :returns: how many existed
        :raises InvalidArgument: names what is not an MD5; nothing is deleted
        """
        return scalar_answer(ctypes.c_int64, library.satchel_photos_delete, self._pointer, lend_md5s(md5))

    def set_local(self, md5: PhotoName, **columns: Any) -> None:
        """Sets local-only columns of a photo; they are never uploaded, and imports do not change them.

        :param md5: its MD5, or the photo
        :param columns: ``starred``, ``camera_make`` and so on, see :class:`Photo`; None clears
        :raises NotFound: when the photo does not exist
        :raises InvalidArgument: for other columns, and for ``backup_status``: see :attr:`backup`
        """
        check(library.satchel_photos_set_local(self._pointer, lend_md5(md5), lend_columns(columns)))

    def thumbnail(
        self,
        md5: PhotoName,
        longest_edge: int = 400,
        make: Optional[Callable[[str], Union[AssetBody, Variant]]] = None,
    ) -> Asset:
        """Returns a thumbnail of a photo, which is made once from the photo's file.

        It is a variant among the assets of the store, and is returned although the file is elsewhere by now.
        JPEG and PNG are scaled as by ``assets.scaled``.

        :param md5: its MD5, or the photo
        :param longest_edge: the longer one of width and height, in pixels
        :param make: makes the thumbnail from the path of a file that the library does not scale: of another
            format, such as HEIC, too large or damaged, and of any where libturbojpeg or libpng is not
            installed. Returns bytes or a file object, or a :class:`satchel.assets.Variant`, which also has
            the media type; an exception is raised here. It may use the store, and two threads may call it at
            once
        :returns: the reference; its ``bytes()`` and ``open()`` read the thumbnail
        :raises NotFound: when the photo does not exist, and when no file of it is on this device
        :raises InvalidArgument: without ``make``, for a file that the library does not scale
        :raises IOFailure: without ``make``, where libturbojpeg or libpng is not installed
        """
        edge = _encoding.whole(longest_edge, "longest_edge", 1, 2**31 - 1)
        lent = self._pointer, lend_md5(md5), edge
        if make is None:
            found = json_answer(library.satchel_photos_thumbnail, *lent, _abi.PhotoThumbnail(), None)
        else:
            from satchel.assets._host import making_thumbnail, on_thumbnail

            _encoding.check_callable(make, "make")
            found = making_thumbnail(
                self._store._owner,
                make,
                lambda context: json_answer_of_host(
                    library.satchel_photos_thumbnail, *lent, on_thumbnail, context
                ),
            )
        return self._store.assets.get(found)

    def star(self, md5: PhotoName, starred: bool = True) -> None:
        """Stars a photo, or removes its star.

        A star says that the photo's file is in the remote, or is to be: starring a photo that is not backed
        up queues its backup, and removing the star takes a queued photo out of the queue. It deletes nothing
        in the remote. Synchronizing rows sets no star: see ``backup.refresh``.

        :param md5: its MD5, or the photo
        :param starred: False removes the star
        :raises NotFound: when the photo does not exist
        """
        check(library.satchel_photos_star(self._pointer, lend_md5(md5), bool(starred)))
