import SatchelJSON
import Testing

@testable import SatchelPhotos
@testable import SatchelRemote

/// Updates of the manifest.
struct SyncManifestTests {
  static let contents = ["a", "b", "c", "d"].map { String(repeating: $0, count: 64) }

  private func entry(_ shard: Int, _ checksum: String, photos: Int64 = 1, isUpload: Bool = true) throws
    -> ManifestEntry
  {
    ManifestEntry(
      shard: try #require(Shard.Index(shard)), checksum: checksum, photos: photos,
      etag: ETag("tag-\(checksum.prefix(1))"), ancestors: Self.version,
      origin: isUpload
        ? .upload(ShardExport(bytes: [], checksum: checksum, sequence: 1, photos: photos)) : .found)
  }

  private static let version = "0123456789abcdef"

  private func head(_ tag: String, _ checksum: String? = nil, ancestors: String? = nil) throws -> ObjectHead {
    var metadata = checksum.map { ["sha256": $0] } ?? [:]
    metadata["ancestors"] = ancestors
    return ObjectHead(size: 0, etag: try #require(ETag(tag)), metadata: try ObjectMetadata(metadata))
  }

  @Test("uploads are always announced, found shards only when the manifest differs")
  func uploadsAlwaysAnnounced() throws {
    var manifest = Manifest(directoryUUID: "m")
    manifest.shardChecksums[try #require(Shard.Index(1))] = Self.contents[0]
    for (isUpload, checksum, isNeeded) in [
      (true, Self.contents[0], true), (true, Self.contents[1], true), (false, Self.contents[0], false),
      (false, Self.contents[1], true),
    ] {
      let update = ManifestUpdate([try entry(1, checksum, isUpload: isUpload)])
      #expect(update.isNeeded(for: manifest) == isNeeded)
    }
    #expect(ManifestUpdate([try entry(1, Self.contents[0], isUpload: false)]).isNeeded(for: nil))
    #expect(!ManifestUpdate([]).isNeeded(for: manifest))
  }

  @Test("a shard that other devices have built on is left to them") func shardOtherDevices() throws {
    var update = ManifestUpdate([
      try entry(1, Self.contents[0]), try entry(2, Self.contents[1]), try entry(3, Self.contents[2]),
      try entry(4, Self.contents[3]), try entry(5, Self.contents[1]),
    ])
    let shards = Shard.Index.all
    update.keep(heldBy: [
      // The same etag; another etag of the same bytes; another object; no object.
      shards[1]: try head("tag-a"), shards[2]: try head("other", Self.contents[1]),
      shards[3]: try head("other", Self.contents[0], ancestors: "1111222233334444.\(Self.version)"),
      shards[5]: try head("other", Self.contents[0], ancestors: "1111222233334444"),
    ])
    #expect(update.entries.map(\.shard.number) == [1, 2])
    #expect(update.superseded.map(\.shard.number) == [3])
    #expect(update.lost.map(\.shard.number) == [4, 5], "neither has arrived")
  }

  @Test("the manifest keeps unknown keys and other shards") func manifestKeepsUnknown() throws {
    let text = """
      {"app": "x", "version": "6.0", "directory-uuid": "m", "shard-checksums": {"2": "\(Self.contents[0])"},
      "photo-count": 5, "last-modified": "2026-01-01T00:00:00Z"}
      """
    let old = try Manifest(parsing: Array(text.utf8))
    let next = ManifestUpdate([try entry(3, Self.contents[1])])
      .manifest(replacing: old, uuid: "other", now: 0, photos: [:])
    let written = try Manifest(parsing: next.serialized())
    #expect(written.directoryUUID == "m")
    #expect(written.document["app"] == "x")
    #expect(written.shardChecksums.count == 2)
    #expect(written.shardChecksums[try #require(Shard.Index(3))] == Self.contents[1])
  }

  @Test("no manifest has the same bytes as the one that it replaces") func noManifestSame() throws {
    let update = ManifestUpdate([try entry(3, Self.contents[1])])
    var manifest: Manifest?
    var seen: Set<[UInt8]> = []
    // The clock stops, and is set back.
    for now: Int64 in [5000, 5000, 5001, 0, 1_000_000, 999_000] {
      let next = update.manifest(replacing: manifest, uuid: "m", now: now, photos: [:])
      #expect(seen.insert(try next.serialized()).inserted)
      manifest = try Manifest(parsing: next.serialized())
    }
  }

  @Test("an empty shard is not in the manifest") func emptyShardNot() throws {
    var old = Manifest(directoryUUID: "m")
    let shard = try #require(Shard.Index(3))
    old.shardChecksums[shard] = Self.contents[0]
    let next = ManifestUpdate([try entry(3, Shard.emptyChecksum, photos: 0)])
      .manifest(replacing: old, uuid: "m", now: 0, photos: [:])
    #expect(next.shardChecksums.isEmpty)
    #expect(next.photoCount == 0)
  }

  @Test("the count of photos is the sum, else by the difference, else unchanged") func countPhotosSum() throws
  {
    let (one, two) = (try #require(Shard.Index(1)), try #require(Shard.Index(2)))
    var old = Manifest(directoryUUID: "m")
    old.shardChecksums = [one: Self.contents[0], two: Self.contents[1]]
    old.photoCount = 100
    let update = ManifestUpdate([try entry(1, Self.contents[2], photos: 7)])
    let known: [Shard.Index: [String: Int64]] = [one: [Self.contents[2]: 7]]
    func count(_ more: [Shard.Index: [String: Int64]]) -> Int64? {
      let photos = known.merging(more) { $0.merging($1) { $1 } }
      return update.manifest(replacing: old, uuid: "m", now: 0, photos: photos).photoCount
    }
    #expect(count([two: [Self.contents[1]: 30]]) == 37)
    #expect(count([one: [Self.contents[0]: 4]]) == 103)
    #expect(count([:]) == 100)
    // An impossible count is not written.
    #expect(count([one: [Self.contents[0]: 1000]]) == 100)
  }

  @Test("an older version is written as the current one") func olderVersionWritten() throws {
    var old = Manifest(directoryUUID: "m")
    for (before, after) in [("5.0", "6.0"), ("6.0", "6.0"), ("6.1", "6.1"), ("6", "6")] {
      old.version = before
      let next = ManifestUpdate([]).manifest(replacing: old, uuid: "m", now: 0, photos: [:])
      #expect(next.version == after)
    }
  }
}
