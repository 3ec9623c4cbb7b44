"""The workloads of power.py: lists of operations, the same ones for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from power_host import LOCATION, Host, photo_range


@dataclass(frozen=True)
class Operation:
    """One call of the app, acknowledged when ``act`` returns.

    ``is_atomic``: one transaction. Else a loss of power meanwhile may leave a part of it.
    """

    name: str
    act: Callable[[Host], object]
    is_atomic: bool = True


class Undo(Exception):
    """Rolls a batch back."""


class Writer:
    """Makes operations by chance."""

    def __init__(self, seed: str, actor: int = 0) -> None:
        self.dice = random.Random(seed)
        self.actor = actor

    def choose(self, count: int, *makers: Callable[[], Operation]) -> Iterator[Operation]:
        for _ in range(count):
            yield self.dice.choice(makers)()

    def _text(self, length: int) -> str:
        return "".join(self.dice.choice("abcdefgh ") for _ in range(20)) * (length // 20 + 1)

    def _document(self, length: int) -> dict[str, Any]:
        return {"value": self.dice.random(), "text": self._text(length)}

    def put(self) -> Operation:
        key, document = f"n{self.dice.randrange(30)}", self._document(self.dice.choice([10, 500, 3000, 9000]))
        return Operation("put", lambda host: host.notes.put(key, document))

    def delete(self) -> Operation:
        key = f"n{self.dice.randrange(30)}"
        return Operation("delete", lambda host: host.notes.delete(key))

    def batch(self, count: int = 5, length: int = 1500, keys: int = 40) -> Operation:
        documents = [(f"n{self.dice.randrange(keys)}", self._document(length)) for _ in range(count)]

        def act(host: Host) -> None:
            with host.store.batch():
                for key, document in documents:
                    host.notes.put(key, document)

        return Operation("batch", act)

    def rewrite(self, count: int, length: int) -> Operation:
        """Gives many records new documents, so that the log becomes long and the store does not."""
        document = self._document(length)

        def act(host: Host) -> None:
            with host.store.batch():
                for number in range(count):
                    host.notes.put(f"r{number}", {**document, "number": number})

        return Operation("rewrite", act)

    def nested(self) -> Operation:
        """A batch with an inner batch that is rolled back."""
        documents = [(f"n{self.dice.randrange(40)}", self._document(800)) for _ in range(4)]

        def act(host: Host) -> None:
            with host.store.batch():
                host.notes.put(*documents[0])
                try:
                    with host.store.batch():
                        host.notes.put(*documents[1])
                        host.notes.put(*documents[2])
                        raise Undo
                except Undo:
                    pass
                host.notes.put(*documents[3])

        return Operation("nested", act)

    def rolled_back(self, count: int) -> Operation:
        """A batch that is rolled back; with 2,500 records its pages are in the log before."""
        document = self._document(3500)

        def act(host: Host) -> None:
            try:
                with host.store.batch():
                    for number in range(count):
                        host.notes.put(f"u{number}", document)
                    raise Undo
            except Undo:
                pass

        return Operation("rolled-back", act)

    def persist(self) -> Operation:
        name, count = f"{self.actor}-s{self.dice.randrange(4)}", self.dice.choice([1, 5, 30])
        version = self.dice.randrange(1000)
        entities = {
            f"Item {number}": {
                "note": f"{version} " + "n" * (200 + number),
                "_storage": {
                    "entity_id": f"{name}:e{number}",
                    "scope": "locality",
                    "ttl_hours": 24 * 365 * 20,
                },
            }
            for number in range(count)
        }
        section = {"section": name, "display_title": f"Title {version}", "content": entities}
        return Operation("persist", lambda host: host.store.catalogue.persist(LOCATION, section))

    def prune(self) -> Operation:
        name = f"{self.actor}-s{self.dice.randrange(4)}"
        return Operation("prune", lambda host: host.store.catalogue.prune(expired=False, section=name))

    def _values(self, count: int) -> dict[str, float]:
        return {f"{self.actor}-k{self.dice.randrange(10)}": self.dice.random() for _ in range(count)}

    def state(self) -> Operation:
        values = self._values(3)

        def act(host: Host) -> None:
            for key, value in values.items():
                host.store.state.set(key, value)
            host.store.state.flush()

        return Operation("state", act)

    def spool_state(self) -> Operation:
        values = self._values(2)

        def act(host: Host) -> None:
            host.begin_spooling()
            for key, value in values.items():
                host.store.state.set(key, value)
            is_stored = host.store.state.flush()
            host.end_spooling()
            assert is_stored is (host.folder is None), "the WAL could grow"

        return Operation("outbox-state", act)

    def spool_put(self) -> Operation:
        key, document = f"n{self.dice.randrange(30)}", self._document(self.dice.choice([10, 500, 9000]))

        def act(host: Host) -> None:
            host.begin_spooling()
            host.notes.put(key, document)
            host.end_spooling()

        return Operation("outbox-put", act)

    def photos(self, count: int = 20) -> Operation:
        first, version = self.dice.randrange(3000), self.dice.randrange(100)
        return Operation("photos", lambda host: host.photos.upsert(photo_range(first, count, version)))

    def import_shards(self, version: int) -> Operation:
        return Operation(
            "import", lambda host: host.photos.import_directory(host.shards(version)), is_atomic=False
        )

    def reopen(self) -> Operation:
        def act(host: Host) -> None:
            host.reopen()
            host.remirror()

        return Operation("reopen", act)

    def picture(self) -> Operation:
        """A record that refers to an asset; the same few assets again and again."""
        key, number = f"n{self.dice.randrange(12)}", self.dice.randrange(15)
        return Operation("picture", lambda host: host.put_picture(key, number))

    def age(self) -> Operation:
        return Operation("age", Host.age)

    def prune_assets(self) -> Operation:
        return Operation("prune-assets", Host.prune_assets)

    def verify_assets(self) -> Operation:
        return Operation("verify-assets", Host.verify_assets)

    def delete_picture(self) -> Operation:
        key = f"n{self.dice.randrange(12)}"
        return Operation("delete", lambda host: host.notes.delete(key))

    def pause(self) -> Operation:
        return Operation("pause", lambda host: None)

    def mirror(self) -> Operation:
        return Operation("mirror", Host.mirror)

    def back_up(self) -> Operation:
        return Operation("backup", Host.back_up)

    def synchronize(self) -> Operation:
        return Operation("synchronize", Host.synchronize)

    def restore(self) -> Operation:
        return Operation("restore", Host.restore)

    def recover(self) -> Operation:
        return Operation("recover", Host.recover)

    def drop_recovered(self) -> Operation:
        return Operation("drop-recovered", Host.drop_recovered)


def records(w: Writer) -> Iterator[Operation]:
    yield from w.choose(60, w.put, w.put, w.put, w.delete, w.batch, w.nested)


def mixed(w: Writer) -> Iterator[Operation]:
    yield from w.choose(
        60, w.put, w.batch, w.persist, w.persist, w.state, w.photos, w.prune, w.reopen, w.nested
    )


def prune(w: Writer) -> Iterator[Operation]:
    yield from w.choose(8, w.persist)
    yield from w.choose(25, w.persist, w.prune, w.prune, lambda: w.batch(20, 4000), w.delete, w.reopen)


def photos(w: Writer) -> Iterator[Operation]:
    yield from [w.photos(300), w.put(), w.photos(2500), w.put(), w.photos(50), w.photos(2500)]


def large(w: Writer) -> Iterator[Operation]:
    """Commits of a thousand pages and more, of which the fourth finds a log of 4,000: a thread copies it."""
    yield w.put()
    for _ in range(5):
        yield w.rewrite(600, 7000)
        yield from [w.put(), w.rolled_back(2500), w.put()] if w.dice.random() < 0.4 else [w.put()]
    yield w.reopen()
    yield from w.choose(4, w.put, lambda: w.rewrite(600, 7000))


def files(w: Writer) -> Iterator[Operation]:
    """The other files in the store's folder: a backup, a mirror, the outbox file."""
    yield from w.choose(12, w.put, w.put, w.state)
    yield w.mirror()
    kinds = [
        w.put,
        w.put,
        w.state,
        w.back_up,
        w.spool_state,
        w.spool_state,
        w.spool_put,
        w.batch,
        w.delete,
        w.reopen,
    ]
    yield from w.choose(40, *kinds)


