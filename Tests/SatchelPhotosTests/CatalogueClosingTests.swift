import Satchel
import SatchelTesting
import Testing

import SatchelPhotos
import SatchelCore
import SatchelStorage

@Suite("Closing a store with photo catalogues")
struct CatalogueClosingTests {
  /// Counts the leases through another handle, which does not requeue any.
  private func leases(_ path: String) throws -> Int64 {
    let database = try Database.open(
      path: path, options: StoreOptions(), migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    defer { try? database.close() }
    return try database.read {
      try $0.number("SELECT count(*) FROM photo_local WHERE lease_owner IS NOT NULL")
    }
  }

  @Test("closing the store requeues what its catalogues leased")
  func leases() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try Store(path: path)
    let albums = try ["one", "other"].map { try store.photos(in: "\(directory.path)/\($0)") }
    for album in albums {
      try album.upsert([CatalogueFixture.photo(1)])
      try album.queueBackup(CatalogueFixture.photo(1).md5)
      #expect(try album.claimBackup() != nil)
    }
    #expect(try leases(path) == 2)
    try store.close()
    #expect(try leases(path) == 0)
    for album in albums {
      #expect { try album.count() } throws: { ($0 as? SatchelError)?.code == .closed }
      try album.close()
    }
    #expect { try store.close() } throws: { ($0 as? SatchelError)?.code == .closed }
  }

  @Test("a store does not keep a released catalogue alive")
  func givenUp() throws {
    let store = try Store(path: ":memory:")
    weak let album = try store.photos(in: "/photos")
    #expect(album == nil)
    try store.close()
  }
}
