"""One schedule of the model: devices, one remote, faults between any two requests, all drawn from a seed."""

from __future__ import annotations

import random

from checks import HeadChecks
from device import Device
from protocol import close_account, sync
from remote import HEAD, Answer, Remote, Request
from sync_log import Entry, Head, Times, Violation, entries_of, fold, is_dropped

#: Mutants that need a remote that loses something.
LOSSES = ("applies forks", "no renewal", "older as other", "creates in empty")
POLICIES = ["newest", "merge", "ask", "local", "remote"]


class World:
    def __init__(self, seed: int, mutant: str = "", *, is_logging: bool = False) -> None:
        self.chance = chance = random.Random(seed)
        self.mutant, self.is_logging = mutant, is_logging
        self.tick = 0
        self.remote = Remote(chance, self.check_head)
        self.remote.rate = chance.choice([0, 0.03, 0.1, 0.25])
        self.checks = HeadChecks()
        #: Ghosts: all edits, those that need not survive, and those that may be sent twice.
        self.edits: dict[str, str] = {}
        self.fine: set[str] = set()
        self.unsure: set[str] = set()
        self.loses = mutant in LOSSES or (not mutant and chance.random() < 0.1)
        self.closes = "clos" in mutant or (not mutant and chance.random() < 0.1)
        self.has_lost = False
        #: Ghosts: the entries before each loss.
        self.lost: list[Entry] = []
        self.deletions = chance.choice([0.15, 0.15, 0.5])
        self.max_writers = chance.choice([2, 32])
        self.times = Times(retention=chance.choice([12, 30, 1000]), interval=chance.choice([1, 5]))
        wrong = [self.times.retention * 2 // 3, -self.times.retention * 2 // 3, 20_000, -20_000]
        #: The remote's clock; None for one that sends no date.
        self.date_skew = chance.choice([None, 0, 0, 0, chance.choice(wrong)])
        common = chance.choice([*POLICIES, None, None, None])
        self.devices = [
            Device(self, n, common or chance.choice(POLICIES), chance.choice([0, 0, chance.choice(wrong)]))
            for n in range(3)
        ]
        #: Whether of the two clocks that each device sees one is right.
        self.has_right_clocks = self.date_skew == 0 or all(device.skew == 0 for device in self.devices)
        self.commits = self.races = self.compactions = 0

    def note(self, *values: object) -> None:
        if self.is_logging:
            print(self.tick, *values)

    # Requests

    def send(self, request: Request, device: Device) -> Answer:
        self.note(device.name, request.kind, request.key, request.condition or "")
        faults = self.remote.faults
        answer = self.remote.send(request, device.name, self.tick)
        if self.remote.faults > faults:
            self.note(device.name, "  FAULT:", answer)
        if request.kind == "list":
            device.has_listed_objects = any(key != HEAD for key in self.remote.objects)
        if self.date_skew is not None:
            device.date = self.tick + self.date_skew
        return answer

    def check_head(self, new: Head, old: Head | None, writer: str) -> None:
        self.note(writer, f"  head {new.log} {new.number}, horizon {new.horizon}, {new.times[-1:]}")
        self.checks.check_consent(new, old)
        if new.is_closed:
            self.fine |= set(self.edits)
        if self.has_lost:
            self.checks.folds[self.checks.name(new)] = None
            entries = self.lost + entries_in(old or new, self.remote.objects)
            self.fine |= {e for x in entries if is_dropped(x, new.horizon) for e in x.envelope.seen}
            return
        self.checks.check(new, old, writer, self.remote.objects, self.unsure)
        for seen in self.checks.dropped.values():
            self.fine |= seen
        self.checks.written[new.log, new.number] = self.tick
        if self.has_right_clocks:
            self.checks.check_horizon(new, old, self.tick, self.times.retention)

    def check_shadow(self, device: Device) -> None:
        log = device.log
        wanted = self.checks.folds.get(self.checks.name(log.head)) if log.head else None
        if wanted is not None and wanted != log.shadow:
            raise Violation(f"S5: {device.name} has other entries than head {log.position}")

    # One schedule

    def run(self, actions: int = 90) -> None:
        chance = self.chance
        for self.tick in range(1, actions + 1):
            self.remote.take_late(self.tick)
            if chance.random() < 0.05:
                self.remote.past.append(dict(self.remote.objects))
            if self.loses and chance.random() < 0.02:
                self.lose()
            self.act(chance.choice(self.devices))
        self.end()

    def lose(self) -> None:
        head, objects = self.remote.head, dict(self.remote.objects)
        if what := self.remote.lose():
            self.has_lost = True
            self.lost += entries_in(head, objects)
            self.note("the remote loses:", what)

    def act(self, device: Device) -> None:
        chance = self.chance
        x = chance.random()
        if x < 0.22:
            device.edit()
        elif x < 0.25:
            device.resolve()
        elif device.sync:
            for _ in range(chance.choice([1, 1, 2, 5])):
                device.step()
        elif device.asleep_until > self.tick:
            pass
        elif x < 0.28:
            device.asleep_until = self.tick + chance.randrange(60)
        elif self.closes and x < 0.31:
            self.note(device.name, "closes the account")
            device.start(close_account(device))
        else:
            if device.outcome == "the account is closed" and chance.random() < 0.3:
                device.sign_out()
            device.is_first_upload = chance.random() < 0.2
            device.recreates = chance.random() < 0.1
            device.start(sync(device, sweeps=chance.random() < 0.1))

    # The end, without faults

    def end(self) -> None:
        self.remote.rate = 0
        for device in self.devices:
            if device.sync and self.chance.random() < 0.5:
                device.crash()
            while device.sync:
                device.step()
        self.remote.take_late(self.tick, at_end=True)
        self.note("-- no faults from here on")
        for device in self.devices:
            device.is_first_upload = True
            device.policy = "newest" if device.policy == "ask" else device.policy
            while device.log.open:
                device.resolve()
        self.rest()
        self.check_end()
        self.check_garbage()
        self.check_horizon()

    def rest(self) -> None:
        for k in range(20):
            outcomes = []
            for device in self.devices:
                device.accepts_loss = device.recreates = k > 8
                outcome, requests = device.finish(sync(device, sweeps=k % 4 == 0))
                # A sweep is one more, where there is something to list.
                outcomes.append((outcome, requests - (k % 4 == 0 and device.log.head is not None)))
            if all(outcome == ("quiet", 1) for outcome in outcomes):
                return
        if self.remote.head is None and all(outcome == "quiet" for outcome, _ in outcomes):
            return
        raise Violation(f"S7: no rest: {outcomes}")

    def check_end(self) -> None:
        state = fold(self.remote.head, self.remote.objects) if self.remote.head else {}
        wanted = {
            id: entry.envelope.document for id, entry in state.items() if entry.envelope.document is not None
        }
        known = set(self.fine)
        for entry in state.values():
            known |= entry.envelope.seen
        for device in self.devices:
            records = device.log.records
            local = {id: record.document for id, record in records.items() if record.document is not None}
            if local != wanted:
                raise Violation(f"S7: {device.name} has {local}, and the remote {wanted}")
            if any(record.pending is not None for record in records.values()):
                raise Violation(f"S7: {device.name} has something pending")
            known |= device.conflicts
        for edit, where in self.edits.items():
            if edit not in known:
                raise Violation(f"S6: the edit {edit} of {where} is lost")

    def check_garbage(self) -> None:
        for _ in range(2):
            self.devices[0].finish(sync(self.devices[0], sweeps=True))
        if head := self.remote.head:
            fold(head, self.remote.objects)
            rest = set(self.remote.objects) - {HEAD, *head.retired} - {pack.name for pack in head.packs}
            if rest:
                raise Violation(f"S8: garbage is left: {rest}")

    def check_horizon(self) -> None:
        """With right clocks, tombstones leave the log, the devices and their bases after the retention."""
        self.date_skew = 0
        for device in self.devices:
            device.skew = 0
        for _ in range(3):
            self.tick += 3 * self.times.retention
            device = self.devices[0]
            device.change(
                device.log.record("e"),
                (("x", f"{self.tick}"),),
                device.log.record("e").seen | {f"{self.tick}"},
            )
            device.finish(sync(device))
        self.rest()
        self.check_end()
        for device in self.devices:
            log = device.log
            left = [id for id, entry in log.shadow.items() if entry.envelope.document is None]
            left += [id for id, record in log.records.items() if record.base and record.base.document is None]
            if left:
                raise Violation(f"S10: {device.name} has tombstones after the retention: {left}")


def entries_in(head: Head, objects: dict) -> list[Entry]:
    """The entries of a head, as far as its packs exist."""
    entries = list(head.inline)
    for pack in head.packs:
        if pack.name in objects:
            entries += entries_of(pack, objects[pack.name][0])
    return entries


def run(seed: int, mutant: str = "", *, is_logging: bool = False) -> World:
    world = World(seed, mutant, is_logging=is_logging)
    world.run()
    return world
