import CSQLite
import SatchelCore

/// A version of the SQLite library.
package struct SQLiteVersion: Equatable, Sendable, CustomStringConvertible {
  /// The number of `sqlite3_libversion_number()`: 3040001 is 3.40.1.
  package var number: Int32

  package init(number: Int32) { self.number = number }

  /// The SQLite library of this process.
  package static var current: SQLiteVersion { SQLiteVersion(number: sqlite3_libversion_number()) }

  /// Whether the SQLite library of this process has R*Trees, which are optional.
  package static var hasRTree: Bool { sqlite3_compileoption_used("ENABLE_RTREE") != 0 }

  /// The oldest supported version: STRICT tables were added in 3.37.
  package static let oldest = SQLiteVersion(number: 3_037_000)

  package var description: String { "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)" }

  /// Whether it has the WAL-reset bug, by which commits are lost when several connections checkpoint and
  /// write at once (`CheckpointGuard` prevents that). 3.51.3 fixed it, and 3.50.7 and 3.44.6 have the fix:
  /// https://sqlite.org/wal.html#walresetbug. A distribution may have backported the fix without changing the
  /// version.
  package var hasWALResetBug: Bool {
    switch number {
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
    default: number < 3_051_003
    }
  }

  /// Throws when the SQLite library is too old for a store's tables.
  package func refuseOld() throws {
    guard number < Self.oldest.number else { return }
    throw SatchelError(.internal, "SQLite \(self) is too old: Satchel requires \(Self.oldest) or newer")
  }
}
