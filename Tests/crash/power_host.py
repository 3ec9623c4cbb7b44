"""An app with a store: what the workloads of power.py act on, on a disk or in memory.

In memory there is no power to lose. There the same operations give the states that a store on a disk may be
found in.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any

import satchel
from asset_verdict import picture
from power_trace import limit_wal, unlimit_wal
from satchel.remote import Directory

LOCATION = {"locality": "Shanghai", "admin_area": "Shanghai", "country_code": "CN"}
#: Parts of a store, and ``files`` in its folder, each with its content.
Content = dict[str, dict[str, Any]]
STORE, BACKUP, RECOVERED, MIRROR = "s.satchel", "b.satchel", "r.satchel", "notes.json"
#: A directory with what the store has synchronized, and whose that is.
REMOTE, USER = "remote", "ana"
#: Seconds and changes after which state is saved automatically: never, only when the workload says so.
NEVER = 1_000_000


def collection(store: satchel.Store, actor: int) -> satchel.Records[Any]:
    """The records of an actor; each has its own, and so sections, photos and values."""
    return store.records(f"notes_{actor}")


def notes_of(store: satchel.Store, actor: int) -> dict[str, Any]:
    return {record.id: dict(record.document) for record in collection(store, actor).list()}


def photos_of(store: satchel.Store, actor: int) -> satchel.PhotoCatalogue:
    return store.photos(f"/photos-{actor}")


def content_of(store: satchel.Store, actor: int) -> Content:
    """All that an actor has in a store; JSON values, so that it compares."""
    sections = {}
    for header in store.catalogue.sections(LOCATION):
        if header.section.startswith(f"{actor}-"):
            loaded = store.catalogue.load(LOCATION, header.section)
            sections[header.section] = [header.display_title, loaded.content if loaded else None]
    content = {
        "notes": notes_of(store, actor),
        "sections": sections,
        "state": {key: store.state.get(key) for key in store.state.keys(f"{actor}-")},
        "photos": {photo.md5: photo.size for photo in photos_of(store, actor).iterate()},
    }
    copied: Content = json.loads(json.dumps(content, default=str))
    return copied


class Host:
    """A store that is opened, changed, closed and copied by one process.

    :param folder: where the store is; None keeps everything in memory
    :param inputs: folder of what the host imports
    """

    def __init__(self, folder: Path | None, inputs: Path, actor: int = 0, durability: str = "full") -> None:
        self.folder = folder
        self.inputs = inputs
        self.actor = actor
        self.durability = durability
        #: Unix milliseconds; grows with each operation, so that both kinds of hosts have the same times.
        self.time = 1_700_000_000_000
        #: The content of the other files in the store's folder, in memory.
        self.files: dict[str, Any] = {}

    def open(self) -> None:
        path = self.folder / STORE if self.folder else ":memory:"
        self.store = satchel.open(path, clock=lambda: self.time, durability=self.durability, busy_timeout=60)
        self.store.state.configure(save_delay=NEVER, max_pending=NEVER, max_delay=NEVER)
        self.notes = collection(self.store, self.actor)
        self.photos = photos_of(self.store, self.actor)

    def close(self) -> None:
        if self.folder:
            self.store.close()
        else:
            self.store.state.flush()

    def reopen(self) -> None:
        self.close()
        if self.folder:
            self.open()

    def content(self) -> Content:
        """The content that a store on a disk should have now, and the other files in its folder."""
        return {**content_of(self.store, self.actor), "files": dict(self.files)}

    # Operations that differ on a disk and in memory

    def mirror(self) -> None:
        self.files[MIRROR] = True
        if self.folder:
            self.notes.mirror(self.folder / MIRROR)

    def remirror(self) -> None:
        """Continues the mirror after the store was opened again."""
        if MIRROR in self.files:
            self.mirror()

    def back_up(self) -> None:
        self.files[BACKUP] = notes_of(self.store, self.actor)
        if self.folder:
            self.store.backup(self.folder / BACKUP)

    def synchronize(self) -> None:
        if self.folder:
            with Directory(self.folder / REMOTE) as remote:
                self.store.sync(remote, USER)

    def restore(self) -> None:
        if self.folder:
            self.store.close()
            satchel.restore(self.folder / BACKUP, self.folder / STORE)
            self.open()
        else:
            self._replace_notes(self.files[BACKUP])

    def put_picture(self, key: str, number: int) -> None:
        asset = self.store.assets.put(picture(number))
        self.notes.put(key, {"number": number, "picture": asset.json})

    def age(self) -> None:
        """All that is not referred to is old enough to be removed."""
        self.time += 2 * 60 * 60 * 1000

    def prune_assets(self) -> None:
        self.store.assets.prune()

    def verify_assets(self) -> None:
        self.store.assets.verify()

    def _replace_notes(self, notes: dict[str, Any]) -> None:
        for document in notes.values():
            if "picture" in document:
                self.store.assets.put(picture(document["number"]))
        with self.store.batch():
            for key in list(notes_of(self.store, self.actor)):
                self.notes.delete(key)
            for key, document in notes.items():
                self.notes.put(key, document)

    def recover(self) -> None:
        """Reads the store, which is sound, into a new one."""
        self.files[RECOVERED] = notes_of(self.store, self.actor)
        if self.folder:
            self.store.close()
            answer = satchel.recover(self.folder / STORE, self.folder / RECOVERED)
            assert answer.complete, answer
            self.open()

    def drop_recovered(self) -> None:
        self.files.pop(RECOVERED, None)
        if self.folder and (self.folder / RECOVERED).exists():
            (self.folder / RECOVERED).unlink()
            descriptor = os.open(self.folder, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
            # After that: no loss of power brings the store back without its files.
            shutil.rmtree(self.folder / f"{RECOVERED}.assets", ignore_errors=True)

    def begin_spooling(self) -> None:
        """From now on the write-ahead log cannot grow, so that writes go to the outbox file."""
        if self.folder:
            limit_wal(0)

    def end_spooling(self) -> None:
        if self.folder:
            unlimit_wal()

    def shards(self, version: int) -> Path:
        """A directory of shards with 2,500 photos, made when it is first asked for."""
        folder = self.inputs / f"shards-{version}"
        if not folder.exists():
            with satchel.open(":memory:") as store:
                photos = store.photos("/photos")
                photos.upsert(photo_range(version * 300, 2500, version))
                photos.export_directory(folder)
        return folder


def photo_range(first: int, count: int, version: int) -> list[dict[str, Any]]:
    """Photos whose MD5s spread over all shards; a photo of another version has another size."""
    return [photo(number, version) for number in itertools.islice(itertools.count(first), count)]


def photo(number: int, version: int) -> dict[str, Any]:
    return {
        "md5": f"{number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}",
        "filename": f"IMG_{number}.jpg",
        "size": 2_000_000 + number + version,
        "photodate": 1_719_954_840 + number,
        "modified": 1_719_954_840,
        "width": 4032,
        "height": 3024,
    }
