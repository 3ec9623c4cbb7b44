"""Whether a store that lost its power has all that was acknowledged, and nothing half done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import record_log
import satchel
from asset_verdict import wrong_assets, wrong_files_of_assets
from power_host import (
    BACKUP,
    MIRROR,
    RECOVERED,
    REMOTE,
    STORE,
    USER,
    Content,
    Host,
    content_of,
    notes_of,
)
from power_workloads import Operation, Workload
from satchel.remote import Directory

AFTERWARDS = {"after": "power returned"}
EMPTY: Content = {"notes": {}, "sections": {}, "state": {}, "photos": {}, "files": {}}


@dataclass
class Progress:
    """How far an actor was when the power was lost: numbers of operations, -1 before the first."""

    begun: int = -1
    acknowledged: int = -1


class Expectation:
    """The content that an actor's part of the store may have.

    ``states[n]`` is what it holds after operation n; 0 is the opening.
    """

    def __init__(self, operations: list[Operation], actor: int, inputs: Path) -> None:
        self.actor = actor
        self.operations = operations
        host = Host(None, inputs, actor)
        host.open()
        self.states = [host.content()]
        host.time += 1000
        for operation in operations:
            operation.act(host)
            host.time += 1000
            self.states.append(host.content())
        host.store.close()

    def possible(self, progress: Progress, is_durable: bool) -> list[int]:
        first = max(progress.acknowledged, 0) if is_durable else 0
        return list(range(first, max(progress.begun, 0) + 1))

    def under_way(self, progress: Progress) -> Operation | None:
        is_begun = progress.begun > progress.acknowledged and progress.begun > 0
        return self.operations[progress.begun - 1] if is_begun else None

    def allows(self, found: Content, progress: Progress, is_durable: bool) -> bool:
        parts = [part for part in EMPTY if part != "files"]
        possible = self.possible(progress, is_durable)
        if any(all(found[part] == self.states[number][part] for part in parts) for number in possible):
            return True
        operation = self.under_way(progress)
        if operation is None or operation.is_atomic:
            return False
        before, after = self.states[progress.begun - 1], self.states[progress.begun]
        return all(is_between(found[part], before[part], after[part]) for part in parts)


def is_between(found: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether each entry is as it was before or after."""
    return all(found.get(key) in (before.get(key), after.get(key)) for key in found | before | after)


class Judge:
    """Opens what a loss of power has left of a workload's files."""

    def __init__(self, workload: Workload, seed: int, inputs: Path) -> None:
        self.is_durable = workload.durability == "full"
        self.expectations = [
            Expectation(workload.operations(seed, actor), actor, inputs) for actor in range(workload.actors)
        ]

    def violations(self, folder: Path, progress: list[Progress], writes: bool) -> list[str]:
        """Returns what is wrong with the files of ``folder``.

        :param progress: of each actor
        :param writes: whether the store shall also take a write, and be opened once more
        """
        try:
            return list(self._violations(folder, progress, writes))
        except (satchel.SatchelError, OSError, ValueError) as error:
            return [f"{type(error).__name__}: {error}"]

    def _violations(self, folder: Path, progress: list[Progress], writes: bool) -> Iterator[str]:
        path = folder / STORE
        with satchel.open(path) as store:
            yield from (f"check: {finding.message}" for finding in store.check())
            yield from wrong_assets(store)
            # Moves the content of the outbox file into the store.
            store.state.flush()
            for expectation, reached in zip(self.expectations, progress, strict=True):
                found = content_of(store, expectation.actor)
                if not expectation.allows(found, reached, self.is_durable):
                    yield describe(expectation, reached, found)
                yield from self._wrong_files(folder, expectation, reached)
            if writes:
                store.records("notes_0").put("after", AFTERWARDS)
                yield from wrong_files_of_assets(store, path)
            yield from self._wrong_remote(folder, store, progress[0])
        # An empty one was made, and nothing was acknowledged.
        spooled = [each.name for each in folder.glob("*.outbox*") if each.stat().st_size > 0]
        yield from (f"left behind: {name}" for name in spooled)
        if writes:
            with satchel.open(path) as store:
                yield from (f"check after a write: {finding.message}" for finding in store.check())
                if store.records("notes_0").get("after") != AFTERWARDS:
                    yield "a write after the power returned is lost"

    def _wrong_remote(self, folder: Path, store: satchel.Store, progress: Progress) -> Iterator[str]:
        """The log is whole, has what was acknowledged, and the store goes on with it."""
        names = [each.name for each in self.expectations[0].operations]
        if "synchronize" not in names:
            return
        objects = folder / REMOTE / "records" / USER
        if (objects / "head").exists():
            log = record_log.fold(lambda name: (objects / name).read_bytes(), "notes_0")
            yield from (f"the remote: {fault}" for fault in record_log.faults(log, 1))
        elif "synchronize" in names[: max(progress.acknowledged, 0)]:
            yield "the remote has lost its head"
        with Directory(folder / REMOTE) as remote, satchel.open(":memory:") as other:
            store.sync(remote, USER)
            notes = other.records("notes_0")
            other.sync(remote, USER)
            if {each.id: dict(each.document) for each in notes.list()} != notes_of(store, 0):
                yield "another device has other records after it has synchronized"

    def _wrong_files(self, folder: Path, expectation: Expectation, progress: Progress) -> Iterator[str]:
        possible = [expectation.states[n]["files"] for n in expectation.possible(progress, self.is_durable)]
        for name in [BACKUP, RECOVERED]:
            found = None
            if (folder / name).exists():
                with satchel.open(folder / name, read_only=True) as store:
                    yield from (f"{name}: check: {finding.message}" for finding in store.check())
                    yield from (f"{name}: {fault}" for fault in wrong_assets(store))
                    found = notes_of(store, expectation.actor)
            if self.is_durable and all(found != files.get(name) for files in possible):
                yield f"{name} {'has other records than it should' if found else 'is missing'}"
        mirror = folder / MIRROR
        if mirror.exists():
            json.loads(mirror.read_bytes())
        elif self.is_durable and all(MIRROR in files for files in possible):
            yield f"{MIRROR} is missing"


def describe(expectation: Expectation, progress: Progress, found: Content) -> str:
    """Returns what differs from the state that was acknowledged last."""
    acknowledged = expectation.states[max(progress.acknowledged, 0)]
    parts = []
    for part, content in found.items():
        expected = acknowledged[part]
        if missing := [key for key in expected if key not in content]:
            parts.append(f"{len(missing)} of {len(expected)} {part} missing ({missing[0]}, …)")
        if changed := [key for key in content if content[key] != expected.get(key)]:
            parts.append(f"{len(changed)} {part} differ ({changed[0]}, …)")
    same = [
        number
        for number, state in enumerate(expectation.states)
        if all(found[part] == state[part] for part in found)
    ]
    origin = f"the state after operation {same[-1]}" if same else "no state that ever was"
    return (
        f"actor {expectation.actor}: {origin}; acknowledged {progress.acknowledged}, begun {progress.begun}; "
        + "; ".join(parts)
    )
