import SatchelCore
import SatchelRemote
import SatchelStorage

/// The master copy of one collection: requests with their keys, tried again as often as it makes sense.
struct RecordRemote: Sendable {
  /// What reading an object has brought.
  enum Reading: Sendable, Equatable {
    case absent
    /// It is still the known one.
    case known
    case object(RecordEnvelope, ETag)
  }

  let store: any ObjectStore
  let keys: RecordKeys
  let retry: Retry
  let cancellation: Cancellation
  let rules: RecordSyncRules

  /// Reads a record's object until its bytes are proven.
  ///
  /// - Throws: `SatchelError`: `invalid` or `newer` for what is no envelope of this record, `damaged` for bytes that
  ///   are not those that were written
  func read(_ id: String, unless known: ETag?) throws -> Reading {
    let key = try keys.key(id)
    let start = Clock.monotonic.now()
    var failures = 0
    while true {
      let reading = try requests.ifPresent { () throws(ObjectStoreError) in
        try store.get(key, ifNoneMatch: known, cancellation: cancellation)
      }
      switch reading {
      case nil: return .absent
      case .notModified?: return .known
      case .object(let object)?:
        if !rules.verifiesBytes || isSound(object) {
          return .object(try parse(object.body, id, key), object.etag)
        }
      }
      failures += 1
      try pause(
        afterFailures: failures, since: start,
        ObjectStoreError(.truncated, "\(key): its bytes are not those that were written"))
    }
  }

  private func parse(_ bytes: [UInt8], _ id: String, _ key: ObjectKey) throws -> RecordEnvelope {
    do {
      return try RecordEnvelope(parsing: bytes, id: id)
    } catch let error as SatchelError {
      throw SatchelError(error.code, "\(key): \(error.message)", underlying: error)
    }
  }

  /// Whoever writes through this library gives the checksum along; of others it is not asked.
  private func isSound(_ object: StoredObject) -> Bool {
    guard let claimed = object.metadata[ReliableWriter.checksumName] else { return true }
    return claimed == SHA256.digest(object.body).hexadecimal
  }

  /// - Throws: also `ObjectStoreError` for an outcome that could not be found out
  func write(_ id: String, _ bytes: [UInt8], _ condition: ObjectCondition) throws -> ReliableWriter.Outcome {
    try ReliableWriter(store, retry: retry).write(
      keys.key(id), bytes, condition: rules.usesConditions ? condition : .none, cancellation: cancellation)
  }

  /// A page of the listing.
  func list(from continuation: ObjectPage.Continuation?) throws -> ObjectPage {
    try requests.attempt { () throws(ObjectStoreError) in
      try store.list(keys.prefix, from: continuation, limit: 1000, cancellation: cancellation)
    }
  }

  /// Waits before something is tried again; see `RetryingRequests.pause`.
  func pause(afterFailures failures: Int, since start: Int64, _ error: any Error) throws {
    try requests.pause(afterFailures: failures, since: start, error)
  }

  private var requests: RetryingRequests { RetryingRequests(retry: retry, cancellation: cancellation) }
}
