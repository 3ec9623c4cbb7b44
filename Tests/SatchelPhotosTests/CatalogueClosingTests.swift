import Satchel
import SatchelTesting
import Testing

@testable import SatchelPhotos
@testable import SatchelStorage

@Suite("The end of a store with catalogues of photos")
struct CatalogueClosingTests {
  /// A look from outside, which makes nothing good.
  private func claims(_ path: String) throws -> Int64 {
    let database = try Database.open(
      path: path, options: StoreOptions(), migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    defer { try? database.close() }
    return try database.read { try $0.number("SELECT count(*) FROM photo_local WHERE owner IS NOT NULL") }
  }

  @Test("closing the store gives back what its catalogues claimed")
  func claims() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try Satchel(path: path)
    let albums = try ["one", "other"].map { try store.photos(in: "\(directory.path)/\($0)") }
    for album in albums {
      try album.upsert([CatalogueFixture.photo(1)])
      try album.queueBackup(CatalogueFixture.photo(1).md5)
      #expect(try album.claimBackup() != nil)
    }
    #expect(try claims(path) == 2)
    try store.close()
    #expect(try claims(path) == 0)
    for album in albums {
      #expect { try album.count() } throws: { ($0 as? SatchelError)?.code == .closed }
      try album.close()
    }
    #expect { try store.close() } throws: { ($0 as? SatchelError)?.code == .closed }
  }

  @Test("a catalogue that was given up does not live on for its store")
  func givenUp() throws {
    let store = try Satchel(path: ":memory:")
    weak let album = try store.photos(in: "/photos")
    #expect(album == nil)
    try store.close()
  }
}
