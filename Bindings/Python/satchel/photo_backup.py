"""The backup queue of a catalogue: photos to be uploaded by the host."""

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
    """The backup queue; ``photos.backup``.

    A photo goes from "not_backed_up" or "error" to "queued", to "uploading", and to "uploaded" or "error".
    Any other transition raises :class:`satchel.InvalidArgument`, naming both states. The host uploads:

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
        :raises NotFound: when the photo does not exist
        """
        check(library.satchel_photos_backup_queue(self._photos._pointer, lend_md5(photo, "photo")))

    def claim(self) -> Optional[Photo]:
        """Leases the oldest queued photo to this process, for uploading; None when the queue is empty.

        Concurrent callers, also of other processes, get different photos. A photo whose lease owner died or
        closed its catalogue is queued again.
        """
        claimed = json_answer(library.satchel_photos_backup_claim, self._photos._pointer)
        return None if claimed is None else photo_from(claimed)

    def done(self, photo: PhotoName) -> None:
        """Marks a leased photo as uploaded."""
        check(library.satchel_photos_backup_done(self._photos._pointer, lend_md5(photo, "photo")))

    def failed(self, photo: PhotoName, error: Union[str, BaseException]) -> None:
        """Marks the upload of a leased photo as failed.

        :param error: the reason; an exception stands for its message
        """
        said = str(error) or type(error).__name__ if isinstance(error, BaseException) else error
        lent = lend_md5(photo, "photo"), _encoding.lend_text(said, "error")
        check(library.satchel_photos_backup_failed(self._photos._pointer, *lent))
