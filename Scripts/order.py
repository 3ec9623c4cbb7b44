"""Lists the functions that an app's start runs, and the variables it writes, for the linker to put side by side.

Each page of code that is touched takes 64 KB of memory with it: functions that lie scattered over 6 MB cost a
start more than they do by what they run. The same goes for the variables in which they keep what they made
once: each source file has a section of zeros for its own, and a page of them faults twice, when it is read
and when it is written.
build.sh calls this with a library that was not stripped, and links it again.
Usage: order.py LIBRARY ORDER; PYTHONPATH has Bindings/Python
"""

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PLACE = {"country_code": "PT", "admin_area": "Porto", "locality": "Porto"}
SECTION = {
    "section": "food",
    "display_title": "Food",
    "action": "replace",
    "content": {"items": [{"name": "Tripas", "_storage": {"entity_id": "dish:1", "scope": "locality"}}]},
}
PHOTO = ("0" * 32, "a.jpg", 1, 1, 1, 1, 1, "")


def start(directory: Path) -> None:
    """Reads what an app reads before its first screen; the first time it writes it before."""
    import satchel

    with satchel.open(directory / "app.satchel") as store:
        notes = store.records("notes", indexes=["day"])
        photos = store.photos(directory / "album")
        if "n1" not in notes:
            store.catalogue.persist(PLACE, SECTION)
            notes.put("n1", {"day": 1})
            store.state.set("screen", "food")
            photos.upsert(satchel.Photo(*PHOTO))
        for header in store.catalogue.sections(PLACE):
            store.catalogue.load(PLACE, header.section)
        notes.get("n1")
        notes.list(order_by="day")
        assert store.state.get("screen") == "food"
        assert photos.get(PHOTO[0])


def functions(profile: str, library: Path) -> set[str]:
    """The library's functions in a profile by callgrind, which writes each name in full once only."""
    found: set[str] = set()
    names: dict[str, str] = {}
    is_ours = False
    for line in profile.splitlines():
        match = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?", line)
        if not match:
            continue
        called, kind, number, name = match.groups()
        name = names.setdefault(kind + number, name)
        if called:
            continue
        if kind == "ob":
            is_ours = Path(name) == library
        elif is_ours and not name.startswith("0x"):
            # 'name'2 is the second call of a recursion.
            found.add(name.split("'")[0])
    return found


def variables(library: Path) -> set[str]:
    """The library's variables, zero at first, that are something else in this process."""
    listed = ["nm", "--print-size", library]
    symbols = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in symbols.splitlines()]
    maps = Path("/proc/self/maps").read_text().splitlines()
    base = int(next(line for line in maps if line.endswith(str(library))).split("-")[0], 16)
    return {
        row[3]
        for row in rows
        if len(row) == 4 and row[2] in "bB" and any(ctypes.string_at(base + int(row[0], 16), int(row[1], 16)))
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        # Valgrind cannot read what newer compilers write for debuggers.
        library = Path(folder) / "libsatchel.so"
        subprocess.run(["strip", "--strip-debug", "-o", library, sys.argv[1]], check=True)
        command = [sys.executable, __file__, "start", folder]
        environment = os.environ | {"SATCHEL_LIBRARY": str(library)}
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        profile = Path(folder) / "profile"
        valgrind = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile}"]
        started = subprocess.run(
            [*valgrind, *command], env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        names, kept = functions(profile.read_text(), library), set(started.stdout.split())
    # Ours first: some of the Swift runtime's come with much else that cannot be parted from them.
    ordered = sorted(names | kept, key=lambda name: ("atchel" not in name, name))
    Path(sys.argv[2]).write_text("".join(f"{name}\n" for name in ordered), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "start":
        start(Path(sys.argv[2]))
        print(*variables(Path(os.environ["SATCHEL_LIBRARY"])), sep="\n")
    else:
        main()
