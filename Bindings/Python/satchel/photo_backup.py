"""The backup of a catalogue's photos: which are to be uploaded, and how far that has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Union

from satchel import _encoding
from satchel._handle import check, json_answer
from satchel._library import library
from satchel._photo_arguments import PhotoName, lend_md5
from satchel._photo_values import Photo, photo_from

if TYPE_CHECKING:
    from satchel.photo_catalogue import PhotoCatalogue

__all__ = ["PhotoBackup"]


class PhotoBackup:
    """The queue of photos to be uploaded; ``photos.backup``.

    A photo goes from "not_backed_up" or "error" to "queued", to "uploading", and to "uploaded" or "error".
    Every other step is :class:`satchel.InvalidArgument`, and names both states. The host uploads:

    >>> while photo := photos.backup.claim():
    ...     try:
    ...         upload(photo)
    ...     except OSError as error:
    ...         photos.backup.failed(photo, error)
    ...     else:
    ...         photos.backup.done(photo)
    """

    __slots__ = ("_photos",)

    def __init__(self, photos: PhotoCatalogue) -> None:
        self._photos = photos

    def queue(self, photo: PhotoName) -> None:
        """Queues a photo that is not backed up, or whose upload failed.

        :param photo: its MD5, or the photo
        :raises NotFound: when there is no such photo
        """
        check(library.satchel_photos_backup_queue(self._photos._pointer, lend_md5(photo, "photo")))

    def claim(self) -> Optional[Photo]:
        """Takes the photo that was queued first, to be uploaded by this process; None when none is.

        Of many threads and processes that claim at once each gets another one. What a process that died
        had claimed, or a catalogue that was closed, is queued again.
        """
        claimed = json_answer(library.satchel_photos_backup_claim, self._photos._pointer)
        return None if claimed is None else photo_from(claimed)

    def done(self, photo: PhotoName) -> None:
        """A claimed photo is uploaded."""
        check(library.satchel_photos_backup_done(self._photos._pointer, lend_md5(photo, "photo")))

    def failed(self, photo: PhotoName, error: Union[str, BaseException]) -> None:
        """Uploading a claimed photo failed.

        :param error: why; of an exception what it says
        """
        said = str(error) or type(error).__name__ if isinstance(error, BaseException) else error
        lent = lend_md5(photo, "photo"), _encoding.lend_text(said, "error")
        check(library.satchel_photos_backup_failed(self._photos._pointer, *lent))
