"""Photo catalogues: the photos of a directory, synchronised between devices through an object store.

>>> with satchel.open("album.satchel") as store, store.photos("/home/ada/Pictures") as photos:
...     photos.scan()
...     for photo in photos.iterate(filename="IMG_*", order="photodate"):
...         print(photo.taken_at, photo.filename)
...     report = photos.sync(satchel.remote.Directory("/mnt/album"), "ada")

A photo is identified by the MD5 of its bytes. A parameter that names a photo accepts the MD5 as 32
hexadecimal digits or as 16 bytes, or a :class:`Photo`. Dates of photos are Unix seconds, other times Unix
milliseconds; a ``datetime`` with a time zone is accepted for both.
"""

from __future__ import annotations

from satchel._photo_reports import (
    DirectoryExport,
    DirectoryImport,
    DuplicateFile,
    FileRemark,
    ImportReport,
    RejectedRow,
    ScanProgress,
    ScanReport,
    ShardFailure,
    SyncProgress,
    SyncReport,
    VerifiedShard,
    VerifyReport,
)
from satchel._photo_values import (
    CatalogueStatus,
    Photo,
    PhotoChange,
    PhotoConflict,
    PhotoPage,
    ShardStatus,
)
from satchel.photo_backup import PhotoBackup
from satchel.photo_catalogue import PhotoCatalogue

__all__ = [
    "CatalogueStatus",
    "DirectoryExport",
    "DirectoryImport",
    "DuplicateFile",
    "FileRemark",
    "ImportReport",
    "Photo",
    "PhotoBackup",
    "PhotoCatalogue",
    "PhotoChange",
    "PhotoConflict",
    "PhotoPage",
    "RejectedRow",
    "ScanProgress",
    "ScanReport",
    "ShardFailure",
    "ShardStatus",
    "SyncProgress",
    "SyncReport",
    "VerifiedShard",
    "VerifyReport",
]
