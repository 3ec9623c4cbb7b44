"""Photos, queries and times of photos as arguments of the library."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import date, datetime, time, timezone
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple, TypedDict, Union

from satchel import _abi, _encoding
from satchel._abi import Bytes
from satchel.errors import InvalidArgument
from satchel.photos._values import GIVEN, ROW, Photo
from satchel.values import EPOCH

__all__ = [
    "PhotoConditions",
    "PhotoName",
    "Time",
    "conflict_policy",
    "conflict_policy_if_any",
    "lend_columns",
    "lend_lines",
    "lend_md5",
    "lend_md5s",
    "lend_query",
    "row_batches",
    "shard_number",
]

#: A photo by its MD5: 32 hexadecimal digits, the 16 bytes, or the photo itself.
PhotoName = Union[str, bytes, Photo]
#: Unix seconds, or a datetime with a time zone; on the clock on a wall a date, or a datetime without a zone.
Time = Union[int, datetime, date]


class PhotoConditions(TypedDict, total=False):
    """The conditions of a query of photos, of which a photo matches all; None leaves one out.

    ``from_`` and ``to`` are the earliest and the latest ``photodate``, both included: in Unix seconds or as
    datetimes with a time zone. ``clock`` is the clock that they are on: "utc"; "local", that on the wall
    where each photo was taken, by its ``utc_offset``; or a time zone, such as "Europe/Berlin" or "+02:00".
    On these two they are datetimes without a time zone, or dates, whose days are included.

    ``filename`` is the whole name: "*" stands for any characters, "?" for one, and a backslash escapes the
    next character; case-sensitive, in any Unicode normal form. ``starred`` is whether they are starred,
    ``backup_status`` "not_backed_up", "queued", "uploading", "uploaded" or "error", ``shard`` 0 to 15.

    ``camera`` is the ``camera_model``. ``folder`` is a folder of this device that has a file of the photo,
    or a folder above it, relative to the catalogue's directory. ``present`` is whether the last scan of
    this device found a file of it. ``box`` are two latitudes and two longitudes, in degrees, between which
    the photo was taken: south, west, north, east; across the antimeridian if west is larger than east.
    ``near`` is within a distance: latitude, longitude, and metres on a sphere.
    """

    from_: Optional[Time]
    to: Optional[Time]
    clock: Optional[str]
    filename: Optional[str]
    starred: Optional[bool]
    backup_status: Optional[str]
    shard: Optional[int]
    camera: Optional[str]
    folder: Optional[str]
    present: Optional[bool]
    box: Optional[Tuple[float, float, float, float]]
    near: Optional[Tuple[float, float, float]]


# The policies that photos accept.
_POLICIES = {name: _abi.CONFLICT_POLICY[name] for name in ("remote_wins", "merge")}
_BOX = ("south", "west", "north", "east")
_NEAR = ("latitude", "longitude", "metres")
_SECONDS = ("photodate", "modified")
_MILLISECONDS = ("thumbnail_cached_at", "preview_cached_at")


def _number(value: Any, name: str, factor: int) -> Any:
    """A datetime in Unix time, rounded down; values that are not dates are passed on as they are.

    :param factor: the units of a second
    """
    if not isinstance(value, date):
        return value
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidArgument(f"{name} must be an int or a datetime with a time zone, not {value!r}")
    # In whole numbers: timestamp() is a float, which microseconds of a far year do not fit.
    apart = value - EPOCH
    return (apart.days * 86_400 + apart.seconds) * factor + apart.microseconds * factor // 1_000_000


def _md5(photo: Any, name: str) -> str:
    # The library validates a string.
    if isinstance(photo, Photo):
        return photo.md5
    if isinstance(photo, (bytes, bytearray)) and len(photo) == 16:
        return photo.hex()
    if isinstance(photo, str):
        return photo
    raise InvalidArgument(f"{name} must be a photo, or its MD5 as 32 digits or 16 bytes, not {photo!r}")


def lend_md5(photo: Any, name: str = "md5") -> Bytes:
    """A photo's MD5 for one call."""
    return _encoding.lend_text(_md5(photo, name), name)


def lend_lines(lines: Iterable[str], name: str) -> Bytes:
    """The lines of a text, for one call."""
    if isinstance(lines, str):
        raise InvalidArgument(f"{name} must be several strings, not one")
    return _encoding.lend_text("\n".join(lines), name)


