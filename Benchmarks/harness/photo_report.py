"""The parts of RESULTS.md on W3 and on synchronization."""

from .goals import NAMES
from .photo_data import CHANGED_WIDTH, PAGE, SAMPLED, Gallery
from .report import figure, table
from .runner import Figures
from .sync import APPENDED, STEPS, SYNC_PEERS, label

COLUMNS = {
    "import": ("import_s", "s"),
    "of it until committed": ("commit_s", "s"),
    "export": ("export_s", "s"),
    "nothing changed": ("noop_ms", "ms"),
    "one changed": ("change_ms", "ms"),
    "a photo": ("get_us", "µs"),
    "a page": ("page_ms", "ms"),
    "of a camera": ("camera_ms", "ms"),
    "of a box": ("box_ms", "ms"),
    "months": ("months_ms", "ms"),
    "local clock": ("local_ms", "ms"),
    "peak of the import": ("resident_mb", "MB"),
}
READING = """\
- W3 imports {photos} photos from sixteen sorted CSV files ({megabytes:.0f} MB) and syncs them to disk,
  from opening the store to the end of closing it. In the store opened again: all files are written and
  hashed (Satchel's are synced, too); the sixteen files are looked at again, when nothing in them has
  changed, and when one photo's width has: its shard is taken in and written. A photo is the median of
  {sampled} by MD5; a page are the first {page} photos of 30 days, in a camera's pages those of a year, in
  those of a place those in a box of 4 by 10 degrees: one in sixteen photos has a camera and a place, which
  only this device knows. Pages of Satchel, of sqlite3 with the indexes, and of the limit have all columns;
  Satchel's are JSON of 26 members a photo. The pages of the others are MD5s alone. Then a photo of each shard
  is edited, and months and a page are asked for again. The row of W3's import has the
  peers that are keyed and durable; Polars' files and DuckDB without a key are in the table as well.
  sqlite3's shell is a process for each call; to all in Python, what changed is found by hashlib. The limit
  has the same rows and indexes in SQLite, by C, and reads files on a second thread; with WAL, as Satchel.
  With a rollback journal it is another line in the table. The rows of growth show the growth of the limit's
  time as well.
- Synchronization is a first device to a store, and from there to a second one: {photos} photos up and down,
  nothing changed, one photo changed. Bytes and requests are those of a proxy before the store, which all go
  through; heads are in it, TLS is not. Every step is a fresh process; rclone's time is its process, the
  others' clock starts after loading. rclone syncs the sixteen files, as it comes and with --checksum
  --fast-list. A Delta table has a partition a shard; the changed row is merged by its key (appending it
  alone leaves two rows of one photo). The store is MiniStack on the loopback: its time is in all times, so
  they say less than the bytes.
- Growth of photos is Satchel's alone, the largest gallery once.
- Correctness of photos: exported files byte for byte and their checksums, sampled photos column for column,
  the page by its MD5s; after a synchronization the second device's files, and those in the store, byte for
  byte (the changed width is {width}). A wrong answer fails the run."""


def reading(gallery: Gallery) -> str:
    size = sum(path.stat().st_size for path in gallery.shards.iterdir())
    return READING.format(
        photos=gallery.name, megabytes=size / 1e6, sampled=SAMPLED, page=PAGE, width=CHANGED_WIDTH
    )


def photo_table(figures: Figures) -> str:
    names = [name for name in figures.records if name not in figures.failures]
    names.sort(key=lambda name: figures.median(name, "import_s"))
    lines = []
    for name in names:
        values = [figure(figures.median(name, key), unit) for key, unit in COLUMNS.values()]
        lines.append([NAMES.get(name, name), *values, str(len(figures.records[name]))])
    return table(["", *COLUMNS, "runs"], lines)


def sync_table(figures: Figures) -> str:
    lines = []
    for step in (*STEPS, APPENDED):
        for name in ("satchel", *SYNC_PEERS):
            job = label(name, step)
            if figures.median(job, "requests") is None:
                continue
            up, down = (figures.median(job, key) / 1e3 for key in ("up", "down"))
            cells = [figure(figures.median(job, "requests"), ""), figure(up, "kB"), figure(down, "kB")]
            # Only the first line of a step names it.
            shown = "" if any(line[0] == step for line in lines) else step
            lines.append([shown, NAMES[name], *cells, figure(figures.median(job, "seconds"), "s")])
    return table(["", "", "requests", "up", "down", "time"], lines)
