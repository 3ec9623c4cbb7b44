"""`satchel store backup`, `restore`, `recover`: backups and recovery."""

import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import COURSES, TOOL, Planner

NAME = re.compile(r"planner-\d{8}T\d{9}Z\.satchel")


@pytest.fixture
def store(run):
    """`satchel store`, as store("backup", "planner.satchel", "planner.backup")."""

    def store(*arguments, **options):
        return run(*map(str, arguments), subject="store", **options)

    return store


@pytest.fixture
def large(run, tmp_path):
    """A store of 40 MB."""
    large = Planner(run, tmp_path, "large.satchel")
    large.take(*((f"r{number}", {"text": "x" * 1_000_000}) for number in range(40)))
    return large


def there(folder, name):
    """Returns a store in the same folder."""
    return Planner(folder.run, folder.folder, name)


def test_a_backup_is_a_store(store, planner):
    result = store("backup", planner.name, "planner.backup")
    assert re.fullmatch(r"planner\.backup: \d+\.\d kB\n", result.out)
    assert result.err == ""
    report = store("backup", planner.name, "planner.backup", "--json").json
    assert set(report) == {
        "path",
        "pages",
        "bytes",
        "milliseconds",
        "assets",
        "missing_assets",
        "removed",
    }
    assert (report["path"], report["removed"]) == ("planner.backup", [])
    assert report["bytes"] == os.path.getsize(planner.folder / "planner.backup")
    store("check", "planner.backup")
    planner("export", "courses.json")
    backup = there(planner, "planner.backup")
    assert backup("verify", "courses.json").out == "3 records, equal\n"
    planner.take(("later", {}))
    assert len(backup.ids()) == 3


def test_a_backup_of_a_store_in_use(store, planner):
    source = 'import satchel, sys; s = satchel.open(sys.argv[1]); s.records("courses").put("open", {}); ' + (
        'print("open", flush=True); sys.stdin.read(); s.close()'
    )
    with subprocess.Popen(
        [sys.executable, "-c", source, planner.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as app:  # fmt: skip
        assert app.stdout.readline() == b"open\n"
        store("backup", planner.name, "planner.backup")
        # A store that is open cannot be replaced.
        assert "open" in store("restore", "planner.backup", planner.name, code=2).err
    assert app.returncode == 0
    assert "open" in there(planner, "planner.backup").ids()


def test_the_newest_backups_are_kept(store, planner):
    folder = planner.folder / "backups"
    folder.mkdir()
    (folder / "planner.satchel").write_text("somebody's")
    made = [store("backup", planner.name, "backups/", "--keep", 2).lines for _ in range(4)]
    names = [lines[-1].split(": ")[0].removeprefix("backups/") for lines in made]
    assert all(NAME.fullmatch(name) for name in names)
    assert [lines[:-1] for lines in made] == [[], [], *([f"removed: backups/{name}"] for name in names[:2])]
    assert sorted(os.listdir(folder)) == sorted([*names[2:], "planner.satchel"])
    report = store("backup", planner.name, "backups", "--keep", 1, "--json").json
    assert report["removed"] == [f"backups/{name}" for name in names[2:]]
    store("check", report["path"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["backups"], "backups: is a directory; give a file, or the number of backups to keep with --keep"),
        (["nowhere", "--keep", "2"], "nowhere: is not a directory"),
        (["note.txt", "--keep", "2"], "note.txt: is not a directory"),
        (["note.txt"], "note.txt: not a SQLite database; it is not overwritten"),
        (["nowhere/planner.backup"], "nowhere"),
        (["planner.satchel"], "the store itself"),
        (["planner.satchel-wal"], "is the store itself, or one of its files"),
        (["backups", "--keep", "0"], "--keep: 0 is less than 1"),
        (["backups", "--keep", "many"], "many"),
    ],
)
def test_invalid_targets_of_a_backup(store, planner, arguments, says):
    (planner.folder / "backups").mkdir()
    (planner.folder / "note.txt").write_text("some text")
    before = sorted(os.listdir(planner.folder))
    result = store("backup", planner.name, *arguments, code=2)
    assert says in result.err
    assert result.out == ""
    # Reading a store may leave an empty WAL.
    assert [name for name in sorted(os.listdir(planner.folder)) if name not in before] in (
        [], ["planner.satchel-shm", "planner.satchel-wal"],
    )  # fmt: skip
    assert (planner.folder / "note.txt").read_text() == "some text"


def test_a_backup_of_a_missing_store(store, tmp_path):
    assert store("backup", "nowhere.satchel", "a.backup", code=2).err == (
        "satchel: nowhere.satchel: does not exist\n"
    )
    assert os.listdir(tmp_path) == []


def test_spooled_changes_are_not_in_a_backup_which_is_reported(store, spooled):
    result = store("backup", spooled.name, "planner.backup", code=1)
    assert "planner.satchel.outbox: contains changes that are not in the backup" in result.err
    assert there(spooled, "planner.backup").ids()[3:] == ["kept"]
    # The next writer drains the outbox.
    spooled.take(("next", {}))
    assert spooled.ids()[3:] == ["kept", "spooled", "next"]
    assert store("backup", spooled.name, "planner.backup").err == ""


def test_restore_renames_the_previous_store(store, planner):
    store("backup", planner.name, "planner.backup")
    planner.take(("later", {}))
    result = store("restore", "planner.backup", planner.name)
    restored, aside = result.lines
    assert restored == "planner.satchel: restored"
    renamed = r"the previous store was renamed to (planner\.satchel\.quarantine-\d+)"
    [kept] = re.fullmatch(renamed, aside).groups()
    assert planner.ids() == [name for name, _ in COURSES]
    assert "later" in there(planner, kept).ids()
    assert result.err == ""
    report = store("restore", "planner.backup", planner.name, "--json").json
    assert (planner.folder / report["quarantined"]).exists()
    assert store("restore", "planner.backup", "new.satchel", "--json").json == {"quarantined": None}
    assert store("restore", "planner.backup", "newer.satchel").out == "newer.satchel: restored\n"
    store("check", "new.satchel")


@pytest.mark.parametrize(
    ("backup", "says"),
    [
        ("nowhere.backup", "nowhere.backup: does not exist"),
        ("note.txt", "note.txt: not a SQLite database"),
        ("short.backup", "short.backup: truncated"),
        ("planner.satchel", "the backup itself"),
        (".", ".: a directory"),
    ],
)
def test_an_invalid_backup_is_not_restored(store, planner, backup, says):
    store("backup", planner.name, "planner.backup")
    (planner.folder / "note.txt").write_text("some text")
    (planner.folder / "short.backup").write_bytes((planner.folder / "planner.backup").read_bytes()[:9000])
    before = sorted(os.listdir(planner.folder))
    result = store("restore", backup, planner.name, code=2)
    assert says in result.err
    assert result.out == ""
    assert sorted(os.listdir(planner.folder)) == before
    assert planner.ids() == [name for name, _ in COURSES]


def test_a_damaged_backup_is_not_restored(store, planner):
    store("backup", planner.name, "planner.backup")
    path = planner.folder / "planner.backup"
    damage(path, of="record")
    assert "damaged" in store("restore", "planner.backup", planner.name, code=2).err
    assert planner.ids() == [name for name, _ in COURSES]


def damage(path, *, of):
    """Overwrites the first page of a table."""
    find = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
        "print(*db.execute('PRAGMA page_size').fetchone(), "
        "*db.execute('SELECT rootpage FROM sqlite_schema WHERE name = ?', sys.argv[2:]).fetchone())"
    )
    found = subprocess.run([sys.executable, "-c", find, path, of], check=True, capture_output=True, text=True)
    size, page = map(int, found.stdout.split())
    with open(path, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)


