import CSQLite
import SatchelStorageTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("The connections of a store")
struct ConnectionBoundsTests {
  /// The bytes of pages that a connection has in memory.
  private func cached(_ connection: Connection) -> Int32 {
    var (used, highest) = (Int32(0), Int32(0))
    sqlite3_db_status(connection.handle, SQLITE_DBSTATUS_CACHE_USED, &used, &highest, 0)
    return used
  }

  @Test("have at most their caches of pages in memory")
  func pageCache() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    let item = String(repeating: "x", count: 4000)
    try database.write { transaction in
      for _ in 0..<6000 { try transaction.add(item) }
      #expect(cached(transaction.connection) < 10 << 20)
    }
    try database.read { connection in
      let sum = try connection.number("SELECT sum(length(name)) FROM item")
      #expect(sum == 24_000_000)
      #expect((6 << 20)..<(10 << 20) ~= cached(connection))
    }
    try database.close()
  }

  /// Readers that are present at once. Unchecked: `condition` guards all state.
  private final class Visitors: @unchecked Sendable {
    private let condition = ConditionLock()
    private var present = 0
    private var highest = 0

    var maximum: Int { condition.withLock { highest } }

    /// The first ones stay until there are as many as can be.
    func visit(until limit: Int) {
      condition.withLock {
        present += 1
        highest = max(highest, present)
        while highest < limit { condition.wait() }
        condition.signal()
      }
      condition.withLock { present -= 1 }
    }
  }

  @Test("are four for reading, and a fifth reader waits for one")
  func readers() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    let visitors = Visitors()
    let threads = (0..<12).compactMap { _ in
      SystemThread { try? database.read { _ in visitors.visit(until: Database.maxReaders) } }
    }
    for thread in threads { thread.join() }
    #expect(visitors.maximum == Database.maxReaders)
    try database.close()
  }
}
