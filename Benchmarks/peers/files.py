"""The design that Satchel replaces: a JSON file an entity, and one a location, rewritten each time."""

import os
from pathlib import Path

import orjson

from .peer import Header, Peer


def file_name(key: str) -> str:
    return key.replace(":", "_") + ".json"


class Files(Peer):
    """`sync` is "none" (written in place), "rename" (aside, then renamed) or "fsync" (synced as well)."""

    def __init__(self, sync: str) -> None:
        self.sync = sync

    def open(self, directory: Path, writing: bool) -> None:
        self.entities = f"{directory}/entities/"
        self.contexts = f"{directory}/contexts/"
        self.known: dict[str, dict] = {}
        if writing:
            os.makedirs(self.entities, exist_ok=True)  # noqa: PTH103 (plain strings: the hot path is a file)
            os.makedirs(self.contexts, exist_ok=True)  # noqa: PTH103

    def write(self, path: str, data: bytes) -> None:
        if self.sync == "none":
            with open(path, "wb", 0) as file:  # noqa: PTH123
                file.write(data)
            return
        aside = path + ".tmp"
        with open(aside, "wb", 0) as file:  # noqa: PTH123
            file.write(data)
            if self.sync == "fsync":
                os.fsync(file.fileno())
        os.rename(aside, path)  # noqa: PTH104

    def put(self, line: bytes) -> None:
        payload = orjson.loads(line)
        for entity in payload["entities"]:
            self.write(self.entities + file_name(entity["entity_id"]), orjson.dumps(entity))
        location, section = payload["location"], payload["section"]
        context = self.known.setdefault(location, {})
        context[section["id"]] = {
            "title": section["title"],
            "order": section["order"],
            "references": [entity["entity_id"] for entity in payload["entities"]],
        }
        self.write(self.contexts + file_name(location), orjson.dumps(context))
        if self.sync == "fsync":
            for directory in (self.entities, self.contexts):
                handle = os.open(directory, os.O_RDONLY)
                os.fsync(handle)
                os.close(handle)

    def read(self, path: str) -> bytes:
        with open(path, "rb", 0) as file:  # noqa: PTH123
            return file.read()

    def headers(self, location: str) -> list[Header]:
        self.context = orjson.loads(self.read(self.contexts + file_name(location)))
        return sorted(
            (value["order"], section, value["title"], len(value["references"]))
            for section, value in self.context.items()
        )

    def bodies(self, location: str, section: str) -> list[bytes | str]:
        keys = self.context[section]["references"]
        return [self.read(self.entities + file_name(key)) for key in keys]

    def close(self) -> None:
        pass


PEERS = {f"files-{sync}": (lambda sync=sync: Files(sync)) for sync in ("none", "rename", "fsync")}
