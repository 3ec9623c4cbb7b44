import Foundation
import Satchel

/// The collections of one device, in a store of its own.
struct Planner {
  let name: String
  let store: Store
  let semesters, courses, tasks, grades, events, activities: RecordCollection

  /// Opens the store; courses of an older version are brought up to date, after a backup.
  init(_ name: String, in folder: String, version: Int = 2) throws {
    self.name = name
    store = try Store(path: "\(folder)/\(name).satchel")
    semesters = try store.records("semesters")
    // Since version 2 a course has a title instead of a name, and credits.
    let toVersion2 = RecordMigration.steps([
      .rename(from: try JSONPath("name"), to: try JSONPath("title")),
      .setDefault(path: try JSONPath("credits"), value: 6),
    ])
    courses = try store.records(
      "courses", relations: ["semester_id": RecordRelation("semesters", onDelete: .cascade)],
      version: version, migrations: version == 1 ? [] : [toVersion2])
    let inCourse = ["course_id": RecordRelation("courses", onDelete: .cascade)]
    // Both fields of a task that was changed on both sides are kept.
    tasks = try store.records(
      "tasks", indexes: [RecordIndex("due")], relations: inCourse, onConflict: .merge)
    let schema: JSONValue = [
      "type": "object", "required": ["course_id", "points"],
      "properties": ["points": ["type": "integer", "minimum": 0, "maximum": 20]],
    ]
    grades = try store.records("grades", relations: inCourse, schema: schema)
    events = try store.records(
      "events", indexes: [RecordIndex("room_key", unique: true)], relations: inCourse)
    activities = try store.records(
      "activities", relations: ["task_id": RecordRelation("tasks", onDelete: .nullify)])
  }

  func plan() throws {
    print("A semester is planned: all of it, or nothing.")
    try store.batch {
      try semesters.put("2027s", Semester(name: "Spring 2027"))
      try courses.put("algebra", OldCourse(semester: "2027s", name: "Linear Algebra"))
      try courses.put("history", OldCourse(semester: "2027s", name: "History of Science"))
      try tasks.put("sheet-1", Task(course: "algebra", title: "Exercise sheet 1", due: "2027-03-05"))
      try tasks.put("sheet-2", Task(course: "algebra", title: "Exercise sheet 2", due: "2027-03-12"))
      try tasks.put("essay", Task(course: "history", title: "Essay on Kepler", due: "2027-03-09"))
      try events.put("exam", Event(course: "algebra", title: "Exam", roomKey: "2027-03-20 H1"))
      try grades.put("quiz", Grade(course: "history", points: 17))
      try activities.put("reading", Activity(task: "essay", minutes: 45))
    }
  }

  func showTasks() throws {
    let soon = RecordQuery(.field("due", .less("2027-03-10")), order: [.init("due")])
    for task in try tasks.list(soon, as: Task.self) {
      print("  until \(task.due ?? "some day"): \(task.title)")
    }
  }

  func refuse() {
    print("\nWhat does not fit is refused.")
    refuse(tasks, Task(course: "chemistry", title: "Lab report", due: nil))
    refuse(grades, Grade(course: "history", points: 21))
    refuse(events, Event(course: "history", title: "Talk", roomKey: "2027-03-20 H1"))
  }

  private func refuse(_ collection: RecordCollection, _ document: some Encodable) {
    do {
      try collection.put("new", document)
    } catch {
      print("  \(collection.name): refused")
    }
  }

  /// Flushed changes survive the process; changes that were only set may not.
  func writeState() throws {
    try store.state.set("theme", "dark")
    try store.state.list("searches", limit: 10).push("kepler")
    _ = try store.state.scores("subjects").add("history", 0.25)
    _ = try store.state.flush()
  }

  func comeBack() throws {
    print("\nThe planner was killed, and starts again as version 2.")
    let theme = try store.state.get("theme")?.stringValue ?? ""
    let searches = try store.state.list("searches", limit: 10).items().compactMap(\.value.stringValue)
    let score = try store.state.scores("subjects").value("history")
    print("  theme \(theme), searched \(searches.joined(separator: ", ")), history \(score)")
    for course in try courses.list(RecordQuery(order: [.init("title")]), as: Course.self) {
      print("  \(course.title): \(course.credits) credits")
    }
  }

  /// Synchronizes all collections at once, and prints what moved.
  func sync(with remote: any ObjectStore) throws {
    let moved = try store.sync(with: remote, user: UserID("mia")).records
    let label = "\(name):".padding(toLength: 7, withPad: " ", startingAt: 0)
    print("  \(label) \(moved.uploaded) up, \(moved.downloaded) down, \(moved.merged) merged")
  }
}
