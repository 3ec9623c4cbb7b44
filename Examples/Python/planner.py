"""A study planner, on a laptop and on a phone.

Semesters, courses, tasks, grades, events and activities refer to each other. The planner saves automatically, is
killed, starts again, renames a field of every course, and both devices agree through a remote copy in an object
store: here a directory, or S3 as for album.py. Usage: planner.py folder, which is made
"""

import os
import signal
import sys
import time
from pathlib import Path

import satchel
from satchel.remote import S3, Directory, Remote

GRADE = {
    "type": "object",
    "required": ["course_id", "points"],
    "properties": {"points": {"type": "integer", "minimum": 0, "maximum": 20}},
}

# Since version 2 a course has a title instead of a name, and credits.
COURSES_2 = [[{"rename": {"from": "name", "to": "title"}}, {"default": {"path": "credits", "value": 6}}]]


class Planner:
    """The collections of one device, in a store of its own."""

    def __init__(self, path: Path, version: int = 2) -> None:
        """Opens the store; courses of an older version are brought up to date, after a backup."""
        self.store = satchel.open(path)
        records = self.store.records
        self.semesters = records("semesters")
        self.courses = records(
            "courses",
            relations={"semester_id": {"collection": "semesters", "on_delete": "cascade"}},
            version=version,
            migrations=COURSES_2[: version - 1],
        )
        in_course = {"course_id": {"collection": "courses", "on_delete": "cascade"}}
        # Both fields of a task that was changed on both sides are kept.
        self.tasks = records("tasks", indexes=["due"], relations=in_course, on_conflict="merge")
        self.grades = records("grades", relations=in_course, schema=GRADE)
        self.events = records("events", indexes=[{"path": "room_key", "unique": True}], relations=in_course)
        self.activities = records(
            "activities", relations={"task_id": {"collection": "tasks", "on_delete": "nullify"}}
        )

    def sync(self, remote: Remote, name: str) -> None:
        """Synchronizes all collections at once, and prints what moved."""
        moved = self.store.sync(remote, "mia").records
        print(f"  {name + ':':<7} {moved.uploaded} up, {moved.downloaded} down, {moved.merged} merged")


def plan(planner: Planner) -> None:
    print("A semester is planned: all of it, or nothing.")
    with planner.store.batch():
        planner.semesters.put("2027s", {"name": "Spring 2027"})
        planner.courses.put("algebra", {"semester_id": "2027s", "name": "Linear Algebra"})
        planner.courses.put("history", {"semester_id": "2027s", "name": "History of Science"})
        planner.tasks.put("sheet-1", {"course_id": "algebra", "title": "Exercise sheet 1", "due": "2027-03-05"})
        planner.tasks.put("sheet-2", {"course_id": "algebra", "title": "Exercise sheet 2", "due": "2027-03-12"})
        planner.tasks.put("essay", {"course_id": "history", "title": "Essay on Kepler", "due": "2027-03-09"})
        planner.events.put("exam", {"course_id": "algebra", "title": "Exam", "room_key": "2027-03-20 H1"})
        planner.grades.put("quiz", {"course_id": "history", "points": 17})
        planner.activities.put("reading", {"task_id": "essay", "minutes": 45})


def show_tasks(planner: Planner) -> None:
    for task in planner.tasks.list(where={"due": {"lt": "2027-03-10"}}, order_by="due"):
        print(f"  until {task['due']}: {task['title']}")


def refuse(planner: Planner) -> None:
    print("\nWhat does not fit is refused.")
    for collection, document in (
        (planner.tasks, {"course_id": "chemistry", "title": "Lab report"}),
        (planner.grades, {"course_id": "history", "points": 21}),
        (planner.events, {"course_id": "history", "title": "Talk", "room_key": "2027-03-20 H1"}),
    ):
        try:
            collection.put("new", document)
        except satchel.ConstraintViolation:
            print(f"  {collection.name}: refused")


def write_and_die(path: Path) -> None:
    """Flushed changes survive the process; changes that were only set may not."""
    planner = Planner(path, version=1)
    plan(planner)
    show_tasks(planner)
    refuse(planner)
    state = planner.store.state
    state.set("theme", "dark")
    state.list("searches", limit=10).push("kepler")
    state.scores("subjects").add("history", 0.25)
    state.flush()
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def come_back(planner: Planner) -> None:
    print("\nThe planner was killed, and starts again as version 2.")
    state = planner.store.state
    searches = ", ".join(item.value for item in state.list("searches", limit=10).items())
    print(f"  theme {state.get('theme')}, searched {searches}, history {state.scores('subjects').value('history')}")
    for course in planner.courses.list(order_by="title"):
        print(f"  {course['title']}: {course['credits']} credits")


def open_remote(folder: Path) -> Remote:
    """Where the remote copy is."""
    bucket = os.environ.get("SATCHEL_S3_BUCKET")
    if bucket is None:
        return Directory(folder / "remote")
    endpoint = os.environ.get("SATCHEL_S3_ENDPOINT")
    return S3(bucket=bucket, prefix=f"planner-{int(time.time())}", endpoint=endpoint)


def share(laptop: Planner, phone: Planner, remote: Remote) -> None:
    print("\nThe phone gets it all.")
    laptop.sync(remote, "laptop")
    phone.sync(remote, "phone")
    print("Without a network, each changes another field of the same task.")
    laptop.tasks.put("essay", {**laptop.tasks.get("essay"), "due": "2027-03-10"})
    phone.tasks.put("essay", {**phone.tasks.get("essay"), "title": "Essay on Tycho Brahe"})
    for planner, name in ((laptop, "laptop"), (phone, "phone"), (laptop, "laptop")):
        planner.sync(remote, name)
    essay = laptop.tasks.get("essay")
    print(f"  both have: {essay['title']}, until {essay['due']}")
    print("The phone drops a course, and all that belongs to it.")
    phone.courses.delete("history")
    phone.sync(remote, "phone")
    laptop.sync(remote, "laptop")
    print(f"  laptop: {laptop.courses.count()} course, {laptop.tasks.count()} tasks, {laptop.grades.count()} grades")
    print(f"  reading is left, for task {laptop.activities.get('reading')['task_id'] or 'null'}")


def main() -> None:
    if len(sys.argv) != 2 or os.path.exists(sys.argv[1]):
        sys.exit("Usage: planner.py folder, which must not exist")
    folder = Path(sys.argv[1])
    folder.mkdir()
    child = os.fork()
    if child == 0:
        write_and_die(folder / "laptop.satchel")
    os.waitpid(child, 0)
    laptop, phone = Planner(folder / "laptop.satchel"), Planner(folder / "phone.satchel")
    with laptop.store, phone.store, open_remote(folder) as remote:
        come_back(laptop)
        share(laptop, phone, remote)


if __name__ == "__main__":
    main()
