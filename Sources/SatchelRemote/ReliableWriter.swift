import SatchelCore

/// Writes an object under a condition, and determines the outcome in spite of lost responses.
///
/// "Precondition failed" may be the response to a repetition of this writer's own successful write; a lost
/// response, 409 and 5xx leave the outcome unknown. In all these cases the object is read back and compared,
/// and the write is retried if it did not take effect.
package struct ReliableWriter: Sendable {
  /// The outcome of a write: the object that the store has now.
  package enum Outcome: Sendable, Equatable {
    /// The store has the written object, from this attempt or an earlier one whose response was lost.
    case written(ETag)
    /// The store has another object, as read back. It may be based on the written one: another device may
    /// have changed it in the meantime.
    case lost(ObjectHead)
    /// The object does not exist; only for a condition `ifMatch`.
    case gone
  }

  /// The name of the metadata entry that contains the SHA-256 of the body, in hexadecimal digits.
  package static let checksumName = "sha256"
  /// The name of one with the MD5.
  package static let md5Name = "md5"

  private let store: any ObjectStore
  private let retry: Retry

  package init(_ store: any ObjectStore, retry: Retry = Retry()) {
    self.store = store
    self.retry = retry
  }

  /// Writes an object as a whole.
  ///
  /// Concurrent writers of the same bytes are not distinguished: each of them gets `written`. A writer that
  /// must be distinguished includes a unique value in the body.
  ///
  /// - Parameters:
  ///   - checksum: SHA-256 of the body in hexadecimal digits, if already known
  ///   - metadata: the checksum is added to it
  /// - Throws: `.unknownOutcome` when all attempts failed and one may have taken effect, `.transient` when
  ///   none did, and the other errors of `put` except `.preconditionFailed`
  package func write(
    _ key: ObjectKey, _ body: [UInt8], checksum: String? = nil, condition: ObjectCondition,
    metadata: ObjectMetadata = .none, cancellation: Cancellation = .never
  ) throws(ObjectStoreError) -> Outcome {
    let checksum = checksum ?? SHA256.digest(body).hexadecimal
    let metadata = try self.metadata(metadata, checksum)
    return try write(key, condition: condition, cancellation: cancellation) { () throws(ObjectStoreError) in
      try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
    } isWritten: { head throws(ObjectStoreError) in
      try isWritten(body, checksum: checksum, at: key, head: head, cancellation: cancellation)
    }
  }

  /// Writes a file as an object.
  package func write(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata = .none,
    isDurable: Bool = true, cancellation: Cancellation = .never
  ) throws(ObjectStoreError) -> Outcome {
    var metadata = metadata
    if !store.tagsContent {
      metadata = try self.metadata(metadata, body.digests(cancellation).sha256.hexadecimal)
    }
    return try write(key, as: body, condition: condition, cancellation: cancellation) {
      () throws(ObjectStoreError) in
      try store.putFile(
        key, body, condition: condition, metadata: metadata, isDurable: isDurable, cancellation: cancellation)
    }
  }

  /// Makes an object of a file's bytes by `put`, whose outcome is determined as that of `write`.
  func write(
    _ key: ObjectKey, as body: FileBody, condition: ObjectCondition, cancellation: Cancellation,
    put: () throws(ObjectStoreError) -> ETag
  ) throws(ObjectStoreError) -> Outcome {
    try write(key, condition: condition, cancellation: cancellation, put) { head throws(ObjectStoreError) in
      try store.hasContent(of: body, at: key, head: head, retry: retry, cancellation: cancellation)
    }
  }

  /// The checksum is an entry of the metadata, unless the store names content by it.
  private func metadata(_ metadata: ObjectMetadata, _ checksum: String) throws(ObjectStoreError)
    -> ObjectMetadata
  {
    if store.tagsContent { return metadata }
    return try ObjectMetadata(metadata.values.merging([Self.checksumName: checksum]) { $1 })
  }

  private func write(
    _ key: ObjectKey, condition: ObjectCondition, cancellation: Cancellation,
    _ put: () throws(ObjectStoreError) -> ETag, isWritten: (ObjectHead) throws(ObjectStoreError) -> Bool
  ) throws(ObjectStoreError) -> Outcome {
    var (random, isUncertain) = (SystemRandomNumberGenerator(), false)
    do throws(ObjectStoreError) {
      return try retry.run(
        random: &random,
        pause: { wait throws(ObjectStoreError) in try cancellation.wait(milliseconds: wait) },
        { _ throws(ObjectStoreError) in
          let failure: ObjectStoreError
          do throws(ObjectStoreError) {
            return .written(try put())
          } catch {
            failure = error
          }
          switch (failure.reason, condition) {
          case (.unknownOutcome, _): isUncertain = true
          case (.preconditionFailed, _): break
          // Also of an upload in parts that is gone, because its first attempt has completed it.
          case (.notFound, _): break
          default: throw failure
          }
          return try readBack(
            key, condition: condition, after: failure, cancellation: cancellation, isWritten: isWritten)
        })
    } catch {
      guard isUncertain, error.isTransient else { throw error }
      throw ObjectStoreError(.unknownOutcome(retryAfter: error.retryAfter), error.message)
    }
  }

  /// Reads the object back to determine the outcome of a failed write.
  ///
  /// - Throws: `.transient` when the write must be retried
  private func readBack(
    _ key: ObjectKey, condition: ObjectCondition, after failure: ObjectStoreError, cancellation: Cancellation,
    isWritten: (ObjectHead) throws(ObjectStoreError) -> Bool
  ) throws(ObjectStoreError) -> Outcome {
    let retry = ObjectStoreError(.transient(retryAfter: failure.retryAfter), failure.message)
    let head: ObjectHead
    do throws(ObjectStoreError) {
      head = try store.head(key, cancellation: cancellation)
    } catch {
      guard error.reason == .notFound else { throw error }
      if case .ifMatch = condition { return .gone }
      throw failure.reason == .notFound ? failure : retry
    }
    if try isWritten(head) { return .written(head.etag) }
    switch condition {
    case .none: throw retry
    case .ifMatch(let known) where known == head.etag: throw retry
    case .ifAbsent, .ifMatch: return .lost(head)
    }
  }

  /// Whether the object in the store has the written bytes.
  private func isWritten(
    _ body: [UInt8], checksum: String, at key: ObjectKey, head: ObjectHead, cancellation: Cancellation
  ) throws(ObjectStoreError) -> Bool {
    guard head.size == Int64(body.count) else { return false }
    if store.tagsContent { return head.etag.text == checksum }
    if let known = head.metadata[Self.checksumName] { return known == checksum }
    // The object was written without a checksum, or the store does not keep metadata.
    switch try store.get(key, ifNoneMatch: nil, limit: head.size, cancellation: cancellation) {
    case .object(let object): return object.etag == head.etag && object.body == body
    case .notModified: return false
    }
  }
}

extension ObjectStore {
  /// Whether an object has a file's bytes, by its ETag or metadata; else it is read.
  package func hasContent(
    of body: FileBody, at key: ObjectKey, head: ObjectHead, retry: Retry, cancellation: Cancellation
  ) throws(ObjectStoreError) -> Bool {
    guard head.size == body.count else { return false }
    let digests = try body.digests(cancellation)
    if tagsContent { return head.etag.text == digests.sha256.hexadecimal }
    if head.etag.isMD5(digests.md5) { return true }
    if let known = head.metadata[ReliableWriter.checksumName] { return known == digests.sha256.hexadecimal }
    if let known = head.metadata[ReliableWriter.md5Name] { return known == digests.md5.hexadecimal }
    return try ObjectTransfer(self, retry: retry, cancellation: cancellation).digests(key) == digests
  }
}
