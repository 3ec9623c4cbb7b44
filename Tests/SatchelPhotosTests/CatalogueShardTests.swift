import SatchelCore
import SatchelRemote
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Shards of a catalogue") struct CatalogueShardTests {
  let fixture: CatalogueFixture
  init() throws { fixture = try CatalogueFixture() }
  var photos: PhotoCatalogue { fixture.photos }
  let shard = CatalogueFixture.shard

  private func numbers(_ range: Range<Int>, name: String = "a.jpg") -> [Photo] {
    range.map { CatalogueFixture.photo($0, name: name) }
  }

  @Test("a shard of many blocks is exported byte for byte, and every photo is found")
  func manyBlocks() throws {
    let all = numbers(0..<5000)
    let bytes = CatalogueFixture.file(all)
    #expect(try photos.importShard(shard, bytes).photos == 5000)
    #expect(try photos.exportShard(shard) == bytes)
    for photo in all { #expect(try photos.photo(photo.md5)?.photo == photo) }
    #expect(try photos.photo(CatalogueFixture.photo(5000).md5) == nil)
  }

  @Test("importing the same file again writes nothing")
  func sameAgain() throws {
    let bytes = CatalogueFixture.file(numbers(0..<500))
    try photos.importShard(shard, bytes)
    let before = try fixture.database.read { try $0.number("SELECT max(revision) FROM change") }
    #expect(try photos.importShard(shard, bytes).photos == 500)
    #expect(try fixture.database.read { try $0.number("SELECT max(revision) FROM change") } == before)
  }

  @Test("a shard grows and shrinks by uploads")
  func uploads() throws {
    try photos.importShard(shard, CatalogueFixture.file(numbers(0..<1000)))
    try photos.uploadAll()
    try photos.upsert(numbers(1000..<20000))
    try photos.uploadAll()
    #expect(try photos.exportShard(shard) == CatalogueFixture.file(numbers(0..<20000)))
    #expect(try PhotoCatalogue.check(fixture.database) == [])
    try photos.delete(numbers(100..<20000).map(\.md5))
    try photos.uploadAll()
    #expect(try photos.exportShard(shard) == CatalogueFixture.file(numbers(0..<100)))
    #expect(try photos.count() == 100 && photos.modifiedShards() == [])
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }

  @Test("lines that are not rows are reported, keep their positions, and survive changes of rows")
  func keptLines() throws {
    let all = numbers(0..<50)
    let lines = ["not a row", "5zz,1,2", "\(CatalogueFixture.photo(3).md5),x.jpg,much,1,1,,,"]
    let bytes = CatalogueFixture.file(all, kept: lines)
    let report = try photos.importShard(shard, bytes)
    #expect(report.photos == 50)
    #expect(Set(report.rejected.map { String(decoding: $0.raw, as: UTF8.self) }) == Set(lines))
    #expect(try photos.exportShard(shard) == bytes)
    var changed = all
    changed[3].filename = "z.jpg"
    try photos.upsert([changed[3]])
    try photos.delete([all[7].md5])
    changed.remove(at: 7)
    #expect(try photos.exportShard(shard) == CatalogueFixture.file(changed, kept: lines))
    try photos.uploadAll()
    #expect(try photos.exportShard(shard) == CatalogueFixture.file(changed, kept: lines))
    #expect(try photos.status().keptLines == 3)
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }

  @Test("kept lines with unbalanced quotes stay stable when rows between them are added and deleted")
  func unmatchedQuotes() throws {
    let between = CatalogueFixture.photo(1)
    let digits = "\(between.md5)"
    // Both lines begin like the row, so that they are directly before and after it.
    let lines = ["\(digits.dropLast(1))0,\"open,1,1,1,,,", "\(digits.dropLast(1))g,close\",1,1,1,,,"]
    let bytes = CatalogueFixture.file([between], kept: lines)
    try photos.importShard(shard, bytes)
    for change in 0..<4 {
      if change % 2 == 0 { try photos.delete([between.md5]) } else { try photos.upsert([between]) }
      let export = try photos.exportShard(shard)
      let again = try fixture.catalogue("other \(change)")
      try again.importShard(shard, export)
      #expect(try again.exportShard(shard) == export)
    }
    try photos.uploadAll()
    #expect(try photos.export(shard).checksum == photos.syncState().shards[shard.number].syncedChecksum)
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }

  @Test("two catalogues of one store are independent; the same directory is the same catalogue")
  func twoCatalogues() throws {
    let other = try fixture.catalogue("other")
    try photos.upsert(numbers(0..<3))
    try other.upsert(numbers(2..<10, name: "other.jpg"))
    #expect(try photos.count() == 3)
    #expect(try other.count() == 8)
    #expect(try photos.photo(CatalogueFixture.photo(2).md5)?.photo.filename == "a.jpg")
    let same = try fixture.catalogue("./nowhere/../album//")
    #expect(same.directory == photos.directory)
    #expect(try same.count() == 3)
    #expect(try same.status().uuid == photos.status().uuid)
    #expect(try same.status().uuid != other.status().uuid)
  }

  @Test("a directory of shards is exported and imported; shards without a file stay")
  func directories() throws {
    var random = SeededRandom(seed: 3)
    let all = (0..<2000).map { CatalogueFixture.photo($0, shard: random.pick(Shard.Index.all)) }
    try photos.upsert(all)
    let path = fixture.folder + "/shards"
    let files = Shard.Index.all.map(\.fileName) + ["manifest.json"]
    #expect(try photos.exportDirectory(path) == ExportReport(photos: 2000, written: files))
    #expect(try photos.exportDirectory(path) == ExportReport(photos: 2000, unchanged: files))
    let other = try fixture.catalogue("other")
    let report = try other.importDirectory(path)
    #expect(report.photos == 2000 && report.missing == [] && report.changed == Shard.Index.all)
    #expect(try other.all(page: 300) == photos.all(page: 300))
    let again = try other.importDirectory(path)
    #expect(again.photos == 2000 && again.changed == [])
    unlink(path + "/0.csv")
    #expect(try other.importDirectory(path).missing == [Shard.Index.all[0]])
    #expect(try other.count() == 2000)
    #expect(throws: SatchelError.self) { try other.importDirectory(fixture.folder) }
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }

  @Test("the conflict log has exactly the local changes that the remote contradicts")
  func conflicts() throws {
    let synced = numbers(0..<6)
    try photos.download(shard, CatalogueFixture.file(synced))
    var mine = synced[0]
    mine.filename = "mine.jpg"
    var same = synced[1]
    same.filename = "same.jpg"
    let new = CatalogueFixture.photo(100, name: "new.jpg")
    try photos.upsert([mine, same, new])
    try photos.delete([synced[2].md5, synced[3].md5])
    // The remote changed 0 and 2 in other ways and 1 in the same way, and deleted 3, too.
    var theirs = synced[0]
    theirs.filename = "theirs.jpg"
    var edited = synced[2]
    edited.size += 1
    let pulled = try photos.download(
      shard, CatalogueFixture.file([theirs, same, edited, synced[4], synced[5]]))
    #expect(pulled.conflicts == 2 && pulled.hasChanges)
    // The change of a photo that the remote did not touch stays.
    #expect(try photos.changes().map(\.md5) == [new.md5])
    let conflicts = try photos.conflicts()
    let logged = Dictionary(
      uniqueKeysWithValues: conflicts.compactMap { each in each.md5.map { ($0, each) } })
    #expect(Set(logged.keys) == [mine.md5, edited.md5])
    #expect(logged[mine.md5]?.localPhoto == mine && logged[mine.md5]?.remotePhoto == theirs)
    #expect(logged[mine.md5]?.basePhoto == synced[0] && logged[mine.md5]?.cause == .sync)
    #expect(logged[edited.md5]?.local == nil && logged[edited.md5]?.remotePhoto == edited)
    // Repeats the changes, one by one.
    for conflict in conflicts { try photos.resolve(conflict.id, .keepLocal) }
    #expect(try photos.conflictCount() == 0)
    #expect(try photos.photo(mine.md5)?.photo == mine)
    #expect(try photos.photo(edited.md5) == nil)
    #expect(try Set(photos.changes().map(\.md5)) == Set(logged.keys).union([new.md5]))
    #expect { try photos.resolve(1, .keepRemote) } throws: { ($0 as? SatchelError)?.code == .notFound }
  }

  @Test("changes during an upload stay pending, also those that restore the row before")
  func changesMeanwhile() throws {
    let photo = CatalogueFixture.photo(1)
    try photos.download(shard, CatalogueFixture.file([photo]))
    var changed = photo
    changed.filename = "changed.jpg"
    try photos.upsert([changed])
    let export = try photos.export(shard)
    try photos.recordPendingUpload(shard, export)
    try photos.upsert([photo])
    try photos.finishUpload(shard, export: export, etag: nil, ancestors: nil)
    #expect(try photos.changes() == [PhotoChange(md5: photo.md5, photo: photo, base: changed)])
    #expect(try photos.modifiedShards() == [shard])
    #expect { try photos.recordPendingUpload(shard, export) } throws: { ($0 as? SatchelError)?.code == .busy }
  }

  @Test("observers are notified of changed photos and shards")
  func observers() throws {
    let heard = Locked<[Change]>([])
    let subscription = try fixture.database.observe { change in heard.withLock { $0.append(change) } }
    defer { subscription.cancel() }
    let photo = CatalogueFixture.photo(1)
    try photos.upsert([photo])
    try photos.upsert([photo])
    try photos.importShard(shard, [])
    try photos.upsert((0..<1001).map { CatalogueFixture.photo($0) })
    let changes = heard.withLock { $0 }
    #expect(changes.map(\.subject) == [.photos, .photos, .photos])
    #expect(changes.map(\.keys) == [["\(photo.md5)"], ["shard:5"], ["shard:5"]])
    #expect(changes.allSatisfy { $0.place == photos.directory })
  }

  @Test("a read-only store reports a missing catalogue, and changes none")
  func readOnly() throws {
    let path = fixture.folder + "/empty.satchel"
    let migrations = [Migration(version: 1, sql: ChangeLog.schema)]
    try Database.open(path: path, options: StoreOptions(), migrations: migrations).close()
    var options = StoreOptions()
    options.isReadOnly = true
    let database = try Database.open(path: path, options: options, migrations: migrations)
    #expect { try PhotoCatalogue(database: database, directory: "/nowhere") } throws: {
      ($0 as? SatchelError)?.code == .notFound
    }
    let writable = try Database.open(path: path, options: StoreOptions(), migrations: migrations)
    let made = try PhotoCatalogue(database: writable, directory: "/nowhere")
    try made.upsert([CatalogueFixture.photo(1)])
    let photos = try PhotoCatalogue(database: database, directory: "/nowhere")
    #expect(try photos.count() == 1)
    #expect { try photos.upsert([CatalogueFixture.photo(1)]) } throws: {
      ($0 as? SatchelError)?.code == .readOnly
    }
    try photos.close()
    #expect { try photos.count() } throws: { ($0 as? SatchelError)?.code == .closed }
    try database.close()
  }
}