def test_a_sound_store_is_recovered_completely(store, planner):
    planner("export", "courses.json")
    result = store("recover", planner.name, "new.satchel")
    assert result.lines[0].split() == ["rows", "lost", "pages", "lost", "table"]
    assert ["3", "0", "0", "record"] in [line.split() for line in result.lines]
    assert re.fullmatch(r"new\.satchel: \d+ rows recovered, no data lost", result.lines[-1])
    assert there(planner, "new.satchel")("verify", "courses.json").out == "3 records, equal\n"
    report = store("recover", planner.name, "newer.satchel", "--json").json
    assert (report["complete"], report["header_lost"], report["schema_lost"]) == (True, False, False)
    assert {"name": "record", "rows": 3, "lost_rows": 0, "lost_pages": 0} in report["tables"]
    store("check", "newer.satchel")


def test_losses_are_reported_and_a_mirror_restores_them(store, empty):
    empty.take(*((f"task-{number}", {"text": "x" * 900}) for number in range(400)))
    empty("export", "tasks.json")
    backup = empty.path.read_bytes()
    size = int.from_bytes(backup[16:18], "big")
    # Damages every fifth page in the middle third.
    damaged = bytearray(backup)
    for page in range(len(backup) // size // 3, len(backup) // size * 2 // 3, 5):
        damaged[page * size : (page + 1) * size] = os.urandom(size)
    for suffix in ("-wal", "-shm"):
        (empty.folder / (empty.name + suffix)).unlink(missing_ok=True)
    empty.path.write_bytes(damaged)
    store("check", empty.name, code=1)
    result = store("recover", empty.name, "new.satchel", code=1)
    assert result.lines[-1].endswith("some data lost")
    assert store("check", "new.satchel").out == "new.satchel: sound\n"
    assert empty.path.read_bytes() == damaged
    report = store("recover", empty.name, "newer.satchel", "--json", code=1).json
    assert not report["complete"]
    assert sum(table["lost_pages"] for table in report["tables"]) > 0
    new = there(empty, "new.satchel")
    saved = len(new("list", "--all", "--json-lines").lines)
    assert 0 < saved < 400
    assert new("import", "tasks.json").out == f"{400 - saved} added, 0 changed, {saved} unchanged\n"
    # Revisions that are given after a recovery are higher than all that were given before.
    differences = new("verify", "tasks.json", "--json", code=1).json["differences"]
    assert len(differences) == 400 - saved
    assert {(each["kind"], each["pointer"]) for each in differences} == {("differs", None)}


def test_a_damaged_header_is_reported(store, planner):
    data = bytearray(planner.path.read_bytes())
    data[:100] = bytes(100)
    (planner.folder / "damaged.satchel").write_bytes(data)
    result = store("recover", "damaged.satchel", "new.satchel")
    assert "the file's header was damaged and was rebuilt" in result.lines
    assert there(planner, "new.satchel")("list", "--json").json == planner("list", "--json").json


def test_files_that_cannot_be_recovered(store, planner):
    (planner.folder / "note.txt").write_text("some text")
    for damaged, new, says in [
        ("note.txt", "new.satchel", "note.txt: "),
        ("nowhere.satchel", "new.satchel", "nowhere.satchel: "),
        (planner.name, "note.txt", "note.txt: already exists"),
        (planner.name, "nowhere/new.satchel", "nowhere"),
    ]:
        result = store("recover", damaged, new, code=2)
        assert says in result.err
        assert result.out == ""
        assert not (planner.folder / "new.satchel").exists()
    assert (planner.folder / "note.txt").read_text() == "some text"


def test_an_outbox_file_is_reported(store, spooled):
    store("recover", spooled.name, "new.satchel")
    assert "kept" in there(spooled, "new.satchel").ids()
    result = store("recover", spooled.name, "newer.satchel")
    assert "planner.satchel.outbox: contains changes that are not in the new store" in result.err
    assert "rename it to newer.satchel.outbox" in result.err
    os.link(spooled.folder / "planner.satchel.outbox", spooled.folder / "newer.satchel.outbox")
    newer = there(spooled, "newer.satchel")
    newer.take(("next", {}))
    assert newer.ids()[3:] == ["kept", "spooled", "next"]
    store("backup", spooled.name, "planner.backup", code=1)
    result = store("restore", "planner.backup", spooled.name)
    assert "planner.satchel.outbox: contains changes of the previous store" in result.err


class Watched:
    """A backup on a terminal, stopped after it has begun to copy."""

    def __init__(self, large):
        self.target = large.folder / "large.backup"
        self.part = large.folder / "large.backup.part"
        self.half = large.path.stat().st_size // 2
        # On a busy machine the backup may end before this process stops it.
        for _ in range(10):
            self.start(large)
            if self.hold():
                return
            os.close(self.terminal)
            self.target.unlink()
        raise AssertionError("ended each time before it was held")

    def start(self, large):
        self.terminal, child = pty.openpty()
        self.process = subprocess.Popen(
            [TOOL, "store", "backup", large.name, self.target.name], stdin=subprocess.DEVNULL, stdout=child,
            stderr=child, cwd=large.folder, env={**os.environ, "TERM": "xterm"},
        )  # fmt: skip
        os.close(child)

    def hold(self):
        """Stops it in the first half of its copy; returns False when it ended before."""
        while self.process.poll() is None:
            if self.copied() == 0:
                continue
            self.process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if 0 < self.copied() < self.half:
                return True
            self.process.send_signal(signal.SIGCONT)
            self.process.wait(timeout=60)
        return False

    def copied(self):
        try:
            return self.part.stat().st_size
        except FileNotFoundError:
            return 0

    def rest(self):
        """Continues it and returns its output."""
        self.process.send_signal(signal.SIGCONT)
        seen = b""
        while True:
            try:
                part = os.read(self.terminal, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        os.close(self.terminal)
        self.process.wait(timeout=60)
        return seen.decode()


def test_a_terminal_shows_the_progress_of_a_backup(store, large):
    watched = Watched(large)
    time.sleep(0.5)
    seen = watched.rest()
    assert watched.process.returncode == 0
    assert re.search(r"█ ?.*\d+ of \d+, pages|░.*\d+ of \d+, pages", seen)
    assert seen.rstrip().endswith("MB")
    store("check", "large.backup")
    assert "█" not in store("backup", large.name, "large.backup", "--quiet").err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_backup_leaves_nothing(store, large, number):
    watched = Watched(large)
    watched.process.send_signal(number)
    assert "interrupted: no backup was written" in watched.rest()
    assert watched.process.returncode == -number
    assert not [name for name in os.listdir(large.folder) if "backup" in name]
    store("check", large.name)
