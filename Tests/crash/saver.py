"""A process of records.py: verifies what one that was killed left, and changes it until it is killed."""

from __future__ import annotations

import hashlib
import os
import random
import resource
import struct
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import satchel
from asset_verdict import picture, wrong_assets, wrong_files_of_assets
from ledger import Documents, Journal, Ledger

KEYS = [f"note-{number}" for number in range(40)]
#: Actions of a child that is not killed for long.
MOST_ACTIONS = 1000
#: A frame of the store's log, in bytes: a page and its header.
FRAME = 4096 + 24
#: Longer than any life.
NEVER = timedelta(days=1)
#: A page of the store and more, so that changes move others.
TEXT = "lorem ipsum " * 60
#: Assets: the same few again and again.
PICTURES = 20
#: Milliseconds by which each process is later than the one before: what that has dropped is old by then.
LIFE = 2 * 60 * 60 * 1000


def migrations(version: int) -> list[list[dict[str, Any]]]:
    """Each version gives all records one more field."""
    return [[{"default": {"path": f"v{each}", "value": each}}] for each in range(2, version + 1)]


def migrated(document: dict[str, Any], version: int) -> dict[str, Any]:
    return {**{f"v{each}": each for each in range(2, version + 1)}, **document}


def lives_of(folder: Path) -> int:
    age = folder / "age"
    return int(age.read_text()) if age.exists() else 0


def clock(folder: Path) -> Callable[[], int]:
    """The clock of this life."""
    lives = lives_of(folder)
    return lambda: time.time_ns() // 1_000_000 + lives * LIFE


def begin_life(folder: Path) -> None:
    draft = folder / "age.new"
    draft.write_text(str(lives_of(folder) + 1))
    draft.rename(folder / "age")


def upkeep(folder: Path, ready: int, dice: random.Random) -> None:
    """A second process: puts assets to which nothing refers, prunes and verifies, until both are killed."""
    if not os.read(ready, 1):
        return
    with satchel.open(folder / "store.satchel", clock=clock(folder), busy_timeout=60) as store:
        for _ in range(MOST_ACTIONS):
            action = dice.randrange(4)
            if action == 0:
                store.assets.prune(max_bytes=dice.choice([None, 0]))
            elif action == 1:
                report = store.assets.verify(deep=dice.random() < 0.3)
                assert not [*report.lost, *report.damaged], report
            else:
                number = dice.randrange(PICTURES)
                assert store.assets.put(picture(number)).bytes() == picture(number)
        while True:
            time.sleep(1)


