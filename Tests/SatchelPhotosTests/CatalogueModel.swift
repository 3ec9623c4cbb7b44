@testable import SatchelPhotos

/// What a catalogue should hold, as plain dictionaries: no blocks, no levels, no counters.
struct CatalogueModel {
  /// What is here.
  var photos: [MD5: Photo] = [:]
  /// What was last agreed with the master.
  var agreed: [MD5: Photo] = [:]
  /// Photos as they were when an upload was noted, by shard.
  var uploads: [Shard.Index: [MD5: Photo]] = [:]
  /// Photos whose change went to the conflict log: what was here, and what the other side has.
  var conflicts: [Conflict] = []

  struct Conflict: Equatable {
    var md5: MD5
    var local: Photo?
    var remote: Photo?
  }

  func of(_ shard: Shard.Index) -> [MD5: Photo] { photos.filter { $0.key.shard == shard } }

  /// Photos of a shard that are not as they were agreed.
  func changed(_ shard: Shard.Index) -> [MD5] {
    Set(photos.keys).union(agreed.keys).filter { $0.shard == shard && photos[$0] != agreed[$0] }.sorted()
  }

  /// The shards that differ from what was agreed.
  var modifiedShards: [Shard.Index] { Shard.Index.all.filter { !changed($0).isEmpty } }

  func file(_ shard: Shard.Index) -> [UInt8] { CatalogueFixture.file(Array(of(shard).values)) }

  mutating func replace(_ shard: Shard.Index, with file: [Photo]) {
    for md5 in of(shard).keys { photos[md5] = nil }
    for photo in file { photos[photo.md5] = photo }
  }

  mutating func agree(_ shard: Shard.Index, on file: [MD5: Photo]) {
    for md5 in agreed.keys where md5.shard == shard { agreed[md5] = nil }
    for (md5, photo) in file { agreed[md5] = photo }
  }

  /// The master's file is taken.
  mutating func take(_ shard: Shard.Index, _ file: [Photo], _ policy: SyncPolicy) {
    let changes = changed(shard).map { ($0, photos[$0]) }
    replace(shard, with: file)
    agree(shard, on: of(shard))
    uploads[shard] = nil
    for (md5, local) in changes where photos[md5] != local {
      switch policy {
      case .remoteWins: conflicts.append(Conflict(md5: md5, local: local, remote: photos[md5]))
      case .mergeRows: photos[md5] = local
      }
    }
  }

  mutating func upload(_ shard: Shard.Index) { uploads[shard] = of(shard) }

  mutating func finishUpload(_ shard: Shard.Index) {
    if let file = uploads.removeValue(forKey: shard) { agree(shard, on: file) }
  }
}
