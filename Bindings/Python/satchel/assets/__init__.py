"""Assets: immutable bytes that documents refer to, such as pictures, sounds and files.

>>> picture = store.assets.put(Path("pad-thai.jpg"), type="image/jpeg")
>>> recipes.put("pad-thai", {"title": "Pad Thai", "picture": picture})
>>> store.assets.get(recipes.get("pad-thai")["picture"]).bytes()

An asset is named by the SHA-256 of its bytes, and a store keeps it once, however many documents refer to it.
In documents of records, state and the catalogue it is an object ``{"_asset": {…}}``; an :class:`Asset` may be
put in its place, and a field of a dataclass may be one. Assets to which nothing refers are removed, an hour
after they were put, or last referred to or read, at the earliest. On the device they are not encrypted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Iterable, List, Optional, Union

from satchel import _abi, _encoding
from satchel._encoding import FilePath
from satchel._library import json_answer, json_answer_of_host, library
from satchel._long_work import LongWork, progress_callback, with_progress
from satchel._payloads import restriction
from satchel.assets._files import AssetFile
from satchel.assets._host import Fetching, making, on_fetch, on_make, on_read, streaming
from satchel.assets._reading import ReadableAssets
from satchel.assets._values import (
    Asset,
    AssetFailure,
    AssetFetchReport,
    AssetInfo,
    AssetProgress,
    AssetPruneReport,
    AssetReference,
    AssetRequest,
    AssetVerifyReport,
    Fetched,
    Variant,
)
from satchel.errors import InvalidArgument
from satchel.remote._values import NOT_MODIFIED, NotModified
from satchel.values import record_from

if TYPE_CHECKING:
    from satchel.remote import Remote
    from satchel.sources import AnySource
    from satchel.sources._host import HostSource

__all__ = [
    "NOT_MODIFIED",
    "Asset",
    "AssetFailure",
    "AssetFetchReport",
    "AssetFile",
    "AssetInfo",
    "AssetProgress",
    "AssetPruneReport",
    "AssetRequest",
    "AssetVerifyReport",
    "Assets",
    "Fetched",
    "NotModified",
    "Variant",
]

_LARGEST = 2**63 - 1
#: The content that ``put`` takes.
AssetContent = Union[bytes, bytearray, memoryview, FilePath, BinaryIO]
#: The bytes that the functions of the host return.
AssetBody = Union[bytes, bytearray, memoryview, BinaryIO]


class _FetchWork(LongWork):
    fetching: Fetching


class Assets(ReadableAssets):
    """The assets of a store: ``store.assets``. Safe on any thread, also concurrently.

    All methods raise :class:`satchel.Closed` once the store is closed, and InvalidArgument for an invalid
    reference. Those that write may raise Busy, Full, ReadOnly and IOFailure; then nothing was changed.
    """

    __slots__ = ()

    def put(self, content: AssetContent, type: Optional[str] = None, *, sensitive: bool = False) -> Asset:
        """Puts bytes into the store. Bytes that it has already are not stored again.

        Put the document that refers to the asset next: one to which nothing refers is kept for an hour at
        least.

        :param content: bytes; the path of a file (a str or an os.PathLike); or a file object that was opened
            in binary mode, which is read from its position to its end. Memory stays bounded for files
        :param type: the media type of the reference, such as "image/jpeg"
        :param sensitive: stores the bytes encrypted (AES-256-GCM), under a key of their own that is encrypted
            with the key of :meth:`satchel.State.set_key`. An asset that is sensitive stays so, however it is
            put later, and is sent only to an encrypted remote. Its SHA-256 and its size are not encrypted
        :returns: the reference, with ``sha256`` and ``size``
        :raises NotFound: when there is no such file
        :raises Unauthorized: for a sensitive asset when the encryption key is not set
        :raises InvalidArgument: for a directory, for a file object in text mode, and for an invalid type
        :raises Full: also when a store in memory would have more than 256 MiB of assets
        """
        media = restriction(type, "type", _encoding.lend_text)
        pointer = self._store._pointer
        if isinstance(content, (bytes, bytearray, memoryview)):
            lent = _encoding.lend(bytes(content))
            return self.get(json_answer(library.satchel_assets_put, pointer, lent, media, sensitive))
        if isinstance(content, (str, os.PathLike)):
            _, path = _encoding.file_path(content, "content")
            return self.get(json_answer(library.satchel_assets_put_file, pointer, path, media, sensitive))
        if not callable(getattr(content, "read", None)):
            kind = content.__class__.__name__
            raise InvalidArgument(f"content must be bytes, a path or a file object, not {kind}")
        return self.get(
            streaming(
                self._store._owner,
                content,
                lambda context: json_answer_of_host(
                    library.satchel_assets_put_stream, pointer, on_read, context, media, sensitive
                ),
            )
        )

    def prune(self, max_bytes: Optional[int] = None) -> AssetPruneReport:
        """Removes the bytes of assets to which nothing refers, and of others that can be had again.

        Never removed are the only known copies of what is referred to, and what was put, dropped or read
        within the last hour.

        :param max_bytes: with it, assets that can be had again are removed until all together have at most so
            many bytes: variants first, then what only the catalogue refers to and was fetched from URLs, then
            what is in the remote and no unsent change refers to, of each the least recently used first
        :raises InvalidArgument: for a negative limit, and in a batch
        """
        limit = _LARGEST if max_bytes is None else _encoding.whole(max_bytes, "max_bytes", 0, _LARGEST)
        found = json_answer(library.satchel_assets_prune, self._store._pointer, limit)
        return record_from(AssetPruneReport, found)

    def verify(
        self, deep: bool = True, progress: Optional[Callable[[AssetProgress], object]] = None
    ) -> AssetVerifyReport:
        """Checks that the bytes of all assets are there, and marks those that are not.

        Those that have a URL, or are in the remote, can then be fetched again. Files without an asset are
        deleted.

        :param deep: reads and hashes all bytes; False compares sizes only
        :param progress: receives an :class:`AssetProgress`, on this thread; returning False cancels. An
            exception in it cancels too, and is raised here
        :raises Cancelled: when ``progress`` returned False
        :raises InvalidArgument: in a batch
        """
        pointer = self._store._pointer
        work = LongWork(self._store._owner, progress_callback(AssetProgress, progress))
        found = work.run(
            lambda report, context: json_answer(
                library.satchel_assets_verify, pointer, bool(deep), report, context
            )
        )
        return record_from(AssetVerifyReport, found)

    def fetch(
        self,
        assets: Iterable[AssetReference],
        fetch: Optional[Callable[[AssetRequest], Union[AssetBody, Fetched, NotModified]]] = None,
        *,
        remote: Optional[Remote] = None,
        source: Optional[AnySource] = None,
        max_size: int = 64 << 20,
        max_bytes: Optional[int] = None,
        refresh: bool = False,
        ignore_backoff: bool = False,
        progress: Optional[Callable[[AssetProgress], object]] = None,
    ) -> AssetFetchReport:
        """Gets the bytes of assets that are not here, by a function, a source, or from a remote.

        One asset that fails does not stop the others. Its URL is asked again after a minute at the earliest,
        then after two, and so on up to a day.

        :param assets: references as for :meth:`get`
        :param fetch: fetches an :class:`AssetRequest`, on another thread, one after the other. Returns bytes
            or a file object, such as the response of ``urllib.request.urlopen``; a :class:`Fetched`, which
            has the ETag as well; or :data:`NOT_MODIFIED`. An exception is a failure of this asset. URLs come
            from documents: the function decides which it asks
        :param remote: the remote that the store is synchronized with, instead of ``fetch``
        :param source: fetches URLs as a source of the catalogue does, instead of ``fetch``: an
            :class:`satchel.HTTPSource`, or an object with a method ``asset``; see :mod:`satchel.sources`
        :param max_size: the maximum size of one asset in bytes, counted while it is received
        :param max_bytes: no asset is begun after so many bytes; None for no limit
        :param refresh: asks URLs again that were fetched, with their ETag
        :param ignore_backoff: asks URLs that have failed before their time
        :param progress: receives an :class:`AssetProgress`, on this thread; returning False cancels. An
            exception in it cancels too, and is raised here
        :raises Cancelled: what was fetched is kept
        :raises InvalidArgument: in a batch; without one of ``fetch``, ``remote`` and ``source``
        :raises ForeignFile: for another remote than that of the store
        :raises Unavailable, Unauthorized: when the remote cannot be asked
        """
        if [fetch, remote, source].count(None) != 2:
            raise InvalidArgument("fetch: either a function, a remote or a source is needed")
        references = [self.get(each).json for each in assets]
        options = _abi.AssetFetchOptions(
            max_size=_encoding.whole(max_size, "max_size", 1, _LARGEST),
            max_bytes=0 if max_bytes is None else _encoding.whole(max_bytes, "max_bytes", 1, _LARGEST),
            refresh=bool(refresh),
            ignore_backoff=bool(ignore_backoff),
        )
        pointer = self._store._pointer
        if remote is not None:
            from satchel.remote import remote_of

            return self._fetch_remote(remote_of(remote), references, options, progress)
        if source is not None:
            return self._fetch_from(source, references, options, progress)
        assert fetch is not None
        _encoding.check_callable(fetch, "fetch")
        work = _FetchWork(self._store._owner, progress_callback(AssetProgress, progress))
        work.fetching = fetching = Fetching(work, fetch)
        lent = _encoding.lend_value(references, "assets")
        found = work.run(with_progress(options, library.satchel_assets_fetch, pointer, lent, on_fetch))
        return self._fetch_report(found, fetching)

    def _fetch_from(
        self,
        source: AnySource,
        references: List[Any],
        options: _abi.AssetFetchOptions,
        progress: Optional[Callable[[AssetProgress], object]],
    ) -> AssetFetchReport:
        from satchel.sources._host import lent

        work = LongWork(self._store._owner, progress_callback(AssetProgress, progress))
        wanted = _encoding.lend_value(references, "assets")
        with lent(source, work) as (handle, host):
            call = with_progress(
                options, library.satchel_assets_fetch_from, self._store._pointer, wanted, handle
            )
            return self._fetch_report(work.run(call), host)

    def _fetch_report(self, found: Any, asked: Union[Fetching, HostSource, None]) -> AssetFetchReport:
        failed = []
        for each in found["failed"]:
            asset = self.get(each["asset"])
            url = asset.url or next(iter(self.info(asset).urls), None)
            cause = None if asked is None else asked.error_of(url)
            failed.append(AssetFailure(asset, each["message"], each["retry_at"], cause))
        return record_from(AssetFetchReport, found, failed=failed)

    def _fetch_remote(
        self,
        remote: Remote,
        references: List[Any],
        options: _abi.AssetFetchOptions,
        progress: Optional[Callable[[AssetProgress], object]],
    ) -> AssetFetchReport:
        from satchel.remote import remote_of
        from satchel.remote._host import Failures

        work = LongWork(self._store._owner, progress_callback(AssetProgress, progress))
        lent = _encoding.lend_value(references, "assets")
        call = with_progress(
            options,
            library.satchel_assets_fetch_remote,
            self._store._pointer,
            lent,
            remote_of(remote)._pointer,
        )
        found = remote._at_work(work, call, Failures(work))
        failed = [
            AssetFailure(self.get(each["asset"]), each["message"], each["retry_at"], None)
            for each in found["failed"]
        ]
        return record_from(AssetFetchReport, found, failed=failed)

    def variant(
        self,
        asset: AssetReference,
        name: str,
        make: Callable[[AssetFile], Union[AssetBody, Variant]],
    ) -> Asset:
        """Returns a variant of an asset, such as a thumbnail, which is made once.

        A variant is an asset of its own. It stays while the asset that it was derived from is referred to,
        and is the first that :meth:`prune` removes: it can be made again.

        :param asset: as for :meth:`get`; must be here, unless the variant is
        :param name: what the variant is, 1 to 128 bytes, such as "thumb@2"; another name makes another one
        :param make: makes the variant of the open file of the asset, when it is not here. Returns bytes or a
            file object, or a :class:`Variant`, which also has the media type; an exception is raised here. It
            may use the store, and two threads may call it at once
        :returns: the reference to the variant
        :raises NotFound: when the bytes of the asset are not here
        """
        _encoding.check_callable(make, "make")
        pointer, lent = self._lent(asset)
        title = _encoding.lend_text(name, "name")
        found = making(
            self._store._owner,
            make,
            lambda context: json_answer_of_host(
                library.satchel_assets_variant, pointer, lent, title, on_make, context
            ),
        )
        return self.get(found)

    def scaled(self, asset: AssetReference, longest_edge: int) -> Asset:
        """Returns a JPEG or PNG scaled down, as a variant that the library makes.

        It is upright, never larger than the picture, and without its metadata.

        :param asset: as for :meth:`get`; must be here, unless the variant is
        :param longest_edge: the longer one of width and height, in pixels
        :raises InvalidArgument: for a picture that is damaged, too large, or neither JPEG nor PNG
        :raises IOFailure: where libturbojpeg or libpng is not installed
        :raises NotFound: when the bytes of the asset are not here
        """
        edge = _encoding.whole(longest_edge, "longest_edge", 1, 2**31 - 1)
        return self.get(json_answer(library.satchel_assets_scaled, *self._lent(asset), edge))

    def __repr__(self) -> str:
        return f"<satchel.assets.Assets of {self._store!r}>"
