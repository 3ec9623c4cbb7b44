import Satchel

/// The demo's study planner, on a laptop and a phone that share a directory as their remote. Both changed the same
/// task without a network; the laptop has synced since, the phone has not.
struct DemoPlanner {
  private let laptop: String
  private let phone: String
  private let remote: String

  init(in folder: DemoFolder) throws {
    let planner = try folder.folder("planner")
    laptop = "\(planner)/laptop.satchel"
    phone = "\(planner)/phone.satchel"
    remote = try folder.folder("planner/remote")
  }

  func write() throws {
    let (laptop, phone) = (try Device(laptop), try Device(phone))
    defer { for device in [laptop, phone] { try? device.store.close() } }
    try laptop.plan()
    try laptop.sync(with: remote)
    try phone.sync(with: remote)
    try laptop.tasks.update("essay", ["due": "2027-03-10"])
    try phone.tasks.update("essay", ["title": "Essay on Tycho Brahe"])
    try laptop.sync(with: remote)
    for device in [laptop, phone] { try device.store.close() }
  }

  /// A store with the planner's collections.
  private struct Device {
    let store: Store
    let courses: RecordCollection
    let tasks: RecordCollection

    init(_ path: String) throws {
      store = try Store(path: path)
      courses = try store.records("courses")
      // Of a task that both devices changed, the fields of both are kept.
      tasks = try store.records(
        "tasks", indexes: [RecordIndex("due")],
        relations: ["course_id": RecordRelation("courses", onDelete: .cascade)], onConflict: .merge)
    }

    func plan() throws {
      try store.batch {
        try courses.put("algebra", ["title": "Linear Algebra", "credits": 6])
        try courses.put("history", ["title": "History of Science", "credits": 3])
        try tasks.put("essay", ["course_id": "history", "title": "Essay on Kepler", "due": "2027-03-09"])
        try tasks.put("sheet-1", ["course_id": "algebra", "title": "Exercise sheet 1", "due": "2027-03-05"])
        try tasks.put("sheet-2", ["course_id": "algebra", "title": "Exercise sheet 2", "due": "2027-03-12"])
      }
      try store.state.set("theme", "dark", synced: true)
    }

    func sync(with remote: String) throws {
      do {
        _ = try store.sync(with: DirectoryStore(path: remote), user: UserID("ana"))
      } catch let error as ObjectStoreError {
        throw error.satchelError
      }
    }
  }
}
