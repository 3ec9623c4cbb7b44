import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage
import SatchelTesting
import Testing

import SatchelPhotos

/// A store is probed for conditional writes once, and the result is stored with the catalogue.
struct SyncProbeTests {
  private let device: CatalogueFixture
  private let directory: TemporaryDirectory

  init() throws {
    device = try CatalogueFixture()
    directory = try TemporaryDirectory()
  }

  /// The requests of a sync of one new photo in a new process.
  private func requests(_ number: Int) throws -> Int64 {
    try device.reopen()
    try device.photos.upsert([CatalogueFixture.photo(number)])
    let remote = try DirectoryStore(path: directory.path + "/remote")
    return try device.photos.sync(with: remote, user: UserID("anna")).requests
  }

  @Test("a second process sends no probe for 30 days") func secondProcessNeeds() throws {
    let first = try requests(1)
    let second = try requests(2)
    #expect(try requests(3) == second)
    device.clock.withLock { $0 += ConditionProbeCache.validity }
    // Five requests probe, one lists, one deletes.
    #expect(try requests(4) == second + 10)
    #expect(try requests(5) == second)
    #expect(first > second)
  }
}