class Saver:
    """A store with a collection and its mirror, a list, a set, a score, and assets."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.folder = folder
        self.dice = dice
        self.ledger = Ledger.read(folder)
        self.journal = Journal(folder)
        self.number = self.ledger.next_number
        self.spools = 0
        #: Puts that are deferred; None once that is not known any more.
        self.deferred: int | None = 0
        for old in folder.glob("*.before-*"):
            old.unlink()
        (folder / "backups").mkdir(exist_ok=True)
        begin_life(folder)
        self.store = satchel.open(folder / "store.satchel", clock=clock(folder))
        self.store.observe(self._hear)
        self._open_records()
        # By the number of changes, not by time: how many are unsaved does not depend on the machine's speed.
        self.store.state.configure(save_delay=NEVER, max_pending=dice.choice([1, 4]), max_delay=NEVER)
        self.added = self.store.state.list("numbers")
        self.members = self.store.state.members("numbers")
        self.score = self.store.state.scores("numbers", minimum=0, maximum=1e9)

    def _hear(self, change: satchel.Change) -> None:
        if "@spooled" in change.keys:
            self.journal.write("spooled")

    def _open_records(self) -> None:
        version = self.ledger.begun_version
        if self.dice.random() < 0.08:
            version += 1
        self.journal.write("migrate", version=version)
        self.notes = self.store.records("notes", version=version, migrations=migrations(version))
        if version != self.ledger.version:
            self.journal.write("migrated", version=version)
        self.version = version
        self.is_mirrored = self.dice.random() < 0.3
        if self.is_mirrored:
            self.notes.mirror(self.folder / "notes.json")
            self.journal.write("mirror")

    # Content that another process left

    def verify(self) -> None:
        """Raises AssertionError when something that was acknowledged is missing, or is there twice."""
        assert self.store.check() == [], self.store.check()
        documents = {record.id: dict(record.document) for record in self.notes.list()}
        possible = [
            {key: migrated(document, self.version) for key, document in state.items()}
            for state in self.ledger.possible()
        ]
        assert documents in possible, difference(documents, possible)
        assert self.notes.count() == len(documents)
        numbers = [item.value for item in self.added.items()][::-1]
        known = self.ledger.numbers
        assert numbers == known[: len(numbers)], f"{numbers[-5:]} is not the beginning of {known[-5:]}"
        assert len(numbers) >= self.ledger.durable, f"{len(numbers)} of {self.ledger.durable} numbers"
        del known[len(numbers) :]
        self._verify_others(numbers)
        if self.is_mirrored:
            assert self.notes.verify_mirror() == []
        self._verify_assets()
        self._verify_backups()
        self.journal.begin_anew(
            Ledger.read(self.folder), documents=documents, numbers=numbers, version=self.version
        )

    def _verify_others(self, numbers: list[int]) -> None:
        """The set and the score, which may be short of the last number: then it is made up for."""
        members, total = set(self.members.values()), self.score.value("sum")
        assert members in (set(numbers), set(numbers[:-1])), f"{len(members)} of {len(numbers)} members"
        assert len(numbers) - 1 <= total <= len(members), f"a score of {total} for {len(members)} numbers"
        for number in set(numbers) - members:
            self.members.add(number)
        self.score.add("sum", len(numbers) - total)
        self.store.state.flush()

    def _verify_assets(self) -> None:
        wrong = list(wrong_assets(self.store))
        # Half of them go on with what an unclean end has left.
        if self.dice.random() < 0.5:
            wrong += wrong_files_of_assets(self.store, self.folder / "store.satchel")
        assert not wrong, wrong

    def _verify_backups(self) -> None:
        for backup in [self.folder / "backup.satchel", *(self.folder / "backups").glob("*.satchel")]:
            if backup.exists():
                with satchel.open(backup, read_only=True, clock=clock(self.folder)) as store:
                    wrong = [*store.check(), *wrong_assets(store)]
                    assert not wrong, wrong

    # Changes

    def work(self, is_limited: bool) -> None:
        """Changes this and that without end.

        :param is_limited: the store cannot grow, and the outbox file takes what it cannot
        """
        if is_limited:
            self._limit_files()
        actions: list[Callable[[], None]] = [self.put, self.delete, self.batch, self.flush, self.backup]
        actions += [self.picture, self.picture, self.upkeep, self.rotate]
        deferring = [self.defer] * 6 + [self.read]
        # However long it takes until it is killed: the journal is read by each child.
        for _ in range(MOST_ACTIONS):
            self.dice.choice([*actions, self.put, *deferring, self.add, self.add, self.add, self.add])()
        while True:
            time.sleep(1)

    def _limit_files(self) -> None:
        """From now on the store's log can hardly grow; its outbox file and the journal can."""
        # Not the size of its file: after a checkpoint the log starts over in it.
        frames = struct.unpack_from("=I", (self.folder / "store.satchel-shm").read_bytes(), 16)[0]
        limit = max(frames * FRAME, self.journal.size) + (1 << 18)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    def _next(self) -> int:
        self.number += 1
        return self.number

    def _document(self) -> dict[str, Any]:
        number = self._next()
        text = TEXT[: self.dice.randrange(len(TEXT))]
        return migrated({"number": number, "text": text}, self.version)

    def _change(self, what: str, documents: Documents, body: Callable[[], object]) -> None:
        self.journal.write("begin", documents=documents, number=self.number)
        if self._tried(body):
            self.journal.write("end", what=what)
        else:
            # Neither the store nor the outbox file could take it: then nothing of it is there.
            self.journal.write("begin", documents={})

    def _tried(self, body: Callable[[], object]) -> bool:
        """Makes a call that writes what is deferred first, and returns whether there was room for it."""
        try:
            body()
        except satchel.SatchelError as error:
            if error.code not in ("EFULL", "EIO"):
                raise
            self.deferred = None
            return False
        self.deferred = None if self.deferred is None else 0
        return True

    def put(self) -> None:
        key, document = self.dice.choice(KEYS), self._document()
        self._change("put", {key: document}, lambda: self.notes.put(key, document))

    def picture(self) -> None:
        """A record that refers to an asset."""
        key, content = self.dice.choice(KEYS), picture(self.dice.randrange(PICTURES))
        reference = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        document = {**self._document(), "picture": {"_asset": reference}}

        def change() -> None:
            self.store.assets.put(content)
            self.notes.put(key, document)

        self._change("picture", {key: document}, change)

    def upkeep(self) -> None:
        """Removes what was dropped in earlier lives, or what an unclean end has left."""
        if self.dice.random() < 0.5:
            if self._tried(self.store.assets.prune):
                self.journal.write("pruned")
        elif self._tried(lambda: self.store.assets.verify(deep=False)):
            self.journal.write("verified")

    def rotate(self) -> None:
        if self.dice.random() < 0.2 and self._tried(
            lambda: self.store.backup_rotate(self.folder / "backups", 2)
        ):
            self.journal.write("rotated")

    def defer(self) -> None:
        """A put that is written later: with the tenth, or before any other call for records."""
        key, document = self.dice.choice(KEYS), self._document()
        self.journal.write("defer", documents={key: document}, number=self.number)
        try:
            self.notes.put(key, document, deferred=True)
        except satchel.SatchelError as error:
            # The tenth: neither the store nor the outbox file could take them, and they stay deferred.
            if error.code not in ("EFULL", "EIO"):
                raise
            self.deferred = None
        if self.deferred is not None:
            self.deferred = (self.deferred + 1) % 10
            if self.deferred == 0:
                self.journal.write("written")

    def read(self) -> None:
        """Writes what is deferred, and sees it."""
        key = self.dice.choice(KEYS)
        if self._tried(lambda: self.notes.get(key)):
            self.journal.write("written")

    def delete(self) -> None:
        key = self.dice.choice(KEYS)
        self._change("delete", {key: None}, lambda: self.notes.delete(key))

    def batch(self) -> None:
        documents = {key: self._document() for key in self.dice.sample(KEYS, 3)}
        gone = self.dice.choice([key for key in KEYS if key not in documents])

        def change() -> None:
            with self.store.batch():
                for key, document in documents.items():
                    self.notes.put(key, document)
                self.notes.delete(gone)

        self._change("batch", {**documents, gone: None}, change)

    def add(self) -> None:
        number = self._next()
        self.journal.write("add", number=number)
        self.ledger.numbers.append(number)
        self.added.push(number)
        self.members.add(number)
        self.score.add("sum", 1)

    def flush(self) -> None:
        count = len(self.ledger.numbers)
        if self.dice.random() < 0.5:
            self.store.state.flush()
        elif self._tried(self.store.flush):
            # Deferred puts too, and the mirror.
            self.journal.write("written")
        else:
            return
        self.journal.write("flushed", count=count)

    def backup(self) -> None:
        if self.dice.random() < 0.9:
            return
        if self._tried(lambda: self.store.backup(self.folder / "backup.satchel")):
            self.journal.write("backup")


def difference(found: dict[str, Any], possible: list[dict[str, Any]]) -> str:
    """The first record that none of the states has so."""
    for key in sorted({*found, *(key for state in possible for key in state)}):
        expected = [state.get(key) for state in possible]
        if found.get(key) not in expected:
            return f"{key}: {short(found.get(key))}, not {' or '.join(map(short, expected))}"
    return "a change that is there in parts"


def short(document: Any) -> str:
    return repr({**document, "text": len(document["text"])} if document else document)


if __name__ == "__main__":
    os._exit(2)
