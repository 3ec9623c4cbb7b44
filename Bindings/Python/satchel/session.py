"""A session: the content of one screen."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Tuple

from satchel import _abi, _callbacks, _encoding
from satchel._handles import Dependent, Handle
from satchel._library import check, json_answer, library
from satchel._payloads import LocationDocument, SectionDocument
from satchel.errors import InvalidArgument
from satchel.values import Receipt, Resolved, dataclass, receipt_from, record_from, resolved_from

if TYPE_CHECKING:
    from satchel.catalogue._refreshing import Network
    from satchel.sources import AnySource
    from satchel.store import Store

__all__ = ["Session", "SessionSection", "SessionState"]


@dataclass(frozen=True)
class SessionSection:
    """A section of a screen, by its name ``section``.

    ``state`` is "placeholder", "loading", "loaded" or "failed". ``error`` is why it could not be fetched or
    read last, or None; a section with content stays loaded. ``refreshing`` is whether content that is shown
    is read again,
    or the source is asked for the section.
    ``display_title``, ``config``, ``entity_count``, ``level`` and ``resolved`` are those of its header.
    ``fetched_at`` is when it was last delivered or renewed, in Unix milliseconds, or None while nothing is
    stored of it; a renewal that the session did not cause is seen when it reads the section next.
    ``content`` is None until it is loaded; ``expired`` and ``missing`` are then the ids of expired and of
    missing entities.
    """

    section: str
    state: str
    display_title: Optional[str]
    config: Any
    entity_count: Optional[int]
    level: Optional[str]
    resolved: Dict[str, Resolved]
    content: Any
    expired: List[str]
    missing: List[str]
    fetched_at: Optional[int]
    refreshing: bool
    error: Optional[str]


@dataclass(frozen=True)
class SessionState:
    """The content of a screen: its ``sections``, in their order.

    ``location`` is the shown location, ``level`` the most specific level of its sections; both are None
    before :meth:`Session.show`. ``refreshing`` is whether the source is asked for all of the location, and
    ``error`` why it did not answer that last, or None.
    """

    location: Optional[Dict[str, Any]]
    level: Optional[str]
    sections: List[SessionSection]
    refreshing: bool
    error: Optional[str]


@contextlib.contextmanager
def _asking(
    source: Optional[AnySource],
    store: Store,
    stale_after: float,
    network: Optional[Callable[[], Network]],
) -> Iterator[Tuple[Optional[int], Any]]:
    """The handle of a source, and how to ask it, for the call that makes a session."""
    if source is None:
        yield None, None
        return
    # Here, because most sessions have no source.
    from satchel._long_work import LongWork
    from satchel.catalogue._refreshing import options
    from satchel.sources._host import lent

    with lent(source, LongWork(store._owner)) as (handle, _):
        yield handle, ctypes.pointer(options(False, stale_after, network))


class Session(Dependent):
    """Notifies its host of changes, and of content to fetch; it draws nothing.

    Section states go placeholder → loading → loaded | failed. It is live: a commit of any store or process
    that changes what it shows is an event, and content that is shown stays until there is other content, or
    nothing is stored of its section any more. Made by ``store.catalogue.session()``, closed by
    :meth:`close`, at the end of a ``with`` block, or with the store.

    The callback receives dicts whose "event" is "sections", "section" or "refresh": on the thread that
    caused them or on one that is about to report a later one, and on a thread of the library when content
    was loaded or a commit changed it; in their order, and never concurrently for one session. Its exceptions
    go to ``sys.unraisablehook``.

    The methods may be called on any thread; they raise :class:`satchel.Closed` after closing.
    """

    __slots__ = ("_store",)

    def __init__(
        self,
        store: Store,
        callback: Optional[Callable[[Dict[str, Any]], object]] = None,
        nearby: float = 5000,
        source: Optional[AnySource] = None,
        stale_after: float = 86400,
        network: Optional[Callable[[], Network]] = None,
    ) -> None:
        if callback is not None:
            _encoding.check_callable(callback, "callback")
        self._store = store
        pointer = store._pointer
        options = _abi.SessionOptions(nearby=_encoding.number(nearby, "nearby"))
        function, context = _callbacks.no_event, 0
        if callback is not None:
            function, context = _callbacks.on_event, _callbacks.register(callback, store._owner)
        with _asking(source, store, stale_after, network) as (asked, refresh):
            options.source, options.refresh = asked, refresh
            handle = Handle.made_by(
                "session",
                library.satchel_session_new,
                pointer,
                ctypes.byref(options),
                function,
                context,
                _callbacks.on_release,
            )
        super().__init__(handle, store._owner, library.satchel_session_free)
        store._adopt(self)

    def show(self, location: LocationDocument) -> None:
        """Shows a location: its headers at once, from the store; then the event "refresh" follows.

        A location that is shown already keeps what is loaded.

        :param location: the place to show, which becomes the active location
        :raises InvalidArgument: for a location that yields no key
        :raises Busy, Full, IOFailure: when the active location cannot be written; the location is shown
        """
        lent = _encoding.lend_document(location, "location")
        check(library.satchel_session_show(self._handle.pointer, lent))

    def handle(self, section: SectionDocument) -> Receipt:
        """Persists a section for the session's location, and shows it; in a batch, after the commit.

        :param section: the section as the backend sent it
        :returns: the receipt; see :meth:`satchel.Catalogue.persist`
        :raises InvalidArgument: for an invalid section, and before :meth:`show`; nothing is changed
        :raises Busy, Full, ReadOnly, IOFailure: when it cannot be written; nothing is changed
        """
        lent = _encoding.lend_document(section, "section")
        return receipt_from(json_answer(library.satchel_session_handle, self._handle.pointer, lent))

    def load(self, section: str) -> None:
        """Loads a section's content; the event "section" follows on a thread of the library.

        Content that is loaded stays meanwhile.

        :param section: the section's name
        :raises InvalidArgument: before :meth:`show`
        """
        lent = _encoding.lend_text(section, "section")
        check(library.satchel_session_load(self._handle.pointer, lent))

    def refresh(self) -> None:
        """Asks the source again, also for what is fresh, as when somebody pulls the list down.

        Returns at once. The session is ``refreshing`` from then on, until the answer or the ``error`` is
        shown; the event "sections" reports the end. Without a source it does nothing.

        :raises InvalidArgument: before :meth:`show`
        """
        check(library.satchel_session_refresh(self._handle.pointer))

    def fail(self, section: str, reason: str) -> None:
        """Reports that the host could not fetch a section. A section that is loaded remains loaded.

        :param section: the section's name
        :param reason: the cause, for the section's ``error``
        :raises InvalidArgument: before :meth:`show`
        """
        lent = _encoding.lend_text(section, "section"), _encoding.lend_text(reason, "reason")
        check(library.satchel_session_fail(self._handle.pointer, *lent))

    def set_order(self, sections: Iterable[str]) -> None:
        """Orders the sections. The store keeps the order for later sessions, unless it is read-only.

        :param sections: names of sections; those not named follow in the order of delivery
        :raises InvalidArgument: for a single str
        """
        if isinstance(sections, (str, bytes)):
            raise InvalidArgument("sections must be an iterable of names, not one str")
        lent = _encoding.lend_value(list(sections), "sections")
        check(library.satchel_session_set_order(self._handle.pointer, lent))

    def state(self) -> SessionState:
        """The current content of the screen."""
        answer = json_answer(library.satchel_session_state, self._handle.pointer)
        sections = [record_from(SessionSection, each, **resolved_from(each)) for each in answer["sections"]]
        return record_from(SessionState, answer, sections=sections)

    def __repr__(self) -> str:
        return f"<satchel.Session of {self._store.path!r}{', closed' if self.closed else ''}>"
