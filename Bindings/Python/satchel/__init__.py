"""Satchel: the offline content layer for apps, over one SQLite file.

>>> with satchel.open("guide.satchel") as store:
...     receipt = store.catalogue.persist(location, section)
...     for header in store.catalogue.sections(location):
...         print(header.display_title, header.entity_count)

A store gives access to the subjects: ``store.catalogue``, ``store.stories(directory)``,
``store.photos(directory)``, ``store.records(name)``, ``store.state`` and ``store.assets``. The modules of
the same names describe them; ``store.sync(remote, user)`` synchronizes them with the object stores of
:mod:`satchel.remote`, :mod:`satchel.backup` backups and recovery, :mod:`satchel.json` and
:mod:`satchel.places` functions that need no store, :mod:`satchel.errors` the errors. :mod:`satchel.aio`,
which is imported by its name, has the same objects for asyncio.

Threads: a store may be used from any number of threads at once; calls release the GIL.
Processes: several may open one file. Open a store after ``fork``: one opened before is closed in the
child. Times are Unix milliseconds; the dates of photos are Unix seconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

from satchel import catalogue, errors, json, places, sync
from satchel._interrupts import Interrupt
from satchel._numbers import BigNumber
from satchel._types import register_type
from satchel.catalogue import Catalogue, Delivery, Location, SectionPayload
from satchel.errors import (
    Busy,
    Cancelled,
    Closed,
    Conflict,
    ConstraintViolation,
    Damaged,
    ForeignFile,
    Full,
    InternalError,
    InvalidArgument,
    IOFailure,
    LargeStringWarning,
    NewerStore,
    NotFound,
    OutOfMemory,
    QueryWarning,
    ReadOnly,
    SatchelError,
    SchemaWarning,
    TimedOut,
    Unauthorized,
    Unavailable,
    UnsoundStory,
)
from satchel.observer import Change, Observer, RecordKey, StateKey
from satchel.session import Session, SessionSection, SessionState
from satchel.store import Store, library_version, open
from satchel.sync import AccountDeletionReport, ConflictEntry, StoreSyncReport
from satchel.values import (
    ClockCorrection,
    Context,
    Entity,
    Finding,
    Nearby,
    Plan,
    Problem,
    PruneReceipt,
    Receipt,
    Resolved,
    SearchHit,
    Section,
    SectionHeader,
    StoredEntity,
    StoreInfo,
)

if TYPE_CHECKING:
    from satchel import assets, backup, photos, records, remote, sources, state, stories
    from satchel.assets import Asset
    from satchel.backup import Backup, recover, restore
    from satchel.catalogue.regions import Region, RegionProgress, Regions
    from satchel.photos import Photo, PhotoCatalogue
    from satchel.records import Record, Records
    from satchel.remote import NOT_MODIFIED, SyncProgress
    from satchel.sources import (
        ContentRequest,
        Fetched,
        HTTPSource,
        NotFoundAtSource,
        Retry,
        Source,
        SourceError,
    )
    from satchel.state import State
    from satchel.stories import StoryLibrary

__all__ = [
    "NOT_MODIFIED",
    "AccountDeletionReport",
    "Asset",
    "Backup",
    "BigNumber",
    "Busy",
    "Cancelled",
    "Catalogue",
    "Change",
    "ClockCorrection",
    "Closed",
    "Conflict",
    "ConflictEntry",
    "ConstraintViolation",
    "ContentRequest",
    "Context",
    "Damaged",
    "Delivery",
    "Entity",
    "Fetched",
    "Finding",
    "ForeignFile",
    "Full",
    "HTTPSource",
    "IOFailure",
    "InternalError",
    "Interrupt",
    "InvalidArgument",
    "LargeStringWarning",
    "Location",
    "Nearby",
    "NewerStore",
    "NotFound",
    "NotFoundAtSource",
    "Observer",
    "OutOfMemory",
    "Photo",
    "PhotoCatalogue",
    "Plan",
    "Problem",
    "PruneReceipt",
    "QueryWarning",
    "ReadOnly",
    "Receipt",
    "Record",
    "RecordKey",
    "Records",
    "Region",
    "RegionProgress",
    "Regions",
    "Resolved",
    "Retry",
    "SatchelError",
    "SchemaWarning",
    "SearchHit",
    "Section",
    "SectionHeader",
    "SectionPayload",
    "Session",
    "SessionSection",
    "SessionState",
    "Source",
    "SourceError",
    "State",
    "StateKey",
    "Store",
    "StoreInfo",
    "StoreSyncReport",
    "StoredEntity",
    "StoryLibrary",
    "SyncProgress",
    "TimedOut",
    "Unauthorized",
    "Unavailable",
    "UnsoundStory",
    "__version__",
    "assets",
    "backup",
    "catalogue",
    "errors",
    "json",
    "library_version",
    "open",
    "photos",
    "places",
    "records",
    "recover",
    "register_type",
    "remote",
    "restore",
    "sources",
    "state",
    "stories",
    "sync",
]

__version__ = "0.1.0"

# Names that not every program uses are imported at their first use: importing takes longer than opening a
# store.
_LATER = {
    "NOT_MODIFIED": "remote",
    "Asset": "assets",
    "Backup": "backup",
    "ContentRequest": "sources",
    "Fetched": "sources",
    "HTTPSource": "sources",
    "NotFoundAtSource": "sources",
    "Photo": "photos",
    "PhotoCatalogue": "photos",
    "Record": "records",
    "Records": "records",
    "Region": "catalogue.regions",
    "RegionProgress": "catalogue.regions",
    "Regions": "catalogue.regions",
    "Retry": "sources",
    "Source": "sources",
    "SourceError": "sources",
    "State": "state",
    "StoryLibrary": "stories",
    "SyncProgress": "remote",
    "recover": "backup",
    "restore": "backup",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        value = getattr(import_module(f"satchel.{_LATER[name]}"), name)
        globals()[name] = value
        return value
    if name in _LATER.values():
        return import_module(f"satchel.{name}")
    raise AttributeError(f"module 'satchel' has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
