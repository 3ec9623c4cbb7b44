"""Every example of the help runs as it is printed, and no terminal's width breaks it into lines."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import satchel
from conftest import COURSES, ROOT, STAND_IN, TOOL, lines_of, segment, story
from test_story_words import MAN

MD5 = "0123456789abcdef0123456789abcdef"
SHA256 = "0123456789abcdef" * 4
FEBRUARY = 1_707_000_000
TWEE = ':: StoryTitle\nGame\n\n:: StoryData\n{"ifid": "x"}\n\n:: Start\nGo. [[On->End]]\n\n:: End\nOver.\n'


def helps():
    """The help of each command as (its words, its discussion)."""
    done = subprocess.run([TOOL, "--experimental-dump-help"], capture_output=True, check=True)

    def walk(command, words):
        yield words, command.get("discussion") or ""
        for below in command.get("subcommands", []):
            if below["commandName"] != "help":
                yield from walk(below, [*words, below["commandName"]])

    return list(walk(json.loads(done.stdout)["command"], []))


HELPS = helps()
EXAMPLE = re.compile(r"^  ((?:satchel|git) .*)$", re.MULTILINE)
IN_MAN = re.findall(r"^\$ (.*)$", MAN, re.MULTILINE)
EXAMPLES = sorted({line for _, text in HELPS for line in EXAMPLE.findall(text)} | set(IN_MAN))

# Examples that exit with 1 here, as their help says: there is nothing to list, or something to transfer.
ATTENTION = (
    "--dry-run", "--status error", "conflicts planner.satchel", "conflicts list",
    "story lint -", "story progress",
)  # fmt: skip


def test_there_are_examples_for_every_command():
    assert (len(EXAMPLES) > 90, len(IN_MAN) > 30) == (True, True)
    groups = [words[:-1] for words, _ in HELPS if words]
    for words, text in HELPS:
        assert EXAMPLE.search(text) or words in groups, words


@pytest.mark.parametrize("columns", [40, 80, 100])
def test_no_width_breaks_an_example(run, columns):
    for words, text in HELPS:
        shown = run(*words, "--help", subject=None, env={"COLUMNS": str(columns)}).out
        lines = shown.splitlines()
        for example in EXAMPLE.findall(text):
            assert f"  {example}" in lines
        long = [line for line in lines if len(line) > max(columns, 52) and not line.startswith("  ")]
        assert all(" " not in line for line in long), long


def test_wrapped_help_has_every_word(run):
    for words, _ in HELPS:
        wide = run(*words, "--help", subject=None, env={"COLUMNS": "9999"}).out.split()
        assert run(*words, "--help", subject=None, env={"COLUMNS": "60"}).out.split() == wide


def fill_guide(folder):
    def entity(name, scope, **more):
        return {**more, "_storage": {"entity_id": name, "scope": scope, "ttl_hours": 1000}}

    with satchel.open(folder / "guide.satchel") as store:
        porto = {"country_code": "PT", "admin_area": "Porto", "locality": "Porto"}
        at = {"latitude": 41.1496, "longitude": -8.611}
        sections = {
            "facts": {"Capital": entity("facts:capital", "country", text="Lisboa")},
            "news": {"Today": entity("news:today", "locality", text="Rain")},
            "cuisine": {"Caldo verde": entity("cuisine:caldo_verde", "country", text="Soup of kale")},
        }
        for place in ({**porto, **at}, porto, {"country_code": "PT"}):
            for name, content in sections.items():
                store.catalogue.persist(place, {"section": name, "content": content})
        dumplings = {"小籠包": entity("food:xlb", "country", text="Soup dumplings")}
        store.catalogue.persist({"country_code": "CN"}, {"section": "food", "content": dumplings})
        store.records("trips").put("one", {"title": "Porto"})
        store.catalogue.regions.create("porto", [porto]).export(folder / "porto.region")
    (folder / "porto").mkdir()
    delivery = {"location": porto, "sections": [{"section": "facts", "content": sections["facts"]}]}
    (folder / "porto/1.json").write_text(json.dumps(delivery))


def fill_pictures(folder):
    for number in range(1, 5):
        photo = (ROOT / "Tests/Fixtures/photos/baseline.jpg").read_bytes()
        path = folder / "Pictures" / ("trips" if number == 4 else "") / f"IMG_{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(photo + bytes([number]))
    with satchel.open(folder / "guide.satchel") as store:
        photos = store.photos(folder / "Pictures")
        photos.scan()
        for photo in list(photos.iterate()):
            row = {"md5": photo.md5, "filename": photo.filename, "size": photo.size}
            photos.upsert({**row, "photodate": FEBRUARY, "modified": FEBRUARY})
            photos.set_local(photo.md5, camera_model="X100V", latitude=47.37, longitude=8.54)
            photos.star(photo.md5)
    shutil.copy(folder / "guide.satchel", folder / "phone.satchel")


def fill_planner(folder, name="planner.satchel"):
    with satchel.open(folder / name) as store:
        courses = store.records("courses")
        for _ in range(3):
            for key, course in COURSES:
                courses.put(key, course)
        tasks = store.records("tasks", indexes=["due"])
        tasks.put("essay", {"title": "Essay", "due": "2027-02-01", "done": False})
        store.records("drafts").put("one", {})
        notes = store.records("notes", search=["title"])
        notes.put("a", {"title": "Crème brûlée"})
        cafes = store.records("cafes", positions=["at"])
        cafes.put("odeon", {"open": True, "at": {"lat": 47.3697, "lon": 8.5391}})
        sales = store.records("sales")
        sales.put("s1", {"paid": True, "at": "2027-03-05T09:30:00Z", "total": 12})
        store.state.set("theme", "dark")
        store.state.set("window.width", 800)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A home directory in which the examples find what they name."""
    home = tmp_path_factory.mktemp("home")
    folders = "stories drafts released game/src backups backup shared bin Pictures"
    for name in folders.split():
        (home / name).mkdir(parents=True)
    for name in ("tale.json", "stories/tale.json", "released/tale.json"):
        (home / name).write_text(json.dumps(story("tale", [segment("start", "end"), segment("end")])))
    for name in ("game.twee", "drafts/game.twee", "game/src/game.twee"):
        (home / name).write_text(TWEE)
    fill_guide(home)
    fill_planner(home)
    for name in ("old.satchel", "new.satchel"):
        fill_planner(home, name)
    shutil.copy(home / "planner.satchel", home / "damaged.satchel")
    for name in ("planner", "guide"):
        shutil.copy(home / f"{name}.satchel", home / f"backups/{name}-20270305T101500000Z.satchel")
    shutil.copy(ROOT / "Tests/Fixtures/photos/baseline.jpg", home / "photo.jpg")
    (home / "algebra.json").write_text('{"title": "Linear Algebra"}')
    (home / "theme.json").write_text('"light"')
    (home / "token.json").write_text('"s3cr3t"')
    (home / "key").write_bytes(bytes(range(32)))
    (home / "export.json").write_text(json.dumps([{"code": key, **course} for key, course in COURSES]))
    (home / "courses.jsonl").write_text(lines_of(*COURSES))
    (home / "bin/satchel").symlink_to(TOOL)
    if not shutil.which("dot"):
        (home / "bin/dot").write_text(STAND_IN)
        (home / "bin/dot").chmod(0o755)
    return home


