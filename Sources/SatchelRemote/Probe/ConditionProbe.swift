/// Finds out whether a store heeds conditions, by writing a small object of its own and removing it again.
///
/// It asks one thing after the other: a store that tests conditions but not atomically passes.
public struct ConditionProbe: Sendable {
  public enum Verdict: Sendable, Equatable {
    case honoured
    /// What was ignored or refused, for a message.
    case ignored(String)
  }

  public init() {}

  /// - Parameter prefix: where the object is written; something random is added to it
  /// - Throws: what the store throws besides its answers to conditions
  public func probe(
    _ store: any ObjectStore, under prefix: ObjectPrefix, retry: Retry = Retry(),
    cancellation: Cancellation = .never
  ) throws(ObjectStoreError) -> Verdict {
    let name = (0..<2).map { _ in UInt64.random(in: .min ... .max).bytes.hexadecimal }.joined()
    let key = try ObjectKey(prefix.text + "condition-probe-" + name)
    // Whatever comes of it; and when it cannot be removed, that is no reason to fail.
    defer { try? store.delete(key, ifMatch: nil, cancellation: .never) }
    let steps = Steps(store: store, key: key, retry: retry, cancellation: cancellation)
    do throws(ObjectStoreError) {
      return try verdict(steps)
    } catch {
      // As "not implemented", which is an answer too.
      guard error.reason == .failed(.foreign) else { throw error }
      return .ignored(error.message)
    }
  }

  private func verdict(_ steps: Steps) throws(ObjectStoreError) -> Verdict {
    guard let first = try steps.write([1], .ifAbsent) else {
      return .ignored("a new object could not be written with If-None-Match: *")
    }
    guard try steps.isRefused([2], .ifAbsent) else {
      return .ignored("an object was overwritten in spite of If-None-Match: *")
    }
    guard let second = try steps.write([3], .ifMatch(first)) else {
      return .ignored("an object could not be overwritten with If-Match and its own ETag")
    }
    guard first != second else { return .ignored("two contents have the same ETag") }
    guard try steps.isRefused([4], .ifMatch(first)) else {
      return .ignored("an object was overwritten in spite of If-Match with another ETag")
    }
    return .honoured
  }

  private struct Steps {
    let store: any ObjectStore
    let key: ObjectKey
    let retry: Retry
    let cancellation: Cancellation

    /// Nil when the store refused it for its condition.
    func write(_ body: [UInt8], _ condition: ObjectCondition) throws(ObjectStoreError) -> ETag? {
      let outcome = try ReliableWriter(store, retry: retry).write(
        key, body, condition: condition, cancellation: cancellation)
      if case .written(let etag) = outcome { return etag }
      return nil
    }

    /// Whether the store refuses it, said by itself: that it was not done may have other causes.
    func isRefused(_ body: [UInt8], _ condition: ObjectCondition) throws(ObjectStoreError) -> Bool {
      var random = SystemRandomNumberGenerator()
      return try retry.run(
        random: &random,
        pause: { wait throws(ObjectStoreError) in try cancellation.wait(milliseconds: wait) },
        { _ throws(ObjectStoreError) in
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
          // Done after all: a repetition of what had been done was refused.
          let object = try store.get(key, cancellation: cancellation)
          if object.body == body { return false }
          guard isRefused else {
            throw ObjectStoreError(.transient(retryAfter: nil), "\(key): the store does not say what it did")
          }
          return true
        })
    }
  }
}
