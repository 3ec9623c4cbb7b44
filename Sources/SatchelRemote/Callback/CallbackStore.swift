import SatchelStorage

/// Objects that the host keeps in a way of its own. Its answers are checked like those of a stranger.
public final class CallbackStore: ObjectStore {
  private let calls: HostCalls

  public init(_ calls: HostCalls) { self.calls = calls }

  public func get(_ key: ObjectKey, ifNoneMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError) -> ObjectReading
  {
    let reading = try asking(key.text, cancellation) { try calls.get(key.text, known?.text, cancellation) }
    switch reading {
    case .notModified:
      guard known != nil else {
        throw Self.foreign(key.text, "says \"not modified\" without having been asked")
      }
      return .notModified
    case .object(let body, let etag, let metadata):
      let etag = try Self.etag(etag, key)
      if etag == known { return .notModified }
      return .object(StoredObject(body: body, etag: etag, metadata: try Self.metadata(metadata, key)))
    }
  }

  public func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    let etag = try asking(key.text, cancellation, isWriting: true, isConditional: condition != .none) {
      try calls.put(key.text, body, condition, metadata.values, cancellation)
    }
    return try Self.etag(etag, key)
  }

  public func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    let head = try asking(key.text, cancellation) { try calls.head(key.text, cancellation) }
    guard head.size >= 0 else { throw Self.foreign(key.text, "gives a size below 0") }
    return ObjectHead(
      size: head.size, etag: try Self.etag(head.etag, key), metadata: try Self.metadata(head.metadata, key))
  }

  public func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    do throws(ObjectStoreError) {
      try asking(key.text, cancellation, isWriting: true, isConditional: known != nil) {
        try calls.delete(key.text, known?.text, cancellation)
      }
    } catch {
      guard error.reason == .notFound, known == nil else { throw error }
    }
  }

  public func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    let limit = min(max(limit, 1), 1000)
    let host = try asking("the listing", cancellation) {
      try calls.list(prefix.text, continuation?.text, limit, cancellation)
    }
    guard host.entries.count <= limit else {
      throw Self.foreign("the listing", "gives more than was asked for")
    }
    var (page, last) = (ObjectPage(entries: []), continuation?.text ?? "")
    for entry in host.entries {
      guard last.utf8.lexicographicallyPrecedes(entry.key.utf8) else {
        throw Self.foreign("the listing", "does not advance, or is in no order")
      }
      last = entry.key
      guard entry.key.utf8.starts(with: prefix.text.utf8), entry.size >= 0 else {
        throw Self.foreign("the listing", "gives what was not asked for, or a size below 0")
      }
      if let key = try? ObjectKey(entry.key) {
        let etag = try entry.etag.map { text throws(ObjectStoreError) in try Self.etag(text, key) }
        page.entries.append(ObjectPage.Entry(key: key, size: entry.size, etag: etag))
      } else {
        page.skipped += 1
      }
    }
    guard host.hasMore else { return page }
    guard !host.entries.isEmpty else { throw Self.foreign("the listing", "goes on, but does not say where") }
    page.next = ObjectPage.Continuation(last)
    return page
  }

  /// Calls the host, and makes what it throws one of our errors.
  private func asking<Answer>(
    _ what: String, _ cancellation: Cancellation, isWriting: Bool = false, isConditional: Bool = false,
    _ body: () throws -> Answer
  ) throws(ObjectStoreError) -> Answer {
    try cancellation.check()
    do {
      return try body()
    } catch let error as ObjectStoreError {
      throw error
    } catch {
      let again: ObjectStoreError.Reason =
        isWriting ? .unknownOutcome(retryAfter: nil) : .transient(retryAfter: nil)
      let reason: ObjectStoreError.Reason =
        switch (error as? SatchelError)?.code ?? .io {
        case .notFound: .notFound
        case .busy: isConditional ? .preconditionFailed : .transient(retryAfter: nil)
        case .io: again
        case .damaged: isWriting ? again : .truncated
        case .readOnly: .denied
        case .cancelled: .cancelled
        case let code: .failed(code)
        }
      throw ObjectStoreError(reason, "\(what): the host's store: \(error)")
    }
  }

  private static func foreign(_ what: String, _ why: String) -> ObjectStoreError {
    ObjectStoreError(.failed(.foreign), "\(what): the host's store \(why)")
  }

  private static func etag(_ text: String, _ key: ObjectKey) throws(ObjectStoreError) -> ETag {
    guard let etag = ETag(text) else {
      throw foreign(key.text, "gives no tag, or one that no header can hold")
    }
    return etag
  }

  private static func metadata(_ values: [String: String], _ key: ObjectKey) throws(ObjectStoreError)
    -> ObjectMetadata
  {
    do throws(ObjectStoreError) {
      return try ObjectMetadata(values)
    } catch {
      throw foreign(key.text, "gives what is no metadata: \(error.message)")
    }
  }
}
