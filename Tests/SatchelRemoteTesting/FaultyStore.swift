import SatchelRemote
import SatchelCore
import SatchelStorage

/// A wrapper around a store with an unreliable connection: each request has the next fault of a plan, and
/// none after the end of the plan.
package final class FaultyStore: ObjectStore {
  private struct State {
    var plan: ArraySlice<Fault>
    var requests = 0
    var before: [ObjectKey: StoredObject] = [:]
  }

  private let store: any ObjectStore
  private let state: Locked<State>

  package init(_ store: any ObjectStore, plan: [Fault]) {
    self.store = store
    state = Locked(State(plan: plan[...]))
  }

  /// The number of requests.
  package var requests: Int { state.withLock { $0.requests } }

  private func next() -> Fault {
    state.withLock { state in
      state.requests += 1
      return state.plan.popFirst() ?? .none
    }
  }

  private func failure(_ reason: ObjectStoreError.Reason, _ fault: Fault) -> ObjectStoreError {
    ObjectStoreError(reason, "injected: \(fault)")
  }

  package func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let fault = next()
    try failReading(fault)
    if fault == .truncated { throw failure(.truncated, fault) }
    if fault == .stale, let old = state.withLock({ $0.before[key] }) {
      return old.etag == known ? .notModified : .object(old)
    }
    let reading = try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
    guard fault == .corrupted, case .object(var object) = reading, !object.body.isEmpty else {
      return reading
    }
    object.body[object.body.count / 2] ^= 1
    return .object(object)
  }

  package func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try writing(key) { () throws(ObjectStoreError) in
      try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
    }
  }

  package func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    let fault = next()
    try failReading(fault)
    if fault == .stale, let old = state.withLock({ $0.before[key] }) { return old.head }
    return try store.head(key, cancellation: cancellation)
  }

  package func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    try writing(key) { () throws(ObjectStoreError) in
      try store.delete(key, ifMatch: known, cancellation: cancellation)
    }
  }

  package func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    let fault = next()
    if fault != .missing { try failReading(fault) }
    if fault == .truncated { throw failure(.truncated, fault) }
    return try store.list(prefix, from: continuation, limit: limit, cancellation: cancellation)
  }

  /// Throws the fault of a read, for which before and after are the same.
  private func failReading(_ fault: Fault) throws(ObjectStoreError) {
    switch fault {
    case .missing: throw failure(.notFound, fault)
    case .conflict, .errorBefore, .errorAfter, .timeoutBefore, .timeoutAfter, .refused:
      throw failure(.transient(retryAfter: nil), fault)
    case .none, .preconditionAfter, .truncated, .corrupted, .stale: return
    }
  }

  private func writing<Value>(
    _ key: ObjectKey, _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    let fault = next()
    switch fault {
    case .conflict, .errorBefore, .timeoutBefore: throw failure(.unknownOutcome(retryAfter: nil), fault)
    case .refused: throw failure(.transient(retryAfter: nil), fault)
    default: break
    }
    if let old = try? store.get(key) { state.withLock { $0.before[key] = old } }
    let value = try body()
    switch fault {
    case .errorAfter, .timeoutAfter: throw failure(.unknownOutcome(retryAfter: nil), fault)
    case .preconditionAfter: throw failure(.preconditionFailed, fault)
    default: return value
    }
  }
}
