/// Tests whether a store supports conditional writes, by writing and deleting a small object.
///
/// The requests are sequential: a store that checks conditions, but not atomically, passes.
public struct ConditionProbe: Sendable {
  /// The result of a probe.
  public enum Verdict: Sendable, Equatable {
    case supported
    /// The condition that the store ignored or refused, for a message.
    case unsupported(String)
  }

  /// The number of trials that have to agree on the same reason: a lost response or a stale read may look like a store
  /// without conditions.
  private static let agreeing = 3
  private static let maximumTrials = 8
  /// The beginning of the names of the probe's objects, which remain where the credentials may not delete.
  package static let keyPrefix = "condition-probe-"

  public init() {}

  /// Probes a store.
  ///
  /// - Parameter prefix: the prefix of the object's key; a random name is appended
  /// - Throws: the store's errors other than failed conditions; `.transient` when trials disagree
  public func probe(
    _ store: any ObjectStore, under prefix: ObjectPrefix, retry: Retry = Retry(),
    cancellation: Cancellation = .never
  ) throws(ObjectStoreError) -> Verdict {
    var (last, count) = ("", 0)
    for _ in 0..<Self.maximumTrials {
      switch try trial(store, under: prefix, retry: retry, cancellation) {
      case .supported: return .supported
      case .unsupported(let reason):
        (last, count) = (reason, reason == last ? count + 1 : 1)
        if count == Self.agreeing { return .unsupported(reason) }
      }
    }
    throw ObjectStoreError(
      .transient(retryAfter: nil),
      "whether the object store has conditional writes could not be determined: \(last); try again")
  }

  private func trial(
    _ store: any ObjectStore, under prefix: ObjectPrefix, retry: Retry, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> Verdict {
    let name = (0..<2).map { _ in UInt64.random(in: .min ... .max).bytes.hexadecimal }.joined()
    let key = try ObjectKey(prefix.text + Self.keyPrefix + name)
    // The object is deleted in every case; failing to delete it does not fail the probe.
    defer { try? store.delete(key, ifMatch: nil, cancellation: .never) }
    let steps = Steps(store: store, key: key, retry: retry, cancellation: cancellation)
    do throws(ObjectStoreError) {
      return try verdict(steps)
    } catch {
      // A stale read of what was just written.
      if error.reason == .notFound { return .unsupported("an object that was written is missing") }
      // For example "501 Not Implemented". It concerns conditions if the store accepts a write without one.
      guard error.reason == .failed(.foreign), (try? steps.writeUnconditionally()) != nil else { throw error }
      // Without the key, which differs between trials.
      let message = error.message
      return .unsupported(
        message.hasPrefix(key.text) ? "an object" + message.dropFirst(key.text.count) : message)
    }
  }

  private func verdict(_ steps: Steps) throws(ObjectStoreError) -> Verdict {
    guard let first = try steps.write([1], .ifAbsent) else {
      return .unsupported("a new object could not be written with If-None-Match: *")
    }
    guard try steps.isRefused([2], .ifAbsent) else {
      return .unsupported("an object was overwritten despite If-None-Match: *")
    }
    guard let second = try steps.write([3], .ifMatch(first)) else {
      return .unsupported("an object could not be overwritten with If-Match and its own ETag")
    }
    guard first != second else { return .unsupported("two contents have the same ETag") }
    guard try steps.isRefused([4], .ifMatch(first)) else {
      return .unsupported("an object was overwritten despite If-Match with another ETag")
    }
    guard try steps.delete() else { return .supported }
    guard try steps.isRefused([5], .ifMatch(second)) else {
      return .unsupported("a deleted object was written despite If-Match")
    }
    return .supported
  }

  private struct Steps {
    let store: any ObjectStore
    let key: ObjectKey
    let retry: Retry
    let cancellation: Cancellation

    private var requests: RetryingRequests { RetryingRequests(retry: retry, cancellation: cancellation) }

    /// Writes the object; returns nil when the store refuses the condition.
    func write(_ body: [UInt8], _ condition: ObjectCondition) throws(ObjectStoreError) -> ETag? {
      do throws(ObjectStoreError) {
        let outcome = try ReliableWriter(store, retry: retry).write(
          key, body, condition: condition, cancellation: cancellation)
        if case .written(let etag) = outcome { return etag }
        return nil
      } catch {
        // Another writer is not the reason: the key is random.
        guard error.isTransient, try refusesMet(condition, body) else { throw error }
        return nil
      }
    }

    func writeUnconditionally() throws(ObjectStoreError) {
      _ = try requests.attempt { () throws(ObjectStoreError) in
        try store.put(key, [6], condition: .none, metadata: .none, cancellation: cancellation)
      }
    }

    /// Whether the store responds "precondition failed" to a condition that is met.
    private func refusesMet(_ condition: ObjectCondition, _ body: [UInt8]) throws(ObjectStoreError) -> Bool {
      do throws(ObjectStoreError) {
        _ = try store.put(key, body, condition: condition, metadata: .none, cancellation: cancellation)
        return false
      } catch {
        guard error.reason == .preconditionFailed else { return false }
      }
      let current = try currentObject()
      switch condition {
      case .none: return true
      case .ifAbsent: return current == nil
      case .ifMatch(let known): return current?.etag == known
      }
    }

    /// Deletes the object; repeating that is harmless.
    ///
    /// - Returns: false when the credentials may not
    func delete() throws(ObjectStoreError) -> Bool {
      try requests.attempt { () throws(ObjectStoreError) in
        do throws(ObjectStoreError) {
          try store.delete(key, ifMatch: nil, cancellation: cancellation)
          return true
        } catch {
          switch error.reason {
          case .denied: return false
          case .unknownOutcome, .preconditionFailed:
            throw ObjectStoreError(.transient(retryAfter: error.retryAfter), error.message)
          default: throw error
          }
        }
      }
    }

    /// The probe's object; nil when it does not exist, which a store that may not be listed does not say.
    private func currentObject() throws(ObjectStoreError) -> StoredObject? {
      do throws(ObjectStoreError) {
        return try store.get(key, limit: 1 << 10, cancellation: cancellation)
      } catch {
        guard error.reason == .notFound || error.reason == .denied else { throw error }
        return nil
      }
    }

    /// Whether the store refuses the write with an explicit response; a write may also fail for other
    /// reasons.
    func isRefused(_ body: [UInt8], _ condition: ObjectCondition) throws(ObjectStoreError) -> Bool {
      try requests.attempt { () throws(ObjectStoreError) in
        var isRefused = false
        do throws(ObjectStoreError) {
          _ = try store.put(key, body, condition: condition, metadata: .none, cancellation: cancellation)
          return false
        } catch {
          switch error.reason {
          case .preconditionFailed, .notFound: isRefused = true
          case .unknownOutcome: break
          default: throw error
          }
        }
        // If the object has the new body, the write took effect and only its repetition was refused.
        if try currentObject()?.body == body { return false }
        guard isRefused else {
          throw ObjectStoreError(
            .transient(retryAfter: nil), "\(key): the outcome of a conditional write is unknown")
        }
        return true
      }
    }
  }
}
