import SatchelCore
import SatchelSync
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

/// Compares random operations with a model.
@Suite struct CatalogueModelTests {
  @Test("After any operations a catalogue equals its model", arguments: Portion.of(1...12))
  func agreesWithTheModel(seed: Int) throws {
    var run = try Run(seed: UInt64(seed))
    for step in 0..<400 {
      try run.act()
      if step % 20 == 0 { try run.compare() }
    }
    try run.compare()
  }

  /// A catalogue and its model, side by side.
  private struct Run {
    let fixture: CatalogueFixture
    var model = CatalogueModel()
    var random: SeededRandom
    var exports: [Shard.Index: ShardExport] = [:]
    /// Few photos in few shards, so that operations interact.
    let shards = [0, 7, 15].map { Shard.Index.all[$0] }

    init(seed: UInt64) throws {
      fixture = try CatalogueFixture()
      random = SeededRandom(seed: seed)
    }

    var photos: PhotoCatalogue { fixture.photos }

    mutating func photo() -> Photo {
      let shard = random.pick(shards)
      var photo = CatalogueFixture.photo(random.below(40), shard: shard)
      photo.filename = random.pick(["a.jpg", "b,c.jpg", "two\nlines \"x\".png", "Été.heic", ""])
      photo.photodate = Int64(random.below(5)) - 2
      return photo
    }

    mutating func file(_ shard: Shard.Index) -> [Photo] {
      // The local content with a few changes, or other content.
      var file = random.once(in: 3) ? [:] : model.of(shard)
      for _ in 0..<random.below(6) {
        let photo = photo()
        if photo.md5.shard == shard { file[photo.md5] = random.once(in: 3) ? nil : photo }
      }
      return file.values.sorted { $0.md5 < $1.md5 }
    }

    mutating func act() throws {
      let shard = random.pick(shards)
      switch random.below(20) {
      case 0..<6:
        let batch = (0...random.below(6)).map { _ in photo() }
        try photos.upsert(batch)
        for photo in batch { model.photos[photo.md5] = photo }
      case 6..<10:
        let batch = (0...random.below(4)).map { _ in photo().md5 }
        let count = Set(batch).filter { model.photos[$0] != nil }.count
        #expect(try photos.delete(batch) == count)
        for md5 in batch { model.photos[md5] = nil }
      case 10, 11: try importFile(shard)
      case 12: try apply(shard)
      case 13, 14:
        let export = try photos.export(shard)
        try photos.recordPendingUpload(shard, export)
        exports[shard] = export
        model.upload(shard)
      case 15, 16: try finish(shard)
      case 17: try fixture.reopen()
      case 18: try setSynced(shard)
      default:
        if random.once(in: 10) {
          try photos.detach()
          // Detaching a shard removes its pending upload.
          for shard in Shard.Index.all { exports[shard] = nil }
          model.uploads = [:]
          model.synced = [:]
          model.met = []
        }
      }
    }

    mutating func importFile(_ shard: Shard.Index) throws {
      let file = file(shard)
      let onConflict: ConflictPolicy = random.once(in: 2) ? .merge : .remoteWins
      // Changes of rows, without those of imported files.
      let changes = try photos.singleChanges(shard)
      let report = try photos.importShard(shard, CatalogueFixture.file(file), onConflict: onConflict)
      #expect(report.photos == Int64(file.count) && report.rejected.isEmpty)
      let before = model.photos
      model.replace(shard, with: file)
      var lost: [CatalogueModel.Conflict] = []
      for md5 in changes where before[md5] != model.photos[md5] {
        if onConflict == .merge {
          model.photos[md5] = before[md5]
        } else {
          lost.append(.init(md5: md5, local: before[md5], remote: model.photos[md5]))
        }
      }
      #expect(report.conflicts == lost.count)
      model.conflicts += lost
    }

