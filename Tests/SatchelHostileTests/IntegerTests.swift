import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("A store whose integers are at their extremes")
struct IntegerTests {
  static let extremes: [Int64] = [.min, -1, 0, 1, 1 << 31, 1 << 53, 1 << 62, .max]

  @Test("harms nobody, and check names what cannot be")
  func everyColumn() throws {
    guard let role = OtherProcess.role("integers") else { return try HostileRuns.all("integers", "IntegerTests/everyColumn") }
    try HostileRuns.play(role.path) { fixture, run in
      let columns = try fixture.columns().filter { ["INTEGER", "ANY", ""].contains($0.type) }
      for column in columns {
        for value in Self.extremes {
          try run(
            "\(column.table).\(column.name) = \(value)",
            { path in
              do {
                let store = try RawStore(path)
                try store.run("UPDATE OR IGNORE \(column.table) SET \(column.name) = \(value)")
              } catch is RawStore.Failure { return false }
              return true
            }, { _ in [] })
        }
      }
    }
  }
}
