"""The records of one device of synced_stores.py: edits and synchronizes at the same time until it is killed.

Another process that synchronizes the same store is one of these as well, with a journal of its own.
"""

from __future__ import annotations

import json
import time
from typing import Any

import documents
import satchel
from documents import Values, is_merged, own_ids, shared_ids
from journal import Edit
from life import Life

COLLECTION = "notes"
MOVES = ("downloaded", "uploaded", "deleted_locally", "deleted_remotely", "merged", "conflicts")
# Of 2024, and one that no clock of the machine is set back in.
BEGINNING = 1_704_067_200_000


def clock() -> int:
    """The same for all devices of a machine."""
    return BEGINNING + int(time.monotonic() * 1000)


class RecordDevice(Life):
    """A store, its collection, its journal."""

    def __init__(self, options: dict[str, Any], journal: str = "") -> None:
        super().__init__(options, journal)
        self.store = satchel.open(self.path, clock=clock)
        self.notes = self.store.records(COLLECTION, on_conflict=self.policy)
        others = [each for each in range(options["devices"]) if each != self.number]
        self.others = [id for each in others for id in own_ids(each)]

    def verify(self) -> None:
        """Raises AssertionError when the life before has left less, or more, than it was told."""
        findings = self.store.check()
        assert findings == [], findings
        for id in own_ids(self.number):
            text, possible = self._text(id), possible_texts(self.history.of_row(id), id)
            assert text in possible, f"{id} is {text!r}, not one of {possible!r}"
        last = self.history.edits[-1:]
        if last and not last[0].is_made:
            own = {id: text for id, text in last[0].rows.items() if id in own_ids(self.number)}
            there = [self._text(id) == text for id, text in own.items()]
            assert all(there) or not any(there), f"edit {last[0].number} is there in parts: {there}"

    def _text(self, id: str) -> str | None:
        found = self.notes.text(id)
        return None if found is None else found.decode()

    def fill(self) -> None:
        self.notes.put_many({id: json.dumps({"by": id}).encode() for id in documents.other_ids()})

    # Edits

    def edit(self) -> None:
        what = self.dice.random()
        ids = shared_ids() if self.dice.random() < 0.45 else own_ids(self.number)
        if what < 0.08 and self.policy == "ask":
            self.resolve_one()
        elif what < 0.25:
            with self.store.batch():
                number = self.begin(self.dice.sample(ids, 3), is_batch=True)
            self.end(number)
        else:
            self.edit_one(self.dice.choice(ids))

    def edit_one(self, id: str) -> None:
        """Builds on nothing but what it has seen."""
        for _ in range(100):
            number = self.next
            try:
                self.begin([id])
            except satchel.Conflict:
                # A synchronization was faster.
                self.end(number, is_effective=False)
            else:
                return self.end(number)
        raise RuntimeError(f"{id} is never as it was seen")

    def begin(self, ids: list[str], is_batch: bool = False) -> int:
        """Writes down what is about to be, and does it.

        :param is_batch: no other thread can write meanwhile
        """
        number, name = self.next, f"{self.number}-{self.next}"
        rows: dict[str, str | None] = {}
        told: Values = {}
        seen: dict[str, list[str | None]] = {}
        settled, revisions = [], {}
        for id in ids:
            record = self.notes.record(id)
            before = dict(record.document) if record else None
            rows[id], changed = self._changed(id, before, name, number)
            told |= changed
            known = documents.values(self.policy, id, before)
            seen |= {each: [known[each]] for each in changed}
            revisions[id] = record.revision if record else 0
            if record and record.sync_status == "synced":
                settled.append(id)
        self._write(rows, told, seen, settled)
        for id, text in rows.items():
            revision = None if is_batch else revisions[id]
            if text is not None:
                self.notes.put(id, text.encode(), if_revision=revision)
            elif revisions[id]:
                self.notes.delete(id, if_revision=revision)
        return number

    def _changed(
        self, id: str, before: dict[str, Any] | None, name: str, number: int
    ) -> tuple[str | None, Values]:
        """Returns a record's new document, and the values in it that changed."""
        merged = is_merged(self.policy, id)
        lasts = merged and id in documents.lasting_ids()
        if before and not lasts and self.dice.random() < 0.3:
            return None, dict.fromkeys(documents.cells(self.policy, id))
        if not merged:
            return documents.whole(name, number), {id: name}
        document, changed = json.loads(json.dumps(before or {})), {}
        fields = documents.FIELDS
        for field in self.dice.sample(fields, self.dice.randint(1, 2)) if before else fields:
            is_out = before and field not in fields[:2] and self.dice.random() < 0.15
            value = None if is_out else name
            documents.with_field(document, field, value)
            changed[documents.cell(id, field)] = value
        return documents.text(document), changed

    def _write(
        self,
        rows: dict[str, str | None],
        told: Values,
        seen: dict[str, list[str | None]],
        settled: list[str],
        **more: Any,
    ) -> None:
        self.journal.write(
            "edit", number=self.next, rows=rows, conflicts=0, values=told, seen=seen, settled=settled, **more
        )
        self.next += 1

    def end(self, number: int, is_effective: bool = True) -> None:
        self.journal.write("made", number=number, is_effective=is_effective)
        self.made = number

    def resolve_one(self) -> bool:
        """Decides one of the open conflicts.

        :return: False when there is none, or when a newer remote version is known: the next synchronization
            makes the conflict about that one
        """
        waiting = [each for each in self.notes.conflicts() if each.kind == "open"]
        if not waiting:
            return False
        conflict, number = self.dice.choice(waiting), self.next
        id, keep = conflict.record, self.dice.choice(["local", "remote", None])
        kept = {"local": conflict.local, "remote": conflict.remote}.get(keep or "")
        value = (kept["by"] if kept else None) if keep else f"{self.number}-{number}"
        text = documents.whole(f"{self.number}-{number}", number)
        both = [each["by"] if each else None for each in (conflict.local, conflict.remote)]
        self._write({} if keep else {id: text}, {id: value}, {id: both}, [], decision=keep)
        try:
            if keep:
                self.notes.resolve(conflict, keep)
            else:
                self.notes.resolve(conflict, document=text.encode())
        except satchel.NotFound:
            # Another process has decided it, or it has a new number.
            self.end(number, is_effective=False)
            return True
        except satchel.Conflict:
            self.end(number, is_effective=False)
            return False
        self.end(number)
        return True

    # Synchronizing

    def sync(self) -> satchel.StoreSyncReport | None:
        """One synchronization; None when it failed as a whole."""
        self.journal.write("sync", covers=self.made)
        try:
            report = self.store.sync(self.remote, self.user)
        except satchel.SatchelError as error:
            self.journal.write("error", error=f"{error.code}: {error}")
            return None
        failed = {failure.id: f"{failure.code}: {failure.message}" for failure in report.failed}
        conflicts = self.notes.conflicts()
        others = {id: record["number"] for id in self.others if (record := self.notes.record(id))}
        self.journal.write(
            "done",
            failed=failed,
            conflicts=sum(each.side == "local" for each in conflicts),
            waiting=[each.record for each in conflicts if each.kind == "open"],
            others=others,
            moves={name: getattr(report.records, name) for name in MOVES},
        )
        return report

    def sync_once(self) -> None:
        if self.policy == "ask":
            while self.resolve_one():
                pass
        report = self.sync()
        is_quiet = report is not None and report.unchanged and report.ok and self.is_at_rest()
        if report and not report.ok:
            # A failed synchronization waits before the next attempt.
            time.sleep(0.5)
        print(json.dumps({"is_quiet": is_quiet, "report": str(report)}))

    def is_at_rest(self) -> bool:
        """Whether nothing else waits to be sent."""
        return True


def possible_texts(edits: list[Edit], id: str) -> list[str | None]:
    """Documents that a record of one device alone may have: that of its last call, or of one begun since."""
    counted = [edit for edit in edits if edit.is_effective or not edit.is_made]
    made = [place for place, edit in enumerate(counted) if edit.is_made]
    if not made:
        return [None, *(edit.rows[id] for edit in counted)]
    return [edit.rows[id] for edit in counted[made[-1] :]]