def lend_md5s(photos: Any) -> Bytes:
    """The MD5s of one photo or several, as a JSON array."""
    if isinstance(photos, (str, bytes, bytearray, Photo)):
        photos = (photos,)
    try:
        names = [_md5(photo, f"md5 {place}") for place, photo in enumerate(photos)]
    except TypeError:
        raise InvalidArgument(f"md5 must be one MD5 or several, not {type(photos).__name__}") from None
    return _encoding.lend_value(names, "md5")


def row_batches(photos: Any, size: int) -> Iterator[List[Dict[str, Any]]]:
    """Yields rows in lists of at most ``size``, consuming the iterable lazily.

    :param photos: one photo, or an iterable of photos; each a Photo or a mapping
    """
    size = _encoding.whole(size, "batch", 1, 2**31)
    if isinstance(photos, Mapping):
        photos = (photos,)
    if isinstance(photos, (str, bytes, bytearray)) or not isinstance(photos, Iterable):
        raise InvalidArgument(f"photos must be an iterable of photos, not {type(photos).__name__}")
    rows = (_row(photo, f"photo {place}") for place, photo in enumerate(photos))
    while True:
        batch = list(itertools.islice(rows, size))
        if not batch:
            return
        yield batch


def _row(photo: Any, name: str) -> Dict[str, Any]:
    if isinstance(photo, Photo):
        # The state of a Photo is changed by other calls; unknown camera data must not erase stored data.
        given = {key: getattr(photo, key) for key in GIVEN}
        row = {key: value for key, value in given.items() if value is not None or key in ROW}
    elif isinstance(photo, Mapping):
        row = photo if isinstance(photo, dict) else dict(photo)
    else:
        raise InvalidArgument(f"{name} must be a Photo or a dict, not {type(photo).__name__}")
    return _with_numbers(row, name)


def _with_numbers(row: Dict[str, Any], name: str) -> Dict[str, Any]:
    """The same row, or a copy with dates converted to numbers."""
    for columns, factor in ((_SECONDS, 1), (_MILLISECONDS, 1000)):
        for column in columns:
            value = row.get(column)
            if isinstance(value, date):
                row = {**row, column: _number(value, f"{column} of {name}", factor)}
    return row


def lend_columns(columns: Dict[str, Any]) -> Bytes:
    """The local-only columns of a photo, for one call."""
    return _encoding.lend_value(_with_numbers(columns, "the photo"), "columns")


def lend_query(conditions: Mapping[str, Any], **more: Any) -> Bytes:
    """Encodes the given parts of a query.

    :param conditions: as :class:`PhotoConditions`
    :param more: order, descending, limit, after
    """
    for name in conditions:
        if name not in PhotoConditions.__annotations__:
            raise TypeError(f"photos have no condition {name!r}")
    query = {name: value for name, value in conditions.items() if name not in ("from_", "to", "box", "near")}
    is_on_wall = query.get("clock") not in (None, "utc")
    query["from"] = _bound(conditions.get("from_"), "from_", is_on_wall, time.min)
    query["to"] = _bound(conditions.get("to"), "to", is_on_wall, time.max)
    query["place"] = _place(conditions.get("box"), conditions.get("near"))
    return _encoding.lend_given({**query, **more}, "query")


def _bound(value: Any, name: str, is_on_wall: bool, of_day: time) -> Any:
    """A bound of dates, in seconds.

    :param is_on_wall: whether it is on the clock on a wall
    :param of_day: the time of a date without a time
    """
    if not is_on_wall or not isinstance(value, date):
        return _number(value, name, 1)
    if not isinstance(value, datetime):
        value = datetime.combine(value, of_day)
    if value.tzinfo is not None:
        raise InvalidArgument(f"{name} has a time zone, and is compared with a clock on a wall: {value!r}")
    return _number(value.replace(tzinfo=timezone.utc), name, 1)


def _place(box: Any, near: Any) -> Optional[Dict[str, float]]:
    if box is not None and near is not None:
        raise InvalidArgument("box and near exclude each other")
    for name, parts, keys in (("box", box, _BOX), ("near", near, _NEAR)):
        if parts is not None:
            if not isinstance(parts, (tuple, list)) or len(parts) != len(keys):
                raise InvalidArgument(f"{name} must be {', '.join(keys)}, not {parts!r}")
            return dict(zip(keys, parts))
    return None


def shard_number(shard: Any) -> int:
    """Checks a shard number, 0 to 15."""
    return _encoding.whole(shard, "shard", 0, 15)


def conflict_policy(name: str) -> int:
    """The C value of a conflict policy."""
    return _encoding.choice(_POLICIES, name, "on_conflict")


def conflict_policy_if_any(name: Optional[str]) -> int:
    """The C value of a conflict policy, or for None that of the declared one."""
    return 0 if name is None else conflict_policy(name)
