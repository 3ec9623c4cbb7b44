import SatchelCore
import SatchelRemote

/// Decides how the manifest has to change for the shards of a sync. A value without side effects.
///
/// Two rules make concurrent writers end with a manifest that matches the objects:
/// - a shard is announced only when it was seen *after* the manifest was read that is then replaced, and
/// - a device that has uploaded a shard writes the manifest afterwards, even when the manifest already has
///   this content. Otherwise another device that had read it before could announce over it a version that no
///   longer exists, when the content of a shard returns to what it was.
struct ManifestUpdate: Sendable {
  /// The shards to announce.
  private(set) var entries: [ManifestEntry]
  /// Uploads that others have built on since; these announce the newer version.
  private(set) var superseded: [ManifestEntry] = []
  /// Uploads that were replaced by an object that was not built on them. They are not in the remote.
  private(set) var lost: [ManifestEntry] = []

  init(_ entries: [ManifestEntry]) { self.entries = entries.ordered { $0.shard < $1.shard } }

  /// Removes the entries whose objects have been replaced since they were seen.
  ///
  /// - Parameter heads: the heads of all entries' shards, read after the manifest that will be replaced
  mutating func keep(heldBy heads: [Shard.Index: ObjectHead]) {
    let gone = entries.filter { !$0.isHeld(by: heads[$0.shard]) }
    entries.removeAll { !$0.isHeld(by: heads[$0.shard]) }
    superseded += gone.filter { $0.isAncestor(of: heads[$0.shard]) }
    lost += gone.filter { !$0.isAncestor(of: heads[$0.shard]) }
  }

  /// Whether the manifest has to be written.
  func isNeeded(for manifest: Manifest?) -> Bool {
    entries.contains { $0.export != nil || manifest?.checksum(of: $0.shard) != $0.checksum }
  }

  /// Returns the manifest to write.
  ///
  /// - Parameters:
  ///   - manifest: the one that it replaces; nil when there is no manifest
  ///   - uuid: the identifier of the remote, when there is no manifest yet
  ///   - now: Unix milliseconds
  ///   - photos: the known numbers of photos, by checksum
  func manifest(
    replacing manifest: Manifest?, uuid: String, now: Int64, photos: [Shard.Index: [String: Int64]]
  ) -> Manifest {
    var next = manifest ?? Manifest(directoryUUID: uuid)
    if next.version.prefix(while: { $0 != "." }) != "6" { next.version = Manifest.currentVersion }
    for entry in entries { next.setChecksum(entry.checksum, of: entry.shard) }
    next.lastModified = ManifestUpdate.time(after: manifest?.lastModified, now: now)
    next.photoCount = photoCount(of: next, replacing: manifest, photos: photos)
    return next
  }

  /// Returns a time at least one second, the precision in the file, after the one before: so no two manifests
  /// have the same bytes or the same etag.
  private static func time(after last: Int64?, now: Int64) -> Int64 {
    guard let last else { return now }
    let (later, overflow) = last.addingReportingOverflow(1000)
    return overflow ? now : max(now, later)
  }

  /// Returns the sum when every shard's number is known; else the old count plus the difference, if that is
  /// known; else the old count.
  private func photoCount(
    of next: Manifest, replacing manifest: Manifest?, photos: [Shard.Index: [String: Int64]]
  ) -> Int64? {
    func count(_ manifest: Manifest?, _ shard: Shard.Index) -> Int64? {
      guard let checksum = manifest?.shardChecksums[shard] else { return 0 }
      return photos[shard]?[checksum]
    }
    let all = Shard.Index.all.compactMap { count(next, $0) }
    if all.count == Shard.Index.all.count { return all.reduce(0, +) }
    guard var sum = manifest?.photoCount else { return nil }
    for entry in entries {
      guard let before = count(manifest, entry.shard) else { return manifest?.photoCount }
      let (next, overflow) = sum.addingReportingOverflow(entry.photos - before)
      guard !overflow, next >= 0 else { return manifest?.photoCount }
      sum = next
    }
    return sum
  }
}

/// A shard to announce in the manifest, because it was seen in the remote after the manifest was read.
struct ManifestEntry: Sendable {
  enum Origin: Sendable {
    /// This sync uploaded it.
    case upload(ShardExport)
    /// Another device uploaded it, and did not announce it.
    case found
  }

  var shard: Shard.Index
  var checksum: String
  var photos: Int64
  /// The etag of its object.
  var etag: ETag?
  /// The ancestors of its object.
  var ancestors: String?
  var origin: Origin
  /// Whether it replaced a damaged object.
  var isRepair = false

  var export: ShardExport? {
    if case .upload(let export) = origin { export } else { nil }
  }

  /// Whether an object was built on this one.
  func isAncestor(of head: ObjectHead?) -> Bool {
    SyncAncestors(head?.metadata[SyncAncestors.name]).contains(SyncAncestors(ancestors))
  }

  /// Whether an object is still this one.
  func isHeld(by head: ObjectHead?) -> Bool {
    guard let head else { return false }
    return head.etag == etag || head.metadata[SyncRemote.checksumName] == checksum
  }
}

/// The manifest that was last read or written.
struct ManifestView: Sendable {
  /// Nil when the remote has none.
  var manifest: Manifest?
  var etag: ETag?
  /// Incremented with every change.
  var generation = 0

  /// Returns the checksum of a shard in the manifest; nil when there is no manifest.
  func checksum(of shard: Shard.Index) -> String? { manifest?.checksum(of: shard) }
}
