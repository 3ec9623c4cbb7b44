import SatchelCore

/// An object store that the host implements. The host's results are validated like the responses of a remote
/// server.
package final class CallbackStore: ObjectStore {
  let calls: HostCalls
  package let identity: String?

  /// - Parameter identity: names the objects that the host stores; nil for none
  package init(_ calls: HostCalls, identity: String? = nil) {
    self.calls = calls
    self.identity = identity.map { "host \($0)" }
  }

  package func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let reading = try call(about: key.text, cancellation) {
      try calls.get(key.text, known?.text, limit, cancellation)
    }
    switch reading {
    case .notModified:
      guard known != nil else {
        throw Self.foreign(key.text, "answers \"not modified\" to an unconditional request")
      }
      return .notModified
    case .object(let body, let etag, let metadata):
      let etag = try Self.etag(etag, key)
      if etag == known { return .notModified }
      guard Int64(body.count) <= limit else { throw .tooLarge(key, limit: limit) }
      return .object(StoredObject(body: body, etag: etag, metadata: try Self.metadata(metadata, key)))
    }
  }

  package func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    let etag = try call(about: key.text, cancellation, isWriting: true, isConditional: condition != .none) {
      try calls.put(key.text, body, condition, metadata.values, cancellation)
    }
    return try Self.etag(etag, key)
  }

  package func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    let head = try call(about: key.text, cancellation) { try calls.head(key.text, cancellation) }
    guard head.size >= 0 else { throw Self.foreign(key.text, "returns a negative size") }
    return ObjectHead(
      size: head.size, etag: try Self.etag(head.etag, key), metadata: try Self.metadata(head.metadata, key))
  }

  package func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    do throws(ObjectStoreError) {
      try call(about: key.text, cancellation, isWriting: true, isConditional: known != nil) {
        try calls.delete(key.text, known?.text, cancellation)
      }
    } catch {
      guard error.reason == .notFound, known == nil else { throw error }
    }
  }

  package func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    let limit = min(max(limit, 1), 1000)
    let host = try call(about: "the listing", cancellation) {
      try calls.list(prefix.text, continuation?.text, limit, cancellation)
    }
    guard host.entries.count <= limit else {
      throw Self.foreign("the listing", "returns more than \(limit) entries")
    }
    var (page, last) = (ObjectPage(entries: []), continuation?.text ?? "")
    for entry in host.entries {
      guard last.utf8.lexicographicallyPrecedes(entry.key.utf8) else {
        throw Self.foreign("the listing", "returns keys that do not advance, or are not in byte order")
      }
      last = entry.key
      guard entry.key.utf8.starts(with: prefix.text.utf8), entry.size >= 0 else {
        throw Self.foreign("the listing", "returns a key without the prefix, or a negative size")
      }
      if let key = try? ObjectKey(entry.key) {
        let etag = try entry.etag.map { text throws(ObjectStoreError) in try Self.etag(text, key) }
        page.entries.append(ObjectPage.Entry(key: key, size: entry.size, etag: etag))
      } else {
        page.skipped += 1
      }
    }
    guard host.hasMore else { return page }
    guard !host.entries.isEmpty else {
      throw Self.foreign("the listing", "returns an empty page with has_more")
    }
    page.next = ObjectPage.Continuation(last)
    return page
  }

  /// Calls the host, and converts its errors.
  func call<Answer>(
    about subject: String, _ cancellation: Cancellation, isWriting: Bool = false,
    isConditional: Bool = false, _ body: () throws -> Answer
  ) throws(ObjectStoreError) -> Answer {
    try cancellation.check()
    do {
      return try body()
    } catch let error as ObjectStoreError {
      throw error
    } catch {
      let retryable: ObjectStoreError.Reason =
        isWriting ? .unknownOutcome(retryAfter: nil) : .transient(retryAfter: nil)
      let reason: ObjectStoreError.Reason =
        switch (error as? SatchelError)?.code ?? .io {
        case .notFound: .notFound
        case .busy, .conflict: isConditional ? .preconditionFailed : .transient(retryAfter: nil)
        case .io, .unavailable: retryable
        case .damaged: isWriting ? retryable : .truncated
        case .readOnly, .unauthorized: .denied
        case .cancelled: .cancelled
        case let code: .failed(code)
        }
      // The host refuses the values of one call; nothing is known of other objects.
      let ofObject: ObjectStoreError.FaultClass? =
        switch reason {
        case .failed(.invalid), .failed(.foreign), .failed(.constraint), .failed(.newer): .object
        default: nil
        }
      throw ObjectStoreError(reason, "\(subject): the host's store: \(error)", faultClass: ofObject)
    }
  }

  static func foreign(_ subject: String, _ reason: String) -> ObjectStoreError {
    ObjectStoreError(.failed(.foreign), "\(subject): the host's store \(reason)")
  }

  static func etag(_ text: String, _ key: ObjectKey) throws(ObjectStoreError) -> ETag {
    guard let etag = ETag(text) else {
      throw foreign(key.text, "returns an ETag that is empty or not valid in a header")
    }
    return etag
  }

  private static func metadata(_ values: [String: String], _ key: ObjectKey) throws(ObjectStoreError)
    -> ObjectMetadata
  {
    do throws(ObjectStoreError) {
      return try ObjectMetadata(values)
    } catch {
      throw foreign(key.text, "returns invalid metadata: \(error.message)")
    }
  }
}
