import Foundation
import Satchel
import SatchelTesting
import Testing

/// Cases that may end the process that plays them: another process plays, and says which case it is at. A run has a
/// portion of them, unless SATCHEL_MUTATIONS asks for many.
enum HostileRuns {
  /// Seconds that one call may take.
  static let limit = UInt32(ProcessInfo.processInfo.environment["SATCHEL_CALL_SECONDS"] ?? "") ?? 120

  typealias Run = (
    _ name: String, _ mutate: (String) throws -> Bool, _ judge: (StoreExercise) -> [String]
  ) throws -> Void

  /// Whether every case is played.
  static let isLong = ProcessInfo.processInfo.environment["SATCHEL_MUTATIONS"] != nil

  /// Plays all cases, in as many processes as it takes, and records those that failed.
  static func all(_ role: String, _ test: String) throws {
    let folder = try TemporaryDirectory()
    let only = ProcessInfo.processInfo.environment["SATCHEL_HOSTILE_CASE"]
    var skip = 0
    while true {
      try folder.write("\(skip)\n\(only ?? "")", to: "plan")
      let process = try OtherProcess(test, role, "x", folder.path)
      let isOver = process.finish()
      let at = (try? String(contentsOfFile: folder.path + "/at", encoding: .utf8)) ?? ""
      if isOver, at == "over" { break }
      let parts = at.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 3, let number = Int(parts[0]) else {
        Issue.record("the other process could not begin: \(at)")
        return
      }
      Issue.record("\(parts[1]): the process ended in “\(parts[2])”")
      if number < 0 { return }
      skip = number + 1
    }
    let faults = (try? String(contentsOfFile: folder.path + "/faults", encoding: .utf8)) ?? ""
    for fault in faults.split(separator: "\n") { Issue.record("\(fault)") }
  }

  /// Plays the cases that a plan leaves.
  static func play(_ folder: String, _ cases: (HostileFixture, Run) throws -> Void) throws {
    let plan = try String(contentsOfFile: folder + "/plan", encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
    let skip = plan.first.flatMap { Int($0) } ?? 0
    let only = plan.count > 1 && !plan[1].isEmpty ? String(plan[1]) : nil
    let at = open(folder + "/at", O_RDWR | O_CREAT | O_TRUNC, 0o600)
    let faults = open(folder + "/faults", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer {
      close(at)
      close(faults)
    }
    func say(_ text: String) {
      ftruncate(at, 0)
      _ = text.withCString { pwrite(at, $0, strlen($0), 0) }
    }
    say("-1\nmaking the sound store\n")
    let fixture: HostileFixture
    do {
      fixture = try HostileFixture()
    } catch {
      return say("-1\nmaking the sound store\n\(error)")
    }
    var (number, tried, mutated) = (-1, 0, 0)
    try cases(fixture) { name, mutate, judge in
      number += 1
      let isTried = only.map { $0 == name } ?? (isLong || Portion.includes(number, parts: 25))
      guard number >= skip, isTried else { return }
      tried += 1
      let place = number
      let path = fixture.folder.path + "/case-\(number).satchel"
      defer {
        for suffix in [
          "", "-wal", "-shm", ".outbox", ".recovered", ".recovered-wal", ".recovered-shm",
          ".recovered.outbox",
          ".backup",
        ] {
          unlink(path + suffix)
        }
      }
      try fixture.bytes.write(to: URL(filePath: path))
      try fixture.restoreRemote()
      say("\(place)\n\(name)\nmutating")
      guard try mutate(path) else { return }
      mutated += 1
      let exercise = StoreExercise(fixture, path, limit: limit) { say("\(place)\n\(name)\n\($0)") }
      exercise.run()
      for fault in exercise.faults + judge(exercise) {
        let line = "\(name): \(fault)\n"
        _ = line.withCString { write(faults, $0, strlen($0)) }
      }
    }
    if only == nil, tried > 20, mutated < tried * 2 / 3 {
      let line = "only \(mutated) of \(tried) stores could be mutated\n"
      _ = line.withCString { write(faults, $0, strlen($0)) }
    }
    say("over")
  }
}

extension HostileFixture {
  /// The columns of the sound store.
  func columns() throws -> [RawStore.Column] {
    let path = folder.path + "/columns.satchel"
    try bytes.write(to: URL(filePath: path))
    return try RawStore(path).columns()
  }
}