def outbox(w: Writer) -> Iterator[Operation]:
    """Most of it goes to the outbox file, which is begun and ended again and again."""
    yield w.put()
    for _ in range(12):
        yield from w.choose(w.dice.randrange(1, 4), w.spool_put, w.spool_state)
        yield w.dice.choice([w.put, w.reopen])()


def synced(w: Writer) -> Iterator[Operation]:
    """A store and its remote, a directory: what is sent goes into the head, into one pack or into several."""
    yield from [w.put(), w.synchronize(), w.rewrite(500, 7000), w.synchronize()]
    for _ in range(8):
        yield from w.choose(3, w.put, w.put, w.delete, w.batch, lambda: w.batch(20, 4000), w.reopen)
        yield w.synchronize()
    yield from [w.rewrite(500, 7000), w.synchronize(), w.put()]


def shards(w: Writer) -> Iterator[Operation]:
    yield from [w.put(), w.import_shards(0), w.put(), w.import_shards(1), w.put(), w.reopen()]
    yield from [w.import_shards(2), w.import_shards(0)]


def making(w: Writer) -> Iterator[Operation]:
    """Nothing: the store is made, and closed."""
    yield from w.choose(0, w.put)


def makers(w: Writer) -> Iterator[Operation]:
    """For each of two processes that make the store at once."""
    yield from [w.put(), w.reopen(), w.put()]


