"""The arguments of the catalogue: dicts, with types for checkers and editors, and options."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Literal, Optional, TypedDict, Union

from satchel import _abi, _encoding
from satchel._encoding import Document
from satchel.errors import InvalidArgument

__all__ = [
    "Delivery",
    "DeliveryDocument",
    "Location",
    "LocationDocument",
    "SectionDocument",
    "SectionPayload",
    "persist_options",
    "read_options",
    "restriction",
]


class Location(TypedDict, total=False):
    """A location; it has to yield a key, see :mod:`satchel.places`.

    ``latitude`` and ``longitude`` are degrees, both or neither; ``sublocality``, ``locality``,
    ``admin_area``, ``country_code`` and ``country_name`` are names. Each may be left out, or be None.
    """

    latitude: Optional[float]
    longitude: Optional[float]
    sublocality: Optional[str]
    locality: Optional[str]
    admin_area: Optional[str]
    country_code: Optional[str]
    country_name: Optional[str]


class _NamedSection(TypedDict):
    section: str


class SectionPayload(_NamedSection, total=False):
    """A section as a backend sends it, and as ``persist`` takes it; :class:`satchel.Section` is a loaded one.

    ``section`` is its name, ``display_title`` its title, ``config`` what the app or the edit needs,
    ``action`` "replace" (when left out) or "edit", and ``content`` its content.
    """

    display_title: Optional[str]
    config: Optional[Dict[str, Any]]
    action: Literal["replace", "edit"]
    content: Any


class Delivery(TypedDict):
    """Several ``sections`` of a ``location``, as ``deliver`` takes them."""

    location: Location
    sections: List[SectionPayload]


#: A location, a section and a delivery, each as such a dict, any other one, or JSON text.
LocationDocument = Union[Location, Document]
SectionDocument = Union[SectionPayload, Document]
DeliveryDocument = Union[Delivery, Document]


def persist_options(reuse: Any, complete: Any = False, etag: Any = None) -> _abi.PersistOptions:
    """The options of persisting."""
    return _abi.PersistOptions(
        reuse=_encoding.choice(_abi.REUSE, reuse, "reuse"),
        complete=bool(complete),
        etag=restriction(etag, "etag", _encoding.lend_text),
    )


def read_options(
    inherit: Any, nearby: Any, allow_expired: Any = False, storage: Any = False
) -> _abi.ReadOptions:
    """The options of reading."""
    return _abi.ReadOptions(
        inherit=bool(inherit),
        allow_expired=bool(allow_expired),
        nearby=_encoding.number(nearby, "nearby"),
        storage=bool(storage),
    )


def restriction(value: Any, name: str, lend: Callable[[Any, str], _abi.Bytes]) -> _abi.Bytes:
    """A value that restricts a call; None for no restriction."""
    if value is None:
        return _encoding.NOTHING
    lent = lend(value, name)
    # Empty means "any" in C; here that is None, and an empty name is an error.
    if lent.size == 0:
        raise InvalidArgument(f"{name} is empty")
    return lent
