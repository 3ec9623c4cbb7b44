"""Checks the assets of a store that was killed, or has lost its power."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import satchel


def picture(number: int) -> bytes:
    """The bytes of an asset: every third is small, a row of the store; the others are files."""
    size = 500 + number * 900 if number % 3 == 0 else 66_000 + number * 2_000
    return random.Random(f"picture {number}").randbytes(size)


def wrong_assets(store: satchel.Store) -> Iterator[str]:
    """Reads all assets that are here, and looks for references to others; nothing is written."""
    for info in store.assets.list(state="here"):
        name = str(info.sha256)
        try:
            content = store.assets.read(name)
        except satchel.SatchelError as error:
            yield f"an asset that is here cannot be read: {error}"
        else:
            if hashlib.sha256(content).hexdigest() != name:
                yield f"the asset {name} has other bytes"
    missing = [info for info in store.assets.list() if info.references and info.state != "here"]
    yield from (f"a document refers to {info.sha256}, which is {info.state}" for info in missing)


def wrong_files_of_assets(store: satchel.Store, path: Path) -> Iterator[str]:
    """Marks what is lost, removes what an unclean end has left, and looks whether that is all."""
    report = store.assets.verify()
    yield from (f"verify: {name} is lost or damaged" for name in [*report.lost, *report.damaged])
    store.assets.prune()
    large = {str(each.sha256) for each in store.assets.list(state="here") if (each.size or 0) > 65536}
    folder = path.with_name(path.name + ".assets")
    found = {each.name for each in folder.rglob("*") if each.is_file() and each.name != "lock"}
    if found != large:
        yield f"{len(found - large)} files without a row, {len(large - found)} rows without a file"
