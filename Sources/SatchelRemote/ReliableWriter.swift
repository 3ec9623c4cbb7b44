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
    let metadata = try ObjectMetadata(metadata.values.merging([Self.checksumName: checksum]) { $1 })
    var (random, isUncertain) = (SystemRandomNumberGenerator(), false)
    do throws(ObjectStoreError) {
      return try retry.run(
        random: &random,
        pause: { wait throws(ObjectStoreError) in try cancellation.wait(milliseconds: wait) },
        { _ throws(ObjectStoreError) in
          let failure: ObjectStoreError
          do throws(ObjectStoreError) {
            return .written(
              try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation))
          } catch {
            failure = error
          }
          switch (failure.reason, condition) {
          case (.unknownOutcome, _): isUncertain = true
          case (.preconditionFailed, _): break
          case (.notFound, .ifMatch): break
          default: throw failure
          }
          return try readBack(
            key, body, checksum: checksum, condition: condition, after: failure, cancellation: cancellation)
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
    _ key: ObjectKey, _ body: [UInt8], checksum: String, condition: ObjectCondition,
    after failure: ObjectStoreError, cancellation: Cancellation
  ) throws(ObjectStoreError) -> Outcome {
    let retry = ObjectStoreError(.transient(retryAfter: failure.retryAfter), failure.message)
    let head: ObjectHead
    do throws(ObjectStoreError) {
      head = try store.head(key, cancellation: cancellation)
    } catch {
      guard error.reason == .notFound else { throw error }
      if case .ifMatch = condition { return .gone }
      throw retry
    }
    if try isWritten(body, checksum: checksum, at: key, head: head, cancellation: cancellation) {
      return .written(head.etag)
    }
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
    if let known = head.metadata[Self.checksumName] { return known == checksum }
    // The object was written without a checksum, or the store does not keep metadata.
    switch try store.get(key, ifNoneMatch: nil, limit: head.size, cancellation: cancellation) {
    case .object(let object): return object.etag == head.etag && object.body == body
    case .notModified: return false
    }
  }
}
