import Foundation
import SatchelTesting
import Testing

/// SQLite orders blobs after all texts, and bytes that are not UTF-8 otherwise than what they are read as. Texts that are
/// too long are no names of anything.
@Suite("A store whose texts are blobs, not UTF-8, or too long")
struct TextTests {
  private static let values = [
    "CAST(%@ AS BLOB)", "CAST(x'FF' || %@ AS TEXT)", "%@ || char(0) || 'b'",
    "%@ || printf('%.*c', 70000, 'a')",
  ]

  @Test("causes no trap and no hang")
  func everyColumn() throws {
    guard let role = OtherProcess.role("texts") else {
      return try HostileRuns.all("texts", "TextTests/everyColumn")
    }
    try HostileRuns.play(role.path) { fixture, run in
      for column in try fixture.columns() where column.type == "TEXT" {
        for value in Self.values {
          let value = value.replacing("%@", with: column.name)
          try run(
            "\(column.table).\(column.name) = \(value)",
            { path in
              var changed = 0
              try RawStore.loosened(path) { store in
                let sql = "UPDATE OR IGNORE \(column.table) SET \(column.name) = \(value)"
                changed = (try? store.change(sql)) ?? 0
              }
              return changed > 0
            },
            { _ in [] })
        }
      }
    }
  }
}
