import Testing

@testable import SatchelPhotos
@testable import SatchelSync

/// Every case of one shard.
struct SyncPlanTests {
  struct Case: Sendable, CustomTestStringConvertible {
    /// Nil: never.
    var synced: String?
    /// Nil: there is no manifest.
    var announced: String?
    var isPresent = false
    /// The step without, and with local changes.
    var expected: [SyncPlan.Step]

    var testDescription: String {
      "synced \(synced?.prefix(2) ?? "never"), announced \(announced?.prefix(2) ?? "nothing")"
        + (isPresent ? ", an object is there" : "")
    }
  }

  static let a = String(repeating: "a", count: 64)
  static let b = String(repeating: "b", count: 64)
  static let empty = Shard.emptyChecksum

  static let cases = [
    Case(synced: nil, announced: nil, expected: [.nothing, .upload]),
    Case(synced: nil, announced: nil, isPresent: true, expected: [.examine, .examine]),
    Case(synced: nil, announced: empty, expected: [.nothing, .upload]),
    Case(synced: nil, announced: a, expected: [.download, .both]),
    Case(synced: empty, announced: nil, expected: [.nothing, .upload]),
    Case(synced: empty, announced: nil, isPresent: true, expected: [.examine, .examine]),
    Case(synced: empty, announced: empty, expected: [.nothing, .upload]),
    Case(synced: empty, announced: a, expected: [.download, .both]),
    // A missing manifest deletes nothing.
    Case(synced: a, announced: nil, expected: [.upload, .upload]),
    Case(synced: a, announced: nil, isPresent: true, expected: [.examine, .examine]),
    Case(synced: a, announced: empty, expected: [.download, .both]),
    Case(synced: a, announced: a, expected: [.nothing, .upload]),
    Case(synced: a, announced: b, expected: [.download, .both]),
  ]

  private func plan(_ one: Case, hasChanges: Bool, pendingUpload: String?) throws -> SyncPlan {
    let shard = try #require(Shard.Index(5))
    var shards = Shard.Index.all.map {
      ShardState(index: $0, photos: 0, syncedPhotos: 0, hasChanges: false)
    }
    shards[5].syncedChecksum = one.synced
    shards[5].hasChanges = hasChanges
    shards[5].pendingUpload = pendingUpload.map { PendingShard(checksum: $0, sequence: 1) }
    var manifest = one.announced == nil ? nil : Manifest(directoryUUID: "m")
    if let announced = one.announced { manifest?.setChecksum(announced, of: shard) }
    return SyncPlan(
      local: SyncState(uuid: "u", shards: shards), manifest: manifest, present: one.isPresent ? [shard] : [])
  }

  @Test("a shard is transferred in the right direction", arguments: cases)
  func shardTransferredRight(_ one: Case) throws {
    let shard = try #require(Shard.Index(5))
    for (hasChanges, expected) in zip([false, true], one.expected) {
      let plan = try plan(one, hasChanges: hasChanges, pendingUpload: nil)
      #expect(plan.step(of: shard) == expected, "has changes: \(hasChanges)")
      #expect(plan.shards == (expected == .nothing ? [] : [shard]))
      #expect(plan.isEmpty == (expected == .nothing))
    }
  }

  @Test("a pending upload is examined before anything else", arguments: cases)
  func pendingUploadExamined(_ one: Case) throws {
    let shard = try #require(Shard.Index(5))
    for pendingUpload in [Self.a, Self.b, String(repeating: "c", count: 64)] {
      for hasChanges in [false, true] {
        let plan = try plan(one, hasChanges: hasChanges, pendingUpload: pendingUpload)
        #expect(plan.examine == [shard] && plan.shards == [shard])
      }
    }
  }

  @Test("shards are planned independently") func shardsPlannedIndependently() throws {
    var manifest = Manifest(directoryUUID: "m")
    var shards: [ShardState] = []
    for index in Shard.Index.all {
      let (isSame, hasChanges) = (index.number % 2 == 0, index.number % 4 > 1)
      manifest.setChecksum(isSame ? Self.a : Self.b, of: index)
      shards.append(
        ShardState(index: index, syncedChecksum: Self.a, photos: 0, syncedPhotos: 0, hasChanges: hasChanges))
    }
    let plan = SyncPlan(local: SyncState(uuid: "u", shards: shards), manifest: manifest)
    #expect(plan.download.map(\.number) == [1, 5, 9, 13])
    #expect(plan.upload.map(\.number) == [2, 6, 10, 14])
    #expect(plan.conflicts.map(\.number) == [3, 7, 11, 15])
    #expect(plan.examine.isEmpty)
  }

  @Test(
    "policies have names",
    arguments: [
      ("remote_wins", ConflictPolicy.remoteWins), ("merge", .merge),
    ])
  func policiesNames(_ name: String, _ onConflict: ConflictPolicy) throws {
    #expect(try ConflictPolicy(name: name) == onConflict)
    #expect(throws: (any Error).self) { try ConflictPolicy(name: name.uppercased()) }
  }
}
