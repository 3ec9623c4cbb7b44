"""Directories of files that stand for photos, for tests of their backup."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, List

import satchel


class Album:
    """A directory of files, scanned, and starred."""

    def __init__(self, store: satchel.Store, folder: Path, names: List[str]) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.photos = store.photos(folder)
        self.files = {name: self.add(name) for name in names}
        self.photos.scan()
        for each in self.files.values():
            self.photos.star(each)

    def add(self, name: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        body = f"the photo {name}".encode() * 1000
        path.write_bytes(body)
        return hashlib.md5(body).hexdigest()

    def bytes_of(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def status_of(self, name: str) -> Any:
        photo = self.photos.get(self.files[name])
        assert photo is not None
        return photo.backup_status


NAMES = ["a.jpg", "b.jpg", "2024/c.jpg", "2024/deeper/d.jpg", "e.jpg"]
