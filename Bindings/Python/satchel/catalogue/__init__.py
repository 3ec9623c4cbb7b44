"""The catalogue: content scoped to places, stored once, reused between them.

A location is a dict as :mod:`satchel.places` describes it. A section is a dict with ``section`` (its
name), ``display_title``, ``config``, ``action`` ("replace", the default, or "edit") and ``content``. Both
may be JSON text instead (bytes, bytearray, memoryview or str), which is passed on unchanged.

Inside the content every object that carries ``_storage``: {"entity_id", "scope", "ttl_hours" (default
168)} is an entity, stored once per entity id, scope, and place at that scope. Loading returns the content
as it was sent, without ``_storage``.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional

from satchel import _abi, _encoding
from satchel._encoding import Duration
from satchel._html import Rows
from satchel._library import check, json_answer, library
from satchel._long_work import LongWork, with_progress
from satchel._payloads import (
    Delivery,
    DeliveryDocument,
    Location,
    LocationDocument,
    SectionDocument,
    SectionPayload,
    persist_options,
    read_options,
    restriction,
)
from satchel.catalogue._reading import ReadableCatalogue
from satchel.catalogue._refreshing import (
    Network,
    RefreshFailure,
    RefreshReport,
    RefreshSkip,
    options,
    report_from,
)
from satchel.errors import InvalidArgument
from satchel.session import Session
from satchel.values import PruneReceipt, Receipt, Section, receipt_from, record_from, resolved_from

if TYPE_CHECKING:
    from satchel.catalogue.regions import Regions
    from satchel.sources import AnySource

__all__ = [
    "Catalogue",
    "Delivery",
    "Location",
    "RefreshFailure",
    "RefreshReport",
    "RefreshSkip",
    "SectionPayload",
]

_LARGEST = 2**63 - 1


class Catalogue(ReadableCatalogue):
    """The catalogue of a store: ``store.catalogue``.

    All methods may be called on any thread, also concurrently. All raise :class:`satchel.Closed` once the
    store is closed, and :class:`satchel.InvalidArgument` for a location that yields no key. Those that
    write may raise Busy, Full, ReadOnly and IOFailure; then nothing was changed.
    """

    __slots__ = ()

    @property
    def regions(self) -> Regions:
        """Returns the offline regions: named parts of the catalogue that stay."""
        from satchel.catalogue.regions import Regions

        return Regions(self._store)

    def persist(
        self,
        location: LocationDocument,
        section: SectionDocument,
        reuse: str = "unless_changed",
        etag: Optional[str] = None,
    ) -> Receipt:
        """Stores a section in one transaction; it is on the disk when this returns.

        :param location: the place of the content
        :param section: the section as the backend sent it
        :param reuse: "unless_changed": the same content only renews its expiry, changed content is
            updated; "until_expiry": a stored copy is kept unchanged until it expires
        :param etag: the entity tag of the answer, stored with the section; None for none
        :returns: the receipt; an object with an invalid ``_storage`` stays inline and is listed in
            ``problems``
        :raises InvalidArgument: for an invalid section; nothing is changed
        """
        return receipt_from(
            json_answer(
                library.satchel_catalogue_persist,
                self._store._pointer,
                _encoding.lend_document(location, "location"),
                _encoding.lend_document(section, "section"),
                ctypes.byref(persist_options(reuse, etag=etag)),
            )
        )

    def deliver(
        self,
        delivery: DeliveryDocument,
        complete: bool = False,
        reuse: str = "unless_changed",
        etag: Optional[str] = None,
    ) -> List[Receipt]:
        """Stores several sections of a location in one transaction; they are on the disk when this returns.

        :param delivery: {"location": …, "sections": [section, …]}
        :param complete: whether the delivery has all sections of the location: others that it has are
            removed, and it inherits none, until it is delivered again without, or one of them is removed
        :param reuse: as in :meth:`persist`
        :param etag: as in :meth:`persist`, for each of the sections
        :returns: a receipt for each section
        :raises InvalidArgument: for an invalid section; nothing is changed
        """
        receipts = json_answer(
            library.satchel_catalogue_deliver,
            self._store._pointer,
            _encoding.lend_document(delivery, "delivery"),
            ctypes.byref(persist_options(reuse, complete, etag)),
        )
        return Rows([receipt_from(each) for each in receipts])

    def renew(
        self,
        location: LocationDocument,
        section: Optional[str] = None,
        etag: Optional[str] = None,
        max_age: Optional[float] = None,
    ) -> int:
        """Renews what is stored for a location, as an answer that it is not modified (304) means.

        The sections and their entities expire by their time to live from now on, and ``fetched_at`` is now.
        The content stays, and observers are not notified.

        :param location: the place that the content was delivered for; nothing is inherited
        :param section: only the section with this name; None for all
        :param etag: the entity tag of the answer; None keeps those that are stored
        :param max_age: the time to live of the sections from now on, in seconds; None keeps their own
        :returns: the number of sections that were renewed; 0 when none is stored for the location
        :raises InvalidArgument: for a negative age
        """
        age = -1
        if max_age is not None:
            seconds = _encoding.number(max_age, "max_age")
            if not 0 <= seconds < 2**53:
                raise InvalidArgument(f"max_age: {max_age} is not a number of seconds")
            age = int(seconds)
        renewed = ctypes.c_int64()
        check(
            library.satchel_catalogue_renew(
                self._store._pointer,
                _encoding.lend_document(location, "location"),
                restriction(section, "section", _encoding.lend_text),
                restriction(etag, "etag", _encoding.lend_text),
                age,
                ctypes.byref(renewed),
            )
        )
        return renewed.value

    def refresh(
        self,
        location: LocationDocument,
        sections: Optional[Iterable[str]] = None,
        *,
        source: AnySource,
        force: bool = False,
        stale_after: float = 86400,
        network: Optional[Callable[[], Network]] = None,
    ) -> RefreshReport:
        """Asks a source for what is missing, expired or old at a location, and stores its answers.

        Only one request at a time is sent for a location and section, by all threads and processes; other
        calls wait for its answer. After a failure the next request is sent 5 seconds later, then 10, and
        so on up to an hour, up to half of it earlier, at random, also after a restart; what is stored stays.

        :param location: the place
        :param sections: the names of the sections, for each of which a request of its own is sent; None
            for one request for all of the location
        :param source: an :class:`satchel.HTTPSource`, or a callable or object as :class:`satchel.Source`
        :param force: asks also for what is fresh, and for what failed before its time
        :param stale_after: the age in seconds from which stored content is asked for again, where the
            source did not say how long it is fresh
        :param network: asked before each request; "metered" asks only for what is missing or expired,
            "none" for nothing. An exception goes to ``sys.unraisablehook`` and counts as "metered"
        :raises InvalidArgument: in a batch, and for a negative ``stale_after``
        :raises Busy: in a function of a source
        """
        from satchel.sources._host import lent

        if isinstance(sections, (str, bytes)):
            raise InvalidArgument("sections must be an iterable of names, not one str")
        place = _encoding.lend_document(location, "location")
        names = restriction(None if sections is None else list(sections), "sections", _encoding.lend_value)
        work = LongWork(self._store._owner)
        with lent(source, work) as (handle, host):
            wanted = options(force, stale_after, network)
            call = with_progress(
                wanted, library.satchel_catalogue_refresh, self._store._pointer, place, names, handle
            )
            return report_from(work.run(call), host)

    def load_from(
        self,
        location: LocationDocument,
        section: str,
        *,
        source: AnySource,
        force: bool = False,
        stale_after: float = 86400,
        network: Optional[Callable[[], Network]] = None,
        inherit: bool = True,
        nearby: float = 5000,
    ) -> Optional[Section]:
        """A section with its content, which a source keeps fresh.

        What is stored is returned at once, also when it is expired; the source is then asked on a thread
        of the library, if that is due, and observers and sessions are notified of what has changed. Where
        nothing is stored, the call waits for the source.

        :param location: the place of the content
        :param section: the section's name
        :param source: as in :meth:`refresh`; its functions are called also after this call
        :param force: as in :meth:`refresh`
        :param stale_after: as in :meth:`refresh`
        :param network: as in :meth:`refresh`
        :param inherit: as in :meth:`sections`
        :param nearby: as in :meth:`sections`
        :returns: None when neither the store nor the source has the section
        :raises Unavailable: when nothing is stored and the source fails, or is not to be asked yet
        """
        from satchel.sources._host import lent

        place = _encoding.lend_document(location, "location")
        name = _encoding.lend_text(section, "section")
        reading = ctypes.byref(read_options(inherit, nearby))
        work = LongWork(self._store._owner)
        with lent(source, work) as (handle, _):
            wanted = options(force, stale_after, network)
            call = with_progress(
                wanted,
                library.satchel_catalogue_load_from,
                self._store._pointer,
                place,
                name,
                handle,
                reading,
            )
            found = work.run(call)
        return None if found is None else record_from(Section, found, **resolved_from(found))

    def delete_entity(self, entity_id: str) -> PruneReceipt:
        """Deletes the content of an entity, with all its variants.

        Sections that refer to it list it as missing, until it is delivered again.

        :param entity_id: such as "cuisine:xiaolongbao"
        :returns: what was deleted; nothing when it is not stored
        """
        receipt = json_answer(
            library.satchel_catalogue_delete_entity,
            self._store._pointer,
            _encoding.lend_text(entity_id, "entity_id"),
        )
        return record_from(PruneReceipt, receipt)

    def delete_context(self, location: LocationDocument) -> PruneReceipt:
        """Deletes the content that was delivered for a location itself.

        :param location: the place of the content
        :returns: what was deleted: its sections, and the entities that only they refer to
        """
        receipt = json_answer(
            library.satchel_catalogue_delete_context,
            self._store._pointer,
            _encoding.lend_document(location, "location"),
        )
        return record_from(PruneReceipt, receipt)

    def set_active_location(self, location: Optional[LocationDocument]) -> None:
        """Stores the location of the user, across restarts.

        A byte budget evicts the content of the active location last.

        :param location: the place where the user is; None clears it
        """
        lent = _encoding.NOTHING if location is None else _encoding.lend_document(location, "location")
        check(library.satchel_catalogue_set_active_location(self._store._pointer, lent))

    def active_location(self) -> Optional[Dict[str, Any]]:
        """The active location, as set; None when it is not set."""
        found: Optional[Dict[str, Any]] = json_answer(
            library.satchel_catalogue_active_location, self._store._pointer
        )
        return found

    def assets(self, section: str, paths: Iterable[str]) -> None:
        """Declares members of a section whose strings are URLs of assets.

        They are fetched, counted and pruned as objects with the member ``_asset`` are: see
        :mod:`satchel.assets`. The content stays as it is; what is stored already is looked through again.

        :param section: the section's name
        :param paths: JSON Pointers into its content, "*" for any member or element: "/cards/*/image"; they
            replace those that were declared before, and none ends the declaration
        :raises InvalidArgument: for a path that is not a pointer
        """
        given = _encoding.lend_value([*paths], "paths")
        check(
            library.satchel_catalogue_assets(
                self._store._pointer, _encoding.lend_text(section, "section"), given
            )
        )

    def prune(
        self,
        expired: bool = True,
        unreferenced: bool = False,
        section: Optional[str] = None,
        scope: Optional[str] = None,
        location: Optional[LocationDocument] = None,
        contexts_unused_for: Optional[Duration] = None,
        max_bytes: Optional[int] = None,
    ) -> PruneReceipt:
        """Removes content, and shrinks the file.

        The content of offline regions stays, also where it has expired.
        ``section``, ``scope`` and ``location`` restrict ``expired`` and ``unreferenced``; when both of these
        are false, everything in the restriction is removed. A removed entity that a section still refers to
        is listed as missing until it is delivered again.

        :param expired: content of entities that have expired
        :param unreferenced: entities that no section refers to any more
        :param section: only entities of the section with this name
        :param scope: only entities of this scope
        :param location: only entities of this location's own content
        :param contexts_unused_for: removes places neither written nor read for this long, a timedelta or
            milliseconds, with the entities that only they refer to; the active location stays
        :param max_bytes: then removes, while the catalogue's entities and templates have more bytes: expired
            and unreferenced entities, then whole places, the least recently used first; what the active
            location shows and the content of offline regions stay
        :returns: the numbers of removed entities, contexts and bytes
        :raises InvalidArgument: for an empty name, a negative number, or an invalid location
        """
        unused_for, budget = -1, -1
        if contexts_unused_for is not None:
            unused_for = _encoding.milliseconds(contexts_unused_for, "contexts_unused_for", _LARGEST)
        if max_bytes is not None:
            budget = _encoding.whole(max_bytes, "max_bytes", 0, _LARGEST)
        options = _abi.PruneOptions(
            expired=bool(expired),
            unreferenced=bool(unreferenced),
            section=restriction(section, "section", _encoding.lend_text),
            scope=restriction(scope, "scope", _encoding.lend_text),
            location=restriction(location, "location", _encoding.lend_document),
            contexts_unused_for_ms=unused_for,
            max_bytes=budget,
        )
        receipt = json_answer(library.satchel_catalogue_prune, self._store._pointer, ctypes.byref(options))
        return record_from(PruneReceipt, receipt)

    def session(
        self,
        callback: Optional[Callable[[Dict[str, Any]], object]] = None,
        nearby: float = 5000,
        *,
        source: Optional[AnySource] = None,
        stale_after: float = 86400,
        network: Optional[Callable[[], Network]] = None,
    ) -> Session:
        """Makes a session: the content of one screen.

        :param callback: receives the session's events as dicts; see :class:`satchel.Session`
        :param nearby: as in :meth:`sections`
        :param source: keeps what is shown fresh: it is asked for what is missing, expired or old, also again
            after a failure; None for a host that fetches content itself
        :param stale_after: as in :meth:`refresh`
        :param network: as in :meth:`refresh`
        :returns: a new session; close it when the screen is gone
        :raises InvalidArgument: for a negative distance
        """
        return Session(self._store, callback, nearby, source, stale_after, network)