def restore(w: Writer) -> Iterator[Operation]:
    yield from [w.put(), w.batch(), w.back_up()]
    for _ in range(8):
        yield from w.choose(3, w.put, w.batch, w.delete)
        yield w.restore()
        yield from w.choose(2, w.put, w.delete, w.back_up)


def recover(w: Writer) -> Iterator[Operation]:
    yield w.batch(20)
    for _ in range(6):
        yield from w.choose(3, w.put, w.batch, w.delete)
        yield from [w.recover(), w.put(), w.drop_recovered()]


def assets(w: Writer) -> Iterator[Operation]:
    """Assets come and go, are pruned, backed up, restored and recovered."""
    yield from [w.picture(), w.picture(), w.back_up()]
    kinds = [w.picture, w.picture, w.picture, w.delete_picture, w.delete_picture, w.put, w.reopen]
    for _ in range(6):
        yield from w.choose(5, *kinds)
        yield from [w.age(), w.prune_assets()]
        yield from w.choose(4, *kinds, w.prune_assets, w.verify_assets, w.back_up)
    for _ in range(3):
        yield from w.choose(4, *kinds, w.back_up)
        yield from [w.age(), w.prune_assets(), w.restore(), w.picture(), w.verify_assets()]
    yield from [w.recover(), w.picture(), w.drop_recovered(), w.age(), w.prune_assets()]


def pictures(w: Writer) -> Iterator[Operation]:
    """For each of two processes, of which one prunes and verifies what both put and delete."""
    kinds = [w.picture, w.picture, w.picture, w.delete_picture, w.delete_picture, w.reopen]
    upkeep = [w.prune_assets, w.verify_assets]
    for _ in range(8):
        yield from w.choose(3, *kinds)
        yield w.age()
        yield from w.choose(3, *upkeep, *(kinds if w.actor else upkeep))


def processes(w: Writer) -> Iterator[Operation]:
    """For each of two processes that have the store open.

    They act at the same time. Again and again one of them undoes a batch whose pages are in the log, and the
    other commits so many that they take the same place there, before the first does anything else.
    """
    kinds = [w.put, w.put, w.batch, w.nested, w.delete, w.state, w.reopen, w.pause]
    for turn in range(6):
        yield from w.choose(5, *kinds)
        first, second = [w.rolled_back(2500), w.pause()], [w.pause(), w.rewrite(600, 7000)]
        yield from first if turn % 2 == w.actor else second


@dataclass(frozen=True)
class Workload:
    name: str
    make: Callable[[Writer], Iterator[Operation]]
    actors: int = 1
    durability: str = "full"
    #: The power is lost before a file of this suffix is made.
    until: str = ""
    #: How many states for each that is asked for.
    weight: int = 1

    def operations(self, seed: int, actor: int = 0) -> list[Operation]:
        """Returns an actor's operations; the first one, of number 1, follows the opening of the store."""
        return list(self.make(Writer(f"{seed}-{actor}", actor)))


WORKLOADS = [
    *(
        Workload(make.__name__, make)
        for make in [records, mixed, prune, photos, large, files, outbox, shards, synced, assets]
    ),
    *(Workload(make.__name__, make) for make in [restore, recover]),
    # Few moments of it matter.
    Workload("making", making, until="-wal", weight=5),
    Workload("processes", processes, actors=2),
    Workload("makers", makers, actors=2),
    Workload("pictures", pictures, actors=2),
    Workload("relaxed", mixed, durability="relaxed"),
]
