import SatchelPhotos
import SatchelSync

/// The expected content of a catalogue as plain dictionaries, without base rows and counters.
struct CatalogueModel {
  /// The local photos.
  var photos: [MD5: Photo] = [:]
  /// The photos at the last sync.
  var synced: [MD5: Photo] = [:]
  /// The photos of pending uploads, by shard.
  var uploads: [Shard.Index: [MD5: Photo]] = [:]
  /// The shards that were synchronized.
  var met: Set<Shard.Index> = []
  /// The conflict log: the local photo, and the remote's.
  var conflicts: [Conflict] = []

  struct Conflict: Equatable {
    var md5: MD5
    var local: Photo?
    var remote: Photo?
  }

  func of(_ shard: Shard.Index) -> [MD5: Photo] { photos.filter { $0.key.shard == shard } }

  /// The photos of a shard that differ from those at the last sync.
  func changed(_ shard: Shard.Index) -> [MD5] {
    Set(photos.keys).union(synced.keys).filter { $0.shard == shard && photos[$0] != synced[$0] }.sorted()
  }

  /// The shards that differ from those at the last sync.
  var modifiedShards: [Shard.Index] { Shard.Index.all.filter { !changed($0).isEmpty } }

  func file(_ shard: Shard.Index) -> [UInt8] { CatalogueFixture.file(Array(of(shard).values)) }

  mutating func replace(_ shard: Shard.Index, with file: [Photo]) {
    for md5 in of(shard).keys { photos[md5] = nil }
    for photo in file { photos[photo.md5] = photo }
  }

  mutating func setSynced(_ shard: Shard.Index, on file: [MD5: Photo]) {
    met.insert(shard)
    for md5 in synced.keys where md5.shard == shard { synced[md5] = nil }
    for (md5, photo) in file { synced[md5] = photo }
  }

  /// Applies the remote's file, photo by photo.
  mutating func apply(_ shard: Shard.Index, _ file: [Photo], _ onConflict: ConflictPolicy) {
    let isFirst = !met.contains(shard)
    let changes = changed(shard).map { ($0, local: photos[$0], base: synced[$0]) }
    replace(shard, with: file)
    setSynced(shard, on: of(shard))
    uploads[shard] = nil
    for (md5, local, base) in changes {
      let remote = photos[md5]
      if local == remote { continue }
      if remote == base || !isFirst && onConflict == .merge {
        photos[md5] = local
      } else {
        conflicts.append(Conflict(md5: md5, local: local, remote: remote))
      }
    }
  }

  mutating func upload(_ shard: Shard.Index) { uploads[shard] = of(shard) }

  mutating func finishUpload(_ shard: Shard.Index) {
    if let file = uploads.removeValue(forKey: shard) { setSynced(shard, on: file) }
  }
}
