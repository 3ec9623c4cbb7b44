"""Asking a source for the content of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Literal, Optional

from satchel import _abi, _callbacks, _encoding
from satchel.values import record_from, records_from

__all__ = ["RefreshFailure", "RefreshReport", "RefreshSkip", "options", "report_from", "set_network"]

#: The network, as the host sees it.
Network = Literal["none", "metered", "free"]

_NETWORKS = {"free": 0, "metered": 1, "none": 2}
_LARGEST = 2**53


@dataclass(frozen=True)
class RefreshFailure:
    """A request that failed: for ``section``, or for all of the location where that is None.

    ``message`` is the cause. ``pointer`` is where an answer that cannot be stored is wrong, or None.
    ``retry_at`` is the time of the next attempt in Unix milliseconds; ``error`` is the exception of a
    source that is a function, or None.
    """

    section: Optional[str]
    message: str
    pointer: Optional[str]
    retry_at: int
    error: Optional[BaseException] = None


@dataclass(frozen=True)
class RefreshSkip:
    """A request that was not sent: for ``section``, or all of the location where that is None.

    ``reason`` is "fresh", "waiting" (it failed before, and its time has not come), "network", or "busy"
    (another call was asking).
    """

    section: Optional[str]
    reason: str


@dataclass(frozen=True)
class RefreshReport:
    """The result of :meth:`satchel.Catalogue.refresh`.

    ``refreshed`` and ``unchanged`` are the names of sections, ``not_found`` those that the source does not
    have, with None for the location. ``failed`` and ``skipped`` list the others. ``requests`` is the
    number of requests that were sent, ``bytes`` the size of their answers.
    """

    refreshed: List[str]
    unchanged: List[str]
    not_found: List[Optional[str]]
    failed: List[RefreshFailure]
    skipped: List[RefreshSkip]
    requests: int
    bytes: int


def options(force: bool, stale_after: float, network: Optional[Callable[[], Network]]) -> _abi.RefreshOptions:
    """The options of the library; it releases the function when it does not need it any more."""
    made = _abi.RefreshOptions(
        force=bool(force),
        stale_after=_encoding.whole(
            int(_encoding.number(stale_after, "stale_after")), "stale_after", 0, _LARGEST
        ),
    )
    set_network(made, network)
    return made


def set_network(options: Any, network: Optional[Callable[[], Network]]) -> None:
    """Adds a host's function that reports the network to options."""
    if network is not None:
        _encoding.check_callable(network, "network")
        options.network = _on_network
        options.network_context = _callbacks.register(network, 0)
        options.release_network = _callbacks.on_release


def report_from(found: Dict[str, Any], asked: Any) -> RefreshReport:
    """The report of the library.

    :param asked: the functions of the host, whose exceptions the failures have; None for a server
    """
    failed = []
    for each in found["failed"]:
        cause = None if asked is None else asked.error_of(each["section"])
        failed.append(record_from(RefreshFailure, each, error=cause))
    return record_from(
        RefreshReport, found, failed=failed, skipped=records_from(RefreshSkip, found["skipped"])
    )


def _network(context: Optional[int]) -> int:
    # No exception may cross C; without an answer nothing that can wait is asked for.
    try:
        function, _ = _callbacks.lookup(context)
        return _NETWORKS["metered"] if function is None else _NETWORKS[function()]
    except BaseException as error:
        _callbacks.report(error, "a function that reports the network")
        return _NETWORKS["metered"]


_on_network = _abi.NetworkCallback(_network)
