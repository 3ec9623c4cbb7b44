"""Compiles the probes and the drivers."""

import shutil
import subprocess
from pathlib import Path

from .places import BINARIES, LIBRARY, PROBES, PROJECT

FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
PROGRAMS = {
    "append_limit": [],
    "persist_limit": ["-lsqlite3"],
    "restore_limit": ["-lsqlite3"],
    "call": ["-ldl"],
    "load": ["-ldl"],
    "story_limit": ["-pthread"],
    "story_tree": ["-ljansson", "-pthread"],
    "photo_limit": ["-lsqlite3", "-lnettle", "-pthread"],
    "record_append": [],
    "record_limit": ["-lsqlite3", "-lnettle"],
}
SATCHEL_PROGRAMS = ["satchel_w1", "satchel_w3", "satchel_w4", "satchel_w5", "satchel_sync"]


def gcc(*arguments: str | Path) -> None:
    subprocess.run(["gcc", *FLAGS, *map(str, arguments)], check=True)


def build(with_satchel: bool) -> None:
    BINARIES.mkdir(parents=True, exist_ok=True)
    for name, libraries in PROGRAMS.items():
        gcc("-o", BINARIES / name, PROBES / f"{name}.c", *libraries)
    gcc("-shared", "-fPIC", "-fvisibility=hidden", "-o", BINARIES / "libplain.so", PROBES / "plain.c")
    if with_satchel:
        for name in SATCHEL_PROGRAMS:
            search = f"-Wl,-rpath,{LIBRARY.parent}"
            source = PROBES / f"{name}.c"
            linked = [LIBRARY, search, "-lnettle", "-pthread"]
            gcc(f"-I{PROJECT / 'Include'}", "-o", BINARIES / name, source, *linked)
        strip(LIBRARY, BINARIES / "libsatchel-stripped.so")
    build_runtime()


def build_runtime() -> None:
    """The limit of size and load, where there is a Swift compiler."""
    target = BINARIES / "libruntime.so"
    if target.exists() or shutil.which("swiftc") is None:
        return
    linked = ["-static-stdlib", "-Xlinker", "--gc-sections"]
    command = ["swiftc", "-O", "-emit-library", *linked, "-o", str(target), str(PROBES / "runtime.swift")]
    subprocess.run(command, check=True, cwd=BINARIES)
    strip(target, target)


def strip(library: Path, target: Path) -> None:
    subprocess.run(["strip", "--strip-unneeded", "-o", str(target), str(library)], check=True)
