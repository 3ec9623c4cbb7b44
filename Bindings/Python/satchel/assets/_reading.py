"""Reading assets: references, states, lists, and the bytes."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from satchel import _abi, _encoding
from satchel._library import answer, json_answer, library, paged
from satchel._long_work import LongWork, progress_callback
from satchel.assets._files import AssetFile, open_file, read_once
from satchel.assets._values import Asset, AssetInfo, AssetProgress, AssetReference, asset_from
from satchel.values import record_from, records_from

if TYPE_CHECKING:
    from satchel.remote import Remote
    from satchel.store import Store

__all__ = ["ReadableAssets"]

_LARGEST = 2**63 - 1
_STATES = {name: number for name, number in _abi.ASSET_STATE.items() if name != "any"}


class ReadableAssets:
    """The part of :class:`satchel.assets.Assets` that reads."""

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, asset: AssetReference) -> Asset:
        """Returns a reference of a document, with this store; nothing is read.

        :param asset: the object that the document has, such as ``document["picture"]``; an :class:`Asset`; or
            a str, which is a SHA-256 or a URL
        """
        return asset_from(asset, self)

    def info(self, asset: AssetReference) -> AssetInfo:
        """Returns what the store knows of an asset, also of one of which it has nothing.

        :param asset: as for :meth:`get`
        """
        return record_from(AssetInfo, json_answer(library.satchel_assets_info, *self._lent(asset)))

    def read(
        self,
        asset: AssetReference,
        offset: int = 0,
        count: Optional[int] = None,
        *,
        remote: Optional[Remote] = None,
    ) -> bytes:
        """Returns bytes of an asset.

        :param asset: as for :meth:`get`
        :param offset: of the first byte
        :param count: the maximum number of bytes; None for all to the end
        :param remote: the remote that the store is synchronized with: bytes that are not here are read from
            it, and not stored, so that a player can seek in a film. At most 2 GiB are returned then
        :raises NotFound: when the bytes are not here: :meth:`fetch` gets those that are "remote"; with a
            remote, when it does not have them
        :raises ForeignFile: for another remote than that of the store
        :raises Unavailable, Unauthorized: when the remote cannot be asked
        :raises Damaged: for a file that is lost or has another size: :meth:`verify` marks it; for an object
            of the remote with other bytes
        """
        first = _encoding.whole(offset, "offset", 0, _LARGEST)
        limit = _LARGEST if count is None else _encoding.whole(count, "count", 0, _LARGEST)
        if remote is not None:
            return self._read_remote(remote, asset, first, min(limit, 2**31 - 1))
        return read_once(self._lent(asset), first, limit)

    def open(self, asset: AssetReference, *, verify: bool = False) -> AssetFile:
        """Opens the bytes of an asset as a file object, with the path for players.

        :param asset: as for :meth:`get`
        :param verify: hashes all bytes first: a file may have been damaged
        :raises NotFound: when the bytes are not here
        :raises Damaged: for a file that is lost; with ``verify`` also for one that has other bytes
        """
        return open_file(self._store, self._lent(asset)[1], bool(verify))

    def list(self, state: Optional[str] = None, unused: Optional[bool] = None) -> List[AssetInfo]:
        """Returns the assets that the store has or refers to, in the order in which it learned of them.

        :param state: only those that are "here", "remote" or "missing"
        :param unused: True for those to which nothing refers, False for the others; None for all
        """
        return records_from(AssetInfo, self._pages(state, unused))

    def iterate(self, state: Optional[str] = None, unused: Optional[bool] = None) -> Iterator[AssetInfo]:
        """The assets of :meth:`list`, read lazily.

        :param state: as for :meth:`list`
        :param unused: as for :meth:`list`
        """
        return (record_from(AssetInfo, each) for each in self._pages(state, unused))

    def _pages(self, state: Optional[str], unused: Optional[bool]) -> Iterator[Dict[str, Any]]:
        usage = _abi.ASSET_USAGE["used_or_not" if unused is None else "unused" if unused else "used"]
        kind = 0 if state is None else _encoding.choice(_STATES, state, "state")

        def page(cursor: str) -> Dict[str, Any]:
            options = _abi.AssetListOptions(
                state=kind, usage=usage, limit=1000, after=_encoding.lend_text(cursor, "cursor")
            )
            found: Dict[str, Any] = json_answer(
                library.satchel_assets_list, self._store._pointer, ctypes.byref(options)
            )
            return found

        return paged("assets", "", page)

    def _lent(self, asset: AssetReference) -> Any:
        """The store and a reference, for a call."""
        return self._store._pointer, _encoding.lend_value(self.get(asset).json, "asset")

    def _read_remote(self, remote: Remote, asset: AssetReference, offset: int, count: int) -> bytes:
        from satchel.remote import remote_of
        from satchel.remote._host import Failures

        store, reference = self._lent(asset)
        work = LongWork(self._store._owner, progress_callback(AssetProgress, None))
        lent = remote_of(remote)._pointer
        return (
            remote._at_work(
                work,
                lambda progress, context: answer(
                    library.satchel_assets_read_remote, store, reference, lent, offset, count
                ),
                Failures(work),
            )
            or b""
        )
