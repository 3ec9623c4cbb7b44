"""Open assets as file objects."""

from __future__ import annotations

import ctypes
import io
import os
from typing import TYPE_CHECKING, Any, Optional, Tuple, Union

from satchel import _encoding
from satchel._handles import Dependent, Handle
from satchel._library import library, scalar_answer, text_answer
from satchel.errors import Closed

if TYPE_CHECKING:
    from satchel._abi import Bytes
    from satchel.store import Store

__all__ = ["AssetFile", "Lent", "open_file", "read_once"]

_LARGEST = 2**63 - 1


# A bytes object is filled before anything else refers to it, as in C: its bytes are in memory once.
_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytes.restype = ctypes.py_object
_new_bytes.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t)
_address_of = ctypes.pythonapi.PyBytes_AsString
_address_of.restype = ctypes.c_void_p
_address_of.argtypes = (ctypes.py_object,)


def _read(pointer: Optional[int], offset: int, count: int) -> bytes:
    """Up to ``count`` bytes of an open asset; fewer at the end."""
    size = scalar_answer(ctypes.c_int64, library.satchel_asset_reader_size, pointer)
    wanted = min(count, size - offset)
    if wanted <= 0:
        return b""
    data: bytes = _new_bytes(None, wanted)
    room = _address_of(data)
    # All of it: a file that has become shorter is an error.
    scalar_answer(ctypes.c_size_t, library.satchel_asset_reader_read, pointer, offset, room, wanted)
    return data


def read_once(asset: Tuple[int, Bytes], offset: int, count: int) -> bytes:
    """See ``store.assets.read``.

    :param asset: the store and the reference
    """
    pointer = scalar_answer(ctypes.c_void_p, library.satchel_assets_open, *asset, False)
    try:
        return _read(pointer, offset, count)
    finally:
        library.satchel_asset_reader_free(pointer)


class _Opened(Dependent):
    """The handle of an open asset, which is closed with its store."""

    __slots__ = ()

    @property
    def pointer(self) -> int:
        """The handle."""
        return self._handle.pointer


class Lent:
    """The handle of an asset that the library has opened for a function of the host."""

    __slots__ = ("_pointer",)

    def __init__(self, pointer: Optional[int]) -> None:
        self._pointer = pointer

    @property
    def pointer(self) -> int:
        """The handle."""
        if self._pointer is None:
            raise Closed("the asset file is closed")
        return self._pointer

    @property
    def closed(self) -> bool:
        """Whether the function has returned."""
        return self._pointer is None

    def close(self) -> None:
        """Forgets the handle; the library frees it."""
        self._pointer = None


class AssetFile(io.RawIOBase):
    """The bytes of an asset as a file, for reading; closed by :meth:`close`, a ``with`` block, or the store.

    The bytes stay readable while it is open, even when the asset is removed meanwhile. It may be used on any
    thread, but its position is shared; :meth:`read_at` needs none.
    """

    def __init__(self, opened: Union[_Opened, Lent]) -> None:
        """Use :meth:`Assets.open`."""
        super().__init__()
        self._opened = opened
        self._position = 0

    @property
    def size(self) -> int:
        """The number of bytes."""
        return scalar_answer(ctypes.c_int64, library.satchel_asset_reader_size, self._opened.pointer)

    @property
    def path(self) -> Optional[str]:
        """The path of the file, for players and other programs; None for a small asset, which has none.

        From now on it stays while this is open, and no other files of assets are deleted. It must not be
        changed.

        :raises NotFound: when the asset was removed since it was opened
        """
        return text_answer(library.satchel_asset_reader_path, self._opened.pointer) or None

    def read_at(self, offset: int, count: int) -> bytes:
        """Reads bytes without using the position.

        :param offset: of the first byte
        :param count: the maximum number of bytes; fewer are returned at the end
        :raises InvalidArgument: for a negative number
        """
        offset = _encoding.whole(offset, "offset", 0, _LARGEST)
        count = _encoding.whole(count, "count", 0, _LARGEST)
        return _read(self._opened.pointer, offset, count)

    def _read_into(self, view: memoryview, offset: int) -> int:
        pointer, size = self._opened.pointer, view.nbytes
        if size == 0:
            return 0
        room = (ctypes.c_char * size).from_buffer(view)
        return scalar_answer(ctypes.c_size_t, library.satchel_asset_reader_read, pointer, offset, room, size)

    def readinto(self, buffer: Any) -> int:
        """Reads bytes from the position on into a buffer.

        :param buffer: a writable buffer, such as a bytearray
        :returns: the number of bytes; 0 at the end
        """
        count = self._read_into(memoryview(buffer).cast("B"), self._position)
        self._position += count
        return count

    def readall(self) -> bytes:
        """Reads the bytes from the position to the end."""
        data = self.read_at(self._position, _LARGEST)
        self._position += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Moves the position.

        :param offset: a number of bytes
        :param whence: from where: os.SEEK_SET, os.SEEK_CUR or os.SEEK_END
        :returns: the new position
        """
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}
        if whence not in starts:
            raise ValueError(f"whence must be 0, 1 or 2, not {whence!r}")
        position = starts[whence] + offset
        if not 0 <= position <= _LARGEST:
            raise ValueError(f"the position {position} is out of range")
        self._position = position
        return position

    def tell(self) -> int:
        """The position."""
        _ = self._opened.pointer
        return self._position

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    @property
    def closed(self) -> bool:
        """Whether it, or its store, was closed."""
        opened: Optional[Union[_Opened, Lent]] = getattr(self, "_opened", None)
        return opened is None or opened.closed

    def close(self) -> None:
        """Closes it; a second time is fine."""
        if not self.closed:
            self._opened.close()

    def __repr__(self) -> str:
        return f"<satchel.assets.AssetFile{', closed' if self.closed else f' of {self.size} bytes'}>"


def open_file(store: Store, asset: Bytes, verify: bool) -> AssetFile:
    """See ``store.assets.open``."""
    handle = Handle.made_by("asset file", library.satchel_assets_open, store._pointer, asset, verify)
    opened = _Opened(handle, store._owner, library.satchel_asset_reader_free)
    store._adopt(opened)
    return AssetFile(opened)
