import SatchelCore
import SatchelJSON

/// Reads and writes single objects of an object store for the app itself: with retries, and with the library's errors.
///
/// The keys that begin with `catalogs/`, `photos/` and `sync/` are those of the library. Reading them is safe; writing
/// them is not.
public struct RemoteClient: Sendable {
  private let store: any ObjectStore
  private let retry: Retry
  private let cancellation: Cancellation

  public init(_ store: any ObjectStore, retry: Retry = Retry(), cancellation: Cancellation = .never) {
    self.store = store
    self.retry = retry
    self.cancellation = cancellation
  }

  /// Reads an object.
  ///
  /// - Parameter known: an ETag: an object that still has it is not read
  /// - Returns: nil when the object still has the known ETag
  /// - Throws: `SatchelError`: `notFound`, `invalid` for an invalid key, `unauthorized`, `unavailable`,
  ///   `cancelled`
  public func get(_ key: String, ifNoneMatch known: String? = nil) throws -> StoredObject? {
    try converting {
      let (key, known) = (try ObjectKey(key), try known.map(Self.etag))
      let reading = try requests.attempt { () throws(ObjectStoreError) in
        try store.get(
          key, ifNoneMatch: known, limit: StoredObject.maximumSize, cancellation: cancellation)
      }
      guard case .object(let object) = reading else { return nil }
      return object
    }
  }

  /// Writes an object as a whole. A lost response is not an error: the object is read back.
  ///
  /// - Parameters:
  ///   - match: the ETag that the object must have; nil for no condition
  ///   - ifAbsent: whether there must be no such object
  ///   - metadata: names of a-z, 0-9 and "-"; values of printable ASCII; 2048 bytes together. The library adds
  ///     `sha256`, the checksum of the body
  /// - Returns: the ETag of the written object
  /// - Throws: `SatchelError`: `conflict` when the condition does not hold: nothing was changed; and as `get`
  @discardableResult
  public func put(
    _ key: String, _ body: [UInt8], ifMatch match: String? = nil, ifAbsent: Bool = false,
    metadata: [String: String] = [:]
  ) throws -> String {
    try converting {
      guard match == nil || !ifAbsent else {
        throw SatchelError(.invalid, "if_match and if_absent exclude each other")
      }
      guard Int64(body.count) <= StoredObject.maximumSize else {
        throw SatchelError(
          .full,
          "\(key): has \(body.count) bytes, more than an object in memory (\(StoredObject.maximumSize))")
      }
      let name = try ObjectKey(key)
      var condition = ifAbsent ? ObjectCondition.ifAbsent : ObjectCondition.none
      if let match { condition = .ifMatch(try Self.etag(match)) }
      let outcome = try ReliableWriter(store, retry: retry).write(
        name, body, condition: condition, metadata: ObjectMetadata(metadata), cancellation: cancellation)
      switch outcome {
      case .written(let etag): return etag.text
      case .lost:
        throw SatchelError(.conflict, "\(name): the condition does not hold, another object is there")
      case .gone: throw SatchelError(.conflict, "\(name): the condition does not hold, there is no object")
      }
    }
  }

  /// Returns an object's size, ETag and metadata without its body.
  ///
  /// - Throws: as `get`
  public func head(_ key: String) throws -> ObjectHead {
    try converting {
      let key = try ObjectKey(key)
      return try requests.attempt { () throws(ObjectStoreError) in
        try store.head(key, cancellation: cancellation)
      }
    }
  }

  /// Deletes an object. Without a condition, deleting a missing object succeeds.
  ///
  /// - Parameter match: the ETag that the object must have; nil for no condition
  /// - Throws: `SatchelError`: `conflict` when the condition does not hold, or there is no such object; and as `get`
  public func delete(_ key: String, ifMatch match: String? = nil) throws {
    try converting {
      let (key, known) = (try ObjectKey(key), try match.map(Self.etag))
      var isUncertain = false
      do throws(ObjectStoreError) {
        try requests.attempt { () throws(ObjectStoreError) in
          do throws(ObjectStoreError) {
            try store.delete(key, ifMatch: known, cancellation: cancellation)
          } catch {
            guard case .unknownOutcome(let wait) = error.reason else { throw error }
            // Repeated: a deletion has the same result twice.
            isUncertain = true
            throw ObjectStoreError(.transient(retryAfter: wait), error.message)
          }
        }
      } catch {
        guard error.reason == .notFound || error.reason == .preconditionFailed else { throw error }
        // The first attempt may have deleted it.
        if isUncertain, try isMissing(key) { return }
        throw SatchelError(.conflict, "\(key): the condition does not hold")
      }
    }
  }

  private func isMissing(_ key: ObjectKey) throws -> Bool {
    let head = try requests.ifPresent { () throws(ObjectStoreError) in
      try store.head(key, cancellation: cancellation)
    }
    return head == nil
  }

  /// Returns a page of the objects whose keys begin with a prefix, in the order of the keys' bytes.
  ///
  /// - Parameters:
  ///   - continuation: `next` of the previous page; nil for the first
  ///   - limit: the maximum number of entries of a page, 1 to 1000
  /// - Throws: `SatchelError`: as `get`
  public func list(_ prefix: String = "", from continuation: String? = nil, limit: Int = 1000) throws
    -> ObjectPage
  {
    try converting {
      guard (1...1000).contains(limit) else {
        throw SatchelError(.invalid, "limit: must be 1 to 1000, is \(limit)")
      }
      let prefix = try ObjectPrefix(prefix)
      return try requests.attempt { () throws(ObjectStoreError) in
        try store.list(
          prefix, from: continuation.map { ObjectPage.Continuation($0) }, limit: limit,
          cancellation: cancellation)
      }
    }
  }

  private var requests: RetryingRequests { RetryingRequests(retry: retry, cancellation: cancellation) }

  private static func etag(_ text: String) throws -> ETag {
    guard let etag = ETag(text) else {
      throw SatchelError(.invalid, "an etag has 1 to 1024 characters of printable ASCII")
    }
    return etag
  }

  private func converting<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw SatchelError(converting: error)
    }
  }
}

extension ObjectHead: JSONConvertible {
  /// The head as a JSON object: size, etag, metadata.
  public var json: JSONValue {
    var values = JSONObject()
    for name in metadata.values.keys.ordered() { values[name] = .string(metadata.values[name] ?? "") }
    return ["size": .int(size), "etag": .string(etag.text), "metadata": .object(values)]
  }
}

extension ObjectPage: JSONConvertible {
  /// The page as a JSON object: entries (of key, size, etag), next, skipped.
  public var json: JSONValue {
    let entries = entries.map { entry -> JSONValue in
      [
        "key": .string(entry.key.text), "size": .int(entry.size),
        "etag": entry.etag.map { .string($0.text) } ?? .null,
      ]
    }
    return [
      "entries": .array(entries), "next": next.map { .string($0.text) } ?? .null,
      "skipped": .int(Int64(skipped)),
    ]
  }
}
