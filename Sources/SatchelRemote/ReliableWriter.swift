import SatchelStorage

/// Writes an object under a condition, and finds out what became of it whatever happens on the way.
///
/// "Condition not met" may be the answer to a repetition of one's own write that had won; a lost answer, 409 and 5xx
/// say nothing at all. In all these cases the object is read back and compared, and then tried again or not.
public struct ReliableWriter: Sendable {
  /// What is in the store now.
  public enum Outcome: Sendable, Equatable {
    /// What was to be written, by this attempt or by an earlier one whose answer was lost.
    case written(ETag)
    /// Something else, as it was read back. Perhaps somebody has built on what was written meanwhile.
    case lost(ObjectHead)
    /// Nothing, where the condition was an object that the writer knew.
    case gone
  }

  /// Of the metadata: SHA-256 of the body, in hexadecimal digits.
  public static let checksumName = "sha256"

  private let store: any ObjectStore
  private let retry: Retry

  public init(_ store: any ObjectStore, retry: Retry = Retry()) {
    self.store = store
    self.retry = retry
  }

  /// Writes an object as a whole.
  ///
  /// Writers of the same bytes are not told apart: all of them have written them. Who needs to be must put
  /// something of its own into the body.
  ///
  /// - Parameters:
  ///   - checksum: SHA-256 of the body in hexadecimal digits, where it is known already
  ///   - metadata: the checksum is added to it
  /// - Throws: `.unknownOutcome` when attempts are used up and one may have taken effect, `.transient` when none did,
  ///   and what else `put` throws but for `.preconditionFailed`
  public func write(
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
          let refusal: ObjectStoreError
          do throws(ObjectStoreError) {
            return .written(
              try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation))
          } catch {
            refusal = error
          }
          switch (refusal.reason, condition) {
          case (.unknownOutcome, _): isUncertain = true
          case (.preconditionFailed, _): break
          case (.notFound, .ifMatch): break
          default: throw refusal
          }
          return try readBack(key, body, checksum, condition, after: refusal, cancellation)
        })
    } catch {
      guard isUncertain, error.isTransient else { throw error }
      throw ObjectStoreError(.unknownOutcome(retryAfter: error.retryAfter), error.message)
    }
  }

  /// - Throws: `.transient` when it has to be written again
  private func readBack(
    _ key: ObjectKey, _ body: [UInt8], _ checksum: String, _ condition: ObjectCondition,
    after refusal: ObjectStoreError, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> Outcome {
    let again = ObjectStoreError(.transient(retryAfter: refusal.retryAfter), refusal.message)
    let head: ObjectHead
    do throws(ObjectStoreError) {
      head = try store.head(key, cancellation: cancellation)
    } catch {
      guard error.reason == .notFound else { throw error }
      if case .ifMatch = condition { return .gone }
      throw again
    }
    if try isOurs(head, key, body, checksum, cancellation) { return .written(head.etag) }
    switch condition {
    case .none: throw again
    case .ifMatch(let known) where known == head.etag: throw again
    case .ifAbsent, .ifMatch: return .lost(head)
    }
  }

  private func isOurs(
    _ head: ObjectHead, _ key: ObjectKey, _ body: [UInt8], _ checksum: String, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> Bool {
    guard head.size == Int64(body.count) else { return false }
    if let known = head.metadata[Self.checksumName] { return known == checksum }
    // Written by somebody who says nothing about it, or kept by a store that loses metadata.
    switch try store.get(key, ifNoneMatch: nil, cancellation: cancellation) {
    case .object(let object): return object.etag == head.etag && object.body == body
    case .notModified: return false
    }
  }
}
