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
      "UPDATE photo_block SET lines = x''", "UPDATE photo_block SET lines = x'ff00'",
      "UPDATE photo_block SET lines = substr(lines, 1, 100)",
      "UPDATE photo_block SET lines = CAST(replace(CAST(lines AS TEXT), ',', ';') AS BLOB)",
      "UPDATE photo_block SET lines = CAST(replace(CAST(lines AS TEXT), '5', 'Z') AS BLOB)",
      "UPDATE photo_block SET is_plain = 0, lines = x'22'", "UPDATE photo_block SET id = id + 1",
      "UPDATE photo_block SET id = id - 1", "UPDATE photo_block SET id = id + (1 << 40)",
      "UPDATE photo_block SET id = id - 5 WHERE id = (SELECT max(id) FROM photo_block)",
      "DELETE FROM photo_block WHERE id = (SELECT max(id) FROM photo_block)",
      "UPDATE photo_block SET lines = (SELECT lines FROM photo_block ORDER BY id DESC LIMIT 1)",
      "DELETE FROM photo_block", "DELETE FROM photo_version", "UPDATE photo_version SET bytes = -1",
      "UPDATE photo_version SET bytes = 1 << 62", "UPDATE photo_version SET photos = 0, kept = 3",
      "UPDATE photo_version SET checksum = 'x'", "UPDATE photo_shard SET base = -1",
      "UPDATE photo_shard SET base = 1 << 40", "UPDATE photo_shard SET changes = 0",
      "UPDATE photo_shard SET changes = 9223372036854775807", "UPDATE photo_shard SET added = -7",
      "UPDATE photo_shard SET is_imported = 0",
      "UPDATE photo_change SET md5 = x'55' WHERE sequence = (SELECT max(sequence) FROM photo_change)",
      "UPDATE photo_change SET line = x'00'", "UPDATE photo_change SET line = NULL",
      "UPDATE photo_change SET in_base = 5", "UPDATE photo_local SET backup = 9",
      "UPDATE photo_local SET md5 = x''", "UPDATE photo_local SET lease_owner = NULL, backup = 2",
      "UPDATE conflict SET local = x'ff'", "UPDATE conflict SET cause = 7", "UPDATE conflict SET key = 'x'",
      "DELETE FROM photo_catalogue", "UPDATE photo_date SET photos = x'0000'",
      "UPDATE photo_date SET photos = CAST(photos || x'0000000000000000' AS BLOB)",
      "UPDATE photo_date SET photos = zeroblob(length(photos))",
      "UPDATE photo_date SET photos = CAST(replace(hex(photos), '00', 'FF') AS BLOB)",
      "UPDATE photo_date SET earliest = 9223372036854775807", "UPDATE photo_date SET earliest = earliest - 1",
      "UPDATE photo_date SET id = id + 1", "UPDATE photo_date SET id = id + (1 << 40)",
      "UPDATE photo_date SET start = start + 1", "UPDATE photo_date SET start = -1",
      "UPDATE photo_date SET start = 9223372036854775807", "UPDATE photo_date SET is_wide = 1",
      "DELETE FROM photo_date",
    ]))
  func damage(_ sql: String) throws {
    let fixture = try CatalogueFixture()
    let photos = fixture.photos
    let all = (0..<1500).map { CatalogueFixture.photo($0) }
    try photos.importShard(shard, CatalogueFixture.file(Array(all[..<1000])))
    try photos.upsert(Array(all[990..<1010]))
    try photos.importShard(shard, CatalogueFixture.file(Array(all[..<1000])))
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

  @Test("a damaged block's error names shard and block")
  func named() throws {
    let fixture = try CatalogueFixture()
    let all = (0..<1000).map { CatalogueFixture.photo($0) }
    try fixture.photos.importShard(shard, CatalogueFixture.file(all))
    try fixture.execute("UPDATE photo_block SET lines = x'30'")
    #expect {
      for photo in all { _ = try fixture.photos.photo(photo.md5) }
    } throws: { error in
      guard let error = error as? SatchelError else { return false }
      return error.code == .damaged && error.message.contains("shard 5") && error.message.contains("block")
    }
    #expect { try fixture.photos.exportShard(shard) } throws: { ($0 as? SatchelError)?.code == .damaged }
  }
}
