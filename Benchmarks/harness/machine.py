"""Where and with what was measured."""

import ctypes
import os
import platform
import sqlite3
import subprocess
from importlib.metadata import version
from pathlib import Path

import apsw

from .places import HERE, LIBRARY


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def memory() -> str:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{total / 2**30:.0f} GiB"


def file_system() -> str:
    """The type of the file system that the stores are on: the longest mount point that leads there."""
    here = str(HERE)
    found = ("", "unknown")
    for line in Path("/proc/mounts").read_text().splitlines():
        _, point, kind, *_ = line.split()
        inside = point == "/" or here == point or here.startswith(point + "/")
        if inside and len(point) >= len(found[0]):
            found = (point, kind)
    return found[1]


def operating_system() -> str:
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return platform.system()


def machine() -> dict[str, str]:
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "memory": memory(),
        "system": f"{operating_system()}, kernel {platform.release()}",
        "file system": file_system(),
    }


def versions() -> dict[str, str]:
    compiler = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True)
    found = {
        "Python": platform.python_version(),
        "SQLite, system (Satchel, the probes)": system_sqlite(),
        "SQLite in Python's sqlite3": sqlite3.sqlite_version,
        "SQLite in APSW": apsw.sqlite_lib_version(),
        "jansson": system_jansson(),
        "gcc": compiler.stdout.strip(),
    }
    for line in (HERE / "requirements.in").read_text().splitlines():
        if line and not line.startswith("#"):
            name = line.split("==")[0]
            found[name] = version(name)
    if LIBRARY.exists():
        library = ctypes.CDLL(str(LIBRARY))
        library.satchel_version.restype = ctypes.c_char_p
        found["Satchel"] = library.satchel_version().decode()
    return found


def system_sqlite() -> str:
    library = ctypes.CDLL("libsqlite3.so.0")
    library.sqlite3_libversion.restype = ctypes.c_char_p
    return library.sqlite3_libversion().decode()


def system_jansson() -> str:
    library = ctypes.CDLL("libjansson.so.4")
    library.jansson_version_str.restype = ctypes.c_char_p
    return library.jansson_version_str().decode()
