"""The shared library: finds it, declares its functions, and calls them.

Searched in this order: the file that the environment variable SATCHEL_LIBRARY names; a
libsatchel.so (on macOS, which is untested, libsatchel.dylib) in the package, as in a wheel; the build
folder of a source checkout; the system's libraries. A file that exists but cannot be loaded raises
ImportError at once: trying the next one would hide which library runs.
"""

from __future__ import annotations

import ctypes
import os
import sys
from json import JSONDecoder
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple, Type, TypeVar

from satchel._abi import FUNCTIONS, SONAME, Buffer
from satchel._numbers import float_of, int_of
from satchel.errors import Cancelled, Damaged, InternalError, SatchelError, error_for

if TYPE_CHECKING:
    from ctypes import _SimpleCData

_Scalar = TypeVar("_Scalar")

_PACKAGE = Path(__file__).resolve().parent

_decoder = JSONDecoder(parse_float=float_of)
# For integers of more digits than Python converts.
_decoder_of_long_integers = JSONDecoder(parse_float=float_of, parse_int=int_of)
# json.loads without detecting the encoding and skipping white space: documents are read very often.
_scan: Callable[[str, int], Tuple[Any, int]] = _decoder.scan_once  # type: ignore[attr-defined]


def file_name(platform: str = sys.platform) -> str:
    """The name of the library's file. The package was never run on macOS."""
    return "libsatchel.dylib" if platform == "darwin" else "libsatchel.so"


def beside_package(package: Path, platform: str = sys.platform) -> Optional[Path]:
    """The library in the package's own directory."""
    pattern = "libsatchel*.dylib" if platform == "darwin" else f"{file_name(platform)}*"
    return next(iter(sorted(package.glob(pattern))), None)


def in_checkout(package: Path, platform: str = sys.platform) -> Optional[Path]:
    """The build output, if the package is in a source checkout."""
    if len(package.parents) < 3:
        return None
    root = package.parents[2]
    built = root / ".build-lib/release" / file_name(platform)
    return built if (root / "Include/satchel.h").is_file() else None


def _open(path: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"satchel: {path} cannot be loaded: {error}") from error


def find(package: Path = _PACKAGE) -> ctypes.CDLL:
    """Loads the library from the first location that has it.

    :raises ImportError: with the list of the searched locations
    """
    named = os.environ.get("SATCHEL_LIBRARY")
    if named:
        return _open(named)
    searched: List[str] = ["the environment variable SATCHEL_LIBRARY (not set)"]

    beside = beside_package(package)
    if beside is not None:
        return _open(str(beside))
    searched.append(str(package / f"{file_name()}*"))

    built = in_checkout(package)
    if built is not None:
        if built.is_file():
            return _open(str(built))
        searched.append(str(built))

    # Imported here, because it imports what starts processes.
    from ctypes.util import find_library

    system = find_library("satchel")
    for name in dict.fromkeys(filter(None, (SONAME, system))):
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            searched.append(f"{name} among the system's libraries ({error})")
    places = "".join(f"\n  - {place}" for place in searched)
    raise ImportError(
        f"satchel: the shared library {file_name()} was not found. Searched:{places}\n"
        "Install a wheel that has it inside, or the library itself: the Debian package libsatchel0, or"
        " `make install` in a checkout of Satchel."
    )


def declare(library: ctypes.CDLL) -> ctypes.CDLL:
    """Declares the types of every function of the header.

    :raises ImportError: when the library lacks one of them
    """
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError as error:
            raise ImportError(
                f"satchel: {library._name} has no {name}: it is not of the version of this package"
            ) from error
        function.restype = result
        function.argtypes = arguments
    return library


library = declare(find())

# Frees the data of a buffer. It never blocks, so it is called without releasing the GIL (PyDLL).
free_buffer = ctypes.PyDLL(library._name, handle=library._handle).satchel_buffer_free
free_buffer.restype, free_buffer.argtypes = FUNCTIONS["satchel_buffer_free"]


def check(status: int) -> None:
    """Raises the error of a status. Must follow the call at once, on the same thread."""
    if status != 0:
        raise last_error(status)


def _never() -> bool:
    return False


