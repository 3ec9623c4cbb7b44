"""Puts the modules that are generated and the shared library into the package; pyproject.toml says the rest.

In a checkout the modules are generated again; an sdist has them.

With a library (SATCHEL_LIBRARY, or the one that a source checkout has built) the wheel is of this
platform, py3-none-<platform>, since nothing in it depends on the version of Python. Without one it is a
pure wheel, which uses the library of the system; when the system has none, there is no wheel, and the
error says how to get a library. SATCHEL_LIBRARY=system makes a pure wheel in any case.
"""

from __future__ import annotations

import ctypes.util
import os
import runpy
import shutil
from pathlib import Path
from typing import Optional

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

CARRIED = "libsatchel.so"
OF_SYSTEM = "system"
HERE = Path(__file__).resolve().parent

NO_LIBRARY = """\
satchel: the package calls the shared library libsatchel.so.0, and there is none here to install.
Get it in one of these ways, and run pip again:
  - install a wheel instead, satchel-*-manylinux_2_34_x86_64.whl, which has the library inside
    (Linux with glibc 2.34 or newer, x86-64);
  - install the library: the Debian package libsatchel0, or `make install` in a checkout of Satchel;
  - build it in a checkout, `make lib`, and name it: SATCHEL_LIBRARY=/path/to/libsatchel.so pip install ...
To install the package now and the library later: SATCHEL_LIBRARY=system pip install ..."""


def built_library() -> Optional[Path]:
    """The library to carry, if there is one."""
    named = os.environ.get("SATCHEL_LIBRARY")
    if named:
        return None if named == OF_SYSTEM else Path(named).resolve(strict=True)
    # The stripped one first; `make lib` leaves both.
    places = (
        HERE.parents[1] / ".build-lib" / each for each in ("stage/libsatchel.so", "release/libsatchel.so")
    )
    return next((place.resolve() for place in places if place.is_file()), None)


class BuildWithLibrary(build_py):
    """Copies the package, and the library into it."""

    def run(self) -> None:
        """Runs the command."""
        if (HERE.parents[1] / "Include/satchel.h").is_file():
            runpy.run_path(str(HERE / "generate.py"), run_name="__main__")
        super().run()
        library = built_library()
        if self.editable_mode:
            return  # The package stays in its checkout, which has the library.
        package = Path(self.build_lib) / "satchel"
        for stale in package.glob("libsatchel.so*"):
            stale.unlink()
        if library is not None:
            shutil.copyfile(library, package / CARRIED)
        elif os.environ.get("SATCHEL_LIBRARY") != OF_SYSTEM and not ctypes.util.find_library("satchel"):
            raise SystemExit(NO_LIBRARY)


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 of this platform."""

    def get_tag(self) -> tuple[str, str, str]:
        """The wheel's tag."""
        tag: tuple[str, str, str] = super().get_tag()
        return ("py3", "none", tag[2])


class WithLibrary(Distribution):
    """A distribution that is pure only without the library."""

    def has_ext_modules(self) -> bool:
        """Whether the wheel belongs to one platform."""
        return built_library() is not None


setup(distclass=WithLibrary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
