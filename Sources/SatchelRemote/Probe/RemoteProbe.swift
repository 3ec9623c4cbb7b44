import SatchelCore
import SatchelJSON

/// Measures what an object store can do, with the credentials at hand, by requests below a prefix.
public struct RemoteProbe: Sendable {
  /// Large enough for a range.
  private static let body: [UInt8] = Array("a probe of Satchel".utf8)
  private static let metadata = ["probe": "kept"]

  public init() {}

  /// Probes a store: some twenty requests. Its objects are removed, where the credentials may delete.
  ///
  /// - Parameter prefix: that of the keys
  /// - Throws: the store's errors, when it can neither be written nor read
  public func probe(
    _ store: any ObjectStore, under prefix: ObjectPrefix, retry: Retry = Retry(),
    cancellation: Cancellation = .never, clock: Clock = .system
  ) throws(ObjectStoreError) -> RemoteCapabilities {
    let verdict = try ConditionProbe().probe(store, under: prefix, retry: retry, cancellation: cancellation)
    var found = RemoteCapabilities(conditions: verdict)
    let key = try ObjectKey(
      prefix.text + ConditionProbe.keyPrefix + HexadecimalName.random(digits: 32))
    let requests = RetryingRequests(retry: retry, cancellation: cancellation)
    /// False when the store refuses for good.
    func measure(_ body: () throws(ObjectStoreError) -> Bool) throws(ObjectStoreError) -> Bool {
      do throws(ObjectStoreError) {
        return try requests.repeating(body)
      } catch {
        if error.isTransient || error.reason == .cancelled { throw error }
        return false
      }
    }
    _ = try requests.repeating { () throws(ObjectStoreError) in
      try store.put(
        key, Self.body, condition: .none, metadata: ObjectMetadata(Self.metadata), cancellation: cancellation)
    }
    let head = try requests.repeating { () throws(ObjectStoreError) in
      try store.head(key, cancellation: cancellation)
    }
    found.keepsMetadata = head.metadata["probe"] == Self.metadata["probe"]
    found.lists = try measure { () throws(ObjectStoreError) in
      try store.list(ObjectPrefix(key.text), from: nil, limit: 1, cancellation: cancellation)
        .entries.contains { $0.key == key }
    }
    if let store = store as? any ProbedStore {
      found.hasRanges = try measure { () throws(ObjectStoreError) in
        try store.answersRanges(key, cancellation: cancellation)
      }
      found.demandsChecksums = try measure { () throws(ObjectStoreError) in
        try store.demandsChecksum(key, Self.body, cancellation: cancellation)
      }
    }
    if let store = store as? any MultipartStore, store.listsUploads {
      found.hasParts = try measure { () throws(ObjectStoreError) in
        let upload = try store.startUpload(key, metadata: .none, cancellation: cancellation)
        try store.abort(upload, cancellation: cancellation)
        return true
      }
    }
    found.deletes = try measure { () throws(ObjectStoreError) in
      try store.delete(key, ifMatch: nil, cancellation: cancellation)
      return true
    }
    if let date = (store as? any DatedObjectStore)?.date { found.clockOffset = date - clock.now() }
    return found
  }
}

/// A store of which more can be measured than by its requests.
package protocol ProbedStore: ObjectStore {
  /// Whether a part of an object is sent alone.
  func answersRanges(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> Bool
  /// Whether a write without a checksum header is refused; it writes the body if it is not.
  func demandsChecksum(_ key: ObjectKey, _ body: [UInt8], cancellation: Cancellation)
    throws(ObjectStoreError) -> Bool
}

/// The abilities of an object store with the credentials at hand; nil for those that cannot be measured of its kind.
public struct RemoteCapabilities: Sendable, Equatable, JSONConvertible {
  /// Whether it has conditional writes.
  public var conditions: ConditionProbe.Verdict
  /// Whether the credentials may list.
  public var lists = false
  /// Whether they may delete.
  public var deletes = false
  /// Whether it keeps the metadata of objects.
  public var keepsMetadata = false
  /// Whether it sends a part of an object alone, so that a download can be continued.
  public var hasRanges: Bool?
  /// Whether it has uploads in parts, which files above 64 MiB need.
  public var hasParts: Bool?
  /// Whether it refuses writes without a checksum header, as with Object Lock. The library always sends one.
  public var demandsChecksums: Bool?
  /// The store's clock less this device's, in milliseconds. The dates of requests are corrected by it.
  public var clockOffset: Int64?

  init(conditions: ConditionProbe.Verdict) { self.conditions = conditions }

  /// Why conditional writes are not supported; nil when they are.
  public var reason: String? {
    if case .unsupported(let reason) = conditions { reason } else { nil }
  }

  public var json: JSONValue {
    func bool(_ value: Bool?) -> JSONValue { value.map { .bool($0) } ?? .null }
    return [
      "supported": .bool(reason == nil), "reason": reason.map { .string($0) } ?? .null, "list": .bool(lists),
      "delete": .bool(deletes), "metadata": .bool(keepsMetadata), "ranges": bool(hasRanges),
      "parts": bool(hasParts), "checksum_required": bool(demandsChecksums),
      "clock_offset": clockOffset.map { .int($0) } ?? .null,
    ]
  }
}

extension S3Store: ProbedStore {
  package func answersRanges(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> Bool {
    let request = SigningRequest(
      .get, host: endpoint.host, path: try endpoint.path(of: key), headers: [("range", "bytes=1-1")])
    let response = try send(request, about: key.text, limit: 1 << 16, cancellation)
    guard response.isSuccess else { throw failure(response, about: key.text) }
    return response.status == 206 && response.body.count == 1
  }

  package func demandsChecksum(
    _ key: ObjectKey, _ body: [UInt8], cancellation: Cancellation
  ) throws(ObjectStoreError) -> Bool {
    let request = SigningRequest(
      .put, host: endpoint.host, path: try endpoint.path(of: key), headers: headers(key, .none),
      payload: PayloadHash(of: body))
    let response = try send(request, about: key.text, body: .bytes(body), cancellation)
    if response.isSuccess { return false }
    guard response.status == 400 else { throw failure(response, about: key.text, isWriting: true) }
    return true
  }
}
