import SatchelRemote

/// What is to be done with the manifest for our shards. A value: it decides and does nothing.
///
/// Two rules make concurrent writers end with a manifest that tells what is there:
/// - a shard is announced only when it was seen *after* the manifest was read that is then replaced, and
/// - whoever has put a shard writes the manifest afterwards, even when that says the same already. Otherwise somebody
///   who had read it before could announce over it what is no longer there, when a content returns to what it was.
struct ManifestUpdate: Sendable {
  /// What is to be announced.
  private(set) var entries: [ManifestEntry]
  /// Uploads that others have built on since; it is theirs to announce that.
  private(set) var superseded: [ManifestEntry] = []
  /// Uploads that something else has replaced, which was not built on them. They have not arrived.
  private(set) var lost: [ManifestEntry] = []

  init(_ entries: [ManifestEntry]) { self.entries = entries.sorted { $0.shard < $1.shard } }

  /// Leaves those to others whose objects are no longer the ones that were seen.
  ///
  /// - Parameters:
  ///   - heads: of the shards of all entries, read after the manifest that will be replaced
  ///   - trusting: all that replaced an upload counts as built on it
  mutating func keep(heldBy heads: [Shard.Index: ObjectHead], trusting: Bool = false) {
    let gone = entries.filter { !$0.isHeld(by: heads[$0.shard]) }
    entries.removeAll { !$0.isHeld(by: heads[$0.shard]) }
    superseded += gone.filter { trusting || $0.isAncestor(of: heads[$0.shard]) }
    lost += gone.filter { !trusting && !$0.isAncestor(of: heads[$0.shard]) }
  }

  /// Whether a manifest has to be written.
  func isNeeded(for manifest: Manifest?) -> Bool {
    entries.contains { $0.export != nil || manifest?.checksum(of: $0.shard) != $0.checksum }
  }

  /// The manifest to write.
  ///
  /// - Parameters:
  ///   - manifest: the one that it replaces; nil when there is none
  ///   - uuid: names the master when there is none yet
  ///   - now: Unix milliseconds
  ///   - photos: how many photos the contents have of which that is known
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

  /// Later than the one before by a second at least, which is what is written of it: so no two manifests have the
  /// same bytes, and none the same tag.
  private static func time(after last: Int64?, now: Int64) -> Int64 {
    guard let last else { return now }
    let (later, overflow) = last.addingReportingOverflow(1000)
    return overflow ? now : max(now, later)
  }

  /// The sum where every shard is known; else what was said, and the difference; else what was said.
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
