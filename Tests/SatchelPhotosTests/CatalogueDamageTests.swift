import SatchelRemote
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("A catalogue whose tables are damaged") struct CatalogueDamageTests {
  let shard = CatalogueFixture.shard

  @Test(
    "damage is found by the check, and is never a trap",
    arguments: Portion.of([
      "UPDATE photo SET filename = 'other.jpg' WHERE md5 = (SELECT min(md5) FROM photo)",
      "UPDATE photo SET filename = CAST(x'ff00' AS TEXT)", "UPDATE photo SET filename = ''",
      "UPDATE photo SET md5 = x'55' WHERE md5 = (SELECT max(md5) FROM photo)",
      "UPDATE photo SET md5 = x'45454545454545454545454545454545' WHERE md5 = (SELECT max(md5) FROM photo)",
      "UPDATE photo SET size = -1", "UPDATE photo SET size = 9223372036854775807",
      "UPDATE photo SET width = -7",
      "UPDATE photo SET photodate = -9223372036854775808", "UPDATE photo SET modified = modified + 1",
      "UPDATE photo SET apple_photo_id = 'x'", "UPDATE photo SET catalogue = 99", "DELETE FROM photo",
      "DELETE FROM photo WHERE md5 = (SELECT max(md5) FROM photo)", "DELETE FROM photo_base",
      "UPDATE photo_base SET md5 = x'55' WHERE md5 = (SELECT max(md5) FROM photo_base)",
      "UPDATE photo_base SET line = x'00'", "UPDATE photo_base SET line = NULL",
      "UPDATE photo_base SET sequence = -1", "UPDATE photo_base SET sequence = 1 << 50",
      "UPDATE photo_base SET is_imported = 1", "UPDATE photo_base SET catalogue = 99",
      "DELETE FROM photo_kept", "UPDATE photo_kept SET copies = 5", "UPDATE photo_kept SET copies = 1 << 40",
      "UPDATE photo_kept SET synced_copies = -1", "UPDATE photo_kept SET line = x'22'",
      "UPDATE photo_kept SET shard = 9",
      "UPDATE photo_shard SET photos = 0", "UPDATE photo_shard SET photos = -1",
      "UPDATE photo_shard SET changes = 0", "UPDATE photo_shard SET changes = 9223372036854775807",
      "UPDATE photo_shard SET imports = -7", "UPDATE photo_shard SET kept = 0",
      "UPDATE photo_shard SET kept_changes = 3", "UPDATE photo_shard SET synced_photos = 1",
      "UPDATE photo_shard SET synced_checksum = NULL", "UPDATE photo_shard SET synced_content = 'x'",
      "UPDATE photo_shard SET shard = 3", "DELETE FROM photo_shard", "UPDATE photo_local SET backup = 9",
      "UPDATE photo_local SET md5 = x''", "UPDATE photo_local SET lease_owner = NULL, backup = 2",
      "UPDATE conflict SET local = x'ff'", "UPDATE conflict SET cause = 7", "UPDATE conflict SET key = 'x'",
      "DELETE FROM photo_catalogue",
    ]))
  func damage(_ sql: String) throws {
    let fixture = try CatalogueFixture()
    let photos = fixture.photos
    let all = (0..<1500).map { CatalogueFixture.photo($0) }
    let file = CatalogueFixture.file(Array(all[..<1000]), kept: ["5 is no row"])
    try photos.importShard(shard, file)
    try photos.uploadAll()
    try photos.upsert(Array(all[990..<1010]))
    try photos.importShard(shard, file)
    try photos.upsert(Array(all[1000...]))
    try photos.delete([all[3].md5])
    try photos.star(all[5].md5)
    #expect(try photos.conflictCount() > 0)
    try fixture.execute(sql)
    #expect(try !PhotoCatalogue.check(fixture.database).isEmpty)
    // Each call may fail, with an error that names the cause, or find less; none may trap.
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch { #expect((error as? SatchelError)?.message.isEmpty == false) }
    }
    for photo in all.prefix(50) { attempt { _ = try photos.photo(photo.md5) } }
    attempt { _ = try photos.exportShard(shard) }
    attempt { _ = try photos.all(page: 100) }
    attempt { _ = try photos.byDate() }
    attempt { _ = try photos.count() }
    attempt { _ = try photos.status() }
    attempt { _ = try photos.changes() }
    attempt { _ = try photos.conflicts() }
    attempt { _ = try photos.claimBackup() }
    attempt { try photos.upsert([CatalogueFixture.photo(9999)]) }
    attempt { try photos.delete([all[0].md5]) }
    attempt { try photos.uploadAll() }
    attempt { try photos.download(shard, CatalogueFixture.file(Array(all[5..<700])), onConflict: .merge) }
    attempt { try photos.importShard(shard, CatalogueFixture.file(Array(all[..<900]))) }
    attempt { try photos.detach() }
    attempt { try fixture.reopen() }
  }

  @Test(
    "a repair counts again, and detaches what is no longer what was synchronized",
    arguments: [
      "DELETE FROM photo WHERE md5 = (SELECT max(md5) FROM photo)",
      "DELETE FROM photo_base WHERE md5 = (SELECT min(md5) FROM photo_base)", "DELETE FROM photo_kept",
      "UPDATE photo_shard SET photos = 0, changes = 7, kept = 9, synced_photos = 3",
    ])
  func repair(_ sql: String) throws {
    let fixture = try CatalogueFixture()
    let all = (0..<100).map { CatalogueFixture.photo($0) }
    let file = CatalogueFixture.file(all, kept: ["5 is no row"])
    try fixture.photos.importShard(shard, file)
    try fixture.photos.uploadAll()
    try fixture.photos.delete([all[3].md5, all[4].md5])
    try fixture.execute(sql)
    #expect(try !PhotoCatalogue.check(fixture.database).isEmpty)
    try PhotoCatalogue.repair(fixture.database)
    #expect(try PhotoCatalogue.check(fixture.database) == [])
    // What was lost returns with the next version of the remote.
    try fixture.photos.download(shard, file, onConflict: .merge)
    #expect(try fixture.photos.all().map(\.md5).contains(all[99].md5))
    #expect(try fixture.photos.status().keptLines == 1)
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }

  @Test("a damaged row's error names its shard")
  func named() throws {
    let fixture = try CatalogueFixture()
    try fixture.photos.importShard(
      shard, CatalogueFixture.file((0..<1000).map { CatalogueFixture.photo($0) }))
    try fixture.photos.uploadAll()
    try fixture.execute("DELETE FROM photo WHERE md5 = (SELECT max(md5) FROM photo)")
    #expect {
      try fixture.photos.exportShard(shard)
    } throws: { error in
      guard let error = error as? SatchelError else { return false }
      return error.code == .damaged && error.message.contains("shard 5")
    }
  }
}
