"""The part of RESULTS.md on W5."""

import dbm

from .goals import NAMES
from .record_data import BATCH, DELETED, LATER, READS, SINGLES, STARTED, STATE_VALUES, UPDATES, RecordSet
from .report import figure, table
from .runner import Figures, store

COLUMNS = {
    "a put": ("put_us", "µs"),
    "95 of 100": ("put_p95_us", "µs"),
    "batches": ("batch_s", "s"),
    "until closed": ("closed_s", "s"),
    "a read": ("read_us", "µs"),
    "95 of 100 reads": ("read_p95_us", "µs"),
    "a put, later": ("later_us", "µs"),
    "an update": ("update_us", "µs"),
    "a deletion": ("delete_us", "µs"),
}
START_COLUMNS = {
    "warm": ("start-warm", "total_ms", "ms"),
    "dropped": ("start-dropped", "total_ms", "ms"),
    "memory": ("start-warm", "resident_mb", "MB"),
    "a record saved": ("start-save", "record_us", "µs"),
    "95 of 100 records": ("start-save", "record_p95_us", "µs"),
    "a value saved": ("start-save", "value_us", "µs"),
    "95 of 100 values": ("start-save", "value_p95_us", "µs"),
}
READING = """\
- W5 puts {records} JSON records of {size:.0f} bytes on average under random ids, in one order for all: the
  first {singles:,} one by one, each synced when the call returns, the rest in batches of {batch:,}, synced a
  batch. In the store opened again: {reads:,} random reads, {later:,} more puts one by one, {updates:,}
  updates, {deleted:,} deletions. Peers serialise and parse with orjson, Satchel in Python takes and gives
  the same; in C documents are bytes, which Satchel checks and the limit does not. "Until closed" has what was
  put off until then. Files are synced one by one, and their directory once a batch.
- The limit of W5 is SQLite with the index on ids deferred and reads in a held transaction; for single puts
  its WAL has all its blocks before it starts, which the other limit in the table does not.
- An app's start is opening a store of {records} records and {values:,} values of state, and reading {started}
  of each; its memory is what that adds to the process. Saving is in that store, one after another, each
  synced. The JSON file is one of all records, one of all values, written aside, synced and renamed as a whole
  at each save. shelve is over the dbm that Python has here, {dbm}, and does not sync: it has no row of
  saves.
- Growth of records is Satchel's alone.
- Correctness of records: every document is read back byte for byte, before the updates and deletions and
  after them, and a start's records and values are compared. A wrong answer fails the run."""


def reading(record_set: RecordSet) -> str:
    size = (record_set.directory / "records.jsonl").stat().st_size / record_set.records
    return READING.format(
        records=record_set.name,
        size=size,
        singles=SINGLES,
        batch=BATCH,
        reads=READS,
        later=LATER,
        updates=UPDATES,
        deleted=DELETED,
        values=STATE_VALUES,
        started=STARTED,
        dbm=dbm.whichdb(str(store("start", "shelve") / "store")),
    )


def record_table(figures: Figures) -> str:
    names = [name for name in figures.records if name not in figures.failures]
    names.sort(key=lambda name: figures.median(name, "put_us"))
    lines = []
    for name in names:
        values = [figure(figures.median(name, key), unit) for key, unit in COLUMNS.values()]
        lines.append([NAMES.get(name, name), *values, str(len(figures.records[name]))])
    return table(["", *COLUMNS, "runs"], lines)


def start_table(figures: dict[str, Figures]) -> str:
    names = [name for name in figures["start-warm"].records if name not in figures["start-warm"].failures]
    names.sort(key=lambda name: figures["start-warm"].median(name, "total_ms"))
    lines = []
    for name in names:
        values = [
            figure(figures[workload].median(name, key), unit)
            for workload, key, unit in START_COLUMNS.values()
        ]
        lines.append([NAMES.get(name, name), *values])
    return table(["", *START_COLUMNS], lines)
