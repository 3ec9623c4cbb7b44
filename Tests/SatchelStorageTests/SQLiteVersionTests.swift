import CSQLite
import Testing

import SatchelCore
import SatchelStorage

@Suite("Versions of SQLite")
struct SQLiteVersionTests {
  @Test(
    "have the WAL-reset bug up to 3.51.2, except for the releases with the backported fix",
    arguments: [
      (3_037_000, true), (3_040_001, true), (3_044_005, true), (3_044_006, false), (3_045_000, true),
      (3_050_006, true), (3_050_007, false), (3_051_000, true), (3_051_002, true), (3_051_003, false),
      (3_052_000, false), (4_000_000, false),
    ])
  func walResetBug(number: Int32, hasBug: Bool) {
    #expect(SQLiteVersion(number: number).hasWALResetBug == hasBug)
  }

  @Test("before 3.37 are refused with their number")
  func old() throws {
    let error = #expect(throws: SatchelError.self) { try SQLiteVersion(number: 3_036_002).refuseOld() }
    #expect(error?.message == "SQLite 3.36.2 is too old: Satchel requires 3.37.0 or newer")
    try SQLiteVersion(number: 3_037_000).refuseOld()
  }

  @Test("are named as SQLite names itself")
  func current() {
    #expect("\(SQLiteVersion.current)" == String(cString: sqlite3_libversion()))
  }
}
