"""References to assets, and the results of calls on them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

from satchel._callbacks import never
from satchel._encoding import HasJSON
from satchel._types import register_type
from satchel.errors import InvalidArgument
from satchel.values import dataclass

if TYPE_CHECKING:
    from typing import BinaryIO

    from satchel.assets._files import AssetFile
    from satchel.assets._reading import ReadableAssets

__all__ = [
    "Asset",
    "AssetFailure",
    "AssetFetchReport",
    "AssetInfo",
    "AssetProgress",
    "AssetPruneReport",
    "AssetRequest",
    "AssetVerifyReport",
    "Fetched",
    "Variant",
    "asset_from",
]

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Asset(HasJSON):
    """A reference to immutable bytes, which ``store.assets`` returns and documents contain.

    Two references are equal when they have the same ``sha256``, ``size``, ``type`` and ``url``. One that was
    read with a document of a dataclass has no store: ``store.assets.get(asset)`` returns one that has.

    :param sha256: the SHA-256 of the bytes, 64 hexadecimal digits in lower case; None for an asset that only
        has a URL
    :param size: the number of bytes, or None
    :param type: the media type, such as "image/jpeg", or None; it belongs to the reference
    :param url: where the bytes can be fetched, http or https, or None
    :raises InvalidArgument: for an invalid SHA-256, and when there is neither a SHA-256 nor a URL
    """

    __slots__ = ("_assets", "_members")

    def __init__(
        self,
        sha256: Optional[str] = None,
        size: Optional[int] = None,
        type: Optional[str] = None,
        url: Optional[str] = None,
    ) -> None:
        self._members = _checked({"sha256": sha256, "size": size, "type": type, "url": url}, "")
        self._assets: Optional[ReadableAssets] = None

    @property
    def sha256(self) -> Optional[str]:
        """The SHA-256 of the bytes, 64 hexadecimal digits in lower case; None for an asset without."""
        found: Optional[str] = self._members.get("sha256")
        return found

    @property
    def size(self) -> Optional[int]:
        """The number of bytes; None when the reference does not say it."""
        found: Optional[int] = self._members.get("size")
        return found

    @property
    def type(self) -> Optional[str]:
        """The media type, or None."""
        found: Optional[str] = self._members.get("type")
        return found

    @property
    def url(self) -> Optional[str]:
        """Where the bytes can be fetched, or None."""
        found: Optional[str] = self._members.get("url")
        return found

    @property
    def json(self) -> Dict[str, Any]:
        """The object that documents contain: ``{"_asset": {…}}``. An asset is accepted in its place."""
        return {"_asset": dict(self._members)}

    @property
    def state(self) -> str:
        """Where the bytes are: "here", "remote" (a URL is known) or "missing"."""
        return self._of_store.info(self).state

    def read(self, offset: int = 0, count: Optional[int] = None) -> bytes:
        """As :meth:`satchel.assets.Assets.read`.

        :param offset: of the first byte
        :param count: the maximum number of bytes; None for all to the end
        """
        return self._of_store.read(self, offset, count)

    def bytes(self) -> bytes:
        """All bytes."""
        return self._of_store.read(self)

    def open(self, *, verify: bool = False) -> AssetFile:
        """As :meth:`satchel.assets.Assets.open`.

        :param verify: hashes all bytes first
        """
        return self._of_store.open(self, verify=verify)

    @property
    def _of_store(self) -> ReadableAssets:
        if self._assets is None:
            raise InvalidArgument("this reference has no store: use store.assets.get(asset)")
        return self._assets

    def __eq__(self, other: object) -> bool:
        return self._members == other._members if isinstance(other, Asset) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._members.items())))

    def __reduce__(self) -> Tuple[Any, ...]:
        return Asset, (self.sha256, self.size, self.type, self.url)

    def __repr__(self) -> str:
        return f"Asset({', '.join(f'{name}={value!r}' for name, value in self._members.items())})"


#: A reference to an asset: the object that a document has, or its member ``_asset``; or a str, which is a
#: SHA-256 or a URL.
AssetReference = Union[Asset, Dict[str, Any], str]


def _checked(members: Dict[str, Any], pointer: str) -> Dict[str, Any]:
    """The members of a reference that are not None; the library checks the rest."""
    found = {
        name: value for name in ("sha256", "size", "type", "url") if (value := members.get(name)) is not None
    }
    for name, value in found.items():
        kind = int if name == "size" else str
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InvalidArgument(f"{pointer}/{name} must be {kind.__name__}, not {type(value).__name__}")
    if not _DIGEST.fullmatch(found.get("sha256", "0" * 64)):
        raise InvalidArgument(f"{pointer}/sha256 must be 64 hexadecimal digits in lower case")
    if "sha256" not in found and "url" not in found:
        raise InvalidArgument(f"{pointer or 'an asset'} must have sha256 or url")
    return found


def asset_from(value: Any, assets: Optional[ReadableAssets] = None) -> Asset:
    """A reference of what a document has, or of a str.

    :param assets: whose store it gets
    :raises InvalidArgument: for anything else
    """
    if isinstance(value, Asset):
        members = value._members
    elif isinstance(value, str):
        members = {"sha256": value} if _DIGEST.fullmatch(value) else {"url": value}
    elif isinstance(value, dict):
        is_object = "_asset" in value
        inner = value["_asset"] if is_object else value
        if not isinstance(inner, dict):
            raise InvalidArgument(f"/_asset must be a dict, not {type(inner).__name__}")
        members = _checked(inner, "/_asset" if is_object else "")
    else:
        raise InvalidArgument(f"an asset must be a dict, a str or an Asset, not {type(value).__name__}")
    asset = Asset.__new__(Asset)
    asset._members, asset._assets = members, assets
    return asset


def _from_document(value: Any) -> Asset:
    if not isinstance(value, dict) or "_asset" not in value:
        raise ValueError("not an object with the member _asset")
    return asset_from(value)


register_type(Asset, lambda asset: asset.json, _from_document)


@dataclass(frozen=True)
class AssetInfo:
    """The information of a store about an asset.

    ``sha256`` and ``size`` are None when they are not known; ``state`` is "here", "remote" or "missing";
    ``references`` is the number of documents, entities and sections that refer to it; ``urls`` are those that
    led to it; ``variant``: whether it was derived from another asset; ``used_at`` is when it was last put,
    dropped or read, in Unix milliseconds, or None.
    """

    sha256: Optional[str]
    size: Optional[int]
    state: str
    references: int
    urls: List[str]
    variant: bool
    used_at: Optional[int]


@dataclass(frozen=True)
class AssetProgress:
    """The progress of a call: ``assets_done`` of ``assets_total``."""

    assets_done: int
    assets_total: int


@dataclass(frozen=True)
class AssetPruneReport:
    """The result of a prune: the bytes that were removed, and those that are still kept.

    ``removed`` assets with ``removed_bytes`` were removed; ``bytes`` are still here, of which ``only_copies``
    are the only known copies of what is referred to, and ``recent`` are kept because they were put, dropped
    or read within the last hour; ``over_budget`` are above the limit; ``pinned_bytes`` would have been
    removed for the limit, and offline regions keep them; ``waiting_files`` are deleted by a later prune,
    because an open file or a backup uses the folder.
    """

    removed: int
    removed_bytes: int
    bytes: int
    only_copies: int
    recent: int
    over_budget: int
    pinned_bytes: int
    waiting_files: int


@dataclass(frozen=True)
class AssetVerifyReport:
    """The result of a verification of ``checked`` assets.

    ``lost`` and ``damaged`` are the SHA-256 of those without a file, and with other bytes; ``orphans`` is the
    number of files without an asset.
    """

    checked: int
    lost: List[str]
    damaged: List[str]
    orphans: int


@dataclass(frozen=True)
class AssetFailure:
    """An ``asset`` that could not be fetched, and the ``message``.

    ``retry_at`` is the time of the next attempt in Unix milliseconds, or None; ``error`` is the exception of
    the function, or None.
    """

    asset: Asset
    message: str
    retry_at: Optional[int]
    error: Optional[BaseException] = None


@dataclass(frozen=True)
class AssetFetchReport:
    """The result of :meth:`Assets.fetch`.

    ``fetched`` assets with ``fetched_bytes`` came, ``present`` were here or had not changed, ``waiting`` have
    their turn later, and ``failed`` lists the others.
    """

    fetched: int
    fetched_bytes: int
    present: int
    waiting: int
    failed: List[AssetFailure]


class AssetRequest(NamedTuple):
    """A request to a function that fetches: ``url``, and ``etag``, that of the bytes here, or None.

    ``sha256`` is that of the reference, or None, and ``max_size`` the largest size in bytes: others are
    refused. ``cancelled`` is a function: whether the call that asks was cancelled. A function that takes long
    calls it now and then, and raises anything, which is not counted as a failure.
    """

    url: str
    etag: Optional[str]
    sha256: Optional[str] = None
    max_size: int = 64 << 20
    cancelled: Callable[[], bool] = never


class Fetched(NamedTuple):
    """The result of a function that fetches: ``body``, bytes or a file, which is closed, and ``etag``."""

    body: Union[bytes, bytearray, memoryview, BinaryIO]
    etag: Optional[str] = None


class Variant(NamedTuple):
    """A variant that was made: its ``body``, bytes or a file object, which is closed, and its ``type``."""

    body: Union[bytes, bytearray, memoryview, BinaryIO]
    type: Optional[str] = None
