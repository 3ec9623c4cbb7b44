import Foundation
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("Backup rotation")
struct BackupRotationTests {
  let fixture: StorageFixture
  let directory: String

  init() throws {
    fixture = try StorageFixture()
    directory = fixture.directory.path + "/backups"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
  }

  private func listing() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
  }

  @Test("the oldest backups beyond the limit are deleted")
  func keeps() throws {
    let database = try fixture.open()
    let rotation = BackupRotation(directory: directory, keep: 3)
    let start: Int64 = 1_790_000_000_123
    for number in 0..<6 {
      try database.write { try $0.add("\(number)") }
      let report = try rotation.backUp(database, time: start + Int64(number) * 86_400_000)
      #expect(report.removed.count == (number < 3 ? 0 : 1))
    }
    #expect(
      try listing() == [
        "store-20260924T141320123Z.satchel", "store-20260925T141320123Z.satchel",
        "store-20260926T141320123Z.satchel",
      ])
    let kept = try rotation.backups(of: fixture.path)
    #expect(try kept.map { try fixture.open($0).read { try $0.items() } } == [4, 5, 6])
  }

  @Test("the latest backup is the newest for any time of the clock, and is not deleted")
  func clock() throws {
    let database = try fixture.open()
    let rotation = BackupRotation(directory: directory, keep: 2)
    var made: [String] = []
    for time in [1_790_000_000_000, 1_790_000_000_000, 5, -1, Int64.max, Int64.max] {
      made.append(try rotation.backUp(database, time: time).path)
    }
    #expect(made == made.sorted())
    #expect(try rotation.backups(of: fixture.path).last == made.last)
  }

  @Test("other files stay, whatever their names; unfinished backups of a crash are deleted")
  func others() throws {
    let names = [
      "store-20260101T000000000Z.satchel", "store-20260101T000000000Z.satchel.bak",
      "store-20260102T000000000Z.satchel.part", "store-20261301T000000000Z.satchel", "notes.txt",
      "store2-20260101T000000000Z.satchel", "store-20260101T000000000.satchel", "notes.part",
    ]
    for name in names { try Data("no backup".utf8).write(to: URL(filePath: "\(directory)/\(name)")) }
    let database = try fixture.open()
    let rotation = BackupRotation(directory: directory, keep: 1)
    for day in 0..<3 {
      _ = try rotation.backUp(database, time: 1_790_000_000_000 + Int64(day) * 86_400_000)
    }
    let left = Set(names).subtracting(["store-20260102T000000000Z.satchel.part"])
    #expect(try Set(listing()) == left.union(["store-20260923T141320000Z.satchel"]))
  }

  @Test("a failed backup deletes none of the earlier ones")
  func failure() throws {
    let database = try fixture.open()
    let rotation = BackupRotation(directory: directory, keep: 1)
    _ = try rotation.backUp(database, time: 1_790_000_000_000)
    let before = try listing()
    #expect(
      try code { _ = try rotation.backUp(database, time: 1_790_000_000_001) { _, _ in false } } == .cancelled)
    #expect(try listing() == before)
    let nowhere = BackupRotation(directory: directory + "/no", keep: 1)
    #expect(try code { _ = try nowhere.backUp(database, time: 0) } == .notFound)
  }

  @Test(
    "a name is parsed only in the form in which it is written",
    arguments: [0, 951_782_400_000, 253_402_300_799_999] as [Int64])
  func names(time: Int64) {
    let name = BackupName(stem: "a b", time: time)
    #expect(BackupName(name.text, stem: "a b") == name)
    for index in name.text.indices {
      for odd in ["/", "x", "", "é"] {
        let text = name.text.replacingCharacters(in: index...index, with: odd)
        if let read = BackupName(text, stem: "a b") { #expect(read.text == text) }
      }
    }
    #expect(BackupName.stem(of: "/x/guide.satchel") == "guide")
    #expect(BackupName.stem(of: ":memory:") == "store")
  }
}

extension BackupRotation {
  fileprivate func backUp(
    _ database: Database, time: Int64, progress: BackupProgress = { _, _ in true }
  ) throws -> BackupReport {
    try backUp(of: database, time: time) { try database.backup(to: $0, progress: progress) }
  }
}
