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
    if ProcessInfo.processInfo.environment["SATCHEL_MUTATIONS"] != nil { return extremes }
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
