"""The asynchronous twins of Catalogue, Session; written by generate_aio.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel.aio._calls import ClosingTwin, Twin, twin_of
from satchel.catalogue import Catalogue as BlockingCatalogue
from satchel.session import Session as BlockingSession

if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, List, Literal, Optional

    from satchel._encoding import Duration
    from satchel._payloads import DeliveryDocument, LocationDocument, SectionDocument
    from satchel.session import SessionState
    from satchel.values import (
        Context,
        Entity,
        Nearby,
        Plan,
        PruneReceipt,
        Receipt,
        SearchHit,
        Section,
        SectionHeader,
        StoredEntity,
    )

__all__ = ["Catalogue", "Session"]


@twin_of(BlockingCatalogue)
class Catalogue(Twin):
    """The asynchronous twin of :class:`satchel.Catalogue`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingCatalogue

    async def persist(
        self,
        location: LocationDocument,
        section: SectionDocument,
        reuse: str = "unless_changed",
    ) -> Receipt:
        """As :meth:`satchel.Catalogue.persist`."""
        return await self._calls.write(lambda: self._blocking.persist(location, section, reuse))

    async def deliver(
        self,
        delivery: DeliveryDocument,
        complete: bool = False,
        reuse: str = "unless_changed",
    ) -> List[Receipt]:
        """As :meth:`satchel.Catalogue.deliver`."""
        return await self._calls.write(lambda: self._blocking.deliver(delivery, complete, reuse))

    async def sections(
        self,
        location: LocationDocument,
        inherit: bool = True,
        nearby: float = 5000,
    ) -> List[SectionHeader]:
        """As :meth:`satchel.Catalogue.sections`."""
        return await self._calls.read(lambda: self._blocking.sections(location, inherit, nearby))

    async def load(
        self,
        location: LocationDocument,
        section: str,
        allow_expired: bool = False,
        inherit: bool = True,
        nearby: float = 5000,
    ) -> Optional[Section]:
        """As :meth:`satchel.Catalogue.load`."""
        return await self._calls.read(
            lambda: self._blocking.load(location, section, allow_expired, inherit, nearby)
        )

    async def plan(
        self,
        location: LocationDocument,
        inherit: bool = True,
        nearby: float = 5000,
    ) -> Dict[str, Plan]:
        """As :meth:`satchel.Catalogue.plan`."""
        return await self._calls.read(lambda: self._blocking.plan(location, inherit, nearby))

    async def has_cached(
        self,
        location: LocationDocument,
        nearby: float = 5000,
    ) -> Optional[Literal['exact', 'inherited']]:
        """As :meth:`satchel.Catalogue.has_cached`."""
        return await self._calls.read(lambda: self._blocking.has_cached(location, nearby))

    async def locate(self, latitude: float, longitude: float, within: float = 5000) -> List[Nearby]:
        """As :meth:`satchel.Catalogue.locate`."""
        return await self._calls.read(lambda: self._blocking.locate(latitude, longitude, within))

    async def search(
        self,
        text: str,
        location: Optional[LocationDocument] = None,
        limit: int = 20,
        allow_expired: bool = False,
        nearby: float = 5000,
    ) -> List[SearchHit]:
        """As :meth:`satchel.Catalogue.search`."""
        return await self._calls.read(
            lambda: self._blocking.search(text, location, limit, allow_expired, nearby)
        )

    async def entity(
        self,
        entity_id: str,
        location: LocationDocument,
        nearby: float = 5000,
    ) -> Optional[Entity]:
        """As :meth:`satchel.Catalogue.entity`."""
        return await self._calls.read(lambda: self._blocking.entity(entity_id, location, nearby))

    async def contexts(self, level: Optional[str] = None) -> List[Context]:
        """As :meth:`satchel.Catalogue.contexts`."""
        return await self._calls.read(lambda: self._blocking.contexts(level))

    async def entities(self, section: str) -> List[StoredEntity]:
        """As :meth:`satchel.Catalogue.entities`."""
        return await self._calls.read(lambda: self._blocking.entities(section))

    async def delete_entity(self, entity_id: str) -> PruneReceipt:
        """As :meth:`satchel.Catalogue.delete_entity`."""
        return await self._calls.write(lambda: self._blocking.delete_entity(entity_id))

    async def delete_context(self, location: LocationDocument) -> PruneReceipt:
        """As :meth:`satchel.Catalogue.delete_context`."""
        return await self._calls.write(lambda: self._blocking.delete_context(location))

    async def set_active_location(self, location: Optional[LocationDocument]) -> None:
        """As :meth:`satchel.Catalogue.set_active_location`."""
        await self._calls.write(lambda: self._blocking.set_active_location(location))

    async def active_location(self) -> Optional[Dict[str, Any]]:
        """As :meth:`satchel.Catalogue.active_location`."""
        return await self._calls.read(lambda: self._blocking.active_location())

    async def prune(
        self,
        expired: bool = True,
        unreferenced: bool = False,
        section: Optional[str] = None,
        scope: Optional[str] = None,
        location: Optional[LocationDocument] = None,
        contexts_unused_for: Optional[Duration] = None,
        max_bytes: Optional[int] = None,
    ) -> PruneReceipt:
        """As :meth:`satchel.Catalogue.prune`."""
        return await self._calls.write(
            lambda: self._blocking.prune(
                expired,
                unreferenced,
                section,
                scope,
                location,
                contexts_unused_for,
                max_bytes,
            )
        )

    async def session(self, callback: Optional[Callable[[Dict[str, Any]], object]] = None) -> Session:
        """As :meth:`satchel.Catalogue.session`; ``callback`` is called on the event loop."""
        return Session(self._calls, await self._calls.write(
            lambda: self._blocking.session(self._calls.later(callback))
        ))


@twin_of(BlockingSession)
class Session(ClosingTwin):
    """The asynchronous twin of :class:`satchel.Session`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingSession

    async def show(self, location: LocationDocument) -> None:
        """As :meth:`satchel.Session.show`."""
        await self._calls.write(lambda: self._blocking.show(location))

    async def handle(self, section: SectionDocument) -> Receipt:
        """As :meth:`satchel.Session.handle`."""
        return await self._calls.write(lambda: self._blocking.handle(section))

    async def load(self, section: str) -> None:
        """As :meth:`satchel.Session.load`."""
        await self._calls.write(lambda: self._blocking.load(section))

    async def fail(self, section: str, reason: str) -> None:
        """As :meth:`satchel.Session.fail`."""
        await self._calls.write(lambda: self._blocking.fail(section, reason))

    async def set_order(self, sections: Iterable[str]) -> None:
        """As :meth:`satchel.Session.set_order`."""
        await self._calls.write(lambda: self._blocking.set_order(sections))

    async def state(self) -> SessionState:
        """As :meth:`satchel.Session.state`."""
        return await self._calls.read(lambda: self._blocking.state())
