import SatchelRemote
import SatchelStorage

/// The master copy of one user: requests with their keys, tried again as often as it makes sense.
struct SyncRemote: Sendable {
  /// Of an object's metadata: SHA-256 of its body, by whoever wrote it.
  static let checksumName = ReliableWriter.checksumName

  let store: any ObjectStore
  let retry: Retry
  let cancellation: Cancellation
  let manifestKey: ObjectKey
  /// All of the user's keys begin with it.
  let prefix: ObjectPrefix
  /// All shards' keys begin with it.
  let shardPrefix: ObjectPrefix
  private let shardKeys: [ObjectKey]

  init(store: any ObjectStore, user: UserID, retry: Retry, cancellation: Cancellation) throws {
    self.store = store
    self.retry = retry
    self.cancellation = cancellation
    manifestKey = try ObjectKey(user.manifestKey)
    prefix = try ObjectPrefix("catalogs/\(user)/")
    shardPrefix = try ObjectPrefix("catalogs/\(user)/shards/")
    shardKeys = try Shard.Index.all.map { shard throws(ObjectStoreError) in
      try ObjectKey(user.shardKey(shard))
    }
  }

  func key(_ shard: Shard.Index) throws -> ObjectKey {
    guard shardKeys.indices.contains(shard.number) else {
      throw SatchelError(.internal, "shard \(shard): has no key")
    }
    return shardKeys[shard.number]
  }

  /// Nil when there is no such object.
  func get(_ key: ObjectKey, ifNoneMatch known: ETag? = nil) throws -> ObjectReading? {
    try requests.ifPresent { () throws(ObjectStoreError) in
      try store.get(key, ifNoneMatch: known, cancellation: cancellation)
    }
  }

  /// Nil when there is no such object.
  func head(_ key: ObjectKey) throws -> ObjectHead? {
    try requests.ifPresent { () throws(ObjectStoreError) in try store.head(key, cancellation: cancellation) }
  }

  /// The shards of which there is an object.
  func present() throws -> Set<Shard.Index> {
    let entries = try requests.attempt { () throws(ObjectStoreError) in
      try store.list(shardPrefix, cancellation: cancellation)
    }
    let keys = Set(entries.map(\.key))
    return Set(Shard.Index.all.filter { (try? key($0)).map(keys.contains) ?? false })
  }

  /// The user's objects; nil where a listing does not show their tags, or is not allowed.
  func listing() throws -> RemoteListing? {
    guard store.listsTags else { return nil }
    let entries: [ObjectPage.Entry]
    do throws(ObjectStoreError) {
      entries = try requests.attempt { () throws(ObjectStoreError) in
        try store.list(prefix, cancellation: cancellation)
      }
    } catch {
      guard error.reason == .denied else { throw error }
      return nil
    }
    var listing = RemoteListing()
    for entry in entries {
      let shard = shardKeys.firstIndex(of: entry.key).flatMap { Shard.Index($0) }
      guard shard != nil || entry.key == manifestKey else { continue }
      guard let etag = entry.etag else { return nil }
      if let shard { listing.shards[shard] = entry } else { listing.manifest = etag }
    }
    return listing
  }

  /// Waits before something is tried again; see `PatientRequests.pause`.
  func pause(afterFailures failures: Int, since start: Int64, _ error: ObjectStoreError) throws {
    try requests.pause(afterFailures: failures, since: start, error)
  }

  private var requests: PatientRequests { PatientRequests(retry: retry, cancellation: cancellation) }
}
