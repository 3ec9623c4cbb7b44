"""How the package finds its library, what it offers, and whether its README tells the truth."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, Optional, Tuple

import pytest
from helpers import PACKAGE

import satchel
from satchel import _abi, _library

SCRIPT = "import sys; sys.path.insert(0, sys.argv[1]); import satchel._library as l; print(l.library._name)"


def import_from(folder: Path, beside: Optional[Path] = None, **environment: str) -> Tuple[str, str]:
    """Imports a copy of the package in a new interpreter.

    Gives the path of the library that was loaded, and what was said on standard error.
    """
    kept_out = shutil.ignore_patterns("__pycache__", "libsatchel.so*")
    shutil.copytree(PACKAGE / "satchel", folder / "satchel", ignore=kept_out)
    if beside is not None:
        shutil.copy(beside, folder / "satchel/libsatchel.so")
    changed = ("SATCHEL_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH")
    kept = {name: value for name, value in os.environ.items() if name not in changed}
    kept["LD_LIBRARY_PATH"] = str(folder / "system")
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.stdout.strip(), ended.stderr


@pytest.fixture(scope="module")
def library() -> Path:
    """The library that these tests run with."""
    return Path(_library.library._name).resolve()


def test_without_a_library_the_error_lists_the_places(tmp_path: Path) -> None:
    loaded, said = import_from(tmp_path)
    assert loaded == ""
    assert "ImportError" in said
    for place in ("SATCHEL_LIBRARY", str(tmp_path / "satchel"), _abi.SONAME):
        assert place in said


def test_only_what_is_used_is_imported() -> None:
    script = """
import sys, satchel
late = ["asyncio", "html", "subprocess", *(f"satchel.{name}" for name in set(satchel._LATER.values()))]
print([name for name in late if name in sys.modules])
print([name for name in satchel.__all__ if name not in dir(satchel)])
print([name for name in satchel.__all__ if getattr(satchel, name) is None])
print([name for name in satchel._LATER.values() if f"satchel.{name}" not in sys.modules])
try:
    satchel.nothing
except AttributeError as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == [*["[]"] * 4, "module 'satchel' has no attribute 'nothing'"]


def test_the_environment_comes_first(tmp_path: Path, library: Path) -> None:
    named = shutil.copy(library, tmp_path / "named.so")
    loaded, _ = import_from(tmp_path, library, SATCHEL_LIBRARY=str(named))
    assert loaded == str(named)


def test_a_library_that_was_named_and_cannot_be_loaded_is_an_error(tmp_path: Path, library: Path) -> None:
    bad = tmp_path / "bad.so"
    bad.write_bytes(b"no library")
    for named in (bad, tmp_path / "none.so"):
        loaded, said = import_from(tmp_path / named.stem, library, SATCHEL_LIBRARY=str(named))
        assert loaded == ""
        assert "ImportError" in said
        assert str(named) in said


def test_then_comes_the_library_beside_the_package(tmp_path: Path, library: Path) -> None:
    loaded, _ = import_from(tmp_path, library)
    assert loaded == str(tmp_path / "satchel/libsatchel.so")


def test_then_comes_a_source_checkout(tmp_path: Path) -> None:
    package = tmp_path / "Bindings/Python/satchel"
    assert _library.in_checkout(package) is None
    (tmp_path / "Include").mkdir()
    (tmp_path / "Include/satchel.h").touch()
    assert _library.in_checkout(package) == tmp_path / ".build-lib/release/libsatchel.so"


def test_last_comes_the_system(tmp_path: Path, library: Path) -> None:
    (tmp_path / "system").mkdir()
    shutil.copy(library, tmp_path / "system" / _abi.SONAME)
    loaded, _ = import_from(tmp_path)
    assert loaded == _abi.SONAME


def test_on_macos_the_library_has_another_name(tmp_path: Path) -> None:
    package = tmp_path / "Bindings/Python/satchel"
    package.mkdir(parents=True)
    (tmp_path / "Include").mkdir()
    (tmp_path / "Include/satchel.h").touch()
    built = _library.in_checkout(package, "darwin")
    assert built == tmp_path / ".build-lib/release/libsatchel.dylib"
    for name, platform in (("libsatchel.0.dylib", "darwin"), ("libsatchel.so.0", "linux")):
        assert _library.beside_package(package, platform) is None
        (package / name).touch()
        assert _library.beside_package(package, platform) == package / name


def test_answers_are_frozen() -> None:
    plan = satchel.Plan([], [], [], None, None)
    with pytest.raises(AttributeError):
        plan.fresh = ["x"]  # type: ignore[misc]
    if sys.version_info >= (3, 10):
        assert not hasattr(plan, "__dict__")


def test_the_code_of_the_readme_runs() -> None:
    blocks = re.findall(
        r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert blocks
    for block in blocks:
        names: Dict[str, object] = {}
        # Without what this module imports from __future__.
        exec(compile(block, "README.md", "exec", dont_inherit=True), names)
