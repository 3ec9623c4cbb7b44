import Foundation
import Satchel

/// A study planner, on a laptop and on a phone: semesters, courses, tasks, grades, events and activities refer to each
/// other. The planner saves automatically, is killed, starts again, renames a field of every course, and both devices agree
/// through a remote copy in an object store: here a directory, or S3 as for the album.
/// Usage: planner folder, which is made
@main
struct Main {
  static func main() throws {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[2] == "--be-killed" { return try writeAndDie(in: arguments[1]) }
    guard arguments.count == 2 else {
      FileHandle.standardError.write(Data("Usage: planner folder, which must not exist\n".utf8))
      exit(2)
    }
    let folder = arguments[1]
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let child = try Process.run(
      URL(filePath: CommandLine.arguments[0]), arguments: [folder, "--be-killed"])
    child.waitUntilExit()

    let (laptop, phone) = (try Planner("laptop", in: folder), try Planner("phone", in: folder))
    try laptop.comeBack()
    try share(laptop, phone, through: openRemote(in: folder))
    for planner in [laptop, phone] { try planner.store.close() }
  }

  static func writeAndDie(in folder: String) throws {
    let planner = try Planner("laptop", in: folder, version: 1)
    try planner.plan()
    try planner.showTasks()
    planner.refuse()
    try planner.writeState()
    fflush(nil)
    kill(getpid(), SIGKILL)
  }

  static func share(_ laptop: Planner, _ phone: Planner, through remote: any ObjectStore) throws {
    print("\nThe phone gets it all.")
    for planner in [laptop, phone] { try planner.sync(with: remote) }
    print("Without a network, each changes another field of the same task.")
    try change(laptop) { $0.due = "2027-03-10" }
    try change(phone) { $0.title = "Essay on Tycho Brahe" }
    for planner in [laptop, phone, laptop] { try planner.sync(with: remote) }
    if let essay = try laptop.tasks.get("essay", as: Task.self) {
      print("  both have: \(essay.title), until \(essay.due ?? "some day")")
    }
    print("The phone drops a course, and all that belongs to it.")
    try phone.courses.delete("history")
    for planner in [phone, laptop] { try planner.sync(with: remote) }
    let counts = try (laptop.courses.count(), laptop.tasks.count(), laptop.grades.count())
    print("  laptop: \(counts.0) course, \(counts.1) tasks, \(counts.2) grades")
    let reading = try laptop.activities.get("reading", as: Activity.self)
    print("  reading is left, for task \(reading?.task ?? "null")")
  }

  private static func change(_ planner: Planner, _ body: (inout Task) -> Void) throws {
    guard var essay = try planner.tasks.get("essay", as: Task.self) else { return }
    body(&essay.document)
    try planner.tasks.put(essay)
  }

  /// Where the remote copy is.
  static func openRemote(in folder: String) throws -> any ObjectStore {
    let variables = ProcessInfo.processInfo.environment
    guard let bucket = variables["SATCHEL_S3_BUCKET"] else {
      return try DirectoryStore(path: "\(folder)/remote")
    }
    let prefix = "planner-\(Int(Date().timeIntervalSince1970))"
    let endpoint = variables["SATCHEL_S3_ENDPOINT"].map { JSONValue.string($0) } ?? .null
    return try S3Store(json: ["bucket": .string(bucket), "prefix": .string(prefix), "endpoint": endpoint])
  }
}
