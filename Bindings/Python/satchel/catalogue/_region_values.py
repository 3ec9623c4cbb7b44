"""The answers of offline regions: sizes, summaries and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Type, TypeVar

from satchel.values import record_from, records_from

__all__ = [
    "RegionDeletion",
    "RegionExport",
    "RegionFailure",
    "RegionProgress",
    "RegionReport",
    "RegionSize",
    "RegionSummary",
    "report_from",
    "summary_from",
]

_Sized = TypeVar("_Sized")


@dataclass(frozen=True)
class RegionSize:
    """The sizes of a region, as far as the store knows them.

    A download makes ``requests`` for content, of which ``requests_left`` are left. Here are ``sections`` and
    ``entities`` with ``bytes`` of content, and ``assets`` with ``asset_bytes``; of the entities, ``missing``
    are no longer stored, and ``expired`` are expired. To come are ``assets_left``, with
    ``asset_bytes_left`` for those whose size is known and ``unknown_sizes`` others; ``too_large`` are larger
    than the region allows.
    """

    requests: int
    requests_left: int
    sections: int
    entities: int
    missing: int
    expired: int
    bytes: int
    assets: int
    asset_bytes: int
    assets_left: int
    asset_bytes_left: int
    unknown_sizes: int
    too_large: int


@dataclass(frozen=True)
class RegionFailure:
    """A part of a region that could not be downloaded.

    It is a ``location``, with a ``section`` or None for all of it, or an ``asset``; ``message`` says why.
    """

    location: Optional[Dict[str, Any]]
    section: Optional[str]
    asset: Optional[Dict[str, Any]]
    message: str


@dataclass(frozen=True)
class RegionSummary:
    """A region with its state.

    It has a ``name``, a ``definition`` as a dict, a ``state`` ("new", "partial", "complete", or "stale": all
    is here, and some of it is expired), a ``size``, and ``failed``: what could not be downloaded.
    ``created_at``, ``updated_at`` (when it was last defined) and ``downloaded_at`` (when a download last had
    nothing left to do, or None) are Unix milliseconds.
    """

    name: str
    definition: Dict[str, Any]
    state: str
    size: RegionSize
    failed: List[RegionFailure]
    created_at: int
    updated_at: int
    downloaded_at: Optional[int]


@dataclass(frozen=True)
class RegionProgress:
    """How far a download is.

    ``items_done`` of ``items`` requests and assets are done, with ``bytes_done`` of ``bytes``, as far as they
    are known. What fails is not done. What is done never goes back, also when a download was broken off and
    begins again.
    """

    items_done: int
    items: int
    bytes_done: int
    bytes: int


@dataclass(frozen=True)
class RegionReport:
    """The result of a download.

    ``state`` is the one afterwards, and ``size`` the sizes. ``requests`` for content were sent, with
    ``content_bytes`` of answers: ``refreshed`` sections were stored, ``unchanged`` had not changed, and for
    ``not_found`` requests the source has no content. ``assets`` were fetched, with ``asset_bytes``.
    ``failed`` lists what failed, and ``waiting`` counts what was left for a later call.
    """

    state: str
    requests: int
    content_bytes: int
    refreshed: int
    unchanged: int
    not_found: int
    assets: int
    asset_bytes: int
    failed: List[RegionFailure]
    waiting: int
    size: RegionSize


@dataclass(frozen=True)
class RegionDeletion:
    """The result of deleting a region.

    ``sections`` and ``entities`` with ``bytes``, and ``assets`` with ``asset_bytes`` were removed; the file
    shrank by ``file_bytes``. ``waiting_files`` of assets are deleted by a later prune, because a reader or a
    backup uses files of the folder.
    """

    sections: int
    entities: int
    bytes: int
    assets: int
    asset_bytes: int
    file_bytes: int
    waiting_files: int


@dataclass(frozen=True)
class RegionExport:
    """The content of a file of a region.

    It has ``sections``, ``entities`` and ``assets``; ``missing_assets`` are not here, or are encrypted here.
    The file has ``bytes``.
    """

    sections: int
    entities: int
    assets: int
    missing_assets: int
    bytes: int


def _sized(kind: Type[_Sized], answer: Dict[str, Any]) -> _Sized:
    """An answer of the library that has the size of a region, and what failed."""
    size, failed = record_from(RegionSize, answer["size"]), records_from(RegionFailure, answer["failed"])
    return record_from(kind, answer, size=size, failed=failed)


def summary_from(answer: Dict[str, Any]) -> RegionSummary:
    """The summary of the library."""
    return _sized(RegionSummary, answer)


def report_from(answer: Dict[str, Any]) -> RegionReport:
    """The report of the library."""
    return _sized(RegionReport, answer)
