import SatchelCore

/// A wrapper around another store that counts requests and bytes, and that checks conditions itself where they need not
/// be atomic and the store refuses them.
package final class MeteredStore: LazyObjectStore, DatedObjectStore {
  private let store: any ObjectStore
  private let meter = Locked(Traffic())
  private let checksConditions: Bool
  /// Whether the store has refused a condition.
  private let lacksConditions = Locked(false)

  /// - Parameter checksConditions: whether a condition that the store refuses is checked by a look before the write;
  ///   of concurrent writers, each may overwrite the other then
  package init(_ store: any ObjectStore, checksConditions: Bool = false) {
    self.store = store
    self.checksConditions = checksConditions
  }

  package var identity: String? { store.identity }

  package var listsETags: Bool { store.listsETags }

  package var tagsContent: Bool { store.tagsContent }

  package var date: Int64? { (store as? any DatedObjectStore)?.date }

  /// The traffic since this wrapper was created.
  package var traffic: Traffic { meter.withLock { $0 } }

  private func count(up: Int = 0, down: Int = 0, requests: Int64 = 0) {
    meter.withLock { traffic in
      traffic.requests += requests
      traffic.bytesUp += Int64(up)
      traffic.bytesDown += Int64(down)
    }
  }

  package func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    count(requests: 1)
    let reading = try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
    if case .object(let object) = reading { count(down: object.body.count) }
    return reading
  }

  package func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try conditional(key, under: condition, cancellation: cancellation) { condition throws(ObjectStoreError) in
      count(up: body.count, requests: 1)
      return try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
    }
  }

  /// Writes under a condition, which the store checks if it can.
  private func conditional<Value>(
    _ key: ObjectKey, under condition: ObjectCondition, cancellation: Cancellation,
    _ write: (ObjectCondition) throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    if condition == .none || !lacksConditions.withLock({ $0 }) {
      do throws(ObjectStoreError) {
        return try write(condition)
      } catch {
        // "501 Not Implemented".
        guard checksConditions, condition != .none, error.reason == .failed(.foreign),
          error.faultClass == .remote
        else { throw error }
        lacksConditions.withLock { $0 = true }
      }
    }
    var found: ObjectHead?
    do throws(ObjectStoreError) {
      found = try head(key, cancellation: cancellation)
    } catch {
      guard error.reason == .notFound else { throw error }
    }
    let isMet =
      switch condition {
      case .none: true
      case .ifAbsent: found == nil
      case .ifMatch(let known): found?.etag == known
      }
    guard isMet else { throw ObjectStoreError(.preconditionFailed, "\(key): the object has been changed") }
    return try write(.none)
  }

  package func putLazily(_ key: ObjectKey, _ body: [UInt8], cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    guard let store = store as? any LazyObjectStore else {
      _ = try put(key, body, condition: .ifAbsent, metadata: .none, cancellation: cancellation)
      return
    }
    count(up: body.count, requests: 1)
    try store.putLazily(key, body, cancellation: cancellation)
  }

  /// Sends no request: objects of a network store are durable already.
  package func makeDurable(_ prefix: ObjectPrefix) throws(ObjectStoreError) {
    try (store as? any LazyObjectStore)?.makeDurable(prefix)
  }

  package func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    count(requests: 1)
    return try store.head(key, cancellation: cancellation)
  }

  package func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    try conditional(key, under: known.map { .ifMatch($0) } ?? .none, cancellation: cancellation) {
      condition throws(ObjectStoreError) in
      count(requests: 1)
      var known: ETag?
      if case .ifMatch(let etag) = condition { known = etag }
      try store.delete(key, ifMatch: known, cancellation: cancellation)
    }
  }

  package func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    count(requests: 1)
    return try store.list(prefix, from: continuation, limit: limit, cancellation: cancellation)
  }
}

extension MeteredStore: MultipartStore {
  package var transferLimits: TransferLimits { store.limits }

  package func put(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try conditional(key, under: condition, cancellation: cancellation) { condition throws(ObjectStoreError) in
      count(requests: 1)
      return try store.putFile(
        key, metered(body), condition: condition, metadata: metadata, isDurable: isDurable,
        cancellation: cancellation)
    }
  }

  package func read(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError) {
    count(requests: 1)
    let metered = MeteredReceiver(receiver) { [self] in count(down: $0) }
    try store.readFile(key, from: offset, ifMatch: known, into: metered, cancellation: cancellation)
  }

  private func metered(_ body: FileBody) -> FileBody {
    body.observed { [self] count throws(ObjectStoreError) in self.count(up: count) }
  }

  private var parts: any MultipartStore {
    get throws(ObjectStoreError) {
      count(requests: 1)
      guard let store = store as? any MultipartStore else {
        throw ObjectStoreError(.failed(.foreign), "the object store has no uploads in parts")
      }
      return store
    }
  }

  package func startUpload(_ key: ObjectKey, metadata: ObjectMetadata, cancellation: Cancellation)
    throws(ObjectStoreError) -> ObjectUpload
  {
    try parts.startUpload(key, metadata: metadata, cancellation: cancellation)
  }

  package var listsUploads: Bool { (store as? any MultipartStore)?.listsUploads ?? false }

  package func unfinishedUploads(below prefix: ObjectPrefix, cancellation: Cancellation)
    throws(ObjectStoreError) -> [ObjectUpload]
  {
    try parts.unfinishedUploads(below: prefix, cancellation: cancellation)
  }

  package func parts(of upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError)
    -> [UploadedPart]
  {
    try parts.parts(of: upload, cancellation: cancellation)
  }

  package func putPart(_ number: Int, of upload: ObjectUpload, _ body: FileBody, cancellation: Cancellation)
    throws(ObjectStoreError) -> UploadedPart
  {
    try parts.putPart(number, of: upload, metered(body), cancellation: cancellation)
  }

  package func complete(
    _ upload: ObjectUpload, _ parts: [UploadedPart], condition: ObjectCondition, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try conditional(upload.key, under: condition, cancellation: cancellation) {
      condition throws(ObjectStoreError) in
      try self.parts.complete(upload, parts, condition: condition, cancellation: cancellation)
    }
  }

  package func abort(_ upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError) {
    try parts.abort(upload, cancellation: cancellation)
  }
}

/// Counts the bytes that it passes on.
private final class MeteredReceiver: BodyReceiver {
  private let receiver: any BodyReceiver
  private let count: (Int) -> Void

  init(_ receiver: any BodyReceiver, _ count: @escaping (Int) -> Void) {
    self.receiver = receiver
    self.count = count
  }

  var end: Int64? { receiver.end }

  func begin(size: Int64?, etag: ETag?) throws(ObjectStoreError) {
    try receiver.begin(size: size, etag: etag)
  }

  func receive(_ block: UnsafeRawBufferPointer) throws(ObjectStoreError) {
    count(block.count)
    try receiver.receive(block)
  }
}

/// The requests and bytes exchanged with a store.
package struct Traffic: Sendable, Equatable {
  /// Calls of the store. A store may send several HTTP requests for one call; they count once.
  package var requests: Int64 = 0
  /// Bytes of bodies written, including repeated attempts.
  package var bytesUp: Int64 = 0
  /// Bytes of bodies read.
  package var bytesDown: Int64 = 0

  package init() {}
}