class Home:
    """A copy of the template, in which one example runs."""

    def __init__(self, template, folder, bucket):
        self.folder = folder
        shutil.copytree(template, folder, symlinks=True, dirs_exist_ok=True)
        fill_pictures(folder)
        keys = {**bucket.environment, "AWS_ENDPOINT_URL": bucket.endpoint, "AWS_REGION": "eu-west-1"}
        path = f"{folder}/bin:{os.environ['PATH']}"
        self.env = {**os.environ, **keys, "HOME": str(folder), "PATH": path, "COLUMNS": "100"}

    def start(self, command):
        return subprocess.Popen(
            ["bash", "-c", command], cwd=self.folder, env=self.env, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def run(self, command, codes=(0,)):
        process = self.start(command)
        out, err = process.communicate(timeout=600)
        assert process.returncode in codes, f"{command}\n{out}\n{err}"
        return out


def make_conflicts(home):
    """Three versions of records that lost, and four of photos."""
    remote = satchel.remote.Directory(home.folder / "conflicts")
    others = home.folder / "other.satchel"
    shutil.copy(home.folder / "planner.satchel", others)
    with satchel.open(home.folder / "planner.satchel") as here, satchel.open(others) as there:
        stores = [store.records("courses", on_conflict="ask", redeclare=True) for store in (here, there)]
        here.sync(remote, "ana")
        there.sync(remote, "ana")
        for records, title in zip(stores, ("here", "there"), strict=True):
            for key, _ in COURSES:
                records.put(key, {"title": title})
        there.sync(remote, "ana")
        here.sync(remote, "ana")
        assert len(stores[0].conflicts()) == 3


def make_photo_conflicts(home):
    remote = satchel.remote.Directory(home.folder / "conflicts")
    shutil.copy(home.folder / "guide.satchel", home.folder / "other.satchel")
    for name, title in (("other", "there"), ("guide", "here")):
        with satchel.open(home.folder / f"{name}.satchel") as store:
            photos = store.photos(home.folder / "Pictures")
            if name == "other":
                photos.sync(remote, "ana")
            for photo in list(photos.iterate()):
                row = {"md5": photo.md5, "size": photo.size, "photodate": FEBRUARY, "modified": FEBRUARY}
                photos.upsert({**row, "filename": f"{title}-{photo.filename}"})
            photos.sync(remote, "ana")
            found = len(photos.conflicts())
    assert found == 4
    shutil.copy(home.folder / "guide.satchel", home.folder / "phone.satchel")


def prepare(home, example):
    """Brings about what an example is about; returns it with names of this machine."""
    if "conflicts" in example and "planner" in example:
        make_conflicts(home)
    if "conflicts" in example and "planner" not in example:
        make_photo_conflicts(home)
    if re.search(r"photos (verify|backup restore|backup refresh|backup delete)", example):
        home.run("satchel photos sync guide.satchel ~/Pictures --user ana --remote s3://photos")
        home.run("satchel photos backup run guide.satchel ~/Pictures --user ana --remote s3://photos --all")
    if "photos trash" in example:
        (home.folder / "Pictures/IMG_1.jpg").unlink()
        home.run("satchel photos scan --delete-missing guide.satchel ~/Pictures")
        [removed] = json.loads(home.run("satchel photos trash list guide.satchel ~/Pictures --json"))
        example = example.replace(MD5, removed["md5"])
    if "photos import" in example:
        home.run("satchel photos export guide.satchel ~/Pictures")
        home.run("satchel photos export guide.satchel ~/Pictures backup/.photolala")
    if re.search(r"records (verify|import) planner.satchel courses courses.json$", example):
        home.run("satchel records export planner.satchel courses courses.json")
    if "records verify planner.satchel courses by-id.json" in example:
        home.run("satchel records export planner.satchel courses by-id.json --plain")
    if "state get planner.satchel token" in example:
        home.run("satchel state set planner.satchel token - --sensitive --store-key-file key < token.json")
    if "recover" in example:
        (home.folder / "new.satchel").unlink()
    if "git show" in example:
        home.run("git init -q . && git add tale.json && git -c user.name=a -c user.email=a commit -qm a")
    if "assets" in example:
        reference = json.loads(home.run("satchel assets put planner.satchel photo.jpg"))
        example = example.replace(SHA256, reference["_asset"]["sha256"])
    if MD5 in example:
        [photo, *_] = json.loads(home.run("satchel photos query guide.satchel ~/Pictures --json"))
        example = example.replace(MD5, photo["md5"])
    if "https://api.example.org" in example:
        backend = json.loads(os.environ["SATCHEL_TEST_CONTENT"])["url"]
        example = example.replace("https://api.example.org", f"{backend}/help")
    example = example.replace("https://s3.example.org", home.env["AWS_ENDPOINT_URL"])
    return example.replace("/mnt/shared", str(home.folder / "shared"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_works(template, tmp_path, bucket, example):
    home = Home(template, tmp_path, bucket)
    command = prepare(home, example)
    if "store observe" in command or "--watch" in command:
        return until_interrupted(home, command)
    home.run(command, (0, 1) if any(part in example for part in ATTENTION) else (0,))
    return None


def until_interrupted(home, command):
    """A command that goes on until something changes, or until Ctrl-C."""
    process = home.start(command)
    while not re.search("until Ctrl-C", process.stderr.readline()):
        assert process.poll() is None
    if "--limit 1" in command:
        home.run("satchel state set planner.satchel theme '\"light\"'")
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        assert "state" in out
        return
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode in (-signal.SIGINT, 128 + signal.SIGINT)


def test_the_readme_and_the_guides_use_options_that_exist():
    known = set(
        re.findall(
            r"--[a-z-]+",
            " ".join(
                subprocess.run([TOOL, *words, "--help"], capture_output=True, text=True, check=True).stdout
                for words, _ in HELPS
            ),
        )
    )
    for page in [ROOT / "README.md", *sorted((ROOT / "Documentation").glob("*.md"))]:
        for line in page.read_text(encoding="utf-8").splitlines():
            if re.match(r"(\$ )?satchel [a-z]", line):
                assert set(re.findall(r"(?<= )--[a-z-]+", line.split("  #")[0])) <= known, (page.name, line)


def test_the_home_is_not_the_checkout(template):
    assert not Path(template).is_relative_to(ROOT)