    mutating func apply(_ shard: Shard.Index) throws {
      let file = file(shard)
      let onConflict: ConflictPolicy = random.once(in: 2) ? .merge : .remoteWins
      let bytes = CatalogueFixture.file(file)
      // An upload of the same bytes would count as this catalogue's own.
      if exports[shard]?.checksum == Shard.checksum(bytes) { return }
      let conflicts = model.conflicts.count
      let pulled = try photos.download(shard, bytes, onConflict: onConflict)
      model.apply(shard, file, onConflict)
      exports[shard] = nil
      #expect(pulled.conflicts == model.conflicts.count - conflicts)
      #expect(pulled.hasChanges == !model.changed(shard).isEmpty)
    }

    mutating func finish(_ shard: Shard.Index) throws {
      guard let export = exports.removeValue(forKey: shard) else { return }
      if random.once(in: 2) {
        try photos.finishUpload(shard, export: export, etag: nil, ancestors: nil)
      } else {
        // The response was lost: the next sync finds its own upload.
        let expected = try photos.syncState().shards[shard.number].syncedChecksum
        let pulled = try photos.applyRemote(
          shard, bytes: export.bytes, checksum: export.checksum, etag: nil, expected: expected,
          confirmedUpTo: export.sequence, onConflict: .remoteWins, ancestors: nil, logsLostRows: false)
        #expect(pulled.conflicts == 0)
      }
      model.finishUpload(shard)
    }

    mutating func setSynced(_ shard: Shard.Index) throws {
      try photos.confirmIdentical(
        shard, checksum: Shard.checksum(model.file(shard)), etag: nil, ancestors: nil)
      model.setSynced(shard, on: model.of(shard))
      model.uploads[shard] = nil
      exports[shard] = nil
    }

    func compare() throws {
      #expect(try photos.count() == Int64(model.photos.count))
      #expect(try photos.all() == model.photos.values.sorted { $0.md5 < $1.md5 })
      for shard in shards {
        #expect(try photos.exportShard(shard) == model.file(shard))
        #expect(try photos.export(shard).photos == Int64(model.of(shard).count))
      }
      for md5 in Set(model.photos.keys).union(model.synced.keys) {
        let found = try photos.photo(md5)
        #expect(found?.photo == model.photos[md5])
        if let found { #expect(!found.isStarred && found.isLocalOnly == (model.synced[md5] == nil)) }
      }
      let changes = try photos.changes()
      #expect(changes.map(\.md5) == shards.flatMap { model.changed($0) })
      for change in changes {
        #expect(change.photo == model.photos[change.md5] && change.base == model.synced[change.md5])
      }
      // While an upload is pending, a change back to the synchronized row still counts as a change.
      let pending = try photos.status().shards.filter { $0.isPending && exports[$0.shard] == nil }.map(
        \.shard)
      #expect(pending == model.modifiedShards.filter { exports[$0] == nil })
      // An imported file is not a local change, though it is uploaded.
      let modified = try photos.modifiedShards()
      #expect(Set(modified.filter { exports[$0] == nil }).isSubset(of: pending))
      #expect(modified == (try photos.status().shards.filter { $0.changes > 0 }.map(\.shard)))
      let conflicts = try photos.conflicts(limit: 100_000)
      #expect(
        conflicts.compactMap { each in
          each.md5.map { .init(md5: $0, local: each.localPhoto, remote: each.remotePhoto) }
        } == model.conflicts)
      for state in try photos.syncState().shards {
        #expect(state.syncedPhotos == Int64(model.synced.keys.filter { $0.shard == state.index }.count))
      }
      #expect(try PhotoCatalogue.check(fixture.database) == [])
    }
  }
}

extension PhotoCatalogue {
  /// The photos that were changed singly.
  func singleChanges(_ shard: Shard.Index) throws -> [MD5] {
    try database.read { connection in
      var found: [MD5] = []
      guard let id = try CatalogueTable(connection: connection).id(directory) else { return [] }
      let reader = try BaseReader(connection, catalogue: id, shard)
      while let md5 = reader.md5 {
        if reader.row?.isImported == false { found.append(md5) }
        try reader.advance()
      }
      return found
    }
  }
}
