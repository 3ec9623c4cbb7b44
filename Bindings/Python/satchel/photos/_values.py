"""Results of the photo catalogue: frozen dataclasses. :mod:`satchel.photos` exports them.

Dates of photos are Unix seconds, as in the files that all platforms share; other times are Unix
milliseconds. For each of them a property returns the same as an aware ``datetime``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from datetime import datetime, timedelta
from typing import Any, Dict, List, Optional, Union, overload

from satchel.values import EPOCH, dataclass, moment, record_from, records_from

__all__ = [
    "CatalogueStatus",
    "Photo",
    "PhotoChange",
    "PhotoFile",
    "PhotoPage",
    "ShardStatus",
    "change_from",
    "page_from",
    "photo_from",
    "status_from",
]


@dataclass(frozen=True, repr=False)
class Photo(Mapping[str, Any]):
    """A photo: its row, which all devices share, and its local-only columns.

    Also a mapping: ``photo["filename"]`` is ``photo.filename``, ``dict(photo)`` has all.

    The row: ``md5`` of the file (32 hexadecimal digits), ``filename``, ``size`` in bytes, ``photodate``
    (when it was taken) and ``modified`` in Unix seconds, ``width`` and ``height`` in pixels,
    ``apple_photo_id``.

    Of the camera, None when unknown: ``camera_make``, ``camera_model``, ``orientation`` (1 to 8, as in
    Exif), ``latitude`` and ``longitude`` in degrees, ``aperture`` (f-number), ``shutter_speed`` in seconds
    (such as "1/200"), ``iso``, ``focal_length`` in mm, ``utc_offset`` of the local time where it was taken,
    in seconds east of UTC; and when this device's ``thumbnail_cached_at`` and
    ``preview_cached_at`` were made, in Unix milliseconds.

    Its state, which only photos from a catalogue have: ``starred``, its file is in the remote or is to be;
    ``local_only``, its row is not in the remote; ``backup_status``: "not_backed_up", "queued", "uploading",
    "uploaded" or "error"; ``last_attempt`` to upload it in Unix milliseconds; ``attempts``; ``error`` of the
    last one; ``photodate_source``, where a scan has found ``photodate``: "date_time_original",
    "date_time_digitized" (EXIF), "xmp", "xmp_sidecar", "iptc", "date_time" (EXIF), "gps", "takeout", "name"
    or "file", None for a date that a program or another device has set. Two photos are equal when all but
    their state is.
    """

    md5: str
    filename: str
    size: int
    photodate: int
    modified: int
    width: Optional[int] = None
    height: Optional[int] = None
    apple_photo_id: Optional[str] = None
    camera_make: Optional[str] = None
    camera_model: Optional[str] = None
    orientation: Optional[int] = None
    latitude: Optional[float] = None
    longitude: Optional[float] = None
    aperture: Optional[float] = None
    shutter_speed: Optional[str] = None
    iso: Optional[int] = None
    focal_length: Optional[float] = None
    utc_offset: Optional[int] = None
    thumbnail_cached_at: Optional[int] = None
    preview_cached_at: Optional[int] = None
    starred: Optional[bool] = field(default=None, init=False, compare=False)
    local_only: Optional[bool] = field(default=None, init=False, compare=False)
    backup_status: Optional[str] = field(default=None, init=False, compare=False)
    last_attempt: Optional[int] = field(default=None, init=False, compare=False)
    attempts: Optional[int] = field(default=None, init=False, compare=False)
    error: Optional[str] = field(default=None, init=False, compare=False)
    photodate_source: Optional[str] = field(default=None, init=False, compare=False)

    @property
    def row(self) -> Dict[str, Any]:
        """The eight columns that all devices share, as a dict for ``upsert``."""
        return {name: getattr(self, name) for name in ROW}

    @property
    def taken_at(self) -> datetime:
        """``photodate`` in UTC.

        :raises OverflowError: for a year that ``datetime`` does not have
        """
        return EPOCH + timedelta(seconds=self.photodate)

    @property
    def modified_at(self) -> datetime:
        """``modified`` in UTC.

        :raises OverflowError: for a year that ``datetime`` does not have
        """
        return EPOCH + timedelta(seconds=self.modified)

    @property
    def last_attempt_at(self) -> Optional[datetime]:
        """``last_attempt`` in UTC."""
        return None if self.last_attempt is None else moment(self.last_attempt)

    def __getitem__(self, name: str) -> Any:
        if name in _ALL:
            return getattr(self, name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_ALL)

    def __len__(self) -> int:
        return len(_ALL)

    def __repr__(self) -> str:
        known = (f"{name}={value!r}" for name, value in self.items() if value is not None)
        return f"Photo({', '.join(known)})"


_ALL = tuple(each.name for each in fields(Photo))
#: The constructor's fields: all but the state.
GIVEN = tuple(each.name for each in fields(Photo) if each.init)
#: The columns that all devices share.
ROW = GIVEN[:8]


@dataclass(frozen=True)
class PhotoPage(Sequence[Photo]):
    """A page of the ``photos`` that match a query: a sequence of them, and ``next``.

    ``next`` is the cursor of the next page, for ``query(after=…)``; None on the last page.
    """

    photos: List[Photo]
    next: Optional[str]

    @overload
    def __getitem__(self, index: int) -> Photo: ...

    @overload
    def __getitem__(self, index: slice) -> List[Photo]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Photo, List[Photo]]:
        return self.photos[index]

    def __iter__(self) -> Iterator[Photo]:
        return iter(self.photos)

    def __len__(self) -> int:
        return len(self.photos)


@dataclass(frozen=True)
class ShardStatus:
    """One of the sixteen shards of a catalogue: ``shard`` is 0 to 15, ``photos`` the number of its photos.

    ``changes`` counts rows that changed since the last synchronization, ``kept`` lines of its file that are
    not photos. ``pending``: the next synchronization uploads it. ``modified`` is when its content last
    changed here, ``last_sync`` when it was last synchronized, in Unix milliseconds, and ``checksum`` the
    SHA-256 of the remote's bytes at that time; None before.
    """

    shard: int
    photos: int
    changes: int
    kept: int
    pending: bool
    modified: Optional[int]
    last_sync: Optional[int]
    checksum: Optional[str]


@dataclass(frozen=True)
class CatalogueStatus:
    """The state of the catalogue of a ``directory``, with its ``shards``.

    ``on_conflict`` is the policy that ``store.photos`` has declared. ``created``, ``modified`` and
    ``last_sync`` are Unix milliseconds. ``uuid`` is the catalogue's own, ``remote_uuid`` that of the remote
    copy synchronized with. They are None before the first photo, or before the first synchronization, and so
    is ``user``, as whom it is synchronized. ``photos`` counts the photos, ``changes`` rows changed since the
    last synchronization, ``conflicts`` entries of the conflict log; ``backup`` has the number of photos by
    backup status, except "not_backed_up".
    """

    directory: str
    uuid: Optional[str]
    created: Optional[int]
    modified: Optional[int]
    last_sync: Optional[int]
    on_conflict: str
    user: Optional[str]
    remote_uuid: Optional[str]
    photos: int
    changes: int
    conflicts: int
    backup: Dict[str, int]
    shards: List[ShardStatus]

    @property
    def last_sync_at(self) -> Optional[datetime]:
        """``last_sync`` in UTC."""
        return None if self.last_sync is None else moment(self.last_sync)


@dataclass(frozen=True)
class PhotoChange:
    """An entry of the change log: a photo's row that changed locally since the last synchronization.

    ``md5`` identifies the photo; ``kind`` is "upsert" or "delete"; ``photo`` is None when it was deleted.
    ``base`` is the row that was synchronized last, or None.
    """

    md5: str
    kind: str
    photo: Optional[Photo]
    base: Optional[Photo]


@dataclass(frozen=True)
class PhotoFile:
    """A file that a scan of this device has found: one of a photo's own, or one that belongs to it.

    ``path`` is relative to the catalogue's directory; ``kind`` is "photo", "film" or "sidecar"; ``size`` is
    in bytes, ``modified`` in Unix seconds. ``present``: the last scan found it with these bytes.
    """

    path: str
    kind: str
    size: int
    modified: int
    present: bool


@dataclass(frozen=True)
class TrashedPhoto:
    """A photo whose row was removed: the ``photo`` as it was, and when it was ``removed``, in Unix ms."""

    photo: Photo
    removed: int

    @property
    def removed_at(self) -> datetime:
        """``removed`` in UTC."""
        return moment(self.removed)


@dataclass(frozen=True)
class FileCount:
    """Photos in one place: ``photos``, and ``backed_up``, those of them whose file the remote has."""

    photos: int
    backed_up: int


@dataclass(frozen=True)
class PhotoSafety:
    """Where the files of a catalogue's photos are, and which are backed up.

    ``present`` are the photos with a file on this device, as of the last scan; ``missing`` those whose
    file was here, and is not any more; ``elsewhere`` those whose file was never here. ``damaged``
    counts photos whose file is missing or damaged in the remote, as of the last ``backup.refresh`` or
    ``backup.verify``. ``trash`` counts the photos in the trash, ``hidden`` those that were deleted here
    while their files stayed. ``safe``: every photo is backed up.
    """

    present: FileCount
    missing: FileCount
    elsewhere: FileCount
    damaged: int
    trash: int
    hidden: int
    safe: bool


def trashed_from(answer: Dict[str, Any]) -> TrashedPhoto:
    """A photo of the trash."""
    return TrashedPhoto(photo_from(answer), answer["removed"])


def safety_from(answer: Dict[str, Any]) -> PhotoSafety:
    """The safety of a catalogue with its counts."""
    places = ("present", "missing", "elsewhere")
    counts = {place: record_from(FileCount, answer[place]) for place in places}
    return record_from(PhotoSafety, answer, **counts)


def photo_from(answer: Dict[str, Any]) -> Photo:
    """Makes a photo from a JSON object."""
    # Without __init__, which has no parameters for the state, and is slow.
    photo = object.__new__(Photo)
    known = answer.get
    for name in _ALL:
        object.__setattr__(photo, name, known(name))
    return photo


def _photo_or_none(answer: Optional[Dict[str, Any]]) -> Optional[Photo]:
    return None if answer is None else photo_from(answer)


def page_from(answer: Dict[str, Any]) -> PhotoPage:
    """A page with its photos."""
    return PhotoPage([photo_from(each) for each in answer["photos"]], answer["next"])


def status_from(answer: Dict[str, Any]) -> CatalogueStatus:
    """The state of a catalogue with its shards."""
    return record_from(CatalogueStatus, answer, shards=records_from(ShardStatus, answer["shards"]))


def change_from(answer: Dict[str, Any]) -> PhotoChange:
    """A change with its photos."""
    return record_from(
        PhotoChange,
        answer,
        photo=_photo_or_none(answer.get("photo")),
        base=_photo_or_none(answer.get("base")),
    )
