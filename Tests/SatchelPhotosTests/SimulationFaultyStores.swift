import SatchelCore
import SatchelRemoteTesting

@testable import SatchelPhotos
@testable import SatchelRemote

/// A store that writes the manifest of an upload before the shard.
struct EarlyManifestStore: ForwardingStore {
  let store: any ObjectStore
  let user: UserID

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    if let shard = Shard.Index.all.first(where: { user.shardKey($0) == key.text }) {
      try? announce(shard, body, cancellation)
    }
    return try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }

  private func announce(_ shard: Shard.Index, _ body: [UInt8], _ cancellation: Cancellation) throws {
    let key = try ObjectKey(user.manifestKey)
    let old = try store.get(key, cancellation: cancellation)
    var manifest = try Manifest(parsing: old.body)
    manifest.setChecksum(Shard.checksum(body), of: shard)
    let bytes = try manifest.serialized()
    _ = try store.put(
      key, bytes, condition: .ifMatch(old.etag),
      metadata: ObjectMetadata([SyncRemote.checksumName: Shard.checksum(bytes)]), cancellation: cancellation)
  }
}

/// A store that computes the checksum in the metadata from the bytes that it returns, so that a checksum
/// proves nothing.
struct RecomputingStore: ForwardingStore {
  let store: any ObjectStore
  /// Whether it does so only for objects without a checksum: those of other programs.
  var isOnlyMissing = false

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let reading = try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
    guard case .object(var object) = reading else { return reading }
    var values = object.metadata.values
    if isOnlyMissing, values[SyncRemote.checksumName] != nil { return reading }
    values[SyncRemote.checksumName] = Shard.checksum(object.body)
    object.metadata = try ObjectMetadata(values)
    return .object(object)
  }
}

/// A store whose listings have no etags, so that a listing shows no changed object.
struct PlainListingStore: ForwardingStore {
  let store: any ObjectStore

  var listsETags: Bool { false }
}

/// A store that answers HEAD for an object that this sync has written from a cache, although another device
/// may have replaced it.
struct CachingStore: ForwardingStore {
  let store: any ObjectStore
  private let written = Locked<[ObjectKey: ObjectHead]>([:])

  init(store: any ObjectStore) { self.store = store }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    written.withLock { $0[key] = nil }
    let etag = try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
    written.withLock { $0[key] = ObjectHead(size: Int64(body.count), etag: etag, metadata: metadata) }
    return etag
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    if let head = written.withLock({ $0[key] }) { return head }
    return try store.head(key, cancellation: cancellation)
  }
}

/// A store that denies writes over a damaged object.
struct UnrepairableStore: ForwardingStore {
  let store: any ObjectStore
  let world: SimulationWorld

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    if case .ifMatch(let known) = condition, let current = world.remote.current(key), current.isDamaged,
      current.object.etag == known
    {
      throw ObjectStoreError(.denied, "\(key): is write-protected")
    }
    return try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }
}

/// A store that acknowledges a write of the manifest that announces nothing new, and neither checks its
/// condition nor performs it. A sync confirms with such a write that the manifest is the one that it has read.
struct UnconfirmedManifestStore: ForwardingStore {
  let store: any ObjectStore
  let manifestKey: ObjectKey
  /// The manifest that this sync has read or written last; nil after an upload of a shard.
  private let last = Locked<[UInt8]?>(nil)

  init(store: any ObjectStore, manifestKey: ObjectKey) {
    self.store = store
    self.manifestKey = manifestKey
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let reading = try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
    if key == manifestKey, case .object(let object) = reading { last.withLock { $0 = object.body } }
    return reading
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    if key == manifestKey, case .ifMatch(let known) = condition, let last = last.withLock({ $0 }),
      Self.announcesSame(body, last)
    {
      return known
    }
    let etag = try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
    last.withLock { $0 = key == manifestKey ? body : nil }
    return etag
  }

  private static func announcesSame(_ body: [UInt8], _ other: [UInt8]) -> Bool {
    guard let next = try? Manifest(parsing: body), let old = try? Manifest(parsing: other) else {
      return false
    }
    return next.shardChecksums == old.shardChecksums && next.photoCount == old.photoCount
  }
}

/// A store that does not keep the ancestors of objects.
struct StoreWithoutAncestors: ForwardingStore {
  let store: any ObjectStore

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    var values = metadata.values
    values[SatchelPhotos.SyncAncestors.name] = nil
    return try store.put(
      key, body, condition: condition, metadata: ObjectMetadata(values), cancellation: cancellation)
  }
}

/// A store that keeps the ancestors of an object which another program replaces without metadata.
struct StickyAncestorsStore: ForwardingStore {
  let store: any ObjectStore
  let world: SimulationWorld

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    var head = try store.head(key, cancellation: cancellation)
    if head.metadata == .none,
      let ancestors = world.remote.lastUndamaged(key)?.object.metadata[SatchelPhotos.SyncAncestors.name]
    {
      head.metadata = try ObjectMetadata([SatchelPhotos.SyncAncestors.name: ancestors])
    }
    return head
  }
}