#: Whether a read that was cancelled has to be repeated; :mod:`satchel._interrupts` sets it.
must_repeat: Callable[[], bool] = _never


def _repeated(status: int, function: Callable[..., int], arguments: Tuple[Any, ...], out: Any) -> None:
    """Raises the error of a call, or repeats it."""
    while status:
        error = last_error(status)
        if status != Cancelled.status or not must_repeat():
            raise error
        status = function(*arguments, out)


def last_error(status: int) -> SatchelError:
    """The error of the last failed call of this thread."""
    return error_of(status, library.satchel_error_message(), library.satchel_error_details())


def error_of(status: int, message: bytes, details: bytes) -> SatchelError:
    """The error of a status, its message, and its details: a JSON object."""
    name = library.satchel_status_name(status).decode("ascii", "replace")
    error = error_for(status, name, message.decode("utf-8", "replace"))
    if details != b"{}":
        for member, value in value_of(details).items():
            setattr(error, member, value)
    return error


def answer(function: Callable[..., int], *arguments: Any) -> Optional[bytes]:
    """Calls a function whose last parameter is a buffer; returns its bytes, None when it has no data."""
    buffer = Buffer()
    out = ctypes.byref(buffer)
    status = function(*arguments, out)
    if status:
        _repeated(status, function, arguments, out)
    return _taken(buffer)


def _taken(buffer: Buffer) -> Optional[bytes]:
    """The bytes of a buffer, which is freed."""
    try:
        data: Optional[bytes] = buffer.data
        if data is not None and len(data) != buffer.size:
            # It contains a NUL, at which c_char_p stops.
            data = ctypes.string_at(ctypes.c_void_p.from_buffer(buffer).value or 0, buffer.size)
        return data
    finally:
        free_buffer(ctypes.byref(buffer))


def text_answer(function: Callable[..., int], *arguments: Any) -> Optional[str]:
    """As :func:`answer`, for text."""
    data = answer(function, *arguments)
    return None if data is None else data.decode("utf-8")


def some_text(function: Callable[..., int], *arguments: Any) -> str:
    """As :func:`text_answer`, for functions that always return a string."""
    text = text_answer(function, *arguments)
    if text is None:
        raise InternalError("the library returned no text")
    return text


def json_answer(function: Callable[..., int], *arguments: Any) -> Any:
    """As :func:`answer`, for JSON; None when the buffer has no data."""
    data = answer(function, *arguments)
    return None if data is None else value_of(data)


def json_answer_of_host(function: Callable[..., int], *arguments: Any) -> Any:
    """As :func:`json_answer`, for a call that a function of the host may cancel: it is not repeated."""
    buffer = Buffer()
    check(function(*arguments, ctypes.byref(buffer)))
    data = _taken(buffer)
    return None if data is None else value_of(data)


def scalar_answer(
    kind: Type[_SimpleCData[_Scalar]], function: Callable[..., int], *arguments: Any
) -> _Scalar:
    """Calls a function whose last parameter is a number or a Boolean, and returns that.

    :param kind: its type in C
    """
    out = kind()
    status = function(*arguments, ctypes.byref(out))
    if status:
        _repeated(status, function, arguments, ctypes.byref(out))
    return out.value


def paged(name: str, first: Any, read: Callable[[Any], Dict[str, Any]]) -> Iterator[Dict[str, Any]]:
    """The items of all pages, read lazily.

    :param name: the member of a page that has its items
    :param first: the cursor of the first page
    :param read: reads the page of a cursor; its member ``next`` is the next cursor, or None
    """
    cursor = first
    while cursor is not None:
        page = read(cursor)
        yield from page[name]
        cursor = page["next"]


def value_of(data: bytes) -> Any:
    """Parses JSON from the library.

    :raises Damaged: for a stored document that is not JSON
    """
    try:
        text = data.decode()
        try:
            value, end = _scan(text, 0)
            if end == len(text):
                return value
        except (StopIteration, ValueError):
            # Leading white space, or a long integer.
            pass
        return _decoder_of_long_integers.decode(text)
    except ValueError as error:
        # Documents are returned as the file has them.
        raise Damaged(f"a document in the store is not JSON: {error}") from error
