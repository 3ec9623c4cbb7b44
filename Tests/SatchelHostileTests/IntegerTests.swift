import Foundation
import Satchel
import SatchelTesting
import Testing

import SatchelCore
import SatchelStorage

@Suite("A store whose integers are at their extremes")
struct IntegerTests {
  static let extremes: [Int64] = [.min, -1, 0, 1, 1 << 31, 1 << 53, 1 << 62, .max]

  /// All of them with SATCHEL_MUTATIONS; else of each column one that its rules allow and one that they do not.
  private static func values(of column: RawStore.Column, _ range: ClosedRange<Int64>, _ number: Int)
    -> [Int64]
  {
    if HostileRuns.isLong { return extremes }
    let (inside, outside) = (extremes.filter { range.contains($0) }, extremes.filter { !range.contains($0) })
    return [inside, outside].compactMap { $0.isEmpty ? nil : $0[number % $0.count] }
  }

  @Test("causes no trap; check reports invalid values, and recover repairs them")
  func everyColumn() throws {
    guard let role = OtherProcess.role("integers") else {
      return try HostileRuns.all("integers", "IntegerTests/everyColumn")
    }
    let rules = Store.allRules
    try HostileRuns.play(role.path) { fixture, run in
      for (number, column) in try fixture.columns().filter({ $0.type == "INTEGER" }).enumerated() {
        let range = rules.bounds["\(column.table).\(column.name)"] ?? StoredRange.usual
        for value in Self.values(of: column, range, number) {
          try run(
            "\(column.table).\(column.name) = \(value)",
            { path in
              do {
                return try RawStore(path).change(
                  "UPDATE OR IGNORE \(column.table) SET \(column.name) = \(value)") > 0
              } catch is RawStore.Failure { return false }
            },
            { exercise in Self.faults(of: exercise, column, value, range) })
        }
      }
    }
  }

  /// STRICT columns of other tables, and row numbers, do not take such values.
  @Test("where they are no integers, an error says so")
  func otherTypes() throws {
    guard let role = OtherProcess.role("types") else {
      return try HostileRuns.all("types", "IntegerTests/otherTypes")
    }
    let values = ["'text'", "0.5", "x'31'", "NULL"]
    try HostileRuns.play(role.path) { fixture, run in
      for (number, column) in try fixture.columns().filter({ $0.type == "INTEGER" }).enumerated() {
        for value in HostileRuns.isLong ? values : [values[number % values.count]] {
          try run(
            "\(column.table).\(column.name) = \(value)",
            { path in
              var changed = 0
              try RawStore.loosened(path) {
                changed =
                  (try? $0.change("UPDATE OR IGNORE \(column.table) SET \(column.name) = \(value)")) ?? 0
              }
              return changed > 0
            }, { _ in [] })
        }
      }
    }
  }

  /// The next row of these gets the number after the greatest one.
  @Test(
    "A counter that is at its end leaves a store that is recovered and goes on",
    arguments: ["change.revision", "entity.id", "section_content.section"])
  func counters(_ counter: String) throws {
    let fixture = try HostileFixture()
    let path = fixture.folder.path + "/store.satchel"
    try fixture.bytes.write(to: URL(filePath: path))
    let parts = counter.split(separator: ".")
    let (table, column) = (parts[0], parts[1])
    try RawStore(path).run(
      "UPDATE \(table) SET \(column) = 9007199254740992 WHERE \(column) = (SELECT max(\(column)) FROM \(table))"
    )
    let place = try Location(json: HostileFixture.shanghai)
    do {
      let store = try HostileFixture.open(path)
      defer { try? store.close() }
      try store.catalogue.persist(HostileFixture.section("new", 9), at: place)
    } catch let error as SatchelError { #expect(error.code == .damaged) }
    _ = try Store.recover(path, into: path + ".recovered")
    let recovered = try HostileFixture.open(path + ".recovered")
    defer { try? recovered.close() }
    #expect(try recovered.check().map(\.message).filter { $0.contains("outside") } == [])
    for number in 0..<3 {
      try recovered.catalogue.persist(HostileFixture.section("new \(number)", 9), at: place)
    }
    #expect(try recovered.check().map(\.message).filter { $0.contains("outside") } == [])
  }

  /// The findings that are missing.
  private static func faults(
    of exercise: StoreExercise, _ column: RawStore.Column, _ value: Int64, _ range: ClosedRange<Int64>
  ) -> [String] {
    let name = "\(column.table).\(column.name)"
    var faults: [String] = []
    if !range.contains(value), column.table != "subject" {
      let isNamed = exercise.findings.contains { $0.message.contains(name) } || exercise.refusal != nil
      if !isNamed { faults.append("check does not name it: \(exercise.findings.prefix(3))") }
    }
    if exercise.remaining.contains(where: { $0.message.contains("is outside") }) {
      faults.append("recover left it: \(exercise.remaining)")
    }
    return faults
  }
}
