import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage

/// The remote of one user: requests with its keys, retried where that makes sense.
struct SyncRemote: Sendable {
  /// The metadata with the SHA-256 of an object's body, as computed by its writer.
  static let checksumName = ReliableWriter.checksumName

  let store: any ObjectStore
  let retry: Retry
  let cancellation: Cancellation
  let manifestKey: ObjectKey
  /// The prefix of all keys of the user.
  let prefix: ObjectPrefix
  /// The prefix of all shards' keys.
  let shardPrefix: ObjectPrefix
  private let shardKeys: [ObjectKey]
  /// All objects of the user.
  let user: UserObjects

  init(_ session: SyncSession) throws {
    let user = session.user
    self.user = UserObjects(session)
    store = session.store
    retry = session.retry
    cancellation = session.cancellation
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

  /// Reads an object; nil when it does not exist.
  ///
  /// - Throws: `SatchelError` (`damaged`) for one that is larger than the limit
  func get(_ key: ObjectKey, ifNoneMatch known: ETag? = nil, limit: Int64) throws -> ObjectReading? {
    do throws(ObjectStoreError) {
      return try requests.ifPresent { () throws(ObjectStoreError) in
        try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
      }
    } catch {
      guard error.reason == .tooLarge else { throw error }
      throw SatchelError(.damaged, error.message, underlying: error)
    }
  }

  /// Reads an object's metadata; nil when the object does not exist.
  func head(_ key: ObjectKey) throws -> ObjectHead? {
    try requests.ifPresent { () throws(ObjectStoreError) in try store.head(key, cancellation: cancellation) }
  }

  /// Returns the shards that have an object.
  func present() throws -> Set<Shard.Index> {
    let entries = try requests.attempt { () throws(ObjectStoreError) in
      try store.list(shardPrefix, cancellation: cancellation)
    }
    let keys = Set(entries.map(\.key))
    return Set(Shard.Index.all.filter { (try? key($0)).map(keys.contains) ?? false })
  }

  /// Returns the keys of objects beside the manifest and the shards that are neither: those of other programs, and
  /// conflict copies of a folder that is synchronized. None where listing is not allowed.
  func foreign() throws -> [String] {
    let known = Set(shardKeys + [manifestKey])
    do throws(ObjectStoreError) {
      return try requests.attempt { () throws(ObjectStoreError) in
        try store.list(prefix, cancellation: cancellation)
      }.map(\.key).filter { !known.contains($0) }.map(\.text).filter {
        !$0.hasPrefix(prefix.text + ConditionProbe.keyPrefix)
      }
    } catch {
      guard error.reason == .denied else { throw error }
      return []
    }
  }

  /// Lists the user's objects; nil when listings of this store have no etags, or are not allowed.
  func listing() throws -> RemoteListing? {
    guard store.listsETags else { return nil }
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

  /// Waits before a retry; see `RetryingRequests.pause`.
  func pause(afterFailures failures: Int, since start: Int64, _ error: ObjectStoreError) throws {
    try requests.pause(afterFailures: failures, since: start, error)
  }

  private var requests: RetryingRequests { RetryingRequests(retry: retry, cancellation: cancellation) }
}

/// A listing of a user's manifest and shards. One request thus finds objects that are not those synchronized
/// last: changed by a device that died before it wrote the manifest, damaged, or gone.
struct RemoteListing: Sendable {
  var manifest: ETag?
  var shards: [Shard.Index: ObjectPage.Entry] = [:]

  /// Returns the shards whose object is not the one synchronized last.
  func changed(since state: SyncState) -> Set<Shard.Index> {
    Set(state.shards.filter(hasChanged).map(\.index))
  }

  private func hasChanged(_ shard: ShardState) -> Bool {
    let isEmpty = shard.baseChecksum == Shard.emptyChecksum
    guard let entry = shards[shard.index] else { return !isEmpty }
    return entry.etag != shard.etag && !(isEmpty && entry.size == 0)
  }
}

extension UserID {
  /// The key of the manifest: "catalogs/{user}/manifest.json".
  var manifestKey: String { "catalogs/\(text)/manifest.json" }

  /// The key of a shard: "catalogs/{user}/shards/{0-f}.csv".
  func shardKey(_ shard: Shard.Index) -> String { "catalogs/\(text)/shards/\(shard.fileName)" }
}
