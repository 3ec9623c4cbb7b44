"""Finds the shared library and declares the types of its functions.

Searched in this order: the file that the environment variable SATCHEL_LIBRARY names; a
libsatchel.so in the package, as in a wheel; the build folder of a source checkout; the
system's libraries. A file that exists but cannot be loaded raises ImportError at once: trying the next
one would hide which library runs.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from pathlib import Path
from typing import List, Optional

from satchel._abi import FUNCTIONS, SONAME
from satchel.errors import error_for

_PACKAGE = Path(__file__).resolve().parent


def beside_package(package: Path) -> Optional[Path]:
    """The library in the package's own directory."""
    return next(iter(sorted(package.glob("libsatchel.so*"))), None)


def in_checkout(package: Path) -> Optional[Path]:
    """The build output, if the package is in a source checkout."""
    if len(package.parents) < 3:
        return None
    root = package.parents[2]
    return root / ".build-lib/release/libsatchel.so" if (root / "Include/satchel.h").is_file() else None


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
    looked: List[str] = ["the environment variable SATCHEL_LIBRARY (not set)"]

    beside = beside_package(package)
    if beside is not None:
        return _open(str(beside))
    looked.append(str(package / "libsatchel.so*"))

    built = in_checkout(package)
    if built is not None:
        if built.is_file():
            return _open(str(built))
        looked.append(str(built))

    system = ctypes.util.find_library("satchel")
    for name in dict.fromkeys(filter(None, (SONAME, system))):
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            looked.append(f"{name} among the system's libraries ({error})")
    places = "".join(f"\n  - {place}" for place in looked)
    raise ImportError(f"satchel: the shared library libsatchel.so was not found. Looked at:{places}")


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
        message = library.satchel_error_message().decode("utf-8", "replace")
        name = library.satchel_status_name(status).decode("ascii", "replace")
        raise error_for(status, name, message)
